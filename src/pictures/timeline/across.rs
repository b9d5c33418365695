//! Names of kernels across bands that are too low for labels of their own.

use std::collections::BTreeMap;

use super::context::{Context, centred};
use super::plan::Plan;
use super::profile::{Amount, LEAST_STEP, Steps};
use super::{Across, Label, items};
use crate::draw::theme::Theme;
use crate::draw::{Length, Rect, font};
use crate::pictures::time_steps::StepSums;
use crate::run::Recorded;
use crate::workload::OperationKind;

/// A kernel with less than this share of all that ran has no room for its name anywhere \[parts of 100\].
const LEAST_SHARE: u128 = 1;

/// The names of the kernels that rule for long enough: that take more than half of what is in use on the SMs shown.
/// Only one can at a time, so that names never meet. Each stands in the middle of the SMs that its kernel runs on.
pub(super) fn across(context: &Context<'_>, plan: &Plan, places: &BTreeMap<u32, Rect>) -> Vec<Across> {
    let size = Theme::PAPER.small_size;
    let (Some(first), Some(last)) =
        (places.values().min_by_key(|area| area.y), places.values().max_by_key(|area| area.y))
    else {
        return Vec::new();
    };
    if plan.bands.iter().any(|band| band.height >= size * 6 / 5) || last.bottom() - first.y < size * 2 {
        return Vec::new();
    }
    let mut amounts: BTreeMap<usize, Vec<Amount>> = BTreeMap::new();
    let mut totals: BTreeMap<usize, u128> = BTreeMap::new();
    let steps = Steps::new(context, u64::try_from(context.scale.width / LEAST_STEP).unwrap_or(1));
    let mut all = StepSums::new(&steps.time);
    for Recorded { id: operation, record, work: kernel } in context.summary.launches() {
        let OperationKind::Kernel(id) = record.kind else { continue };
        let (units, series) = (u64::from(context.units(kernel)), context.series(id));
        for run in items::runs(context, operation).filter(|run| places.contains_key(&u32::from(run.first.sm))) {
            let process = context.summary.trace.process_of_known(operation);
            let amount = Amount { group: series, units: units * u64::from(run.first.blocks), process, run };
            amount.add_to(&mut all, &steps.time, context.summary.trace);
            *totals.entry(series).or_default() += amount.unit_ns(context.summary.trace);
            amounts.entry(series).or_default().push(amount);
        }
    }
    let everything: u128 = totals.values().sum();
    let all = all.totals(&steps.time);
    let mut found = Vec::new();
    for (series, amounts) in amounts {
        let (kernel, share) = (context.first_of(series), totals.get(&series).copied().unwrap_or(0));
        if !context.is_chosen(kernel) || share * 100 < everything * LEAST_SHARE {
            continue;
        }
        let mut own = StepSums::new(&steps.time);
        for amount in &amounts {
            amount.add_to(&mut own, &steps.time, context.summary.trace);
        }
        let rules: Vec<bool> = own.totals(&steps.time).iter().zip(&all).map(|(own, all)| own * 2 > *all).collect();
        let (from, to) = longest(&rules);
        let middle = middle_of(&amounts, places).unwrap_or(first.y);
        let top = (middle - size).clamp(first.y, last.bottom() - 2 * size);
        let room = Rect { x: steps.x(from), y: top, width: steps.x(to) - steps.x(from), height: 2 * size };
        let count = amounts.iter().map(|amount| amount.run.blocks()).sum();
        let name = context.short_name(kernel);
        if let Some(label) = label(&[format!("{name} ×{count}"), name.to_owned()], &room, size) {
            found.push(Across { kernel, count, label });
        }
    }
    found
}

/// The middle of the band that is the middle one of those on which something runs.
fn middle_of(amounts: &[Amount], places: &BTreeMap<u32, Rect>) -> Option<Length> {
    let bands = amounts.iter().filter_map(|amount| places.get(&u32::from(amount.run.first.sm)));
    let mut middles: Vec<Length> = bands.map(|area| area.centre().y).collect();
    middles.sort_unstable();
    middles.dedup();
    middles.get(middles.len() / 2).copied()
}

/// The first text that fits, in the middle.
fn label(texts: &[String], room: &Rect, size: Length) -> Option<Label> {
    let fitting: Vec<String> =
        texts.iter().filter(|text| font::width(text, size, false) + size <= room.width).cloned().collect();
    centred(&fitting, room, size)
}

/// The longest stretch of `true`, from the first to behind the last.
fn longest(flags: &[bool]) -> (usize, usize) {
    let (mut best, mut begin) = ((0, 0), 0);
    for (index, flag) in flags.iter().enumerate() {
        if !flag {
            begin = index + 1;
        } else if index + 1 - begin > best.1 - best.0 {
            best = (begin, index + 1);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::longest;

    #[test]
    fn the_longest_stretch_is_found() {
        assert_eq!(longest(&[]), (0, 0));
        assert_eq!(longest(&[false, true, false, true, true, false]), (3, 5));
        assert_eq!(longest(&[true, true]), (0, 2));
    }
}
