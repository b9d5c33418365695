//! How much of all SMs is in use over time.

use std::convert::Infallible;

use serde::Serialize;

use super::blocks::PlacedBlocks;
use super::instants::{Exact, Instants};
use crate::device::Device;
use crate::report::timeline::HeightBy;
use crate::time::Instant;
use crate::trace::SumOverTime;

/// Changes up to which each is told; more are averaged over steps.
const MOST_CHANGES: usize = 20_000;
/// Steps of an average.
const STEPS: u64 = 4_000;

/// One resource over time.
#[derive(Debug, Serialize)]
pub(super) struct OccupancyCurve {
    resource: &'static str,
    /// What all SMs have of it.
    capacity: Exact,
    /// Numbers of the instants at which the amount changes; empty: `amount` has equal steps from the beginning to the
    /// end, over each of which it is the average.
    at: Vec<i64>,
    /// How much of it is taken from there on.
    amount: Vec<Exact>,
}

/// The resources of which something is taken.
pub(super) fn occupancy(
    blocks: &[Vec<PlacedBlocks>],
    device: &Device,
    end: Instant,
    instants: &Instants,
) -> Vec<OccupancyCurve> {
    let mut in_order: Vec<&PlacedBlocks> = blocks.iter().flatten().collect();
    in_order.sort_by_key(|blocks| blocks.time.start);
    let curve = |resource: HeightBy| {
        let mut sum = SumOverTime::default();
        let mut changes: Vec<(Instant, u64)> = Vec::new();
        let mut tell = |at: Instant, amount: u64| -> Result<(), Infallible> {
            if changes.last().is_none_or(|(_, last)| *last != amount) {
                changes.push((at, amount));
            }
            Ok(())
        };
        for blocks in &in_order {
            let amount = u64::from(blocks.units(resource, device));
            if amount > 0 {
                // It cannot fail.
                let _ = sum.add(blocks.time.clone(), amount, &mut tell);
            }
        }
        let _ = sum.finish(&mut tell);
        let capacity = Exact(u64::from(resource.of_sm(device)) * u64::from(device.sms));
        if changes.len() <= MOST_CHANGES {
            let at = changes.iter().map(|(at, _)| instants.number(*at)).collect();
            let amount = changes.into_iter().map(|(_, amount)| Exact(amount)).collect();
            return OccupancyCurve { resource: resource.name(), capacity, at, amount };
        }
        let amount = averages(&changes, end).into_iter().map(Exact).collect();
        OccupancyCurve { resource: resource.name(), capacity, at: Vec::new(), amount }
    };
    let all = [HeightBy::Threads, HeightBy::SharedMemory, HeightBy::Registers].map(curve);
    all.into_iter().filter(|curve| !curve.amount.is_empty()).collect()
}

/// The mean over each of the steps, rounded down.
fn averages(changes: &[(Instant, u64)], end: Instant) -> Vec<u64> {
    let length = u128::from(end.as_ns().max(1));
    let edge = |step: u64| u64::try_from(length * u128::from(step) / u128::from(STEPS)).unwrap_or(u64::MAX);
    let ends = changes.iter().skip(1).map(|(at, _)| at.as_ns()).chain([end.as_ns()]);
    let mut sums = vec![0_u128; usize::try_from(STEPS).unwrap_or(0)];
    for ((at, amount), until) in changes.iter().zip(ends) {
        let (mut from, until) = (at.as_ns(), until.min(end.as_ns()));
        while from < until {
            let step = u64::try_from(u128::from(from) * u128::from(STEPS) / length).unwrap_or(0).min(STEPS - 1);
            // Rounding down may leave the edge of the step at or before `from`.
            let to = (step + 1..=STEPS).map(edge).find(|to| *to > from).unwrap_or(until).min(until).max(from + 1);
            if let Some(sum) = usize::try_from(step).ok().and_then(|step| sums.get_mut(step)) {
                *sum += u128::from(*amount) * u128::from(to - from);
            }
            from = to;
        }
    }
    let mean = |(step, sum): (u64, u128)| {
        let length = u128::from((edge(step + 1) - edge(step)).max(1));
        u64::try_from(sum / length).unwrap_or(u64::MAX)
    };
    (0..STEPS).zip(sums).map(mean).collect()
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
