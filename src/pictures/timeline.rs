//! Timelines of blocks on SMs: the layout, as plain data.
//!
//! From top to bottom: title, legend, a lane for each core that hosts share, whose turn it is if contexts take turns,
//! one band for each SM, one lane for each copy engine in use, the panels of occupancy and of queues if asked for, one
//! row for each stream with launch arrows, marks of deadlines, and waits if asked for, the axis of time. Within a band,
//! blocks are boxes as wide as they run and as high as the share of the SM that they take, stacked without overlap as
//! in the figures of Amert et al., RTSS 2017.

mod across;
mod arrows;
mod bands;
mod budget;
mod chain_way;
mod columns;
mod comparison;
mod context;
mod copies;
mod core_lanes;
mod crowd;
mod deadlines;
mod draw;
mod error;
mod events;
mod items;
mod lanes;
mod layout;
mod legend;
mod legend_entry;
mod occupancy;
mod options;
pub(crate) mod pauses;
mod pieces;
mod plan;
mod profile;
mod queues;
mod rounds;
mod rows;
mod scale;
mod shares;
mod thin;
mod tooltip;
mod turn_band;
mod waits;

use std::ops::Range;

pub use comparison::{FinishMark, Panels};
pub(crate) use copies::bytes;
pub use error::TimelineError;
pub use options::{HeightBy, Lanes, TimelineOptions};
pub use rows::{Arrow, DeadlineMark, MarkStrip, MoreWaits, StreamRow, StreamWaits, WaitBar, WaitPart};

use crate::device::CopyDirection;
use crate::draw::theme::Fill;
use crate::draw::{Anchor, AxisTicks, Dash, Length, Point, Rect};
use crate::run::CoreSpan;
use crate::time::Instant;
use crate::trace::{OperationRecord, Rule};
use crate::workload::{KernelId, OperationId, ProcessId, StreamId};

/// What goes where in a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Width of the paper.
    pub width: Length,
    /// Height of the paper.
    pub height: Length,
    /// Name of the scenario, also for viewers.
    pub name: String,
    /// Texts outside the parts below: title, axis titles.
    pub captions: Vec<Label>,
    /// What colours and hatches mean.
    pub legend: Vec<LegendEntry>,
    /// Titles of the kernels that the legend names or counts.
    pub kernels: Vec<String>,
    /// The time shown; the end is where the window or the run ends.
    pub window: Range<Instant>,
    /// The area in which time goes from left to right; bands, lanes and rows are in it.
    pub plot: Rect,
    /// Ticks of the axis and their places from left to right.
    pub ticks: AxisTicks,
    /// Where each tick is.
    pub tick_places: Vec<Length>,
    /// The cores that hosts share.
    pub cores: Vec<CoreLane>,
    /// Whose turn it is, if contexts take turns.
    pub turns: Option<TurnBand>,
    /// The SMs.
    pub bands: Vec<Band>,
    /// Which part of what an SM has its band is high: 4 stands for a quarter, 1 for all of it.
    pub zoom: u32,
    /// Names across bands that are too low for labels of their own.
    pub across: Vec<Across>,
    /// The copy engines in use.
    pub lanes: Vec<Lane>,
    /// How much of the GPU is in use, if asked for.
    pub occupancy: Option<Occupancy>,
    /// The queues in which something waits, if asked for: EE queues, highest priority first, then CE queues.
    pub queues: Vec<QueueRow>,
    /// The streams with what they ran, if the lanes are streams.
    pub stream_lanes: Vec<StreamLane>,
    /// The streams in use.
    pub rows: Vec<StreamRow>,
    /// Events between their rows.
    pub events: Vec<EventArrow>,
    /// The longest way of data, if the scenario has chains.
    pub chain: Option<ChainWay>,
}

/// Text inside the figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The text.
    pub text: String,
    /// What it covers, in the embedded font; a viewer with another font keeps the end that the anchor names.
    pub area: Rect,
    /// Which end of it stays where it is in any font.
    pub anchor: Anchor,
    /// Font size.
    pub size: Length,
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
pub enum BandLook {
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
pub struct Band {
    /// The SM, or the first one.
    pub sm: u32,
    /// All SMs that it stands for.
    pub sms: Vec<u32>,
    /// What it shows of them.
    pub look: BandLook,
    /// Its whole name.
    pub name: String,
    /// Its name, where there is room for it.
    pub label: Option<Label>,
    /// The whole capacity of the SM, or the most that ran there at one time if that is more; over the whole window.
    pub area: Rect,
    /// What an SM has: threads, bytes or registers.
    pub capacity: u32,
    /// What the height of the area stands for: more than the capacity on an overfull SM.
    pub shown: u32,
    /// Where the capacity of an overfull SM ends, from above.
    pub limit: Option<Length>,
    /// Marks beside the band that say how much that is.
    pub marks: Vec<Label>,
    /// Blocks, in the order in which they started.
    pub blocks: Vec<Blocks>,
    /// Blocks that take none of the resource, below the band.
    pub thin: Vec<ThinLine>,
    /// Too many blocks to show, by kernel; then `blocks` is empty.
    pub profiles: Vec<OccupancyProfile>,
}

/// One block, or several equal ones that are drawn as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// The kernel launch.
    pub operation: OperationId,
    /// The kernel.
    pub kernel: KernelId,
    /// The block's number, if it is one.
    pub index: Option<u32>,
    /// How many blocks: those that run at one time, times how often they follow one another without a pause.
    pub count: u64,
    /// From the first start to the last end, whether that is inside the window or not.
    pub time: Range<Instant>,
    /// What all blocks that run at one time take of the SM.
    pub units: u32,
    /// Where they are drawn: in one piece, unless no free piece was large enough.
    pub pieces: Vec<Piece>,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The part of the SM's capacity.
    pub units: Range<u32>,
    /// On paper, from the first start to the last end.
    pub area: Rect,
    /// From where to where in it, from left to right, it pauses because it is the turn of another context; in order.
    pub pauses: Vec<Range<Length>>,
    /// What is written on it.
    pub label: Option<Label>,
}

impl Piece {
    /// Where it runs: all of its area but the pauses.
    pub fn parts(&self) -> Vec<Rect> {
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
pub struct ThinLine {
    /// The kernel.
    pub kernel: KernelId,
    /// How many blocks.
    pub count: u64,
    /// From the first start to the last end.
    pub time: Range<Instant>,
    /// On paper.
    pub area: Rect,
}

/// Many blocks of one kernel, or of all kernels behind the first ones, as one shape: how much of the SM they took, on
/// average over steps of equal length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccupancyProfile {
    /// The kernel; `None`: several that share a shape.
    pub kernel: Option<KernelId>,
    /// How many blocks, on this SM and in the window at least in part.
    pub count: u64,
    /// The polygon's corners; more than one where there are pauses.
    pub outlines: Vec<Vec<Point>>,
    /// What is written on it.
    pub label: Option<Label>,
}

/// The name of a kernel across several SMs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Across {
    /// The kernel.
    pub kernel: KernelId,
    /// How many blocks, on the SMs shown and in the window at least in part.
    pub count: u64,
    /// What is written.
    pub label: Label,
}

/// Who has a core when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreLane {
    /// The core.
    pub core: u32,
    /// Its name.
    pub label: Label,
    /// The whole window.
    pub area: Rect,
    /// Who has it, in order of time.
    pub boxes: Vec<CoreBox>,
    /// Where these are too many and too short to be seen: the share of time of each host thread; then `boxes` is empty.
    pub shares: Vec<TimeShare<u32>>,
}

/// A time in which a host thread has a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreBox {
    /// Who has it, and when.
    pub span: CoreSpan,
    /// How it is filled.
    pub fill: Fill,
    /// On paper.
    pub area: Rect,
    /// What is written on it.
    pub label: Option<Label>,
}

/// Whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnBand {
    /// Its name.
    pub label: Label,
    /// The whole window.
    pub area: Rect,
    /// Turns and switches, in order of time.
    pub boxes: Vec<TurnBox>,
    /// Where turns are too many and too short to be seen: the share of time of each process, and of switches (`None`);
    /// then `boxes` is empty.
    pub shares: Vec<TimeShare<Option<ProcessId>>>,
    /// Turns in the window.
    pub turns: u64,
}

/// Turns of one context that follow one another at once, or a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnBox {
    /// The process; `None`: a switch.
    pub process: Option<ProcessId>,
    /// How many turns.
    pub turns: u64,
    /// From when to when.
    pub time: Range<Instant>,
    /// How it is filled.
    pub fill: Fill,
    /// On paper.
    pub area: Rect,
    /// What is written on it.
    pub label: Option<Label>,
}

/// The share of time that something had, on average over steps of equal length, where it is too short to be seen one by
/// one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeShare<K> {
    /// What had it.
    pub of: K,
    /// How many turns, copies, operations or waits.
    pub count: u64,
    /// How it is filled.
    pub fill: Fill,
    /// The polygons' corners.
    pub outlines: Vec<Vec<Point>>,
}

/// One copy engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    /// The engine.
    pub engine: u32,
    /// Its name.
    pub label: Label,
    /// The whole window.
    pub area: Rect,
    /// Copies, in the order in which they started.
    pub copies: Vec<CopyBox>,
    /// Where copies are too many and too short to be seen: the share of time of each direction; then `copies` is empty.
    pub shares: Vec<TimeShare<CopyDirection>>,
}

/// A copy, or several that are too short to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyBox {
    /// The (first) copy.
    pub operation: OperationId,
    /// How many.
    pub count: u64,
    /// Sum of their sizes \[bytes\], if all are known.
    pub bytes: Option<u64>,
    /// How it is filled.
    pub fill: Fill,
    /// On paper.
    pub area: Rect,
    /// From where to where in it, from left to right, it stands still because another context is served; in order.
    pub pauses: Vec<Range<Length>>,
    /// What is written on it.
    pub label: Option<Label>,
}

/// One stream, or the last of many streams together, with what it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamLane {
    /// The stream, or streams.
    pub streams: Vec<StreamId>,
    /// Its whole name.
    pub name: String,
    /// Its name, shortened.
    pub label: Label,
    /// The whole window.
    pub area: Rect,
    /// What ran, in order of time.
    pub boxes: Vec<StreamBox>,
    /// Where that is too much and too short to be seen: the share of time of each kernel, and of copies (`None`); then
    /// `boxes` is empty.
    pub shares: Vec<TimeShare<Option<KernelId>>>,
}

/// An operation from its start to its end, or several that are too short to tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamBox {
    /// The (first) operation.
    pub operation: OperationId,
    /// How many.
    pub count: u64,
    /// The kernel, of several the one that ran longest; `None`: a copy.
    pub kernel: Option<KernelId>,
    /// From the first start to the last end.
    pub time: Range<Instant>,
    /// How it is filled.
    pub fill: Fill,
    /// On paper.
    pub area: Rect,
    /// From where to where in it, from left to right, it pauses because another context is served; in order.
    pub pauses: Vec<Range<Length>>,
    /// What is written on it.
    pub label: Option<Label>,
}

/// The way of data through a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainWay {
    /// What it is, and how long.
    pub name: String,
    /// The jobs, in words.
    pub path: String,
    /// Of each job that has a lane: where it reads, and where it has written.
    pub jobs: Vec<[Point; 2]>,
}

/// An event's record, and a wait for it in another row, or several that cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventArrow {
    /// The (first) record.
    pub record: OperationId,
    /// The (first) wait.
    pub wait: OperationId,
    /// How many waits.
    pub count: u64,
    /// Those of them that stood at the head of their streams before the event was recorded: it released them.
    pub held: u64,
    /// Where the record completed.
    pub from: Point,
    /// Where the wait completed.
    pub to: Point,
}

/// How much of all SMs' resources is in use over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupancy {
    /// The whole window, from nothing to everything in use.
    pub area: Rect,
    /// Name of the panel.
    pub label: Label,
    /// What its edges stand for.
    pub marks: Vec<Label>,
    /// The resources of which something is in use.
    pub curves: Vec<OccupancyCurve>,
}

/// The share of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccupancyCurve {
    /// The resource.
    pub resource: HeightBy,
    /// How the line is interrupted.
    pub dash: Dash,
    /// The line, from left to right.
    pub points: Vec<Point>,
    /// The line that stands for it in the key.
    pub key: [Point; 2],
    /// Its name in the key.
    pub label: Label,
}

/// One queue over time, its head uppermost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRow {
    /// Its name.
    pub name: String,
    /// Its name beside its head's place.
    pub label: Label,
    /// How long it gets, if that is more than is shown.
    pub more: Option<Label>,
    /// The whole window, and the places that are shown.
    pub area: Rect,
    /// What is in it.
    pub entries: Vec<QueueEntry>,
}

impl QueueRow {
    fn places(&self) -> usize {
        usize::try_from(self.area.height / budget::QUEUE_LANE).unwrap_or(0)
    }
}

/// An operation at one place of a queue, held by one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueEntry {
    /// The (first) operation.
    pub operation: OperationId,
    /// How many operations, if they are too short to tell apart.
    pub count: u64,
    /// Its place, from 0, the head.
    pub position: usize,
    /// When.
    pub time: Range<Instant>,
    /// The rule that holds the head.
    pub rule: Option<Rule>,
    /// How it is filled.
    pub fill: Fill,
    /// On paper.
    pub area: Rect,
    /// What is written on it.
    pub label: Option<Label>,
}

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegendEntry {
    /// The mark, if it has one.
    pub mark: Option<LegendMark>,
    /// The text.
    pub label: Label,
    /// The text before it was shortened.
    pub full: String,
}

/// What an entry of the legend explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LegendMark {
    /// How it is filled.
    pub fill: Fill,
    /// Where.
    pub area: Rect,
    /// How it is shown in the figure.
    pub symbol: LegendSymbol,
    /// The number written in areas that share a hatch with others.
    pub repeat: Option<usize>,
}

/// How something that the legend explains is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegendSymbol {
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
    /// Not at all: the text says something of the whole figure.
    Nothing,
}
