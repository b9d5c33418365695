//! Bounds on the responses of the jobs of a scenario, from those on its operations: of jobs that end while all that is
//! released is known, and of those after that as far as something else bounds them.

use std::collections::BTreeSet;

use super::bound_options::BlockTimes;
use super::finish_bounds::FinishBounds;
use super::host_end::HostEnds;
use super::job_bounds::Releases;
use super::jobs::AnalysedJob;
use super::partitions::job_bounds_of;
use super::repeats::{AllReleased, Repeats};
use crate::scenario::{Scenario, Step};
use crate::spelling::option;
use crate::time::{Duration, Instant};
use crate::workload::Origin;

/// By job, in the order in which they were given: by thread, then number.
pub(super) struct JobResponses {
    /// From its release to its end; `None`: not bounded.
    pub(super) responses: Vec<Option<Duration>>,
    /// Whether a job is of a stream or host without end, and it is not shown that later ones take no longer.
    pub(super) unrepeated: Vec<bool>,
    /// Jobs that would have a bound if it were known what is released after the end of the run.
    beyond: usize,
}

impl JobResponses {
    pub(super) fn new(scenario: &Scenario, jobs: &[AnalysedJob], bounds: &FinishBounds) -> Self {
        let hosts = HostEnds::new(scenario, &bounds.operations, bounds.options.order);
        let all_released = AllReleased::new(scenario);
        let of_thread = |job: &AnalysedJob| bounds.responses.get(job.thread as usize).copied().flatten();
        let finish = |job: &AnalysedJob| {
            let origin = Origin { thread: job.thread, iteration: job.job };
            // Simulation and analysis number launches alike, as long as these do not depend on completions.
            let own = |operation: u32| bounds.operations.get(operation as usize).filter(|known| known.origin == origin);
            let finish = job.finish(|operation| own(operation)?.finish)?;
            Some(finish.max(hosts.of(job)?))
        };
        let ends: Vec<Option<Instant>> = jobs.iter().map(finish).collect();
        let within = |(job, end_of_job): (&AnalysedJob, &Option<Instant>)| {
            let within = end_of_job
                .filter(|finish| all_released.covers(job.thread, *finish))
                .map(|finish| finish.since(job.released));
            within.or_else(|| of_thread(job).filter(|_| job.complete))
        };
        let mut known = Self {
            responses: jobs.iter().zip(&ends).map(within).collect(),
            unrepeated: vec![false; jobs.len()],
            beyond: 0,
        };
        if scenario.cut_at().is_some() {
            known.go_on(scenario, jobs, bounds, &ends);
        }
        let is_beyond = |(end, response): &(&Option<Instant>, &Option<Duration>)| end.is_some() && response.is_none();
        known.beyond = ends.iter().zip(&known.responses).filter(is_beyond).count();
        known
    }

    /// What is known of jobs of what goes on after the run: of those that end after it, and whether later ones may take
    /// longer than those of the run.
    fn go_on(&mut self, scenario: &Scenario, jobs: &[AnalysedJob], bounds: &FinishBounds, ends: &[Option<Instant>]) {
        if let Some(repeats) = self.repeats(scenario, jobs, bounds) {
            self.take_from_one_hyperperiod_earlier(jobs, repeats);
            return;
        }
        let needs_more = |(number, job): (usize, &AnalysedJob)| {
            let is_cut = scenario.threads.get(job.thread as usize).is_some_and(|thread| thread.is_cut);
            let has_own = bounds.responses.get(job.thread as usize).is_some_and(Option::is_some);
            ends[number].is_some() && (self.responses[number].is_none() || is_cut && !has_own)
        };
        let open: Vec<usize> =
            jobs.iter().enumerate().filter(|job| needs_more(*job)).map(|(number, _)| number).collect();
        if open.is_empty() {
            return;
        }
        // Whatever comes, of jobs that are a period apart.
        let of_any = job_bounds_of(scenario, Releases::Given).ok().and_then(Result::ok);
        for number in open {
            let (job, own) = (&jobs[number], self.responses[number]);
            let of_any =
                of_any.as_ref().and_then(|of_any| of_any.responses.get(job.thread as usize).copied().flatten());
            self.responses[number] = own.into_iter().chain(of_any).min();
            let is_in_time = of_any.zip(job.deadline).is_some_and(|(response, deadline)| response <= deadline);
            self.unrepeated[number] = own.is_some() && !is_in_time;
        }
    }

    /// From when on the jobs repeat.
    fn repeats(&self, scenario: &Scenario, jobs: &[AnalysedJob], bounds: &FinishBounds) -> Option<Repeats> {
        let spans = jobs.iter().zip(&self.responses).map(|(job, response)| (job.thread, job.released, *response));
        // Bounds on single operations hold on a plain GPU, where all that a job takes may be no time at all, unless its
        // host sleeps or works.
        let takes_time = |step: &Step| matches!(step, Step::Sleep(_) | Step::Work(_));
        let is_any_shorter = bounds.options.block_times == BlockTimes::UpToStated
            && bounds.responses.is_empty()
            && !scenario.threads.iter().any(|thread| thread.works() || thread.steps.iter().any(takes_time));
        let threads: BTreeSet<usize> = (0..scenario.threads.len()).collect();
        Repeats::of(scenario, &threads, spans, is_any_shorter)
    }

    fn take_from_one_hyperperiod_earlier(&mut self, jobs: &[AnalysedJob], Repeats { from, hyperperiod }: Repeats) {
        for (number, job) in jobs.iter().enumerate() {
            if self.responses[number].is_some() || job.released < from {
                continue;
            }
            let earlier = jobs.binary_search_by(|other| {
                let released = other.released.saturating_add(hyperperiod);
                other.thread.cmp(&job.thread).then(released.cmp(&job.released))
            });
            self.responses[number] = earlier.ok().and_then(|earlier| self.responses[earlier]);
        }
    }

    /// Why jobs have none, though their operations have, or why what is known of them is not enough.
    pub(super) fn notes(&self, scenario: &Scenario) -> Vec<String> {
        let (all, later) = (self.responses.len(), option("horizon"));
        let mut notes = Vec::new();
        if self.beyond > 0 {
            let end = match (scenario.horizon, scenario.cut_at()) {
                (Some(horizon), _) => format!("the horizon, {horizon}"),
                (None, Some(cut)) => format!("one hyperperiod, at {cut}"),
                (None, None) => "the run".to_owned(),
            };
            notes.push(format!(
                "{} of {all} jobs may end after {end}: they have no bound, as nothing is known of what is released then; a \
                 later {later} bounds them",
                self.beyond
            ));
        }
        let unrepeated = self.unrepeated.iter().filter(|unrepeated| **unrepeated).count();
        if unrepeated > 0 {
            notes.push(format!(
                "{unrepeated} of {all} jobs are not proven by their bounds: their streams and hosts have no end, and it is \
                 not shown that later jobs take no longer; {later} says how many are to be judged"
            ));
        }
        notes
    }
}
