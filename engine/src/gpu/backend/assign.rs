//! Assigning blocks of one kernel, one after another, until all are assigned or none fits: rules R1, R2, R3; and
//! clusters of blocks.

use super::BackendContext;
use super::sm_backend::{RunningKernel, RunningWave, SmBackend, Standing, next_place};
use crate::effort;
use crate::effort::{Counted, EarlyEnd};
use crate::gpu::host::{RunError, SubmitError};
use crate::proven::Proven;
use crate::time::Duration;
use crate::trace::{NewWave, Observer, Rule};
use crate::workload::{Clusters, KernelId, OperationId, Part, Placement, Start, distribute};

impl SmBackend {
    /// Assigns blocks of the kernel at place `head`. `None`: it is fully dispatched; otherwise the rule that holds its
    /// next block.
    pub(super) fn assign_blocks<O: Observer>(
        &mut self,
        head: u32,
        context: &mut BackendContext<'_, O>,
    ) -> Result<Option<Rule>, RunError> {
        let RunningKernel { operation, kernel, stream, process, demand, duration, blocks: all, unassigned, .. } =
            self.kernels[head as usize];
        if duration.is_none()
            && let Some(clusters) = context.catalogue.kernels()[kernel.index()].clusters()
        {
            return self.assign_clusters(head, clusters, context);
        }
        let sms = context.catalogue.sms_of(kernel, stream);
        self.count_shares(sms.len())?;
        let mut parts = std::mem::take(&mut self.scratch_parts);
        parts.clear();
        let mut total = 0_u32;
        for &sm in sms {
            let room = self.room(sm, &demand);
            if room > 0 {
                let room = u16::try_from(room).proven("a device has at most 65,535 block slots on an SM");
                parts.push(Part { sm, room, blocks: 0 });
                total += u32::from(room);
            }
        }
        let mut at_limit = false;
        let together = self.kernels[head as usize].is_cooperative;
        if self.clients.is_some() {
            let start = self.start_of(operation, all - unassigned);
            if let Some(clients) = &mut self.clients {
                at_limit = clients.restrict(process, self.placement, &start, &mut parts);
            }
            total = parts.iter().map(|part| u32::from(part.room)).sum();
        }
        let blocks = if together && total < unassigned { 0 } else { unassigned.min(total) };
        if blocks > 0 {
            self.place(head, &mut parts, blocks, context)?;
        }
        self.scratch_parts = parts;
        if blocks == unassigned {
            return Ok(None);
        }
        if at_limit {
            return Ok(Some(Rule::Mps));
        }
        if together && total > 0 {
            return Ok(Some(Rule::Cooperative));
        }
        // Why not even one further block fits: the first rule that every SM breaks, after giving each SM the benefit
        // of the rules before it.
        let refusals = sms.iter().filter_map(|&sm| self.refusal(sm, &demand));
        Ok(Some(refusals.max().unwrap_or(Rule::R2)))
    }

    /// Where the choices of a wave begin.
    pub(super) fn start_of(&self, operation: OperationId, first_block: u32) -> Start {
        let Self { cursor, seed, lone_from, .. } = *self;
        Start { cursor, seed, operation: operation.0, first_block, lone_from }
    }

    /// Places `blocks` blocks, for which the parts have room.
    fn place<O: Observer>(
        &mut self,
        head: u32,
        parts: &mut [Part],
        blocks: u32,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        let RunningKernel { operation, kernel, duration, blocks: all, unassigned, .. } = self.kernels[head as usize];
        let first_block = all - unassigned;
        let cursor = self.cursor;
        let mut start = self.start_of(operation, first_block);
        if let Some(duration) = duration {
            distribute(self.placement, parts, blocks, &mut start, &mut self.order);
            self.cursor = start.cursor;
            // Parts that got nothing would not change the order of the others, unless it is random.
            let used = if self.placement == Placement::Random { parts.len() } else { partition_used(parts) };
            self.start_wave(head, (first_block, blocks), &parts[..used], cursor, duration, context)?;
        } else {
            let mut order = std::mem::take(&mut self.order);
            order.begin_choosing(self.placement, parts, blocks, &mut start);
            self.cursor = start.cursor;
            for block in first_block..first_block + blocks {
                let Some(chosen) = order.next(parts) else { break };
                let part = Part { blocks: 1, room: 1, ..parts[chosen as usize] };
                let duration = self.block_duration((operation, kernel), block, context);
                self.start_wave(head, (block, 1), &[part], cursor, duration, context)?;
            }
            self.order = order;
        }
        self.note_assigned(head, first_block, blocks, context);
        Ok(())
    }

    /// How long a block runs, where not all blocks of its kernel start as waves of equal ones.
    pub(super) fn block_duration<O>(
        &mut self,
        (operation, kernel): (OperationId, KernelId),
        block: u32,
        context: &BackendContext<'_, O>,
    ) -> Duration {
        let own_times = context.catalogue.block_times(kernel);
        let own = own_times.and_then(|times| times.get(block as usize)).copied();
        let time = context.catalogue.kernels()[kernel.index()].duration;
        own.unwrap_or_else(|| if time.varies() { self.block_times.draw(operation, block, time) } else { time.worst })
    }

    /// So many blocks of a kernel are assigned, from `first_block` on.
    pub(super) fn note_assigned<O: Observer>(
        &mut self,
        head: u32,
        first_block: u32,
        blocks: u32,
        context: &mut BackendContext<'_, O>,
    ) {
        let running = &mut self.kernels[head as usize];
        running.unassigned -= blocks;
        running.running += blocks;
        let (operation, unassigned) = (running.operation, running.unassigned);
        if first_block == 0 {
            context.observer.dispatched(operation, context.now);
        }
        if unassigned == 0 {
            context.observer.fully_dispatched(operation, context.now);
            self.note_trigger(head);
        }
    }

    /// A wave on so many SMs, or a look at them, is work too: one instant may have any number of them.
    #[inline]
    fn count_shares(&mut self, parts: usize) -> Result<(), RunError> {
        /// What a wave costs on no SM, and how much of it costs as much as an instant without.
        const SHARES: [u64; 2] = [16, 64];
        /// Shares between two looks at the limits.
        const BETWEEN_LOOKS: u64 = 64 * SHARES[1];
        self.uncounted += SHARES[0] + parts as u64;
        if self.uncounted < BETWEEN_LOOKS {
            return Ok(());
        }
        let instants = std::mem::take(&mut self.uncounted) / SHARES[1];
        match effort::spend(Counted::Blocks, instants) {
            Err(over @ EarlyEnd::TooMuch { .. }) => Err(SubmitError::from(over).into()),
            _ => Ok(()),
        }
    }

    /// Takes the resources, tells of the wave and enters its end in the calendar.
    pub(super) fn start_wave<O: Observer>(
        &mut self,
        head: u32,
        (first_block, blocks): (u32, u32),
        parts: &[Part],
        cursor: u32,
        duration: Duration,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        self.count_shares(parts.len())?;
        let RunningKernel { operation, process, demand, .. } = self.kernels[head as usize];
        for part in parts {
            self.sms[usize::from(part.sm)].take(&demand, u32::from(part.blocks));
            self.registers.take(part.sm, &demand, part.blocks.into());
        }
        if let Some(clients) = &mut self.clients {
            for part in parts {
                clients.take(process, part.sm, part.blocks);
            }
        }
        let place = self.free_waves.pop().unwrap_or_else(|| {
            self.waves.push(RunningWave::default());
            next_place(self.waves.len() - 1)
        });
        self.waves[place as usize].renew(head, blocks, parts);
        let (start, run) = (context.now, duration);
        if self.kernels[head as usize].synchronizes {
            self.begin_synchronized((head, place), (first_block, blocks, cursor), run, parts, context);
            return Ok(());
        }
        let Some(stood) = self.stands(head, start, run) else {
            let sequence = context.calendar.begin();
            let block = (first_block, blocks, cursor);
            self.stand(head, Standing { kernel: head, place, sequence, block, start, run, parts: parts.to_vec() });
            return Ok(());
        };
        self.count_trigger(head, start, run, stood);
        let overflow = RunError::TimeOverflow { operation };
        let duration = run.checked_add(stood).ok_or(overflow)?;
        let end = start.checked_add(duration).ok_or(overflow)?;
        let wave = NewWave { operation, first_block, blocks, cursor, start: context.now, duration };
        context.observer.wave(&wave, parts)?;
        context.calendar.complete_at(end, self.kernels[head as usize].end_of_wave(place));
        Ok(())
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

// Assigning clusters of blocks, each whole or not at all, to SMs of one GPC.

impl SmBackend {
    /// Assigns clusters of the kernel at place `head`, one a lone TPC or GPC a turn, as long as one has room. `None`:
    /// it is fully dispatched; otherwise the rule that holds its next cluster.
    pub(super) fn assign_clusters<O: Observer>(
        &mut self,
        head: u32,
        clusters: Clusters,
        context: &mut BackendContext<'_, O>,
    ) -> Result<Option<Rule>, RunError> {
        let kernel = self.kernels[head as usize];
        let first_block = kernel.blocks - kernel.unassigned;
        let sms = context.catalogue.sms_of(kernel.kernel, kernel.stream);
        let mut rooms = vec![0; self.sms.len()];
        for &sm in sms {
            rooms[usize::from(sm)] = self.room(sm, &kernel.demand);
        }
        let groups = std::mem::take(&mut self.cluster_groups);
        let (mut next, mut turn, mut chosen) = (first_block, 0, Vec::new());
        let mut assigned = Ok(());
        while next < kernel.blocks && assigned.is_ok() {
            let found = clusters.sizes_at(next).find_map(|size| next_group(&groups, turn, size, &rooms, &mut chosen));
            let Some(group) = found else { break };
            turn = group + 1;
            for (block, &sm) in (next..).zip(&chosen) {
                rooms[usize::from(sm)] -= 1;
                let part = Part { sm, room: 1, blocks: 1 };
                let duration = self.block_duration((kernel.operation, kernel.kernel), block, context);
                let cursor = self.cursor;
                assigned =
                    assigned.and_then(|()| self.start_wave(head, (block, 1), &[part], cursor, duration, context));
            }
            next += u32::try_from(chosen.len()).proven("a cluster has no more blocks than its grid");
        }
        self.cluster_groups = groups;
        assigned?;
        if next > first_block {
            self.note_assigned(head, first_block, next - first_block, context);
        }
        if next == kernel.blocks {
            return Ok(None);
        }
        if rooms.iter().any(|&room| room > 0) {
            return Ok(Some(Rule::Cluster));
        }
        let refusals = sms.iter().filter_map(|&sm| self.refusal(sm, &kernel.demand));
        Ok(Some(refusals.max().unwrap_or(Rule::Cluster)))
    }
}

/// The first lone TPC or GPC from `turn` on, round about, of which `size` SMs have room for a block; `chosen` are those
/// of them that have room for the most blocks, and of equals the lowest.
fn next_group(groups: &[Vec<u16>], turn: usize, size: u32, rooms: &[u32], chosen: &mut Vec<u16>) -> Option<usize> {
    let size = size as usize;
    let place = (0..groups.len()).map(|place| (turn + place) % groups.len()).find(|&place| {
        chosen.clear();
        chosen.extend(groups[place].iter().filter(|sm| rooms[usize::from(**sm)] > 0));
        chosen.len() >= size
    })?;
    chosen.sort_unstable_by_key(|&sm| (std::cmp::Reverse(rooms[usize::from(sm)]), sm));
    chosen.truncate(size);
    Some(place)
}
