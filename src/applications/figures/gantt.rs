//! Which SMs each application had over time, by application and by SM, as SVG.

use std::collections::BTreeMap;
use std::fmt::Write;

use thiserror::Error;

use crate::applications::{ApplicationSet, Outcome, Segment};
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

/// Bars that a figure may have.
const MAX_SEGMENTS: usize = 50_000;
const LEFT: f64 = 170.0;
const WIDTH: f64 = 1_000.0;
const ROW: f64 = 26.0;
/// Okabe and Ito's colours without black, in tints that dark text can be read on.
const COLOURS: [&str; 8] = ["#56b4e9", "#e69f00", "#5cc9a7", "#f0e442", "#d992bc", "#7fa8d1", "#e58b5a", "#b3b3b3"];

/// Draws a run. Both kinds of rows stand in one picture, in the order asked for, over one time axis.
///
/// # Errors
/// [`GanttError`]
pub fn gantt_svg(set: &ApplicationSet, outcome: &Outcome, rows: &[GanttRows]) -> Result<String, GanttError> {
    let segments = outcome.segments.len();
    if segments == 0 {
        return Err(GanttError::Empty);
    }
    if segments > MAX_SEGMENTS {
        return Err(GanttError::TooMany { segments });
    }
    let first = set.injections.iter().map(|injection| injection.arrival).min().unwrap_or_default();
    let last = outcome.segments.iter().map(|segment| segment.end).max().unwrap_or_default();
    let canvas = Canvas { set, outcome, first, span_ns: (last.since(first).as_ns().max(1)) as f64 };
    let mut body = String::new();
    let mut y = 50.0;
    for kind in rows {
        y = match kind {
            GanttRows::Application => canvas.by_application(&mut body, y),
            GanttRows::Sm => canvas.by_sm(&mut body, y),
        };
        y += 18.0;
    }
    canvas.axis(&mut body, y);
    let (width, height) = (LEFT + WIDTH + 40.0, y + 40.0);
    let synthetic = if set.synthetic { " (SYNTHETIC profiles)" } else { "" };
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"12\" y=\"24\" font-size=\"16\">{}{synthetic}: {} of {} requirements met under {}</text>\n{body}</svg>\n",
        escaped(&set.name),
        outcome.met,
        outcome.applications,
        outcome.scheduler,
    ))
}

struct Canvas<'a> {
    set: &'a ApplicationSet,
    outcome: &'a Outcome,
    first: Instant,
    span_ns: f64,
}

impl Canvas<'_> {
    fn x(&self, at: Instant) -> f64 {
        LEFT + WIDTH * (at.since(self.first).as_ns() as f64 / self.span_ns).min(1.0)
    }

    fn colour(&self, injection: u32) -> &'static str {
        let application = self.set.injections.get(injection as usize).map_or(0, |injection| injection.application);
        // Injections of one application share its colour, unless every injection can have one of its own.
        let index = if self.set.injections.len() <= COLOURS.len() { injection } else { application };
        COLOURS[index as usize % COLOURS.len()]
    }

    fn name(&self, injection: u32) -> String {
        let found = self.outcome.outcomes.get(injection as usize);
        found.map_or_else(String::new, |outcome| format!("{} #{injection}", escaped(&outcome.name)))
    }

    /// One row for each injection, with its arrival and the instant at which it is due. Gives the y below.
    fn by_application(&self, body: &mut String, mut y: f64) -> f64 {
        let mut own: BTreeMap<u32, Vec<Segment>> = BTreeMap::new();
        for segment in &self.outcome.segments {
            own.entry(segment.injection).or_default().push(*segment);
        }
        let sms = f64::from(self.set.device.sms.max(1));
        for outcome in &self.outcome.outcomes {
            let label = format!("{} ({})", self.name(outcome.injection), outcome.class);
            Self::row(body, y, &label);
            let counts =
                own.get(&outcome.injection).map_or_else(Vec::new, |_| self.outcome.sms_over_time(outcome.injection));
            for pair in counts.windows(2) {
                let (from, to, height) = (self.x(pair[0].at_ns), self.x(pair[1].at_ns), f64::from(pair[0].sms) / sms);
                let height = (ROW - 4.0) * height;
                if height > 0.0 {
                    let note = format!(
                        "{}: {} SMs from {} to {}",
                        self.name(outcome.injection),
                        pair[0].sms,
                        pair[0].at_ns,
                        pair[1].at_ns
                    );
                    bar(body, from, y + ROW - 2.0 - height, to - from, height, self.colour(outcome.injection), &note);
                }
            }
            let arrival = self.x(outcome.arrival_ns);
            let _ = writeln!(body, "<path d=\"M{arrival:.2} {y:.2}v{ROW}\" stroke=\"#000\" stroke-width=\"1.5\"/>");
            if outcome.due_ns.since(self.first).as_ns() as f64 <= self.span_ns {
                let (due, colour) = (self.x(outcome.due_ns), if outcome.met { "#007a4d" } else { "#c00000" });
                let _ = writeln!(
                    body,
                    "<path d=\"M{due:.2} {y:.2}v{ROW}\" stroke=\"{colour}\" stroke-width=\"2\" \
                     stroke-dasharray=\"4 2\"><title>due {}: {}</title></path>",
                    outcome.due_ns,
                    if outcome.met { "met".to_owned() } else { format!("late by {}", outcome.late_ns) }
                );
            }
            y += ROW;
        }
        y
    }

    /// One row for each SM. Gives the y below.
    fn by_sm(&self, body: &mut String, top: f64) -> f64 {
        let sms = self.set.device.sms;
        for sm in 0..sms {
            Self::row(body, top + ROW * f64::from(sm), &format!("SM {sm}"));
        }
        for segment in &self.outcome.segments {
            let (from, to) = (self.x(segment.start), self.x(segment.end));
            let y = top + ROW * f64::from(segment.sm) + 2.0;
            let note = format!(
                "{} on SM {} from {} to {}",
                self.name(segment.injection),
                segment.sm,
                segment.start,
                segment.end
            );
            bar(body, from, y, to - from, ROW - 4.0, self.colour(segment.injection), &note);
            if to - from > 70.0 {
                let name = self.name(segment.injection);
                let _ = writeln!(body, "<text x=\"{:.2}\" y=\"{:.2}\">{name}</text>", from + 4.0, y + 15.0);
            }
        }
        top + ROW * f64::from(sms)
    }

    fn row(body: &mut String, y: f64, label: &str) {
        let _ = writeln!(
            body,
            "<path d=\"M{LEFT} {:.2}h{WIDTH}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.2}\" \
             text-anchor=\"end\">{label}</text>",
            y + ROW,
            LEFT - 8.0,
            y + 17.0
        );
    }

    /// Ticks at ten round instants or fewer.
    fn axis(&self, body: &mut String, y: f64) {
        let mut step = 1_u64;
        while self.span_ns / step as f64 > 10.0 {
            // 1, 2, 5, 10, 20, 50, …
            step = if step.to_string().starts_with('2') { step / 2 * 5 } else { step * 2 };
        }
        let _ = writeln!(body, "<path d=\"M{LEFT} {y:.2}h{WIDTH}\" stroke=\"#000\"/>");
        let mut offset = 0;
        while offset as f64 <= self.span_ns {
            let at = self.first + Duration::from_ns(offset);
            let x = self.x(at);
            let _ = writeln!(
                body,
                "<path d=\"M{x:.2} {y:.2}v6\" stroke=\"#000\"/><text x=\"{x:.2}\" y=\"{:.2}\" \
                 text-anchor=\"middle\">{at}</text>",
                y + 20.0
            );
            offset = offset.saturating_add(step);
        }
    }
}

fn bar(body: &mut String, x: f64, y: f64, width: f64, height: f64, colour: &str, note: &str) {
    let _ = writeln!(
        body,
        "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{colour}\" \
         stroke=\"#333\" stroke-width=\"0.4\"><title>{note}</title></rect>"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
