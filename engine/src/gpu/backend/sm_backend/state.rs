//! The state of SMs and copy engines, for comparison.

use std::collections::BTreeSet;

use super::{RunningKernel, RunningWave, Share, SmBackend, Standing};
use crate::canonical::Canonical;
use crate::gpu::calendar::{Calendar, Event};
use crate::time::Instant;
use crate::workload::{OperationId, Part, Placement};

impl SmBackend {
    /// Writes the state with what is in its calendar, as seen at `now`, at which both stand still or go on.
    pub(in crate::gpu) fn write_state(&self, now: Instant, calendar: &Calendar, to: &mut Canonical) {
        let Self {
            placement,
            // Given.
            seed: _,
            may_skip_cycles: _,
            empty: _,
            uncounted: _,
            levels: _,
            queued: _,
            lone_from: _,
            cluster_groups: _,
            sms,
            registers,
            freeing,
            ee_queues,
            copy_engines,
            kernels,
            free_kernels,
            // Each that runs has an event in the calendar, or stands.
            waves: _,
            free_waves: _,
            cursor,
            skip_attempt,
            changed,
            copies_changed,
            standing,
            synchronized,
            triggers,
            clients,
            block_times,
            // Room to work in.
            order: _,
            scratch_parts: _,
            scratch_running: _,
            scratch_period: _,
            scratch_heads: _,
        } = self;
        if *placement == Placement::Random || !synchronized.is_empty() {
            // Choices depend on the numbers of operations; what blocks wait for may grow without an end.
            to.is_like_no_other();
        }
        to.list(sms, Canonical::value);
        registers.write_state(to);
        freeing.write_state(to);
        to.list(ee_queues, |to, queue| queue.write_state(to, |place| self.operation_at(place)));
        to.list(copy_engines, |to, engine| engine.write_state(now, to));
        let free: BTreeSet<u32> = free_kernels.iter().copied().collect();
        let running = (0..).zip(kernels).filter(|(place, _)| !free.contains(place)).map(|(_, kernel)| kernel);
        let mut running: Vec<&RunningKernel> = running.collect();
        running.sort_unstable_by_key(|kernel| kernel.operation);
        // It is about one kernel, and makes no difference once that has gone.
        let attempt = Some(*skip_attempt).filter(|(tried, _)| running.iter().any(|one| one.operation == *tried));
        to.optional(attempt, |to, (operation, unassigned)| {
            to.operation(operation.0);
            to.number(unassigned);
        });
        to.list(running, write_kernel);
        to.value((cursor, changed, copies_changed));
        to.list(standing, |to, standing| self.write_standing(standing, to));
        to.list(triggers, |to, (operation, at)| {
            to.operation(operation.0);
            to.instant(*at);
        });
        to.optional(clients.as_ref(), |to, clients| clients.write_state(to));
        block_times.write_state(to);
        calendar.write_state(now, to, |to, event| self.write_event(event, to));
    }

    /// Writes which block time is drawn next.
    pub(in crate::gpu) fn write_drawn(&self, to: &mut Canonical) {
        self.block_times.write_state(to);
    }

    fn operation_at(&self, place: u32) -> OperationId {
        self.kernels[place as usize].operation
    }

    fn write_event(&self, event: Event, to: &mut Canonical) {
        match event {
            Event::Wave(place) | Event::TimedWave(place) => {
                to.number(matches!(event, Event::TimedWave(_)));
                self.write_wave(&self.waves[place as usize], to);
            }
            Event::Point(_) | Event::Copy(_) | Event::Context | Event::Turn | Event::Freed => {
                to.number(2_u64);
                to.value(event);
            }
        }
    }

    fn write_wave(&self, wave: &RunningWave, to: &mut Canonical) {
        let RunningWave { kernel, blocks, first, others } = wave;
        to.operation(self.operation_at(*kernel).0);
        to.number(*blocks);
        to.list(std::iter::once(first).chain(others), |to, &Share { sm, blocks }| to.value((sm, blocks)));
    }

    fn write_standing(&self, standing: &Standing, to: &mut Canonical) {
        let Standing { kernel, place, sequence, block, start, run, parts } = standing;
        to.operation(self.operation_at(*kernel).0);
        self.write_wave(&self.waves[*place as usize], to);
        to.begun(*sequence);
        to.value(block);
        to.instant(*start);
        to.duration(*run);
        to.list(parts, |to, &Part { sm, room, blocks }| to.value((sm, room, blocks)));
    }
}

fn write_kernel(to: &mut Canonical, kernel: &RunningKernel) {
    let RunningKernel {
        operation,
        kernel,
        stream,
        // What is known of the kernel and of the stream.
        process: _,
        demand: _,
        duration: _,
        is_timed: _,
        blocks: _,
        programmatic: _,
        synchronizes: _,
        is_cooperative: _,
        // As long as it makes a difference, so do the blocks that wait.
        arrived: _,
        unassigned,
        running,
        released,
        triggered,
        untriggered,
    } = *kernel;
    to.operation(operation.0);
    to.value((kernel, stream, unassigned, running, untriggered));
    // Whoever begins after that does not stand.
    to.optional(released, Canonical::future);
    // Until one has it is 0.
    to.optional((triggered > Instant::ZERO).then_some(triggered), Canonical::instant);
}
