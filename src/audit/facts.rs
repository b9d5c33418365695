//! What all checks need to know of an operation.

use super::demand::Taken;
use super::observation::{Observation, ObservedOperation, ObservedWork, TimeSource};
use crate::logs::{BlockList, LogTime};

/// What all checks need to know of an operation.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// When its first block, or the copy, started \[ns\].
    pub(super) first_start: Option<LogTime>,
    /// When its last block started \[ns\]; `LogTime::MAX` while some have not.
    pub(super) last_start: LogTime,
    /// When all of it had completed \[ns\].
    pub(super) finish: Option<LogTime>,
    /// Priority of its stream; 0 where nobody says.
    pub(super) priority: i32,
    /// What one block takes.
    pub(super) taken: Taken,
    /// Whether its blocks start in the order of their numbers.
    pub(super) starts_in_order: bool,
    /// Whether they end in that order.
    pub(super) ends_in_order: bool,
    /// Whether one of them ends before it starts.
    pub(super) runs_backwards: bool,
}

/// When the blocks of a kernel ran.
#[derive(Clone, Copy)]
struct BlockTimes {
    first_start: LogTime,
    last_start: LogTime,
    finish: LogTime,
    starts_in_order: bool,
    ends_in_order: bool,
    runs_backwards: bool,
}

impl BlockTimes {
    /// All in one pass; `None` without blocks.
    fn of(blocks: &BlockList) -> Option<Self> {
        let &[start, end] = blocks.times.first()?;
        let mut span = Self {
            first_start: start,
            last_start: start,
            finish: end,
            starts_in_order: true,
            ends_in_order: true,
            runs_backwards: false,
        };
        let mut before = [start, end];
        for &[start, end] in &blocks.times {
            span.first_start = span.first_start.min(start);
            span.last_start = span.last_start.max(start);
            span.finish = span.finish.max(end);
            span.starts_in_order &= before[0] <= start;
            span.ends_in_order &= before[1] <= end;
            span.runs_backwards |= end < start;
            before = [start, end];
        }
        Some(span)
    }
}

/// Of all operations, in their order.
pub(super) fn facts(observation: &Observation) -> Vec<Facts> {
    let simulated = matches!(observation.source, TimeSource::Simulated { .. });
    let of = |operation: &ObservedOperation| {
        let stream = observation.streams.get(operation.stream);
        let priority = stream.and_then(|stream| stream.priority).unwrap_or(0);
        let mut facts = Facts {
            first_start: None,
            last_start: LogTime::MAX,
            finish: None,
            priority,
            taken: Taken::default(),
            starts_in_order: true,
            ends_in_order: true,
            runs_backwards: false,
        };
        match &operation.work {
            ObservedWork::Kernel(kernel) => {
                facts.taken = Taken::by(&kernel.shape, &observation.device);
                let span = BlockTimes::of(&kernel.blocks);
                facts.first_start = span.map(|span| span.first_start);
                if let Some(span) = span {
                    facts.starts_in_order = span.starts_in_order;
                    facts.ends_in_order = span.ends_in_order;
                    facts.runs_backwards = span.runs_backwards;
                }
                // Where blocks are missing from a log, those that are there must do.
                if let Some(span) = span.filter(|_| kernel.is_whole() || !simulated) {
                    facts.last_start = span.last_start;
                    facts.finish = Some(span.finish);
                }
            }
            ObservedWork::Copy(copy) => {
                facts.first_start = copy.times_ns.map(|[start, _]| start);
                facts.last_start = facts.first_start.unwrap_or(LogTime::MAX);
                facts.finish = copy.times_ns.map(|[_, end]| end);
            }
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) => {}
        }
        facts
    };
    observation.operations.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_block_that_ends_before_it_starts_runs_backwards() {
        let backwards = |end| {
            let times = vec![[LogTime::from_ns(1), LogTime::from_ns(9)], [LogTime::from_ns(5), LogTime::from_ns(end)]];
            BlockTimes::of(&BlockList { times, sms: vec![0, 0] }).is_some_and(|span| span.runs_backwards)
        };
        assert_eq!([4, 5, 6].map(backwards), [true, false, false]);
    }
}
