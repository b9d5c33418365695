//! The panels below the SMs that show how the GPU is used over time: which share of threads, shared memory and
//! registers is in use, and what is in each EE queue and CE queue and which rule holds its head.

use std::collections::BTreeSet;
use std::ops::Range;

use super::context::{Context, PALE, QUEUE_LANE, beside, centred, ending_at, quiet_beside, starting_at};
use super::means::{Steps, level};
use super::{Label, LabelStyle, Occupancy, OccupancyLine, QueueEntry, QueueRow};
use crate::draw::theme::{Colour, Theme, line_colour};
use crate::draw::{Dash, Length, MM, Point, Rect, Sheet, Stroke, as_length, font};
use crate::pictures::looks::{MOST_PLACES, is_shown, queue_name, queue_owner, rule_look};
use crate::pictures::timeline_model::{self, HeightBy, StepSums, changes};
use crate::time::Instant;
use crate::trace::{Place, Queue, Rule, queue_contents};
use crate::workload::OperationKind;

const HEIGHT: Length = 10 * MM;
/// Between a panel, with its key, and what is above it.
const GAP: Length = MM;
/// Changes up to which each is drawn where it is; more are averaged over steps that are too short to see.
const MOST_CHANGES: usize = 2_000;
/// A line in the key.
const KEY: Length = 5 * MM;

/// The panel of occupancy below `top`.
pub(super) fn occupancy(context: &Context<'_>, top: Length) -> Occupancy {
    let size = Theme::PAPER.small_size;
    let key_middle = top + GAP + size / 2;
    let area = context.strip(top + GAP + size * 3 / 2, HEIGHT);
    let right = area.x - Sheet::BESIDE_PLOT;
    let mark = |text: &str, middle| ending_at(text.to_owned(), right, middle, size, LabelStyle::Quiet);
    let marks = vec![mark("100 %", area.y + size / 2), mark("0", area.bottom() - size / 2)];
    let label = beside("in use".to_owned(), &area);
    let mut x = area.x;
    let mut curves = Vec::new();
    let steps = Steps::new(context, Steps::most(context));
    for ((in_use, resource), dash) in in_use(context, &steps).into_iter().zip(HeightBy::ALL).zip(DASHES) {
        let Some(points) = in_use.points(context, resource, &steps, &area) else { continue };
        let key = [Point { x, y: key_middle }, Point { x: x + KEY, y: key_middle }];
        let text_left = x + KEY + MM / 2;
        let name = resource.name().to_owned();
        x = text_left + font::width(&name, size, false) + 3 * MM;
        let label = starting_at(name, text_left, key_middle, size, LabelStyle::Normal);
        let stroke = Stroke {
            colour: [Colour::BLACK, line_colour(0), line_colour(1)][curves.len()],
            width: Theme::PAPER.arrow_line,
        };
        curves.push(OccupancyLine { stroke, dash, points, key, label });
    }
    Occupancy { area, label, marks, curves }
}

/// Of the curves of [`HeightBy::ALL`].
const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];

/// How much of a resource blocks take, and when.
struct InUse {
    /// Each with its time, as long as they are few.
    amounts: Vec<(Range<Instant>, u64)>,
    sums: StepSums,
}

/// How much of each resource is in use.
fn in_use(context: &Context<'_>, steps: &Steps<'_>) -> [InUse; 3] {
    let mut all = HeightBy::ALL.map(|_| InUse { amounts: Vec::new(), sums: StepSums::new(&steps.time) });
    for (part, amounts) in timeline_model::in_use(&context.summary, &context.scale.window) {
        for (in_use, amount) in all.iter_mut().zip(amounts).filter(|(_, amount)| *amount > 0) {
            if in_use.amounts.len() <= MOST_CHANGES / 2 {
                in_use.amounts.push((part.clone(), amount));
            }
            in_use.sums.add(part.clone(), amount, &steps.time);
        }
    }
    all
}

impl InUse {
    /// The share of all SMs; `None` if no block takes any.
    fn points(
        mut self,
        context: &Context<'_>,
        resource: HeightBy,
        steps: &Steps<'_>,
        area: &Rect,
    ) -> Option<Vec<Point>> {
        let device = context.summary.scenario.device();
        let capacity = u128::from(resource.of_sm(device)) * u128::from(device.sms);
        if self.amounts.is_empty() || capacity == 0 {
            return None;
        }
        let mut line = Line::new(context.scale.left, area.bottom());
        if self.amounts.len() <= MOST_CHANGES / 2 && context.rounds.is_none() {
            crate::sorted::sort_by_key(&mut self.amounts, |(time, _)| time.start);
            for (at, amount) in changes(self.amounts.into_iter()) {
                line.go_to(context.scale.x(at), level(area, amount.into(), capacity));
            }
        } else {
            for (step, total) in self.sums.totals(&steps.time).into_iter().enumerate() {
                line.go_to(steps.x(step), level(area, total, capacity * steps.time.length(step)));
            }
        }
        Some(line.until(context.scale.right()))
    }
}

struct Line {
    points: Vec<Point>,
}

impl Line {
    fn new(x: Length, y: Length) -> Self {
        Self { points: vec![Point { x, y }] }
    }

    /// On to the right, then up or down.
    fn go_to(&mut self, x: Length, y: Length) {
        let Some(&last) = self.points.last() else { return };
        if last.y == y {
            return;
        }
        if last.x < x {
            self.points.push(Point { x, ..last });
        } else if self.points.len() == 1 {
            self.points.clear();
        }
        self.points.push(Point { x, y });
    }

    /// On to the right, to the end.
    fn until(mut self, x: Length) -> Vec<Point> {
        if let Some(&last) = self.points.last() {
            self.points.push(Point { x, ..last });
        }
        self.points
    }
}

/// A place that nobody holds for at least so long on paper is not shown.
const LEAST_SEEN: Length = MM / 4;
/// What the name of a process takes at most.
const MOST_NAME: Length = 18 * MM;
/// Narrower entries of one place are joined with their neighbours.
const LEAST_WIDTH: Length = 4 * MM / 10;

/// The queues in which something waits in the window, and how deep they get.
pub(super) struct Queues {
    queues: Vec<(Queue, Vec<Place>, usize)>,
}

impl Queues {
    pub(super) fn new(context: &Context<'_>) -> Self {
        let summary = &context.summary;
        let end_of_run = context.end();
        let contents = queue_contents(summary.trace, summary.scenario.device());
        let mut queues = Vec::new();
        for mut contents in contents.into_iter().filter(|contents| is_shown(contents.queue)) {
            contents.stays.retain(|stay| {
                let time = stay.time(end_of_run);
                time.start < time.end && context.scale.shows(time.start, time.end)
            });
            if !contents.stays.is_empty() {
                let (places, depth) = contents.places(MOST_PLACES, end_of_run);
                queues.push((contents.queue, places, depth));
            }
        }
        Self { queues }
    }

    /// Names, as they stand beside the plot.
    pub(super) fn names(&self, context: &Context<'_>) -> Vec<String> {
        let priorities = self.queues.iter().filter(|(queue, ..)| matches!(queue, Queue::Ee(..))).count();
        let engines = context.summary.scenario.device().copy.engines;
        let name = |queue: Queue| {
            let owner = queue_owner(context.summary.trace, queue);
            let owner = owner.map(|name| font::shortened(name, Theme::PAPER.text_size, false, MOST_NAME));
            queue_name(queue, owner.as_deref(), priorities > 1, engines > 1)
        };
        self.queues.iter().map(|(queue, ..)| name(*queue)).collect()
    }

    /// The queues below `top`.
    pub(super) fn rows(&self, context: &Context<'_>, top: Length) -> Vec<QueueRow> {
        let names = self.names(context);
        let mut bottom = top;
        let mut rows = Vec::new();
        for (name, &(queue, ref places, depth)) in names.into_iter().zip(&self.queues) {
            // Places that are taken too shortly to be seen would be empty rows.
            let is_seen = |place: &&Place| context.scale.length(place.time.end.since(place.time.start)) >= LEAST_SEEN;
            let shown = places.iter().filter(is_seen).map(|place| place.position + 1).max().unwrap_or(1);
            let shown = shown.min(context.budget.queue_lanes.max(1));
            let area = context.strip(bottom + GAP, as_length(shown) * QUEUE_LANE);
            bottom = area.bottom();
            let label = beside(name.clone(), &Rect { height: QUEUE_LANE, ..area });
            let more = (depth > shown && shown > 1).then(|| {
                let last = Rect { y: area.bottom() - QUEUE_LANE, height: QUEUE_LANE, ..area };
                quiet_beside(format!("up to {depth}"), &last)
            });
            let entries = entries(context, queue, places.iter().filter(|place| place.position < shown), &area);
            rows.push(QueueRow { name, label, more, area, entries });
        }
        rows
    }
}

/// Boxes for the places, those of the head divided by the rules that hold it.
fn entries<'p>(
    context: &Context<'_>,
    queue: Queue,
    places: impl Iterator<Item = &'p Place>,
    area: &Rect,
) -> Vec<QueueEntry> {
    let mut entries: Vec<QueueEntry> = Vec::new();
    let mut last_of_lane = [None; MOST_PLACES];
    for place in places.filter(|place| context.scale.shows(place.time.start, place.time.end)) {
        for (time, rule) in divided(context, place) {
            let y = area.y + QUEUE_LANE * as_length(place.position);
            let (x, width) = (context.scale.x(time.start), context.scale.width_of(&time));
            let here = Rect { x, y, width, height: QUEUE_LANE };
            let last: Option<usize> = last_of_lane[place.position];
            if let Some(last) = last.map(|last| &mut entries[last]) {
                let narrow = here.width < LEAST_WIDTH && last.area.width < LEAST_WIDTH || last.count > 1;
                if narrow && here.width < LEAST_WIDTH && here.x <= last.area.right() {
                    last.count += u64::from(last.operation != place.operation);
                    last.rule = last.rule.filter(|same| Some(*same) == rule);
                    last.time.end = time.end;
                    last.area.width = here.right() - last.area.x;
                    last.fill = PALE;
                    continue;
                }
            }
            last_of_lane[place.position] = Some(entries.len());
            let fill = context.fill_of_operation(place.operation);
            let (operation, position) = (place.operation, place.position);
            entries.push(QueueEntry { operation, count: 1, position, time, rule, fill, area: here, label: None });
        }
    }
    for entry in &mut entries {
        entry.label = centred(&texts(context, queue, entry), &entry.area, Theme::PAPER.small_size);
    }
    entries
}

/// The time at one place, at the head by what the operation waits for.
fn divided(context: &Context<'_>, place: &Place) -> Vec<(Range<Instant>, Option<Rule>)> {
    if place.position > 0 {
        return vec![(place.time.clone(), None)];
    }
    let mut parts = Vec::new();
    let mut from = place.time.start;
    for wait in context.summary.trace.waits(place.operation) {
        let (start, end) = (wait.from.max(from), context.waits_until(wait.to).min(place.time.end));
        if start < end {
            if from < start {
                parts.push((from..start, None));
            }
            parts.push((start..end, Some(wait.rule)));
            from = end;
        }
    }
    if from < place.time.end {
        parts.push((from..place.time.end, None));
    }
    parts
}

/// What may be written on an entry, best first.
fn texts(context: &Context<'_>, queue: Queue, entry: &QueueEntry) -> Vec<String> {
    let record = context.summary.trace.record(entry.operation);
    let mut repeat = None;
    let name = match record.map(|record| record.kind) {
        _ if entry.count > 1 => format!("{}×", entry.count),
        Some(OperationKind::Kernel(kernel)) if context.is_chosen(kernel) => {
            repeat = context.repeat(kernel);
            context.short_name(kernel).to_owned()
        }
        Some(OperationKind::Copy(_)) => context.name_of(entry.operation),
        _ => return Vec::new(),
    };
    let mut texts = match entry.rule {
        Some(rule) if matches!(queue, Queue::Ee(..)) => vec![
            format!("{name} waits {} ({rule})", rule_look(rule).in_short),
            format!("{name}: {} ({rule})", rule_look(rule).in_short.trim_start_matches("for ")),
            format!("{name}: {rule}"),
            name,
        ],
        _ => vec![name],
    };
    texts.extend(repeat);
    texts
}

/// What the rules of the panel mean, in rows below `top`, and where they end.
pub(super) fn key(context: &Context<'_>, rows: &[QueueRow], top: Length) -> (Vec<Label>, Length) {
    let entries = || rows.iter().flat_map(|row| &row.entries);
    let rules: BTreeSet<Rule> = entries().filter_map(|entry| entry.rule).collect();
    let mut texts: Vec<String> = rules.into_iter().filter_map(meaning).collect();
    if entries().any(|entry| entry.position > 0) {
        texts.push("below the head of a queue: X1, only its head may start".to_owned());
    }
    if rows.is_empty() && context.options.queues {
        texts.push("nothing waits in an EE queue or CE queue".to_owned());
    }
    let size = Theme::PAPER.small_size;
    let (left, right) = (Sheet::MARGIN, context.options.width - Sheet::MARGIN);
    let (mut x, mut y, mut labels) = (left, top + size, Vec::new());
    for text in texts {
        let width = font::width(&text, size, false);
        if x + width > right && x > left {
            (x, y) = (left, y + size * 3 / 2);
        }
        let text = font::shortened(&text, size, false, right - left);
        labels.push(starting_at(text, x, y, size, LabelStyle::Quiet));
        x += width + 3 * MM;
    }
    let bottom = if labels.is_empty() { top } else { y + size };
    (labels, bottom)
}

/// A rule that holds heads of queues, as the figure explains it.
fn meaning(rule: Rule) -> Option<String> {
    rule.holds_queue_heads().then(|| format!("{rule}: {}", rule.meaning()))
}
