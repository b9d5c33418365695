//! Clusters of blocks: which SMs the next one gets.

use gpusched::device::{Device, SmNumbering};
use gpusched::workload::{Clusters, OperationKind};

use super::gpu::ReferenceGpu;
use super::resources::{Free, Need};

impl ReferenceGpu<'_> {
    pub(super) fn clusters(&self, operation: usize) -> Option<Clusters> {
        match self.operations[operation].kind {
            OperationKind::Kernel(kernel) => self.scenario.kernels()[kernel.index()].clusters(),
            _ => None,
        }
    }

    /// Whether SMs have room for a block of a kernel, and no GPC for a cluster.
    pub(super) fn waits_for_a_gpc(&self, operation: usize, free: &[Free], need: &Need, allowed: &[bool]) -> bool {
        let Some(clusters) = self.clusters(operation) else { return false };
        if !free.iter().zip(allowed).any(|(sm, &ok)| ok && sm.fits(need)) {
            return false;
        }
        let size = clusters.fallback.unwrap_or(clusters.size);
        assert!(!has_room(self.scenario.device(), size, free, need, allowed), "a cluster that fits does not wait");
        true
    }
}

/// The SMs of all clusters that can begin now, in the order of their blocks, of which `first` is the next one.
pub(super) fn deal_clusters(
    device: &Device,
    clusters: Clusters,
    (first, blocks): (usize, usize),
    free: &[Free],
    need: &Need,
    allowed: &[bool],
) -> Vec<usize> {
    let groups = groups(device);
    let mut rooms: Vec<u64> = (0..free.len()).map(|sm| if allowed[sm] { free[sm].room(need) } else { 0 }).collect();
    let mut order = Vec::new();
    let mut turn = 0;
    'clusters: while first + order.len() < blocks {
        let next = first + order.len();
        let mut sizes = Vec::new();
        if next % clusters.size as usize == 0 {
            sizes.push(clusters.size as usize);
        }
        sizes.extend(clusters.fallback.map(|fallback| fallback as usize));
        for size in sizes {
            for step in 0..groups.len() {
                let number = (turn + step) % groups.len();
                let Some(sms) = cluster(&groups[number], size, &rooms) else { continue };
                for &sm in &sms {
                    rooms[sm] -= 1;
                }
                order.extend(sms);
                turn = number + 1;
                continue 'clusters;
            }
        }
        break;
    }
    order
}

/// Whether a cluster of so many blocks has room somewhere.
fn has_room(device: &Device, size: u32, free: &[Free], need: &Need, allowed: &[bool]) -> bool {
    let rooms: Vec<u64> = (0..free.len()).map(|sm| if allowed[sm] { free[sm].room(need) } else { 0 }).collect();
    groups(device).iter().any(|group| cluster(group, size as usize, &rooms).is_some())
}

/// `size` different SMs of a group: time and again the one with the most room that is not taken yet, of equals the
/// lowest.
fn cluster(group: &[usize], size: usize, rooms: &[u64]) -> Option<Vec<usize>> {
    let mut taken: Vec<usize> = Vec::new();
    while taken.len() < size {
        let mut best: Option<usize> = None;
        for &sm in group {
            let is_better = match best {
                None => true,
                Some(best) => rooms[sm] > rooms[best] || (rooms[sm] == rooms[best] && sm < best),
            };
            if rooms[sm] > 0 && !taken.contains(&sm) && is_better {
                best = Some(sm);
            }
        }
        taken.push(best?);
    }
    Some(taken)
}

/// Lone TPCs, and then GPCs.
fn groups(device: &Device) -> Vec<Vec<usize>> {
    let gpcs = device.gpcs.as_ref().expect("clusters need GPCs");
    let sms_of = |tpc: u32| {
        let sms = tpc * device.sms_per_tpc..(tpc + 1) * device.sms_per_tpc;
        sms.filter(|&sm| sm < device.sms).map(|sm| sm as usize).collect::<Vec<_>>()
    };
    let mut of_gpcs: Vec<Vec<usize>> = vec![Vec::new(); gpcs.tpcs.len()];
    let mut tpc = 0;
    match gpcs.numbering {
        SmNumbering::Consecutive => {
            for (gpc, &count) in gpcs.tpcs.iter().enumerate() {
                for _ in 0..count {
                    of_gpcs[gpc].extend(sms_of(tpc));
                    tpc += 1;
                }
            }
        }
        SmNumbering::Striped => {
            for round in 0..gpcs.tpcs.iter().copied().max().unwrap_or(0) {
                for (gpc, &count) in gpcs.tpcs.iter().enumerate() {
                    if round < count {
                        of_gpcs[gpc].extend(sms_of(tpc));
                        tpc += 1;
                    }
                }
            }
        }
    }
    let lone = (tpc..tpc + gpcs.lone_tpcs).map(sms_of);
    lone.chain(of_gpcs).collect()
}
