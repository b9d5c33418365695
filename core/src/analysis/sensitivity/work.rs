//! What takes time in a scenario, by what users change: a kernel, copies, CPU work, a task, all.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::device::CopyDirection;
use crate::limits::count_turn;
use crate::named::named;
use crate::scenario::{Scenario, Step};
use crate::time::Duration;
use crate::workload::StreamId;

/// Steps of host threads, each by thread and number.
pub(super) type Steps = BTreeSet<(usize, usize)>;

named! {
    /// What takes time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum WorkKind {
        /// The blocks of a kernel, wherever it is launched.
        Kernel = "kernel",
        /// The copies of a stream that go one way.
        Copies = "copies",
        /// The CPU work of a host.
        CpuWork = "CPU work",
        /// All that a stream or host does.
        Task = "task",
        /// All that all of them do.
        All = "all",
    }
}

/// Some work of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) kind: WorkKind,
    pub(super) name: String,
    /// What of it takes time.
    pub(super) steps: Steps,
    /// The longest of its blocks, copies and pieces of CPU work.
    pub(super) longest_piece: Option<Duration>,
    /// The time of its steps, a kernel's that of all of its blocks \[ns\].
    weight: u128,
}

/// What a step is a part of, in the order in which it is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Kernel(Arc<str>),
    Copies(StreamId, CopyDirection),
    CpuWork(u32),
    Task(u32),
    All,
}

impl Part {
    fn kind(&self) -> WorkKind {
        match self {
            Self::Kernel(_) => WorkKind::Kernel,
            Self::Copies(..) => WorkKind::Copies,
            Self::CpuWork(_) => WorkKind::CpuWork,
            Self::Task(_) => WorkKind::Task,
            Self::All => WorkKind::All,
        }
    }

    fn name(&self, scenario: &Scenario) -> String {
        match self {
            Self::Kernel(title) => title.to_string(),
            Self::Copies(stream, direction) => {
                let stream = scenario.streams().get(stream.index()).map_or("", |stream| &stream.name);
                format!("{} of {stream}", direction.name())
            }
            Self::CpuWork(thread) | Self::Task(thread) => scenario.threads[*thread as usize].label.to_string(),
            Self::All => "streams and hosts".to_owned(),
        }
    }
}

impl Work {
    fn new(kind: WorkKind, name: String) -> Self {
        Self { kind, name, steps: Steps::new(), longest_piece: None, weight: 0 }
    }

    /// Adds a step, if it takes time.
    fn add(&mut self, scenario: &Scenario, thread: usize, number: usize, step: &Step) {
        let Some(time) = scenario.time_of_step(step).filter(|time| *time > Duration::ZERO) else { return };
        let blocks = match step {
            Step::Launch(kernel, _) => scenario.kernels().get(kernel.index()).map_or(0, |kernel| kernel.blocks),
            _ => 1,
        };
        self.steps.insert((thread, number));
        self.longest_piece = self.longest_piece.max(Some(time));
        self.weight = self.weight.saturating_add(u128::from(time.as_ns()) * u128::from(blocks));
    }

    /// All that a thread does.
    pub(super) fn of_thread(scenario: &Scenario, thread: u32) -> Self {
        let mut work = Self::new(WorkKind::Task, Part::Task(thread).name(scenario));
        for (number, step) in scenario.threads[thread as usize].steps.iter().enumerate() {
            work.add(scenario, thread as usize, number, step);
        }
        work
    }

    /// All that takes time, by every part that it is of.
    pub(super) fn all(scenario: &Scenario) -> Vec<Self> {
        let mut all: BTreeMap<Part, Self> = BTreeMap::new();
        for (thread, host) in (0..).zip(&scenario.threads) {
            for (number, step) in host.steps.iter().enumerate() {
                count_turn();
                let part = match step {
                    Step::Launch(kernel, _) => {
                        scenario.kernels().get(kernel.index()).map(|kernel| Part::Kernel(Arc::clone(&kernel.title)))
                    }
                    Step::Copy(copy, stream) => {
                        scenario.copies().get(copy.index()).map(|copy| Part::Copies(*stream, copy.direction))
                    }
                    Step::Work(_) => Some(Part::CpuWork(thread)),
                    _ => None,
                };
                let Some(part) = part else { continue };
                for part in [part, Part::Task(thread), Part::All] {
                    let work = all.entry(part).or_insert_with_key(|part| Self::new(part.kind(), part.name(scenario)));
                    work.add(scenario, thread as usize, number, step);
                }
            }
        }
        all.into_values().filter(|work| !work.steps.is_empty()).collect()
    }

    /// Keeps so many of those that take most time.
    pub(super) fn keep_longest(all: &mut Vec<Self>, most: usize) {
        all.sort_by_key(|work| Reverse(work.weight));
        all.truncate(most);
    }
}
