//! How much of all SMs is in use over time.

use std::convert::Infallible;
use std::ops::Range;

use serde::Serialize;

use super::blocks::PlacedBlocks;
use super::instants::Instants;
use crate::device::Device;
use crate::pictures::time_steps::{StepSums, TimeSteps};
use crate::pictures::timeline::HeightBy;
use crate::proven::OrMost;
use crate::time::Instant;
use crate::trace::{SumOverTime, Trace};

/// Changes up to which each is told; more are averaged over steps.
const MOST_CHANGES: usize = 20_000;
/// Steps of an average.
const STEPS: u64 = 4_000;

#[derive(Debug, Serialize)]
pub(super) struct OccupancyCurve {
    resource: &'static str,
    /// What all SMs have of it.
    capacity: u64,
    /// Numbers of the instants at which the amount changes; empty: `amount` has equal steps from the beginning to the
    /// end, over each of which it is the average.
    at: Vec<i64>,
    /// How much of it is taken from there on.
    amount: Vec<u64>,
}

/// The resources of which something is taken.
pub(super) fn occupancy(
    blocks: &[Vec<PlacedBlocks>],
    device: &Device,
    trace: &Trace,
    instants: &Instants,
) -> Vec<OccupancyCurve> {
    // What is suspended uses nothing.
    let parts = |blocks| PlacedBlocks::parts(blocks, trace).map(move |time| (time, blocks));
    let mut in_order: Vec<(Range<Instant>, &PlacedBlocks)> = blocks.iter().flatten().flat_map(parts).collect();
    crate::sorted::sort_by_key(&mut in_order, |(time, _)| time.start);
    let curve = |resource: HeightBy| {
        let mut sum = SumOverTime::default();
        let mut changes: Vec<(Instant, u64)> = Vec::new();
        let mut emit = |at: Instant, amount: u64| -> Result<(), Infallible> {
            if changes.last().is_none_or(|(_, last)| *last != amount) {
                changes.push((at, amount));
            }
            Ok(())
        };
        for (time, blocks) in &in_order {
            let amount = u64::from(blocks.units(resource, device));
            if amount > 0 {
                // It cannot fail.
                let _ = sum.add(time.clone(), amount, &mut emit);
            }
        }
        let _ = sum.finish(&mut emit);
        let capacity = u64::from(resource.of_sm(device)) * u64::from(device.sms);
        if changes.len() <= MOST_CHANGES {
            let (at, amount) = changes.into_iter().map(|(at, amount)| (instants.number(at), amount)).unzip();
            return OccupancyCurve { resource: resource.name(), capacity, at, amount };
        }
        let amount = averages(&changes, trace.end());
        OccupancyCurve { resource: resource.name(), capacity, at: Vec::new(), amount }
    };
    let all = [HeightBy::Threads, HeightBy::SharedMemory, HeightBy::Registers].map(curve);
    all.into_iter().filter(|curve| !curve.amount.is_empty()).collect()
}

/// The mean over each of the steps, rounded down.
fn averages(changes: &[(Instant, u64)], end: Instant) -> Vec<u64> {
    let steps = TimeSteps::new(Instant::ZERO..end, STEPS);
    let mut sums = StepSums::new(&steps);
    let ends = changes.iter().skip(1).map(|(at, _)| *at).chain([end]);
    for ((at, amount), until) in changes.iter().zip(ends) {
        sums.add(*at..until, *amount, &steps);
    }
    let mean = |(step, sum): (usize, u128)| u64::try_from(sum / steps.length(step)).or_most();
    sums.totals(&steps).into_iter().enumerate().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_keep_the_area() {
        let ns = Instant::from_ns;
        // Half of the time 8, then 2.
        let means = averages(&[(ns(0), 8), (ns(4_000_000), 2)], ns(8_000_000));
        assert_eq!((means[0], means[1_999], means[2_000], means[3_999]), (8, 8, 2, 2));
        // A change in the middle of the first step of 1000 ns.
        let means = averages(&[(ns(500), 4)], ns(4_000_000));
        assert_eq!((means[0], means[1]), (2, 4));
    }
}
