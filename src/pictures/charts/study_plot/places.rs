//! Values of things that have names: a row for each name, and in it a dot with its interval for each quantity.

use super::{Curve, Dot};
use crate::draw::{
    Anchor, Drawing, Length, Look, MM, PAGE_HEIGHT, PAGE_WIDTH, PictureOptions, Point, Rect, Sheet, Stroke, times,
};

/// Height of one quantity in a row.
const LINE: Length = 22 * MM / 10;
/// Between two rows.
const GAP: Length = 2 * MM;
const LEGEND_ROW: Length = 4 * MM;
/// Half of the width of a dot.
const RADIUS: Length = 6 * MM / 10;
/// Axis and its title.
const BELOW: Length = 14 * MM;
/// Right of the plot, where half of the last tick's label reaches.
const RIGHT_MARGIN: Length = 6 * MM;

pub(super) fn draw(
    title: &str,
    counted: &str,
    highest: f64,
    names: &[&str],
    curves: &[Curve],
    options: PictureOptions,
) -> Drawing {
    let width = options.width.unwrap_or(PAGE_WIDTH);
    let mut sheet = Sheet::new();
    let widest = names.iter().map(|name| Sheet::text_width(name)).max().unwrap_or(0).min(width / 3);
    let legend = if options.title { sheet.title(title, width) } else { Sheet::MARGIN };
    let left = Sheet::MARGIN + widest + 2 * MM;
    let top = self::legend(&mut sheet, legend, (left, width), curves) + MM;
    let row = LINE * times(curves.len()) + GAP;
    // As many rows as a page holds; the others are counted.
    let most = usize::try_from((PAGE_HEIGHT - top - BELOW) / row).unwrap_or(1).max(1);
    let shown = names.len().min(most);
    let plot = Rect::between(left, top, width - RIGHT_MARGIN, top + row * times(shown));
    let step = round_step(highest);
    let ticks: Vec<(Length, String)> = (0..=10)
        .map(|number| f64::from(number) * step)
        .take_while(|value| *value <= highest * (1.0 + 1e-9))
        .map(|value| (plot.end_of(value / highest), tick(value, step)))
        .collect();
    for (x, _) in &ticks {
        sheet.line((*x, plot.y), (*x, plot.bottom()), Sheet::GRID);
    }
    let fitted = Sheet::fitted_apart(names.iter().copied().take(shown), widest);
    for (number, name) in fitted.into_iter().enumerate() {
        let upper = top + row * times(number);
        sheet.text(name, left - MM, upper + row / 2, Anchor::End);
        for (index, curve) in curves.iter().enumerate() {
            let y = upper + GAP / 2 + LINE * times(index) + LINE / 2;
            for dot in curve.dots.iter().filter(|dot| (dot.x - number as f64).abs() < 0.5) {
                self::dot(&mut sheet, &plot, highest, index, dot, y);
            }
        }
    }
    let bottom = sheet.axis((plot.x, plot.right()), plot.bottom(), ticks, "");
    let room = 2 * (plot.centre().x - Sheet::MARGIN).min(width - Sheet::MARGIN - plot.centre().x);
    sheet.text(Sheet::fitted(counted, room), plot.centre().x, bottom + MM, Anchor::Middle);
    let mut bottom = bottom + 3 * MM;
    if shown < names.len() {
        sheet.text(format!("and {} more rows", names.len() - shown), Sheet::MARGIN, bottom + MM, Anchor::Start);
        bottom += 3 * MM;
    }
    sheet.into_drawing(title.to_owned(), width, bottom)
}

/// The names of curves from `top` down; gives where they end.
fn legend(sheet: &mut Sheet, top: Length, (left, right): (Length, Length), curves: &[Curve]) -> Length {
    let (mut x, mut y) = (left, top);
    let room = right - Sheet::MARGIN - left - 4 * RADIUS;
    let names = Sheet::fitted_apart(curves.iter().map(|curve| &*curve.name), room);
    for (index, name) in names.into_iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let width = 4 * RADIUS + Sheet::text_width(&name) + 4 * MM;
        if x + width > right && x > left {
            (x, y) = (left, y + LEGEND_ROW);
        }
        let middle = y + LEGEND_ROW / 2;
        mark(sheet, x + RADIUS, middle, index);
        sheet.text(name, x + 4 * RADIUS, middle, Anchor::Start);
        x += width;
    }
    y + LEGEND_ROW
}

fn dot(sheet: &mut Sheet, plot: &Rect, highest: f64, index: usize, dot: &Dot, y: Length) {
    let stroke = Stroke { colour: Look::of(index).colour(), ..Sheet::AXIS };
    let [low, at, high] = [dot.low, dot.value, dot.high].map(|value| plot.end_of(value / highest));
    sheet.line((low, y), (high, y), stroke);
    for end in [low, high] {
        sheet.line((end, y - RADIUS), (end, y + RADIUS), stroke);
    }
    mark(sheet, at, y, index);
}

fn mark(sheet: &mut Sheet, x: Length, y: Length, index: usize) {
    sheet.push(Look::of(index).point(Point { x, y }));
}

/// A step of 1, 2 or 5 times a power of ten that divides an axis into four to ten.
fn round_step(highest: f64) -> f64 {
    let power = 10_f64.powf((highest / 4.0).log10().floor());
    [5.0, 2.0, 1.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| 4.0 * step <= highest * 1.000_001)
        .unwrap_or(power)
}

/// A number on the axis, with the decimals that its step needs.
fn tick(value: f64, step: f64) -> String {
    let decimals = (0..12).find(|&decimals| step * 10_f64.powi(decimals) >= 0.999_999).unwrap_or(12);
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_steps() {
        for (highest, step, last) in
            [(100.0, 20.0, "100"), (0.9, 0.2, "0.8"), (23_600.0, 5_000.0, "20000"), (1e-3, 2e-4, "0.0010")]
        {
            let found = round_step(highest);
            assert!((found / step - 1.0).abs() < 1e-9, "{found} is not {step}");
            assert_eq!(tick((highest / step + 1e-9).floor() * step, step), last);
        }
    }
}
