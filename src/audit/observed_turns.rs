//! The turns of contexts in a simulated run, and what they mean for what has begun.

use crate::logs::LogTime;
use crate::time::Duration;
use crate::workload::{BlockClock, InterleaveLevel};

/// A turn of a context: the time in which what it has begun goes on (T1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedTurn {
    /// The process whose context it is of, by number.
    pub process: usize,
    /// When it began.
    pub start_ns: LogTime,
    /// When it ended.
    pub end_ns: LogTime,
    /// The run ended in the switch to it.
    pub is_on_its_way: bool,
}

/// How contexts took turns, and how they were to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedTurns {
    /// All turns, in order of time.
    pub turns: Vec<ObservedTurn>,
    /// The run ended then \[ns\].
    pub run_end_ns: LogTime,
    /// T2: how long a turn of each process lasts at most \[ns\].
    pub time_slices_ns: Vec<i64>,
    /// T3: what a switch from one context to another costs \[ns\].
    pub switch_cost_ns: i64,
    /// T6: the level of each process.
    pub levels: Vec<InterleaveLevel>,
    /// A host took contexts off the runlist, or put them back, by itself, which the rules say nothing of.
    pub is_driven_by_host: bool,
}

impl ObservedTurns {
    /// For how long something of a process that began and ended at these times went on. Behind the end of the run all
    /// counts, since what had not ended then is told as if it were its turn from then on.
    pub(super) fn net(&self, process: usize, start: LogTime, end: LogTime) -> i64 {
        let inside: i64 = self.overlapping(process, start, end).map(|(from, to)| to.since(from)).sum();
        inside + end.since(self.run_end_ns.max(start)).max(0)
    }

    /// How long something of a process took that watches a timer, and was due after `worst` at the latest: what it
    /// waited from then on until its turn does not count.
    pub(super) fn on_timer(&self, process: usize, (start, end): (LogTime, LogTime), worst: Duration) -> i64 {
        let due = start.after(worst);
        let first = self.turns.partition_point(|turn| turn.end_ns < due);
        let own = self.turns[first..].iter().find(|turn| turn.process == process && !turn.is_on_its_way);
        let soonest = own.map_or(self.run_end_ns.saturating_add(1), |turn| turn.start_ns).max(due);
        if end > due && end == soonest { due.since(start) } else { end.since(start) }
    }

    /// The parts of a time, up to the end of the run, in which it was the turn of a process.
    fn overlapping(
        &self,
        process: usize,
        start: LogTime,
        end: LogTime,
    ) -> impl Iterator<Item = (LogTime, LogTime)> + '_ {
        let first = self.turns.partition_point(|turn| turn.end_ns <= start);
        let until = end.min(self.run_end_ns);
        let turns = self.turns[first..].iter().take_while(move |turn| turn.start_ns < until);
        turns.filter(move |turn| turn.process == process).map(move |turn| {
            let (from, to) = (turn.start_ns.max(start), turn.end_ns.min(until));
            (from, to)
        })
    }

    /// Whether something of a process that began at `start` could go on just before `at`, or had no length, or could
    /// not have ended since (behind the run's end). A timer may have run out before the turn began.
    pub(super) fn can_end(&self, process: usize, clock: BlockClock, (start, at): (LogTime, LogTime)) -> bool {
        let first = self.turns.partition_point(|turn| turn.end_ns < at);
        let mut turns = self.turns[first..].iter().take_while(|turn| turn.start_ns <= at);
        let goes_on = |turn: &ObservedTurn| {
            let at_once = start == at || clock == BlockClock::Wall;
            turn.process == process && (turn.start_ns < at || at_once && !turn.is_on_its_way)
        };
        at > self.run_end_ns || turns.any(goes_on)
    }

    /// T6: the order of a round.
    pub(super) fn round(&self) -> Vec<usize> {
        let of = |level| (0..).zip(&self.levels).filter(move |&(_, own)| *own == level).map(|(process, _)| process);
        let high: Vec<usize> = of(InterleaveLevel::High).collect();
        let under = |above: &[usize], level| -> Vec<usize> {
            of(level).flat_map(|process| above.iter().copied().chain([process])).collect()
        };
        let medium = under(&high, InterleaveLevel::Medium);
        let low = under(&[&medium[..], &high].concat(), InterleaveLevel::Low);
        [low, medium, high].into_iter().find(|round| !round.is_empty()).unwrap_or_default()
    }
}
