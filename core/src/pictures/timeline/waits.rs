//! Waits of operations in their streams, from launch to start: thin bars below the arrows of their rows, in the looks
//! of the rules that held them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::{Context, Entry, PALE, WAIT_LANE, are_dense, ending_at, quiet_beside, starting_at};
use super::means::Had;
use super::{LabelStyle, LegendSymbol, MoreWaits, StreamRow, StreamWaits, WaitBar, WaitPart, Waiter, context, means};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, MM, Rect, Sheet, as_length, font};
use crate::pictures::looks::rule_look;
use crate::pictures::timeline_model::{FreeLanes, MOST_WAIT_LANES_ON_PAPER, most_at_once};
use crate::run::{HeldCall, Summary};
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Rule, Wait};
use crate::workload::{OperationId, StreamId};

pub(super) const BAR: Length = MM;
/// Places of the height of shares of time, where waits are too short to be seen one by one.
const SHARES: Length = 2;
/// Between a bar and what is written beside it.
const BESIDE: Length = MM / 2;

/// An operation that waited in the window before it began, or a call of a host.
struct Waiting {
    who: Waiter,
    waits: Vec<Wait>,
    time: Range<Instant>,
}

/// The operations that waited, by their streams.
#[derive(Default)]
pub(super) struct Waits(BTreeMap<StreamId, Vec<Waiting>>);

impl Waits {
    /// Those that the window shows, of the kernels asked for; none of a measured run, as nobody saw it wait.
    pub(super) fn new(context: &Context<'_>) -> Self {
        let trace = context.summary.trace;
        let mut waits = Self::default();
        if !context.options.waits || trace.is_observed() {
            return waits;
        }
        for (operation, record) in trace.numbered() {
            let begun = record.first_start().unwrap_or(context.end());
            if !context.is_asked_for(record.kind) || !context.scale.shows(record.launched().min(begun), begun) {
                continue;
            }
            let own = seen(context, operation, record);
            if let (Some(first), Some(last)) = (own.first(), own.last()) {
                let time = first.from..last.to;
                let who = Waiter::Operation(operation);
                waits.0.entry(record.stream).or_default().push(Waiting { who, waits: own, time });
            }
        }
        waits.add_calls(context);
        waits
    }

    /// Calls that were held, in the row of what they submitted then, or of the first stream of their host.
    fn add_calls(&mut self, context: &Context<'_>) {
        let Summary { scenario, trace, held_calls, .. } = context.summary;
        let window = &context.scale.window;
        for call in held_calls.iter().filter(|_| context.options.only.is_none()) {
            let submitted = call.operation.and_then(|id| Some(trace.record(id)?.stream));
            let of_host = || scenario.threads.get(call.thread as usize)?.launched_to().next();
            let Some(stream) = submitted.or_else(of_host) else { continue };
            let time = call.from.max(window.start)..call.to().unwrap_or(trace.end()).min(window.end);
            if time.start < time.end {
                let waits = vec![Wait { rule: call.rule, from: time.start, to: time.end }];
                self.0.entry(stream).or_default().push(Waiting { who: Waiter::Call(*call), waits, time });
            }
        }
    }

    pub(super) fn streams(&self) -> impl Iterator<Item = StreamId> + '_ {
        self.0.keys().copied()
    }

    /// What waited in the streams of a row, below `row`, and where that ends.
    pub(super) fn below(
        &self,
        context: &Context<'_>,
        streams: &[StreamId],
        row: &Rect,
    ) -> (Option<StreamWaits>, Length) {
        let mut waiting: Vec<&Waiting> = streams.iter().filter_map(|id| self.0.get(id)).flatten().collect();
        if waiting.is_empty() {
            return (None, row.bottom());
        }
        crate::sorted::sort_by_key(&mut waiting, |waiting| match waiting.who {
            Waiter::Operation(operation) => (waiting.time.start, Some(operation)),
            Waiter::Call(_) => (waiting.time.start, None),
        });
        let waits = if are_dense(&context.scale, waiting.iter().map(|waiting| waiting.time.clone())) {
            as_shares(context, &waiting, row)
        } else {
            as_bars(context, &waiting, row)
        };
        let bottom = waits.area.bottom();
        (Some(waits), bottom)
    }
}

/// Which rules held it before it began, as far as the window shows it.
fn seen(context: &Context<'_>, operation: OperationId, record: &OperationRecord) -> Vec<Wait> {
    let window = &context.scale.window;
    let mut waits = Vec::new();
    context.summary.trace.each_wait(operation, |wait| {
        let to = record.first_start().map_or(context.waits_until(wait.to), |start| wait.to.min(start));
        let wait = Wait { from: wait.from.max(window.start), to: to.min(window.end), ..wait };
        if wait.from < wait.to {
            waits.push(wait);
        }
    });
    waits
}

/// A lane for each operation that waits at one time, as many as there may be; the others are counted in a strip.
fn as_bars(context: &Context<'_>, waiting: &[&Waiting], row: &Rect) -> StreamWaits {
    let (most, mut free) = (context.budget.wait_lanes.clamp(1, MOST_WAIT_LANES_ON_PAPER), FreeLanes::default());
    let (mut lanes, mut others): (Vec<Vec<&Waiting>>, Vec<&Waiting>) = (Vec::new(), Vec::new());
    for &one in waiting {
        let lane = free.take_of(most, &one.time);
        lanes.resize_with(lane.map_or(0, |lane| lane + 1).max(lanes.len()), Vec::new);
        lane.and_then(|lane| lanes.get_mut(lane)).unwrap_or(&mut others).push(one);
    }
    let lane = |number: usize| Rect { y: row.bottom() + WAIT_LANE * as_length(number), height: WAIT_LANE, ..*row };
    let bars = lanes.iter().enumerate().flat_map(|(number, waiting)| bars(context, waiting, &lane(number))).collect();
    let strip = lane(lanes.len());
    let (more, at_once) = strips(context, &others, &strip);
    let label = (at_once > 0).then(|| format!("up to {at_once} more"));
    let height = WAIT_LANE * as_length(lanes.len() + usize::from(at_once > 0));
    let area = Rect { y: row.bottom(), height, ..*row };
    let label = label.map(|text| quiet_beside(text, &strip));
    StreamWaits { area, bars, more, shares: Vec::new(), label }
}

/// How many wait on average, by rule.
fn as_shares(context: &Context<'_>, waiting: &[&Waiting], row: &Rect) -> StreamWaits {
    let area = Rect { y: row.bottom(), height: SHARES * WAIT_LANE, ..*row };
    let had = waiting.iter().flat_map(|waiting| &waiting.waits);
    let had = had.map(|wait| Had { what: wait.rule, count: 1, time: wait.from..wait.to });
    let (shares, most) = means::stacked(context, &area, None, had, |rule| rule_look(rule).fill);
    let (label, top) = (format!("up to {most} wait"), Rect { height: WAIT_LANE, ..area });
    StreamWaits { area, bars: Vec::new(), more: Vec::new(), shares, label: Some(quiet_beside(label, &top)) }
}

/// The bars of one lane; those that are too narrow are joined with what follows within the same width.
fn bars(context: &Context<'_>, waiting: &[&Waiting], lane: &Rect) -> Vec<WaitBar> {
    let part = |rule: Rule, time: Range<Instant>| {
        let (area, fill) = (bar(context, &time, lane), rule_look(rule).fill);
        // A narrow one is all ground.
        let fill = if area.width < Sheet::LEAST_OUTLINED { Fill::plain(fill.background) } else { fill };
        WaitPart { rule, time, fill, area }
    };
    let groups = context::joined(&context.scale, waiting, |one| one.time.clone()).into_iter();
    let bars = groups.filter_map(|these| {
        let (first, last) = these.first().zip(these.last())?;
        let time = first.time.start..last.time.end;
        let parts = match these.len() {
            1 => first.waits.iter().map(|wait| part(wait.rule, wait.from..wait.to)).collect(),
            _ => longest(these).map(|rule| part(rule, time.clone())).into_iter().collect(),
        };
        let (who, count, area) = (first.who, these.len() as u64, bar(context, &time, lane));
        Some(WaitBar { who, count, time, area, parts, label: None })
    });
    let mut bars: Vec<WaitBar> = bars.collect();
    write_beside(context, &mut bars, lane);
    bars
}

/// Where a time is in a lane.
fn bar(context: &Context<'_>, time: &Range<Instant>, lane: &Rect) -> Rect {
    let (x, width) = (context.scale.x(time.start), context.scale.width_of(time));
    Rect { x, y: lane.centre().y - BAR / 2, width, height: BAR }
}

/// The rule that held some operations longest.
fn longest(waiting: &[&Waiting]) -> Option<Rule> {
    let mut sums: BTreeMap<Rule, Duration> = BTreeMap::new();
    for wait in waiting.iter().flat_map(|waiting| &waiting.waits) {
        let sum = sums.entry(wait.rule).or_default();
        *sum = sum.saturating_add(wait.duration());
    }
    sums.into_iter().rev().max_by_key(|(_, time)| *time).map(|(rule, _)| rule)
}

/// What waits, and under which rules, behind its bar or before it, wherever there is room.
fn write_beside(context: &Context<'_>, bars: &mut [WaitBar], lane: &Rect) {
    let size = Theme::PAPER.small_size;
    let mut free_from = lane.x;
    for number in 0..bars.len() {
        let next = bars.get(number + 1).map_or(lane.right() + MM, |next| next.area.x - BESIDE);
        let bar = &mut bars[number];
        let (before, behind) = (bar.area.x - BESIDE, bar.area.right() + BESIDE);
        let fits = |text: &str, from: Length, to: Length| font::width(text, size, false) <= to - from;
        let middle = lane.centre().y;
        bar.label = texts(context, bar).into_iter().find_map(|text| {
            if fits(&text, behind, next) {
                Some(starting_at(text, behind, middle, size, LabelStyle::Normal))
            } else if fits(&text, free_from, before) {
                Some(ending_at(text, before, middle, size, LabelStyle::Normal))
            } else {
                None
            }
        });
        let written = bar.label.as_ref().map_or(0, |label| label.area.right());
        free_from = bar.area.right().max(written) + BESIDE;
    }
}

/// What may be written beside a bar, best first.
fn texts(context: &Context<'_>, bar: &WaitBar) -> Vec<String> {
    if bar.count > 1 {
        return vec![format!("{} waits", bar.count), format!("{}×", bar.count)];
    }
    let mut rules: Vec<&str> = bar.parts.iter().map(|part| part.rule.name()).collect();
    rules.dedup();
    let name = match bar.who {
        Waiter::Operation(operation) | Waiter::Call(HeldCall { operation: Some(operation), .. }) => {
            context.name_of(operation)
        }
        Waiter::Call(call) => call.name(context.summary.scenario).to_owned(),
    };
    vec![format!("{name}: {}", rules.join(", ")), name]
}

/// Wherever operations without a bar wait, and how many at once at most.
fn strips(context: &Context<'_>, others: &[&Waiting], lane: &Rect) -> (Vec<MoreWaits>, u64) {
    let mut strips: Vec<MoreWaits> = Vec::new();
    for one in others {
        let bar = bar(context, &one.time, lane);
        match strips.last_mut().filter(|last| bar.x <= last.area.right()) {
            Some(last) => {
                last.count += 1;
                last.time.end = last.time.end.max(one.time.end);
                last.area.width = context.scale.x(last.time.end) - last.area.x;
            }
            None => strips.push(MoreWaits { count: 1, time: one.time.clone(), area: bar }),
        }
    }
    (strips, most_at_once(others.iter().map(|one| ((), 1, one.time.clone()))))
}

pub(super) fn legend(context: &Context<'_>, rows: &[StreamRow]) -> Vec<Entry> {
    if !context.options.waits || context.summary.trace.is_observed() {
        return Vec::new();
    }
    let waits = || rows.iter().filter_map(|row| row.waits.as_ref());
    let of_bars = waits().flat_map(|waits| &waits.bars).flat_map(|bar| &bar.parts).map(|part| part.rule);
    let rules: BTreeSet<Rule> = of_bars.chain(waits().flat_map(|waits| &waits.shares).map(|share| share.of)).collect();
    if rules.is_empty() {
        return vec![Entry::remark("nothing waits in a stream")];
    }
    let of_rule = |rule: Rule| {
        let short = format!("{} ({rule})", rule_look(rule).in_short);
        Entry::new(rule_look(rule).fill, LegendSymbol::Wait, format!("waits {short}")).or(&[&short, rule.name()])
    };
    let more = waits().any(|waits| !waits.more.is_empty());
    let more = more.then(|| Entry::new(PALE, LegendSymbol::Wait, "more that wait"));
    rules.into_iter().map(of_rule).chain(more).collect()
}
