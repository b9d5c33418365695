//! Assigning clusters of blocks, each whole or not at all, to SMs of one GPC.

use super::BackendContext;
use super::sm_backend::SmBackend;
use crate::gpu::error::RunError;
use crate::proven::Proven;
use crate::trace::Observer;
use crate::trace::Rule;
use crate::workload::{Clusters, Part};

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
                let duration = self.block_duration(&kernel, block, context);
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
