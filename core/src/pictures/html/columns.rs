//! The page's data that stands in columns: instants and fills, to which all others refer by number, and the lanes above
//! the SMs: who has which core, whose turn it is, and the longest way of data through a chain.

use std::hash::Hash;
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use crate::draw::theme::{Colour, Fill, series_colour, series_fill, share_fill, turn_fill};
use crate::pictures::timeline::round_beginnings;
use crate::proven::Proven;
use crate::run::{CoreSpan, LongestWay, TURN_WORDS, TurnWords};
use crate::scenario::Scenario;
use crate::time::Instant;
use crate::trace::Trace;
use crate::workload::ProcessId;

/// The distinct instants of a run, in ascending order.
#[derive(Debug)]
pub(super) struct Instants(Vec<Instant>);

impl Instants {
    pub(super) fn new(mut instants: Vec<Instant>) -> Self {
        instants.sort_unstable();
        instants.dedup();
        Self(instants)
    }

    /// The number of an instant, which must be among them.
    pub(super) fn number(&self, instant: Instant) -> i64 {
        i64::try_from(self.0.partition_point(|other| *other < instant)).proven("a list has fewer than 2^63 entries")
    }

    /// The number of an instant, -1 for one that was not reached.
    pub(super) fn number_or_never(&self, instant: Option<Instant>) -> i64 {
        instant.map_or(-1, |instant| self.number(instant))
    }

    /// The number of the end of a time, counted from that of its beginning.
    pub(super) fn length(&self, time: &Range<Instant>) -> i64 {
        self.number(time.end) - self.number(time.start)
    }

    /// Of times in order the beginnings, each counted from the end of the one before, and the lengths.
    fn in_a_row(&self, times: impl Iterator<Item = Range<Instant>>) -> (Vec<i64>, Vec<i64>) {
        let edges = steps(times.flat_map(|time| [time.start, time.end]).map(|at| self.number(at)));
        edges.chunks_exact(2).map(|edge| (edge[0], edge[1])).unzip()
    }
}

/// The first instant and then what is between each and the next \[ns\].
impl Serialize for Instants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut last = Instant::ZERO;
        serializer.collect_seq(self.0.iter().map(|&instant| {
            let step = instant.since(last).as_ns();
            last = instant;
            step
        }))
    }
}

/// Each number less the one before it.
pub(super) fn steps(numbers: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let mut last = 0;
    numbers.into_iter().map(|number| number - std::mem::replace(&mut last, number)).collect()
}

/// Things that are written once each, in the order of the numbers by which they are referred to.
#[derive(Debug)]
pub(super) struct Once<T>(FxHashMap<T, usize>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

impl<T: Eq + Hash> Once<T> {
    pub(super) fn number(&mut self, one: T) -> usize {
        let next = self.0.len();
        *self.0.entry(one).or_insert(next)
    }
}

impl<T: Serialize> Serialize for Once<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all: Vec<(&T, &usize)> = self.0.iter().collect();
        crate::sorted::sort_by_key(&mut all, |(_, number)| **number);
        serializer.collect_seq(all.into_iter().map(|(one, _)| one))
    }
}

/// Fills by number of the kernel's title, see [`KernelSeries`](crate::pictures::looks::KernelSeries); after the
/// last they repeat.
#[derive(Debug, Serialize)]
pub(super) struct Palette {
    light: Vec<PageFill>,
    dark: Vec<PageFill>,
}

#[derive(Debug, Serialize)]
pub(super) struct PageFill {
    background: String,
    hatch: &'static str,
    ink: String,
    /// One colour for areas that are too small for a hatch.
    small: String,
}

/// From this number on they repeat, see [`series_fill`].
const FILLS: usize = 64;

impl Palette {
    pub(super) fn new() -> Self {
        let dark = |index| {
            let Fill { hatch, .. } = series_fill(index);
            Fill { background: series_colour(index).shade(45), hatch, ink: series_colour(index).shade(85) }
        };
        Self {
            light: (0..FILLS).map(|index| PageFill::from(series_fill(index))).collect(),
            dark: (0..FILLS).map(|index| PageFill::from(dark(index))).collect(),
        }
    }
}

impl PageFill {
    /// A grey fill on a dark page: what was light is dark.
    pub(super) fn dark(fill: Fill) -> Self {
        let inverted = |Colour(red, green, blue): Colour| Colour(255 - red, 255 - green, 255 - blue);
        Self::from(Fill { background: inverted(fill.background), ink: inverted(fill.ink), ..fill })
    }
}

impl From<Fill> for PageFill {
    fn from(fill: Fill) -> Self {
        Self {
            background: fill.background.hex(),
            hatch: fill.hatch.name(),
            ink: fill.ink.hex(),
            small: fill.without_hatch().background.hex(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct CoreData {
    lanes: Vec<CoreLane>,
    /// By number of the host thread.
    light: Vec<PageFill>,
    dark: Vec<PageFill>,
}

#[derive(Debug, Serialize)]
struct CoreLane {
    core: u32,
    thread: Vec<u32>,
    job: Vec<u32>,
    spins: Vec<bool>,
    /// Number of the instant at which it begins, counted from the end of the one before.
    start: Vec<i64>,
    /// Number of its end, counted from its beginning.
    length: Vec<i64>,
}

impl CoreData {
    /// `None` where hosts share no core.
    pub(super) fn new(spans: &[CoreSpan], threads: usize, instants: &Instants) -> Option<Self> {
        let lane = |own: &[CoreSpan]| {
            let (start, length) = instants.in_a_row(own.iter().map(|span| span.start..span.end));
            CoreLane {
                core: own.first().map_or(0, |span| span.core),
                thread: own.iter().map(|span| span.thread).collect(),
                job: own.iter().map(|span| span.iteration).collect(),
                spins: own.iter().map(|span| span.spins).collect(),
                start,
                length,
            }
        };
        let lanes: Vec<CoreLane> = spans.chunk_by(|one, other| one.core == other.core).map(lane).collect();
        let looks = |fill: fn(usize) -> PageFill| (0..threads).map(fill).collect();
        (!lanes.is_empty()).then(|| Self {
            lanes,
            light: looks(|thread| PageFill::from(share_fill(thread))),
            dark: looks(|thread| PageFill::dark(share_fill(thread))),
        })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct TurnData {
    process: Vec<u32>,
    /// Number of the instant at which the switch to it began, counted from the end of the turn before.
    switch_from: Vec<i64>,
    /// Number of its beginning, counted from that.
    start: Vec<i64>,
    /// Number of its end, counted from its beginning.
    length: Vec<i64>,
    ended_by: Vec<usize>,
    ends: Once<&'static str>,
    /// By process when it has turns, those that follow one another at once as one: the number of each beginning,
    /// counted from the end before, and that of its end, counted from its beginning.
    served: Vec<(Vec<i64>, Vec<i64>)>,
    /// Whether copies run in turns only, too.
    has_copies: bool,
    words: TurnWords,
    /// Numbers of the turns with which rounds begin, each counted from the one before.
    rounds: Vec<i64>,
    /// By process, and behind them of switches.
    light: Vec<PageFill>,
    dark: Vec<PageFill>,
}

impl TurnData {
    /// `None` where contexts do not take turns.
    pub(super) fn new(trace: &Trace, instants: &Instants) -> Option<Self> {
        if !trace.is_time_sliced() {
            return None;
        }
        let processes = (0..).map(ProcessId).take(trace.processes().len());
        let turns = trace.turns();
        let times = turns.iter().flat_map(|turn| [turn.switch_from, turn.start, turn.end]);
        let times = steps(times.map(|at| instants.number(at)));
        let column = |place: usize| times.iter().skip(place).step_by(3).copied().collect();
        let mut ends = Once::default();
        let fills = || processes.clone().map(|process| turn_fill(Some(process.index()))).chain([turn_fill(None)]);
        let looks = |of: fn(Fill) -> PageFill| fills().map(of).collect();
        Some(Self {
            process: turns.iter().map(|turn| turn.process.0).collect(),
            switch_from: column(0),
            start: column(1),
            length: column(2),
            ended_by: turns.iter().map(|turn| ends.number(turn.ended_by.name())).collect(),
            ends,
            served: processes
                .clone()
                .map(|process| instants.in_a_row(trace.in_turn(process, Instant::ZERO..trace.end())))
                .collect(),
            has_copies: trace.copies_run_in_turns(),
            words: TURN_WORDS,
            rounds: steps(round_beginnings(turns)),
            light: looks(PageFill::from),
            dark: looks(PageFill::dark),
        })
    }
}

#[derive(Debug, Serialize)]
pub(super) struct ChainData {
    said: String,
    jobs: Vec<ChainJob>,
}

/// A job of it, in the lane of its core, or else in the row of its stream.
#[derive(Debug, Serialize)]
struct ChainJob {
    core: Option<u32>,
    stream: Option<u32>,
    /// Numbers of the instants at which it reads and has written.
    read: i64,
    written: i64,
}

impl ChainData {
    pub(super) fn new(longest: &LongestWay<'_>, scenario: &Scenario, instants: &Instants, end: Instant) -> Self {
        let job = |&(thread, read, written): &(u32, Instant, Instant)| {
            let thread = scenario.threads.get(thread as usize)?;
            Some(ChainJob {
                core: thread.core.map(|share| share.core),
                stream: thread.first_stream().map(|stream| stream.0),
                read: instants.number(read.min(end)),
                written: instants.number(written.min(end)),
            })
        };
        let said = format!("{}, by {}", longest.name(), longest.delay.path(longest.chain, scenario));
        Self { said, jobs: longest.jobs.iter().filter_map(job).collect() }
    }
}

/// The instants that it tells of, up to the end of the run.
pub(super) fn instants_of_chain(longest: &LongestWay<'_>, end: Instant) -> impl Iterator<Item = Instant> {
    longest.jobs.iter().flat_map(move |(_, read, written)| [(*read).min(end), (*written).min(end)])
}

#[cfg(test)]
mod tests {
    use super::super::InsideScript;
    use super::*;

    #[test]
    fn instants_are_written_as_steps_and_long_ones_as_text() {
        let ns = Instant::from_ns;
        let instants = Instants::new(vec![ns(u64::MAX - 1), ns(7), ns(0), ns(7), ns(9)]);
        assert_eq!((instants.number(ns(7)), instants.number_or_never(Some(ns(u64::MAX - 1)))), (1, 3));
        assert_eq!(instants.number_or_never(None), -1);
        let mut text = Vec::new();
        let mut json = serde_json::Serializer::with_formatter(&mut text, InsideScript);
        instants.serialize(&mut json).expect("it can be written");
        let text = String::from_utf8(text).expect("JSON is text");
        assert_eq!(text, format!("[0,7,2,\"{}\"]", u64::MAX - 10));
    }

    #[test]
    fn the_colours_are_those_of_figures() {
        let palette = serde_json::to_value(Palette::new()).unwrap();
        let light = palette["light"].as_array().unwrap();
        for (index, fill) in light.iter().enumerate() {
            assert_eq!(fill["background"], series_fill(index).background.hex());
        }
        assert_eq!((light.len(), palette["dark"].as_array().map(Vec::len)), (64, Some(64)));
    }
}
