//! The printed timeline of a run: its layout as plain data, with how everything is filled, and `draw`, which makes
//! shapes of it.
//!
//! From top to bottom: title, legend, a lane for each core that hosts share, whose turn it is if contexts take turns,
//! bands of SMs, a lane for each copy engine in use, the panels of occupancy and of queues if asked for, a row for each
//! stream with launch arrows, marks of deadlines, events, and waits if asked for, and the axis of time. A band is of
//! one SM, or of several that look alike or are shown as their mean. Where it is not known on which SMs blocks ran, a
//! lane for each stream with what it ran is in place of SMs and copy engines.
//!
//! Within a band, blocks are boxes as wide as they run and as high as the share of the SM that they take, stacked
//! without overlap as in the figures of Amert et al., RTSS 2017. Where they are too many to be seen, shapes show their
//! mean.

mod bands;
mod blocks;
mod comparison;
mod context;
mod draw;
mod engine_lanes;
mod layout;
mod legend;
mod means;
mod options;
mod plan;
mod rows;
mod shapes;
mod streams;
#[cfg(test)]
mod tests;
mod tooltip;
mod turns;
mod usage;
mod waits;

use std::ops::Range;

pub use super::timeline_model::HeightBy;
pub use comparison::{FinishMark, Panels};
pub use options::{Lanes, TimelineError, TimelineOptions};
pub(crate) use rows::{Arrow, DeadlineMark, MarkStrip, MoreWaits, StreamRow, StreamWaits, WaitBar, WaitPart, Waiter};
pub(crate) use turns::round_beginnings;

use crate::device::CopyDirection;
use crate::draw::theme::Fill;
use crate::draw::{Anchor, AxisTicks, Dash, Length, Point, Rect, Stroke};
use crate::run::CoreSpan;
use crate::time::Instant;
use crate::trace::{OperationRecord, Rule};
use crate::workload::{KernelId, OperationId, ProcessId, StreamId};

/// What goes where in a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Width of the paper.
    pub(crate) width: Length,
    /// Height of the paper.
    pub(crate) height: Length,
    /// Name of the scenario, also for viewers.
    pub(crate) name: String,
    /// Texts outside the parts below: title, axis titles.
    pub(crate) captions: Vec<Label>,
    /// What colours and hatches mean.
    pub(crate) legend: Vec<LegendEntry>,
    /// Titles of the kernels that the legend names or counts.
    pub(crate) kernels: Vec<String>,
    /// The time shown; the end is where the window or the run ends.
    pub(crate) window: Range<Instant>,
    /// The area in which time goes from left to right; bands, lanes and rows are in it.
    pub(crate) plot: Rect,
    /// Ticks of the axis and their places from left to right.
    pub(crate) ticks: AxisTicks,
    /// Where each tick is.
    pub(crate) tick_places: Vec<Length>,
    /// The cores that hosts share.
    pub(crate) cores: Vec<CoreLane>,
    /// Whose turn it is, if contexts take turns.
    pub(crate) turns: Option<TurnBand>,
    /// The SMs.
    pub(crate) bands: Vec<Band>,
    /// Which part of what an SM has its band is high: 4 stands for a quarter, 1 for all of it.
    pub(crate) zoom: u32,
    /// Names across bands that are too low for labels of their own.
    pub(crate) across: Vec<Across>,
    /// The copy engines in use.
    pub(crate) lanes: Vec<Lane>,
    /// How much of the GPU is in use, if asked for.
    pub(crate) occupancy: Option<Occupancy>,
    /// The queues in which something waits, if asked for: EE queues, highest priority first, then CE queues.
    pub(crate) queues: Vec<QueueRow>,
    /// The streams with what they ran, if the lanes are streams.
    pub(crate) stream_lanes: Vec<StreamLane>,
    /// The streams in use.
    pub(crate) rows: Vec<StreamRow>,
    /// Events between their rows.
    pub(crate) events: Vec<EventArrow>,
    /// The longest way of data, if the scenario has chains.
    pub(crate) chain: Option<ChainWay>,
}

/// Text inside the figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) text: String,
    /// What it covers, in the embedded font; a viewer with another font keeps the end that the anchor names.
    pub(crate) area: Rect,
    /// Which end of it stays where it is in any font.
    pub(crate) anchor: Anchor,
    /// Font size.
    pub(crate) size: Length,
    /// How it looks.
    pub(crate) style: LabelStyle,
}

/// How a label looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelStyle {
    /// Black.
    Normal,
    /// Bold.
    Bold,
    /// Grey.
    Quiet,
    /// Grey, read from below.
    QuietUpwards,
}

/// What a band shows of its SMs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BandLook {
    /// The only one there is.
    One,
    /// Nothing runs on any of them in the window.
    Idle,
    /// The first of them: on the others the same launches run as many blocks at the same times, as far as can be seen.
    Alike,
    /// Their mean, as they are too many for the height of the figure.
    Mean {
        /// SMs among them on which more ran than fits.
        overfull: usize,
    },
}

/// One SM, or several that share a band.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Band {
    /// The SM, or the first one.
    pub(crate) sm: u32,
    /// All SMs that it stands for.
    pub(crate) sms: Vec<u32>,
    /// What it shows of them.
    pub(crate) look: BandLook,
    /// Its whole name.
    pub(crate) name: String,
    /// Its name, where there is room for it.
    pub(crate) label: Option<Label>,
    /// The whole capacity of the SM, or the most that ran there at one time if that is more; over the whole window.
    pub(crate) area: Rect,
    /// What an SM has: threads, bytes or registers.
    pub(crate) capacity: u32,
    /// What the height of the area stands for: more than the capacity on an overfull SM.
    pub(crate) shown: u32,
    /// Where the capacity of an overfull SM ends, from above.
    pub(crate) limit: Option<Length>,
    /// Marks beside the band that say how much that is.
    pub(crate) marks: Vec<Label>,
    /// Blocks, in the order in which they started.
    pub(crate) blocks: Vec<Blocks>,
    /// Blocks that take none of the resource, below the band.
    pub(crate) thin: Vec<ThinLine>,
    /// Too many blocks to show, by kernel; then `blocks` is empty.
    pub(crate) profiles: Vec<OccupancyProfile>,
}

/// One block, or several equal ones that are drawn as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// The kernel launch.
    pub(crate) operation: OperationId,
    pub(crate) kernel: KernelId,
    /// The block's number, if it is one.
    pub(crate) index: Option<u32>,
    /// How many blocks: those that run at one time, times how often they follow one another without a pause.
    pub(crate) count: u64,
    /// From the first start to the last end, whether that is inside the window or not.
    pub(crate) time: Range<Instant>,
    /// What all blocks that run at one time take of the SM.
    pub(crate) units: u32,
    /// How they are filled.
    pub(crate) fill: Fill,
    /// When they wait for others meanwhile, and how that is told.
    pub(crate) stands: Vec<(Range<Instant>, String)>,
    /// Where they are drawn: in one piece, unless no free piece was large enough.
    pub(crate) pieces: Vec<Piece>,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The part of the SM's capacity.
    pub(crate) units: Range<u32>,
    /// On paper, from the first start to the last end.
    pub(crate) area: Rect,
    /// From where to where in it, from left to right, it pauses because it is the turn of another context; in order.
    pub(crate) pauses: Vec<Range<Length>>,
    /// Where it waits for others.
    pub(crate) stands: Vec<Rect>,
    /// How high on the paper the line across them is.
    pub(crate) pause_line: Length,
    /// What is written on it.
    pub(crate) label: Option<Label>,
}

impl Piece {
    /// Where it runs: all of its area but the pauses.
    pub(crate) fn parts(&self) -> Vec<Rect> {
        parts_between(&self.area, &self.pauses)
    }
}

/// What is left of an area between pauses, which are in order.
fn parts_between(area: &Rect, pauses: &[Range<Length>]) -> Vec<Rect> {
    let mut left = area.x;
    let mut parts = Vec::with_capacity(pauses.len() + 1);
    for pause in pauses {
        if left < pause.start {
            parts.push(Rect { x: left, width: pause.start - left, ..*area });
        }
        left = pause.end;
    }
    if left < area.right() || parts.is_empty() {
        parts.push(Rect { x: left, width: area.right() - left, ..*area });
    }
    parts
}

/// The widest part that is left of an area between pauses, the first of several.
fn widest_part(area: &Rect, pauses: &[Range<Length>]) -> Rect {
    parts_between(area, pauses).into_iter().rev().max_by_key(|part| part.width).unwrap_or(*area)
}

/// Blocks of one kernel that take none of the resource shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThinLine {
    pub(crate) kernel: KernelId,
    /// How many blocks.
    pub(crate) count: u64,
    /// From the first start to the last end.
    pub(crate) time: Range<Instant>,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// On paper.
    pub(crate) area: Rect,
}

/// Many blocks of one kernel, or of all kernels behind the first ones, as one shape: how much of the SM they took, on
/// average over steps of equal length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OccupancyProfile {
    /// The kernel; `None`: several that share a shape.
    pub(crate) kernel: Option<KernelId>,
    /// How many blocks, on this SM and in the window at least in part.
    pub(crate) count: u64,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// The polygon's corners; more than one where there are pauses.
    pub(crate) outlines: Vec<Vec<Point>>,
    /// What is written on it.
    pub(crate) label: Option<Label>,
}

/// The name of a kernel across several SMs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Across {
    pub(crate) kernel: KernelId,
    /// How many blocks, on the SMs shown and in the window at least in part.
    pub(crate) count: u64,
    /// What is under the name.
    pub(crate) plate: Fill,
    /// What is written.
    pub(crate) label: Label,
}

/// Who has a core when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CoreLane {
    pub(crate) core: u32,
    /// Its name.
    pub(crate) label: Label,
    /// The whole window.
    pub(crate) area: Rect,
    /// Who has it, in order of time.
    pub(crate) boxes: Vec<CoreBox>,
    /// Where these are too many and too short to be seen: the share of time of each host thread; then `boxes` is empty.
    pub(crate) shares: Vec<TimeShare<u32>>,
}

/// A time in which a host thread has a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CoreBox {
    /// Who has it, and when.
    pub(crate) span: CoreSpan,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// On paper.
    pub(crate) area: Rect,
    /// What is written on it.
    pub(crate) label: Option<Label>,
}

/// Whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnBand {
    /// Its name.
    pub(crate) label: Label,
    /// The whole window.
    pub(crate) area: Rect,
    /// Turns and switches, in order of time.
    pub(crate) boxes: Vec<TurnBox>,
    /// Where turns are too many and too short to be seen: the share of time of each process, and of switches (`None`);
    /// then `boxes` is empty.
    pub(crate) shares: Vec<TimeShare<Option<ProcessId>>>,
    /// Turns in the window.
    pub(crate) turns: u64,
}

/// Turns of one context that follow one another at once, or a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnBox {
    /// The process; `None`: a switch.
    pub(crate) process: Option<ProcessId>,
    /// How many turns.
    pub(crate) turns: u64,
    /// From when to when.
    pub(crate) time: Range<Instant>,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// On paper.
    pub(crate) area: Rect,
    /// What is written on it.
    pub(crate) label: Option<Label>,
}

/// The share of time that something had, on average over steps of equal length, where it is too short to be seen one by
/// one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeShare<K> {
    /// What had it.
    pub(crate) of: K,
    /// How many turns, copies, operations or waits.
    pub(crate) count: u64,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// The polygons' corners.
    pub(crate) outlines: Vec<Vec<Point>>,
}

/// One copy engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lane {
    /// Its name.
    pub(crate) label: Label,
    /// The whole window.
    pub(crate) area: Rect,
    /// Copies, in the order in which they started.
    pub(crate) copies: Vec<CopyBox>,
    /// Where copies are too many and too short to be seen: the share of time of each direction; then `copies` is empty.
    pub(crate) shares: Vec<TimeShare<CopyDirection>>,
}

/// A copy, or several that are too short to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CopyBox {
    /// The (first) copy.
    pub(crate) operation: OperationId,
    /// How many.
    pub(crate) count: u64,
    /// Sum of their sizes \[bytes\], if all are known.
    pub(crate) bytes: Option<u64>,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// On paper.
    pub(crate) area: Rect,
    /// From where to where in it, from left to right, it stands still because another context is served; in order.
    pub(crate) pauses: Vec<Range<Length>>,
    /// What is written on it.
    pub(crate) label: Option<Label>,
}

/// One stream, or the last of many streams together, with what it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamLane {
    pub(crate) streams: Vec<StreamId>,
    /// Its whole name.
    pub(crate) name: String,
    /// Its name, shortened.
    pub(crate) label: Label,
    /// The whole window.
    pub(crate) area: Rect,
    /// What ran, in order of time.
    pub(crate) boxes: Vec<StreamBox>,
    /// Where that is too much and too short to be seen: the share of time of each kernel, and of copies (`None`); then
    /// `boxes` is empty.
    pub(crate) shares: Vec<TimeShare<Option<KernelId>>>,
}

/// An operation from its start to its end, or several that are too short to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamBox {
    /// The (first) operation.
    pub(crate) operation: OperationId,
    /// How many.
    pub(crate) count: u64,
    /// The kernel, of several the one that ran longest; `None`: a copy.
    pub(crate) kernel: Option<KernelId>,
    /// From the first start to the last end.
    pub(crate) time: Range<Instant>,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// On paper.
    pub(crate) area: Rect,
    /// From where to where in it, from left to right, it pauses because another context is served; in order.
    pub(crate) pauses: Vec<Range<Length>>,
    /// What is written on it.
    pub(crate) label: Option<Label>,
}

/// The way of data through a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainWay {
    /// What it is, and how long.
    pub(crate) name: String,
    /// The jobs, in words.
    pub(crate) path: String,
    /// Of each job that has a lane: where it reads, and where it has written.
    pub(crate) jobs: Vec<[Point; 2]>,
}

/// An event's record, and a wait for it in another row, or several that cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventArrow {
    /// The (first) record.
    pub(crate) record: OperationId,
    /// The (first) wait.
    pub(crate) wait: OperationId,
    /// How many waits.
    pub(crate) count: u64,
    /// Those of them that stood at the head of their streams before the event was recorded: it released them.
    pub(crate) held: u64,
    /// Where the record completed.
    pub(crate) from: Point,
    /// Where the wait completed.
    pub(crate) to: Point,
}

/// How much of all SMs' resources is in use over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Occupancy {
    /// The whole window, from nothing to everything in use.
    pub(crate) area: Rect,
    /// Name of the panel.
    pub(crate) label: Label,
    /// What its edges stand for.
    pub(crate) marks: Vec<Label>,
    /// The resources of which something is in use.
    pub(crate) curves: Vec<OccupancyLine>,
}

/// The share of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OccupancyLine {
    /// How the line looks, and how it is interrupted.
    pub(crate) stroke: Stroke,
    pub(crate) dash: Dash,
    /// The line, from left to right.
    pub(crate) points: Vec<Point>,
    /// The line that stands for it in the key.
    pub(crate) key: [Point; 2],
    /// Its name in the key.
    pub(crate) label: Label,
}

/// One queue over time, its head uppermost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueRow {
    pub(crate) name: String,
    /// Its name beside its head's place.
    pub(crate) label: Label,
    /// How long it gets, if that is more than is shown.
    pub(crate) more: Option<Label>,
    /// The whole window, and the places that are shown.
    pub(crate) area: Rect,
    /// What is in it.
    pub(crate) entries: Vec<QueueEntry>,
}

impl QueueRow {
    fn places(&self) -> usize {
        usize::try_from(self.area.height / context::QUEUE_LANE).unwrap_or(0)
    }
}

/// An operation at one place of a queue, held by one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueEntry {
    /// The (first) operation.
    pub(crate) operation: OperationId,
    /// How many operations, if they are too short to tell apart.
    pub(crate) count: u64,
    /// Its place, from 0, the head.
    pub(crate) position: usize,
    /// When.
    pub(crate) time: Range<Instant>,
    /// The rule that holds the head.
    pub(crate) rule: Option<Rule>,
    /// How it is filled.
    pub(crate) fill: Fill,
    /// On paper.
    pub(crate) area: Rect,
    /// What is written on it.
    pub(crate) label: Option<Label>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LegendEntry {
    /// The mark, if it has one.
    pub(crate) mark: Option<LegendMark>,
    /// The text.
    pub(crate) label: Label,
    /// The text before it was shortened.
    pub(crate) full: String,
}

/// What an entry of the legend explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LegendMark {
    /// How it is filled.
    pub(crate) fill: Fill,
    /// Where.
    pub(crate) area: Rect,
    /// How it is shown in the figure.
    pub(crate) symbol: LegendSymbol,
    /// The number written in areas that share a hatch with others.
    pub(crate) repeat: Option<usize>,
}

/// How something that the legend explains is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LegendSymbol {
    /// As an area.
    Area,
    /// As a thin line.
    Thin,
    /// As the mark of a deadline that was not missed.
    Deadline,
    /// As the mark of a missed deadline.
    DeadlineMissed,
    /// As the line at which the capacity of an overfull SM ends.
    Capacity,
    /// As the arrow from an event's record to a wait for it.
    Event,
    /// As the line across the pause of a block.
    Pause,
    /// As the arrow of a kernel launch.
    Launch,
    /// As the arrow of a copy, memset or event.
    Submission,
    /// As the bar of something that waits.
    Wait,
}
