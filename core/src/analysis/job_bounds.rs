//! Bounds on the jobs of host threads, whenever these come: how long each may take, from its arrival to the end of each
//! of its operations, with whatever holds operations on the GPU (`docs/analysis.md`, "Releases that are not given" and
//! "Host programs, processes, links and channels"). What **contexts that take turns** and **cores** add is here, each
//! bound in the file that the table of that page names.

use thiserror::Error;

use super::assumptions::Departure;
use super::safe_bound::Weights;
use crate::device::Preemption;
use crate::gpu::{SubmitError, runlist};
use crate::limits::count_steps;
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::Duration;
use crate::workload::InterleaveLevel;

pub(super) use model::{LONGEST, Releases, TaskSet};
use orders::Side;
pub(super) use program::reached;

mod by_work;
mod model;
mod orders;
mod parts;
mod program;
mod responses;
mod weight_choices;

/// The bounds on those threads that have one, which hold whatever the others do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JobBounds {
    /// By thread: from the arrival of a job to the end of its last operation, and of what its host does, at most. A job
    /// that others release arrives with the one from which on one releases the other up to it.
    pub(super) responses: Vec<Option<Duration>>,
    /// Why the first thread that has none has none.
    pub(super) refusal: Option<SporadicRefusal>,
}

impl JobBounds {
    /// By thread: from the *release* of a job to its end, at most, by such bounds from its arrival.
    ///
    /// Only jobs that others release are released late without a jitter: when the trigger's have ended, within R' of
    /// their arrival. Where R <= T, the job before has ended when one arrives, and by J = R' the bound R is that on how
    /// long a job takes once it is released, and R' more. Else one that is released at its arrival or later takes no
    /// longer than R.
    pub(super) fn from_releases(scenario: &Scenario, responses: &[Option<Duration>]) -> Vec<Option<Duration>> {
        let from_release = |(number, response): (u32, &Option<Duration>)| {
            let (thread, response) = (scenario.threads.get(number as usize)?, (*response)?);
            let Some(trigger) = thread.triggered_by else { return Some(response) };
            let is_alone = scenario.timed(number)?.period.is_none_or(|period| response <= period);
            let late = responses.get(trigger as usize).copied().flatten().filter(|_| is_alone).unwrap_or_default();
            Some(Duration::from_ns(response.as_ns().saturating_sub(late.as_ns())))
        };
        (0..).zip(responses).map(from_release).collect()
    }
}

/// The bounds of a scenario; `sides` are threads that share nothing with the others but copy engines, each on a GPU of
/// their SMs, with their numbers.
pub(super) fn job_bounds_of_sides(
    scenario: &Scenario,
    releases: Releases<'_>,
    sides: &[(Scenario, Vec<usize>)],
) -> Result<Result<JobBounds, SporadicRefusal>, SubmitError> {
    let tasks = match TaskSet::new(scenario, releases)? {
        Ok(tasks) => tasks,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut known = Vec::with_capacity(sides.len());
    // Copies of others that share a link go on beside those of a side.
    for (alone, own) in sides.iter().filter(|_| !tasks.linked) {
        let jitter = releases.jitter_of(own);
        known.extend(Side::new(&tasks, (alone, own), releases.with_jitter(&jitter))?);
    }
    let contexts = tasks.turns.as_ref().map_or(0, Turns::contexts);
    known.extend((0..contexts).filter_map(|context| Side::of_context(&tasks, scenario.device(), context)));
    Ok(Ok(bounds_of(scenario, &tasks, &known)))
}

/// The same, of tasks that are known.
fn bounds_of(scenario: &Scenario, tasks: &TaskSet, sides: &[Side]) -> JobBounds {
    let weights = Weights::new(scenario.device(), &tasks.classes);
    let exact =
        if responses::is_uniprocessor(tasks, &weights) { responses::exact_responses(tasks) } else { Vec::new() };
    let mut ends: Vec<_> = exact.into_iter().map(|response| response.map(|response| vec![response])).collect();
    if ends.is_empty() || ends.iter().any(Option::is_none) {
        let by_work = responses::ends(tasks, &weights, sides);
        ends.resize(by_work.len(), None);
        ends = ends.into_iter().zip(by_work).map(|(exact, by_work)| exact.or(by_work)).collect();
    }
    let refusal = responses::refusal(tasks, &weights, &ends);
    let mut bounds = JobBounds { responses: vec![None; scenario.threads.len()], refusal };
    for (task, ends) in tasks.tasks.iter().zip(ends) {
        let Some(ends) = ends else { continue };
        for (member, &(thread, offset)) in task.members.iter().enumerate() {
            let of_member = task.operations.iter().zip(&ends).filter(|(operation, _)| operation.member == member);
            // One that does nothing is over when it is released.
            let last = of_member.map(|(_, end)| *end).max().unwrap_or(task.jitter);
            bounds.responses[thread] = Some(Duration::from_ns(last.saturating_sub(offset)));
        }
    }
    bounds
}

/// The least fixed point from `start` on of a function that does not fall; `None`: it has no value somewhere before, or
/// there are more than so many steps to it, each of which counts as so many.
fn least_fixed_point(start: u64, (most, counted): (usize, usize), of: impl Fn(u64) -> Option<u64>) -> Option<u64> {
    let mut length = start;
    for _ in 0..most {
        count_steps(counted);
        let next = of(length)?;
        if next <= length {
            return Some(length);
        }
        length = next;
    }
    None
}

/// How many threads are analysed together, at most: each is looked at beside each other, which took 13 s for 5,000.
const MOST_THREADS: usize = 2_000;

/// Why no bound over all phasings is given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SporadicRefusal {
    /// No period.
    #[error("{thread:?} has no period, so nothing is known of how often its jobs come")]
    NoPeriod {
        /// Label of the thread.
        thread: String,
    },
    /// It neither has a period nor waits for its work, and does not end.
    #[error(
        "{thread:?} goes on without a period and does not wait in each iteration for all that it has submitted: a \
         period, or a wait at the end of an iteration, is missing"
    )]
    Unpaced {
        /// Label of the thread.
        thread: String,
    },
    /// It meets others at a barrier in a way of which nothing is known.
    #[error(
        "{thread:?} meets others at a barrier: only threads are known that all have the same period (and number of \
         iterations) or all run once, come to each barrier equally often, and have given releases, which no ends of jobs \
         are, nor release others, and no time limit"
    )]
    Barrier {
        /// Label of the thread.
        thread: String,
    },
    /// It shares a core and meets others at a barrier.
    #[error("{thread:?} shares a core and meets others at a barrier: nothing is known of the two together")]
    CoreAtBarrier {
        /// Label of the thread.
        thread: String,
    },
    /// Calls of a thread wait while another one frees memory.
    #[error(
        "calls of {thread:?} wait while {by:?} frees memory (cudaFree, cudaFreeHost; H2): nothing is known of how long"
    )]
    HeldByFree {
        /// Label of the thread.
        thread: String,
        /// Label of the one that frees memory.
        by: String,
    },
    /// Too many steps in one job.
    #[error("one job of {thread:?} has too many operations and pauses: no more than 512 are analysed together")]
    TooManySteps {
        /// Label of the thread.
        thread: String,
    },
    /// Too many threads: each is looked at beside each other.
    #[error("{threads} threads or streams do jobs: no more than {} are analysed together", MOST_THREADS)]
    TooManyThreads {
        /// How many there are.
        threads: usize,
    },
    /// More streams than channels, of which they take any that is free, in contexts that take turns.
    #[error(
        "streams may have to wait for any free hardware channel while contexts take turns: the bound knows one of the \
         two at a time"
    )]
    Channels,
    /// An SM mask and an MPS percentage.
    #[error("{}", Departure::MaskedClient)]
    MaskedClient,
    /// SMs that several green contexts have in common, or one and what is in none.
    #[error(
        "{thread:?} uses SMs that several green contexts have in common, or of one and of what is in none, by itself or \
         with others that it shares SMs, streams, events, barriers, cores, copy engines or channels with: nothing bounds \
         these together"
    )]
    SharedSms {
        /// Label of the thread.
        thread: String,
    },
    /// Times too long.
    #[error("a period, jitter or load is beyond 2^62 ns")]
    TooLong,
    /// Some response is not proven to be within its period, nor, where jobs queue in one stream, within a few of them.
    #[error(
        "no bound is found: a job of {thread:?} may not be done when the next one comes ({})",
        load.as_ref().map_or_else(|| "too much load, or the bound is too coarse".to_owned(), ToString::to_string)
    )]
    BeyondPeriod {
        /// Label of the thread.
        thread: String,
        /// What the bound counts in a window of some of its periods, if that is known.
        load: Option<WindowLoad>,
    },
}

/// What a bound counts in a window of several periods of a thread, where jobs of others that have no bound end by their
/// periods: more than the window, so that it knows no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "in {jobs} of its periods, {window}, the bound counts {} at least: {own} for {jobs} of its jobs, {others} for jobs of others, \
     {turns} for turns of other contexts, {cores} for more urgent hosts",
    WindowLoad::sum(self)
)]
pub struct WindowLoad {
    /// Jobs of the thread.
    pub jobs: u64,
    /// Their periods together.
    pub window: Duration,
    /// Of these jobs: their blocks, copies, sleeps and work.
    pub own: Duration,
    /// Of jobs of others.
    pub others: Duration,
    /// Of turns that other contexts have.
    pub turns: Duration,
    /// Of more urgent hosts of the same core.
    pub cores: Duration,
}

impl WindowLoad {
    /// All of it.
    pub fn sum(&self) -> Duration {
        let Self { own, others, turns, cores, .. } = *self;
        [others, turns, cores].into_iter().fold(own, Duration::saturating_add)
    }
}

/// How a task i has its core: **cores** that hosts share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OnCore {
    core: u32,
    /// A smaller one is more urgent; no two of a core are equal.
    rank: (i32, usize),
    /// `C_i`: work of one job at most \[ns\].
    work: u64,
    /// Whether it keeps the core while it waits for operations.
    spins: bool,
    /// Whether it is in S, and may give up the core in the midst of a job; else it is in N.
    suspends: bool,
    /// Whether a job begins with work and never waits: at the instant at which its work is done it goes on, whoever
    /// else then asks for the core.
    only_works: bool,
}

impl OnCore {
    /// Of thread number `number`, whose jobs do so much work.
    fn of(thread: &HostThread, number: usize, work: Duration) -> Option<Self> {
        let share = thread.core?;
        let gives_up = |step: &Step| match step {
            Step::Sleep(_) | Step::Barrier(_) => true,
            step => step.waits_for_operations() && !share.spins,
        };
        let works = |step: &Step| matches!(step, Step::Work(time) if *time > Duration::ZERO);
        let never_waits =
            |step: &Step| works(step) || step.submission().is_some() || matches!(step, Step::Repeat { .. });
        Some(Self {
            core: share.core,
            rank: (share.priority, number),
            work: work.as_ns(),
            spins: share.spins,
            suspends: thread.barrier.is_some() || thread.steps.iter().any(gives_up),
            only_works: thread.barrier.is_none()
                && thread.steps.first().is_some_and(works)
                && thread.steps.iter().all(never_waits),
        })
    }

    /// How much later than at the end of a window something may come that delays a job within it \[ns\].
    fn reach(&self) -> u64 {
        u64::from(!self.only_works)
    }

    /// Whether `other` has the core first.
    fn is_below(&self, other: &Self) -> bool {
        self.core == other.core && other.rank < self.rank
    }

    /// What one job takes of the core, and how much later than a period after the one before a job may have the core
    /// \[ns\], if jobs come `period` apart, each up to `jitter` late, and end within `response`; `None`: not known.
    fn takes(&self, period: u64, jitter: u64, response: Option<u64>) -> Option<(u64, u64)> {
        let one = if self.spins { response? } else { self.work };
        let late = match response {
            // In N: J; in S: R - C, or R if it spins or C > T.
            _ if !self.suspends => jitter,
            response if self.spins || self.work > period => response?,
            response => response?.saturating_sub(self.work),
        };
        Some((one, late))
    }
}

/// **Contexts that take turns**, by rules T1 to T6: what they leave to one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Turns {
    contexts: Vec<Context>,
    /// σ: what a switch costs \[ns\].
    switch: u64,
    /// Whether copies run in the turns of their contexts only.
    with_copies: bool,
}

/// A context p.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Context {
    /// `Q_p` \[ns\].
    slice: u64,
    /// `n_p`: its places in a round.
    places: u64,
    /// `L_p`: for how long blocks may run on when a slice is over \[ns\].
    run_out: u64,
}

/// What operations of a context can do in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ContextLoad {
    /// How many of them need turns.
    operations: u128,
    /// For how long it has work \[ns\].
    work: u128,
}

impl Turns {
    /// `None`: contexts do not take turns.
    fn of(scenario: &Scenario) -> Option<Self> {
        let taking = scenario.catalogue.turn_taking()?;
        let levels: Vec<InterleaveLevel> = scenario.catalogue.processes().iter().map(|process| process.level).collect();
        let order = runlist(&levels);
        let to_ends = scenario.device().time_slicing.preemption == Preemption::BlockEnd;
        let longest = |process: usize| {
            let steps = scenario.threads.iter().flat_map(|thread| &thread.steps);
            let times = steps.filter_map(|step| match *step {
                Step::Launch(kernel, stream) if scenario.streams()[stream.index()].process.index() == process => {
                    scenario.longest_block_time(kernel)
                }
                _ => None,
            });
            times.max().map_or(0, Duration::as_ns)
        };
        let context = |(process, slice): (usize, &Duration)| Context {
            slice: slice.as_ns().max(1),
            places: order.iter().filter(|&&of| of == process).count() as u64,
            run_out: if to_ends { longest(process) } else { 0 },
        };
        let contexts = taking.time_slices.iter().enumerate().map(context).collect();
        Some(Self { contexts, switch: taking.switch_cost.as_ns(), with_copies: taking.copies_run_in_turn })
    }

    /// How many contexts there are.
    fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// What a context p loses \[ns\]: for how long it has no turn, or lets blocks run out, while a chain needs its
    /// turns for `N_p` operations, and for `B_p` ns in all. `loads` says of each context what it can do meanwhile, if
    /// that is known; `M_p`, `K_q` and M are those of `docs/analysis.md`.
    fn lost(&self, p: usize, (n_p, b_p): (u64, u128), loads: &[Option<ContextLoad>]) -> Option<u128> {
        let own = self.contexts.get(p)?;
        // M_p = N_p + floor(B_p / Q_p).
        let m_p = u128::from(n_p).checked_add(b_p / u128::from(own.slice))?;
        let (mut others, mut switches, mut begun) = (0_u128, 0_u128, Some(1_u128));
        for (q, other) in self.contexts.iter().enumerate().filter(|(q, _)| *q != p) {
            let load = loads.get(q).copied().flatten();
            // K_q = N_q + floor(work / Q_q).
            let k_q = load.and_then(|load| load.operations.checked_add(load.work / u128::from(other.slice)));
            begun = begun.zip(k_q).and_then(|(all, k_q)| all.checked_add(k_q));
            // M_p n_q Q_q, or the work of q; and for each of M_p n_q turns, or K_q and one under way, L_q.
            let most = m_p.checked_mul(u128::from(other.places))?;
            let slices = most.checked_mul(u128::from(other.slice))?;
            let turns = k_q.map_or(most, |k_q| most.min(k_q + 1));
            let run_out = turns.checked_mul(u128::from(other.run_out))?;
            others = others.checked_add(load.map_or(slices, |load| slices.min(load.work)))?.checked_add(run_out)?;
            switches = switches.checked_add(k_q.map_or(most, |k_q| most.min(k_q)))?;
        }
        // M: as often it waits for a turn, each time with a switch to it at the end.
        let m = begun.map_or(m_p, |begun| m_p.min(begun));
        let switches = switches.checked_add(m)?.checked_mul(u128::from(self.switch))?;
        others.checked_add(switches)?.checked_add(m.checked_mul(u128::from(own.run_out))?)
    }
}
