//! Which SM gets the next block.

use gpusched::device::{Device, SmOrder};
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
        // Which one it is does not matter where the reference is compared under random placement.
        Placement::LowestId | Placement::Random => (0..sms).find(|&sm| fits(sm)),
    }
}

fn preference(device: &Device) -> Vec<usize> {
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
