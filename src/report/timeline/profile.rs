//! Too many blocks to draw: for each kernel, how much of an SM it took, averaged over equal steps of time.

use std::collections::{BTreeMap, BTreeSet};

use super::context::{Context, centred};
use super::items;
use super::scale::TimeScale;
use super::{Label, OccupancyProfile};
use crate::draw::theme::Theme;
use crate::draw::{Length, Point, Rect, font};
use crate::trace::RepeatedRun;
use crate::workload::{KernelId, OperationKind};

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
    let mut amounts: Vec<Vec<Amount>> = bands.iter().map(|_| Vec::new()).collect();
    let mut totals: BTreeMap<usize, u128> = BTreeMap::new();
    for (operation, record, kernel) in context.summary.launches() {
        let OperationKind::Kernel(id) = record.kind else { continue };
        let (units, group) = (u64::from(context.units(kernel)), context.series(id));
        for run in items::runs(context, operation) {
            let Some(band) = band_of.get(usize::from(run.first.sm)).copied().flatten() else { continue };
            let block_ns = u128::from(run.blocks()) * u128::from(run.duration().as_ns());
            *totals.entry(group).or_default() += u128::from(units) * block_ns;
            amounts[band].push(Amount { group, units: units * u64::from(run.first.blocks), run });
        }
    }
    let by_width = u64::try_from(context.scale.width / LEAST_STEP).unwrap_or(1);
    let by_boxes = (context.options.most_boxes / bands.len().max(1) as u64).max(FEWEST_STEPS);
    let steps = Steps::new(&context.scale, by_width.min(by_boxes));
    // Those that take least share a shape.
    let mut by_total: Vec<(u128, usize)> = totals.into_iter().map(|(group, total)| (total, group)).collect();
    by_total.sort_unstable_by(|one, other| other.cmp(one));
    let least: BTreeSet<usize> = by_total.iter().skip(MOST_KERNELS).map(|(_, group)| *group).collect();
    for amount in amounts.iter_mut().flatten().filter(|amount| least.contains(&amount.group)) {
        amount.group = OTHERS;
    }
    bands.iter().zip(&amounts).map(|(band, amounts)| of_one_band(context, amounts, band, &steps)).collect()
}

/// A division of the window into equal steps.
pub(super) struct Steps<'s> {
    scale: &'s TimeScale,
    count: usize,
}

impl<'s> Steps<'s> {
    pub(super) fn new(scale: &'s TimeScale, most: u64) -> Self {
        Self { scale, count: usize::try_from(most.min(scale.span_ns())).unwrap_or(1).max(1) }
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// How long a step is \[ns\], at least 1.
    pub(super) fn length(&self, step: usize) -> u128 {
        (self.edge(step + 1) - self.edge(step)).max(1)
    }

    /// The beginning of a step, or the end of the last one \[ns from the beginning of the window\].
    fn edge(&self, step: usize) -> u128 {
        u128::from(self.scale.span_ns()) * step as u128 / self.count as u128
    }

    /// Where that is on paper.
    pub(super) fn x(&self, step: usize) -> Length {
        let width = u128::from(self.scale.width.unsigned_abs());
        let offset = width * step as u128 / self.count as u128;
        self.scale.left + Length::try_from(offset).unwrap_or_default()
    }

    /// The step in which a time lies.
    fn of(&self, ns: u128) -> usize {
        let guess = ns * self.count as u128 / u128::from(self.scale.span_ns());
        let guess = usize::try_from(guess).unwrap_or(usize::MAX).min(self.count - 1);
        if guess + 1 < self.count && self.edge(guess + 1) <= ns { guess + 1 } else { guess }
    }
}

/// Sums of units times time, by step.
pub(super) struct Sums {
    count: u64,
    /// What reaches over part of a step \[units x ns\].
    partial: Vec<u128>,
    /// What reaches over whole steps: units that begin and end \[units\].
    begins: Vec<u64>,
    ends: Vec<u64>,
}

impl Sums {
    pub(super) fn new(steps: usize) -> Self {
        Self { count: 0, partial: vec![0; steps], begins: vec![0; steps + 1], ends: vec![0; steps + 1] }
    }

    pub(super) fn add(&mut self, amount: &Amount, steps: &Steps<'_>) {
        let window = &steps.scale.window;
        let ns = |instant| u128::from(window.end.min(instant).since(window.start).as_ns());
        let (start, end) = (ns(amount.run.first.start), ns(amount.run.end()));
        self.count += amount.run.blocks();
        if start == end {
            return;
        }
        let units = u128::from(amount.units);
        let (first, last) = (steps.of(start), steps.of(end - 1));
        if first == last {
            self.partial[first] += units * (end - start);
            return;
        }
        self.partial[first] += units * (steps.edge(first + 1) - start);
        self.partial[last] += units * (end - steps.edge(last));
        self.begins[first + 1] += amount.units;
        self.ends[last] += amount.units;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Units x ns of each step.
    pub(super) fn totals(&self, steps: &Steps<'_>) -> Vec<u128> {
        let mut units: u64 = 0;
        (0..steps.count)
            .map(|step| {
                units = units + self.begins[step] - self.ends[step];
                self.partial[step] + u128::from(units) * (steps.edge(step + 1) - steps.edge(step))
            })
            .collect()
    }
}

fn of_one_band(
    context: &Context<'_>,
    amounts: &[Amount],
    shape: &Shape<'_>,
    steps: &Steps<'_>,
) -> Vec<OccupancyProfile> {
    let band = &shape.area;
    let mut sums: BTreeMap<usize, Sums> = BTreeMap::new();
    for amount in amounts.iter().filter(|amount| amount.units > 0) {
        sums.entry(amount.group).or_insert_with(|| Sums::new(steps.count)).add(amount, steps);
    }
    let capacity = u128::from(shape.capacity) * shape.sms.len().max(1) as u128;
    let mut stacked: Vec<u128> = vec![0; steps.count];
    let mut below = vec![band.bottom(); steps.count];
    let mut profiles = Vec::new();
    for (group, sums) in sums {
        for (stacked, total) in stacked.iter_mut().zip(sums.totals(steps)) {
            *stacked += total;
        }
        let height = u128::from(band.height.unsigned_abs());
        let above: Vec<Length> = (0..steps.count)
            .map(|step| {
                let whole = capacity * steps.length(step);
                let high = (stacked[step] * height * 2 + whole) / (whole * 2);
                band.bottom() - Length::try_from(high).unwrap_or(band.height).min(band.height)
            })
            .collect();
        let kernel = (group != OTHERS).then(|| context.first_of(group));
        let label = label(context, kernel, sums.count, &above, &below, steps);
        let outlines = outlines(&above, &below, steps);
        profiles.push(OccupancyProfile { kernel, count: sums.count, outlines, label });
        below = above;
    }
    profiles
}

/// Polygons around all steps in which there is something.
fn outlines(above: &[Length], below: &[Length], steps: &Steps<'_>) -> Vec<Vec<Point>> {
    let mut polygons = Vec::new();
    let mut first = 0;
    while first < above.len() {
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
    let step = (context.scale.width / Length::try_from(steps.count).unwrap_or(1)).max(1);
    [format!("{title} ×{count}"), title].into_iter().find_map(|text| {
        let width = usize::try_from((font::width(&text, size, false) + size) / step).unwrap_or(0) + 2;
        let last = steps.count.checked_sub(width)?;
        let room = |first: usize| {
            let top = above[first..first + width].iter().max().copied().unwrap_or(0);
            let bottom = below[first..first + width].iter().min().copied().unwrap_or(0);
            Rect::between(steps.x(first), top, steps.x(first + width), bottom)
        };
        let rooms: Vec<Rect> = (0..=last).step_by((width / 2).max(1)).map(room).collect();
        let highest = rooms.iter().map(|room| room.height).max()?;
        // Of equally good places the one in the middle.
        let best: Vec<&Rect> = rooms.iter().filter(|room| room.height == highest).collect();
        best.get(best.len() / 2).and_then(|room| centred(&[text], room, size))
    })
}
