//! Options of the search for runs that miss deadlines.

use std::path::{Path, PathBuf};

use clap::Args;
use gpusched::analysis::{SearchOptions, Watch};
use gpusched::scenario::{HostThread, Scenario};
use gpusched::time::Duration;

use super::ending;
use super::jobs::Jobs;
use super::output::{note, write_whole};
use super::progress::{self, Unit};

/// Operations that the default search simulates at most, all runs together, so that a large scenario is not held up.
const MOST_OPERATIONS: usize = 2_000_000;

/// Operations above which a scenario without deadlines is not searched unless that is asked for: there is nothing that a
/// bad run could miss, and each run takes as long as a simulation.
const MOST_UNJUDGED: usize = 100_000;

/// For how long to look for bad runs, and where to put the worst.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Look for runs with long responses for this long [default: some hundred runs; of more than 100,000 operations without a
    /// deadline only the scenario's own]
    #[arg(long = "search", value_name = "TIME", value_parser = Duration::parse)]
    time: Option<Duration>,
    /// Write the run that misses a deadline by most, as a scenario that `gpusched simulate` replays
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,
    #[command(flatten)]
    jobs: Jobs,
}

impl Search {
    /// What to search in a scenario whose simulation submits `operations` operations.
    pub(crate) fn options(&self, scenario: &Scenario, operations: usize) -> SearchOptions {
        let options = SearchOptions { seed: scenario.seed, ..SearchOptions::default() };
        let affordable = u64::try_from(MOST_OPERATIONS / operations.max(1)).unwrap_or(u64::MAX);
        if self.is_left_out(scenario, operations) {
            return SearchOptions { placements: vec![scenario.placement], runs: 1, ..options };
        }
        let time_limit = self.time.map(|time| std::time::Duration::from_nanos(time.as_ns()));
        let runs = if time_limit.is_some() { options.runs } else { options.runs.min(affordable).max(1) };
        SearchOptions { runs, time_limit, ..options }
    }

    fn is_left_out(&self, scenario: &Scenario, operations: usize) -> bool {
        let has_deadline = |thread: &HostThread| thread.deadline.or(thread.period).is_some();
        self.time.is_none() && operations > MOST_UNJUDGED && !scenario.threads.iter().any(has_deadline)
    }

    /// What the user should know of the search in a scenario whose simulation submits `operations` operations.
    pub(crate) fn note(&self, scenario: &Scenario, operations: usize) -> Option<String> {
        self.is_left_out(scenario, operations).then(|| {
            format!(
                "longest responses are those of the scenario's own run: no job has a deadline, and {operations} operations \
                 are more than {MOST_UNJUDGED}; --search TIME looks for longer ones"
            )
        })
    }

    /// Runs `work` on the threads asked for, with progress on a terminal; Ctrl-C ends the search, and what was found
    /// by then counts.
    pub(crate) fn watched<T: Send>(&self, work: impl FnOnce(Watch<'_>) -> T + Send) -> anyhow::Result<T> {
        let stop = ending::stop_flag();
        progress::begin("searching bad runs", Unit::Of("runs"), None);
        let answer = self.jobs.pool()?.install(|| work(Watch { stop: &stop, progress: &progress::reach }));
        if ending::finishing() {
            note("the search was stopped: what it had found by then counts");
        }
        Ok(answer)
    }

    /// Where a witness is wanted.
    pub(crate) fn witness_file(&self) -> Option<&Path> {
        self.witness.as_deref()
    }
}

/// Writes a witness as a scenario file.
pub(crate) fn write_witness(path: &Path, witness: &Scenario) -> anyhow::Result<()> {
    let text = witness.to_native_json()?;
    write_whole(path, |out| std::io::Write::write_all(out, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use gpusched::scenario::ReadOptions;

    use super::*;

    #[test]
    fn many_operations_without_a_deadline_are_not_searched_unless_that_is_asked_for() {
        let text = r#"{"name": "n", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [{"filename":
            "timer_spin.so", "thread_count": 32, "block_count": 1, "data_size": 0, "additional_info": 5}]}"#;
        let mut scenario = Scenario::from_json("test", text, &ReadOptions::default()).expect("sound");
        let search = Search { time: None, witness: None, jobs: Jobs::default() };
        assert!(search.note(&scenario, MOST_UNJUDGED).is_none(), "few operations are searched");
        assert!(search.note(&scenario, MOST_UNJUDGED + 1).is_some_and(|note| note.contains("--search")));
        let options = search.options(&scenario, MOST_UNJUDGED + 1);
        assert_eq!((options.runs, &*options.placements), (1, &[scenario.placement][..]));
        let asked_for = Search { time: Some(Duration::from_ns(1)), ..search };
        assert!(asked_for.note(&scenario, MOST_UNJUDGED + 1).is_none());
        scenario.threads[0].deadline = Some(Duration::from_ns(9));
        let search = Search { time: None, ..asked_for };
        assert!(search.note(&scenario, MOST_UNJUDGED + 1).is_none(), "a deadline may be missed in a bad run");
    }
}
