//! Means over time of what is too much or too short to be drawn one by one: how much of an SM each kernel took, and the
//! share of time that each process, copy direction, kernel or rule had.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::{Context, TimeScale, centred, fill_of};
use super::{Label, OccupancyProfile, TimeShare};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, Point, Rect, as_length, font};
use crate::limits::count_turn;
use crate::pictures::timeline_model::{self, StepSums, TimeSteps};
use crate::proven::{OrMost, Proven};
use crate::time::Instant;
use crate::trace::{RepeatedRun, Trace};
use crate::workload::{KernelId, ProcessId};

/// Kernels with a shape of their own; all others share one.
const MOST_KERNELS: usize = 64;
/// The shape of all other kernels.
const OTHERS: usize = usize::MAX;
/// The finest step on paper.
pub(super) const LEAST_STEP: Length = 20;
/// The fewest steps into which the time is divided, however many SMs there are.
const FEWEST_STEPS: u64 = 50;

/// A run of blocks of the kernels of one title, or of those that share a shape.
pub(super) struct Amount {
    pub(super) group: usize,
    pub(super) units: u64,
    pub(super) process: ProcessId,
    pub(super) run: RepeatedRun,
}

/// A band that is drawn as shapes.
pub(super) struct Shape<'p> {
    /// The SMs whose mean it shows.
    pub(super) sms: &'p [u32],
    pub(super) area: Rect,
    /// What its height stands for.
    pub(super) capacity: u32,
}

/// The shapes of each of some bands, which share no SM.
pub(super) fn profiles(context: &Context<'_>, bands: &[Shape<'_>]) -> Vec<Vec<OccupancyProfile>> {
    if bands.is_empty() {
        return Vec::new();
    }
    let mut band_of: Vec<Option<usize>> = vec![None; context.summary.trace.sms() as usize];
    for (number, band) in bands.iter().enumerate() {
        for sm in band.sms {
            if let Some(place) = band_of.get_mut(*sm as usize) {
                *place = Some(number);
            }
        }
    }
    let mut by_band: Vec<Vec<Amount>> = bands.iter().map(|_| Vec::new()).collect();
    let mut totals: BTreeMap<usize, u128> = BTreeMap::new();
    for amount in amounts(context) {
        let Some(band) = band_of.get(usize::from(amount.run.first.sm)).copied().flatten() else { continue };
        *totals.entry(amount.group).or_default() += amount.unit_ns(context.summary.trace);
        by_band[band].push(amount);
    }
    let by_boxes = (context.options.most_boxes / bands.len().max(1) as u64).max(FEWEST_STEPS);
    let steps = Steps::new(context, Steps::most(context).min(by_boxes));
    // Those that take least share a shape.
    let mut by_total: Vec<(u128, usize)> = totals.into_iter().map(|(group, total)| (total, group)).collect();
    by_total.sort_unstable_by(|one, other| other.cmp(one));
    let least: BTreeSet<usize> = by_total.iter().skip(MOST_KERNELS).map(|(_, group)| *group).collect();
    for amount in by_band.iter_mut().flatten().filter(|amount| least.contains(&amount.group)) {
        amount.group = OTHERS;
    }
    bands.iter().zip(&by_band).map(|(band, amounts)| of_one_band(context, amounts, band, &steps)).collect()
}

/// Steps of the window, and where they are on paper.
pub(super) struct Steps<'s> {
    scale: &'s TimeScale,
    pub(super) time: TimeSteps,
}

impl<'s> Steps<'s> {
    /// As many as can be told apart on paper.
    pub(super) fn most(context: &Context<'_>) -> u64 {
        u64::try_from(context.scale.width / LEAST_STEP).unwrap_or(1)
    }

    /// At most `most` steps: whole rounds of turns where these are too short to be seen, or else as short as can be.
    pub(super) fn new(context: &'s Context<'_>, most: u64) -> Self {
        let (scale, window) = (&context.scale, context.scale.window.clone());
        let Some(rounds) = &context.rounds else { return Self { scale, time: TimeSteps::new(window, most) } };
        let together = rounds.len() / usize::try_from(most).or_most().max(1) + 1;
        let edges: Vec<_> = rounds.iter().copied().skip(together - 1).step_by(together).collect();
        Self { scale, time: TimeSteps::between(window, &edges) }
    }

    /// Where the beginning of a step, or the end of the last one, is on paper.
    pub(super) fn x(&self, step: usize) -> Length {
        if !self.time.are_equal() {
            return self.scale.x(self.time.begin(step));
        }
        let width = u128::from(self.scale.width.unsigned_abs());
        let offset = width * step as u128 / self.time.count() as u128;
        self.scale.left + Length::try_from(offset).proven("a step begins within the width")
    }
}

/// What the runs of all kernels take in the window.
pub(super) fn amounts<'c>(context: &'c Context<'_>) -> impl Iterator<Item = Amount> + 'c {
    timeline_model::launches(&context.summary).flat_map(|launch| {
        let (units, group) = (u64::from(context.units(launch.kernel)), context.series(launch.id));
        let process = context.summary.trace.process_of_known(launch.operation);
        let amount = move |run: RepeatedRun| Amount { group, units: units * u64::from(run.first.blocks), process, run };
        launch.runs(context.scale.window.clone()).map(amount)
    })
}

impl Amount {
    /// All that it takes, times how long \[units x ns\]; while it is suspended it takes nothing.
    pub(super) fn unit_ns(&self, trace: &Trace) -> u128 {
        let time = trace.time_in_turn(self.process, self.run.first.start..self.run.end());
        u128::from(self.units) * u128::from(time.as_ns())
    }

    /// Adds what it takes while it is the turn of its context.
    pub(super) fn add_to(&self, sums: &mut StepSums, steps: &TimeSteps, trace: &Trace) {
        for part in trace.in_turn(self.process, self.run.first.start..self.run.end()) {
            sums.add(part, self.units, steps);
        }
    }
}

/// How high in an area some of a whole is, rounded; no more than all.
pub(super) fn level(area: &Rect, amount: u128, whole: u128) -> Length {
    let high = (amount * u128::from(area.height.unsigned_abs()) * 2 + whole) / (whole * 2);
    area.bottom() - Length::try_from(high).unwrap_or(area.height).min(area.height)
}

fn of_one_band(
    context: &Context<'_>,
    amounts: &[Amount],
    shape: &Shape<'_>,
    steps: &Steps<'_>,
) -> Vec<OccupancyProfile> {
    let band = &shape.area;
    let mut sums: BTreeMap<usize, (u64, StepSums)> = BTreeMap::new();
    for amount in amounts.iter().filter(|amount| amount.units > 0) {
        let (count, sums) = sums.entry(amount.group).or_insert_with(|| (0, StepSums::new(&steps.time)));
        *count += amount.run.blocks();
        amount.add_to(sums, &steps.time, context.summary.trace);
    }
    let capacity = u128::from(shape.capacity) * shape.sms.len().max(1) as u128;
    let (layers, _) = layers(sums, band, steps, Some(capacity));
    let profile = |Layer { of: group, count, above, below }| {
        let kernel = (group != OTHERS).then(|| context.first_of(group));
        let label = label(context, kernel, count, &above, &below, steps);
        let (fill, outlines) = (fill_of(context, kernel), outlines(&above, &below, steps));
        OccupancyProfile { kernel, count, fill, outlines, label }
    };
    layers.into_iter().map(profile).collect()
}

/// What one kind of things has in each step, upon what other kinds have.
struct Layer<K> {
    of: K,
    count: u64,
    above: Vec<Length>,
    below: Vec<Length>,
}

/// Sums by kind in an area, the first at the bottom, and for how much at one time its whole height stands: for `whole`,
/// or else for the most at one time, on average over a step.
fn layers<K>(
    sums: BTreeMap<K, (u64, StepSums)>,
    area: &Rect,
    steps: &Steps<'_>,
    whole: Option<u128>,
) -> (Vec<Layer<K>>, u128) {
    let mut stacked = vec![0_u128; steps.time.count()];
    let levels = sums.into_iter().map(|(of, (count, sum))| {
        for (stacked, total) in stacked.iter_mut().zip(sum.totals(&steps.time)) {
            *stacked += total;
        }
        (of, count, stacked.clone())
    });
    let levels: Vec<(K, u64, Vec<u128>)> = levels.collect();
    let most = stacked.iter().enumerate().map(|(step, sum)| sum.div_ceil(steps.time.length(step))).max();
    let whole = whole.or(most).unwrap_or(1).max(1);
    let y = |(step, sum): (usize, &u128)| level(area, *sum, steps.time.length(step) * whole);
    let mut edge = vec![area.bottom(); steps.time.count()];
    let layer = |(of, count, level): (K, u64, Vec<u128>)| {
        let above: Vec<Length> = level.iter().enumerate().map(y).collect();
        let below = std::mem::replace(&mut edge, above.clone());
        Layer { of, count, above, below }
    };
    (levels.into_iter().map(layer).collect(), whole)
}

/// Polygons around all steps in which there is something.
fn outlines(above: &[Length], below: &[Length], steps: &Steps<'_>) -> Vec<Vec<Point>> {
    let mut polygons = Vec::new();
    let mut first = 0;
    while first < above.len() {
        count_turn();
        if above[first] == below[first] {
            first += 1;
            continue;
        }
        let end = (first..above.len()).find(|&step| above[step] == below[step]).unwrap_or(above.len());
        let mut corners = Vec::new();
        for (step, &y) in (first..end).zip(&above[first..end]) {
            corner(&mut corners, steps.x(step), y);
            corner(&mut corners, steps.x(step + 1), y);
        }
        for (step, &y) in (first..end).zip(&below[first..end]).rev() {
            corner(&mut corners, steps.x(step + 1), y);
            corner(&mut corners, steps.x(step), y);
        }
        polygons.push(corners);
        first = end;
    }
    polygons
}

/// Adds a corner, dropping the one before it if that lies on a straight line.
fn corner(corners: &mut Vec<Point>, x: Length, y: Length) {
    if let [.., before, last] = corners.as_slice() {
        let straight = (before.y == last.y && last.y == y) || (before.x == last.x && last.x == x);
        if straight {
            corners.pop();
        }
    }
    corners.push(Point { x, y });
}

/// A label where there is most room from top to bottom.
fn label(
    context: &Context<'_>,
    kernel: Option<KernelId>,
    count: u64,
    above: &[Length],
    below: &[Length],
    steps: &Steps<'_>,
) -> Option<Label> {
    let title = match kernel {
        Some(id) if context.is_chosen(id) => context.short_name(id).to_owned(),
        Some(_) => return None,
        None => "others".to_owned(),
    };
    let size = Theme::PAPER.small_size;
    let step = (context.scale.width / as_length(steps.time.count())).max(1);
    [format!("{title} ×{count}"), title].into_iter().find_map(|text| {
        let needed = font::width(&text, size, false) + size;
        let width = usize::try_from(needed / step).unwrap_or(0) + 2;
        // Behind the last step that the text takes.
        let end_of = |first: usize| {
            let mut ends = if steps.time.are_equal() { first + width } else { first + 1 }..=steps.time.count();
            ends.find(|end| steps.time.are_equal() || steps.x(*end) - steps.x(first) >= needed)
        };
        let room = |first: usize| {
            let end = end_of(first)?;
            let top = above[first..end].iter().max().copied().unwrap_or(0);
            let bottom = below[first..end].iter().min().copied().unwrap_or(0);
            Some(Rect::between(steps.x(first), top, steps.x(end), bottom))
        };
        let every = if steps.time.are_equal() { (width / 2).max(1) } else { 1 };
        let rooms: Vec<Rect> = (0..steps.time.count()).step_by(every).filter_map(room).collect();
        let highest = rooms.iter().map(|room| room.height).max()?;
        // Of equally good places the one in the middle.
        let best: Vec<&Rect> = rooms.iter().filter(|room| room.height == highest).collect();
        best.get(best.len() / 2).and_then(|room| centred(&[text], room, size))
    })
}

/// A time that counts towards the share of a process, copy direction, kernel or rule; or several alike.
pub(super) struct Had<K> {
    pub(super) what: K,
    pub(super) count: u64,
    pub(super) time: Range<Instant>,
}

/// The shares in time of what is told, in the order of its kinds from below, and for how many at one time the whole
/// height of `area` stands: for `at_once`, or else for the most at one time, on average over a step.
pub(super) fn stacked<K: Ord + Copy>(
    context: &Context<'_>,
    area: &Rect,
    at_once: Option<u128>,
    had: impl Iterator<Item = Had<K>>,
    fill: impl Fn(K) -> Fill,
) -> (Vec<TimeShare<K>>, u128) {
    let steps = Steps::new(context, Steps::most(context));
    let mut sums: BTreeMap<K, (u64, StepSums)> = BTreeMap::new();
    for Had { what, count, time } in had {
        let (all, sum) = sums.entry(what).or_insert_with(|| (0, StepSums::new(&steps.time)));
        *all += count;
        sum.add(time, 1, &steps.time);
    }
    let (layers, at_once) = layers(sums, area, &steps, at_once);
    let share = |Layer { of, count, above, below }| {
        let outlines = outlines(&above, &below, &steps);
        (!outlines.is_empty()).then(|| TimeShare { of, count, fill: fill(of), outlines })
    };
    (layers.into_iter().filter_map(share).collect(), at_once)
}
