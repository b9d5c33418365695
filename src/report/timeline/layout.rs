//! The whole layout, from top to bottom.

use super::context::{BESIDE_PLOT, Context, MARGIN, ending_at, starting_at};
use super::deadlines::Deadlines;
use super::error::TimelineError;
use super::options::TimelineOptions;
use super::queues::Queues;
use super::scale::TimeScale;
use super::{Label, LabelStyle, Timeline, arrows, bands, copies, legend, occupancy, queues};
use crate::draw::theme::Theme;
use crate::draw::{Anchor, Length, MM, Rect, font, time_ticks};
use crate::report::Summary;
use crate::time::{Duration, Instant};

/// Right of the plot, where half of the last tick's label reaches.
const RIGHT_MARGIN: Length = 3 * MM;
/// Names take at most this share of the width \[percent\].
const MOST_FOR_NAMES: Length = 26;
/// From one tick to the next, at least.
const TICK_DISTANCE: Length = 11 * MM;
const TICK: Length = 6 * MM / 10;
/// Between names of SMs and what is written upwards beside them.
const HEIGHT_TITLE_GAP: Length = 8 * MM / 10;

impl Timeline {
    /// Lays out the timeline of a run.
    ///
    /// # Errors
    /// As [`TimelineOptions::check`], and [`TimelineError::Window`] if the window begins after the run has ended.
    pub fn new(summary: &Summary<'_>, options: &TimelineOptions) -> Result<Self, TimelineError> {
        options.check(summary.scenario)?;
        let mut context = context(summary, options)?;
        let deadlines = Deadlines::new(&context);
        let streams = arrows::groups(&context, &deadlines);
        let names: Vec<(String, String)> = streams.iter().map(|group| arrows::name(&context, group)).collect();
        let queues = options.queues.then(|| Queues::new(&context));
        let queue_names = queues.as_ref().map_or_else(Vec::new, |queues| queues.names(&context));
        let room = names_width(&context, &names, &queue_names).max(options.least_left - MARGIN - BESIDE_PLOT);
        context.scale.left = MARGIN + room + BESIDE_PLOT;
        context.scale.width = options.width - RIGHT_MARGIN - context.scale.left;

        let mut captions = Vec::new();
        let mut bottom = MARGIN;
        if options.title {
            bottom = title(&context, bottom, &mut captions);
        }
        let (legend, bottom) = legend::legend(&context, &deadlines, MARGIN, options.width - MARGIN, bottom);
        let top = bottom + MM;
        let (bands, across, bottom) = bands::bands(&context, top);
        captions.extend(height_title(&context, top, bottom));
        let (lanes, bottom) = copies::lanes(&context, bottom);
        let (occupancy, bottom) = match options.occupancy.then(|| occupancy::occupancy(&context, bottom)) {
            Some((panel, bottom)) => (Some(panel), bottom),
            None => (None, bottom),
        };
        let (queues, bottom) = match queues {
            Some(queues) => queues.rows(&context, bottom),
            None => (Vec::new(), bottom),
        };
        let mut rows = Vec::new();
        let mut row_top = bottom + MM / 2;
        for (group, name) in streams.iter().zip(&names) {
            let area = Rect { x: context.scale.left, y: row_top, width: context.scale.width, height: arrows::HEIGHT };
            row_top = area.bottom();
            let text = arrows::fitted_name(name, room);
            let right = area.x - BESIDE_PLOT;
            let label = ending_at(text, right, area.centre().y, Theme::PAPER.text_size, LabelStyle::Normal);
            rows.push(arrows::row(&context, &deadlines, group, name, area, label));
        }
        let plot = Rect::between(context.scale.left, top, context.scale.right(), row_top);

        let most_ticks = u64::try_from(plot.width / TICK_DISTANCE).unwrap_or(2).max(2);
        let window = context.scale.window.clone();
        let ticks = time_ticks(window.start.as_ns(), window.end.as_ns(), most_ticks);
        let tick_places: Vec<Length> = ticks.at.iter().map(|(at, _)| context.scale.x(Instant::from_ns(*at))).collect();
        let size = Theme::PAPER.text_size;
        let axis_title = format!("time [{}]", ticks.unit);
        let first_label = ticks
            .at
            .first()
            .zip(tick_places.first())
            .map_or(plot.x, |((_, text), x)| x - font::width(text, Theme::PAPER.small_size, false) / 2);
        let mut middle = plot.bottom() + TICK + MM / 5 + size / 2;
        let right = (plot.x - BESIDE_PLOT).min(first_label - MM);
        let mut axis_title = ending_at(axis_title, right, middle, size, LabelStyle::Normal);
        if axis_title.area.x < MARGIN {
            // Not beside the labels of ticks, then below them.
            middle += size + MM / 5;
            axis_title = starting_at(axis_title.text, plot.x, middle, size, LabelStyle::Normal);
        }
        captions.push(axis_title);
        let (key, bottom) = queues::key(&context, &queues, middle + size / 2);
        captions.extend(key);
        Ok(Self {
            width: options.width,
            height: bottom + MARGIN,
            name: summary.scenario.name.clone(),
            captions,
            legend,
            window,
            plot,
            ticks,
            tick_places,
            bands,
            across,
            lanes,
            occupancy,
            queues,
            rows,
        })
    }

    /// Where the labels of ticks are, from left to right.
    pub(super) fn tick_labels(&self) -> impl Iterator<Item = Label> + '_ {
        let size = Theme::PAPER.small_size;
        self.ticks.at.iter().zip(&self.tick_places).map(move |((_, text), x)| {
            let width = font::width(text, size, false);
            let middle = self.plot.bottom() + TICK + MM / 5 + size / 2;
            starting_at(text.clone(), x - width / 2, middle, size, LabelStyle::Normal)
        })
    }

    /// Where an instant is from left to right; at an edge of the plot if it is outside the window.
    #[must_use]
    pub fn place_of(&self, instant: Instant) -> Length {
        let scale = TimeScale { window: self.window.clone(), left: self.plot.x, width: self.plot.width };
        scale.x(instant.max(self.window.start))
    }

    /// Length of a tick.
    pub(super) const TICK: Length = TICK;
}

fn context<'a>(summary: &Summary<'a>, options: &'a TimelineOptions) -> Result<Context<'a>, TimelineError> {
    let from = options.from.unwrap_or_default();
    let start = Instant::ZERO + from;
    let end = options.to.map_or(summary.trace.end(), |to| Instant::ZERO + to);
    // A run that took no time at all still has a picture.
    let end = if options.from.is_none() && options.to.is_none() { end.max(start + Duration::from_ns(1)) } else { end };
    if end <= start {
        return Err(TimelineError::Window { from, to: end.since(Instant::ZERO) });
    }
    let scale = TimeScale { window: start..end, left: 0, width: options.width };
    Ok(Context::new(summary, options, scale))
}

/// What the names beside the plot take.
fn names_width(context: &Context<'_>, streams: &[(String, String)], queues: &[String]) -> Length {
    let size = Theme::PAPER.text_size;
    let sms = context.options.shown_sms(context.summary.scenario.device());
    let names = streams.iter().map(|(name, suffix)| format!("{name}{suffix}"));
    let widths = names.chain(["time [ms]00".to_owned()]).map(|name| font::width(&name, size, false));
    let names = widths.max().unwrap_or(0).min(context.options.width * MOST_FOR_NAMES / 100);
    // Short, so they are never cut.
    let panels = queues.iter().map(|name| font::width(name, size, false)).max().unwrap_or(0);
    let names = names.max(panels);
    let beside_bands = beside_bands(context);
    let height_title = if bands::have_marks(sms.len()) { HEIGHT_TITLE_GAP + Theme::PAPER.small_size } else { 0 };
    names.max(beside_bands + height_title)
}

/// What the names of SMs and the marks take.
fn beside_bands(context: &Context<'_>) -> Length {
    let sms = context.options.shown_sms(context.summary.scenario.device());
    let last_sm = format!("SM {}", sms.iter().max().unwrap_or(&0));
    let marks = font::width(&bands::capacity_text(context), Theme::PAPER.small_size, false);
    font::width(&last_sm, Theme::PAPER.text_size, false).max(if bands::have_marks(sms.len()) { marks } else { 0 })
}

/// The scenario's name, and at the right the device; where they end.
fn title(context: &Context<'_>, top: Length, captions: &mut Vec<Label>) -> Length {
    let size = Theme::PAPER.title_size;
    let middle = top + size / 2;
    let device = context.summary.scenario.device().name.clone();
    let right = context.options.width - MARGIN;
    let device = ending_at(device, right, middle, Theme::PAPER.text_size, LabelStyle::Quiet);
    let room = device.area.x - 2 * MM - MARGIN;
    let name = font::truncated(&context.summary.scenario.name, size, true, room);
    captions.push(starting_at(name, MARGIN, middle, size, LabelStyle::Bold));
    captions.push(device);
    top + size + MM
}

/// What the height of the bands is, written upwards beside them, if there is room.
fn height_title(context: &Context<'_>, top: Length, bottom: Length) -> Option<Label> {
    let sms = context.options.shown_sms(context.summary.scenario.device()).len();
    let size = Theme::PAPER.small_size;
    let text = format!("{} per SM", context.options.height_by.name());
    let length = font::width(&text, size, false);
    let fits = bands::have_marks(sms) && length <= bottom - top;
    let x = context.scale.left - BESIDE_PLOT - beside_bands(context) - HEIGHT_TITLE_GAP - size;
    let area = Rect { x, y: (top + bottom - length) / 2, width: size, height: length };
    fits.then_some(Label { text, area, anchor: Anchor::Middle, size, style: LabelStyle::QuietUpwards })
}
