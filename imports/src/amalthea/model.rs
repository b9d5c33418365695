//! An AMALTHEA model in memory: what of the file a scenario can be made of.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::event_chains::EventChains;
use super::hardware::{LabelAccess, ProcessingUnit};
use super::items::{CostUnit, Item, TickEntry};
use super::mapping::Mapping;
use super::timing::Stimulus;
use crate::device::CopyDirection;
use crate::scenario::Requirement;

/// An AMALTHEA model, as far as it matters to a GPU. It borrows the text, so that later errors can point into it.
#[derive(Debug, Clone)]
pub struct AmaltheaModel<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
    /// Schema version, as the root's namespace has it.
    pub version: String,
    /// Runnables, in document order.
    pub(crate) runnables: Vec<Runnable>,
    /// Processing units (`cores` of schema versions up to 0.9.0), in document order.
    pub(crate) processing_units: Vec<ProcessingUnit>,
    /// Tasks and interrupt routines that call runnables, in document order.
    pub(super) tasks: Vec<Task>,
    /// Stimuli of the classes that are read, in document order.
    pub(crate) stimuli: Vec<Stimulus>,
    /// Upper limits of response times, in document order.
    pub(crate) requirements: Vec<Requirement>,
    /// Upper limits of latencies of event chains.
    pub(super) chains: EventChains,
    /// Who runs where.
    pub(super) mapping: Mapping,
    /// What was not read, by type: how often.
    pub skipped: BTreeMap<String, u64>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl AmaltheaModel<'_> {
    /// Runnables by name; `None` for a name that more than one has.
    pub(super) fn indices(&self) -> HashMap<&str, Option<usize>> {
        let mut indices = HashMap::with_capacity(self.runnables.len());
        for (index, runnable) in self.runnables.iter().enumerate() {
            indices.entry(runnable.name.as_str()).and_modify(|known| *known = None).or_insert(Some(index));
        }
        indices
    }
}

/// A task or interrupt routine.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) name: String,
    /// Names of its stimuli.
    pub(super) stimuli: Vec<String>,
    /// What it does, in order.
    pub(super) items: Vec<Item>,
    /// The runnables that it calls, by index, in document order.
    pub(super) calls: Vec<usize>,
    /// Names of the stimuli that it triggers in others (`InterProcessTrigger`).
    pub(super) triggers: Vec<String>,
    /// Whether it waits for events of other tasks.
    pub(super) waits: bool,
    /// What it does that is not read, by type.
    pub(super) unread: BTreeSet<String>,
    /// Whether it is an interrupt routine.
    pub(super) is_isr: bool,
    /// Whether others may take its core from it at any time; `None`: it is not stated.
    pub(super) is_preemptive: Option<bool>,
}

/// A runnable.
#[derive(Debug, Clone)]
pub(crate) struct Runnable {
    /// Its name.
    pub name: String,
    /// What it does, in order.
    pub(super) items: Vec<Item>,
    /// Custom property `GridSize`: blocks of the kernel.
    pub grid_size: Option<u32>,
    /// Custom property `BlockSize`: threads of one block.
    pub block_size: Option<u32>,
    /// Custom property `Registers`: registers of one thread.
    pub registers: Option<u32>,
    /// Custom property `SharedMemory`: shared memory of one block \[bytes\].
    pub shared_memory: Option<u32>,
    /// Whether it copies between host and device, and how much.
    pub(crate) copy: Option<CopyRunnable>,
    /// The labels that it accesses, if it is no copy.
    pub(super) accesses: Vec<LabelAccess>,
    /// What it does that is not read, by type.
    pub(super) unread: BTreeSet<String>,
    /// Names of the stimuli that it triggers in tasks.
    pub(super) triggers: Vec<String>,
    /// Where it stands \[bytes\].
    pub(super) offset: usize,
}

/// A runnable that copies between host memory and device memory (thesis, Sec. 1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyRunnable {
    /// Which way.
    pub direction: CopyDirection,
    /// Custom property `Bytes`, or the sizes of the labels that it reads, or else of those that it writes; `None` if
    /// there are none.
    pub bytes: Option<u64>,
}

impl Runnable {
    /// Every amount of ticks that the model states for this runnable itself, in document order; instructions of
    /// schema versions up to 0.9.2 among them, as APP4MC's own migration has it.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = &TickEntry> {
        Item::entries(&self.items).into_iter().filter(|entry| !matches!(entry.unit, CostUnit::Need(_)))
    }

    /// Every execution need of schema versions from 0.9.3, in document order.
    pub(crate) fn needs(&self) -> impl Iterator<Item = &TickEntry> {
        Item::entries(&self.items).into_iter().filter(|entry| matches!(entry.unit, CostUnit::Need(_)))
    }
}
