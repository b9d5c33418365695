//! Blocks on SMs: which are drawn as boxes of their own and which together, where these boxes are, and thin lines for
//! those that take none of the resource shown.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::context::{Context, Crowd, Entry, LEAST_WIDTH, centred, fill_of, y};
use super::{Blocks, LegendSymbol, Piece, ThinLine, parts_between, widest_part};
use crate::draw::theme::{Colour, Fill, Theme};
use crate::draw::{Length, MM, Rect, as_length};
use crate::pictures::looks::waiting_fill;
use crate::pictures::timeline_model::{self, FreeLanes, LaunchBlocks, packed_apart};
use crate::time::Instant;
use crate::trace::RepeatedRun;
use crate::workload::{KernelId, OperationId};

/// Blocks lower than this are drawn together with those that start on the same SM at the same time.
const LEAST_HEIGHT: Length = 6 * MM / 10;
/// The blocks of a kernel of up to so many are always drawn one by one, if they are high enough.
const FEW: u32 = 64;
/// Lines across pauses of several processes have places of their own, so that they do not become one.
const PAUSE_PLACES: Length = 3;
/// One of so many parts of the height of a block is from one of these places to the next.
const PAUSE_PARTS: Length = 8;

/// Blocks of one kernel launch to be drawn as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) operation: OperationId,
    pub(super) kernel: KernelId,
    pub(super) sm: u32,
    /// The block's number, if it is one.
    pub(super) index: Option<u32>,
    /// The number of the first of those that were assigned with it, or its own.
    first: u32,
    /// Blocks at one time.
    pub(super) blocks: u32,
    /// Blocks in all.
    pub(super) count: u64,
    pub(super) time: Range<Instant>,
    /// What all blocks at one time take, more than 0.
    pub(super) units: u32,
    /// Whether it may be joined with what follows.
    narrow: bool,
}

/// How the blocks of one launch are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Each as a box.
    Blocks,
    /// Those that start together on one SM as a box.
    Runs,
    /// Runs that follow one another without a pause as a box.
    Joined,
}

/// A launch that takes some of the resource shown.
struct Launch<'a> {
    blocks: LaunchBlocks<'a>,
    units: u32,
    detail: Detail,
}

/// What to draw as boxes on the SMs for which `shown` is true, in the order in which it started; `None` if that is
/// more boxes than the options allow, or if they are so short that on one of the SMs they would be one area. A band of
/// `band_height` stands for `capacity`.
pub(super) fn items(context: &Context<'_>, shown: &[bool], band_height: Length, capacity: u32) -> Option<Vec<Item>> {
    let is_shown = |sm: u16| shown.get(usize::from(sm)).copied().unwrap_or(false);
    if context.rounds.is_some() {
        return None;
    }
    let launches = launches(context, band_height, capacity);
    let mut boxes: u64 = 0;
    for launch in &launches {
        for run in launch.blocks.runs(context.scale.window.clone()).filter(|run| is_shown(run.first.sm)) {
            let parts = context.parts_of(launch.blocks.operation, run.first.start..run.end());
            boxes += parts
                * match launch.detail {
                    Detail::Blocks => run.blocks(),
                    Detail::Runs => u64::from(run.times),
                    Detail::Joined => 1,
                };
        }
        if boxes > context.options.most_boxes {
            return None;
        }
    }
    let mut items = Vec::new();
    for launch in &launches {
        match launch.detail {
            Detail::Blocks => add_blocks(context, launch, is_shown, &mut items),
            Detail::Runs | Detail::Joined => {
                for run in launch.blocks.runs(context.scale.window.clone()).filter(|run| is_shown(run.first.sm)) {
                    add_run(launch, &run, &mut items);
                }
            }
        }
    }
    crate::sorted::sort_by_key(&mut items, |item| (item.time.start, item.operation, item.index));
    let items = joined(items);
    let mut crowds: FxHashMap<u32, Crowd> = FxHashMap::default();
    for item in &items {
        crowds.entry(item.sm).or_insert_with(|| Crowd::new(&context.scale)).add(&context.scale, &item.time);
    }
    let is_dense = crowds.values().any(Crowd::is_dense);
    (!is_dense).then_some(items)
}

fn launches<'a>(context: &Context<'a>, band_height: Length, capacity: u32) -> Vec<Launch<'a>> {
    let height = |units: u32| i64::from(units) * band_height / i64::from(capacity.max(1));
    let launches = timeline_model::launches(&context.summary).filter_map(|blocks| {
        let LaunchBlocks { record, kernel, .. } = blocks;
        let units = context.units(kernel);
        let end = record.finish().unwrap_or(Instant::MAX);
        if units == 0 || !context.scale.shows(record.first_start()?, end) {
            return None;
        }
        // Blocks that wait for others last as long as these take.
        let narrow = kernel.synchronization().is_none() && context.scale.length(kernel.duration.worst) < LEAST_WIDTH;
        let detail = match (height(units) < LEAST_HEIGHT, narrow) {
            (false, true) if kernel.blocks <= FEW => Detail::Blocks,
            (_, true) => Detail::Joined,
            (true, false) => Detail::Runs,
            (false, false) => Detail::Blocks,
        };
        Some(Launch { blocks, units, detail })
    });
    launches.collect()
}

impl Launch<'_> {
    /// Some of its blocks on an SM that run at one time, `count` in all.
    fn item(&self, sm: u16, first: u32, (blocks, count): (u32, u64), time: Range<Instant>) -> Item {
        let (LaunchBlocks { operation, id: kernel, .. }, units) = (self.blocks, self.units);
        let (index, narrow) = (None, self.detail == Detail::Joined);
        Item { operation, kernel, sm: sm.into(), index, first, blocks, count, time, units: units * blocks, narrow }
    }
}

fn add_blocks(context: &Context<'_>, launch: &Launch<'_>, is_shown: impl Fn(u16) -> bool, items: &mut Vec<Item>) {
    let blocks = context.summary.trace.blocks_within(launch.blocks.operation, context.scale.window.clone());
    let shown = blocks.filter(|block| is_shown(block.sm));
    items.extend(shown.map(|block| Item {
        index: Some(block.index),
        ..launch.item(block.sm, block.index, (1, 1), block.start..block.end)
    }));
}

fn add_run(launch: &Launch<'_>, run: &RepeatedRun, items: &mut Vec<Item>) {
    let blocks = u32::from(run.first.blocks);
    let item =
        |time: Range<Instant>, count: u64| launch.item(run.first.sm, run.first.first_block, (blocks, count), time);
    if launch.detail == Detail::Joined {
        items.push(item(run.first.start..run.end(), run.blocks()));
        return;
    }
    let mut start = run.first.start;
    for _ in 0..run.times {
        let end = start + run.duration();
        items.push(item(start..end, blocks.into()));
        start = end;
    }
}

/// Joins narrow items with those that follow on the same SM without a pause. `items` are in the order of their starts.
fn joined(items: Vec<Item>) -> Vec<Item> {
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    let mut open: FxHashMap<(OperationId, u32, u32, Instant), usize> = FxHashMap::default();
    for item in items {
        if !item.narrow {
            kept.push(item);
            continue;
        }
        let key = |at: Instant| (item.operation, item.sm, item.blocks, at);
        let position = match open.remove(&key(item.time.start)) {
            Some(position) if item.time.start < item.time.end => {
                kept[position].time.end = item.time.end;
                kept[position].count += item.count;
                position
            }
            _ => {
                kept.push(item.clone());
                kept.len() - 1
            }
        };
        open.insert(key(item.time.end), position);
    }
    kept
}

/// Stacks the items of one SM, which are in the order of their starts, in its band.
/// `capacity` is what the band's height stands for.
pub(super) fn stacked(context: &Context<'_>, items: Vec<Item>, band: &Rect, capacity: u32) -> Vec<Blocks> {
    let trace = context.summary.trace;
    // Each context has the whole SM in its turns.
    let own = |item: &Item| trace.context_with_turns(item.operation);
    let needs: Vec<_> = items.iter().map(|item| (own(item), (item.units, item.time.clone()))).collect();
    let places = packed_apart(capacity, &needs);
    let blocks = |(item, places): (Item, Vec<Range<u32>>)| {
        let (left, right) = (context.scale.x(item.time.start), context.scale.x(item.time.end));
        let labels = labels(context, &item);
        let process = trace.process_of_known(item.operation);
        let stands = stands(context, &item);
        let (pauses, place) = (context.pauses(process, &item.time), 1 + Length::from(process.0) % PAUSE_PLACES);
        let pieces = places.into_iter().map(|units| {
            let area = Rect::between(left, y(band, units.end, capacity), right, y(band, units.start, capacity));
            let waiting = stands.iter().flat_map(|(time, _)| {
                let (left, right) = (context.scale.x(time.start), context.scale.x(time.end));
                let inside = pauses.iter().filter(|pause| left < pause.end && pause.start < right);
                let inside: Vec<_> = inside.map(|pause| pause.start.max(left)..pause.end.min(right)).collect();
                parts_between(&Rect { x: left, width: right - left, ..area }, &inside)
            });
            let waiting = waiting.filter(|part| part.width > 0).collect();
            let label = centred(&labels, &widest_part(&area, &pauses), Theme::PAPER.small_size);
            let pause_line = area.bottom() - area.height * place / PAUSE_PARTS;
            Piece { units, area, pauses: pauses.clone(), stands: waiting, pause_line, label }
        });
        let pieces = pieces.collect();
        Blocks {
            operation: item.operation,
            kernel: item.kernel,
            index: item.index,
            count: item.count,
            units: item.units,
            fill: fill_of(context, Some(item.kernel)),
            pieces,
            stands,
            time: item.time,
        }
    };
    items.into_iter().zip(places).map(blocks).collect()
}

/// When the blocks of an item that is shown in colour wait for others, as far as that is seen, and how it is told.
fn stands(context: &Context<'_>, item: &Item) -> Vec<(Range<Instant>, String)> {
    let own = context.stands.of(item.operation, item.first).iter().filter(|_| context.is_chosen(item.kernel));
    let seen = own.filter(|stand| context.scale.shows(stand.from, stand.to));
    seen.filter_map(|stand| Some((stand.from..stand.to, context.stands.awaited(stand)?.sentence()))).collect()
}

/// What the legend says of them.
pub(super) fn stands_legend(context: &Context<'_>, items: Option<&[Item]>) -> Option<Entry> {
    let mut items = items.into_iter().flatten();
    let fill = waiting_fill(Fill { background: Colour(0xdd, 0xdd, 0xdd), ..Fill::plain(Colour(0x70, 0x70, 0x70)) });
    let entry = Entry::new(fill, LegendSymbol::Area, "blocks wait for others, on their SM").or(&["wait on their SM"]);
    items.any(|item| !stands(context, item).is_empty()).then_some(entry)
}

/// What may be written on an item's boxes, best first.
fn labels(context: &Context<'_>, item: &Item) -> Vec<String> {
    if !context.is_chosen(item.kernel) {
        return Vec::new();
    }
    let title = context.short_name(item.kernel).to_owned();
    let longer = match (item.index, item.count) {
        (Some(index), _) => Some(format!("{title}:{index}")),
        (None, 1) => None,
        (None, count) => Some(format!("{title} ×{count}")),
    };
    longer.into_iter().chain([title]).chain(context.repeat(item.kernel)).collect()
}

const LINE: Length = MM / 4;
/// From one line to the next.
pub(super) const LINE_STEP: Length = 4 * MM / 10;

/// One line in the making, without its place: the row below the band is kept apart.
#[derive(Debug, Clone)]
pub(super) struct BlockLine {
    kernel: KernelId,
    count: u64,
    time: Range<Instant>,
    row: usize,
}

/// The lines of each SM, and how many rows they need at most.
pub(super) fn thin_spans(context: &Context<'_>, sms: usize) -> (Vec<Vec<BlockLine>>, usize) {
    let mut by_sm: Vec<BTreeMap<KernelId, Vec<BlockLine>>> = vec![BTreeMap::new(); sms];
    for launch in timeline_model::launches(&context.summary).filter(|launch| context.units(launch.kernel) == 0) {
        let id = launch.id;
        for run in launch.runs(context.scale.window.clone()) {
            let Some(spans) = by_sm.get_mut(usize::from(run.first.sm)) else { continue };
            let span = BlockLine { kernel: id, count: run.blocks(), time: run.first.start..run.end(), row: 0 };
            spans.entry(id).or_default().push(span);
        }
    }
    let by_sm: Vec<Vec<BlockLine>> = by_sm.into_iter().map(|spans| in_rows(context, spans)).collect();
    let rows = by_sm.iter().flatten().map(|span| span.row + 1).max().unwrap_or(0);
    (by_sm, rows)
}

/// Joins what touches on paper, and gives each line the first row in which it meets no other.
fn in_rows(context: &Context<'_>, spans: BTreeMap<KernelId, Vec<BlockLine>>) -> Vec<BlockLine> {
    let mut lines: Vec<BlockLine> = Vec::new();
    for (_, mut spans) in spans {
        crate::sorted::sort_by_key(&mut spans, |span| span.time.start);
        let first = lines.len();
        for span in spans {
            match lines[first..].last_mut() {
                Some(last) if context.scale.x(span.time.start) <= context.scale.x(last.time.end) => {
                    last.time.end = last.time.end.max(span.time.end);
                    last.count += span.count;
                }
                _ => lines.push(span),
            }
        }
    }
    crate::sorted::sort_by_key(&mut lines, |span| (span.time.start, span.kernel));
    let mut rows = FreeLanes::default();
    for span in &mut lines {
        span.row = rows.take(&span.time);
    }
    lines
}

/// Puts the lines of one SM below its band.
pub(super) fn placed_thin(context: &Context<'_>, spans: &[BlockLine], band: &Rect) -> Vec<ThinLine> {
    let line = |span: &BlockLine| {
        let BlockLine { kernel, count, time, row } = span.clone();
        let y = band.bottom() + LINE_STEP * as_length(row) + (LINE_STEP - LINE);
        let area = Rect { x: context.scale.x(time.start), y, width: context.scale.width_of(&time), height: LINE };
        ThinLine { kernel, count, time, fill: Fill::plain(fill_of(context, Some(kernel)).ink), area }
    };
    spans.iter().map(line).collect()
}
