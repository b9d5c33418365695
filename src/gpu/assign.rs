//! Assigning blocks of one kernel, one after another, until all are assigned or none fits: rules R1, R2, R3.

use super::calendar::{Event, Phase};
use super::engine::Gpu;
use super::random::block_duration;
use super::simulation::RunError;
use crate::device::BlockDemand;
use crate::time::Duration;
use crate::trace::NEVER;
use crate::trace::Rule;
use crate::trace::{NO_STRETCH, Part, Wave};
use crate::workload::{OperationId, OperationKind, Placement};
use crate::workload::{Sequence, Start, distribute};

impl Gpu {
    /// Assigns blocks of `operation`. `None`: it is fully dispatched; otherwise the rule that holds its next block.
    pub(super) fn assign_blocks(&mut self, operation: u32) -> Result<Option<Rule>, RunError> {
        let demand = self.demand_of(operation);
        let mut parts = std::mem::take(&mut self.scratch_parts);
        parts.clear();
        let mut total = 0_u32;
        for &sm in self.sms_of(operation) {
            let room = self.sms[usize::from(sm)].room(&demand);
            if room > 0 {
                // At most the block slots of one SM, which a device file limits to 16 bits.
                parts.push(Part { sm, room: u16::try_from(room).unwrap_or(u16::MAX), blocks: 0 });
                total += room;
            }
        }
        let unassigned = self.progress[operation as usize].unassigned;
        let blocks = unassigned.min(total);
        if blocks > 0 {
            self.place(operation, &demand, &mut parts, blocks)?;
        }
        self.scratch_parts = parts;
        Ok((blocks < unassigned).then(|| self.refusal(operation, &demand)))
    }

    /// Places `blocks` blocks, for which the parts have room.
    fn place(&mut self, operation: u32, demand: &BlockDemand, parts: &mut [Part], blocks: u32) -> Result<(), RunError> {
        let OperationKind::Kernel(kernel_id) = self.trace.operations[operation as usize].kind else { return Ok(()) };
        let kernel = &self.trace.kernels[kernel_id.0 as usize];
        let (time, grid) = (kernel.duration, kernel.blocks);
        let first_block = grid - self.progress[operation as usize].unassigned;
        let cursor = self.cursor;
        let mut start = Start { cursor, seed: self.options.seed, operation, first_block };
        let own_times = self.block_times[kernel_id.0 as usize].clone();
        if time.varies() || own_times.is_some() {
            let mut sequence = Sequence::default();
            sequence.choose(self.options.placement, parts, blocks, &mut start);
            self.cursor = start.cursor;
            for (block, &chosen) in (first_block..).zip(&sequence.order) {
                let part = Part { blocks: 1, room: 1, ..parts[chosen as usize] };
                let own = own_times.as_ref().and_then(|times| times.get(block as usize)).copied();
                let duration = own.unwrap_or_else(|| block_duration(self.options.seed, operation, block, time));
                self.start_wave(operation, demand, block, &[part], cursor, duration)?;
            }
        } else {
            distribute(self.options.placement, parts, blocks, &mut start, &mut Sequence::default());
            self.cursor = start.cursor;
            if self.options.placement == Placement::Random {
                self.start_wave(operation, demand, first_block, parts, cursor, time.worst)?;
            } else {
                // Parts that got nothing would not change the order of the others.
                let used = partition_used(parts);
                self.start_wave(operation, demand, first_block, &parts[..used], cursor, time.worst)?;
            }
        }
        let progress = &mut self.progress[operation as usize];
        progress.unassigned -= blocks;
        progress.running += blocks;
        let is_last = progress.unassigned == 0;
        let record = &mut self.trace.operations[operation as usize];
        if record.first_start == NEVER {
            record.first_start = self.now;
        }
        if is_last {
            record.last_start = self.now;
        }
        Ok(())
    }

    /// Takes the resources, records the wave and enters its end in the calendar.
    fn start_wave(
        &mut self,
        operation: u32,
        demand: &BlockDemand,
        first_block: u32,
        parts: &[Part],
        cursor: u32,
        duration: Duration,
    ) -> Result<(), RunError> {
        for part in parts {
            self.sms[usize::from(part.sm)].take(demand, u32::from(part.blocks));
        }
        let wave = Wave {
            operation,
            first_block,
            blocks: parts.iter().map(|part| u32::from(part.blocks)).sum(),
            parts: self.trace.add_parts(parts)?,
            cursor,
            stretch: NO_STRETCH,
            start: self.now,
            duration,
        };
        let end = self.now.checked_add(duration).ok_or(RunError::TimeOverflow { operation: OperationId(operation) })?;
        let index = self.trace.add_wave(wave)?;
        let sequence = self.next_sequence();
        self.calendar.push(Event::Wave(index), end, Phase::Completion, sequence);
        Ok(())
    }

    /// Why not even one further block fits: the first rule that every SM breaks, after giving each SM the benefit of
    /// the rules before it.
    fn refusal(&self, operation: u32, demand: &BlockDemand) -> Rule {
        self.sms_of(operation)
            .iter()
            .filter_map(|&sm| self.sms[usize::from(sm)].refusal(demand))
            .max()
            .unwrap_or(Rule::R2)
    }
}

/// Moves parts that got blocks to the front, keeping their order; gives their number.
fn partition_used(parts: &mut [Part]) -> usize {
    let mut used = 0;
    for index in 0..parts.len() {
        if parts[index].blocks > 0 {
            parts.swap(used, index);
            used += 1;
        }
    }
    used
}
