//! Two timelines above one another on one axis of time, with their differences marked.

use serde::Serialize;

use super::context::{ending_at, starting_at};
use super::options::{TimelineError, TimelineOptions};
use super::{LabelStyle, Timeline, shapes};
use crate::analysis::{ComparedKernel, Comparison};
use crate::draw::theme::Theme;
use crate::draw::{Drawing, Length, MM, Point, Shape, Sheet, as_length, font};
use crate::run::Summary;
use crate::time::{Duration, Instant};
use crate::trace::Trace;
use crate::workload::OperationId;

/// The same event in both timelines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FinishMark {
    /// What finishes.
    pub name: String,
    /// When, in the upper timeline.
    #[serde(rename = "upper_ns")]
    pub upper: Instant,
    /// When, in the lower timeline.
    #[serde(rename = "lower_ns")]
    pub lower: Instant,
}

impl FinishMark {
    /// The finishes that a simulation and an analysis both have.
    pub fn of_comparison(comparison: &Comparison<'_>) -> Vec<Self> {
        let mark = |kernel: &ComparedKernel<'_>| {
            let (upper, lower) = kernel.simulated_finish_ns.zip(kernel.analysed_finish_ns)?;
            Some(Self { name: kernel.launch.title().to_owned(), upper, lower })
        };
        comparison.kernels.iter().filter_map(mark).collect()
    }

    /// The finishes of the kernels of two records of the same operations, where both have them.
    pub fn of_traces(upper: &Trace, lower: &Trace) -> Vec<Self> {
        let both = (0..).map(OperationId).zip(upper.operations().iter().zip(lower.operations()));
        let marks = both.filter_map(|(id, (above, below))| {
            let kernel = upper.kernel_of(id)?;
            Some(Self { name: kernel.title.to_string(), upper: above.finish()?, lower: below.finish()? })
        });
        marks.collect()
    }

    fn difference(&self) -> Duration {
        self.upper.max(self.lower).since(self.upper.min(self.lower))
    }
}

const ROW: Length = 3 * MM + MM / 2;
/// Differences shorter than this on paper are not seen; they are only counted.
const LEAST_VISIBLE: Length = MM / 4;
/// Rows of differences, beyond which they are counted.
const MOST_ROWS: usize = 8;

/// Two runs above one another on one axis of time.
#[derive(Debug, Clone)]
pub struct Panels<'p> {
    /// The upper one.
    pub upper: &'p Summary<'p>,
    /// The lower one.
    pub lower: &'p Summary<'p>,
    /// What happens in both.
    pub marks: &'p [FinishMark],
    /// What else is to be said, below both.
    pub notes: Vec<String>,
}

impl Panels<'_> {
    /// Draws both from the earlier beginning to the later end, and below them one row for each of the largest
    /// differences that are seen at the printed size: a line from one finish to the other, with how much later (+) or
    /// earlier (−) the lower one is. All others are counted, with the largest of them.
    ///
    /// # Errors
    /// As [`Timeline::new`], and [`TimelineError::HeightLimit`] if there is no room for two.
    pub fn draw(&self, options: &TimelineOptions) -> Result<Drawing, TimelineError> {
        let [upper, lower] = [self.upper, self.lower].map(|run| super::layout::window(run, options));
        let window = match (upper, lower) {
            (Ok(upper), Ok(lower)) => upper.start.min(lower.start)..upper.end.max(lower.end),
            (Ok(window), Err(_)) | (Err(_), Ok(window)) => window,
            (Err(error), Err(_)) => return Err(error),
        };
        let options = TimelineOptions { window: Some(window.clone()), ..options.clone() };
        let marks: Vec<&FinishMark> = self.marks.iter().filter(|mark| mark.upper != mark.lower).collect();
        let below = ROW * (2 + as_length(marks.len().min(MOST_ROWS)) + as_length(self.notes.len()));
        let (top, bottom, known) = self.fitted(&options, options.height_limit - below - MM)?;
        let mut drawing = top.draw(self.upper, &options);
        let offset = drawing.height + MM;
        let lower = bottom.draw(self.lower, &TimelineOptions { known_entries: known, ..options.clone() });
        drawing.shapes.extend(lower.shapes.into_iter().map(|shape| shape.moved_down(offset)));
        drawing.height = offset + lower.height;
        let mut differences = Differences { options: &options, top: &top, bottom: &bottom, offset, drawing };
        differences.draw(&marks, self.marks.is_empty());
        for note in &self.notes {
            differences.note(note);
        }
        TimelineError::check_height(differences.drawing.height, options.height_limit)?;
        Ok(differences.drawing)
    }

    /// Both layouts, together at most `room` high if they can be, and what the lower legend leaves out.
    fn fitted(
        &self,
        options: &TimelineOptions,
        room: Length,
    ) -> Result<(Timeline, Timeline, Vec<String>), TimelineError> {
        let together = |both: &(Timeline, Timeline, Vec<String>)| both.0.height + both.1.height;
        let whole = self.aligned(options, (room, room))?;
        if together(&whole) <= room {
            return Ok(whole);
        }
        let half = room / 2;
        let mut both = self.aligned(options, (half, half))?;
        // What one leaves the other may take.
        let left = [half - both.0.height, half - both.1.height];
        match left {
            [upper, _] if upper > MM => both = self.aligned(options, (half, half + upper))?,
            [_, lower] if lower > MM => both = self.aligned(options, (half + lower, half))?,
            _ => {}
        }
        if together(&both) <= room { Ok(both) } else { self.aligned(options, (0, 0)) }
    }

    /// Both layouts with one axis of time and one scale of SMs, each at most as high as it may be if it can be so low.
    fn aligned(
        &self,
        options: &TimelineOptions,
        (upper, lower): (Length, Length),
    ) -> Result<(Timeline, Timeline, Vec<String>), TimelineError> {
        let with = |height_limit| TimelineOptions { height_limit, ..options.clone() };
        let (mut upper, mut lower) = (with(upper), with(lower));
        let known = |first: &Timeline| -> Vec<String> {
            first.legend.iter().map(|entry| &entry.full).chain(&first.kernels).cloned().collect()
        };
        let mut first = Timeline::as_low_as(self.upper, &upper)?;
        lower.known_entries = known(&first);
        let mut second = Timeline::as_low_as(self.lower, &lower)?;
        let most_zoom = first.zoom.min(second.zoom);
        if first.zoom != second.zoom {
            (upper.most_zoom, lower.most_zoom) = (most_zoom, most_zoom);
            first = Timeline::as_low_as(self.upper, &upper)?;
            lower.known_entries = known(&first);
            second = Timeline::as_low_as(self.lower, &lower)?;
        }
        // Names differ in length, and the axes must not.
        let least_left = first.plot.x.max(second.plot.x);
        let again = |run, timeline: Timeline, options: TimelineOptions| {
            if timeline.plot.x == least_left {
                Ok(timeline)
            } else {
                Timeline::as_low_as(run, &TimelineOptions { least_left, ..options })
            }
        };
        let known = lower.known_entries.clone();
        Ok((again(self.upper, first, upper)?, again(self.lower, second, lower)?, known))
    }
}

/// What is drawn over and below two panels.
struct Differences<'d> {
    options: &'d TimelineOptions,
    top: &'d Timeline,
    bottom: &'d Timeline,
    /// By how much the lower panel is lower.
    offset: Length,
    drawing: Drawing,
}

impl Differences<'_> {
    fn draw(&mut self, marks: &[&FinishMark], none_known: bool) {
        let window = &self.bottom.window;
        let place = |instant: Instant| self.bottom.place_of(instant);
        let shows = |at: Instant| window.start <= at && at <= window.end;
        let (inside, outside): (Vec<&FinishMark>, Vec<&FinishMark>) =
            marks.iter().partition(|mark| shows(mark.upper) || shows(mark.lower));
        let (mut seen, unseen): (Vec<&FinishMark>, Vec<&FinishMark>) =
            inside.into_iter().partition(|mark| (place(mark.upper) - place(mark.lower)).abs() >= LEAST_VISIBLE);
        let all = seen.len();
        let largest = |marks: &[&FinishMark]| marks.iter().map(|mark| mark.difference()).max();
        if all > MOST_ROWS {
            crate::sorted::sort_by_key(&mut seen, |mark| std::cmp::Reverse(mark.difference()));
        }
        let rest = largest(seen.get(MOST_ROWS..).unwrap_or_default());
        seen.truncate(MOST_ROWS);
        crate::sorted::sort_by_key(&mut seen, |mark| mark.upper);
        for mark in &seen {
            let x = [mark.upper, mark.lower].map(|at| self.bottom.place_of(at));
            for (x, plot, shift) in [(x[0], &self.top.plot, 0), (x[1], &self.bottom.plot, self.offset)] {
                let (from, to) = (Point { x, y: plot.y + shift }, Point { x, y: plot.bottom() + shift });
                self.drawing.shapes.push(Shape::Line { from, to, stroke: Sheet::MARK });
            }
            self.row(mark, x);
        }
        if let Some(rest) = rest {
            self.note(&format!("and {} more that differ, by at most {rest}", all - MOST_ROWS));
        }
        match (largest(&unseen), all == 0) {
            (Some(most), true) => self.note(&format!("{} finish times differ, by at most {most}", unseen.len())),
            (Some(most), false) => self.note(&format!("{} more differ, by at most {most}", unseen.len())),
            (None, true) if outside.is_empty() && !none_known => self.note("all finish times are equal"),
            (None, _) => {}
        }
        if let Some(most) = largest(&outside) {
            let count = outside.len();
            self.note(&format!("{count} finish times outside this window differ, by at most {most}"));
        }
    }

    /// One difference: a line from one finish to the other, and beside it, or before it, what differs.
    fn row(&mut self, mark: &FinishMark, [from, to]: [Length; 2]) {
        let size = Theme::PAPER.small_size;
        let y = self.drawing.height + ROW / 2;
        let difference = signed(mark.upper, mark.lower);
        let (left, right) = (from.min(to) - MM - Sheet::MARGIN, self.options.width - Sheet::MARGIN - from.max(to) - MM);
        let rest = font::width(&format!(" {difference}"), size, false);
        let name = font::shortened(&mark.name, size, false, left.max(right) - rest);
        let text = format!("{name} {difference}");
        let width = font::width(&text, size, false);
        let label = if width <= right {
            starting_at(text, from.max(to) + MM, y, size, LabelStyle::Normal)
        } else {
            ending_at(text, from.min(to) - MM, y, size, LabelStyle::Normal)
        };
        let line = [from, to].map(|x| Point { x, y });
        self.drawing.shapes.push(Shape::Line { from: line[0], to: line[1], stroke: Sheet::MARK });
        self.drawing.height += ROW;
        if width <= left.max(right) {
            self.drawing.shapes.push(shapes::text(&label));
        } else {
            // The line itself takes nearly all of the width.
            self.note(&label.text);
        }
    }

    /// A line of text below everything.
    fn note(&mut self, text: &str) {
        let size = Theme::PAPER.small_size;
        let left = self.bottom.plot.x;
        let text = font::shortened(text, size, false, self.options.width - Sheet::MARGIN - Sheet::MARGIN);
        let room = self.options.width - Sheet::MARGIN - left;
        let x = if font::width(&text, size, false) <= room { left } else { Sheet::MARGIN };
        let label = starting_at(text, x, self.drawing.height + ROW / 2, size, LabelStyle::Normal);
        self.drawing.shapes.push(shapes::text(&label));
        self.drawing.height += ROW;
    }
}

/// How much later the second is: `+250 ms`, `−1 s`.
fn signed(first: Instant, second: Instant) -> String {
    if second >= first { format!("+{}", second.since(first)) } else { format!("−{}", first.since(second)) }
}
