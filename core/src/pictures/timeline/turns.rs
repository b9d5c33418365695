//! Contexts that take turns: the band that shows whose turn it is (rules T1 to T3), where blocks pause meanwhile (T4),
//! and, where turns are too short to be seen, steps for means over whole rounds, so that it does not matter where a
//! step begins.

use std::collections::BTreeSet;
use std::ops::Range;

use super::context::{Context, Entry, PALE, TimeScale, beside, centred};
use super::means::{Had, LEAST_STEP};
use super::{LegendSymbol, TimeShare, TurnBand, TurnBox, means};
use crate::draw::theme::{Fill, Theme, turn_fill};
use crate::draw::{Length, MM, Rect};
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::trace::ContextTurn;
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
        let narrow = of_process.filter(|span| context.scale.width_of(&span.time) < LEAST_WIDTH).count() > MOST_NARROW;
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
        let area = context.strip(top, height);
        let label = beside("turn".to_owned(), &area);
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
        let (shares, _) = means::stacked(context, area, Some(1), had, |key| fill_of(process(key)));
        let named = |TimeShare { of, count, fill, outlines }| TimeShare { of: process(of), count, fill, outlines };
        shares.into_iter().map(named).collect()
    }

    /// What the band and the pauses of blocks mean.
    pub(super) fn legend(&self, context: &Context<'_>) -> Vec<Entry> {
        let seen: BTreeSet<ProcessId> = self.spans.iter().filter_map(|span| span.process).collect();
        let named = |process: &ProcessId| {
            Entry::new(fill_of(Some(*process)), LegendSymbol::Area, format!("turn of {}", context.process(*process)))
        };
        let mut entries: Vec<_> = seen.iter().take(MOST_NAMED).map(named).collect();
        if let Some(rest) = seen.len().checked_sub(MOST_NAMED).filter(|rest| *rest > 0) {
            let entry = Entry::remark(format!("and turns of {rest} more processes"));
            entries.push(entry.or(&[&format!("and of {rest} more processes"), &format!("and {rest} more")]));
        }
        if self.spans.iter().any(|span| span.process.is_none()) {
            entries.push(Entry::new(fill_of(None), LegendSymbol::Area, "switch of contexts"));
        }
        if self.narrow {
            let shorter =
                ["turns: shares of time", "turns: shares", "turns"].map(|what| format!("{} {what}", self.count));
            let entry = Entry::remark(format!("{} turns, too short to see: shares of time", self.count));
            entries.push(entry.or(&shorter.each_ref().map(String::as_str)));
        } else if seen.len() > 1 {
            entries.push(Entry::new(PALE, LegendSymbol::Pause, "block pauses (T4)"));
        }
        entries
    }
}

/// How turns of a process look, or switches.
fn fill_of(process: Option<ProcessId>) -> Fill {
    turn_fill(process.map(ProcessId::index))
}

fn turn_box(context: &Context<'_>, span: &TurnSpan, band: &Rect) -> TurnBox {
    let area = Rect { x: context.scale.x(span.time.start), width: context.scale.width_of(&span.time), ..*band };
    let name = span.process.map(|process| context.process(process).to_owned());
    let label = name.and_then(|name| centred(&[name], &area, Theme::PAPER.small_size));
    let TurnSpan { process, turns, .. } = *span;
    TurnBox { process, turns, time: span.time.clone(), fill: fill_of(process), area, label }
}

impl Context<'_> {
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
        let places = times.map(|time| self.scale.x(time.start)..self.scale.x(time.end));
        places.filter(|place| place.start < place.end)
    }
}

/// A step is at least as wide as this.
const LEAST: Length = 3 * MM / 2;
/// What takes turns in no round is divided before it gets so wide.
const MOST: Length = 4 * LEAST;
/// A turn, or a time in which nobody has one, that is so wide belongs to no round: what runs in it is shown as finely
/// as may be.
const WIDE: Length = 3 * MM / 4;
/// Where two processes have followed one another so often, while those where the step begins have not, others take
/// turns now.
const STALE: usize = 3;

/// A turn or a switch in the window; turns of one context that follow one another at once are one.
pub(super) struct TurnSpan {
    /// `None`: a switch.
    pub(super) process: Option<ProcessId>,
    pub(super) time: Range<Instant>,
    pub(super) turns: u64,
}

/// A turn with the switch to it, or a time in which nobody has one.
struct Unit {
    process: Option<ProcessId>,
    /// With the switch.
    time: Range<Instant>,
    /// When the switch is over.
    start: Instant,
}

/// Who had the turn before one, and who has it; `None`: nobody.
type Pair = [Option<ProcessId>; 2];

struct Step {
    begin: Instant,
    /// The pair where it begins, then how often others have met since that met last; none: it is part of a wide turn.
    pairs: Vec<(Pair, usize)>,
}

impl Step {
    /// Whether it ends before a turn, so far as widths allow: a round ends where it began, between turns of the same
    /// two.
    fn is_round(&self, next: Pair) -> bool {
        let met = self.pairs.iter().position(|(pair, _)| *pair == next);
        met.is_some_and(|place| place == 0 || self.pairs[place].1 >= STALE)
    }

    fn meet(&mut self, next: Pair) {
        match self.pairs.iter().position(|(pair, _)| *pair == next) {
            Some(0) => self.pairs.truncate(1),
            Some(place) => self.pairs[place].1 += 1,
            None => self.pairs.push((next, 1)),
        }
    }
}

/// The numbers of the turns with which rounds begin, however wide these are. Turns of one context that follow one
/// another at once are one.
pub(crate) fn round_beginnings(turns: &[ContextTurn]) -> Vec<i64> {
    let (mut beginnings, mut round, mut last) = (Vec::new(), None::<Step>, None::<&ContextTurn>);
    for (number, turn) in (0..).zip(turns) {
        let before = last.replace(turn);
        if before.is_some_and(|before| before.process == turn.process && before.end == turn.start) {
            continue;
        }
        let pair = [before.map(|before| before.process), Some(turn.process)];
        if let Some(round) = round.as_mut().filter(|round| !round.is_round(pair)) {
            round.meet(pair);
        } else {
            beginnings.push(number);
            round = Some(Step { begin: turn.start, pairs: vec![(pair, 1)] });
        }
    }
    beginnings
}

/// Where steps begin and end between the edges of the window, in order. Wide turns are divided into steps of `finest`.
pub(super) fn rounds(spans: &[TurnSpan], scale: &TimeScale, finest: Length) -> Vec<Instant> {
    let x = |at: Instant| scale.x(at);
    let mut steps: Vec<Step> = Vec::new();
    let mut last = None;
    for unit in units(spans, &scale.window) {
        let pair = [last, unit.process];
        last = unit.process;
        let width = x(unit.time.end) - x(unit.start);
        if width >= WIDE {
            drop_sliver(&mut steps, unit.start, x);
            let count = u64::try_from(width / finest.max(1)).unwrap_or(1).max(1);
            let whole = u128::from(unit.time.end.since(unit.start).as_ns());
            let begins = (0..count).map(|number| {
                // No more than the whole.
                let ns = u64::try_from(whole * u128::from(number) / u128::from(count))
                    .proven("a part of a length of 64 bits has no more");
                Step { begin: unit.start + Duration::from_ns(ns), pairs: Vec::new() }
            });
            steps.extend(begins);
            continue;
        }
        match steps.last_mut().filter(|step| !step.pairs.is_empty()) {
            Some(step) if !ends(step, x(unit.time.start) - x(step.begin), pair) => step.meet(pair),
            _ => steps.push(Step { begin: unit.time.start, pairs: vec![(pair, 1)] }),
        }
    }
    drop_sliver(&mut steps, scale.window.end, x);
    let inside = steps.into_iter().map(|step| step.begin).filter(|edge| scale.window.start < *edge);
    inside.filter(|edge| *edge < scale.window.end).collect()
}

/// Whether a step of some width ends before a turn.
fn ends(step: &Step, width: Length, next: Pair) -> bool {
    width >= MOST || (width >= LEAST && step.is_round(next))
}

/// What is left of rounds until `end`, if it is too narrow, goes with the step of rounds before it.
fn drop_sliver(steps: &mut Vec<Step>, end: Instant, x: impl Fn(Instant) -> Length) {
    if let [.., before, last] = steps.as_slice()
        && !before.pairs.is_empty()
        && !last.pairs.is_empty()
        && x(end) - x(last.begin) < LEAST
    {
        steps.pop();
    }
}

/// Turns and what is between them, over the whole window.
fn units(spans: &[TurnSpan], window: &Range<Instant>) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut end = window.start;
    let mut switch: Option<Instant> = None;
    for span in spans {
        let from = switch.unwrap_or(span.time.start);
        if end < from {
            units.push(Unit { process: None, time: end..from, start: end });
            end = from;
        }
        if span.process.is_none() {
            switch = Some(span.time.start);
            continue;
        }
        switch = None;
        units.push(Unit { process: span.process, time: end..span.time.end, start: span.time.start });
        end = span.time.end;
    }
    if end < window.end {
        units.push(Unit { process: None, time: end..window.end, start: end });
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TurnEnd;

    fn ms(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    /// Turns of so many ms, one after another.
    fn turns(lengths: impl IntoIterator<Item = (u32, u64)>) -> Vec<TurnSpan> {
        let mut from = 0;
        let spans = lengths.into_iter().map(|(process, length)| {
            let time = ms(from)..ms(from + length);
            from += length;
            TurnSpan { process: Some(ProcessId(process)), time, turns: 1 }
        });
        spans.collect()
    }

    /// A scale on which a millisecond is 0.1 mm.
    fn scale(ms_in_all: u64) -> TimeScale {
        let width = Length::try_from(ms_in_all).expect("it fits") * MM / 10;
        TimeScale { window: ms(0)..ms(ms_in_all), left: 0, width }
    }

    #[test]
    fn steps_are_whole_rounds() {
        // Rounds of 3 + 2 + 2 ms: three of them are the first that are 1.5 mm wide.
        let spans = turns((0..60).map(|number| (number % 3, if number % 3 == 0 { 3 } else { 2 })));
        // The first turn has nobody before it, so the first step ends when the second has come three times more.
        let expected: Vec<Instant> = (1..=6).map(|number| ms(3 + number * 21)).collect();
        // What is left, 11 ms, is narrower than a step and goes with the last.
        assert_eq!(rounds(&spans, &scale(140), MM), expected[..5]);
    }

    #[test]
    fn rounds_begin_where_the_same_two_meet_and_soon_follow_those_who_take_turns_now() {
        let turn = |(process, from): (u32, u64)| {
            let (start, ended_by) = (ms(from), TurnEnd::TimeSlice);
            ContextTurn { process: ProcessId(process), switch_from: start, start, end: ms(from + 2), ended_by }
        };
        let beginnings = |processes: &[u32]| {
            let turns: Vec<_> = processes.iter().copied().zip((0..).step_by(3)).map(turn).collect();
            round_beginnings(&turns)
        };
        // Nobody was before the first turn, so that the second round begins when others have met three times.
        assert_eq!(beginnings(&[0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]), [0, 7, 9, 11]);
        // Turns that follow one another at once are one; these do not.
        assert_eq!(beginnings(&[0, 0, 0, 0, 0, 0]), [0, 4, 5]);
        let together = [(0, 0), (0, 2), (0, 4)].map(turn);
        assert_eq!(round_beginnings(&together), [0]);
    }

    #[test]
    fn a_wide_turn_is_divided_finely_and_belongs_to_no_round() {
        let narrow = |first: u32| (0..8).map(move |number| ((first + number) % 2, 5));
        let spans = turns(narrow(0).chain([(0, 40)]).chain(narrow(1)));
        let edges = rounds(&spans, &scale(120), MM / 2);
        let inside: Vec<Instant> = (8..=16).map(|number| ms(number * 5)).collect();
        assert!(inside.iter().all(|edge| edges.contains(edge)), "{edges:?}");
        assert!(edges.iter().all(|edge| *edge <= ms(25) || inside.contains(edge) || *edge >= ms(95)), "{edges:?}");
    }

    #[test]
    fn steps_of_those_who_take_turns_no_longer_end_soon() {
        // A third process takes part for 30 ms; then rounds of the first two are whole again.
        let three = (0..15).map(|number| (number % 3, 2));
        let two = (0..60).map(|number| (number % 2, 2));
        let edges = rounds(&turns(three.chain(two)), &scale(150), MM);
        let rest: Vec<_> = edges.iter().filter(|edge| **edge > ms(50)).collect();
        assert!(
            rest.len() > 3 && rest.windows(2).all(|pair| pair[1].since(*pair[0]) == ms(16).since(ms(0))),
            "{edges:?}"
        );
    }
}
