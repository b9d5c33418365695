//! Did the blocks of a cluster begin together, each on an SM of its own of one GPC?

use super::case::Case;
use super::finding::{AuditRule, Finding};
use super::observation::{ObservedKernel, ObservedOperation};
use crate::device::Device;
use crate::limits::count_turn;
use crate::logs::LoggedBlock;
use crate::workload::Clusters;

/// Checks each cluster of which all blocks were seen.
pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    if case.observation.virtual_sms {
        return;
    }
    let groups = Groups::of(&case.observation.device);
    let tolerance = case.clocks.tolerances.one_clock_ns;
    for operation in &case.observation.operations {
        let Some(kernel) = operation.kernel() else { continue };
        let Some(clusters) = kernel.clusters else { continue };
        let blocks: Vec<LoggedBlock> = kernel.blocks.iter().collect();
        let is_together = |blocks: &[LoggedBlock]| {
            let times = || blocks.iter().map(|block| block.start_ns);
            let apart = times().max().zip(times().min()).map_or(0, |(last, first)| last.since(first));
            apart <= tolerance && groups.are_of_one(blocks)
        };
        for (first, whole) in (0..).step_by(clusters.size as usize).zip(blocks.chunks(clusters.size as usize)) {
            if whole.len() == clusters.size as usize && is_together(whole) {
                continue;
            }
            let least = clusters.least() as usize;
            for (place, cluster) in (first..).step_by(least).zip(whole.chunks(least)) {
                let lacks_some = cluster.len() < least;
                // Of a kernel that a log has in part nobody knows which blocks it lacks.
                if lacks_some && !case.clocks.ordered || !lacks_some && is_together(cluster) {
                    continue;
                }
                findings.push(finding(operation, clusters, place, cluster));
            }
        }
    }
}

fn finding(operation: &ObservedOperation, clusters: Clusters, first: usize, cluster: &[LoggedBlock]) -> Finding {
    let sms: Vec<String> = cluster.iter().map(|block| block.sm.to_string()).collect();
    Finding {
        rule: AuditRule::Cluster,
        kernel: operation.name.clone(),
        block: Some(first),
        sm: cluster.first().map(|block| block.sm),
        at_ns: cluster.first().map_or(crate::logs::LogTime::MIN, |block| block.start_ns),
        by: u64::from(clusters.least()),
        unit: "blocks",
        what: format!(
            "a cluster of {} blocks did not begin at one time on as many SMs of one GPC; they are on {}",
            clusters.least(),
            sms.join(", ")
        ),
    }
}

/// Which lone TPC or GPC each SM is of.
pub(super) struct Groups {
    /// By number: the SMs, ascending.
    pub(super) sms: Vec<Vec<u32>>,
    pub(super) of_sm: Vec<Option<usize>>,
}

impl Groups {
    pub(super) fn of(device: &Device) -> Self {
        let mut sms = device.cluster_groups();
        let mut of_sm = vec![None; device.sms as usize];
        for (number, group) in sms.iter_mut().enumerate() {
            group.sort_unstable();
            for &sm in &*group {
                if let Some(of_sm) = of_sm.get_mut(sm as usize) {
                    *of_sm = Some(number);
                }
            }
        }
        Self { sms, of_sm }
    }

    /// Whether blocks are on different SMs of one GPC or lone TPC.
    fn are_of_one(&self, blocks: &[LoggedBlock]) -> bool {
        let group = |block: &LoggedBlock| self.of_sm.get(block.sm as usize).copied().flatten();
        let first = blocks.first().and_then(group);
        let mut sms: Vec<u32> = blocks.iter().map(|block| block.sm).collect();
        sms.sort_unstable();
        sms.dedup();
        sms.len() == blocks.len() && first.is_some() && blocks.iter().all(|block| group(block) == first)
    }

    /// The SMs that the clusters of the blocks from `first` on get, as far as there is room: a cluster for each group
    /// in turn, on those SMs of it that have room for most. `rooms` is for how many blocks each SM has room.
    pub(super) fn deal(
        &self,
        kernel: &ObservedKernel,
        clusters: Clusters,
        first: u32,
        rooms: &[(u32, i64)],
    ) -> Vec<u32> {
        let mut left: Vec<i64> = vec![0; self.of_sm.len()];
        for &(sm, room) in rooms {
            if let Some(left) = left.get_mut(sm as usize) {
                *left = room;
            }
        }
        let (mut order, mut block, mut turn) = (Vec::new(), first, 0);
        while block < kernel.grid {
            count_turn();
            let sizes = [Some(clusters.size).filter(|size| block.is_multiple_of(*size)), clusters.fallback];
            let best = sizes.into_iter().flatten().find_map(|size| {
                let mut places = (turn..self.sms.len()).chain(0..turn.min(self.sms.len()));
                places.find_map(|place| Some((place, fullest_first(&self.sms[place], &left, size as usize)?)))
            });
            let Some((place, chosen)) = best else { break };
            turn = place + 1;
            for sm in chosen {
                left[sm as usize] -= 1;
                order.push(sm);
                block += 1;
            }
        }
        order
    }
}

/// So many SMs with room, those with most of it first; `None` if there are fewer.
fn fullest_first(sms: &[u32], left: &[i64], size: usize) -> Option<Vec<u32>> {
    let mut with_room: Vec<u32> = sms.iter().copied().filter(|sm| left[*sm as usize] > 0).collect();
    // Of equals the lowest, which stand first.
    crate::sorted::sort_by_key(&mut with_room, |sm| -left[*sm as usize]);
    (with_room.len() >= size).then(|| with_room[..size].to_vec())
}
