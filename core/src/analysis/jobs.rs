//! Jobs: all operations of one release of a stream, or of one iteration of a host thread; by when their hosts have done
//! all their steps; and bounds on their responses.

use std::collections::BTreeSet;
use std::sync::Arc;

use smallvec::SmallVec;

use super::assumptions;
use super::assumptions::launches_at_release;
use super::finish_bounds::{BoundedOperation, FinishBounds, finish_bounds};
use super::job_bounds::{JobBounds, Releases};
use super::partitions::job_bounds_of;
use super::prepared::{AllReleased, Repeats};
use super::safe_bound::BlockTimes;
use crate::effort;
use crate::hosts::simulate_in_brief;
use crate::run::{Jobs, Run};
use crate::scenario::{HostThread, ReleaseOrder, Scenario, Step, followed};
use crate::spelling::option;
use crate::time::{Duration, Instant, is_in_time};
use crate::workload::{OperationKind, Origin, StreamId};

/// One job of a scenario, with its operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalysedJob {
    /// Number of the host thread.
    pub thread: u32,
    /// Label of the thread: the stream's name in gpusched's own format.
    pub stream: Arc<str>,
    /// Number of the job among those of its thread, from 0.
    pub job: u32,
    /// Its release, as [`Job::released`](crate::run::Job::released) has it.
    pub released: Instant,
    /// When its host had done its last step in the run.
    pub host_finished: Option<Instant>,
    /// By when all of it should have finished, counted from the release; the period if nothing else is stated.
    pub deadline: Option<Duration>,
    /// Whether its host had done all its steps before the run ended, and so launched all its operations.
    pub complete: bool,
    /// Its operations, in launch order.
    pub operations: SmallVec<[u32; 2]>,
}

impl AnalysedJob {
    /// When the last of its operations finishes by `finish`; `None` if that is not known of each.
    pub fn finish(&self, finish: impl Fn(u32) -> Option<Instant>) -> Option<Instant> {
        if !self.complete {
            return None;
        }
        self.operations.iter().try_fold(Instant::ZERO, |last, &operation| Some(last.max(finish(operation)?)))
    }
}

/// The jobs that began in a run, by thread as declared and then number.
pub fn jobs_of(run: &Run<'_>) -> Vec<AnalysedJob> {
    with_operations(run, &run.jobs())
}

/// The same, of which it is known which began. Those that had launched nothing when the run ended are among them.
pub(super) fn with_operations(run: &Run<'_>, begun: &Jobs) -> Vec<AnalysedJob> {
    let mut jobs: Vec<AnalysedJob> = begun
        .begun
        .iter()
        .map(|job| {
            let thread = run.scenario.threads.get(job.thread as usize);
            AnalysedJob {
                thread: job.thread,
                stream: thread.map_or_else(|| Arc::from(""), |thread| Arc::clone(&thread.label)),
                job: job.iteration,
                released: job.released,
                host_finished: job.host_finished,
                deadline: thread.and_then(HostThread::deadline),
                complete: job.host_finished.is_some(),
                operations: SmallVec::new(),
            }
        })
        .collect();
    for (number, record) in (0..).zip(run.trace.operations()) {
        let position = begun.position(record.origin.thread, record.origin.iteration);
        if let Some(job) = position.and_then(|position| jobs.get_mut(position)) {
            job.operations.push(number);
        }
    }
    jobs
}

/// What a thread does in an iteration after its last launch, repeated steps as often as they are; `None`: too many of
/// them.
pub(super) fn after_last_launch(thread: &HostThread) -> Option<Vec<Step>> {
    let mut steps = followed(thread, 1)?;
    let first = steps.iter().rposition(|step| step.submission().is_some()).map_or(0, |last| last + 1);
    Some(steps.split_off(first))
}

/// By when the host of a job has done all its steps, where launch times do not depend on completions: what it does
/// after its last launch belongs to the job too. Known by bounds on what all threads launch.
pub(super) struct HostEnds<'a> {
    scenario: &'a Scenario,
    /// All operations, at the instants at which they are launched in every run.
    operations: &'a [BoundedOperation],
    /// By thread: whether it launches all at its release and waits for nothing but that.
    waits_for_own: Vec<bool>,
    /// Whether some thread that comes to a barrier waits for operations or works: then it may come earlier or later.
    may_be_late_at_barriers: bool,
}

impl<'a> HostEnds<'a> {
    pub(super) fn new(scenario: &'a Scenario, operations: &'a [BoundedOperation], order: ReleaseOrder) -> Self {
        let mut users: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); scenario.streams().len()];
        for (number, thread) in scenario.threads.iter().enumerate() {
            for (_, stream) in thread.steps.iter().filter_map(|step| step.submission()) {
                users[stream.index()].insert(number);
            }
        }
        let is_shared = |stream: StreamId| users[stream.index()].len() > 1;
        let waits_for_own = |thread: &HostThread| {
            launches_at_release(thread).is_some() && assumptions::waits_for_own(thread, is_shared, order)
        };
        let comes_late = |thread: &HostThread| {
            thread.barriers().next().is_some()
                && (thread.works() || thread.steps.iter().any(|step| step.waits_for_operations()))
        };
        Self {
            scenario,
            operations,
            waits_for_own: scenario.threads.iter().map(waits_for_own).collect(),
            may_be_late_at_barriers: scenario.threads.iter().any(comes_late),
        }
    }

    /// By when the host of a job has done all its steps, barriers at the end aside, or the last operation of the job
    /// has ended; `None`: not known.
    ///
    /// If the host waits for no operation, that is the same in every run. Else, after its last launch, it sleeps for
    /// just as long as stated, and waits for no longer than until all has ended that was launched before and that it
    /// waits for.
    pub(super) fn of(&self, job: &AnalysedJob) -> Option<Instant> {
        let thread = self.scenario.threads.get(job.thread as usize)?;
        if thread.works() || self.may_be_late_at_barriers && thread.barriers().next().is_some() {
            return None;
        }
        if self.waits_for_own[job.thread as usize] {
            return Some(job.released);
        }
        if !thread.steps.iter().any(|step| step.waits_for_operations()) {
            return job.host_finished;
        }
        let origin = Origin { thread: job.thread, iteration: job.job };
        let is_own = |one: &BoundedOperation| one.origin == origin;
        let process = |stream: StreamId| self.scenario.streams().get(stream.index()).map(|stream| stream.process);
        let mut now = self.operations.iter().filter(|one| is_own(one)).map(|one| one.launched).max()?;
        for step in after_last_launch(thread)? {
            now = match step {
                Step::Sleep(time) => now.checked_add(time)?,
                Step::Barrier(_) => return None,
                Step::AwaitLast => self.latest(now, is_own)?,
                Step::SynchronizeStream(stream) => self.latest(now, |one| one.stream == stream)?,
                step if step.waits_for_device() => {
                    self.latest(now, |one| process(one.stream) == Some(thread.process))?
                }
                Step::SynchronizeEvent(event) => self.latest(now, |one| one.kind == OperationKind::Record(event))?,
                _ => now,
            };
        }
        Some(now)
    }

    /// When all such operations have ended that are launched by `now`, and not before that; `None`: that of one of them
    /// is not known.
    fn latest(&self, now: Instant, is_awaited: impl Fn(&BoundedOperation) -> bool) -> Option<Instant> {
        let mut awaited = self.operations.iter().filter(|one| one.launched <= now && is_awaited(one));
        awaited.try_fold(now, |latest, one| Some(latest.max(one.finish?)))
    }
}

/// Operations above which nothing is bounded beyond the run.
const MOST_TWICE: usize = 2_000;

/// By job, in the order of threads, then numbers: bounds on the responses of the jobs of a scenario, from those on its
/// operations: of jobs that end while all that is released is known, and of those after that as far as something else
/// bounds them.
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
        let mut known = Self::within(scenario, jobs, bounds);
        if bounds.responses.is_empty()
            && (known.beyond > 0 || known.unrepeated.contains(&true))
            && let Some(longer) = effort::in_part(|| Self::going_on(scenario, jobs, bounds))
        {
            let both = known.responses.iter().zip(&longer.responses);
            let responses = both.map(|(own, longer)| own.iter().chain(longer).min().copied()).collect();
            known = Self { responses, ..longer };
        }
        known
    }

    /// The same of what is released for twice as long: more of it is over before that ends, and it may be shown that
    /// all goes on as it began.
    fn going_on(scenario: &Scenario, jobs: &[AnalysedJob], bounds: &FinishBounds) -> Option<Self> {
        let more = scenario.cut_at()?.since(Instant::ZERO);
        let longer = scenario.going_on(more).filter(|_| bounds.operations.len() <= MOST_TWICE)?;
        let run = simulate_in_brief(&longer).ok()?;
        let all = jobs_of(&run);
        let known = Self::within(&longer, &all, &finish_bounds(&longer, bounds.options).ok()?);
        let place = |job: &AnalysedJob| {
            let key = (job.thread, job.job);
            all.binary_search_by_key(&key, |other| (other.thread, other.job)).ok()
        };
        let places = jobs.iter().map(place).collect::<Option<Vec<usize>>>()?;
        let responses: Vec<Option<Duration>> = places.iter().map(|&place| known.responses[place]).collect();
        // What goes on is told by all jobs of the longer run, of which those here may be the first ones alone.
        let is_late = |(job, response): (&AnalysedJob, &Option<Duration>)| {
            let is_in_time = |deadline: Duration| response.is_some_and(|response| is_in_time(response, deadline));
            job.deadline.is_some_and(|deadline| !is_in_time(deadline)).then_some(job.thread)
        };
        let late: BTreeSet<u32> = all.iter().zip(&known.responses).filter_map(is_late).collect();
        let unrepeated = |&place: &usize| known.unrepeated[place] || late.contains(&all[place].thread);
        let unrepeated = places.iter().map(unrepeated).collect();
        Some(Self { beyond: responses.iter().filter(|response| response.is_none()).count(), responses, unrepeated })
    }

    /// Of what is released in a run of the scenario.
    fn within(scenario: &Scenario, jobs: &[AnalysedJob], bounds: &FinishBounds) -> Self {
        let hosts = HostEnds::new(scenario, &bounds.operations, bounds.options.order);
        let all_released = AllReleased::new(scenario);
        let of_threads = JobBounds::from_releases(scenario, &bounds.responses);
        let of_thread = |job: &AnalysedJob| of_threads.get(job.thread as usize).copied().flatten();
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

    /// From bounds on any job of each thread, whenever jobs come.
    pub(super) fn of_any(jobs: &[AnalysedJob], of_threads: &[Option<Duration>]) -> Self {
        let response = |job: &AnalysedJob| of_threads.get(job.thread as usize).copied().flatten();
        let of_job = |job: &AnalysedJob| response(job).filter(|_| job.complete);
        Self { responses: jobs.iter().map(of_job).collect(), unrepeated: vec![false; jobs.len()], beyond: 0 }
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
            let meets_deadline =
                of_any.zip(job.deadline).is_some_and(|(response, deadline)| is_in_time(response, deadline));
            self.unrepeated[number] = own.is_some() && !meets_deadline;
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
