//! The gap between the end of a block and the start of the one that takes its place, where the device states one.

use std::collections::VecDeque;

use super::{Share, SmBackend};
use crate::canonical::Canonical;
use crate::device::BlockDemand;
use crate::gpu::backend::BackendContext;
use crate::gpu::calendar::Event;
use crate::time::{Duration, Instant};
use crate::workload::ProcessId;

/// What ended blocks still hold.
#[derive(Debug, Clone)]
pub(in crate::gpu::backend) struct Freeing {
    pub(in crate::gpu::backend) gap: Duration,
    /// In the order in which it comes free, as the gap is always the same.
    held: VecDeque<Held>,
    /// For when the calendar has that the next of it comes free, which nobody need know while nothing waits.
    noted: Option<Instant>,
}

/// What blocks of one wave hold, and until when.
#[derive(Debug, Clone)]
struct Held {
    until: Instant,
    demand: BlockDemand,
    process: ProcessId,
    shares: Vec<Share>,
}

impl Freeing {
    pub(in crate::gpu::backend) const fn new(gap: Duration) -> Self {
        Self { gap, held: VecDeque::new(), noted: None }
    }

    pub(in crate::gpu::backend) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(in crate::gpu::backend) fn clear(&mut self) {
        self.held.clear();
        self.noted = None;
    }

    /// The calendar may have stood still, and what it has come later by that.
    pub(in crate::gpu::backend) fn forget_note(&mut self) {
        self.noted = None;
    }

    pub(in crate::gpu::backend) fn hold(
        &mut self,
        now: Instant,
        demand: BlockDemand,
        process: ProcessId,
        shares: Vec<Share>,
    ) {
        self.held.push_back(Held { until: now.saturating_add(self.gap), demand, process, shares });
    }

    pub(in crate::gpu::backend) fn write_state(&self, to: &mut Canonical) {
        to.list(&self.held, |to, Held { until, demand, process, shares }| {
            to.instant(*until);
            to.value((demand, process));
            to.list(shares, |to, &Share { sm, blocks }| to.value((sm, blocks)));
        });
        to.optional(self.noted, Canonical::instant);
    }
}

impl SmBackend {
    /// What comes free by now does.
    pub(in crate::gpu::backend) fn free_what_is_due(&mut self, now: Instant) {
        while let Some(held) = self.freeing.held.pop_front_if(|held| held.until <= now) {
            for &Share { sm, blocks } in &held.shares {
                self.give_back(sm, &held.demand, held.process, blocks);
            }
            self.changed = true;
        }
    }

    /// Where the head of a queue waits, what comes free next may let it go on.
    pub(in crate::gpu::backend) fn note_next_free<O>(&mut self, context: &mut BackendContext<'_, O>) {
        let Some(until) = self.freeing.held.front().map(|held| held.until) else { return };
        if self.freeing.noted != Some(until) && self.first_head().is_some() {
            context.calendar.complete_at(until, Event::Freed);
            self.freeing.noted = Some(until);
        }
    }
}
