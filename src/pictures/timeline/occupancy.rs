//! The panel of occupancy: how much of all SMs' threads, shared memory and registers is in use over time.

use std::convert::Infallible;
use std::ops::Range;

use super::context::{BESIDE_PLOT, Context, ending_at, starting_at};
use super::options::HeightBy;
use super::profile::{LEAST_STEP, Steps, level};
use super::{LabelStyle, Occupancy, OccupancyCurve, items};
use crate::device::BlockDemand;
use crate::draw::theme::Theme;
use crate::draw::{Dash, Length, MM, Point, Rect, font};
use crate::pictures::time_steps::StepSums;
use crate::run::Recorded;
use crate::time::Instant;
use crate::trace::SumOverTime;

const HEIGHT: Length = 10 * MM;
/// Between the panel with its key and what is above it.
const GAP: Length = MM;
/// Changes up to which each is drawn where it is; more are averaged over steps that are too short to see.
const MOST_CHANGES: usize = 2_000;
/// A line in the key.
const KEY: Length = 5 * MM;

/// The panel below `top`, and where it ends.
pub(super) fn occupancy(context: &Context<'_>, top: Length) -> (Occupancy, Length) {
    let size = Theme::PAPER.small_size;
    let key_middle = top + GAP + size / 2;
    let area = Rect { x: context.scale.left, y: top + GAP + size * 3 / 2, width: context.scale.width, height: HEIGHT };
    let right = area.x - BESIDE_PLOT;
    let mark = |text: &str, middle| ending_at(text.to_owned(), right, middle, size, LabelStyle::Quiet);
    let marks = vec![mark("100 %", area.y + size / 2), mark("0", area.bottom() - size / 2)];
    let label = ending_at(NAME.to_owned(), right, area.centre().y, Theme::PAPER.text_size, LabelStyle::Normal);
    let mut x = area.x;
    let mut curves = Vec::new();
    let by_width = u64::try_from(context.scale.width / LEAST_STEP).unwrap_or(1);
    let steps = Steps::new(context, by_width);
    for (in_use, (resource, dash)) in in_use(context, &steps).into_iter().zip(RESOURCES) {
        let Some(points) = in_use.points(context, resource, &steps, &area) else { continue };
        let key = [Point { x, y: key_middle }, Point { x: x + KEY, y: key_middle }];
        let text_left = x + KEY + MM / 2;
        let name = resource.name().to_owned();
        x = text_left + font::width(&name, size, false) + 3 * MM;
        let label = starting_at(name, text_left, key_middle, size, LabelStyle::Normal);
        curves.push(OccupancyCurve { resource, dash, points, key, label });
    }
    (Occupancy { area, label, marks, curves }, area.bottom())
}

pub(super) const NAME: &str = "in use";

const RESOURCES: [(HeightBy, Dash); 3] =
    [(HeightBy::Threads, Dash::Solid), (HeightBy::SharedMemory, Dash::Dashed), (HeightBy::Registers, Dash::Dotted)];

/// How much of a resource blocks take, and when.
struct InUse {
    /// Each with its time, as long as they are few.
    amounts: Vec<(Range<Instant>, u64)>,
    sums: StepSums,
}

/// How much of each resource is in use.
fn in_use(context: &Context<'_>, steps: &Steps<'_>) -> [InUse; 3] {
    let device = context.summary.scenario.device();
    let mut all = RESOURCES.map(|_| InUse { amounts: Vec::new(), sums: StepSums::new(&steps.time) });
    for Recorded { id: operation, work: kernel, .. } in context.summary.launches() {
        // A kernel of which no block fits has no runs.
        let Ok(demand) = BlockDemand::new(&kernel.shape, device) else { continue };
        let trace = context.summary.trace;
        let process = trace.process_of_known(operation);
        for run in items::runs(context, operation) {
            for (in_use, (resource, _)) in all.iter_mut().zip(RESOURCES) {
                let units = u64::from(resource.of_block(&demand, device)) * u64::from(run.first.blocks);
                if units == 0 {
                    continue;
                }
                // What is suspended uses nothing.
                for part in trace.in_turn(process, run.first.start..run.end()) {
                    if in_use.amounts.len() <= MOST_CHANGES / 2 {
                        in_use.amounts.push((part.clone(), units));
                    }
                    in_use.sums.add(part, units, &steps.time);
                }
            }
        }
    }
    all
}

impl InUse {
    /// The share of all SMs; `None` if no block takes any.
    fn points(self, context: &Context<'_>, resource: HeightBy, steps: &Steps<'_>, area: &Rect) -> Option<Vec<Point>> {
        let device = context.summary.scenario.device();
        let capacity = u128::from(resource.of_sm(device)) * u128::from(device.sms);
        if self.amounts.is_empty() || capacity == 0 {
            return None;
        }
        if self.amounts.len() <= MOST_CHANGES / 2 && context.rounds.is_none() {
            return Some(exact(context, self.amounts, |amount| level(area, amount, capacity)));
        }
        let totals = self.sums.totals(&steps.time).into_iter().enumerate();
        let mut line = Line::new(steps.x(0), area.bottom());
        for (step, total) in totals {
            line.go_to(steps.x(step), level(area, total, capacity * steps.time.length(step)));
        }
        Some(line.until(steps.x(steps.time.count())))
    }
}

/// Each change where it is; `amounts` in use with their times.
fn exact(context: &Context<'_>, mut amounts: Vec<(Range<Instant>, u64)>, y: impl Fn(u128) -> Length) -> Vec<Point> {
    crate::sorted::sort_by_key(&mut amounts, |(time, _)| time.start);
    let mut line = Line::new(context.scale.x(context.scale.window.start), y(0));
    let mut sums = SumOverTime::default();
    let mut emit = |at: Instant, amount: u64| {
        line.go_to(context.scale.x(at.max(context.scale.window.start)), y(u128::from(amount)));
        Ok::<(), Infallible>(())
    };
    for (time, amount) in amounts {
        let Ok(()) = sums.add(time, amount, &mut emit);
    }
    let Ok(()) = sums.finish(&mut emit);
    line.until(context.scale.right())
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
