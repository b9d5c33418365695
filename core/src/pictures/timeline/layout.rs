//! Lays out the printed timeline: gives each of its parts a place on the sheet, from top to bottom.

use std::ops::Range;

use super::context::{Budget, Context, Entry, STREAM_ROW, TimeScale, ending_at, starting_at};
use super::options::{Lanes, TimelineError, TimelineOptions};
use super::plan::Plan;
use super::rows::{Deadlines, Events};
use super::streams::Group;
use super::turns::Turns;
use super::usage::Queues;
use super::waits::{self, Waits};
use super::{
    Label, LabelStyle, QueueRow, StreamRow, Timeline, bands, blocks, engine_lanes, legend, rows, streams, usage,
};
use crate::draw::theme::Theme;
use crate::draw::{Anchor, AxisTicks, Length, MM, Rect, Sheet, font, time_ticks_since};
use crate::pictures::timeline_model::still_until;
use crate::run::Summary;
use crate::time::{Duration, Instant};
use crate::trace::OperationRecord;

/// Right of the plot, where half of the last tick's label reaches.
const RIGHT_MARGIN: Length = 3 * MM;
/// Names take at most this share of the width \[percent\].
const MOST_FOR_NAMES: Length = 26;
/// Names of bands take at most this share of the width \[percent\].
const MOST_FOR_BANDS: Length = 32;
/// Between names of SMs and what is written upwards beside them.
const HEIGHT_TITLE_GAP: Length = 8 * MM / 10;

impl Timeline {
    /// Lays out the timeline of a run, as high as the options allow: if it is higher, its parts are cut down, with
    /// counts of what is left out.
    ///
    /// # Errors
    /// As [`TimelineOptions::check`], [`TimelineError::Window`] if the window begins after the run has ended, and
    /// [`TimelineError::HeightLimit`] if what must be in it is higher.
    pub fn new(summary: &Summary<'_>, options: &TimelineOptions) -> Result<Self, TimelineError> {
        let timeline = Self::as_low_as(summary, options)?;
        TimelineError::check_height(timeline.height, options.height_limit)?;
        Ok(timeline)
    }

    /// As [`Self::new`], and as low as can be where nothing is low enough.
    pub(super) fn as_low_as(summary: &Summary<'_>, options: &TimelineOptions) -> Result<Self, TimelineError> {
        options.check(summary.scenario)?;
        let mut context = context(summary, options)?;
        let (mut timeline, mut used) = laid_out(&mut context);
        // What one part leaves the next may need: names and labels change with what is cut.
        for _ in 0..6 {
            let excess = timeline.height - options.height_limit;
            if excess <= 0 {
                return Ok(timeline);
            }
            context.budget = Budget::reduced(used, excess, options.lanes);
            (timeline, used) = laid_out(&mut context);
        }
        if timeline.height > options.height_limit {
            context.budget = Budget::LEAST;
            (timeline, _) = laid_out(&mut context);
        }
        Ok(timeline)
    }

    /// Where the labels of ticks are, from left to right.
    pub(super) fn tick_labels(&self) -> impl Iterator<Item = Label> + '_ {
        let size = Theme::PAPER.small_size;
        self.ticks.at.iter().zip(&self.tick_places).map(move |((_, text), x)| {
            let width = font::width(text, size, false);
            let middle = self.plot.bottom() + Sheet::TICK + MM / 5 + size / 2;
            starting_at(text.clone(), x - width / 2, middle, size, LabelStyle::Normal)
        })
    }

    /// Where an instant is from left to right; at an edge of the plot if it is outside the window.
    pub(crate) fn place_of(&self, instant: Instant) -> Length {
        self.scale().x(instant)
    }

    pub(super) fn scale(&self) -> TimeScale {
        TimeScale { window: self.window.clone(), left: self.plot.x, width: self.plot.width }
    }
}

/// Everything, within the budget, and what of the budget is used.
fn laid_out(context: &mut Context<'_>) -> (Timeline, Budget) {
    let options = context.options;
    context.scale.left = 0;
    context.scale.width = options.width;
    let plan = (options.lanes == Lanes::Sms).then(|| Plan::new(context, context.budget.bands));
    let deadlines = Deadlines::new(context);
    let waits = Waits::new(context);
    let mut streams = streams::groups(context, &deadlines, &waits);
    let queues = options.queues.then(|| Queues::new(context));
    let queue_names = queues.as_ref().map_or_else(Vec::new, |queues| queues.names(context));
    let widths = NamesWidth::new(context, &streams, &queue_names, plan.as_ref());
    let room = widths.all.max(options.least_left - Sheet::MARGIN - Sheet::BESIDE_PLOT);
    context.scale.left = Sheet::MARGIN + room + Sheet::BESIDE_PLOT;
    context.scale.width = options.width - RIGHT_MARGIN - context.scale.left;
    let turns = Turns::new(context);
    context.rounds = turns.rounds(&context.scale);
    let context = &*context;

    let mut captions = Vec::new();
    let mut bottom = Sheet::MARGIN;
    if options.title {
        bottom = title(context, bottom, &mut captions);
    }
    streams::fit_names(&mut streams, room);
    // Arrows between rows are counted in the legend, which stands above the rows: places from left to right are known.
    let rows = |top: Length| rows(context, (&deadlines, &waits), &streams, top);
    let (rows_before, _) = rows(0);
    let items = plan.as_ref().and_then(|plan| bands::items(context, plan));
    let are_shapes = match &plan {
        Some(_) => items.is_none() || engine_lanes::copies_are_dense(context),
        None => super::streams::are_dense(context, &streams),
    };
    let longest = context.summary.longest_way();
    let mut others = engine_lanes::core_legend(context);
    others.extend(blocks::stands_legend(context, items.as_deref()));
    others.extend(rows::chain_legend(longest.as_ref()));
    others.extend(turns.legend(context));
    others.extend(explained(context, plan.as_ref(), are_shapes, &rows_before));
    let sides = (Sheet::MARGIN, options.width - Sheet::MARGIN);
    let legend = legend::legend(context, (&deadlines, &rows_before), plan.as_ref(), others, sides, bottom);
    let plot_top = legend.bottom + MM;
    let (cores, turns_top) = engine_lanes::core_lanes(context, plot_top);
    let (turns, top) = turns.band(context, turns_top);
    let (bands, across, bands_end) = match &plan {
        Some(plan) => bands::bands(context, plan, items, top, widths.beside_bands),
        None => (Vec::new(), Vec::new(), top),
    };
    captions.extend(plan.as_ref().and_then(|plan| height_title(context, plan, &widths, top, bands_end)));
    let (lanes, bottom) = match &plan {
        Some(_) => engine_lanes::copy_lanes(context, bands_end),
        None => (Vec::new(), bands_end),
    };
    let (stream_lanes, bottom) = match &plan {
        Some(_) => (Vec::new(), bottom),
        None => super::streams::lanes(context, &streams, bottom),
    };
    let lanes_end = if plan.is_some() { bands_end } else { bottom };
    let occupancy = options.occupancy.then(|| usage::occupancy(context, bottom));
    let bottom = occupancy.as_ref().map_or(bottom, |panel| panel.area.bottom());
    let queues = queues.map_or_else(Vec::new, |queues| queues.rows(context, bottom));
    let bottom = queues.last().map_or(bottom, |row| row.area.bottom());
    let (rows, row_top) = rows(bottom + MM / 2);
    let plot = Rect::between(context.scale.left, plot_top, context.scale.right(), row_top);
    let (axis, bottom) = axis(context, &plot);
    captions.push(axis.title);
    let (key, bottom) = usage::key(context, &queues, bottom);
    captions.extend(key);
    let used = Budget {
        legend_rows: legend.rows,
        stream_rows: rows.len(),
        queue_lanes: queues.iter().map(QueueRow::places).max().unwrap_or(0),
        wait_lanes: rows.iter().map(StreamRow::wait_lanes).max().unwrap_or(0),
        bands: lanes_end - top,
    };
    let timeline = Timeline {
        events: Events::new(context, &rows).arrows,
        chain: rows::chain_way(context, longest.as_ref(), &cores, &rows),
        width: options.width,
        height: bottom + Sheet::MARGIN,
        name: context.summary.scenario.name.clone(),
        captions,
        legend: legend.entries,
        kernels: legend.titles,
        window: context.scale.window.clone(),
        plot,
        ticks: axis.ticks,
        tick_places: axis.places,
        cores,
        turns,
        bands,
        zoom: plan.as_ref().map_or(1, |plan| plan.zoom),
        across,
        lanes,
        occupancy,
        queues,
        stream_lanes,
        rows,
    };
    (timeline, used)
}

/// What is to be said in the legend of other parts than turns; `are_shapes` if boxes are shown as their means.
fn explained(context: &Context<'_>, plan: Option<&Plan>, are_shapes: bool, rows: &[StreamRow]) -> Vec<Entry> {
    let mut others = Vec::new();
    let are_means = are_shapes || rows.iter().flat_map(|row| &row.waits).any(|waits| !waits.shares.is_empty());
    if context.is_still {
        let end = context.summary.trace.end().since(context.options.origin);
        others.push(Entry::remark(format!("the run stands still from {end} on")));
    }
    // Else turns say so.
    if are_means && context.rounds.is_none() {
        others.push(Entry::remark("too short to see: means over time").or(&["means over time"]));
    }
    others.extend(plan.and_then(|plan| bands::zoom_legend(context, plan)));
    others.extend(streams::legend(rows));
    others.extend(Events::new(context, rows).legend());
    others.extend(waits::legend(context, rows));
    others
}

/// One row for each group of streams below `top`, and where they end.
fn rows(
    context: &Context<'_>,
    (deadlines, waits): (&Deadlines, &Waits),
    streams: &[Group],
    mut top: Length,
) -> (Vec<StreamRow>, Length) {
    let mut rows = Vec::new();
    for group in streams {
        let area = context.strip(top, STREAM_ROW);
        let row = streams::row(context, deadlines, group, waits, area);
        top = row.bottom;
        rows.push(row);
    }
    (rows, top)
}

struct Axis {
    ticks: AxisTicks,
    places: Vec<Length>,
    title: Label,
}

/// The axis of time below the plot, and where it ends.
fn axis(context: &Context<'_>, plot: &Rect) -> (Axis, Length) {
    let window = context.scale.window.clone();
    let origin = context.options.origin.as_ns();
    let ticks = time_ticks_since(origin, window.start.as_ns(), window.end.as_ns(), Sheet::ticks_on(plot.width));
    let places: Vec<Length> = ticks.at.iter().map(|(at, _)| context.scale.x(Instant::from_ns(*at))).collect();
    let size = Theme::PAPER.text_size;
    let title = format!("time [{}]", ticks.unit);
    let first_label = ticks
        .at
        .first()
        .zip(places.first())
        .map_or(plot.x, |((_, text), x)| x - font::width(text, Theme::PAPER.small_size, false) / 2);
    let mut middle = plot.bottom() + Sheet::TICK + MM / 5 + size / 2;
    let right = (plot.x - Sheet::BESIDE_PLOT).min(first_label - MM);
    let mut title = ending_at(title, right, middle, size, LabelStyle::Normal);
    if title.area.x < Sheet::MARGIN {
        // Not beside the labels of ticks, then below them.
        middle += size + MM / 5;
        title = starting_at(title.text, plot.x, middle, size, LabelStyle::Normal);
    }
    (Axis { ticks, places, title }, middle + size / 2)
}

fn context<'a>(summary: &Summary<'a>, options: &'a TimelineOptions) -> Result<Context<'a>, TimelineError> {
    let window = match &options.window {
        Some(window) => window.clone(),
        None => window(summary, options)?,
    };
    let scale = TimeScale { window, left: 0, width: options.width };
    Ok(Context::new(summary, options, scale))
}

/// The time to show, as far as the options tell.
///
/// # Errors
/// [`TimelineError::Window`] if it begins after the run has ended.
pub(super) fn window(summary: &Summary<'_>, options: &TimelineOptions) -> Result<Range<Instant>, TimelineError> {
    let from = options.from.unwrap_or_default();
    let start = match options.from {
        Some(from) => options.origin + from,
        None => first_instant(summary).min(options.origin),
    };
    let end_of_run = || still_until(summary, start).unwrap_or(summary.trace.end());
    let end = options.to.map_or_else(end_of_run, |to| options.origin + to);
    // A run that took no time at all still has a picture.
    let end = if options.from.is_none() && options.to.is_none() { end.max(start + Duration::from_ns(1)) } else { end };
    if end <= start {
        return Err(TimelineError::Window { from, to: end.since(options.origin) });
    }
    Ok(start..end)
}

/// When the first kernel or copy began, or work on a core.
fn first_instant(summary: &Summary<'_>) -> Instant {
    let starts = summary.trace.operations().iter().filter_map(OperationRecord::first_start);
    starts.chain(summary.cores.iter().map(|span| span.start)).min().unwrap_or(Instant::MAX)
}

/// What the names beside the plot take.
struct NamesWidth {
    all: Length,
    /// The names of SMs and the marks.
    beside_bands: Length,
}

impl NamesWidth {
    fn new(context: &Context<'_>, streams: &[Group], queues: &[String], plan: Option<&Plan>) -> Self {
        let size = Theme::PAPER.text_size;
        let most = context.options.width * MOST_FOR_NAMES / 100;
        let most_of_bands = context.options.width * MOST_FOR_BANDS / 100;
        let names = streams.iter().map(Group::whole_name);
        let widths = names.chain(["time [ms]00".to_owned()]).map(|name| font::width(&name, size, false));
        let names = widths.max().unwrap_or(0).min(most);
        // Short, so they are never cut.
        let panels = queues.iter().map(|name| font::width(name, size, false)).max().unwrap_or(0);
        let have_marks = plan.is_some_and(Plan::have_marks);
        let marks = |plan: &Plan| {
            let most = plan.bands.iter().filter_map(|band| band.overfull).chain([context.capacity()]).max();
            let amounts = [most.unwrap_or(0), context.capacity()].map(|units| context.options.height_by.amount(units));
            amounts.map(|text| font::width(&text, Theme::PAPER.small_size, false)).into_iter().max().unwrap_or(0)
        };
        let marks = plan.filter(|_| have_marks).map_or(0, marks);
        let beside_bands = plan.map_or(0, |plan| bands::names_width(plan, most_of_bands)).max(marks);
        let height_title = if have_marks { HEIGHT_TITLE_GAP + Theme::PAPER.small_size } else { 0 };
        Self { all: names.max(panels).max(beside_bands + height_title), beside_bands }
    }
}

/// The scenario's name, and at the right the device; where they end.
fn title(context: &Context<'_>, top: Length, captions: &mut Vec<Label>) -> Length {
    let size = Theme::PAPER.title_size;
    let middle = top + size / 2;
    let device = context.summary.scenario.device().name.clone();
    let right = context.options.width - Sheet::MARGIN;
    let device = ending_at(device, right, middle, Theme::PAPER.text_size, LabelStyle::Quiet);
    let room = device.area.x - 2 * MM - Sheet::MARGIN;
    let name = font::shortened(&context.summary.scenario.name, size, true, room);
    captions.push(starting_at(name, Sheet::MARGIN, middle, size, LabelStyle::Bold));
    captions.push(device);
    top + size + MM
}

/// What the height of the bands is, written upwards beside them, if there is room.
fn height_title(context: &Context<'_>, plan: &Plan, widths: &NamesWidth, top: Length, bottom: Length) -> Option<Label> {
    let size = Theme::PAPER.small_size;
    let all = context.options.height_by.amount(context.capacity());
    let of = if plan.zoom > 1 { format!(", of {all}") } else { String::new() };
    let text = format!("{} per SM{of}", context.options.height_by.name());
    let length = font::width(&text, size, false);
    let fits = plan.have_marks() && length <= bottom - top;
    let x = context.scale.left - Sheet::BESIDE_PLOT - widths.beside_bands - HEIGHT_TITLE_GAP - size;
    let area = Rect { x, y: (top + bottom - length) / 2, width: size, height: length };
    fits.then_some(Label { text, area, anchor: Anchor::Middle, size, style: LabelStyle::QuietUpwards })
}
