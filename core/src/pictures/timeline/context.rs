//! What every part of the layout needs: the run and what to show of it, the scale of time, how much of the sheet each
//! part may take, labels, and entries of the legend.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::options::{Lanes, TimelineOptions};
use super::{Label, LabelStyle, LegendSymbol};
use crate::draw::theme::{Colour, Fill, Theme, series_fill, series_repeat};
use crate::draw::{Anchor, Length, MM, Rect, Sheet, as_length, font};
use crate::limits::count_turn;
use crate::pictures::looks::{KernelSeries, MOST_PLACES, copy_fill, direction_name};
use crate::pictures::timeline_model::{MOST_WAIT_LANES_ON_PAPER, demand_of, is_seen, still_until};
use crate::proven::OrMost;
use crate::run::{Stands, Summary};
use crate::time::{Duration, Instant};
use crate::workload::{CheckedKernel, KernelId, Kernels, OperationId, OperationKind, ProcessId};

/// How kernels look that are not among those asked for.
pub(super) const PALE: Fill = Fill::plain(Colour(0xee, 0xee, 0xee));

/// The run, what to show of it, and the scale of time.
pub(super) struct Context<'a> {
    pub(super) summary: Summary<'a>,
    pub(super) options: &'a TimelineOptions,
    pub(super) scale: TimeScale,
    /// When blocks wait on their SMs.
    pub(super) stands: Stands<'a>,
    /// Whether the run stands still when it ends.
    pub(super) is_still: bool,
    /// What kernels are called in the figure, by [`KernelId`].
    short_names: Vec<&'a str>,
    series: KernelSeries,
    first_of_series: Vec<KernelId>,
    pub(super) budget: Budget,
    /// Where the steps of means begin, if turns of contexts are too many and too short to be shown one by one.
    pub(super) rounds: Option<Vec<Instant>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(summary: &Summary<'a>, options: &'a TimelineOptions, scale: TimeScale) -> Self {
        let kernels = summary.trace.kernels();
        let series = KernelSeries::new(kernels);
        let mut first_of_series = vec![KernelId(u32::MAX); kernels.len()];
        for id in (0..).map(KernelId).take(kernels.len()) {
            let first = &mut first_of_series[series.of(id)];
            *first = id.min(*first);
        }
        let short_names = short_names(kernels);
        let (budget, rounds) = (Budget::GENEROUS, None);
        let stands = Stands::new(summary.trace);
        let is_still = still_until(summary, Instant::ZERO).is_some();
        let summary = *summary;
        Self { summary, options, scale, stands, is_still, short_names, series, first_of_series, budget, rounds }
    }

    /// Until when what has not ended when the run does is shown.
    pub(super) fn end(&self) -> Instant {
        if self.is_still { self.scale.window.end } else { self.summary.trace.end() }
    }

    /// Until when a wait is shown that is recorded until `to`.
    pub(super) fn waits_until(&self, to: Instant) -> Instant {
        if to == self.summary.trace.end() { self.end() } else { to }
    }

    /// The number of a kernel's title: all kernels of one title look alike.
    pub(super) fn series(&self, id: KernelId) -> usize {
        self.series.of(id)
    }

    pub(super) fn first_of(&self, series: usize) -> KernelId {
        self.first_of_series.get(series).copied().unwrap_or(KernelId(u32::MAX))
    }

    /// What a kernel is called where there is little room: its title without a remark in brackets, unless another
    /// kernel would have the same name then.
    pub(super) fn short_name(&self, id: KernelId) -> &'a str {
        self.short_names.get(id.index()).copied().unwrap_or_default()
    }

    /// What tells the areas of a kernel from those with its hatch, see [`series_repeat`].
    pub(super) fn repeat(&self, id: KernelId) -> Option<String> {
        series_repeat(self.series(id)).filter(|_| self.is_chosen(id)).map(|number| number.to_string())
    }

    pub(super) fn kernel(&self, id: KernelId) -> Option<&'a CheckedKernel> {
        self.summary.trace.kernels().get(id.index())
    }

    /// What one block of a kernel takes of the resource shown.
    pub(super) fn units(&self, kernel: &CheckedKernel) -> u32 {
        let device = self.summary.scenario.device();
        self.options.height_by.of_block(&demand_of(kernel, device), device)
    }

    /// What an SM has of the resource shown.
    pub(super) fn capacity(&self) -> u32 {
        self.options.height_by.of_sm(self.summary.scenario.device()).max(1)
    }

    /// Whether a kernel is one of those asked for.
    pub(super) fn is_chosen(&self, id: KernelId) -> bool {
        let Some(only) = &self.options.only else { return true };
        self.kernel(id).is_some_and(|kernel| only.iter().any(|title| **title == *kernel.title))
    }

    /// Whether a kernel is asked for; other operations are where all kernels are.
    pub(super) fn is_asked_for(&self, kind: OperationKind) -> bool {
        match kind {
            OperationKind::Kernel(kernel) => self.is_chosen(kernel),
            _ => self.options.only.is_none(),
        }
    }

    /// What a host thread is called.
    pub(super) fn host(&self, thread: u32) -> &str {
        self.summary.scenario.threads.get(thread as usize).map_or("", |thread| &thread.label)
    }

    /// What a process is called.
    pub(super) fn process(&self, process: ProcessId) -> &str {
        self.summary.trace.process_name(process)
    }

    /// What an operation is called in few words.
    pub(super) fn name_of(&self, operation: OperationId) -> String {
        let trace = self.summary.trace;
        match trace.record(operation).map(|record| record.kind) {
            Some(OperationKind::Kernel(kernel)) => self.short_name(kernel).to_owned(),
            Some(OperationKind::Copy(_)) => {
                trace.copy_of(operation).map_or("", |copy| direction_name(copy.direction)).to_owned()
            }
            Some(kind) => kind.name().to_owned(),
            None => String::new(),
        }
    }

    pub(super) fn fill_of_operation(&self, operation: OperationId) -> Fill {
        let trace = self.summary.trace;
        match trace.record(operation).map(|record| record.kind) {
            Some(OperationKind::Kernel(kernel)) => fill_of(self, Some(kernel)),
            _ => trace.copy_of(operation).map_or(PALE, |copy| copy_fill(copy.direction)),
        }
    }

    /// A strip as wide as the plot.
    pub(super) fn strip(&self, y: Length, height: Length) -> Rect {
        Rect { x: self.scale.left, y, width: self.scale.width, height }
    }
}

fn short_names(kernels: &Kernels) -> Vec<&str> {
    let mut titles: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for kernel in kernels.iter() {
        titles.entry(short(&kernel.title)).or_default().insert(&kernel.title);
    }
    let unique = |short: &str| titles.get(short).is_some_and(|titles| titles.len() == 1);
    kernels
        .iter()
        .map(|kernel| Some(short(&kernel.title)).filter(|name| unique(name)).unwrap_or(&kernel.title))
        .collect()
}

/// A name without the remark in brackets at its end, as `K1` of `K1 (low priority)`.
pub(super) fn short(name: &str) -> &str {
    match name.find(" (") {
        Some(end) if end > 0 && name.ends_with(')') => &name[..end],
        _ => name,
    }
}

pub(super) fn fill_of(context: &Context<'_>, kernel: Option<KernelId>) -> Fill {
    match kernel {
        Some(id) if context.is_chosen(id) => series_fill(context.series(id)),
        _ => PALE,
    }
}

/// The first of some texts that fits into the middle of `room` with some space around it.
pub(super) fn centred(texts: &[String], room: &Rect, size: Length) -> Option<Label> {
    let (beside, above) = (size / 8, size / 10);
    texts.iter().find_map(|text| {
        let width = font::width(text, size, false) + beside * 2;
        let fits = !text.is_empty() && width <= room.width && size + above * 2 <= room.height;
        let height = size + above * 2;
        let (x, y) = (room.x + (room.width - width) / 2, room.y + (room.height - height) / 2);
        let area = Rect { x, y, width, height };
        fits.then(|| Label { text: text.clone(), area, anchor: Anchor::Middle, size, style: LabelStyle::Normal })
    })
}

/// A text that ends at `right`, in the middle between `top` and `bottom`.
pub(super) fn ending_at(text: String, right: Length, middle: Length, size: Length, style: LabelStyle) -> Label {
    let width = font::width(&text, size, style == LabelStyle::Bold);
    let area = Rect { x: right - width, y: middle - size / 2, width, height: size };
    Label { text, area, anchor: Anchor::End, size, style }
}

/// The name of a lane or panel, beside the plot.
pub(super) fn beside(name: String, area: &Rect) -> Label {
    ending_at(name, area.x - Sheet::BESIDE_PLOT, area.centre().y, Theme::PAPER.text_size, LabelStyle::Normal)
}

/// What is said of a lane in small grey letters, beside the plot.
pub(super) fn quiet_beside(text: String, area: &Rect) -> Label {
    ending_at(text, area.x - Sheet::BESIDE_PLOT, area.centre().y, Theme::PAPER.small_size, LabelStyle::Quiet)
}

/// A text that begins at `left`.
pub(super) fn starting_at(text: String, left: Length, middle: Length, size: Length, style: LabelStyle) -> Label {
    let width = font::width(&text, size, style == LabelStyle::Bold);
    let area = Rect { x: left, y: middle - size / 2, width, height: size };
    Label { text, area, anchor: Anchor::Start, size, style }
}

/// A window of time and the stretch of paper that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimeScale {
    pub(super) window: Range<Instant>,
    pub(super) left: Length,
    pub(super) width: Length,
}

impl TimeScale {
    /// Length of the window \[ns\], at least 1.
    pub(super) fn span_ns(&self) -> u64 {
        self.window.end.since(self.window.start).as_ns().max(1)
    }

    /// Where an instant is; what lies outside the window is at its edge. Later instants are never further left.
    pub(super) fn x(&self, instant: Instant) -> Length {
        let since = instant.min(self.window.end).since(self.window.start);
        self.left + self.length(since)
    }

    /// How wide what is seen of a time is.
    pub(super) fn width_of(&self, time: &Range<Instant>) -> Length {
        self.x(time.end) - self.x(time.start)
    }

    /// How long a duration is on paper, to the nearest hundredth of a millimetre.
    pub(super) fn length(&self, duration: Duration) -> Length {
        proportion(duration.as_ns(), self.span_ns(), self.width)
    }

    /// Whether something from `start` to `end` is seen in the window; what has no length is seen at both edges.
    pub(super) fn shows(&self, start: Instant, end: Instant) -> bool {
        is_seen(&self.window, start, end)
    }

    pub(super) fn right(&self) -> Length {
        self.left + self.width
    }
}

/// `part / whole * length`, to the nearest integer.
fn proportion(part: u64, whole: u64, length: Length) -> Length {
    let length = u128::from(length.unsigned_abs());
    let scaled = (u128::from(part) * length * 2 + u128::from(whole)) / (u128::from(whole) * 2);
    Length::try_from(scaled).or_most()
}

/// How high in `band` an amount of the resource reaches, of which the whole band shows `capacity`.
pub(super) fn y(band: &Rect, units: u32, capacity: u32) -> Length {
    band.bottom() - proportion(u64::from(units), u64::from(capacity.max(1)), band.height)
}

/// Boxes narrower than this are not told from what is beside them.
pub(super) const LEAST_WIDTH: Length = 3 * MM / 10;

/// Where narrow boxes stand.
pub(super) struct Crowd {
    taken: Vec<bool>,
    left: Length,
}

impl Crowd {
    pub(super) fn new(scale: &TimeScale) -> Self {
        let columns = usize::try_from(scale.width / LEAST_WIDTH).unwrap_or(0) + 1;
        Self { taken: vec![false; columns], left: scale.left }
    }

    pub(super) fn add(&mut self, scale: &TimeScale, time: &Range<Instant>) {
        let column = usize::try_from((scale.x(time.start) - self.left) / LEAST_WIDTH).unwrap_or(0);
        if scale.width_of(time) < LEAST_WIDTH
            && let Some(taken) = self.taken.get_mut(column)
        {
            *taken = true;
        }
    }

    /// Whether there are narrow ones on more than half of the width: drawn one by one, at least as wide as a line each,
    /// they would be one area, whatever share of the time they take.
    pub(super) fn is_dense(&self) -> bool {
        self.taken.iter().filter(|taken| **taken).count() * 2 > self.taken.len()
    }
}

/// What stands in one lane, in the order of its starts: one by one, but what is too narrow together with what follows
/// within the same width.
pub(super) fn joined<'t, T>(scale: &TimeScale, all: &'t [T], time: impl Fn(&T) -> Range<Instant>) -> Vec<&'t [T]> {
    let mut groups = Vec::new();
    let mut rest = all;
    while let Some(first) = rest.first() {
        count_turn();
        let left = scale.x(time(first).start);
        let is_narrow =
            |time: Range<Instant>| scale.width_of(&time) < LEAST_WIDTH && scale.x(time.end) - left <= LEAST_WIDTH;
        let (these, others) = rest.split_at(rest.iter().take_while(|one| is_narrow(time(one))).count().max(1));
        groups.push(these);
        rest = others;
    }
    groups
}

/// Whether boxes of some times would be one area.
pub(super) fn are_dense(scale: &TimeScale, times: impl Iterator<Item = Range<Instant>>) -> bool {
    let mut crowd = Crowd::new(scale);
    times.for_each(|time| crowd.add(scale, &time));
    crowd.is_dense()
}

pub(super) const LEGEND_ROW: Length = 3 * MM + MM / 5;
/// Rows of the legend where there is room; what they do not hold is counted.
pub(super) const MOST_LEGEND_ROWS: usize = 12;
pub(super) const STREAM_ROW: Length = 3 * MM + MM / 2;
/// Rows at most; further streams share the last one.
const MOST_STREAM_ROWS: usize = 24;
/// Height of one place in a queue.
pub(super) const QUEUE_LANE: Length = 2 * MM + MM * 7 / 10;
pub(super) const LEAST_STREAM_LANE: Length = 5 * MM / 2;
pub(super) const STREAM_LANE_GAP: Length = MM / 2;
/// Height of a lane of waits in the row of a stream: room for what is written beside them.
pub(super) const WAIT_LANE: Length = 2 * MM + MM / 5;
/// All bands together take at least this, however little room there is.
const LEAST_BANDS: Length = 14 * MM;

/// Rows of lists, and the height of all bands together: at most, or as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) legend_rows: usize,
    pub(super) stream_rows: usize,
    /// Places of the longest queue.
    pub(super) queue_lanes: usize,
    /// Lanes of waits of the stream with most of them.
    pub(super) wait_lanes: usize,
    /// All bands, or lanes of streams.
    pub(super) bands: Length,
}

impl Budget {
    /// As much as looks good where the sheet is high enough.
    pub(super) const GENEROUS: Self = Self {
        legend_rows: MOST_LEGEND_ROWS,
        stream_rows: MOST_STREAM_ROWS,
        queue_lanes: MOST_PLACES,
        wait_lanes: MOST_WAIT_LANES_ON_PAPER,
        bands: Length::MAX / 4,
    };

    /// As little as tells something: no figure is lower.
    pub(super) const LEAST: Self =
        Self { legend_rows: 1, stream_rows: 1, queue_lanes: 1, wait_lanes: 1, bands: LEAST_BANDS };

    /// Less than is `used`, so that a figure that is `excess` too high fits: first lower bands, then fewer lanes of
    /// waits, streams, entries of the legend, and places in queues, each down to the least that tells something. Each
    /// stream that is left out saves its row, and its lane if `lanes` are streams.
    pub(super) fn reduced(used: Self, excess: Length, lanes: Lanes) -> Self {
        let Self { mut legend_rows, mut stream_rows, mut queue_lanes, mut wait_lanes, bands } = used;
        let (least, lane) = match lanes {
            Lanes::Sms => (LEAST_BANDS, 0),
            Lanes::Streams => {
                let each = LEAST_STREAM_LANE + STREAM_LANE_GAP;
                (each * as_length(stream_rows), each)
            }
        };
        let lower = excess.clamp(0, (bands - least).max(0));
        let mut missing = excess - lower;
        let mut cut = |rows: &mut usize, least: usize, height: Length| {
            let wanted = usize::try_from((missing + height - 1) / height).unwrap_or(0);
            let fewer = wanted.min(rows.saturating_sub(least));
            *rows -= fewer;
            missing -= as_length(fewer) * height;
        };
        cut(&mut wait_lanes, 2, WAIT_LANE * as_length(stream_rows));
        cut(&mut stream_rows, 4, STREAM_ROW + lane);
        cut(&mut legend_rows, 3, LEGEND_ROW);
        cut(&mut queue_lanes, 2, QUEUE_LANE);
        cut(&mut stream_rows, 1, STREAM_ROW + lane);
        Self { legend_rows, stream_rows, queue_lanes, wait_lanes, bands: bands - lower }
    }
}

/// An entry of the legend, without its place.
pub(super) struct Entry {
    /// What stands before the text.
    pub(super) mark: Option<(Fill, LegendSymbol)>,
    /// The part of the text that may be shortened.
    pub(super) name: String,
    /// The part that may not.
    pub(super) rest: String,
    /// What is written where that has no room, the best first.
    pub(super) shorter: Vec<String>,
    /// The number in its mark.
    pub(super) repeat: Option<usize>,
}

impl Entry {
    pub(super) fn new(fill: Fill, symbol: LegendSymbol, name: impl Into<String>) -> Self {
        Self { mark: Some((fill, symbol)), ..Self::remark(name) }
    }

    /// An entry without a mark, which says something of the whole figure.
    pub(super) fn remark(name: impl Into<String>) -> Self {
        Self { mark: None, name: name.into(), rest: String::new(), shorter: Vec::new(), repeat: None }
    }

    /// The same with what is written where it has no room, the best first.
    pub(super) fn or(self, shorter: &[&str]) -> Self {
        Self { shorter: shorter.iter().map(|&text| text.to_owned()).collect(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_keep_their_order_and_the_edges_are_exact() {
        let window = Instant::from_ns(100)..Instant::from_ns(1_100);
        let scale = TimeScale { window, left: 1_000, width: 7_000 };
        assert_eq!((scale.x(Instant::from_ns(100)), scale.x(Instant::from_ns(1_100))), (1_000, 8_000));
        assert_eq!((scale.x(Instant::ZERO), scale.x(Instant::MAX)), (1_000, 8_000));
        assert_eq!(scale.x(Instant::from_ns(600)), 4_500);
        let places: Vec<Length> = (100..1_100).map(|ns| scale.x(Instant::from_ns(ns))).collect();
        assert!(places.is_sorted());
    }
}
