//! By which factor each time may grow as a picture: one bar for each, from x1 to the factor, the smallest first.

use crate::analysis::{Sensitivity, SensitivityRow, TimeChange};
use crate::draw::theme::series_fill;
use crate::draw::{Anchor, Drawing, Length, MM, PAGE_WIDTH, PictureOptions, Point, Rect, Shape, Sheet, as_length};
use crate::tables::AnalysisReport;

const ROW: Length = 5 * MM;
const ARROW: Length = 2 * MM;
/// Rows at most; those that are left out may take more.
const MOST_ROWS: usize = 40;
/// What names and verdicts have of the width \[percent\].
const NAMES: Length = 28;
const VERDICTS: Length = 30;
/// From one tick to the next at least.
const APART: Length = 7 * MM;
/// Where an axis may end or have ticks.
const TICKS: [f64; 10] = [1.0, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, Sensitivity::LARGEST];
/// Where no axis ends before.
const LEAST_END: f64 = 1.25;

/// Draws by which factor the times of a report may grow, and what longer ones break; `None` if none were searched, or
/// nothing is proven.
pub fn sensitivity_chart(report: &AnalysisReport<'_>, options: PictureOptions) -> Option<Drawing> {
    let rows: Vec<&SensitivityRow> = report.sensitivity()?.of(TimeChange::Longer).collect();
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let largest = shown.iter().filter_map(|row| row.factor).fold(LEAST_END, f64::max);
    let end = TICKS.into_iter().find(|end| *end >= largest).unwrap_or(Sensitivity::LARGEST);
    let width = options.width.unwrap_or(PAGE_WIDTH);
    let title = format!("Sensitivity: {}", report.scenario.name);
    let mut sheet = Sheet::new();
    let top = if options.title { sheet.title(&title, width) } else { Sheet::MARGIN };
    let room = shown.iter().map(|row| Sheet::small_width(&row.factor_in_words())).max()?;
    let (left, verdicts) = (Sheet::MARGIN + width * NAMES / 100, width - width * VERDICTS / 100);
    let right = verdicts - room - ARROW - 3 * MM;
    let axis = Rect::between(left, top + ROW, right, top + ROW + as_length(shown.len()) * ROW);
    let x_of = |factor: f64| axis.end_of(factor.log2() / end.log2());
    sheet.text("longer breaks", verdicts, top + ROW / 2, Anchor::Start);
    let mut ticks: Vec<(Length, String)> = Vec::new();
    for tick in TICKS.into_iter().filter(|tick| *tick <= end) {
        let x = x_of(tick);
        if ticks.last().is_none_or(|(last, _)| x - last >= APART) {
            sheet.line((x, axis.y), (x, axis.bottom()), Sheet::GRID);
            ticks.push((x, format!("x{tick}")));
        }
    }
    let names: Vec<String> = shown.iter().map(|row| format!("{} {}", row.work.name(), row.name)).collect();
    let fitted = Sheet::fitted_apart(names.iter().map(String::as_str), left - Sheet::MARGIN - Sheet::BESIDE_PLOT);
    for ((y, row), (name, fitted)) in (0..).map(|index| axis.y + index * ROW).zip(shown).zip(names.iter().zip(fitted)) {
        let (factor, breaks) = (row.factor_in_words(), row.verdicts.join("; "));
        let middle = y + ROW / 2;
        sheet.explained(format!("{name}\nmay take {factor}\nlonger breaks: {breaks}"), |sheet| {
            sheet.text(fitted, left - Sheet::BESIDE_PLOT, middle, Anchor::End);
            let area = Rect::between(left, y + MM, x_of(row.factor.unwrap_or(1.0)), y + ROW - MM);
            let fill = series_fill(row.work as usize);
            sheet.bar(area, fill, &[]);
            let mut end = area.right();
            if row.is_largest {
                let corner = |x, y| Point { x, y };
                let corners = vec![corner(end, y + MM / 2), corner(end + ARROW, middle), corner(end, y + ROW - MM / 2)];
                sheet.push(Shape::Polygon { corners, fill, stroke: Some(Sheet::OUTLINE) });
                end += ARROW;
            }
            sheet.small(factor, end + MM, middle, Anchor::Start);
            let broken = row.verdicts_in_words().unwrap_or_default();
            sheet.text(Sheet::fitted(&broken, width - verdicts - Sheet::MARGIN), verdicts, middle, Anchor::Start);
        });
    }
    let mut height = sheet.axis((left, right), axis.bottom(), ticks, "may take");
    let more = rows.len() - shown.len();
    if more > 0 {
        sheet.small(format!("{more} more may take as much or more"), left, height + ROW / 2, Anchor::Start);
        height += ROW;
    }
    Some(sheet.into_drawing(title, width, height))
}
