//! Bands of SMs: where they are, what is in them, and names of kernels across bands that are too low for labels of
//! their own.

use std::collections::BTreeMap;

use super::blocks::Item;
use super::context::{Context, Entry, beside, centred, ending_at, fill_of};
use super::means::{Amount, Steps};
use super::plan::{Plan, PlannedBand};
use super::{Across, Band, BandLook, Label, LabelStyle, blocks, means};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, Rect, Sheet, font};
use crate::pictures::timeline_model::StepSums;

/// What is drawn as boxes on the SMs of the bands; `None` if that is too much, or too short to be seen.
pub(super) fn items(context: &Context<'_>, plan: &Plan) -> Option<Vec<Item>> {
    // Of SMs that look alike the first one is drawn, those that share a mean are not drawn one by one.
    let mut shown = vec![false; context.summary.trace.sms() as usize];
    for band in plan.bands.iter().filter(|band| matches!(band.look, BandLook::One | BandLook::Alike)) {
        if let Some(shown) = band.sms.first().and_then(|sm| shown.get_mut(*sm as usize)) {
            *shown = true;
        }
    }
    blocks::items(context, &shown, plan.height, plan.shown(context))
}

/// What the legend says of bands that are less high than all that an SM has.
pub(super) fn zoom_legend(context: &Context<'_>, plan: &Plan) -> Option<Entry> {
    let [shown, all] = [plan.shown(context), context.capacity()].map(|units| context.options.height_by.amount(units));
    let of = format!("{shown} of {all}");
    let text = format!("SMs drawn up to {of} {}", context.options.height_by.name());
    (plan.zoom > 1).then(|| Entry::remark(text).or(&[&format!("SMs up to {of}"), &of]))
}

/// The bands below `top` with their `items`, names across them, and where they end; their own names have `room`.
pub(super) fn bands(
    context: &Context<'_>,
    plan: &Plan,
    items: Option<Vec<Item>>,
    top: Length,
    room: Length,
) -> (Vec<Band>, Vec<Across>, Length) {
    let mut bottom = top - plan.gap;
    let mut areas = Vec::new();
    for band in &plan.bands {
        let area = context.strip(bottom + plan.gap, band.height);
        bottom = area.bottom() + plan.below();
        areas.push(area);
    }
    let places: BTreeMap<u32, Rect> =
        plan.bands.iter().zip(&areas).flat_map(|(band, area)| band.sms.iter().map(move |sm| (*sm, *area))).collect();

    let as_profile = |band: &PlannedBand| items.is_none() || matches!(band.look, BandLook::Mean { .. });
    let shapes = plan.bands.iter().zip(&areas).filter(|(band, _)| as_profile(band)).map(|(band, area)| {
        let sms = if band.look == BandLook::Alike { &band.sms[..1] } else { &band.sms[..] };
        means::Shape { sms, area: *area, capacity: of_height(context, plan, band) }
    });
    let mut profiles = means::profiles(context, &shapes.collect::<Vec<_>>()).into_iter();
    let mut by_sm: BTreeMap<u32, Vec<Item>> = BTreeMap::new();
    let drawn_as_shapes: Vec<bool> = plan.bands.iter().map(as_profile).collect();
    for item in items.into_iter().flatten() {
        by_sm.entry(item.sm).or_default().push(item);
    }
    let mut bands: Vec<Band> = Vec::with_capacity(areas.len());
    for ((planned, area), as_shape) in plan.bands.iter().zip(areas).zip(drawn_as_shapes) {
        let sm = planned.sms.first().copied().unwrap_or(0);
        let shown = of_height(context, plan, planned);
        let capacity = context.capacity();
        let limit = planned.overfull.map(|_| super::context::y(&area, capacity, shown));
        bands.push(Band {
            sm,
            sms: planned.sms.clone(),
            look: planned.look,
            name: planned.names().swap_remove(0),
            label: None,
            area,
            capacity,
            shown,
            limit,
            marks: marks(context, plan, planned, &area),
            blocks: blocks::stacked(context, by_sm.remove(&sm).unwrap_or_default(), &area, shown),
            thin: plan
                .spans
                .get(sm as usize)
                .map(|spans| super::blocks::placed_thin(context, spans, &area))
                .unwrap_or_default(),
            profiles: if as_shape { profiles.next().unwrap_or_default() } else { Vec::new() },
        });
    }
    name(plan, &mut bands, room);
    (bands, across(context, plan, &places), bottom)
}

/// What the height of a band stands for: the capacity of an SM or a part of it, or the most that is on it if that is
/// more.
fn of_height(context: &Context<'_>, plan: &Plan, band: &PlannedBand) -> u32 {
    band.overfull.unwrap_or_else(|| plan.shown(context))
}

/// Names beside the bands: of those that stand for several SMs always, of the others where there is room.
fn name(plan: &Plan, bands: &mut [Band], room: Length) {
    let mut taken: Vec<Rect> = Vec::new();
    for folded in [true, false] {
        for (band, planned) in bands.iter_mut().zip(&plan.bands).filter(|(band, _)| (band.sms.len() > 1) == folded) {
            let label = beside(fitted_name(planned, room), &band.area);
            // Names of higher bands come first, so only the last ones can be in the way.
            if !taken.iter().any(|other| other.overlaps(&label.area)) {
                taken.push(label.area);
                band.marks.retain(|mark| !mark.area.overlaps(&label.area));
                band.label = Some(label);
            }
        }
    }
}

fn fitted_name(band: &PlannedBand, room: Length) -> String {
    let size = Theme::PAPER.text_size;
    let names = band.names();
    let fitting = names.iter().find(|name| font::width(name, size, false) <= room);
    fitting.cloned().unwrap_or_else(|| font::shortened(names.last().map_or("", |name| name), size, false, room))
}

/// What the names of bands take, those that can be shortened only as much as `most`.
pub(super) fn names_width(plan: &Plan, most: Length) -> Length {
    let size = Theme::PAPER.text_size;
    let width = |band: &PlannedBand| font::width(&fitted_name(band, most), size, false);
    plan.bands.iter().map(width).max().unwrap_or(0)
}

/// Zero and the capacity at the edges of the band; of an overfull one also the most that is on it.
fn marks(context: &Context<'_>, plan: &Plan, band: &PlannedBand, area: &Rect) -> Vec<Label> {
    if !plan.have_marks() || matches!(band.look, BandLook::Idle | BandLook::Mean { .. }) {
        return Vec::new();
    }
    let size = Theme::PAPER.small_size;
    let amount = |units: u32| context.options.height_by.amount(units);
    let mark = |text: String, middle| ending_at(text, area.x - Sheet::BESIDE_PLOT, middle, size, LabelStyle::Quiet);
    let mut marks = vec![mark(amount(of_height(context, plan, band)), area.y + size / 2)];
    if band.overfull.is_some() {
        let at = super::context::y(area, context.capacity(), of_height(context, plan, band));
        marks.push(mark(amount(context.capacity()), at));
    }
    marks.push(mark("0".to_owned(), area.bottom() - size / 2));
    // From below: the most goes if there is no room for both.
    let mut kept: Vec<Label> = Vec::new();
    for mark in marks.into_iter().rev() {
        if kept.iter().all(|other| !other.area.overlaps(&mark.area)) {
            kept.push(mark);
        }
    }
    kept
}

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
    let steps = Steps::new(context, Steps::most(context));
    let mut all = StepSums::new(&steps.time);
    for amount in means::amounts(context).filter(|amount| places.contains_key(&u32::from(amount.run.first.sm))) {
        amount.add_to(&mut all, &steps.time, context.summary.trace);
        *totals.entry(amount.group).or_default() += amount.unit_ns(context.summary.trace);
        amounts.entry(amount.group).or_default().push(amount);
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
            let plate = Fill::plain(fill_of(context, Some(kernel)).background);
            found.push(Across { kernel, count, plate, label });
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
