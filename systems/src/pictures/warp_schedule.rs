//! The report's Fig. 2: a schedule of warps.

use crate::draw::theme::series_fill;
use crate::draw::{Anchor, Drawing, Length, MM, PAGE_WIDTH, PictureOptions, Rect, Sheet, as_length, round_ticks};
use crate::proven::Proven;
use crate::warps::{KernelString, Schedule};

/// Height of a cell, and its width where there is room.
const CELL: Length = 4 * MM + MM / 2;
/// The narrowest cell that has room for a letter.
const LEAST_CELL: Length = 2 * MM + MM / 2;

/// The schedule as a figure, warps and cycles counted from 1, at most as wide as a page or as the options say, but with
/// many cycles wider: a cell has room for a letter.
pub fn schedule_figure(string: &KernelString, schedule: &Schedule, options: PictureOptions) -> Drawing {
    let cycles = as_length(schedule.cycles.len());
    let last_name = format!("Warp {}", schedule.warps);
    let names = Sheet::text_width("Clock cycle").max(Sheet::text_width(&last_name)) + 2 * MM;
    let left = Sheet::MARGIN + names;
    let cell = ((options.width.unwrap_or(PAGE_WIDTH) - left - Sheet::MARGIN) / cycles.max(1)).clamp(LEAST_CELL, CELL);
    let right = left + cycles * cell;
    let title = format!("{} warps of {string}: {} cycles", schedule.warps, schedule.makespan());
    let mut sheet = Sheet::new();
    let top = if options.title { sheet.title(&title, right + Sheet::MARGIN) } else { Sheet::MARGIN };
    let bottom = top + (Length::from(schedule.warps) + 1) * CELL;
    let name = |line: Length| (left - MM, top + line * CELL + CELL / 2);
    let (x, y) = name(0);
    sheet.text("Clock cycle", x, y, Anchor::End);
    // Every cycle has a number, or every second, fifth, tenth …, so that numbers do not touch.
    let widest = Sheet::small_width(&cycles.to_string()) + MM / 2;
    let most = u64::try_from((cycles * cell / widest.max(cell)).max(2)).unwrap_or(2);
    for cycle in round_ticks(1, cycles.unsigned_abs(), most.saturating_add(1)) {
        let x = left + Length::try_from(cycle - 1).proven("a list has fewer than 2^63 cycles") * cell + cell / 2;
        sheet.small(cycle.to_string(), x, y, Anchor::Middle);
    }
    for (line, row) in (1..).zip(schedule.by_warp(string)) {
        let (x, y) = name(line);
        sheet.text(format!("Warp {line}"), x, y, Anchor::End);
        for (cycle, unit) in row {
            let cycle = as_length(cycle);
            let letter = string.units()[unit].letter;
            let area = Rect { x: left + cycle * cell, y: top + line * CELL, width: cell, height: CELL };
            sheet.explained(format!("warp {line}, cycle {}: {letter}", cycle + 1), |sheet| {
                sheet.area(area, Some(series_fill(unit)), None);
                sheet.label(&[&letter.to_string()], &area, series_fill(unit));
            });
        }
    }
    for line in 0..=Length::from(schedule.warps) + 1 {
        sheet.line((Sheet::MARGIN, top + line * CELL), (right, top + line * CELL), Sheet::FRAME);
    }
    for x in std::iter::once(Sheet::MARGIN).chain((0..=cycles).map(|column| left + column * cell)) {
        sheet.line((x, top), (x, bottom), Sheet::FRAME);
    }
    sheet.into_drawing(title, right + Sheet::MARGIN, bottom + Sheet::MARGIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warps::report_figure_2;

    #[test]
    fn report_figure_2_as_svg_has_a_cell_for_each_instruction() {
        let (string, schedule) = report_figure_2();
        let svg = schedule_figure(&string, &schedule, PictureOptions::default()).to_svg();
        assert_eq!(svg.matches(": L</title>").count(), 8);
        assert_eq!(svg.matches(": C</title>").count(), 4);
        assert!(svg.contains("<title>warp 3, cycle 8: C</title>"));
        assert!(svg.contains("<title>4 warps of LLC: 9 cycles</title>"));
    }
}
