//! What is too short to be seen one by one: the share of time that each kind of it has, over steps that are too short
//! to see.

use std::collections::BTreeMap;
use std::ops::Range;

use super::TimeShare;
use super::context::Context;
use super::profile::{LEAST_STEP, Steps, level, outlines};
use crate::draw::theme::Fill;
use crate::draw::{Length, Rect};
use crate::pictures::time_steps::StepSums;
use crate::time::Instant;

/// Something that had some time, one or several together.
pub(super) struct Had<K> {
    pub(super) what: K,
    pub(super) count: u64,
    pub(super) time: Range<Instant>,
}

/// The shares in time of what is told, in the order of its kinds from below, and for how many at one time the whole
/// height of `area` stands: for `at_once`, or else for the most at one time, on average over a step.
pub(super) fn stacked<K: Ord + Copy>(
    context: &Context<'_>,
    area: &Rect,
    at_once: Option<u128>,
    had: impl Iterator<Item = Had<K>>,
    fill: impl Fn(K) -> Fill,
) -> (Vec<TimeShare<K>>, u128) {
    let steps = Steps::new(context, u64::try_from(context.scale.width / LEAST_STEP).unwrap_or(1));
    let mut sums: BTreeMap<K, (u64, StepSums)> = BTreeMap::new();
    for Had { what, count, time } in had {
        let (all, sum) = sums.entry(what).or_insert_with(|| (0, StepSums::new(&steps.time)));
        *all += count;
        sum.add(time, 1, &steps.time);
    }
    let mut stacked = vec![0_u128; steps.time.count()];
    let levels: Vec<(K, u64, Vec<u128>)> = sums
        .into_iter()
        .map(|(what, (count, sum))| {
            for (stacked, total) in stacked.iter_mut().zip(sum.totals(&steps.time)) {
                *stacked += total;
            }
            (what, count, stacked.clone())
        })
        .collect();
    let most = stacked.iter().enumerate().map(|(step, sum)| sum.div_ceil(steps.time.length(step))).max();
    let at_once = at_once.or(most).unwrap_or(1).max(1);
    let y = |(step, sum): (usize, &u128)| level(area, *sum, steps.time.length(step) * at_once);
    let mut below = vec![area.bottom(); steps.time.count()];
    let mut shares = Vec::new();
    for (of, count, level) in levels {
        let above: Vec<Length> = level.iter().enumerate().map(y).collect();
        let outlines = outlines(&above, &below, &steps);
        below = above;
        if !outlines.is_empty() {
            shares.push(TimeShare { of, count, fill: fill(of), outlines });
        }
    }
    (shares, at_once)
}
