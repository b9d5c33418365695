//! Two timelines above one another on one axis of time, with their differences marked.

use super::Timeline;
use super::error::TimelineError;
use super::options::TimelineOptions;
use crate::analysis::{ComparedKernel, Comparison};
use crate::draw::theme::{self, Colour, Theme};
use crate::draw::{Anchor, Drawing, Length, MM, Point, Shape, Stroke, Text, font};
use crate::report::Summary;
use crate::time::{Duration, Instant};

/// The same event in both timelines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishMark {
    /// What finishes.
    pub name: String,
    /// When, in the upper timeline.
    pub upper: Instant,
    /// When, in the lower timeline.
    pub lower: Instant,
}

impl FinishMark {
    /// The finishes that a simulation and an analysis both have.
    #[must_use]
    pub fn of_comparison(comparison: &Comparison<'_>) -> Vec<Self> {
        let mark = |kernel: &ComparedKernel<'_>| {
            let (upper, lower) = kernel.simulated_finish_ns.zip(kernel.analysed_finish_ns)?;
            Some(Self { name: kernel.launch.title.to_owned(), upper, lower })
        };
        comparison.kernels.iter().filter_map(mark).collect()
    }
}

const MARK: Stroke = Stroke { colour: theme::MARK, width: MM / 3 };
const ROW: Length = 3 * MM + MM / 2;
/// Differences shorter than this on paper are not seen; they are only counted.
const LEAST_VISIBLE: Length = MM / 4;
/// Rows of differences, beyond which they are counted.
const MOST_ROWS: usize = 12;

/// Draws `upper` above `lower`, both from the beginning to the later end, and below them one row for each mark whose
/// instants differ by what is seen at the printed size: a line from one finish to the other, with how much later (+) or earlier (−) the lower one is. Smaller
/// differences are counted in one line with the largest of them.
///
/// # Errors
/// As [`Timeline::new`].
pub fn comparison(
    upper: &Summary<'_>,
    lower: &Summary<'_>,
    marks: &[FinishMark],
    options: &TimelineOptions,
) -> Result<Drawing, TimelineError> {
    let end = upper.trace.end().max(lower.trace.end()).since(Instant::ZERO).max(Duration::from_ns(1));
    let window = TimelineOptions { to: Some(options.to.unwrap_or(end)), ..options.clone() };
    // Names differ in length, and the axes must not: lay out once to see, then again with the wider margin.
    let left = Timeline::new(upper, &window)?.plot.x.max(Timeline::new(lower, &window)?.plot.x);
    let window = TimelineOptions { least_left: left, ..window };
    let (top, bottom) = (Timeline::new(upper, &window)?, Timeline::new(lower, &window)?);

    let mut drawing = top.draw(upper, &window);
    let offset = drawing.height + MM;
    let below = bottom.draw(lower, &window);
    drawing.shapes.extend(below.shapes.into_iter().map(|shape| shape.moved_down(offset)));
    drawing.height = offset + below.height;

    let place = |instant: Instant| bottom.place_of(instant);
    let (differing, unseen): (Vec<&FinishMark>, Vec<&FinishMark>) = marks
        .iter()
        .filter(|mark| mark.upper != mark.lower)
        .partition(|mark| (place(mark.upper) - place(mark.lower)).abs() >= LEAST_VISIBLE);
    for mark in &differing {
        for (instant, plot, shift) in [(mark.upper, &top.plot, 0), (mark.lower, &bottom.plot, offset)] {
            let (x, from, to) = (place(instant), plot.y + shift, plot.bottom() + shift);
            drawing.shapes.push(Shape::Line { from: Point { x, y: from }, to: Point { x, y: to }, stroke: MARK });
        }
    }
    let size = Theme::PAPER.small_size;
    let mut write = |text: String, x: Length, middle: Length, anchor: Anchor| {
        let at = Point { x, y: middle + Theme::baseline(size) };
        let colour = Colour::BLACK;
        drawing.shapes.push(Shape::Text(Text { text, at, anchor, size, colour, bold: false, upwards: false }));
    };
    let mut y = drawing.height + ROW / 2;
    let mut lines = Vec::new();
    for mark in differing.iter().take(MOST_ROWS) {
        let (from, to) = (place(mark.upper), place(mark.lower));
        lines.push(Shape::Line { from: Point { x: from, y }, to: Point { x: to, y }, stroke: MARK });
        let text = format!("{} {}", mark.name, signed(mark.upper, mark.lower));
        let width = font::width(&text, size, false);
        let right = from.max(to) + MM;
        if right + width <= options.width {
            write(text, right, y, Anchor::Start);
        } else {
            write(text, from.min(to) - MM, y, Anchor::End);
        }
        y += ROW;
    }
    let rest = differing.len().saturating_sub(MOST_ROWS);
    let most = unseen.iter().map(|mark| mark.upper.max(mark.lower).since(mark.upper.min(mark.lower))).max();
    let mut notes = Vec::new();
    if rest > 0 {
        notes.push(format!("and {rest} more that differ"));
    }
    match (most, differing.is_empty()) {
        (Some(most), true) => notes.push(format!("{} finish times differ, by at most {most}", unseen.len())),
        (Some(most), false) => notes.push(format!("{} more differ, by at most {most}", unseen.len())),
        (None, true) => notes.push("all finish times are equal".to_owned()),
        (None, false) => {}
    }
    for text in notes {
        write(text, bottom.plot.x, y, Anchor::Start);
        y += ROW;
    }
    drawing.shapes.extend(lines);
    drawing.height = y;
    Ok(drawing)
}

/// How much later the second is: `+250 ms`, `−1 s`.
fn signed(first: Instant, second: Instant) -> String {
    if second >= first { format!("+{}", second.since(first)) } else { format!("−{}", first.since(second)) }
}
