//! Bands of SMs, where they are and what is in them.

use std::collections::BTreeMap;

use super::context::{BESIDE_PLOT, Context, PALE, ending_at};
use super::items::Item;
use super::legend_entry::Other;
use super::options::HeightBy;
use super::plan::{Plan, PlannedBand};
use super::{Across, Band, BandLook, Label, LabelStyle, LegendSymbol, across, items, pieces, profile};
use crate::draw::theme::Theme;
use crate::draw::{Length, Rect, font};

/// What is drawn as boxes on the SMs of the bands; `None` if that is too much, or too short to be seen.
pub(super) fn items(context: &Context<'_>, plan: &Plan) -> Option<Vec<Item>> {
    // Of SMs that look alike the first one is drawn, those that share a mean are not drawn one by one.
    let mut shown = vec![false; context.summary.trace.sms() as usize];
    for band in plan.bands.iter().filter(|band| matches!(band.look, BandLook::One | BandLook::Alike)) {
        if let Some(shown) = band.sms.first().and_then(|sm| shown.get_mut(*sm as usize)) {
            *shown = true;
        }
    }
    items::items(context, &shown, plan.height, plan.shown(context))
}

/// What the legend says of bands that are less high than all that an SM has.
pub(super) fn zoom_legend(context: &Context<'_>, plan: &Plan) -> Option<Other> {
    let [shown, all] = [plan.shown(context), context.capacity()].map(|units| amount(context, units));
    let of = format!("{shown} of {all}");
    let text = format!("SMs drawn up to {of} {}", context.options.height_by.name());
    let shorter = vec![format!("SMs up to {of}"), of];
    (plan.zoom > 1).then(|| Other { shorter, ..Other::new(PALE, LegendSymbol::Nothing, text) })
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
        let (x, width) = (context.scale.left, context.scale.width);
        let area = Rect { x, y: bottom + plan.gap, width, height: band.height };
        bottom = area.bottom() + plan.below();
        areas.push(area);
    }
    let places: BTreeMap<u32, Rect> =
        plan.bands.iter().zip(&areas).flat_map(|(band, area)| band.sms.iter().map(move |sm| (*sm, *area))).collect();

    let as_profile = |band: &PlannedBand| items.is_none() || matches!(band.look, BandLook::Mean { .. });
    let shapes = plan.bands.iter().zip(&areas).filter(|(band, _)| as_profile(band)).map(|(band, area)| {
        let sms = if band.look == BandLook::Alike { &band.sms[..1] } else { &band.sms[..] };
        profile::Shape { sms, area: *area, capacity: of_height(context, plan, band) }
    });
    let mut profiles = profile::profiles(context, &shapes.collect::<Vec<_>>()).into_iter();
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
        let limit = planned.overfull.map(|_| super::scale::y(&area, capacity, shown));
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
            blocks: pieces::stacked(context, by_sm.remove(&sm).unwrap_or_default(), &area, shown),
            thin: plan
                .spans
                .get(sm as usize)
                .map(|spans| super::thin::placed(context, spans, &area))
                .unwrap_or_default(),
            profiles: if as_shape { profiles.next().unwrap_or_default() } else { Vec::new() },
        });
    }
    name(context, plan, &mut bands, room);
    (bands, across::across(context, plan, &places), bottom)
}

/// What the height of a band stands for: the capacity of an SM or a part of it, or the most that is on it if that is
/// more.
fn of_height(context: &Context<'_>, plan: &Plan, band: &PlannedBand) -> u32 {
    band.overfull.unwrap_or_else(|| plan.shown(context))
}

/// Names beside the bands: of those that stand for several SMs always, of the others where there is room.
fn name(context: &Context<'_>, plan: &Plan, bands: &mut [Band], room: Length) {
    let size = Theme::PAPER.text_size;
    let mut taken: Vec<Rect> = Vec::new();
    for folded in [true, false] {
        for (band, planned) in bands.iter_mut().zip(&plan.bands).filter(|(band, _)| (band.sms.len() > 1) == folded) {
            let label = ending_at(
                fitted_name(planned, room),
                context.scale.left - BESIDE_PLOT,
                band.area.centre().y,
                size,
                LabelStyle::Normal,
            );
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
    let mark = |text: String, middle| ending_at(text, area.x - BESIDE_PLOT, middle, size, LabelStyle::Quiet);
    let mut marks = vec![mark(amount(context, of_height(context, plan, band)), area.y + size / 2)];
    if band.overfull.is_some() {
        let at = super::scale::y(area, context.capacity(), of_height(context, plan, band));
        marks.push(mark(amount(context, context.capacity()), at));
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

/// An amount of the resource as it is written beside bands.
pub(super) fn amount(context: &Context<'_>, units: u32) -> String {
    match context.options.height_by {
        HeightBy::SharedMemory => super::copies::bytes(u64::from(units)),
        HeightBy::Threads | HeightBy::Registers => units.to_string(),
    }
}
