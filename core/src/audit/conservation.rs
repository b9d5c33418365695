//! Work conservation: no eligible head waits while it fits on some SM.
//!
//! Time passes from one start, end or queue entry to the next. At each of them the head is the kernel that surely
//! waits and that nothing else can be ahead of; where launches are too close to tell who was first, or nobody saw when
//! a copy was done, there is none, and nobody is accused.
//!
//! Where contexts take turns, each is judged by itself, and only while it surely has its turn.

use super::audited_run::AuditedRun;
use super::executions::Sm;
use super::finding::{AuditRule, Finding, length};
use super::observed_run::{ObservedContexts, QueueOwner, TimeSource};
use super::resources::Groups;
use super::rounds::Sequence;
use super::sweep::BlockEvent;
use crate::limits::count_turn;
use crate::logs::LogTime;
use crate::proven::Proven;

/// Finds, for each kernel, its longest wait while it was the head and an SM had room for it.
pub(super) fn check(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let mut worst: Vec<(usize, Idle)> = Vec::new();
    for context in 0..run.observed.context_count() {
        for owner in run.observed.queue_owners() {
            let mut sweep = Sweep::new(run, context, owner);
            sweep.run();
            worst.extend(sweep.worst.into_iter().enumerate().filter_map(|(kernel, idle)| Some((kernel, idle?))));
        }
    }
    crate::sorted::sort_by_key(&mut worst, |(_, idle)| idle.from);
    for (kernel, idle) in worst {
        let operation = &run.observed.operations[kernel];
        let unknown = run.observed.has_unknown_priority(operation);
        let unless =
            if unknown { "; a log does not tell of copies, priorities or SM masks that could explain it" } else { "" };
        let next =
            operation.kernel().map(|seen| seen.blocks.times.iter().filter(|[start, _]| *start < idle.until).count());
        let what = format!(
            "it waited {} at the head of its queue while its next block fitted on SM {}{unless}",
            length(idle.until.since(idle.from)),
            idle.sm
        );
        let by = idle.until.abs_diff(idle.from);
        let finding = Finding::new(AuditRule::WorkConservation, &operation.name, idle.from, by, what);
        findings.push(Finding { block: next, sm: Some(idle.sm), ..finding });
    }
}

/// A wait that should not have been.
#[derive(Clone, Copy)]
struct Idle {
    from: LogTime,
    until: LogTime,
    sm: u32,
}

struct Sweep<'c, 'a> {
    run: &'c AuditedRun<'a>,
    context: usize,
    /// Whose queues of that context are looked at.
    owner: Option<QueueOwner>,
    /// Whether it may be the turn of another context.
    out_of_turn: bool,
    holds: Vec<Sm>,
    /// Kernels that may be in a queue.
    perhaps: Vec<usize>,
    /// Which kernels surely are.
    surely: Vec<bool>,
    /// Blocks of each kernel that have not started.
    left: Vec<usize>,
    head: Option<usize>,
    /// Since when the head waits for its next block, for the purpose of judging and as it is told.
    head_since: (LogTime, LogTime),
    /// For each SM, since when it has had room for the head.
    room_since: Vec<Option<LogTime>>,
    worst: Vec<Option<Idle>>,
    /// Among which SMs clusters find theirs.
    groups: Groups,
}

impl<'c, 'a> Sweep<'c, 'a> {
    fn new(run: &'c AuditedRun<'a>, context: usize, owner: Option<QueueOwner>) -> Self {
        let (sms, operations) = (run.observed.device.sms as usize, run.executed.len());
        let left =
            |operation: &super::observed_run::ObservedOperation| operation.kernel().map_or(0, |k| k.grid as usize);
        Self {
            run,
            context,
            owner,
            out_of_turn: false,
            holds: vec![Sm::empty(&run.observed.device); sms],
            perhaps: Vec::new(),
            surely: vec![false; operations],
            left: run.observed.operations.iter().map(left).collect(),
            head: None,
            head_since: (LogTime::MIN, LogTime::MIN),
            room_since: vec![None; sms],
            worst: vec![None; operations],
            groups: Groups::of(&run.observed.device),
        }
    }

    fn run(&mut self) {
        let (run, context, owner) = (self.run, self.context, self.owner);
        let tolerances = &run.clocks.tolerances;
        let is_own = |operation: usize| run.observed.context_of(operation) == context;
        // SMs are those of the context, and heads those of one of its queues.
        let is_queued = |index: usize| is_own(index) && run.observed.queue_owner_of(index) == owner;
        let is_kernel = |index: &usize| run.observed.operations[*index].kernel().is_some() && is_queued(*index);
        let kernels = || (0..run.executed.len()).filter(is_kernel);
        let sorted = |mut list: Vec<(LogTime, usize)>| {
            list.sort_unstable();
            list
        };
        let may = sorted(kernels().map(|index| (run.ready[index].lo.earliest_on_gpu(tolerances), index)).collect());
        let must = |index: usize| Some((run.ready[index].hi?.latest_on_gpu(tolerances.across_clocks_ns), index));
        let must = sorted(kernels().filter_map(must).filter(|(at, _)| *at < LogTime::MAX).collect());
        let of_context = |event: &BlockEvent| is_own(event.operation());
        let mut starts = run.counted(run.events.starts().filter(of_context)).peekable();
        let mut ends = run.events.ends().filter(of_context).peekable();
        let (mut may_at, mut must_at) = (0, 0);
        let mut turns = others_turns(run, self.context).into_iter().peekable();
        let horizon = match run.observed.source {
            TimeSource::Simulated { horizon_ns: Some(horizon), .. } => horizon,
            _ => LogTime::MAX,
        };
        let mut last = LogTime::MIN;
        loop {
            count_turn();
            let next = [
                may.get(may_at).map(|entry| entry.0),
                must.get(must_at).map(|entry| entry.0),
                starts.peek().map(|event| event.at),
                ends.peek().map(|event| event.at),
                turns.peek().map(|turn| turn.0),
            ];
            let Some(now) = next.into_iter().flatten().min().filter(|&now| now <= horizon) else { break };
            last = now;
            while let Some(end) = ends.next_if(|end| end.at == now) {
                self.end(&end);
            }
            let mut changed = false;
            while let Some(&(_, kernel)) = may.get(may_at).filter(|entry| entry.0 == now) {
                count_turn();
                if self.left[kernel] > 0 {
                    self.perhaps.push(kernel);
                    changed = true;
                }
                may_at += 1;
            }
            while let Some(&(_, kernel)) = must.get(must_at).filter(|entry| entry.0 == now) {
                count_turn();
                self.surely[kernel] = true;
                changed = true;
                must_at += 1;
            }
            if changed {
                self.choose_head(now);
            }
            while let Some((_, out_of_turn)) = turns.next_if(|turn| turn.0 == now) {
                self.turn(now, out_of_turn);
            }
            while let Some(start) = starts.next_if(|start| start.at == now) {
                self.start(&start);
            }
        }
        let end = if horizon < LogTime::MAX { horizon } else { last };
        self.judge_all(end);
    }

    fn room_for_head(&self, sm: usize) -> bool {
        let Some(head) = self.head else { return false };
        let fits = |sm: usize| {
            let id = u32::try_from(sm).proven("SMs have numbers of 32 bits");
            self.run.may_use(head, id) && self.holds[sm].sure_room(&self.run.executed[head].taken) > 0
        };
        if let Some(grid) = self.cooperative_head() {
            let room = |sm: usize| {
                let id = u32::try_from(sm).proven("SMs have numbers of 32 bits");
                let room = || self.holds[sm].sure_room(&self.run.executed[head].taken);
                if self.run.may_use(head, id) { room() } else { 0 }
            };
            return room(sm) > 0 && (0..self.holds.len()).map(room).sum::<i64>() >= grid;
        }
        let Some(size) = self.cluster_of_head() else { return fits(sm) };
        let group = self.groups.of_sm[sm].map_or(&[][..], |group| &self.groups.sms[group]);
        fits(sm) && group.iter().filter(|other| fits(**other as usize)).count() >= size
    }

    /// How many SMs of one GPC the head needs at once, if its blocks come in clusters.
    fn cluster_of_head(&self) -> Option<usize> {
        let clusters = self.run.observed.operations[self.head?].kernel()?.clusters?;
        Some(clusters.least() as usize)
    }

    /// How many blocks of the head begin together, if it is a cooperative launch.
    fn cooperative_head(&self) -> Option<i64> {
        let kernel = self.run.observed.operations[self.head?].kernel()?;
        let is_cooperative = kernel.synchronization.as_ref().is_some_and(|all| all.is_cooperative);
        is_cooperative.then(|| i64::from(kernel.grid))
    }

    /// Calls `change` with each SM whose room for the head depends on what is on `sm`: all of its GPC, if blocks come
    /// in clusters.
    fn with_room_of(&mut self, sm: usize, change: impl Fn(&mut Self, usize)) {
        if self.cooperative_head().is_some() {
            return (0..self.holds.len()).for_each(|sm| change(self, sm));
        }
        let group = self.cluster_of_head().and_then(|_| self.groups.of_sm[sm]);
        let Some(group) = group else { return change(self, sm) };
        for place in 0..self.groups.sms[group].len() {
            let other = self.groups.sms[group][place] as usize;
            change(self, other);
        }
    }

    fn end(&mut self, event: &BlockEvent) {
        let Some(sm) = self.sm(event) else { return };
        self.holds[sm].change(&self.run.executed[event.operation()].taken, -1);
        self.with_room_of(sm, |sweep, sm| {
            if sweep.room_since[sm].is_none() && sweep.room_for_head(sm) {
                sweep.room_since[sm] = Some(event.at);
            }
        });
    }

    fn start(&mut self, event: &BlockEvent) {
        let (kernel, now) = (event.operation(), event.at);
        let is_head = self.head == Some(kernel);
        if is_head {
            self.judge_all(now);
            self.head_since = (now, now);
        }
        if let Some(sm) = self.sm(event) {
            self.holds[sm].change(&self.run.executed[kernel].taken, 1);
            self.with_room_of(sm, |sweep, sm| {
                if sweep.room_since[sm].is_some() && !sweep.room_for_head(sm) {
                    sweep.judge(sm, now);
                    sweep.room_since[sm] = None;
                }
            });
        }
        self.left[kernel] = self.left[kernel].saturating_sub(1);
        if self.left[kernel] == 0 {
            self.perhaps.retain(|&other| other != kernel);
            self.choose_head(now);
        }
    }

    fn sm(&self, event: &BlockEvent) -> Option<usize> {
        event.sm.map(|sm| sm as usize).filter(|&sm| sm < self.holds.len())
    }

    /// The kernel that is surely at the head of the highest queue that is not empty.
    fn choose_head(&mut self, now: LogTime) {
        let run = self.run;
        let ahead = |kernel: usize| (run.executed[kernel].priority, run.ready[kernel].lo.latest(), kernel);
        let candidates = self.perhaps.iter().copied().filter(|&kernel| self.surely[kernel]);
        // Of several that are equally early one may still be the surest; the order of launches decides.
        let best = candidates.min_by_key(|&kernel| ahead(kernel)).map(|kernel| self.first_of_instant(kernel));
        let head = best.filter(|&best| {
            self.perhaps.iter().all(|&other| {
                let (own, others) = (run.executed[best].priority, run.executed[other].priority);
                other == best || others > own || (others == own && run.surely_ahead(best, other))
            })
        });
        if head == self.head {
            return;
        }
        self.judge_all(now);
        self.head = head;
        let told = head.map_or(now, |head| {
            let entered = run.ready[head].hi.map_or(now, |hi| hi.latest());
            let surely = run.ready[head].hi.map(|hi| hi.latest_on_gpu(run.clocks.tolerances.across_clocks_ns));
            if surely == Some(now) { entered } else { now }
        });
        self.begin_wait(now, told);
    }

    /// Among those that became ready at one instant, the one that is ahead of `kernel`.
    fn first_of_instant(&self, kernel: usize) -> usize {
        let same = |other: usize| {
            self.run.executed[other].priority == self.run.executed[kernel].priority
                && self.run.ready[other].lo.latest() == self.run.ready[kernel].lo.latest()
        };
        let others = self.perhaps.iter().copied().filter(|&other| other != kernel && same(other));
        others.fold(kernel, |first, other| if self.run.surely_ahead(other, first) { other } else { first })
    }

    /// From now on it may be the turn of another context, or surely no longer.
    fn turn(&mut self, now: LogTime, out_of_turn: bool) {
        self.judge_all(now);
        self.out_of_turn = out_of_turn;
        self.begin_wait(now, now);
    }

    /// The head is judged by what comes from `now` on, and told to have waited since `told`.
    fn begin_wait(&mut self, now: LogTime, told: LogTime) {
        self.head_since = (now, told);
        for sm in 0..self.room_since.len() {
            self.room_since[sm] = self.room_for_head(sm).then_some(now);
        }
    }

    fn judge_all(&mut self, now: LogTime) {
        if now.since(self.head_since.0) > self.run.clocks.tolerances.one_clock_ns {
            (0..self.room_since.len()).for_each(|sm| self.judge(sm, now));
        }
    }

    /// Has the head waited until `now` for longer than the tolerance while SM `sm` had room?
    fn judge(&mut self, sm: usize, now: LogTime) {
        let (Some(head), Some(room_since)) = (self.head, self.room_since[sm]) else { return };
        let waited = now.since(self.head_since.0.max(room_since));
        if self.out_of_turn || waited <= self.run.clocks.tolerances.one_clock_ns {
            return;
        }
        let from = if room_since > self.head_since.0 { room_since } else { self.head_since.1 };
        let idle = Idle { from, until: now, sm: u32::try_from(sm).proven("SMs have numbers of 32 bits") };
        let known = self.worst[head].map_or(-1, |idle| idle.until.since(idle.from));
        if idle.until.since(idle.from) > known {
            self.worst[head] = Some(idle);
        }
    }
}

/// The instants at which it becomes possible (`true`), and impossible again (`false`), that another context has the
/// turn or is switched from. Where turns were not recorded: while another context may have kernels, longer by the
/// tolerance of clocks and one switch.
fn others_turns(run: &AuditedRun<'_>, context: usize) -> Vec<(LogTime, bool)> {
    match &run.observed.contexts {
        ObservedContexts::One => return Vec::new(),
        ObservedContexts::Seen(turns) => {
            let sequence = Sequence::new(run, turns);
            let open = sequence.open_times(context).flat_map(|(from, to)| [(from, false), (to, true)]);
            return [(LogTime::MIN, true)].into_iter().chain(open).collect();
        }
        ObservedContexts::Unseen => {}
    }
    let switch_cost = run.observed.device.time_slicing.switch_cost;
    let apart = run.clocks.tolerances.across_clocks_ns;
    let (over, own) = (surely_over(run), OwnWork::of(run, context));
    let mut times: Vec<(LogTime, LogTime)> = Vec::new();
    for (index, operation) in run.observed.operations.iter().enumerate() {
        if !run.observed.runs_in_turns(&operation.work) || run.observed.context_of(index) == context {
            continue;
        }
        // The clocks of two processes are compared by way of the host's.
        let from = run.ready[index].lo.earliest_on_gpu(&run.clocks.tolerances).saturating_sub(2 * apart);
        let to = over[index].saturating_add(2 * apart);
        // T3: also on an idle GPU a switch costs time, from when the context has something to do again.
        times.push((from, own.from(to).after(switch_cost)));
    }
    times.sort_unstable();
    let mut changes: Vec<(LogTime, bool)> = Vec::new();
    for (from, to) in times {
        match changes.last_mut() {
            Some((until, false)) if from <= *until => *until = to.max(*until),
            _ => changes.extend([(from, true), (to, false)]),
        }
    }
    changes
}

/// By when each operation was surely over: when it was seen to be, or something behind it in its stream had started.
fn surely_over(run: &AuditedRun<'_>) -> Vec<LogTime> {
    let mut behind: Vec<LogTime> = vec![LogTime::MAX; run.observed.streams.len()];
    let mut over = vec![LogTime::MAX; run.executed.len()];
    for (index, executed) in run.executed.iter().enumerate().rev() {
        let Some(behind) = behind.get_mut(run.observed.operations[index].stream) else { continue };
        over[index] = executed.finish.unwrap_or(*behind);
        *behind = executed.first_start.unwrap_or(*behind).min(*behind);
    }
    over
}

/// The kernels of a context: by when each had surely completed, ascending, and since when it or one behind it in this
/// list was surely in its queue.
struct OwnWork(Vec<(LogTime, LogTime)>);

impl OwnWork {
    fn of(run: &AuditedRun<'_>, context: usize) -> Self {
        let apart = run.clocks.tolerances.across_clocks_ns;
        let own = (0..run.executed.len()).filter(|&index| {
            run.observed.operations[index].kernel().is_some() && run.observed.context_of(index) == context
        });
        let times = own.filter_map(|index| {
            let finish = run.executed[index].finish.unwrap_or(LogTime::MAX);
            Some((finish, run.ready[index].hi?.latest_on_gpu(apart)))
        });
        let mut times: Vec<(LogTime, LogTime)> = times.collect();
        times.sort_unstable();
        let mut since = LogTime::MAX;
        for time in times.iter_mut().rev() {
            since = since.min(time.1);
            time.1 = since;
        }
        Self(times)
    }

    /// The first instant from `from` on at which the context surely has a kernel that has not completed.
    fn from(&self, from: LogTime) -> LogTime {
        let next = self.0.get(self.0.partition_point(|&(finish, _)| finish <= from));
        next.map_or(from, |&(_, since)| since.max(from))
    }
}
