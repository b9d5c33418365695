//! Whose turn it is (rules T1 to T3), as a band above the SMs, and where blocks pause meanwhile (T4).

use std::ops::Range;

use super::context::{BESIDE_PLOT, Context, PALE, centred, ending_at};
use super::legend_entry::Other;
use super::profile::LEAST_STEP;
use super::rounds::{TurnSpan, rounds};
use super::scale::TimeScale;
use super::shares::{self, Had};
use super::{LabelStyle, LegendSymbol, TimeShare, TurnBand, TurnBox};
use crate::draw::theme::{Fill, Theme, turn_fill};
use crate::draw::{Length, MM, Rect};
use crate::time::Instant;
use crate::workload::{OperationId, ProcessId};

const HEIGHT: Length = 3 * MM + MM / 2;
/// Where shares are shown.
const HIGHER: Length = 7 * MM;
/// Between it and what is below.
const GAP: Length = MM;
/// Narrower turns are not told from their neighbours.
const LEAST_WIDTH: Length = 2 * MM / 5;
/// Where more turns than this are as narrow, shares are shown.
const MOST_NARROW: usize = 20;
/// Processes that the legend names.
const MOST_NAMED: usize = 6;

/// The turns that the window shows.
pub(super) struct Turns {
    spans: Vec<TurnSpan>,
    count: u64,
    narrow: bool,
}

impl Turns {
    /// Those of the run; none if its contexts do not take turns.
    pub(super) fn new(context: &Context<'_>) -> Self {
        let mut spans: Vec<TurnSpan> = Vec::new();
        let mut count = 0;
        let shows = |time: &Range<Instant>| time.start < time.end && context.scale.shows(time.start, time.end);
        for turn in context.summary.trace.turns() {
            let (switch, own) = (turn.switch_from..turn.start, turn.start..turn.end);
            if shows(&switch) {
                spans.push(TurnSpan { process: None, time: switch, turns: 0 });
            }
            if !shows(&own) {
                continue;
            }
            count += 1;
            match spans.last_mut() {
                Some(last) if last.process == Some(turn.process) && last.time.end == own.start => {
                    last.time.end = own.end;
                    last.turns += 1;
                }
                _ => spans.push(TurnSpan { process: Some(turn.process), time: own, turns: 1 }),
            }
        }
        let of_process = spans.iter().filter(|span| span.process.is_some());
        let narrow = of_process.filter(|span| context.width_of(&span.time) < LEAST_WIDTH).count() > MOST_NARROW;
        Self { spans, count, narrow }
    }

    /// If they are too many and too short to be shown one by one, where the steps of means begin: whole rounds.
    pub(super) fn rounds(&self, scale: &TimeScale) -> Option<Vec<Instant>> {
        self.narrow.then(|| rounds(&self.spans, scale, LEAST_STEP))
    }

    /// The band below `top`, if there are turns, and where it and what separates it from the next part end.
    pub(super) fn band(&self, context: &Context<'_>, top: Length) -> (Option<TurnBand>, Length) {
        if context.summary.trace.turns().is_empty() {
            return (None, top);
        }
        let height = if self.narrow { HIGHER } else { HEIGHT };
        let area = Rect { x: context.scale.left, y: top, width: context.scale.width, height };
        let right = area.x - BESIDE_PLOT;
        let size = Theme::PAPER.text_size;
        let label = ending_at(NAME.to_owned(), right, area.centre().y, size, LabelStyle::Normal);
        let (boxes, shares) = if self.narrow {
            (Vec::new(), self.shares(context, &area))
        } else {
            (self.spans.iter().map(|span| turn_box(context, span, &area)).collect(), Vec::new())
        };
        (Some(TurnBand { label, area, boxes, shares, turns: self.count }), area.bottom() + GAP)
    }

    /// For each process, and for switches, which part of the time it has, over steps too short to see.
    fn shares(&self, context: &Context<'_>, area: &Rect) -> Vec<TimeShare<Option<ProcessId>>> {
        // Switches are uppermost.
        let key = |process: Option<ProcessId>| process.map_or(u64::MAX, |process| process.0.into());
        let process = |key: u64| u32::try_from(key).ok().map(ProcessId);
        let had =
            self.spans.iter().map(|span| Had { what: key(span.process), count: span.turns, time: span.time.clone() });
        let (shares, _) = shares::stacked(context, area, Some(1), had, |key| fill_of(process(key)));
        let named = |TimeShare { of, count, fill, outlines }| TimeShare { of: process(of), count, fill, outlines };
        shares.into_iter().map(named).collect()
    }

    /// What the band and the pauses of blocks mean.
    pub(super) fn legend(&self, context: &Context<'_>) -> Vec<Other> {
        let mut seen: Vec<ProcessId> = self.spans.iter().filter_map(|span| span.process).collect();
        seen.sort_unstable();
        seen.dedup();
        let named = |process: &ProcessId| {
            Other::new(fill_of(Some(*process)), LegendSymbol::Area, format!("turn of {}", context.process(*process)))
        };
        let mut entries: Vec<_> = seen.iter().take(MOST_NAMED).map(named).collect();
        if let Some(rest) = seen.len().checked_sub(MOST_NAMED).filter(|rest| *rest > 0) {
            let text = format!("and turns of {rest} more processes");
            let shorter = [format!("and of {rest} more processes"), format!("and {rest} more")];
            entries.push(Other { shorter: shorter.to_vec(), ..Other::new(PALE, LegendSymbol::Nothing, text) });
        }
        if self.spans.iter().any(|span| span.process.is_none()) {
            entries.push(Other::new(fill_of(None), LegendSymbol::Area, "switch of contexts".to_owned()));
        }
        if self.narrow {
            let text = format!("{} turns, too short to see: shares of time", self.count);
            let shorter =
                ["turns: shares of time", "turns: shares", "turns"].map(|what| format!("{} {what}", self.count));
            entries.push(Other { shorter: shorter.to_vec(), ..Other::new(PALE, LegendSymbol::Nothing, text) });
        } else if seen.len() > 1 {
            entries.push(Other::new(PALE, LegendSymbol::Pause, "block pauses (T4)".to_owned()));
        }
        entries
    }
}

pub(super) const NAME: &str = "turn";

/// How turns of a process look, or switches.
fn fill_of(process: Option<ProcessId>) -> Fill {
    turn_fill(process.map(ProcessId::index))
}

fn turn_box(context: &Context<'_>, span: &TurnSpan, band: &Rect) -> TurnBox {
    let (left, width) = (context.place_of(span.time.start), context.width_of(&span.time));
    let area = Rect { x: left, width, ..*band };
    let name = span.process.map(|process| context.process(process).to_owned());
    let label = name.and_then(|name| centred(&[name], &area, Theme::PAPER.small_size));
    let TurnSpan { process, turns, .. } = *span;
    TurnBox { process, turns, time: span.time.clone(), fill: fill_of(process), area, label }
}

impl Context<'_> {
    /// Where an instant is; at an edge of the plot if it is outside the window.
    fn place_of(&self, at: Instant) -> Length {
        self.scale.x(at.max(self.scale.window.start))
    }

    /// How wide what is seen of a time is.
    fn width_of(&self, time: &Range<Instant>) -> Length {
        self.place_of(time.end) - self.place_of(time.start)
    }

    /// What a process is called.
    pub(super) fn process(&self, process: ProcessId) -> &str {
        self.summary.trace.process_name(process)
    }

    /// In how many turns of its context something runs within the window, at least 1.
    pub(super) fn parts_of(&self, operation: OperationId, time: Range<Instant>) -> u64 {
        let trace = self.summary.trace;
        if trace.turns().is_empty() {
            return 1;
        }
        let seen = time.start.max(self.scale.window.start)..time.end.min(self.scale.window.end);
        (trace.in_turn(trace.process_of_known(operation), seen).count() as u64).max(1)
    }

    /// The places from left to right, from where to where, at which what runs for `time` pauses because it is the turn
    /// of another context; none where these are too short to be shown.
    pub(super) fn pauses(&self, process: ProcessId, time: &Range<Instant>) -> Vec<Range<Length>> {
        let trace = self.summary.trace;
        if trace.turns().is_empty() || self.rounds.is_some() {
            return Vec::new();
        }
        let window = &self.scale.window;
        let seen = time.start.max(window.start)..time.end.min(window.end).min(trace.end());
        self.places_of(trace.out_of_turn(process, seen)).collect()
    }

    /// As [`Context::pauses`], of a whole kernel or a copy; none where they are too many and too short.
    pub(super) fn pauses_of(&self, operation: OperationId) -> Vec<Range<Length>> {
        if self.rounds.is_some() {
            return Vec::new();
        }
        let seen = |pause: &Range<Instant>| pause.start < self.scale.window.end && self.scale.window.start < pause.end;
        let pauses: Vec<_> = self.places_of(self.summary.trace.pauses(operation).filter(seen)).collect();
        let narrow = pauses.iter().filter(|pause| pause.end - pause.start < LEAST_WIDTH).count();
        if narrow > MOST_NARROW { Vec::new() } else { pauses }
    }

    /// Where some times are that have a width.
    fn places_of<'i>(
        &'i self,
        times: impl Iterator<Item = Range<Instant>> + 'i,
    ) -> impl Iterator<Item = Range<Length>> + 'i {
        let places = times.map(|time| self.place_of(time.start)..self.place_of(time.end));
        places.filter(|place| place.start < place.end)
    }
}
