//! The busy window of a job, for any GPU and any rules: `docs/analysis.md`, "Releases that are not given" and "Host
//! programs, processes, links and channels".

use super::model::{Task, TaskSet};
use crate::analysis::safe_bound::{Begin, LowerInWaits, ONE, Operation, Weights, Work};
use crate::limits::count_steps;

/// Lengths of a window that are tried.
const MOST_STEPS: usize = 100_000;

/// By how much less than a link could serve a copy that shares it is served, at most \[ns\].
const LINK_LOSS: u64 = 2;

/// The windows of all tasks.
#[derive(Debug)]
pub(super) struct Windows<'a> {
    tasks: &'a TaskSet,
    weights: &'a Weights<'a>,
    /// By task: weights, each of which gives a bound.
    choices: Vec<Vec<Vec<u64>>>,
    /// By task and operation: what it waits for in its job, itself included.
    chains: Vec<Vec<Vec<usize>>>,
}

impl<'a> Windows<'a> {
    pub(super) fn new(tasks: &'a TaskSet, weights: &'a Weights<'a>) -> Self {
        let choices = tasks.tasks.iter().map(|task| choices(tasks, weights, task)).collect();
        let chains = tasks.tasks.iter().map(chains).collect();
        Self { tasks, weights, choices, chains }
    }

    /// By when each operation of a task's job has ended, from the arrival of the job \[ns\], if `responses` bound those
    /// of all tasks.
    pub(super) fn ends(&self, task: usize, responses: &[Option<u64>]) -> Option<Vec<u64>> {
        let &Self { tasks, weights, .. } = self;
        let chains = &self.chains[task];
        let mut is_reached = vec![false; tasks.tasks.len()];
        tasks.tasks[task].reached.iter().flatten().for_each(|&other| is_reached[other] = true);
        let is_reached = &is_reached[..];
        let level = lowest_level(tasks, &tasks.tasks[task]);
        let window =
            |weighed, queued| Window { tasks, task, queued, level, is_reached, weighed, responses, weights, chains };
        let Task { operations, most_queued, period, .. } = &tasks.tasks[task];
        let mut ends = vec![0; operations.len()];
        for queued in 1..=*most_queued {
            let windows: Vec<Window<'_>> = self.choices[task].iter().map(|weighed| window(weighed, queued)).collect();
            let end = |last: usize| windows.iter().filter_map(|window| window.end(last)).min();
            let own: Vec<u64> = (0..operations.len()).map(end).collect::<Option<_>>()?;
            let is_over = own.iter().all(|end| end <= period);
            ends.iter_mut().zip(own).for_each(|(end, own)| *end = own.max(*end));
            // Where the job that comes last of so many has ended before the next one comes, there are no more at once.
            if is_over || *most_queued == 1 {
                return Some(ends);
            }
        }
        None
    }
}

/// The least fixed point from `start` on of a function that does not fall; `None`: it has no value somewhere before, or
/// there are more than so many steps to it, each of which counts as so many.
pub(super) fn least_fixed_point(
    start: u64,
    (most, counted): (usize, usize),
    of: impl Fn(u64) -> Option<u64>,
) -> Option<u64> {
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

fn chains(task: &Task) -> Vec<Vec<usize>> {
    let mut chains: Vec<Vec<usize>> = Vec::with_capacity(task.operations.len());
    for (number, operation) in task.operations.iter().enumerate() {
        let mut on_chain = vec![false; number + 1];
        on_chain[number] = true;
        operation.after.iter().flat_map(|&before| &chains[before]).for_each(|&before| on_chain[before] = true);
        chains.push((0..=number).filter(|&before| on_chain[before]).collect());
    }
    chains
}

/// Choices of weights for the heads that can hold a job of `task`, each of which gives a bound.
fn choices(tasks: &TaskSet, weights: &Weights<'_>, task: &Task) -> Vec<Vec<u64>> {
    let level = lowest_level(tasks, task);
    let all = tasks.turns.is_some() || tasks.channels.is_some() || tasks.queues_by_client;
    let mut work = vec![0_u128; tasks.classes.len()];
    let mut heads = vec![false; tasks.classes.len()];
    for other in &tasks.tasks {
        for operation in &other.operations {
            if let Work::Kernel { class, blocks, block_time, .. } = operation.work {
                // What the class adds in a given time, but for a factor.
                work[class] +=
                    u128::from(blocks) * u128::from(block_time.as_ns()) * (1 << 40) / u128::from(other.period.max(1));
                heads[class] |= all || other.highest <= level;
            }
        }
    }
    let mut order: Vec<usize> = (0..tasks.classes.len()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(work[class]));
    let many = vec![u64::MAX; tasks.classes.len()];
    let first = weights.lowered(&order, &heads, &many);
    order.reverse();
    vec![first, weights.lowered(&order, &heads, &many)]
}

/// The lowest priority of what a job can have to wait for, itself included.
fn lowest_level(tasks: &TaskSet, task: &Task) -> usize {
    let reached = task.reached.iter().flatten().map(|&other| tasks.tasks[other].lowest);
    reached.fold(task.lowest, usize::max)
}

struct Window<'a> {
    tasks: &'a TaskSet,
    task: usize,
    /// How many jobs of the task there are: the one looked at, and those before it, each of which made the next wait.
    queued: u64,
    /// The lowest priority of what the job can have to wait for.
    level: usize,
    /// By task: whether the job can have to wait for what its jobs submit.
    is_reached: &'a [bool],
    weighed: &'a [u64],
    responses: &'a [Option<u64>],
    weights: &'a Weights<'a>,
    chains: &'a [Vec<usize>],
}

/// What a window has of one context, in units of 1 / ONE ns but for the number.
#[derive(Clone, Copy, Default)]
struct OfContext {
    /// Operations on the chain that need turns.
    operations: u64,
    /// For how long they need them.
    work: u128,
}

impl Window<'_> {
    fn own(&self) -> &Task {
        &self.tasks.tasks[self.task]
    }

    /// Whether operation `last` can be interrupted or slowed after it has begun (turns of contexts, a shared link, a
    /// shared core), so that the window lasts to its end.
    fn is_to_the_end(&self, last: usize) -> bool {
        let is_preempted = self.own().core.is_some() && self.own().operations[last].work.is_of_host();
        self.tasks.turns.is_some() || self.tasks.linked || is_preempted
    }

    /// The jobs of the task before the one looked at.
    fn before(&self) -> u64 {
        self.queued.saturating_sub(1)
    }

    /// The bound on the end of operation `last` of the job, from its arrival.
    fn end(&self, last: usize) -> Option<u64> {
        let task = self.own();
        let own = match task.operations[last].work {
            _ if self.is_to_the_end(last) => 0,
            Work::Kernel { block_time: time, .. }
            | Work::Copy { worst: time, .. }
            | Work::Pause(time)
            | Work::Busy(time) => time.as_ns(),
            Work::Nothing => 0,
        };
        let operations: usize = self.tasks.tasks.iter().map(|task| task.operations.len()).sum();
        let reach = task.core.map_or(0, |core| core.reach());
        // The window begins with the release of the first job, which came so much earlier at least.
        let earlier = task.period.checked_mul(self.before())?;
        let most = task.within.checked_add(earlier)?.checked_sub(own)?.checked_sub(task.jitter)?;
        let window = least_fixed_point(0, (MOST_STEPS, 8 * operations), |window| {
            // More is of no use.
            self.covered(last, window.checked_add(reach)?).filter(|covered| *covered <= most.max(window))
        })?;
        Some((task.jitter + window + own).saturating_sub(earlier))
    }

    /// What an operation takes of the waits, weighed.
    fn load(&self, work: &Work) -> Option<u128> {
        match *work {
            Work::Kernel { class, blocks, block_time, .. } => u128::from(blocks)
                .checked_mul(u128::from(block_time.as_ns()))?
                .checked_mul(u128::from(self.weighed[class])),
            Work::Copy { worst, .. } => {
                let loss = if self.tasks.linked { LINK_LOSS } else { 0 };
                (u128::from(worst.as_ns()) + u128::from(loss)).checked_mul(u128::from(ONE))
            }
            Work::Nothing | Work::Pause(_) | Work::Busy(_) => Some(0),
        }
    }

    /// What an operation of the chain takes beside the waits.
    fn outside(&self, work: &Work) -> u128 {
        match *work {
            Work::Kernel { class, block_time, .. } => {
                u128::from(block_time.as_ns()) * u128::from(ONE.saturating_sub(self.weighed[class]))
                    + self.latency(work)
            }
            Work::Copy { .. } => self.latency(work),
            Work::Pause(time) | Work::Busy(time) => u128::from(time.as_ns()) * u128::from(ONE),
            Work::Nothing => 0,
        }
    }

    fn latency(&self, work: &Work) -> u128 {
        let needs_engine = matches!(work, Work::Kernel { .. } | Work::Copy { .. });
        if needs_engine { u128::from(self.tasks.latency) * u128::from(ONE) } else { 0 }
    }

    /// For how long, shared among all channels, an operation may keep one although nothing waits for room on the SMs.
    fn keeps_channel(&self, work: &Work) -> u128 {
        let Some(channels) = self.tasks.channels else { return 0 };
        let time = match *work {
            Work::Kernel { block_time, .. } => u128::from(block_time.as_ns()) * u128::from(ONE),
            Work::Copy { .. } | Work::Nothing | Work::Pause(_) | Work::Busy(_) => 0,
        };
        (time + self.latency(work)).div_ceil(u128::from(channels.max(1)))
    }

    /// What the job can wait for before operation `last`, and itself: with others' operations, all that they do.
    fn chain(&self, last: usize) -> impl Iterator<Item = &Operation> {
        let task = self.own();
        let others = task.reached.iter().flatten().flat_map(|&other| &self.tasks.tasks[other].operations);
        let own: Box<dyn Iterator<Item = &Operation>> = match task.reached {
            Some(_) => Box::new(task.operations.iter()),
            None => Box::new(self.chains[last].iter().map(|&number| &task.operations[number])),
        };
        own.chain(others)
    }

    /// Whether an operation runs in turns of its context only.
    fn needs_turns(&self, work: &Work) -> bool {
        let Some(turns) = &self.tasks.turns else { return false };
        matches!(work, Work::Kernel { .. }) || turns.with_copies && matches!(work, Work::Copy { .. })
    }

    /// How long operation `last` can wait for its last block, if what comes in `window` ns runs \[ns, rounded up\]; or
    /// for its end, if its last block may be held up.
    fn covered(&self, last: usize, window: u64) -> Option<u64> {
        let task = self.own();
        let is_copy = |work: &Work| matches!(work, Work::Copy { .. });
        let with_copies = self.tasks.channels.is_some()
            || self.chain(last).any(|one| is_copy(&one.work))
            || self.queued > 1 && task.operations.iter().any(|one| is_copy(&one.work));
        let mut contexts: Vec<OfContext> = Vec::new();
        if self.tasks.turns.is_some() {
            for one in self.chain(last).filter(|one| self.needs_turns(&one.work)) {
                if contexts.len() <= one.process {
                    contexts.resize(one.process + 1, OfContext::default());
                }
                // Those of others are counted with their jobs.
                contexts[one.process].operations = 1;
            }
        }
        let is_met = |one: &Operation| {
            !self.needs_turns(&one.work) || contexts.get(one.process).is_some_and(|context| context.operations > 0)
        };
        let load = |one: &Operation| {
            let counts = (with_copies || !is_copy(&one.work)) && is_met(one);
            if counts { self.load(&one.work) } else { Some(0) }
        };
        let mut met = contexts.clone();
        for context in &mut met {
            context.operations = 0;
        }
        let mut total = self.own_chain(last, &mut met);
        for operation in &task.operations {
            let one = load(operation)?.checked_add(self.outside(&operation.work))?;
            total = total.checked_add(one.checked_mul(u128::from(self.before()))?)?;
        }
        for (number, operation) in task.operations.iter().enumerate() {
            let mut own = load(operation)?;
            if number == last && !self.is_to_the_end(last) {
                // The last block runs after the window.
                own -= match operation.work {
                    Work::Kernel { class, block_time, .. } => {
                        u128::from(block_time.as_ns()) * u128::from(self.weighed[class])
                    }
                    Work::Copy { .. } => own,
                    Work::Nothing | Work::Pause(_) | Work::Busy(_) => 0,
                };
            }
            self.count_turns(operation, own, &mut met)?;
            total = total.checked_add(own)?.checked_add(self.keeps_channel(&operation.work))?;
        }
        let mut lower = 0_u128;
        for (index, other) in self.tasks.tasks.iter().enumerate().filter(|(index, _)| *index != self.task) {
            let is_reached = self.is_reached[index];
            let mut of_job = 0_u128;
            for operation in &other.operations {
                let mut one = load(operation)?.checked_add(self.keeps_channel(&operation.work))?;
                if is_reached && !operation.work.is_of_host() {
                    one = one.checked_add(self.outside(&operation.work))?;
                }
                of_job = of_job.checked_add(one)?;
            }
            // What takes no time needs a turn all the same.
            let takes_turns = || other.operations.iter().filter(|one| self.needs_turns(&one.work) && is_met(one));
            let counts = of_job > 0 || is_reached && takes_turns().next().is_some();
            // How many jobs of one that may be beyond its period there are is not known.
            let jobs = if counts { other.jobs(window, self.responses[index]) } else { Some(0) };
            for operation in takes_turns().filter(|_| counts) {
                let jobs = jobs?;
                let mut one = load(operation)?;
                if is_reached {
                    one = one.checked_add(self.outside(&operation.work))?;
                    met[operation.process].operations = met[operation.process].operations.saturating_add(jobs);
                }
                self.count_turns(operation, one.checked_mul(u128::from(jobs))?, &mut met)?;
            }
            let of_all = jobs.and_then(|jobs| of_job.checked_mul(u128::from(jobs)));
            // Copies know no priority, nor do channels, nor clients of MPS that have queues of their own.
            let has_copy = with_copies && other.operations.iter().any(|one| is_copy(&one.work));
            let by_priority = self.tasks.channels.is_none() && !self.tasks.queues_by_client;
            let is_lower = other.highest > self.level && !has_copy && !is_reached && by_priority;
            if is_lower {
                lower = of_all.map_or(u128::MAX, |of_all| lower.saturating_add(of_all));
            } else {
                total = total.checked_add(of_all?)?;
            }
        }
        if task.reached.is_none() {
            lower = lower.min(self.blocking(last, window, is_met));
        }
        let core = self.tasks.higher(task, window, self.responses)?;
        total = total.checked_add(lower)?.checked_add(self.lost(&met, window)?)?;
        total = total.checked_add(u128::from(core).checked_mul(u128::from(ONE))?)?;
        u64::try_from(total.div_ceil(u128::from(ONE))).ok()
    }

    /// What the operations and pauses of the own job take outside the waits, along the longest chain to `last`.
    fn own_chain(&self, last: usize, met: &mut [OfContext]) -> u128 {
        let task = self.own();
        let to_the_end = self.is_to_the_end(last);
        let mut note = |operation: &Operation| {
            if self.needs_turns(&operation.work) {
                met[operation.process].operations += 1;
                met[operation.process].work += self.outside(&operation.work);
            }
        };
        let own_latency = if to_the_end { 0 } else { self.latency(&task.operations[last].work) };
        if task.reached.is_some() {
            let counts = |number: &usize| to_the_end || *number != last;
            let numbers = (0..task.operations.len()).filter(counts);
            let all = numbers.map(|number| &task.operations[number]);
            return all
                .map(|one| {
                    note(one);
                    self.outside(&one.work)
                })
                .sum::<u128>()
                + own_latency;
        }
        let mut ends = vec![0_u128; last + 1];
        for &number in &self.chains[last] {
            let operation = &task.operations[number];
            let start = operation.after.iter().map(|&before| ends[before]).max().unwrap_or(0);
            if number == last && !to_the_end {
                return start + own_latency;
            }
            note(operation);
            ends[number] = start + self.outside(&operation.work);
        }
        ends[last]
    }

    /// Counts what an operation runs in the turns of its context.
    fn count_turns(&self, operation: &Operation, work: u128, met: &mut [OfContext]) -> Option<()> {
        if self.needs_turns(&operation.work)
            && let Some(context) = met.get_mut(operation.process)
        {
            context.work = context.work.checked_add(work)?;
        }
        Some(())
    }

    /// For how long the contexts of the chain have no turn although they have work.
    fn lost(&self, met: &[OfContext], window: u64) -> Option<u128> {
        let Some(turns) = &self.tasks.turns else { return Some(0) };
        let mut of_others: Vec<Option<u128>> = vec![Some(0); turns.contexts()];
        for (index, task) in self.tasks.tasks.iter().enumerate() {
            let jobs = task.jobs(window, self.responses[index]).map(u128::from);
            for operation in task.operations.iter().filter(|one| self.needs_turns(&one.work)) {
                let one = self.load(&operation.work)?.checked_add(self.outside(&operation.work))?;
                let all = jobs.and_then(|jobs| jobs.checked_mul(one)).map(|all| all.div_ceil(u128::from(ONE)));
                let of_context = &mut of_others[operation.process];
                *of_context = of_context.zip(all).and_then(|(one, other)| one.checked_add(other));
            }
        }
        let mut lost = 0_u128;
        for (process, context) in met.iter().enumerate().filter(|(_, context)| context.operations > 0) {
            let needed = (context.operations, context.work.div_ceil(u128::from(ONE)));
            lost = lost.checked_add(turns.lost(process, needed, &of_others)?)?;
        }
        lost.checked_mul(u128::from(ONE))
    }

    /// What blocks of a lower priority can add to the waits of a chain's kernels in `window` ns.
    fn blocking(&self, last: usize, window: u64, is_met: impl Fn(&Operation) -> bool) -> u128 {
        let task = self.own();
        let mut background = LowerInWaits::default();
        for (index, other) in self.tasks.tasks.iter().enumerate().filter(|(_, other)| other.highest > self.level) {
            let jobs = other.jobs(window, self.responses[index]).unwrap_or(u64::MAX);
            for operation in other.operations.iter().filter(|one| is_met(one)) {
                if let Work::Kernel { class, blocks, block_time, .. } = operation.work {
                    let blocks = (u64::from(blocks), block_time.as_ns(), self.weighed[class]);
                    background.add(operation.stream, blocks, self.weights.resident(class), jobs);
                }
            }
        }
        let chain = || self.chains[last].iter().map(|&number| &task.operations[number]);
        let is_kernel = |one: &Operation| matches!(one.work, Work::Kernel { .. });
        let kernels_before = task.operations.iter().filter(|one| is_kernel(one)).count() as u64;
        let waits = chain().filter(|one| is_kernel(one)).count() as u64 + self.before().saturating_mul(kernels_before);
        let at_launch = self.tasks.is_plain()
            && task.begin(self.responses[self.task]) == Begin::Timer
            && !task.pauses()
            && chain().filter(|one| one.after.is_empty()).all(is_kernel);
        background.most(waits, at_launch)
    }
}
