//! What happened, compactly: it grows with events, not with blocks.

use thiserror::Error;

use super::operation::OperationRecord;
use super::rule::Rule;
use super::waits::Wait;
use super::wave::{NO_STRETCH, Stretch, Wave};
use crate::time::Instant;
use crate::workload::{Copy, Kernel, OperationId, OperationKind, Part, Placement, StreamSpec};

/// More waves than 32 bits count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the run is too long to record: more than 2^32 waves of blocks")]
pub struct TraceFull;

/// The record of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    sms: u32,
    pub(crate) placement: Placement,
    pub(crate) seed: u64,
    pub(crate) end: Instant,
    pub(crate) streams: Vec<StreamSpec>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) copies: Vec<Copy>,
    pub(crate) operations: Vec<OperationRecord>,
    pub(crate) waves: Vec<Wave>,
    pub(crate) parts: Vec<Part>,
    pub(crate) stretches: Vec<Stretch>,
    /// Waits that cannot be told from the instants of an operation, sorted by operation once the run is over.
    pub(crate) waits: Vec<(u32, Wait)>,
    /// For each operation, where its waves begin in `waves_by_operation`; filled once the run is over.
    pub(crate) first_wave: Vec<u32>,
    pub(crate) waves_by_operation: Vec<u32>,
}

impl Trace {
    pub(crate) fn new(sms: u32, placement: Placement, seed: u64) -> Self {
        Self {
            sms,
            placement,
            seed,
            end: Instant::ZERO,
            streams: Vec::new(),
            kernels: Vec::new(),
            copies: Vec::new(),
            operations: Vec::new(),
            waves: Vec::new(),
            parts: Vec::new(),
            stretches: Vec::new(),
            waits: Vec::new(),
            first_wave: Vec::new(),
            waves_by_operation: Vec::new(),
        }
    }

    /// Makes room for `launches` kernel launches of one wave each.
    pub(crate) fn reserve(&mut self, launches: usize) {
        self.operations.reserve(launches);
        self.waves.reserve(launches);
        self.parts.reserve(launches.saturating_mul(self.sms as usize));
    }

    /// Forgets what happened.
    pub(crate) fn clear(&mut self) {
        self.end = Instant::ZERO;
        self.operations.clear();
        self.waves.clear();
        self.parts.clear();
        self.stretches.clear();
        self.waits.clear();
        self.first_wave.clear();
        self.waves_by_operation.clear();
    }

    /// Forgets kernels and copies.
    pub(crate) fn forget_work(&mut self) {
        self.kernels.clear();
        self.copies.clear();
    }

    /// SMs of the device.
    #[must_use]
    pub fn sms(&self) -> u32 {
        self.sms
    }

    /// The policy by which blocks were placed.
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.placement
    }

    /// The last instant at which something happened, or the horizon if the run ended there.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.end
    }

    /// All streams; number 0 is the NULL stream.
    #[must_use]
    pub fn streams(&self) -> &[StreamSpec] {
        &self.streams
    }

    /// All kernels that were made known.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// All copies that were made known.
    #[must_use]
    pub fn copies(&self) -> &[Copy] {
        &self.copies
    }

    /// All operations, in launch order (G1).
    #[must_use]
    pub fn operations(&self) -> &[OperationRecord] {
        &self.operations
    }

    /// Number of waves recorded, each one instant at which blocks of one kernel were assigned (stretches once).
    #[must_use]
    pub fn waves(&self) -> usize {
        self.waves.len()
    }

    /// The kernel of a kernel launch; `None` for copies, memsets and unknown operations.
    #[must_use]
    pub fn kernel_of(&self, operation: OperationId) -> Option<&Kernel> {
        match self.operations.get(operation.0 as usize)?.kind {
            OperationKind::Kernel(kernel) => self.kernels.get(kernel.0 as usize),
            _ => None,
        }
    }

    pub(crate) fn add_parts(&mut self, parts: &[Part]) -> Result<(u32, u32), TraceFull> {
        let first = u32::try_from(self.parts.len()).map_err(|_| TraceFull)?;
        let count = u32::try_from(parts.len()).map_err(|_| TraceFull)?;
        self.parts.extend_from_slice(parts);
        first.checked_add(count).map(|_| (first, count)).ok_or(TraceFull)
    }

    pub(crate) fn add_wave(&mut self, wave: Wave) -> Result<u32, TraceFull> {
        let index = u32::try_from(self.waves.len()).map_err(|_| TraceFull)?;
        self.waves.push(wave);
        Ok(index)
    }

    pub(crate) fn next_stretch(&self) -> Result<u32, TraceFull> {
        u32::try_from(self.stretches.len()).ok().filter(|&next| next != NO_STRETCH).ok_or(TraceFull)
    }

    pub(crate) fn note_wait(&mut self, operation: u32, rule: Rule, from: Instant, to: Instant) {
        if from < to {
            self.waits.push((operation, Wait { rule, from, to }));
        }
    }
}

impl Trace {
    /// Ends the record at `end` and builds its indexes.
    pub(crate) fn index(&mut self, end: Instant) {
        self.end = end;
        self.waits.sort_by_key(|(operation, _)| *operation);

        // Where each operation's waves end, then, filled from the end, where they begin.
        let operations = self.operations.len();
        self.first_wave.clear();
        self.first_wave.resize(operations + 1, 0);
        for wave in &self.waves {
            self.first_wave[wave.operation as usize] += 1;
        }
        let mut end = 0;
        for first in &mut self.first_wave {
            end += *first;
            *first = end;
        }
        self.waves_by_operation.clear();
        self.waves_by_operation.resize(self.waves.len(), 0);
        // Waves are counted with 32 bits.
        for (index, wave) in self.waves.iter().enumerate().rev() {
            let first = &mut self.first_wave[wave.operation as usize];
            *first -= 1;
            self.waves_by_operation[*first as usize] = u32::try_from(index).unwrap_or(u32::MAX);
        }
    }
}
