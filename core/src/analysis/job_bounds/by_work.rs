//! **Bound by work over all phasings**, and **jobs that queue** (`docs/analysis.md`, "Releases that are not given"; in
//! Coq `responses_hold` and `programs_hold`).
//!
//! Claim: no job of any stream i takes longer than `R_i`, if for every operation k of its job, and every number q of
//! jobs of i that queue,
//!
//! `R_i` >= `J_i` + `w_(k,q)` + `C_k` - (q - 1) `T_i`, where `w_(k,q)` is the least w with `W_(k,q)(w)` <= w.
//!
//! Assumptions: jobs of i arrive `T_i` or more apart, and are released up to `J_i` after they arrive, which is the R of
//! the thread that releases them if one does; all bounds R hold together; `R_i` <= `T_i`, unless jobs of i queue (one
//! thread, `J_i` < `T_i` or the releases of another, one stream that waits for nothing else or a host that has waited
//! for all that it submits at the end of each) or each begins when the one before it has ended. What else a scenario
//! has adds to `W_(k,q)(w)`, each by a theorem of its own ("Host programs, processes, links and channels"): **waits for
//! operations of others** (`waiting_hosts_hold`), clients of MPS on **shared SMs**, **contexts that take turns**,
//! **shared links**, **channels and latencies**, and **cores**.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::model::{Task, TaskSet};
use super::program::{Chain, chains, numbers};
use super::weight_choices::{Choice, choices};
use super::{ContextLoad, LONGEST, WindowLoad, least_fixed_point};
use crate::analysis::safe_bound::{Begin, LowerInWaits, ONE, Operation, Weights, Work};
use crate::time::Duration;

/// Lengths of a window that are tried.
const MOST_STEPS: usize = 100_000;

/// By how much less than a link could serve a copy that shares it is served, at most \[ns\].
const LINK_LOSS: u64 = 2;

/// The bounds by work on the jobs of all tasks.
#[derive(Debug)]
pub(super) struct ByWork<'a> {
    tasks: &'a TaskSet,
    weights: &'a Weights<'a>,
    /// By task: choices of the weights v, each of which gives a bound.
    choices: Vec<Vec<Choice>>,
    /// By task and operation.
    chains: Vec<Vec<Chain>>,
}

impl<'a> ByWork<'a> {
    pub(super) fn new(tasks: &'a TaskSet, weights: &'a Weights<'a>) -> Self {
        let choices = tasks.tasks.iter().map(|task| choices(tasks, weights, lowest_level(tasks, task))).collect();
        let chains = tasks.tasks.iter().map(|task| chains(&task.operations)).collect();
        Self { tasks, weights, choices, chains }
    }

    /// By when each operation of a task's job has ended, from the arrival of the job \[ns\], if `responses` are bounds
    /// R of all tasks.
    pub(super) fn ends(&self, task: usize, responses: &[Option<u64>]) -> Option<Vec<u64>> {
        let Task { operations, most_queued, period, .. } = &self.tasks.tasks[task];
        let mut ends = vec![0; operations.len()];
        for q in 1..=*most_queued {
            let sums = self.windows(task, q, responses);
            let end = |k: usize| sums.iter().filter_map(|sum| sum.end(k)).min();
            let of_q: Vec<u64> = (0..operations.len()).map(end).collect::<Option<_>>()?;
            let is_over = of_q.iter().all(|end| end <= period);
            ends.iter_mut().zip(of_q).for_each(|(end, of_q)| *end = of_q.max(*end));
            // Q: where the last of q jobs has ended before the next one comes, there are no more at once.
            if is_over || *most_queued == 1 {
                return Some(ends);
            }
        }
        None
    }
}

impl ByWork<'_> {
    /// The window of q jobs of a task with each choice of weights.
    fn windows<'a>(&'a self, task: usize, q: u64, responses: &'a [Option<u64>]) -> Vec<WorkInWindow<'a>> {
        let &Self { tasks, weights, .. } = self;
        let chains = &self.chains[task];
        let mut is_reached = vec![false; tasks.tasks.len()];
        tasks.tasks[task].reached.iter().flatten().for_each(|&other| is_reached[other] = true);
        let level = lowest_level(tasks, &tasks.tasks[task]);
        let window = |v| {
            let (outside, sums, is_reached) = (OnceCell::new(), RefCell::default(), is_reached.clone());
            WorkInWindow { tasks, task, q, level, is_reached, v, responses, weights, chains, outside, sums }
        };
        self.choices[task].iter().map(window).collect()
    }

    /// For how long a context has no turn although it has work \[ns\], in a window in which q jobs of a task take
    /// place: of at most so many operations, which need its turns for `busy` ns in all.
    pub(super) fn lost(
        &self,
        (task, q): (usize, u64),
        (context, operations, busy): (usize, u64, u64),
        window: u64,
        responses: &[Option<u64>],
    ) -> Option<u64> {
        let mut needs = vec![NeedOfTurns::default(); context];
        needs.push(NeedOfTurns { n_p: operations, b_p: u128::from(busy).checked_mul(u128::from(ONE))? });
        let lost = |window_of: WorkInWindow<'_>| window_of.lost(&needs, window);
        let least = self.windows(task, q, responses).into_iter().filter_map(lost).min()?;
        u64::try_from(least.div_ceil(u128::from(ONE))).ok()
    }

    /// Why a task has no bound, if `responses` bound those of others: what there is in the longest window.
    pub(super) fn load(&self, task: usize, responses: &[Option<u64>]) -> Option<WindowLoad> {
        // Its own response is not asked for.
        let q = self.tasks.tasks[task].most_queued;
        self.windows(task, q, responses).iter().filter_map(WorkInWindow::load).min_by_key(WindowLoad::sum)
    }
}

/// The lowest priority of what a job can have to wait for, itself included.
fn lowest_level(tasks: &TaskSet, task: &Task) -> usize {
    let reached = task.reached.iter().flatten().map(|&other| tasks.tasks[other].lowest);
    reached.fold(task.lowest, usize::max)
}

/// `W_(k,q)` of the operations k of a task's job, with one choice of weights.
struct WorkInWindow<'a> {
    tasks: &'a TaskSet,
    task: usize,
    /// How many jobs of the task there are: the one looked at, and those before it, each of which made the next wait.
    q: u64,
    /// The lowest priority of what the job can have to wait for.
    level: usize,
    /// By task: whether it is in S, so that the job can have to wait for what its jobs submit.
    is_reached: Vec<bool>,
    v: &'a Choice,
    /// By task: R; `None`: not known.
    responses: &'a [Option<u64>],
    weights: &'a Weights<'a>,
    chains: &'a [Chain],
    /// By operation of the job: how long it and what is before it take outside the waits, along the longest chain.
    outside: OnceCell<Vec<u128>>,
    /// The sums of what has counted in a window so far.
    sums: RefCell<Vec<Rc<Sums>>>,
}

/// What of jobs counts in windows, whatever their length. It is summed once for all operations with the same chain in
/// that respect: a job of n operations beside others of as many would take n^2 otherwise.
struct Sums {
    counted: Counted,
    /// Of the own job: g C v, and for how long operations keep channels.
    own: u128,
    /// By context of the chain: g C v of the own job.
    own_turns: Vec<u128>,
    /// Of one more own job, on the chain.
    queued: u128,
    /// By context: what it needs of its turns.
    queued_turns: Vec<NeedOfTurns>,
    others: Vec<OtherJob>,
}

/// What a job of another task counts.
struct OtherJob {
    task: usize,
    work: u128,
    /// Of that, its copies if its kernels are below all that the chain waits for; `None`: they are not.
    above: Option<u128>,
    /// By context: what it runs in turns of the chain's contexts.
    turns: Vec<(usize, NeedOfTurns)>,
}

/// What counts in a window.
#[derive(PartialEq, Eq)]
struct Counted {
    /// Whether a copy is on the chain, so that all copies count.
    with_copies: bool,
    /// By context: whether operations of the chain need its turns, so that its operations count.
    of_chain: Vec<bool>,
}

/// What the chain needs of the turns of a context p.
#[derive(Clone, Copy, Default)]
struct NeedOfTurns {
    /// `N_p`: operations of the chain.
    n_p: u64,
    /// `B_p`, in 1 / [`ONE`] ns.
    b_p: u128,
}

/// What kernels of lower priorities do in a window; [`u128::MAX`]: not known.
struct Lower {
    work: u128,
    /// By context of the chain: in its turns.
    turns: Vec<u128>,
}

fn is_copy(one: &Operation) -> bool {
    matches!(one.work, Work::Copy { .. })
}

/// All times but those of windows are in 1 / [`ONE`] ns.
impl WorkInWindow<'_> {
    fn own(&self) -> &Task {
        &self.tasks.tasks[self.task]
    }

    /// Whether operation k can be interrupted or slowed after it has begun (turns of contexts, a shared link, a shared
    /// core), so that the window lasts to its end.
    fn is_to_the_end(&self, k: usize) -> bool {
        let is_preempted = self.own().core.is_some() && self.own().operations[k].work.is_of_host();
        self.tasks.turns.is_some() || self.tasks.linked || is_preempted
    }

    /// q - 1.
    fn before(&self) -> u64 {
        self.q.saturating_sub(1)
    }

    /// J + `w_(k,q)` + `C_k` - (q - 1) T: the bound on the end of operation k of the job, from its arrival \[ns\].
    fn end(&self, k: usize) -> Option<u64> {
        let task = self.own();
        let c_k = match task.operations[k].work {
            _ if self.is_to_the_end(k) => 0,
            Work::Kernel { block_time: time, .. }
            | Work::Copy { worst: time, .. }
            | Work::Pause(time)
            | Work::Busy(time)
            | Work::Within(time) => time.as_ns(),
            Work::Nothing => 0,
        };
        let tasks = &self.tasks.tasks;
        let operations = || tasks.iter().map(|task| task.operations.len()).sum();
        let counted_steps = if self.tasks.turns.is_some() { operations() } else { tasks.len() };
        let reach = task.core.map_or(0, |core| core.reach());
        // The window begins with the release of the first of the q jobs, which came so much earlier at least.
        let earlier = task.period.checked_mul(self.before())?;
        let jitter = task.released_within(self.responses)?;
        let most = task.within.checked_add(earlier)?.checked_sub(c_k)?.checked_sub(jitter)?;
        let sums = self.sums(self.counted(k))?;
        let mut turns = vec![NeedOfTurns::default(); sums.counted.of_chain.len()];
        let of_jobs = self.of_own_jobs(k, &sums, &mut turns)?;
        let w_k = least_fixed_point(0, (MOST_STEPS, 8 * counted_steps), |w| {
            // More is of no use.
            self.sum((k, w.checked_add(reach)?), &sums, of_jobs, turns.clone()).filter(|sum| *sum <= most.max(w))
        })?;
        Some((jitter + w_k + c_k).saturating_sub(earlier))
    }

    /// The terms of `W_(k,q)(w)` that do not depend on w.
    fn of_own_jobs(&self, k: usize, sums: &Sums, turns: &mut [NeedOfTurns]) -> Option<u128> {
        // Of the operations before k in its job: C_o (1 - v_o), along the longest chain.
        let chain = self.chain_before(k, turns);
        // Of q - 1 more jobs on the chain: C_o (1 - v_o) + g C v.
        let queued = sums.queued.checked_mul(u128::from(self.before()))?;
        // Of all operations of the own job: g C v, less C_k v_k.
        for ((need, own), queued) in turns.iter_mut().zip(&sums.own_turns).zip(&sums.queued_turns) {
            let before = queued.b_p.checked_mul(u128::from(self.before()))?;
            need.b_p = need.b_p.checked_add(*own)?.checked_add(before)?;
            need.n_p = need.n_p.checked_add(queued.n_p.checked_mul(self.before())?)?;
        }
        chain.checked_add(queued)?.checked_add(sums.own - self.after_window(k, &sums.counted)?)
    }

    /// `W_(k,q)(w)` \[ns, rounded up\].
    fn sum(&self, window: (usize, u64), sums: &Sums, of_own: u128, turns: Vec<NeedOfTurns>) -> Option<u64> {
        let terms = self.terms(window, sums, of_own, turns)?;
        u64::try_from(terms.into_iter().try_fold(0, u128::checked_add)?.div_ceil(u128::from(ONE))).ok()
    }

    /// What there is in the longest window that is looked at, to the last operation of its last job.
    fn load(&self) -> Option<WindowLoad> {
        let task = self.own();
        let window = task.period.checked_mul(self.q).filter(|window| *window <= LONGEST)?;
        let k = task.operations.len().checked_sub(1)?;
        let sums = self.sums(self.counted(k))?;
        let mut turns = vec![NeedOfTurns::default(); sums.counted.of_chain.len()];
        let of_own = self.of_own_jobs(k, &sums, &mut turns)?;
        let terms = self.terms((k, window), &sums, of_own, turns)?;
        let [own, others, turns, cores] =
            terms.map(|term| Some(Duration::from_ns(u64::try_from(term.div_ceil(u128::from(ONE))).ok()?)));
        let window = Duration::from_ns(window);
        Some(WindowLoad { jobs: self.q, window, own: own?, others: others?, turns: turns?, cores: cores? })
    }

    /// Of own jobs, of others, of contexts without a turn, and of more urgent hosts.
    fn terms(&self, (k, w): (usize, u64), sums: &Sums, of_own: u128, mut turns: Vec<NeedOfTurns>) -> Option<[u128; 4]> {
        let task = self.own();
        // Of every other task j: ceil((w + R_j) / T_j) jobs, each with its g C v.
        let (others, lower) = self.other_jobs(w, sums, &mut turns)?;
        // Lower priorities add no more than they can have in the waits.
        let in_waits = if lower.work == 0 || task.reached.is_some() {
            u128::MAX
        } else {
            self.lower_in_waits(k, w, &sums.counted)
        };
        for (need, lower) in turns.iter_mut().zip(lower.turns) {
            need.b_p = need.b_p.checked_add(lower.min(in_waits))?;
        }
        let lower = lower.work.min(in_waits);
        // Contexts without a turn, and a core that more urgent hosts have.
        let lost = self.lost(&turns, w)?;
        let core = u128::from(self.tasks.higher(task, w, self.responses)?).checked_mul(u128::from(ONE))?;
        Some([of_own, others.checked_add(lower)?, lost, core])
    }

    /// What jobs count; `None`: too much.
    fn sums(&self, counted: Counted) -> Option<Rc<Sums>> {
        if let Some(known) = self.sums.borrow().iter().find(|sums| sums.counted == counted) {
            return Some(Rc::clone(known));
        }
        let (mut own, mut queued, mut own_turns) = (0_u128, 0_u128, vec![0_u128; counted.of_chain.len()]);
        let mut queued_turns = vec![NeedOfTurns::default(); counted.of_chain.len()];
        for operation in &self.own().operations {
            let one = self.g_c_v_counted(operation, &counted)?;
            let on_chain = one.checked_add(self.c_1_v(operation))?;
            if self.needs_turns(&operation.work)
                && let Some(context) = own_turns.get_mut(operation.context)
            {
                *context = context.checked_add(one)?;
                let need = &mut queued_turns[operation.context];
                *need = NeedOfTurns { n_p: need.n_p + 1, b_p: need.b_p.checked_add(on_chain)? };
            }
            let channel = self.keeps_channel(operation);
            own = own.checked_add(one)?.checked_add(channel)?;
            queued = queued.checked_add(on_chain)?.checked_add(channel)?;
        }
        let others = (0..self.tasks.tasks.len()).filter(|task| *task != self.task);
        let mut others = others.map(|task| self.other_job(task, &counted)).collect::<Option<Vec<OtherJob>>>()?;
        others.retain(|other| other.work > 0 || !other.turns.is_empty());
        let sums = Rc::new(Sums { counted, own, own_turns, queued, queued_turns, others });
        self.sums.borrow_mut().push(Rc::clone(&sums));
        Some(sums)
    }

    /// g C v of a job of another task, and of one in S `C_o (1 - v_o)` as well.
    fn other_job(&self, task: usize, counted: &Counted) -> Option<OtherJob> {
        let (other, is_reached) = (&self.tasks.tasks[task], self.is_reached[task]);
        let (mut work, mut copies) = (0_u128, 0_u128);
        let mut turns = vec![NeedOfTurns::default(); counted.of_chain.len()];
        for operation in &other.operations {
            let g_c_v = self.g_c_v_counted(operation, counted)?;
            let mut one = g_c_v.checked_add(self.keeps_channel(operation))?;
            if is_reached && !operation.work.is_of_host() {
                one = one.checked_add(self.c_1_v(operation))?;
            }
            work = work.checked_add(one)?;
            copies = copies.checked_add(if is_copy(operation) { one } else { 0 })?;
            if self.needs_turns(&operation.work) && self.is_met(operation, counted) {
                let need = &mut turns[operation.context];
                // What takes no time needs a turn all the same.
                need.n_p += u64::from(is_reached);
                let outside = if is_reached { self.c_1_v(operation) } else { 0 };
                need.b_p = need.b_p.checked_add(g_c_v)?.checked_add(outside)?;
            }
        }
        let turns: Vec<(usize, NeedOfTurns)> =
            (0..).zip(turns).filter(|(_, need)| need.n_p > 0 || need.b_p > 0).collect();
        // Copies know no priority, nor do channels, nor clients of MPS that have queues of their own; and copies that
        // need turns are not told from kernels there.
        let by_priority = self.tasks.channels.is_none() && !self.tasks.queues_by_client;
        let are_apart = copies == 0 || !self.tasks.turns.as_ref().is_some_and(|turns| turns.with_copies);
        let is_lower = other.highest > self.level && !is_reached && by_priority && are_apart;
        Some(OtherJob { task, work, above: is_lower.then_some(copies), turns })
    }

    fn counted(&self, k: usize) -> Counted {
        let with_copies = self.tasks.channels.is_some()
            || self.chain(k).any(is_copy)
            || self.q > 1 && self.own().operations.iter().any(is_copy);
        let mut of_chain = Vec::new();
        let queued = self.own().operations.iter().filter(|_| self.q > 1);
        for one in self.chain(k).chain(queued).filter(|one| self.is_apart(&one.work)) {
            if of_chain.len() <= one.context {
                of_chain.resize(one.context + 1, false);
            }
            of_chain[one.context] = true;
        }
        Counted { with_copies, of_chain }
    }

    /// Whether an operation is of a context of the chain, or is held by those of other contexts.
    fn is_met(&self, one: &Operation, counted: &Counted) -> bool {
        !self.is_apart(&one.work) || counted.of_chain.get(one.context) == Some(&true)
    }

    /// The weight of a block of an operation's class.
    fn v(&self, one: &Operation, class: usize) -> u64 {
        self.v.of(one.context, class)
    }

    /// g C v of an operation; of a copy its time, and of one that shares a link 2 ns more.
    fn g_c_v(&self, one: &Operation) -> Option<u128> {
        match one.work {
            Work::Kernel { class, blocks, block_time, .. } => u128::from(blocks)
                .checked_mul(u128::from(block_time.as_ns()))?
                .checked_mul(u128::from(self.v(one, class))),
            Work::Copy { worst, .. } => {
                let loss = if self.tasks.linked { LINK_LOSS } else { 0 };
                (u128::from(worst.as_ns()) + u128::from(loss)).checked_mul(u128::from(ONE))
            }
            Work::Nothing | Work::Pause(_) | Work::Busy(_) | Work::Within(_) => Some(0),
        }
    }

    /// The same, where the operation counts.
    fn g_c_v_counted(&self, one: &Operation, counted: &Counted) -> Option<u128> {
        let counts = (counted.with_copies || !is_copy(one)) && self.is_met(one, counted);
        if counts { self.g_c_v(one) } else { Some(0) }
    }

    /// `C_o (1 - v_o)` of an operation of the chain, of a copy 0, and what latencies add to either; all that a pause or
    /// work of the host lasts.
    fn c_1_v(&self, one: &Operation) -> u128 {
        match one.work {
            Work::Kernel { class, block_time, .. } => {
                u128::from(block_time.as_ns()) * u128::from(ONE.saturating_sub(self.v(one, class))) + self.latency(one)
            }
            Work::Copy { .. } => self.latency(one),
            Work::Pause(time) | Work::Busy(time) | Work::Within(time) => u128::from(time.as_ns()) * u128::from(ONE),
            Work::Nothing => 0,
        }
    }

    /// Launch latency and kernel gap.
    fn latency(&self, one: &Operation) -> u128 {
        let needs_engine = matches!(one.work, Work::Kernel { .. } | Work::Copy { .. });
        if needs_engine { u128::from(self.tasks.latency) * u128::from(ONE) } else { 0 }
    }

    /// `C_o` / N with N channels: for how long, shared among all of them, an operation may keep one although nothing
    /// waits for room on the SMs.
    fn keeps_channel(&self, one: &Operation) -> u128 {
        let Some(channels) = self.tasks.channels else { return 0 };
        let time = match one.work {
            Work::Kernel { block_time, .. } => u128::from(block_time.as_ns()) * u128::from(ONE),
            Work::Copy { .. } | Work::Nothing | Work::Pause(_) | Work::Busy(_) | Work::Within(_) => 0,
        };
        (time + self.latency(one)).div_ceil(u128::from(channels.max(1)))
    }

    /// What the job can wait for before operation k, and k itself: with operations of others, all that they do.
    fn chain(&self, k: usize) -> impl Iterator<Item = &Operation> {
        let task = self.own();
        let others = task.reached.iter().flatten().flat_map(|&other| &self.tasks.tasks[other].operations);
        let own: Box<dyn Iterator<Item = &Operation>> = match task.reached {
            Some(_) => Box::new(task.operations.iter()),
            None => Box::new(numbers(self.chains, k).map(|number| &task.operations[number])),
        };
        own.chain(others)
    }

    /// Whether operations of other contexts do not hold it, but for the turns that they have. All may have a channel.
    fn is_apart(&self, work: &Work) -> bool {
        let has_own_sms = self.tasks.contexts.is_some() && self.tasks.channels.is_none();
        self.needs_turns(work) || has_own_sms && matches!(work, Work::Kernel { .. })
    }

    /// Whether an operation runs in turns of its context only.
    fn needs_turns(&self, work: &Work) -> bool {
        let Some(turns) = &self.tasks.turns else { return false };
        matches!(work, Work::Kernel { .. }) || turns.with_copies && matches!(work, Work::Copy { .. })
    }

    /// What operations and pauses of the own job take outside the waits, along the longest chain to k; of k itself only
    /// if the window lasts to its end.
    fn chain_before(&self, k: usize, turns: &mut [NeedOfTurns]) -> u128 {
        let task = self.own();
        let to_the_end = self.is_to_the_end(k);
        // All operations of the job are on the chain of one that may wait for others.
        let is_all = task.reached.is_some();
        if self.tasks.turns.is_some() {
            let last = if is_all { task.operations.len() } else { 0 };
            let chain = (0..last).chain(numbers(self.chains, k).filter(|_| !is_all));
            for operation in chain.map(|number| &task.operations[number]).filter(|one| self.needs_turns(&one.work)) {
                turns[operation.context].n_p += 1;
                turns[operation.context].b_p += self.c_1_v(operation);
            }
        }
        let of_k = &task.operations[k];
        let (of_k, latency_of_k) = (self.c_1_v(of_k), self.latency(of_k));
        let outside = self.outside.get_or_init(|| self.outside());
        let with_k = if is_all { outside.last() } else { outside.get(k) }.copied().unwrap_or_default();
        if to_the_end { with_k } else { with_k - of_k + latency_of_k }
    }

    fn outside(&self) -> Vec<u128> {
        let task = self.own();
        let mut outside: Vec<u128> = Vec::with_capacity(task.operations.len());
        for operation in &task.operations {
            let before = match task.reached {
                Some(_) => outside.last().copied(),
                None => operation.after.iter().map(|&before| outside[before]).max(),
            };
            outside.push(before.unwrap_or_default() + self.c_1_v(operation));
        }
        outside
    }

    /// `C_k v_k`, as the last block of k runs after the window.
    fn after_window(&self, k: usize, counted: &Counted) -> Option<u128> {
        let operation = &self.own().operations[k];
        Some(match operation.work {
            _ if self.is_to_the_end(k) => 0,
            Work::Kernel { class, block_time, .. } => {
                u128::from(block_time.as_ns()) * u128::from(self.v(operation, class))
            }
            Work::Copy { .. } => self.g_c_v_counted(operation, counted)?,
            Work::Nothing | Work::Pause(_) | Work::Busy(_) | Work::Within(_) => 0,
        })
    }

    /// What the jobs of all other tasks count that there can be in the window: of all that are not below what the chain
    /// waits for, and of those that are.
    fn other_jobs(&self, w: u64, sums: &Sums, turns: &mut [NeedOfTurns]) -> Option<(u128, Lower)> {
        let (mut sum, mut lower) = (0_u128, Lower { work: 0, turns: vec![0; turns.len()] });
        for other in &sums.others {
            // How many jobs of one that may be beyond its period there are is not known.
            let jobs = self.tasks.tasks[other.task].jobs(w, self.responses[other.task]).map(u128::from);
            let of_all = |work: u128| if work == 0 { Some(0) } else { work.checked_mul(jobs?) };
            let Some(above) = other.above else {
                for &(context, one) in &other.turns {
                    let need = &mut turns[context];
                    let needed = u64::try_from(u128::from(one.n_p).checked_mul(jobs?)?).ok()?;
                    need.n_p = need.n_p.checked_add(needed)?;
                    need.b_p = need.b_p.checked_add(of_all(one.b_p)?)?;
                }
                sum = sum.checked_add(of_all(other.work)?)?;
                continue;
            };
            sum = sum.checked_add(of_all(above)?)?;
            // Of kernels that are below what the chain waits for, something else is known.
            let most = |work: u128| of_all(work).unwrap_or(u128::MAX);
            lower.work = lower.work.saturating_add(most(other.work - above));
            for (context, one) in &other.turns {
                lower.turns[*context] = lower.turns[*context].saturating_add(most(one.b_p));
            }
        }
        Some((sum, lower))
    }

    /// C (1 - v) + g C v of an operation: for how long its context has work for its sake, whatever the priority of the
    /// head that is kept out.
    fn in_turns(&self, one: &Operation) -> Option<u128> {
        let Work::Kernel { class, blocks, block_time, .. } = one.work else {
            return self.g_c_v(one)?.checked_add(self.c_1_v(one));
        };
        let (v, block_time) = (self.v.of_turns(one.context, class), u128::from(block_time.as_ns()));
        let blocks = u128::from(blocks).checked_mul(block_time)?.checked_mul(u128::from(v))?;
        blocks.checked_add(block_time * u128::from(ONE.saturating_sub(v)) + self.latency(one))
    }

    /// For how long the contexts of the chain have no turn although they have work.
    fn lost(&self, needs: &[NeedOfTurns], w: u64) -> Option<u128> {
        let Some(turns) = &self.tasks.turns else { return Some(0) };
        // The operations of each context q in the window, and their work: C (1 - v) + g C v.
        let mut loads = vec![Some(ContextLoad { operations: 0, work: 0 }); turns.contexts()];
        for (j, task) in self.tasks.tasks.iter().enumerate() {
            let jobs = if j == self.task { Some(self.q) } else { task.jobs(w, self.responses[j]) }.map(u128::from);
            for operation in task.operations.iter().filter(|one| self.needs_turns(&one.work)) {
                let one = self.in_turns(operation)?;
                let of_context = &mut loads[operation.context];
                *of_context = of_context.zip(jobs).and_then(|(load, jobs)| {
                    let work = load.work.checked_add(jobs.checked_mul(one)?.div_ceil(u128::from(ONE)))?;
                    Some(ContextLoad { operations: load.operations.checked_add(jobs)?, work })
                });
            }
        }
        let mut lost = 0_u128;
        for (p, &NeedOfTurns { n_p, b_p }) in needs.iter().enumerate().filter(|(_, need)| need.n_p > 0) {
            lost = lost.checked_add(turns.lost(p, (n_p, b_p.div_ceil(u128::from(ONE))), &loads)?)?;
        }
        lost.checked_mul(u128::from(ONE))
    }

    /// What blocks of lower priorities can add to the waits of the kernels of a chain to k.
    fn lower_in_waits(&self, k: usize, w: u64, counted: &Counted) -> u128 {
        let task = self.own();
        let mut lower = LowerInWaits::default();
        for (j, other) in self.tasks.tasks.iter().enumerate().filter(|(_, other)| other.highest > self.level) {
            let jobs = other.jobs(w, self.responses[j]).unwrap_or(u64::MAX);
            for operation in other.operations.iter().filter(|one| self.is_met(one, counted)) {
                if let Work::Kernel { class, blocks, block_time, .. } = operation.work {
                    let blocks = (u64::from(blocks), block_time.as_ns(), self.v(operation, class));
                    lower.add(operation.stream, blocks, self.weights.resident(class), jobs);
                }
            }
        }
        let chain = || numbers(self.chains, k).map(|number| &task.operations[number]);
        let is_kernel = |one: &Operation| matches!(one.work, Work::Kernel { .. });
        let kernels_before = task.operations.iter().filter(|one| is_kernel(one)).count() as u64;
        let waits = chain().filter(|one| is_kernel(one)).count() as u64 + self.before().saturating_mul(kernels_before);
        let at_launch = self.tasks.is_plain()
            && task.begin(self.responses[self.task]) == Begin::Timer
            && !task.pauses()
            && chain().filter(|one| one.after.is_empty()).all(is_kernel);
        lower.most(waits, at_launch)
    }
}
