//! Agreement and error of the merged SM, family by family.

use crate::draw::theme::{self, Colour, Fill, Hatch};
use crate::draw::{Anchor, Drawing, Length, MM, PAGE_WIDTH, Rect, Sheet, as_length};
use crate::experiments::validation::{CampaignReport, FamilyReport};

const ROW: Length = 5 * MM;
const LEGEND_ROW: Length = 4 * MM;
const TICK: Length = MM / 2;
/// Between the panels.
const GAP: Length = 10 * MM;
/// Right of the second panel, for the errors that do not fit it.
const RIGHT_MARGIN: Length = 13 * MM;

const EQUAL: Fill = Fill::plain(Colour(0x56, 0xb4, 0xe9));
const PESSIMISTIC: Fill =
    Fill { background: Colour(0xf2, 0xf2, 0xf2), hatch: Hatch::Rising, ink: Colour(0x80, 0x80, 0x80) };
const OPTIMISTIC: Fill = Fill { background: theme::MARK, hatch: Hatch::Crossed, ink: Colour(0x60, 0x2a, 0x00) };

/// The left panel has the shares of samples on which the analysis is exact, pessimistic and optimistic (unsafe), the
/// right one the largest relative error on the unsafe side, and behind it the largest of all if that is pessimistic. An
/// unsafe error is less than 100 % of the response, a pessimistic one may be more: its bar is cut and its value stands
/// beside it. As wide as a page.
pub fn campaign_figure(report: &CampaignReport) -> Drawing {
    let widest = report.families.iter().map(|family| Sheet::text_width(family.family)).max().unwrap_or(0);
    let left = Sheet::MARGIN + widest + Sheet::BESIDE_PLOT;
    let rest = PAGE_WIDTH - left - GAP - RIGHT_MARGIN;
    let what = format!("{}, {} placement, seed {}", report.device, report.placement, report.seed);
    let title = format!("Merged SM: simulated against analysed, {what}");
    let mut sheet = Sheet::new();
    let legend = sheet.title(&title, PAGE_WIDTH);
    let top = legend + 2 * LEGEND_ROW;
    let bottom = top + ROW * as_length(report.families.len());
    let shares = Rect::between(left, top, left + rest * 3 / 5, bottom);
    let errors = Rect::between(shares.right() + GAP, top, PAGE_WIDTH - RIGHT_MARGIN, bottom);

    let mut x = left;
    for (name, fill) in [("equal", EQUAL), ("pessimistic", PESSIMISTIC), ("optimistic (unsafe)", OPTIMISTIC)] {
        let mark = Rect { x, y: legend + MM, width: 4 * MM, height: 2 * MM };
        sheet.area(mark, Some(fill), Some(Sheet::OUTLINE));
        sheet.text(name, mark.right() + MM, mark.centre().y, Anchor::Start);
        x = mark.right() + MM + Sheet::text_width(name) + 4 * MM;
    }
    let middle = legend + LEGEND_ROW + LEGEND_ROW / 2;
    sheet.text("share of samples", shares.x, middle, Anchor::Start);
    sheet.text("largest relative error of a response time", errors.x, middle, Anchor::Start);

    for (row, family) in (0..).zip(&report.families) {
        family_row(&mut sheet, family, (&shares, &errors), top + ROW * row);
    }
    let end = axis(&mut sheet, &shares).max(axis(&mut sheet, &errors));
    sheet.into_drawing(title, PAGE_WIDTH, end)
}

fn family_row(sheet: &mut Sheet, family: &FamilyReport, (shares, errors): (&Rect, &Rect), top: Length) {
    sheet.text(family.family, shares.x - Sheet::BESIDE_PLOT, top + ROW / 2, Anchor::End);
    let samples = family.samples.max(1) as f64;
    let (upper, lower) = (top + MM / 2, top + ROW - MM / 2);
    let mut sum = 0;
    for (count, fill) in [(family.equal, EQUAL), (family.pessimistic, PESSIMISTIC), (family.optimistic, OPTIMISTIC)] {
        let left = shares.end_of(sum as f64 / samples);
        sum += count;
        bar(sheet, Rect::between(left, upper, shares.end_of(sum as f64 / samples), lower), fill);
    }
    if family.max_error > family.max_optimistic_error {
        bar(sheet, Rect::between(errors.x, upper, errors.end_of(family.max_error), lower), PESSIMISTIC);
    }
    if family.max_error > 1.0 {
        let value = format!("{:.0} %", 100.0 * family.max_error);
        sheet.text(value, errors.right() + MM / 2, top + ROW / 2, Anchor::Start);
    }
    let unsafe_side = errors.end_of(family.max_optimistic_error);
    bar(sheet, Rect::between(errors.x, upper + MM, unsafe_side, lower - MM), OPTIMISTIC);
}

fn bar(sheet: &mut Sheet, area: Rect, fill: Fill) {
    if area.width > 0 {
        sheet.area(area, Some(fill), Some(Sheet::OUTLINE));
    }
}

/// Percent below a panel; gives where the labels end.
fn axis(sheet: &mut Sheet, panel: &Rect) -> Length {
    let y = panel.bottom();
    let quarters = (0..=4_i32).map(|quarter| {
        let share = f64::from(quarter) / 4.0;
        (panel.end_of(share), format!("{} %", 25 * quarter))
    });
    let ticks: Vec<(Length, String)> = quarters.collect();
    sheet.axis((panel.x, panel.right()), y + TICK, ticks, "")
}
