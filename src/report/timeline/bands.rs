//! Bands of SMs.

use std::collections::BTreeMap;

use super::context::{BESIDE_PLOT, Context, ending_at};
use super::items;
use super::options::HeightBy;
use super::{Across, Band, LabelStyle, across, pieces, profile, thin};
use crate::draw::theme::Theme;
use crate::draw::{Length, MM, Rect};

/// What all bands together should take, if that is not too much or too little for one.
const TOGETHER: Length = 64 * MM;
/// High enough for the label of a block of 256 threads on an SM of 2048.
const HIGHEST: Length = 22 * MM;
const LOWEST: Length = 3 * MM / 2;
/// Bands at least this high have marks that say how much their height is.
const HIGH_ENOUGH_FOR_MARKS: Length = 8 * MM;

/// How high each of `count` bands is, and what is between them.
fn heights(count: usize) -> (Length, Length) {
    let count = Length::try_from(count.max(1)).unwrap_or(Length::MAX);
    let height = (TOGETHER / count).clamp(LOWEST, HIGHEST);
    // Low bands touch: two frames would be all that is seen.
    (height, if height < 3 * MM { 0 } else { (height / 10).min(MM) })
}

/// The bands below `top`, names across them, and where they end.
pub(super) fn bands(context: &Context<'_>, top: Length) -> (Vec<Band>, Vec<Across>, Length) {
    let sms = context.options.shown_sms(context.summary.scenario.device());
    let (height, gap) = heights(sms.len());
    let all_sms = context.summary.trace.sms() as usize;
    let (spans, rows) = thin::spans(context, all_sms);
    let below = thin::STEP * Length::try_from(rows).unwrap_or(0);

    let mut bottom = top - gap;
    let mut places: BTreeMap<u32, Rect> = BTreeMap::new();
    for &sm in &sms {
        let area = Rect { x: context.scale.left, y: bottom + gap, width: context.scale.width, height };
        bottom = area.bottom() + below;
        places.insert(sm, area);
    }
    let shown: Vec<bool> = (0..all_sms).map(|sm| sms.iter().any(|&shown| shown as usize == sm)).collect();
    let items = items::items(context, &shown, height);
    let mut profiles = match items {
        None => profile::profiles(context, &places),
        Some(_) => BTreeMap::new(),
    };
    let mut by_sm: BTreeMap<u32, Vec<items::Item>> = BTreeMap::new();
    for item in items.into_iter().flatten() {
        by_sm.entry(item.sm).or_default().push(item);
    }
    let mut named_until = Length::MIN;
    let bands = places_in_order(&sms, &places).map(|(sm, area)| {
        let size = Theme::PAPER.text_size;
        let label = ending_at(format!("SM {sm}"), area.x - BESIDE_PLOT, area.centre().y, size, LabelStyle::Normal);
        let label = (label.area.y >= named_until).then_some(label);
        named_until = label.as_ref().map_or(named_until, |label| label.area.bottom());
        Band {
            sm,
            label,
            area,
            capacity: context.capacity(),
            marks: marks(context, &area),
            blocks: pieces::stacked(context, by_sm.remove(&sm).unwrap_or_default(), &area),
            thin: spans.get(sm as usize).map(|spans| thin::placed(context, spans, &area)).unwrap_or_default(),
            profiles: profiles.remove(&sm).unwrap_or_default(),
        }
    });
    (bands.collect(), across::across(context, &places), bottom)
}

fn places_in_order<'p>(sms: &'p [u32], places: &'p BTreeMap<u32, Rect>) -> impl Iterator<Item = (u32, Rect)> + 'p {
    sms.iter().filter_map(|sm| Some((*sm, *places.get(sm)?)))
}

/// Zero and the capacity, at the edges of the band.
fn marks(context: &Context<'_>, area: &Rect) -> Vec<super::Label> {
    if area.height < HIGH_ENOUGH_FOR_MARKS {
        return Vec::new();
    }
    let size = Theme::PAPER.small_size;
    let mark = |text: String, middle| ending_at(text, area.x - BESIDE_PLOT, middle, size, LabelStyle::Quiet);
    vec![mark(capacity_text(context), area.y + size / 2), mark("0".to_owned(), area.bottom() - size / 2)]
}

/// The capacity of an SM as it is written beside its band.
pub(super) fn capacity_text(context: &Context<'_>) -> String {
    let capacity = context.capacity();
    match context.options.height_by {
        HeightBy::SharedMemory => super::copies::bytes(u64::from(capacity)),
        HeightBy::Threads | HeightBy::Registers => capacity.to_string(),
    }
}

/// Whether bands of so many SMs have marks.
pub(super) fn have_marks(sms: usize) -> bool {
    heights(sms).0 >= HIGH_ENOUGH_FOR_MARKS
}
