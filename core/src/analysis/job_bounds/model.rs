//! What a job of each thread does, how often jobs come, and what they share; and **jobs that others release**
//! (`docs/analysis.md`, "Jobs that the ends of others release").
//!
//! Claim of the latter: with `J_i` = `R_p`, where the ends of jobs of p release those of i, and with the arrivals of
//! the thread from which on one releases the other up to i, all bounds on jobs hold; from its release a job of i
//! takes `R_i` - `R_p` if `R_i` <= `T_i`, and `R_i` in any case. Assumptions: none of them meets others at a barrier,
//! and what releases them in the end has a period or a single job.

use super::program::{Program, Unknown, ancestors, reached, threads_of};
use super::{MOST_THREADS, OnCore, SporadicRefusal, Turns};
use crate::analysis::assumptions::{Departure, departures, launches, queues_by_client, sharing_channels};
use crate::analysis::merged_resources::Costs;
use crate::analysis::prepared::{demands, merge};
use crate::analysis::safe_bound::{Begin, Class, Operation, Work, level_of, work_of};
use crate::device::{BlockDemand, ChannelOrder};
use crate::gpu::SubmitError;
use crate::limits::count_turn;
use crate::scenario::{BarrierId, HostThread, Scenario};
use crate::time::Duration;
use crate::workload::{OperationKind, StreamId};

/// How jobs come.
#[derive(Debug, Clone, Copy)]
pub(in crate::analysis) enum Releases<'a> {
    /// A period or more apart, and released up to the jitter of the thread later; missing ones are 0.
    Sporadic(&'a [Duration]),
    /// As the scenario states, but for up to the jitter of the thread later.
    Late(&'a [Duration]),
    /// As the scenario states.
    Given,
}

impl Releases<'_> {
    /// By thread; missing ones are 0.
    fn jitter(&self) -> &[Duration] {
        match self {
            Self::Sporadic(jitter) | Self::Late(jitter) => jitter,
            Self::Given => &[],
        }
    }

    /// The jitter of some threads.
    pub(in crate::analysis) fn jitter_of(&self, threads: &[usize]) -> Vec<Duration> {
        threads.iter().map(|&thread| self.jitter().get(thread).copied().unwrap_or_default()).collect()
    }

    /// The same with another jitter.
    pub(in crate::analysis) const fn with_jitter<'a>(&self, jitter: &'a [Duration]) -> Releases<'a> {
        match self {
            Self::Sporadic(_) => Releases::Sporadic(jitter),
            Self::Late(_) => Releases::Late(jitter),
            Self::Given => Releases::Given,
        }
    }
}

/// Host threads that do jobs together, mostly one. Jobs come at least a period apart, each released at most the jitter
/// after it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analysis) struct Task {
    pub(in crate::analysis) label: String,
    /// Numbers of the threads, and how long after the job each is released.
    pub(super) members: Vec<(usize, u64)>,
    /// From one job to the next at least; the one before it has ended then, but for jobs that queue.
    pub(in crate::analysis) period: u64,
    /// Within this time of its arrival a job has to end, or nothing is known.
    pub(super) within: u64,
    /// How many jobs may be there at once of which each waits in one stream or host for the one before it; 1: a job has
    /// to be over when the next one comes.
    pub(super) most_queued: u64,
    /// How many jobs there are at most, if that is known.
    pub(super) most_jobs: Option<u64>,
    /// Of one that another task releases 0: its jobs arrive with those from which on one releases the other up to it.
    pub(super) jitter: u64,
    /// The task the ends of whose jobs release its own, as late as these may be.
    pub(super) trigger: Option<usize>,
    /// The EE queues of its streams, 0 is the highest priority.
    pub(super) highest: usize,
    pub(super) lowest: usize,
    /// The other tasks whose operations its own may wait for; `None`: they wait for none of another thread.
    pub(super) reached: Option<Vec<usize>>,
    /// What a job does.
    pub(in crate::analysis) operations: Vec<Operation>,
    /// The core that its thread shares.
    pub(super) core: Option<OnCore>,
    /// Whether a job begins by a timer, and not when a job of another thread, or its own before, comes to an end.
    pub(super) is_timed: bool,
}

impl Task {
    /// How long a job may take at most, if no other job of it is there beside it \[ns\].
    pub(super) fn most_alone(&self) -> u64 {
        if self.most_queued == 1 { self.within } else { self.period }
    }

    /// Whether a job whose operations end by `ends` is done before another comes `most` ns after it. What has no length
    /// has not begun before it ends, so at that very instant the other one's operations may still pass it.
    pub(in crate::analysis) fn is_done_within(&self, most: u64, ends: &[u64]) -> bool {
        // Others wait for what was launched before them, which nothing passes any more.
        let is_done = |(one, &end): (&Operation, &u64)| end < most || end == most && !has_no_length(&one.work);
        self.operations.iter().zip(ends).all(is_done)
    }

    /// Whether it has a copy.
    pub(super) fn copies(&self) -> bool {
        self.operations.iter().any(|operation| matches!(operation.work, Work::Copy { .. }))
    }

    /// The same where nothing is known but its copies: all else is work that lasts for whatever time. Its pauses are in
    /// streams behind those of `threads` threads. `None`: it waits for others.
    pub(super) fn as_copies(&self, threads: usize) -> Option<Self> {
        if self.reached.is_some() {
            return None;
        }
        let mut other = Self { members: Vec::new(), core: None, trigger: None, ..self.clone() };
        for operation in &mut other.operations {
            if operation.work.is_of_host() {
                operation.stream += threads;
            }
            if !matches!(operation.work, Work::Copy { .. }) {
                operation.work = Work::Busy(Duration::ZERO);
            }
        }
        Some(other)
    }

    /// Whether its host works, or waits for a core.
    pub(super) fn works(&self) -> bool {
        self.operations.iter().any(|operation| matches!(operation.work, Work::Busy(_)))
    }

    /// Whether its host sleeps or waits for others.
    pub(in crate::analysis) fn pauses(&self) -> bool {
        self.operations.iter().any(|operation| operation.work.is_of_host())
    }

    /// Whether what comes after operation number `number` comes after all that is before it in the job.
    pub(super) fn waits_for_all(&self, number: usize) -> bool {
        ancestors(&self.operations, &[number]).into_iter().take(number).all(|found| found)
    }

    /// J: how much later than it arrives a job may be released \[ns\], if `responses` bound those of all tasks; `None`:
    /// not known.
    pub(super) fn released_within(&self, responses: &[Option<u64>]) -> Option<u64> {
        self.trigger.map_or(Some(self.jitter), |trigger| responses.get(trigger).copied().flatten())
    }

    /// How a job begins if it takes no longer than `response` ns. What has no length may end in a later round of the
    /// instant at which the next job begins, when blocks have been assigned.
    pub(super) fn begin(&self, response: Option<u64>) -> Begin {
        let lasts = |one: &Operation| !matches!(one.work, Work::Nothing | Work::Busy(_)) && !has_no_length(&one.work);
        // Jobs that queue may begin when the one before has ended.
        let is_over = || {
            response.is_some_and(|response| response < self.period)
                || response.is_none_or(|response| response <= self.period) && self.operations.iter().all(lasts)
        };
        if self.is_timed && is_over() { Begin::Timer } else { Begin::Event }
    }

    /// Jobs that may be there in `window` ns, if a job ends within `response`; `None`: not known.
    pub(super) fn jobs(&self, window: u64, response: Option<u64>) -> Option<u64> {
        let by_period = response.and_then(|response| Some(window.checked_add(response)?.div_ceil(self.period.max(1))));
        by_period.into_iter().chain(self.most_jobs).min()
    }
}

/// Whether it occupies SMs or a copy engine for no time.
fn has_no_length(work: &Work) -> bool {
    matches!(*work, Work::Kernel { block_time: time, .. } | Work::Copy { worst: time, .. } if time == Duration::ZERO)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analysis) struct TaskSet {
    /// SMs on which blocks run at once, at most.
    pub(super) sms: u64,
    pub(in crate::analysis) tasks: Vec<Task>,
    pub(in crate::analysis) classes: Vec<Class>,
    /// Streams (of pauses, too), priorities and copy engines.
    pub(super) streams: usize,
    pub(super) levels: usize,
    pub(super) engines: usize,
    /// Whether copies of one engine share its link.
    pub(super) linked: bool,
    /// Hardware channels of each process of which streams take any that is free, if these may have to wait for one.
    pub(super) channels: Option<u64>,
    /// Launch latency and kernel gap together \[ns\].
    pub(super) latency: u64,
    /// Contexts that take turns.
    pub(super) turns: Option<Turns>,
    /// How many contexts there are, if each has turns, or SMs and EE queues, of its own: kernels of one do not hold
    /// those of another.
    pub(super) contexts: Option<usize>,
    /// Whether clients of MPS have EE queues of their own, so that a priority holds back kernels of its own client
    /// only.
    pub(super) queues_by_client: bool,
    /// Whether jobs come over all phasings.
    pub(super) is_sporadic: bool,
}

/// Jobs of a stream or host that may wait for one another at once; one that may have more is taken for overloaded.
const MOST_QUEUED: u64 = 8;

/// Longest time that enters the analysis \[ns\].
pub(in crate::analysis) const LONGEST: u64 = 1 << 62;

/// Threads that do jobs together, how many iterations one job has, and how jobs come.
struct Group {
    threads: Vec<usize>,
    iterations: u64,
    period: Option<u64>,
    most_jobs: Option<u64>,
}

impl TaskSet {
    pub(in crate::analysis) fn new(
        scenario: &Scenario,
        releases: Releases<'_>,
    ) -> Result<Result<Self, SporadicRefusal>, SubmitError> {
        let threads = scenario.threads.len();
        if threads > MOST_THREADS {
            return Ok(Err(SporadicRefusal::TooManyThreads { threads }));
        }
        if let Some((thread, by)) = scenario.held_by_frees() {
            let label = |thread: &HostThread| thread.label.to_string();
            return Ok(Err(SporadicRefusal::HeldByFree { thread: label(thread), by: label(by) }));
        }
        let demands = demands(scenario);
        let launches = launches(scenario);
        let (costs, _) = merge(scenario, &demands, &launches)?;
        let departed = departures(scenario, &demands, &launches, false);
        if departed.contains(&Departure::MaskedClient) {
            return Ok(Err(SporadicRefusal::MaskedClient));
        }
        let device = scenario.device();
        let turns = Turns::of(scenario);
        // Those that streams were dealt to are waits for operations of others.
        let with_channels = departed.contains(&Departure::Channels) && device.channel_order != ChannelOrder::Submission;
        if with_channels && turns.is_some() {
            return Ok(Err(SporadicRefusal::Channels));
        }
        let green = Some(scenario.catalogue.green_contexts().len()).filter(|number| *number > 0 && turns.is_none());
        let latency = device.launch_latency.as_ns().saturating_add(device.kernel_gap.as_ns());
        let tasks = Self {
            sms: u64::from(costs.sms),
            tasks: Vec::new(),
            classes: Vec::new(),
            streams: scenario.streams().len() + scenario.threads.len(),
            levels: device.priorities().count() + 1,
            engines: device.copy.engines as usize,
            linked: departed.contains(&Departure::SharedLink),
            channels: device.channels.filter(|_| with_channels).map(u64::from),
            latency,
            contexts: turns.as_ref().map(Turns::contexts).or(green),
            turns,
            queues_by_client: queues_by_client(scenario),
            is_sporadic: matches!(releases, Releases::Sporadic(_)),
        };
        let may_queue = tasks.is_plain();
        let by_green = green.is_some();
        let has_no_latency = latency == 0;
        let described = Described { scenario, demands: &demands, costs: &costs, may_queue, by_green, has_no_latency };
        Ok(tasks.with_tasks(scenario, &described, releases))
    }

    /// Whether nothing but room on the SMs, one order of all kernels and that of copies holds operations, beside stream
    /// order and hosts.
    pub(super) fn is_plain(&self) -> bool {
        let is_held = self.linked || self.channels.is_some() || self.queues_by_client;
        !is_held && self.latency == 0 && self.contexts.is_none()
    }

    /// Whether no more urgent host shares the core of a task's.
    pub(super) fn has_core_to_itself(&self, task: &Task) -> bool {
        let is_above = |other: &Task| task.core.zip(other.core).is_some_and(|(own, other)| own.is_below(&other));
        !self.tasks.iter().any(is_above)
    }

    /// How long in `window` ns the core of `task` may be had by tasks that are more urgent \[ns\], if a job of each
    /// ends within its response; `None`: not known.
    pub(super) fn higher(&self, task: &Task, window: u64, responses: &[Option<u64>]) -> Option<u64> {
        let Some(own) = task.core else { return Some(0) };
        let mut total = 0_u64;
        for (other, response) in self.tasks.iter().zip(responses) {
            let Some(core) = other.core.filter(|core| own.is_below(core)) else { continue };
            let (one, late) = core.takes(other.period, other.released_within(responses)?, *response)?;
            let jobs = window.checked_add(late)?.div_ceil(other.period.max(1));
            let jobs = other.most_jobs.map_or(jobs, |most| jobs.min(most));
            total = total.checked_add(one.checked_mul(jobs)?)?;
        }
        Some(total)
    }

    fn with_tasks(
        mut self,
        scenario: &Scenario,
        described: &Described<'_>,
        releases: Releases<'_>,
    ) -> Result<Self, SporadicRefusal> {
        let groups = groups(scenario, self.is_sporadic, matches!(releases, Releases::Late(_)))?;
        let members: Vec<Vec<usize>> = groups.iter().map(|group| group.threads.clone()).collect();
        let mut known = std::mem::take(&mut self.classes);
        for (group, reached) in groups.into_iter().zip(reached(scenario, &members)) {
            let mut task = described.task(&group, reached, releases, &mut known)?;
            let trigger = scenario.threads[group.threads[0]].triggered_by;
            task.trigger = trigger.and_then(|trigger| members.iter().position(|one| one.contains(&(trigger as usize))));
            self.tasks.push(task);
        }
        self.classes = known;
        Ok(self)
    }
}

/// Threads that meet at barriers do one job together, others one each.
fn groups(scenario: &Scenario, is_sporadic: bool, are_late: bool) -> Result<Vec<Group>, SporadicRefusal> {
    let mut groups: Vec<Group> = Vec::new();
    let mut barriers: Vec<(BarrierId, usize)> = Vec::new();
    for (number, thread) in scenario.threads.iter().enumerate() {
        let label = || thread.label.to_string();
        // Without a release a job begins when its barrier has opened.
        let is_released = thread.period.is_some() || thread.triggered_by.is_some();
        let at_barriers: Vec<BarrierId> = thread
            .barriers()
            .filter(|barrier| is_released || thread.barrier != Some(*barrier) || in_steps(thread, *barrier))
            .filter(|barrier| threads_of(scenario, *barrier) > 1)
            .collect();
        let meets = !at_barriers.is_empty();
        let refuse = Err(SporadicRefusal::Barrier { thread: label() });
        let meets_anywhere = || thread.barriers().any(|barrier| threads_of(scenario, barrier) > 1);
        if thread.core.is_some() && meets_anywhere() {
            return Err(SporadicRefusal::CoreAtBarrier { thread: label() });
        }
        let releases_others = || scenario.threads.iter().any(|one| one.triggered_by == u32::try_from(number).ok());
        let is_refused = is_sporadic || are_late || thread.may_end_early() || thread.never_runs();
        if meets && (is_refused || releases_others()) {
            return refuse;
        }
        // Jobs that others release arrive with those from which on one releases the other.
        let timed = u32::try_from(number).ok().and_then(|number| scenario.timed(number)).unwrap_or(thread);
        let has_no_pace = is_sporadic || thread.triggered_by.is_some() && timed.iterations != Some(1);
        let group = match timed.period {
            Some(period) => Group {
                threads: vec![number],
                iterations: 1,
                period: Some(period.as_ns()),
                most_jobs: timed.iterations_in_all().filter(|_| !is_sporadic),
            },
            None if has_no_pace => return Err(SporadicRefusal::NoPeriod { thread: timed.label.to_string() }),
            None => Group { threads: vec![number], iterations: 1, period: None, most_jobs: thread.iterations },
        };
        if meets && group.period.is_none() && group.most_jobs != Some(1) {
            return refuse;
        }
        let known = barriers.iter().find(|(barrier, _)| at_barriers.contains(barrier)).map(|(_, place)| *place);
        let place = known.unwrap_or(groups.len());
        if known.is_some() {
            let other = &mut groups[place];
            if (other.period, other.most_jobs) != (group.period, group.most_jobs) {
                return refuse;
            }
            other.threads.push(number);
        } else {
            groups.push(group);
        }
        for barrier in at_barriers {
            match barriers.iter().find(|(known, _)| *known == barrier) {
                // It joins two groups.
                Some((_, other)) if *other != place => return refuse,
                Some(_) => {}
                None => barriers.push((barrier, place)),
            }
        }
    }
    Ok(groups)
}

fn in_steps(thread: &HostThread, barrier: BarrierId) -> bool {
    thread.steps.iter().any(|step| matches!(step, crate::scenario::Step::Barrier(own) if *own == barrier))
}

/// What is known of operations.
struct Described<'a> {
    scenario: &'a Scenario,
    demands: &'a [BlockDemand],
    costs: &'a Costs,
    /// Whether nothing but SMs and copy engines holds an operation that is next in its stream.
    may_queue: bool,
    /// Whether contexts are green ones.
    by_green: bool,
    /// Whether launches and kernels follow one another at once.
    has_no_latency: bool,
}

impl Described<'_> {
    fn operation(&self, kind: OperationKind, stream: StreamId, classes: &mut Vec<Class>) -> Operation {
        let &Self { scenario, demands, costs, by_green, .. } = self;
        let work = work_of(scenario, (demands, costs), (kind, stream), classes, |_| Duration::ZERO);
        let spec = &scenario.streams()[stream.index()];
        let context = match spec.green_context {
            Some(green) if by_green => green.index(),
            _ => spec.process.index(),
        };
        let level = level_of(scenario, stream);
        Operation { stream: stream.index(), level, context, member: 0, work, after: Vec::new() }
    }

    fn program(
        &self,
        (threads, iterations): (&[(usize, Duration, u64)], u64),
        classes: &mut Vec<Class>,
        label: &dyn Fn() -> String,
    ) -> Result<Program, SporadicRefusal> {
        let known = std::cell::RefCell::new(std::mem::take(classes));
        let describe = |kind, stream| self.operation(kind, stream, &mut known.borrow_mut());
        let threads: Vec<_> = threads.iter().map(|&(number, offset, _)| (number, offset, iterations)).collect();
        let program = Program::new(self.scenario, &threads, &describe);
        *classes = known.into_inner();
        program.map_err(|unknown| match unknown {
            Unknown::TooLong => SporadicRefusal::TooManySteps { thread: label() },
            Unknown::Barrier => SporadicRefusal::Barrier { thread: label() },
        })
    }

    fn task(
        &self,
        group: &Group,
        mut reached: Option<Vec<usize>>,
        releases: Releases<'_>,
        classes: &mut Vec<Class>,
    ) -> Result<Task, SporadicRefusal> {
        let of = |number: usize| &self.scenario.threads[number];
        let first = group.threads.iter().map(|&number| of(number).release).min().unwrap_or(Duration::ZERO);
        // Without a period a job begins when the barrier before it opens, for all its threads at once.
        let begins_at = |number: usize| of(number).barrier.filter(|_| of(number).period.is_none());
        let start = begins_at(group.threads[0]);
        if group.threads.iter().any(|&number| begins_at(number) != start) {
            return Err(SporadicRefusal::Barrier { thread: of(group.threads[0]).label.to_string() });
        }
        let offset = |number: usize| match start {
            Some(_) => Duration::ZERO,
            None => Duration::from_ns(of(number).release.as_ns() - first.as_ns()),
        };
        let threads: Vec<_> = group.threads.iter().map(|&number| (number, offset(number), 1)).collect();
        let thread = group.threads[0];
        let label = || of(thread).label.to_string();
        let mut program = self.program((&threads, group.iterations), classes, &label)?;
        let (mut period, mut most_jobs) = (group.period, group.most_jobs);
        if period.is_none() && most_jobs != Some(1) {
            if program.is_closed[0] {
                // An iteration begins when the one before it has ended, after all its pauses.
                period = Some(program.pauses[0].as_ns());
            } else if let Some(all) = most_jobs.filter(|_| of(thread).barrier.is_none()) {
                // All of them as one.
                program = self.program((&threads, all), classes, &label)?;
                most_jobs = Some(1);
            } else {
                return Err(SporadicRefusal::Unpaced { thread: label() });
            }
        }
        // None but its own, which it meets in its channels: they may be over by then anyway.
        if self.has_no_latency && reached.as_ref().is_some_and(Vec::is_empty) {
            reached = reached.filter(|_| !program.passes_channels(&sharing_channels(self.scenario)));
        }
        let is_triggered = of(thread).triggered_by.is_some();
        let jitter = releases.jitter().get(thread).filter(|_| !is_triggered).map_or(0, |jitter| jitter.as_ns());
        let period = period.unwrap_or(LONGEST);
        if period > LONGEST || jitter > LONGEST {
            return Err(SporadicRefusal::TooLong);
        }
        let Program { mut operations, work, is_closed, .. } = program;
        let core = OnCore::of(of(thread), thread, work[0]);
        // A host that has waited for its own operations only goes on when these have ended, which is known.
        let is_over = |operation: &Operation| operation.work == Work::Pause(Duration::ZERO) && group.threads.len() == 1;
        while reached.is_none() && core.is_none() && operations.last().is_some_and(is_over) {
            count_turn();
            operations.pop();
        }
        if is_triggered && operations.is_empty() {
            // It is over when it is released, which is not known beforehand.
            let (stream, context) = (self.scenario.streams().len() + thread, of(thread).process.index());
            let (work, after) = (Work::Pause(Duration::ZERO), Vec::new());
            operations.push(Operation { stream, level: 0, context, member: 0, work, after });
        }
        let (highest, lowest) = levels(&operations);
        // Whatever is launched in one stream, and waits for nothing else, goes on behind the job before it; so does all
        // that a host does that has waited for all of it at the end of a job.
        let is_one_stream =
            || operations.iter().all(|one| !one.work.is_of_host() && one.stream == operations[0].stream);
        let is_in_order = is_closed[0] || core.is_none() && self.may_queue && is_one_stream();
        let queues = group.period.is_some() && reached.is_none() && group.threads.len() == 1;
        // With a jitter of a period, a job might be released before the one that came before it, unless another thread
        // releases both.
        let queues = queues && is_in_order && jitter < period;
        let most_queued = if queues { MOST_QUEUED } else { 1 };
        Ok(Task {
            label: label(),
            members: threads.iter().map(|&(number, offset, _)| (number, offset.as_ns())).collect(),
            period,
            within: group.period.map_or(LONGEST, |period| period.saturating_mul(most_queued)),
            most_queued,
            most_jobs,
            jitter,
            trigger: None,
            highest,
            lowest,
            reached,
            operations,
            core,
            is_timed: !is_triggered
                && (group.period.is_some()
                    || most_jobs == Some(1) && group.threads.len() == 1 && of(thread).barrier.is_none()),
        })
    }
}

/// The highest and the lowest of the EE queues of some operations.
pub(super) fn levels(operations: &[Operation]) -> (usize, usize) {
    let levels = || operations.iter().filter(|operation| !operation.work.is_of_host()).map(|operation| operation.level);
    (levels().min().unwrap_or(0), levels().max().unwrap_or(0))
}
