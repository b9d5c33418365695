//! Which SMs each application had over time, by application and by SM.

use thiserror::Error;

use crate::applications::{ApplicationSet, Outcome};
use crate::draw::theme::{Colour, Fill, series_fill};
use crate::draw::{
    Anchor, Dash, Drawing, Length, MM, PAGE_WIDTH, PictureOptions, Point, Rect, Shape, Sheet, Stroke, time_ticks,
};
use crate::proven::Proven;
use crate::time::{Duration, Instant};

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GanttRows {
    /// An application; its bar is as high as it has SMs.
    Application,
    /// An SM; its bars are the applications.
    Sm,
}

/// Why there is no figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GanttError {
    /// Nothing to be seen.
    #[error("nothing ran, so there is nothing to draw")]
    Empty,
    /// More than anybody could look at.
    #[error("a figure of {segments} bars cannot be read; at most {MAX_SEGMENTS} are drawn: inject fewer applications")]
    TooMany {
        /// Bars asked for.
        segments: usize,
    },
}

const MAX_SEGMENTS: usize = 50_000;
const ROW: Length = 4 * MM + MM / 2;
/// Between the two kinds of rows.
const GAP: Length = 3 * MM;
/// Names take at most this.
const MOST_FOR_NAMES: Length = 45 * MM;
const RIGHT_MARGIN: Length = 4 * MM;
const ARRIVAL: Stroke = Stroke { colour: Colour::BLACK, width: MM / 4 };
/// Half of the cross of a late application.
const CROSS: Length = 9 * MM / 10;

/// Draws a run, as wide as a page if the options do not say otherwise. Both kinds of rows stand in one picture, in the
/// order asked for, over one time axis.
///
/// # Errors
/// [`GanttError`]
pub fn gantt(
    set: &ApplicationSet,
    outcome: &Outcome,
    rows: &[GanttRows],
    options: PictureOptions,
) -> Result<Drawing, GanttError> {
    let width = options.width.unwrap_or(PAGE_WIDTH);
    let segments = outcome.segments.len();
    if segments == 0 {
        return Err(GanttError::Empty);
    }
    if segments > MAX_SEGMENTS {
        return Err(GanttError::TooMany { segments });
    }
    let first = set.injections.iter().map(|injection| injection.arrival).min().unwrap_or_default();
    let last = outcome.segments.iter().map(|segment| segment.end).max().unwrap_or_default();
    let last = last.max(first + Duration::from_ns(1));
    let mut canvas = Canvas { set, outcome, first, last, left: 0, width, sheet: Sheet::new() };
    let names = (0..outcome.outcomes.len()).map(|index| Sheet::text_width(&canvas.row_name(index, width)));
    let widest = names.max().unwrap_or(0).max(Sheet::text_width("SM 99")).max(Sheet::text_width("time [ms]"));
    canvas.left = Sheet::MARGIN + widest.min(MOST_FOR_NAMES).min(width / 3) + Sheet::BESIDE_PLOT;

    let synthetic = if set.synthetic { " (SYNTHETIC)" } else { "" };
    let title = format!(
        "{}{synthetic}: {} of {} requirements met under {}",
        set.name, outcome.met, outcome.applications, outcome.scheduler
    );
    let mut y = if options.title { canvas.sheet.title(&title, width) } else { Sheet::MARGIN };
    for (number, kind) in rows.iter().enumerate() {
        y += if number > 0 { GAP } else { 0 };
        y = match kind {
            GanttRows::Application => canvas.by_application(y),
            GanttRows::Sm => canvas.by_sm(y),
        };
    }
    let mut height = canvas.axis(y);
    if rows.contains(&GanttRows::Application) {
        height = canvas.key(height);
    }
    Ok(canvas.sheet.into_drawing(title, width, height))
}

/// The mark of the instant at which an application is due.
fn due_mark(sheet: &mut Sheet, x: Length, y: Length, met: bool) {
    let points = vec![Point { x, y }, Point { x, y: y + ROW }];
    sheet.push(Shape::Path { points, stroke: if met { ARRIVAL } else { Sheet::MARK }, dash: Dash::Dotted });
    if !met {
        let middle = y + ROW / 2;
        sheet.line((x - CROSS, middle - CROSS), (x + CROSS, middle + CROSS), Sheet::MARK);
        sheet.line((x - CROSS, middle + CROSS), (x + CROSS, middle - CROSS), Sheet::MARK);
    }
}

struct Canvas<'a> {
    set: &'a ApplicationSet,
    outcome: &'a Outcome,
    first: Instant,
    last: Instant,
    left: Length,
    width: Length,
    sheet: Sheet,
}

impl Canvas<'_> {
    fn right(&self) -> Length {
        self.width - RIGHT_MARGIN
    }

    fn x(&self, at: Instant) -> Length {
        let width = i128::from(self.right() - self.left);
        let since = i128::from(at.min(self.last).since(self.first).as_ns());
        let span = i128::from(self.last.since(self.first).as_ns());
        self.left + Length::try_from(since * width / span).proven("it lies between both ends")
    }

    fn fill(&self, injection: u32) -> Fill {
        // Injections of one application share its look, unless every injection can have one of its own.
        let application = self.set.injections.get(injection as usize).map_or(0, |injection| injection.application);
        series_fill(if self.set.injections.len() <= 8 { injection } else { application } as usize)
    }

    fn name(&self, injection: u32) -> String {
        let found = self.outcome.outcomes.get(injection as usize);
        found.map_or_else(String::new, |outcome| format!("{} #{injection}", outcome.name))
    }

    /// The name of an injection's row, as much of the application's as fits, and what tells it from others.
    fn row_name(&self, index: usize, room: Length) -> String {
        let Some(outcome) = self.outcome.outcomes.get(index) else { return String::new() };
        let rest = format!(" #{} ({})", outcome.injection, outcome.class);
        Sheet::fitted(&outcome.name, room - Sheet::text_width(&rest)) + &rest
    }

    /// One row for each injection, with its arrival and the instant at which it is due. Gives the y below.
    fn by_application(&mut self, mut y: Length) -> Length {
        let sms = Length::from(self.set.device.sms.max(1));
        for (index, outcome) in self.outcome.outcomes.iter().enumerate() {
            let room = self.left - Sheet::BESIDE_PLOT - Sheet::MARGIN;
            self.row(y, &self.row_name(index, room));
            let counts = self.outcome.sms_over_time(outcome.injection);
            for pair in counts.windows(2).filter(|pair| pair[0].sms > 0) {
                let (from, to) = (self.x(pair[0].at_ns), self.x(pair[1].at_ns));
                let height = (ROW - MM / 2) * Length::from(pair[0].sms) / sms;
                let note = format!(
                    "{}: {} SMs from {} to {}",
                    self.name(outcome.injection),
                    pair[0].sms,
                    pair[0].at_ns,
                    pair[1].at_ns
                );
                let area = Rect::between(from, y + ROW - height, to, y + ROW);
                self.bar(area, outcome.injection, note, &[&pair[0].sms.to_string()]);
            }
            let arrival = self.x(outcome.arrival_ns);
            self.sheet.line((arrival, y), (arrival, y + ROW), ARRIVAL);
            if outcome.due_ns <= self.last {
                self.due(outcome.due_ns, y, outcome.met, outcome.late_ns);
            }
            y += ROW;
        }
        y
    }

    /// When an application is due: a dotted line, with a cross if it was late.
    fn due(&mut self, due: Instant, y: Length, met: bool, late: Duration) {
        let x = self.x(due);
        let note = if met { format!("due {due}: met") } else { format!("due {due}: late by {late}") };
        self.sheet.explained(note, |sheet| due_mark(sheet, x, y, met));
    }

    /// One row for each SM. Gives the y below.
    fn by_sm(&mut self, top: Length) -> Length {
        let sms = self.set.device.sms;
        for sm in 0..sms {
            self.row(top + ROW * Length::from(sm), &format!("SM {sm}"));
        }
        for segment in &self.outcome.segments {
            let (from, to) = (self.x(segment.start), self.x(segment.end));
            let y = top + ROW * Length::from(segment.sm);
            let name = self.name(segment.injection);
            let note = format!("{name} on SM {} from {} to {}", segment.sm, segment.start, segment.end);
            self.bar(
                Rect::between(from, y + MM / 4, to, y + ROW),
                segment.injection,
                note,
                &[&name, &format!("#{}", segment.injection)],
            );
        }
        top + ROW * Length::from(sms)
    }

    fn row(&mut self, y: Length, name: &str) {
        self.sheet.line((self.left, y + ROW), (self.right(), y + ROW), Sheet::GRID);
        let name = Sheet::fitted(name, self.left - Sheet::BESIDE_PLOT - Sheet::MARGIN);
        self.sheet.text(name, self.left - Sheet::BESIDE_PLOT, y + ROW / 2, Anchor::End);
    }

    fn bar(&mut self, area: Rect, injection: u32, note: String, labels: &[&str]) {
        let fill = self.fill(injection);
        self.sheet.explained(note, |sheet| sheet.bar(area, fill, labels));
    }

    /// The axis of time below the rows; gives where it ends.
    fn axis(&mut self, y: Length) -> Length {
        let (from, to) = (self.first.as_ns(), self.last.as_ns());
        let ticks = time_ticks(from, to, Sheet::ticks_on(self.right() - self.left));
        let at: Vec<(Length, String)> =
            ticks.at.into_iter().map(|(ns, text)| (self.x(Instant::from_ns(ns)), text)).collect();
        self.sheet.axis((self.left, self.right()), y, at, &format!("time [{}]", ticks.unit))
    }

    /// What the marks of applications mean, as far as there are any; gives where it ends.
    fn key(&mut self, y: Length) -> Length {
        let due = |met: bool| self.outcome.outcomes.iter().any(|one| one.met == met && one.due_ns <= self.last);
        // With whether what is due was met.
        let arrives = Some(("arrives", None));
        let met = due(true).then_some(("due, and done by then", Some(true)));
        let late = due(false).then_some(("due, and late", Some(false)));
        let (mut x, mut top) = (self.left, y + MM / 2);
        for (name, is_met) in [arrives, met, late].into_iter().flatten() {
            let right = x + 2 * CROSS + MM / 2 + Sheet::text_width(name);
            if right > self.width && x > self.left {
                (x, top) = (self.left, top + ROW);
            }
            x += CROSS;
            match is_met {
                None => self.sheet.line((x, top), (x, top + ROW - MM / 2), ARRIVAL),
                Some(is_met) => due_mark(&mut self.sheet, x, top, is_met),
            }
            x += CROSS + MM / 2;
            self.sheet.text(name, x, top + ROW / 2, Anchor::Start);
            x += Sheet::text_width(name) + 4 * MM;
        }
        top + ROW + Sheet::MARGIN
    }
}
