//! Any scenario or profile, simulated over a grid of what-ifs, as a study: what comes out of one run, and of those of a
//! point.

use std::fmt;
use std::ops::Range;

use super::compute::{Point, Tally};
use super::grid::{Grid, GridAxis};
use super::scenario_point::{self, ScenarioPoint};
use crate::experiments::{Fields, number};
use crate::hosts::{AnyLength, AnyRun, HeldAtMost, SimulateOptions, simulate_summed};
use crate::input::LastRead;
use crate::json::{Node, Problem};
use crate::limits::count_turn;
use crate::run::{Run, TimesWanted, kernel_responses};
use crate::scenario::Scenario;
use crate::spelling::{self, Spelling};
use crate::statistics::{Measure, Moments, PartsOfRuns, rank};
use crate::time::{Duration, Instant};

/// The points, once each was made into a scenario.
pub(super) fn checked(
    (grid, axes): (&Grid<'_>, &[GridAxis]),
    points: Vec<ScenarioPoint>,
    (samples, node): (u64, Node<'_>),
) -> Result<Vec<ScenarioPoint>, Problem> {
    let scenarios: Vec<&ScenarioPoint> = points.iter().collect();
    if !scenario_point::check((grid, axes), &scenarios, (samples, node), &|_, _| None)? && samples > 1 {
        return Err(node
            .problem("nothing is drawn, so that all samples of a point are the same")
            .with_help("state 1 sample, or \"vary\" block times, let \"placement\" be \"random\", or draw scenarios: \"load_percent\""));
    }
    Ok(points)
}

/// What a thread keeps from one run to the next.
#[derive(Default)]
pub(super) struct LastRun<'p> {
    /// The point of the row computed last, its scenario, and whose jobs are counted.
    known: Option<(&'p ScenarioPoint, Scenario, Option<u32>)>,
    read: LastRead<'p>,
}

impl Point for ScenarioPoint {
    type Kept<'p> = LastRun<'p>;

    fn columns() -> &'static str {
        Outcome::COLUMNS
    }

    /// Sample k of a point is the run with its seed plus k, as `gpusched simulate --seed` makes it.
    fn values<'p>(&'p self, samples: Range<u64>, last: &mut LastRun<'p>) -> Result<String, String> {
        if self.is_drawn() || last.known.as_ref().is_none_or(|(known, ..)| !std::ptr::eq(*known, self)) {
            let (scenario, thread) = self.scenario(samples.start, &mut last.read).map_err(|error| error.to_string())?;
            last.known = Some((self, scenario, thread));
        }
        // It was just made known.
        let Some((_, scenario, thread)) = &mut last.known else { return Err("no scenario".to_owned()) };
        scenario.seed = self.seed_of(samples.start);
        let kernels = thread.map_or(TimesWanted::OfAll, TimesWanted::OfThread);
        let simulated = || simulate_summed(scenario, SimulateOptions::of(scenario), HeldAtMost::default(), kernels);
        let run = spelling::within(Spelling::Key, || simulated().map_err(|error| error.to_string()))?;
        Ok(Outcome::of(&run, kernels).to_string())
    }

    fn input(&self, sample: u64) -> Result<String, String> {
        self.scenario_file(sample)
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(SimulateTally::default())
    }
}

/// How many counts a row begins with.
const COUNTS: usize = 4;
/// How many times follow them.
const TIMES: usize = 9;

/// One run in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Jobs, those that had not finished when the run ended, those with a deadline, and those that missed it.
    counts: [u64; COUNTS],
    /// Makespan; median, 95th and 99th percentile and maximum of the response times of jobs, then of kernels \[ns\].
    /// `None` where nothing finished, or for the makespan, where something did not.
    times: [Option<u64>; TIMES],
}

/// Names of the times, in seconds, as they are summed up.
const TIME_NAMES: [&str; TIMES] = [
    "makespan_s",
    "response_median_s",
    "response_p95_s",
    "response_p99_s",
    "response_max_s",
    "kernel_response_median_s",
    "kernel_response_p95_s",
    "kernel_response_p99_s",
    "kernel_response_max_s",
];

impl Outcome {
    pub(super) const COLUMNS: &'static str = "jobs,unfinished_jobs,jobs_with_deadline,missed_deadlines,makespan_ns,\
         response_median_ns,response_p95_ns,response_p99_ns,response_max_ns,kernel_response_median_ns,kernel_response_p95_ns,kernel_response_p99_ns,\
         kernel_response_max_ns";

    /// Of a run in which these kernels were counted, with the jobs of the same host threads.
    pub(super) fn of(run: &AnyLength<'_>, wanted: TimesWanted) -> Self {
        let mut counts = [0; COUNTS];
        let mut of_jobs = Vec::new();
        for row in AnyRun::from(run).responses().iter().filter(|row| wanted.include(row.benchmark)) {
            let with_deadline = if row.deadline_ns.is_some() { row.jobs } else { 0 };
            let row_counts = [row.jobs, row.unfinished, with_deadline, row.misses.unwrap_or(0)];
            counts.iter_mut().zip(row_counts).for_each(|(sum, count)| *sum += count);
            of_jobs.extend_from_slice(&row.times);
        }
        let (makespan, of_kernels) = match run {
            AnyLength::Recorded(Run { trace, .. }) => {
                (trace.makespan(), kernel_responses(trace, wanted).map(|time| (time, 1)).collect())
            }
            AnyLength::Long(run) => (run.sums().makespan(), run.sums().kernel_times().to_vec()),
        };
        let [job_times, kernel_times] = [of_jobs, of_kernels].map(percentiles);
        let mut times = [None; TIMES];
        times[0] = makespan.map(Instant::as_ns);
        times[1..].iter_mut().zip(job_times.into_iter().chain(kernel_times)).for_each(|(to, time)| *to = time);
        Self { counts, times }
    }

    fn parse(values: &str) -> Option<Self> {
        let mut fields = Fields::of(values, ',');
        let counts = fields.each(number)?;
        let times = fields.each_if_any(number)?;
        fields.end(Self { counts, times })
    }
}

/// Median, 95th and 99th percentile, and maximum of times, each with how often it came (nearest rank) \[ns\].
fn percentiles(mut times: Vec<(Duration, u64)>) -> [Option<u64>; 4] {
    times.sort_unstable();
    let count = times.iter().map(|&(_, count)| count).sum();
    let (mut counted, mut next) = (0, times.into_iter());
    let mut last = None;
    [50, 95, 99, 100].map(|percent| {
        while counted < rank(count, percent) {
            count_turn();
            let (time, count) = next.next()?;
            counted += count;
            last = Some(time.as_ns());
        }
        last
    })
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [jobs, unfinished, with_deadline, missed] = self.counts;
        write!(f, "{jobs},{unfinished},{with_deadline},{missed}")?;
        self.times.iter().try_for_each(|time| match time {
            Some(time) => write!(f, ",{time}"),
            None => f.write_str(","),
        })
    }
}

/// The runs of a point.
#[derive(Debug, Default)]
pub(super) struct SimulateTally {
    missed: PartsOfRuns,
    unfinished: Moments,
    times: [Moments; TIMES],
}

/// Where the longest response time of any job stands among the times.
const RESPONSE_MAX: usize = 4;

impl Tally for SimulateTally {
    fn add(&mut self, _samples: u64, values: &str) -> Option<()> {
        let outcome = Outcome::parse(values)?;
        let [_, unfinished, with_deadline, missed] = outcome.counts;
        self.missed.add(missed, with_deadline);
        self.unfinished.add(unfinished as f64);
        for (moments, time) in self.times.iter_mut().zip(outcome.times) {
            if let Some(time) = time {
                moments.add(time as f64 / 1e9);
            }
        }
        Some(())
    }

    fn measures(&self) -> Vec<(&'static str, Measure)> {
        let mut measures = vec![("missed", Measure::PartsOfRuns(self.missed))];
        measures.extend(TIME_NAMES.into_iter().zip(self.times.iter().map(Moments::measure)));
        measures.push(("longest_response_s", Measure::Largest(self.times[RESPONSE_MAX].statistic().most)));
        measures.push(("unfinished_jobs", self.unfinished.measure()));
        measures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::{HeldAtMost, SimulateOptions, simulate_summed};
    use crate::scenario::{ReadOptions, Scenario};

    #[test]
    fn a_run_without_a_record_is_the_same_in_numbers() {
        let file = r#"{"format": "gpusched-scenario/1", "name": "n", "horizon": "1 s",
            "kernels": {"C": {"blocks": 3, "threads": 64, "duration": {"best": "20 us", "worst": "60 us"}},
                "L": {"blocks": 2, "threads": 256, "duration": "3 ms"}},
            "streams": [{"name": "c", "period": "1 ms", "deadline": "50 us", "operations": [{"kernel": "C"}]},
                {"name": "l", "period": "5 ms", "operations": [{"kernel": "L"}, {"kernel": "L"}]}]}"#;
        let scenario = Scenario::from_json("n", file, &ReadOptions::default()).expect("it is sound");
        for wanted in [TimesWanted::OfAll, TimesWanted::OfThread(0), TimesWanted::OfThread(1)] {
            let of = |whole| {
                let held = HeldAtMost { whole, piece: 1_000, rows: 0 };
                let run = simulate_summed(&scenario, SimulateOptions::of(&scenario), held, wanted).expect("it runs");
                (matches!(run, AnyLength::Long(_)), Outcome::of(&run, wanted))
            };
            let ((recorded, outcome), (long, same)) = (of(usize::MAX), of(1_000));
            assert_eq!((recorded, long), (false, true));
            assert_eq!(outcome, same);
        }
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times = |pairs: &[(u64, u64)]| pairs.iter().map(|&(ns, count)| (Duration::from_ns(ns), count)).collect();
        assert_eq!(percentiles(times(&[])), [None; 4]);
        // Of 100 times half are the first; the 99th is not the last.
        assert_eq!(percentiles(times(&[(7, 4), (1, 50), (3, 45), (9, 1)])), [1, 3, 7, 9].map(Some));
        assert_eq!(percentiles(times(&[(5, 1)])), [Some(5); 4]);
    }

    #[test]
    fn a_row_is_read_back() {
        let times = std::array::from_fn(|index| (index != 0).then_some(index as u64));
        let outcome = Outcome { counts: [3, 1, 2, 2], times };
        assert_eq!(outcome.to_string(), "3,1,2,2,,1,2,3,4,5,6,7,8");
        assert_eq!(Outcome::parse(&outcome.to_string()), Some(outcome));
        assert_eq!(Outcome::COLUMNS.split(',').count(), COUNTS + TIMES);
        for wrong in ["", "3,1,2,2", "3,1,2,2,,1,2,3,4,5,6,7,8,9", "3,1,x,2,,1,2,3,4,5,6,7,8"] {
            assert_eq!(Outcome::parse(wrong), None, "{wrong}");
        }
    }
}
