//! Whether contexts took turns as rules T1, T2, T3 and T6 say, judged by when each of them had work.
//!
//! Each turn is judged by the one before it, so that one wrong turn is told once.

use super::audited_run::AuditedRun;
use super::finding::{AuditRule, Finding, length};
use super::observed_run::ObservedWork;
use super::observed_run::{ObservedTurn, ObservedTurns};
use super::readiness::Readiness;
use crate::device::Preemption;
use crate::logs::LogTime;

/// When a context had work: from when on, and until when; in order of time, apart from each other.
type Work = Vec<(LogTime, LogTime)>;

/// Judges the turns of a simulated run.
pub(super) fn check(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let Some(turns) = run.observed.turns() else { return };
    overlaps(turns, findings);
    let sequence = Sequence::new(run, turns);
    sequence.check(findings);
    blocks(run, &sequence, findings);
}

/// T1, T2: blocks begin in a turn of their context, before its slices are over; T4: they end in one.
fn blocks(run: &AuditedRun<'_>, sequence: &Sequence<'_>, findings: &mut Vec<Finding>) {
    for (index, operation) in run.observed.operations.iter().enumerate() {
        let Some(kernel) = operation.kernel() else { continue };
        let context = run.observed.context_of(index);
        for (number, block) in kernel.blocks.iter().enumerate() {
            let (rule, at_ns, what) = if !sequence.may_begin(context, block.start_ns) {
                (AuditRule::T1, block.start_ns, "it started while it was not the turn of its context")
            } else if !sequence.turns.can_end(context, kernel.clock, (block.start_ns, block.end_ns)) {
                (AuditRule::T4, block.end_ns, "it ended while it was not the turn of its context")
            } else {
                continue;
            };
            let finding = Finding::new(rule, &operation.name, at_ns, 1, what.to_owned());
            findings.push(finding.of_block(number, Some(block.sm)).counted_in("blocks"));
        }
    }
}

/// T1: the turns follow each other.
fn overlaps(turns: &ObservedTurns, findings: &mut Vec<Finding>) {
    for pair in turns.turns.windows(2) {
        let early = pair[0].end_ns.since(pair[1].start_ns);
        if early > 0 {
            let what = format!("its turn began {} before that of process {} ended", length(early), pair[0].process);
            findings.push(finding(AuditRule::T1, &pair[1], pair[1].start_ns, early, what));
        }
    }
}

fn finding(rule: AuditRule, turn: &ObservedTurn, at_ns: LogTime, by: i64, what: String) -> Finding {
    Finding::new(rule, &format!("process {}", turn.process).into(), at_ns, by.unsigned_abs(), what)
}

/// The turns of a run beside the work that there was.
pub(super) struct Sequence<'a> {
    turns: &'a ObservedTurns,
    work: Vec<Work>,
    /// The same with gaps in which a context keeps its turn, but gets none.
    kept: Vec<Work>,
    round: Vec<usize>,
    /// Start and end of every block of each context.
    blocks: Vec<Vec<(LogTime, LogTime)>>,
    run_to_the_end: bool,
    /// Everything has a length, so that nothing changes twice at one instant.
    exact: bool,
}

/// Where in the round the turn before was, whose it was, and when it ended.
#[derive(Clone, Copy)]
struct Before {
    place: usize,
    process: usize,
    end: LogTime,
}

impl<'a> Sequence<'a> {
    pub(super) fn new(run: &AuditedRun<'_>, turns: &'a ObservedTurns) -> Self {
        let observed = run.observed;
        let contexts = observed.context_count();
        let (mut work, mut blocks) = (vec![Work::new(); contexts], vec![Vec::new(); contexts]);
        let mut kept = work.clone();
        for (index, operation) in observed.operations.iter().enumerate() {
            let from = run.ready[index].lo.latest();
            let to = run.executed[index].finish.filter(|&finish| finish <= turns.run_end_ns).unwrap_or(LogTime::MAX);
            let context = observed.context_of(index);
            if observed.runs_in_turns(&operation.work) && from < to {
                work[context].push((from, to));
            }
            kept[context].extend(in_gap(&run.ready[index], operation.launched_ns[0]));
            if let ObservedWork::Kernel(kernel) = &operation.work {
                blocks[context].extend(kernel.blocks.times.iter().map(|&[start, end]| (start, end)));
            }
        }
        let run_to_the_end = observed.device.time_slicing.preemption == Preemption::BlockEnd;
        let work: Vec<Work> = work.into_iter().map(joined).collect();
        let kept = kept.into_iter().zip(&work).map(|(gaps, work)| joined([gaps, work.clone()].concat())).collect();
        let exact = run.clocks.exact && !run.channels_bind() && !turns.is_driven_by_host;
        Self { turns, work, kept, round: turns.round(), blocks, run_to_the_end, exact }
    }

    fn check(&self, findings: &mut Vec<Finding>) {
        let mut before: Option<Before> = None;
        for turn in &self.turns.turns {
            let found = self.begins(turn, before).or_else(|| self.ends(turn, before));
            findings.extend(found);
            let place = self.place_of(before, turn);
            before = Some(Before { place, process: turn.process, end: turn.end_ns });
        }
        findings.extend(self.nobody_is_left(before));
    }

    /// Whether a turn began when it should, and should have been of that context.
    fn begins(&self, turn: &ObservedTurn, before: Option<Before>) -> Option<Finding> {
        let earliest = before.map_or(LogTime::from_ns(0), |before| before.end);
        let cost = before.filter(|before| before.process != turn.process).map_or(0, |_| self.turns.switch_cost_ns);
        // At the end of the run a turn may be on its way.
        let decided = self.decided(earliest);
        if !self.exact {
            let early = earliest.saturating_add(cost).since(turn.start_ns);
            let what = || format!("its turn began {} before the switch to it was over", length(early));
            return (early > 0 && turn.start_ns < self.turns.run_end_ns)
                .then(|| finding(AuditRule::T3, turn, turn.start_ns, early, what()));
        }
        let Some(decided) = decided.filter(|&decided| decided <= turn.start_ns) else {
            let what = "its turn began although it had no work".to_owned();
            return Some(finding(AuditRule::T1, turn, turn.start_ns, 0, what));
        };
        let place = before.map_or(self.round.len() - 1, |before| before.place);
        let next = self.next(place, |process| self.has_work(process, decided)).map(|place| self.round[place]);
        if next != Some(turn.process) {
            let whose = next.map_or_else(|| "nobody".to_owned(), |next| format!("process {next}"));
            let what = format!("it had a turn, and {whose} was next in the round");
            return Some(finding(AuditRule::T6, turn, turn.start_ns, 0, what));
        }
        let expected = decided.saturating_add(cost).min(self.turns.run_end_ns.max(decided));
        let wrong = turn.start_ns.since(expected);
        (wrong != 0).then(|| {
            let how = if wrong > 0 { "after" } else { "before" };
            let what = format!("its turn began {} {how} the switch to it was over", length(wrong));
            finding(AuditRule::T3, turn, turn.start_ns, wrong, what)
        })
    }

    /// Whether a turn ended when it should.
    fn ends(&self, turn: &ObservedTurn, before: Option<Before>) -> Option<Finding> {
        if turn.start_ns >= self.turns.run_end_ns {
            return None;
        }
        let expected = self.expected_end(turn, before).min(self.turns.run_end_ns);
        let wrong = turn.end_ns.since(expected);
        if wrong == 0 || (wrong < 0 && !self.exact) || self.turns.is_driven_by_host {
            return None;
        }
        let how = if wrong > 0 { "later" } else { "earlier" };
        let what = format!(
            "its turn ended {} {how} than at {} by its slices and the work of all",
            length(wrong),
            length(expected.as_ns())
        );
        Some(finding(AuditRule::T2, turn, turn.end_ns, wrong, what))
    }

    /// Whether a context may begin something.
    fn may_begin(&self, context: usize, at: LogTime) -> bool {
        let until = self.turns.turns.partition_point(|turn| turn.start_ns <= at);
        let own = self.turns.turns[..until].iter().rev().find(|turn| turn.process == context && !turn.is_on_its_way);
        own.is_some_and(|turn| at < self.open_until(turn) || (at <= turn.end_ns && !self.exact))
    }

    /// Until before when a turn takes what is new: its end, or that of its slices. One that only the end of the run
    /// cuts off does in the last instant, too: everything that belongs to it has happened.
    fn open_until(&self, turn: &ObservedTurn) -> LogTime {
        let is_cut = turn.end_ns >= self.turns.run_end_ns;
        turn.end_ns.saturating_add(i64::from(is_cut)).min(self.slices_end(turn))
    }

    /// From when to before when each turn of a context takes what is new.
    pub(super) fn open_times(&self, context: usize) -> impl Iterator<Item = (LogTime, LogTime)> + '_ {
        let own = self.turns.turns.iter().filter(move |turn| turn.process == context && !turn.is_on_its_way);
        own.map(|turn| (turn.start_ns, self.open_until(turn)))
    }

    /// The end of the first slice at which another context had work.
    pub(super) fn slices_end(&self, turn: &ObservedTurn) -> LogTime {
        let others = (0..self.work.len()).filter(|&other| other != turn.process);
        let Some(others) = others.filter_map(|other| self.first_work(other, turn.start_ns)).min() else {
            return LogTime::MAX;
        };
        let slice = self.slice(turn);
        let slices = (others.since(turn.start_ns).max(1) - 1) / slice + 1;
        turn.start_ns.saturating_add(slices.saturating_mul(slice))
    }

    fn expected_end(&self, turn: &ObservedTurn, before: Option<Before>) -> LogTime {
        let slices_end = self.slices_end(turn);
        let own = &self.kept[turn.process];
        let own_end = own
            .get(own.partition_point(|&(_, to)| to <= turn.start_ns))
            .map_or(turn.start_ns, |&(from, to)| if from <= turn.start_ns { to } else { turn.start_ns });
        if own_end <= slices_end || !self.run_to_the_end {
            return own_end.min(slices_end);
        }
        // T6: where its next turn follows at once, nobody waits for its blocks.
        let next = self
            .next(self.place_of(before, turn), |process| self.has_work(process, slices_end))
            .map(|place| self.round[place]);
        if next == Some(turn.process) {
            return slices_end;
        }
        // T4: blocks that are there run to their ends. Where something has no length, one that began at this very
        // instant may have done so before the work of others came.
        let is_there = |start: LogTime| start < slices_end || (!self.exact && start == slices_end);
        let there = self.blocks[turn.process].iter().filter(|&&(start, end)| is_there(start) && end > slices_end);
        there.map(|&(_, end)| end).max().unwrap_or(slices_end)
    }

    /// No context has work that gets no turn.
    fn nobody_is_left(&self, before: Option<Before>) -> Option<Finding> {
        let end = before.map_or(LogTime::from_ns(0), |before| before.end);
        let decided = self.decided(end).filter(|&decided| decided < self.turns.run_end_ns)?;
        let place = before.map_or(self.round.len() - 1, |before| before.place);
        let process = self.round[self.next(place, |process| self.has_work(process, decided))?];
        let turn = ObservedTurn { process, start_ns: decided, end_ns: decided, is_on_its_way: false };
        let cost = if before.is_some_and(|before| before.process != process) { self.turns.switch_cost_ns } else { 0 };
        let late = self.turns.run_end_ns.since(decided.saturating_add(cost));
        let what = "it had work, and got no turn".to_owned();
        (late > 0 && !self.turns.is_driven_by_host).then(|| finding(AuditRule::T1, &turn, decided, late, what))
    }

    /// The first instant from `from` on at which some context has work.
    fn decided(&self, from: LogTime) -> Option<LogTime> {
        (0..self.work.len()).filter_map(|context| self.first_work(context, from)).min()
    }

    /// The first instant from `from` on at which a context has work.
    fn first_work(&self, context: usize, from: LogTime) -> Option<LogTime> {
        let work = &self.work[context];
        let next = work.get(work.partition_point(|&(_, to)| to <= from))?;
        Some(next.0.max(from))
    }

    fn has_work(&self, context: usize, at: LogTime) -> bool {
        self.first_work(context, at) == Some(at)
    }

    /// The next place of the round, behind `place`, of a context that is asked for.
    fn next(&self, place: usize, is_asked_for: impl Fn(usize) -> bool) -> Option<usize> {
        let places = self.round.len();
        (1..=places).map(|step| (place + step) % places).find(|&place| is_asked_for(self.round[place]))
    }

    /// Where in the round a turn was. Those behind it are next, however many slices it lasted while its context was
    /// alone.
    fn place_of(&self, before: Option<Before>, turn: &ObservedTurn) -> usize {
        let before = before.map_or(self.round.len() - 1, |before| before.place);
        self.next(before, |process| process == turn.process).unwrap_or(before)
    }

    fn slice(&self, turn: &ObservedTurn) -> i64 {
        self.turns.time_slices_ns.get(turn.process).copied().unwrap_or(1).max(1)
    }
}

/// T2: from when until when a gap alone holds a kernel, if it had come to the GPU when it became the head of its
/// stream.
fn in_gap(ready: &Readiness, launched: LogTime) -> Option<(LogTime, LogTime)> {
    let is_head = ready.stream.map_or(launched, |(_, before)| launched.max(before.latest()));
    let on_gpu = ready.launch_latency.is_none_or(|over| over.latest() <= is_head);
    ready.kernel_gap.filter(|_| on_gpu).map(|over| (is_head, over.latest())).filter(|(from, to)| from < to)
}

/// The same times, in order and joined where they touch.
fn joined(mut times: Work) -> Work {
    times.sort_unstable();
    let mut all = Work::new();
    for (from, to) in times {
        match all.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => all.push((from, to)),
        }
    }
    all
}
