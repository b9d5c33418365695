//! One audit from beginning to end.

use serde::Serialize;

use super::completions;
use super::conservation;
use super::copies;
use super::demand::{self, Amounts};
use super::finding::Finding;
use super::observation::{Observation, ObservedWork, Source};
use super::options::Tolerances;
use super::placement::{self, PlacementStatistic};
use super::queues;
use super::ready::{self, Readiness};
use super::resources;
use super::stamp::Clocks;
use super::sweep::Events;
use super::times;

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// What breaks a rule, by time.
    pub findings: Vec<Finding>,
    /// How much was looked at.
    pub checked: Checked,
    /// How many blocks went where the model would have put them.
    pub placement: PlacementStatistic,
    /// What could not be checked, and why.
    pub notes: Vec<String>,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Checked {
    /// Kernel launches.
    pub kernels: usize,
    /// Blocks.
    pub blocks: usize,
}

/// What all checks need to know of an operation.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// When its first block, or the copy, started \[ns\].
    pub(super) first_start: Option<i64>,
    /// When its last block started \[ns\]; `i64::MAX` while some have not.
    pub(super) last_start: i64,
    /// When all of it had completed \[ns\].
    pub(super) finish: Option<i64>,
    /// Priority of its stream; 0 where nobody says.
    pub(super) priority: i32,
    /// What one block takes.
    pub(super) taken: Amounts,
}

/// An observation with everything that was derived from it.
pub(super) struct Case<'a> {
    pub(super) observation: &'a Observation,
    pub(super) clocks: Clocks,
    pub(super) facts: Vec<Facts>,
    pub(super) ready: Vec<Readiness>,
    pub(super) events: Events,
}

impl<'a> Case<'a> {
    /// Derives everything. The tolerances are those for measured times; simulated ones are exact.
    pub(super) fn new(observation: &'a Observation, tolerances: &Tolerances) -> Self {
        Self::with_facts(observation, facts(observation), tolerances)
    }

    fn with_facts(observation: &'a Observation, facts: Vec<Facts>, tolerances: &Tolerances) -> Self {
        let simulated = matches!(observation.source, Source::Simulated { .. });
        let tolerances = if simulated { Tolerances::EXACT } else { *tolerances };
        let clocks = Clocks { tolerances, exact: simulated && !has_zero_length(observation), ordered: simulated };
        let ready = completions::readiness(observation, &facts, &clocks);
        Self { observation, clocks, facts, ready, events: Events::of(observation) }
    }

    /// Whether streams may have to wait for hardware channels, which the audit does not follow.
    pub(super) fn channels_bind(&self) -> bool {
        self.observation.device.channels.is_some_and(|channels| channels as usize <= self.observation.streams.len())
    }

    /// Whether operation `operation` may use SM `sm`.
    pub(super) fn may_use(&self, operation: usize, sm: u32) -> bool {
        let mask = self.observation.operations[operation].kernel().and_then(|kernel| kernel.sm_mask);
        mask.is_none_or(|mask| mask.enables_sm(sm, &self.observation.device))
    }

    /// Whether `one` was surely ahead of `other` when both were in the same queue.
    pub(super) fn surely_ahead(&self, one: usize, other: usize) -> bool {
        let (Some(hi), lo) = (self.hi(one), self.ready[other].lo) else { return false };
        self.clocks.surely_before(&hi, &lo) || (self.clocks.exact && hi == lo && one < other)
    }

    /// By when an operation was surely in its queue.
    pub(super) fn hi(&self, operation: usize) -> Option<super::stamp::When> {
        use super::stamp::{Stamp, When};
        let started = self.facts[operation].first_start;
        self.ready[operation].hi.or(started.map(|start| When::on_gpu(Stamp { at: start, rank: 0 })))
    }
}

/// Checks an observation against every rule. The tolerances are those for measured times; simulated ones are exact.
#[must_use]
pub fn audit(observation: &Observation, tolerances: &Tolerances) -> Audit {
    let (mut notes, mut findings) = (Vec::new(), Vec::new());
    times::check(observation, &mut findings);
    let facts = facts(observation);
    let apart = times::check_clocks(observation, &facts, tolerances, &mut findings);
    let mut tolerances = *tolerances;
    if apart > tolerances.across_clocks_ns {
        tolerances.across_clocks_ns = apart;
        notes.push(format!(
            "the clocks are apart by {} at least, so everything that compares them was checked with that tolerance",
            super::finding::length(apart)
        ));
    }
    let case = Case::with_facts(observation, facts, &tolerances);
    ready::check(&case, &mut findings);
    resources::check(&case, &mut findings);
    if case.channels_bind() {
        notes.push("streams share hardware channels: queue order and work conservation were not checked".to_owned());
    } else {
        queues::check(&case, &mut findings);
        copies::check(&case, &mut findings);
        match &observation.incomplete {
            Some(why) => notes.push(format!("work conservation was not checked: {why}")),
            None => conservation::check(&case, &mut findings),
        }
    }
    let placement = placement::check(&case, &mut findings);
    findings.sort_by(|one, other| {
        (one.at_ns, one.rule, &one.kernel, one.block).cmp(&(other.at_ns, other.rule, &other.kernel, other.block))
    });
    let kernels = || observation.operations.iter().filter_map(|operation| operation.kernel());
    let checked = Checked { kernels: kernels().count(), blocks: kernels().map(|kernel| kernel.blocks.len()).sum() };
    Audit { findings, checked, placement, notes }
}

/// Things without length can happen several times at one instant, so that their order cannot be told from times.
fn has_zero_length(observation: &Observation) -> bool {
    observation.operations.iter().any(|operation| match &operation.work {
        ObservedWork::Kernel(kernel) => kernel.blocks.times.iter().any(|[start, end]| start >= end),
        ObservedWork::Copy(copy) => copy.times_ns.is_some_and(|[start, end]| start >= end),
        ObservedWork::Memset => false,
    })
}

fn facts(observation: &Observation) -> Vec<Facts> {
    let simulated = matches!(observation.source, Source::Simulated { .. });
    let of = |operation: &super::observation::ObservedOperation| {
        let stream = observation.streams.get(operation.stream);
        let priority = stream.and_then(|stream| stream.priority).unwrap_or(0);
        let mut facts = Facts { first_start: None, last_start: i64::MAX, finish: None, priority, taken: [0; 4] };
        match &operation.work {
            ObservedWork::Kernel(kernel) => {
                facts.taken = demand::taken(&kernel.shape, &observation.device);
                facts.first_start = kernel.blocks.first_start_ns();
                // Where blocks are missing from a log, those that are there must do.
                if kernel.is_whole() || !simulated {
                    facts.last_start = kernel.blocks.last_start_ns().unwrap_or(i64::MAX);
                    facts.finish = kernel.blocks.finish_ns();
                }
            }
            ObservedWork::Copy(copy) => {
                facts.first_start = copy.times_ns.map(|[start, _]| start);
                facts.last_start = facts.first_start.unwrap_or(i64::MAX);
                facts.finish = copy.times_ns.map(|[_, end]| end);
            }
            ObservedWork::Memset => {}
        }
        facts
    };
    observation.operations.iter().map(of).collect()
}
