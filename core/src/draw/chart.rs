//! Charts of curves in the theme's look, drawn with plotters.
//!
//! The legend stands above the plot, where it hides nothing. Series differ in colour, in dashes and in the form of
//! their points, so that they can be told apart in grey.

mod curve;

use std::ops::Range;

use plotters::coord::ranged1d::{BoldPoints, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{ChartBuilder, DrawingAreaErrorKind, IntoDrawingArea, IntoLogRange, LogCoord};
use plotters::style::{Color, IntoFont, TRANSPARENT, TextStyle};

pub use self::curve::Look;
use self::curve::{BarLook, Bars, Canvas, Curve, rgb};
use super::drawing::{Anchor, Drawing, Sheet};
use super::format::DrawError;
use super::geometry::{COLUMN_WIDTH, Length, MM, Point};
use super::theme::{Colour, Theme};
use crate::proven::OrMost;

const THEME: Theme = Theme::PAPER;
/// Height of the plot as a share of the chart's width \[percent\].
const PLOT_HEIGHT: Length = 52;
const TICK: Length = MM / 2;
/// A line in the legend.
const KEY: Length = 6 * MM;
const BESIDE_KEY: Length = 8 * MM / 10;
const BETWEEN: Length = 3 * MM;
const LEGEND_ROW: Length = 3 * MM + MM / 5;

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is counted, with its unit.
    pub title: String,
    /// What is shown.
    pub range: Range<f64>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesLook {
    /// A line.
    Line,
    /// A line with its points.
    Points,
}

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// For each point, from where to where a bar through it reaches; empty: no bars.
    /// Bars of several series at one place stand beside each other.
    pub bars: Vec<(f64, f64)>,
}

impl Series {
    /// A series without bars.
    #[doc(hidden)]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, bars: Vec::new() }
    }

    /// Some room above the highest point of any.
    #[doc(hidden)]
    pub fn above(series: &[Self]) -> f64 {
        1.05 * series.iter().flat_map(|series| &series.points).map(|&(_, value)| value).fold(1.0, f64::max)
    }
}

/// Curves in one pair of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Above the chart; empty: none.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// Whether the axis to the right is logarithmic; its range is above 0 then.
    pub logarithmic_x: bool,
    /// Whether the axis upwards is logarithmic; its range is above 0 then.
    pub logarithmic: bool,
    /// How series are drawn.
    pub look: SeriesLook,
    /// The curves.
    pub series: Vec<Series>,
    /// Width of the paper.
    pub width: Length,
}

impl Chart {
    /// A chart of lines as wide as one column, both axes linear.
    #[doc(hidden)]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            logarithmic_x: false,
            logarithmic: false,
            look: SeriesLook::Line,
            series,
            width: COLUMN_WIDTH,
        }
    }

    /// The same chart with its points marked.
    #[doc(hidden)]
    pub fn with_points(self) -> Self {
        Self { look: SeriesLook::Points, ..self }
    }

    /// Draws the chart, the same bytes for the same data.
    ///
    /// # Errors
    /// [`DrawError::Backend`] if plotters cannot draw it, for example because a range is empty or not finite.
    #[doc(hidden)]
    pub fn draw(&self) -> Result<Drawing, DrawError> {
        for (range, logarithmic) in [(&self.x.range, self.logarithmic_x), (&self.y.range, self.logarithmic)] {
            let sound = range.start.is_finite() && range.end.is_finite() && range.start < range.end;
            if !sound || logarithmic && range.start <= 0.0 {
                return Err(failed(format!("the axis from {} to {} cannot be drawn", range.start, range.end)));
            }
        }
        let mut sheet = Sheet::new();
        let top = if self.title.is_empty() { Sheet::MARGIN } else { sheet.title(&self.title, self.width) };
        let top = self.legend(&mut sheet, top) + MM;
        let height = top + self.width * PLOT_HEIGHT / 100;
        let mut shapes = Vec::new();
        let linear = |axis: &Axis| -> RangedCoordf64 { axis.range.clone().into() };
        let logarithmic = |axis: &Axis| -> LogCoord<f64> { axis.range.clone().log_scale().into() };
        let (x, y, place) = (&self.x, &self.y, (top, height));
        let drawn = match (self.logarithmic_x, self.logarithmic) {
            (false, false) => self.plot(linear(x), linear(y), place, &mut shapes),
            (false, true) => self.plot(linear(x), logarithmic(y), place, &mut shapes),
            (true, false) => self.plot(logarithmic(x), linear(y), place, &mut shapes),
            (true, true) => self.plot(logarithmic(x), logarithmic(y), place, &mut shapes),
        };
        drawn.map_err(|error| failed(error.to_string()))?;
        for shape in shapes {
            sheet.push(shape);
        }
        Ok(sheet.into_drawing(self.title.clone(), self.width, height))
    }

    /// Whether points are marked: lines alone differ in dashes, of which there are few.
    fn has_points(&self) -> bool {
        self.look == SeriesLook::Points || self.series.len() > Look::DASHES
    }

    /// The names in rows below `top`; gives where they end.
    fn legend(&self, sheet: &mut Sheet, top: Length) -> Length {
        // One curve alone is what the axis says.
        if self.series.iter().all(|series| series.name.is_empty()) {
            return top;
        }
        let right = self.width - Sheet::MARGIN;
        let (mut x, mut y) = (Sheet::MARGIN, top);
        let names = Sheet::fitted_apart(self.series.iter().map(|series| &*series.name), right - x - KEY - BESIDE_KEY);
        for (index, name) in names.into_iter().enumerate() {
            let width = KEY + BESIDE_KEY + Sheet::text_width(&name);
            if x + width > right && x > Sheet::MARGIN {
                (x, y) = (Sheet::MARGIN, y + LEGEND_ROW);
            }
            let (look, middle) = (Look::of(index), y + LEGEND_ROW / 2);
            sheet.push(look.line(vec![Point { x, y: middle }, Point { x: x + KEY, y: middle }]));
            if self.has_points() {
                sheet.push(look.point(Point { x: x + KEY / 2, y: middle }));
            }
            sheet.text(name, x + KEY + BESIDE_KEY, middle, Anchor::Start);
            x += width + BETWEEN;
        }
        y + LEGEND_ROW
    }

    /// Axes, grid and curves.
    fn plot<X, Y>(
        &self,
        x: X,
        y: Y,
        (top, height): (Length, Length),
        shapes: &mut Vec<super::drawing::Shape>,
    ) -> Result<(), DrawingAreaErrorKind<std::convert::Infallible>>
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let pixels = |length: Length| u32::try_from(length).or_most();
        let whole = |length: Length| i32::try_from(length).or_most();
        let style = |size: Length| TextStyle::from(("sans-serif", whole(size)).into_font());
        let y_labels = usize::try_from((height - top) / (6 * MM)).unwrap_or(2);
        let widest = y.key_points(BoldPoints(y_labels)).into_iter().map(|value| Sheet::small_width(&number(value)));
        let beside = widest.max().unwrap_or(0) + 2 * TICK + THEME.text_size + MM / 2;
        let below = 2 * TICK + THEME.small_size + MM / 2 + THEME.text_size + Sheet::MARGIN / 2;
        let x_labels = usize::try_from(Sheet::ticks_on(self.width - beside)).unwrap_or(2);

        let root = Canvas { size: (pixels(self.width), pixels(height)), shapes }.into_drawing_area();
        let area = root.margin(whole(top), whole(Sheet::MARGIN), whole(Sheet::MARGIN), whole(3 * MM));
        let mut chart = ChartBuilder::on(&area)
            .x_label_area_size(pixels(below))
            .y_label_area_size(pixels(beside))
            .build_cartesian_2d(x, y)?;
        let line = |colour: Colour, width: Length| rgb(colour).stroke_width(pixels(width));
        chart
            .configure_mesh()
            .x_desc(Sheet::fitted(&self.x.title, self.width - beside - 6 * MM))
            .y_desc(Sheet::fitted(&self.y.title, height - top - below))
            .x_labels(x_labels)
            .y_labels(y_labels)
            .x_label_formatter(&|value| number(*value))
            .y_label_formatter(&|value| number(*value))
            .label_style(style(THEME.small_size))
            .axis_desc_style(style(THEME.text_size))
            .bold_line_style(line(Colour::GRID, THEME.thin_line))
            .light_line_style(TRANSPARENT)
            .axis_style(line(Colour::BLACK, THEME.line))
            .set_all_tick_mark_size(whole(TICK))
            .draw()?;
        let has_points = self.has_points();
        let places = self.series.iter().filter(|series| !series.bars.is_empty()).flat_map(|series| &series.points);
        let places: Vec<i32> = places.map(|point| chart.backend_coord(point).0).collect();
        let with_bars = self.series.iter().filter(|series| !series.bars.is_empty()).count();
        let bars = Bars::new(places, with_bars);
        let mut number = 0;
        for (index, series) in self.series.iter().enumerate().filter(|(_, series)| !series.points.is_empty()) {
            let look = BarLook { aside: bars.aside(number), end: bars.end };
            number += usize::from(!series.bars.is_empty());
            chart.draw_series(std::iter::once(Curve::new(series, index, has_points, self.y.range.start, look)))?;
        }
        Ok(())
    }
}

fn failed(error: String) -> DrawError {
    DrawError::Backend { format: "chart", error }
}

/// A number on an axis: no more digits than it needs, powers of ten where there would be many.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude > 0.0 && !(1e-3..1e7).contains(&magnitude) {
        // Powers of ten are products of tenths, so their last digits are errors too.
        let text = format!("{value:.6e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return format!("{digits}e{exponent}").replace('-', "−");
    }
    // Ticks are multiples of round steps; what is behind the sixth decimal is the error of adding them up.
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let axis = |title: &str, range| Axis { title: title.to_owned(), range };
        let series = vec![
            Series::new("one", vec![(0.0, 0.0), (5.0, 1.0), (10.0, 0.5)]),
            Series { bars: vec![(0.2, 0.4), (0.6, 1.0)], ..Series::new("other", vec![(0.0, 0.3), (10.0, 0.8)]) },
        ];
        Chart::new("Curves", axis("jobs", 0.0..10.0), axis("time [s]", 0.0..1.0), series).with_points()
    }

    #[test]
    fn a_chart_names_its_axes_and_series_and_is_the_same_each_time() {
        let svg = chart().draw().expect("it can be drawn").to_svg();
        for text in ["Curves", "jobs", "time [s]", "one", "other", ">0.2<"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        assert_eq!(svg, chart().draw().expect("it can be drawn").to_svg());
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"88.57mm\""));
    }

    #[test]
    fn axes_that_cannot_be_drawn_are_an_error() {
        let drawn = |range| Chart { y: Axis { title: String::new(), range }, ..chart() }.draw();
        for range in [1.0..1.0, 0.0..f64::NAN, 0.0..f64::INFINITY] {
            assert!(matches!(drawn(range), Err(DrawError::Backend { .. })));
        }
        for (logarithmic_x, logarithmic) in [(false, true), (true, false)] {
            assert!(Chart { logarithmic_x, logarithmic, ..chart() }.draw().is_err());
        }
    }

    #[test]
    fn numbers_have_the_digits_that_they_need() {
        let texts = [0.0, 0.1 + 0.2, 2_000.0, -0.5, 9.999_999_999_999_999e-5, 2.5e9].map(number);
        assert_eq!(texts, ["0", "0.3", "2000", "−0.5", "1e−4", "2.5e9"]);
    }
}
