//! Which SM gets the next block.

use gpusched::device::{Device, SmNumbering, SmOrder};
use gpusched::workload::Placement;

use super::resources::{Free, Need};

/// The SM for one block, among those `allowed` on which it fits.
pub(super) fn choose(
    placement: Placement,
    device: &Device,
    free: &[Free],
    need: &Need,
    allowed: &[bool],
    last_used: Option<usize>,
) -> Option<usize> {
    let fits = |sm: usize| allowed[sm] && free[sm].fits(need);
    let sms = free.len();
    match placement {
        Placement::MostRoom => {
            let mut best: Option<usize> = None;
            for sm in preference(device).into_iter().filter(|&sm| fits(sm)) {
                if best.is_none_or(|best| free[sm].room(need) > free[best].room(need)) {
                    best = Some(sm);
                }
            }
            best
        }
        Placement::RoundRobin => {
            let first = last_used.map_or(0, |last| last + 1);
            (0..sms).map(|step| (first + step) % sms).find(|&sm| fits(sm))
        }
        // What is dealt is dealt before; see `deal`.
        Placement::Gpc | Placement::GpcMostRoom => {
            let mut best: Option<usize> = None;
            for sm in gpc_by_gpc(device).into_iter().filter(|&sm| fits(sm)) {
                if best.is_none_or(|best| free[sm].room(need) > free[best].room(need)) {
                    best = Some(sm);
                }
            }
            best
        }
        // Of random placement an adversary picks one, or it does not matter which.
        Placement::LowestId | Placement::Random => (0..sms).find(|&sm| fits(sm)),
    }
}

/// Whether the blocks from `block` on are dealt by levels.
pub(super) fn is_dealt(placement: Placement, block: usize) -> bool {
    placement == Placement::Gpc || (placement == Placement::GpcMostRoom && block == 0)
}

/// The SMs for up to `blocks` blocks, in the order in which these get them. `may_take` says how many each SM takes.
pub(super) fn deal(device: &Device, blocks: usize, may_take: &[u64]) -> Vec<usize> {
    let sms = device.sms as usize;
    let lone = lone(device);
    let mut counts = vec![0_u64; sms];
    let mut left = blocks;
    let mut one_more = true;
    while one_more && left > 0 {
        one_more = false;
        let full_levels = counts.iter().max().copied().unwrap_or(0);
        let level = (0..sms).filter(|&sm| counts[sm] < may_take[sm]).map(|sm| counts[sm]).min().unwrap_or(full_levels);
        for sm in (sms - lone..sms).chain(0..sms - lone) {
            if left > 0 && counts[sm] == level && counts[sm] < may_take[sm] {
                counts[sm] += 1;
                left -= 1;
                one_more = true;
            }
        }
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    let levels = 0..most;
    levels
        .flat_map(|level| gpc_by_gpc(device).into_iter().filter(|&sm| counts[sm] > level).collect::<Vec<_>>())
        .collect()
}

/// SMs of lone TPCs.
fn lone(device: &Device) -> usize {
    let tpcs = device.sms.div_ceil(device.sms_per_tpc);
    let first = device.gpcs.as_ref().map_or(tpcs, |gpcs| tpcs - gpcs.lone_tpcs);
    (device.sms - (first * device.sms_per_tpc).min(device.sms)) as usize
}

/// Lone TPCs, then the SMs of each GPC.
fn gpc_by_gpc(device: &Device) -> Vec<usize> {
    let sms = device.sms as usize;
    let Some(gpcs) = &device.gpcs else { return (0..sms).collect() };
    let mut of_tpcs: Vec<Vec<usize>> = vec![Vec::new(); gpcs.tpcs.len()];
    let mut tpc = 0;
    match gpcs.numbering {
        SmNumbering::Striped => {
            for round in 0..100 {
                for (gpc, &size) in gpcs.tpcs.iter().enumerate() {
                    if round < size {
                        of_tpcs[gpc].push(tpc);
                        tpc += 1;
                    }
                }
            }
        }
        SmNumbering::Consecutive => {
            for (gpc, &size) in gpcs.tpcs.iter().enumerate() {
                for _ in 0..size {
                    of_tpcs[gpc].push(tpc);
                    tpc += 1;
                }
            }
        }
    }
    let lone_tpcs = (tpc..device.sms.div_ceil(device.sms_per_tpc) as usize).collect::<Vec<_>>();
    let per_tpc = device.sms_per_tpc as usize;
    let of_tpc = |tpc: usize| (tpc * per_tpc..(tpc + 1) * per_tpc).filter(|&sm| sm < sms).collect::<Vec<_>>();
    lone_tpcs.into_iter().chain(of_tpcs.into_iter().flatten()).flat_map(of_tpc).collect()
}

fn preference(device: &Device) -> Vec<usize> {
    if device.gpus() > 1 {
        let one = device.one_gpu();
        let firsts = (0..device.sms as usize).step_by(one.sms as usize);
        return firsts.flat_map(|first| preference(&one).into_iter().map(move |sm| first + sm)).collect();
    }
    let sms = device.sms as usize;
    match &device.sm_order {
        SmOrder::Ascending => (0..sms).collect(),
        SmOrder::Descending => (0..sms).rev().collect(),
        SmOrder::EvenThenOdd => {
            let mut order: Vec<usize> = (0..sms).filter(|sm| sm % 2 == 0).collect();
            order.extend((0..sms).filter(|sm| sm % 2 == 1));
            order
        }
        SmOrder::Explicit(ids) => ids.iter().map(|&id| id as usize).collect(),
    }
}
