//! What ran on each SM and when, with releases and deadlines.

use crate::draw::theme::{self, Colour, Fill, Theme, series_fill, series_repeat};
use crate::draw::{
    Anchor, Dash, Drawing, Length, MM, PAGE_WIDTH, PictureOptions, Point, Rect, Shape, Sheet, Stroke, round_ticks,
};
use crate::hosts::TaskRun;
use crate::tasks::{Reservations, TaskSet, TaskTime};
use crate::workload::OperationId;

const SM_HEIGHT: Length = 14 * MM;
const TASK_HEIGHT: Length = 5 * MM;
const GAP: Length = MM;
const BESIDE_PLOT: Length = 13 * MM / 10;
const RIGHT_MARGIN: Length = 4 * MM;
/// Names take at most this.
const MOST_FOR_NAMES: Length = 40 * MM;
/// Narrower boxes are all outline, and get none.
const LEAST_OUTLINED: Length = MM / 3;
/// Heads of arrows, and half of a miss' cross.
const HEAD: Length = 8 * MM / 10;
/// Jobs and block groups that are drawn at most; a figure of more shows nothing.
const MAX_DRAWN: usize = 20_000;

const RELEASE: Stroke = Stroke { colour: Colour::BLACK, width: Theme::PAPER.line };
const DEADLINE: Stroke = Stroke { colour: Colour::GREY_TEXT, width: Theme::PAPER.line };
const MISS: Stroke = Stroke { colour: theme::MARK, width: MM / 3 };
/// Budgets of the reservation of one SM's own tasks, and of that of all SMs' tasks.
const BUDGETS: [Colour; 2] = [Colour(0xe4, 0xee, 0xf8), Colour(0xfa, 0xee, 0xd4)];

/// A figure of [0, `end`], as wide as a page if the options do not say otherwise: one lane for each SM with what ran there, its height the share of the
/// SM's thread slots; below, one lane for each task with its releases (up), deadlines (down, dotted) and misses
/// (crosses). Budgets of `reservations` are shaded.
///
/// # Errors
/// The number of things to draw, or one that it exceeds, if that is more than 20,000.
pub fn gantt(
    set: &TaskSet,
    run: &TaskRun,
    reservations: Option<Reservations>,
    end: TaskTime,
    threads_per_sm: u32,
    options: PictureOptions,
) -> Result<Drawing, usize> {
    let width = options.width.unwrap_or(PAGE_WIDTH);
    // Stretches of many waves are expanded no further than needed to know that they are too many.
    let operations = (0..).zip(&run.launches).map(|(operation, _)| OperationId(operation));
    let waves = operations
        .flat_map(|operation| run.trace.block_runs(operation).take_while(|blocks| blocks.start < end.instant()));
    let drawn = run.jobs.iter().filter(|job| job.release <= end).count() + waves.take(MAX_DRAWN + 1).count();
    if drawn > MAX_DRAWN {
        return Err(drawn);
    }
    let names = set.tasks.iter().map(|task| Sheet::text_width(&task.name));
    let widest = names.max().unwrap_or(0).max(Sheet::text_width("SM 99")).min(MOST_FOR_NAMES).min(width / 3);
    let left = Sheet::MARGIN + MARK_WIDTH + GAP + widest + BESIDE_PLOT;
    let title = "Task set run".to_owned();
    let mut sheet = Sheet::new();
    let top = if options.title { sheet.title(&title, width) } else { 0 };
    let mut figure = Figure { set, run, end: end.max(TaskTime::UNIT), left, width, top, sheet };
    for sm in 0..set.sms {
        figure.lane(sm, reservations);
    }
    figure.blocks(threads_per_sm);
    let room = left - BESIDE_PLOT - Sheet::MARGIN - MARK_WIDTH - GAP;
    let names = Sheet::fitted_apart(set.tasks.iter().map(|task| &*task.name), room);
    for (task, name) in names.into_iter().enumerate() {
        figure.task(task, name);
    }
    let height = figure.axis(figure.task_bottom(set.tasks.len()));
    Ok(figure.sheet.into_drawing(title, width, height))
}

struct Figure<'a> {
    set: &'a TaskSet,
    run: &'a TaskRun,
    end: TaskTime,
    left: Length,
    width: Length,
    /// Where the first lane may begin.
    top: Length,
    sheet: Sheet,
}

/// The mark beside a task's name, which says how its blocks look.
const MARK_WIDTH: Length = 3 * MM + MM / 2;

/// Blocks on one SM: until when, and the lowest and the highest thread slot that they take.
type Stacked = (TaskTime, u32, u32);

impl Figure<'_> {
    fn right(&self) -> Length {
        self.width - RIGHT_MARGIN
    }

    fn x(&self, t: TaskTime) -> Length {
        let width = i128::from(self.right() - self.left);
        let offset = i128::from(t.min(self.end).units()) * width / i128::from(self.end.units());
        self.left + Length::try_from(offset).unwrap_or(0)
    }

    fn lane_area(&self, sm: u32) -> Rect {
        let top = self.top + GAP + Length::from(sm) * (SM_HEIGHT + GAP);
        Rect::between(self.left, top, self.right(), top + SM_HEIGHT)
    }

    /// Where the first `tasks` lanes of tasks end.
    fn task_bottom(&self, tasks: usize) -> Length {
        self.lane_area(self.set.sms).y + Length::try_from(tasks).unwrap_or(0) * TASK_HEIGHT
    }

    /// An empty SM with the budgets shaded.
    fn lane(&mut self, sm: u32, reservations: Option<Reservations>) {
        let area = self.lane_area(sm);
        self.sheet.text(format!("SM {sm}"), self.left - BESIDE_PLOT, area.centre().y, Anchor::End);
        let shaded = reservations.iter().flat_map(|both| [both.single, both.all].into_iter().zip(BUDGETS));
        for (reservation, colour) in shaded {
            for (from, to) in reservation.served(TaskTime::ZERO, self.end) {
                let served = Rect::between(self.x(from), area.y, self.x(to), area.bottom());
                self.sheet.area(served, Some(Fill::plain(colour)), None);
            }
        }
        self.sheet.area(area, None, Some(Sheet::FRAME));
    }

    /// Everything that ran.
    fn blocks(&mut self, threads_per_sm: u32) {
        let mut lanes: Vec<Vec<Stacked>> = vec![Vec::new(); self.set.sms as usize];
        let (set, run, end) = (self.set, self.run, self.end);
        for (operation, &job) in (0..).zip(&run.launches) {
            let (job, operation) = (&run.jobs[job as usize], OperationId(operation));
            let Some(task) = set.tasks.get(job.task as usize) else { continue };
            let threads = run.trace.kernel_of(operation).map_or(0, |kernel| kernel.shape.threads);
            for blocks in run.trace.block_runs(operation).take_while(|blocks| blocks.start < end.instant()) {
                let (from, to) = (TaskTime::from(blocks.start), TaskTime::from(blocks.end));
                let Some(lane) = lanes.get_mut(blocks.sm as usize) else { continue };
                let slots = threads.next_multiple_of(32).saturating_mul(blocks.blocks.into()).min(threads_per_sm);
                let base = stack(lane, from, to, slots, threads_per_sm);
                let frame = self.lane_area(u32::from(blocks.sm));
                let above =
                    |slots: u32| frame.bottom() - SM_HEIGHT * Length::from(slots) / Length::from(threads_per_sm.max(1));
                let area = Rect::between(self.x(from), above(base + slots), self.x(to), above(base));
                let fill = series_fill(job.task as usize);
                let note = format!("{} job {}: {} blocks, {from} to {to}", task.name, job.number, blocks.blocks);
                self.sheet.explained(note, |sheet| {
                    if area.width < LEAST_OUTLINED {
                        let area = Rect { width: area.width.max(Sheet::GRID.width), ..area };
                        sheet.area(area, Some(fill.without_hatch()), None);
                    } else {
                        sheet.area(area, Some(fill), Some(Sheet::OUTLINE));
                        let number = series_repeat(job.task as usize).map(|number| number.to_string());
                        let labels = [Some(&*task.name), number.as_deref()];
                        sheet.label(&labels.into_iter().flatten().collect::<Vec<_>>(), &area, fill);
                    }
                });
            }
        }
    }

    /// Releases, deadlines and misses of one task.
    fn task(&mut self, index: usize, name: String) {
        let task = &self.set.tasks[index];
        let (top, base) = (self.task_bottom(index), self.task_bottom(index + 1));
        let (middle, up) = (top.midpoint(base), top + MM / 2);
        let mark = Rect { x: Sheet::MARGIN, y: middle - MM, width: MARK_WIDTH, height: 2 * MM };
        self.sheet.series_mark(mark, index);
        self.sheet.text(name, self.left - BESIDE_PLOT, middle, Anchor::End);
        self.sheet.line((self.left, base), (self.right(), base), Sheet::GRID);
        let (run, end) = (self.run, self.end);
        for job in run.jobs.iter().filter(|job| job.task as usize == index && job.release <= end) {
            let (release, deadline) = (self.x(job.release), self.x(job.deadline));
            self.sheet.line((release, base), (release, up), RELEASE);
            self.head((release, up), HEAD, RELEASE.colour);
            if job.deadline <= end {
                let points = vec![Point { x: deadline, y: up }, Point { x: deadline, y: base }];
                self.sheet.push(Shape::Path { points, stroke: DEADLINE, dash: Dash::Dotted });
                self.head((deadline, base), -HEAD, DEADLINE.colour);
            }
            if job.is_late() {
                let note = format!("{} job {} missed its deadline {}", task.name, job.number, job.deadline);
                self.sheet.explained(note, |sheet| {
                    for sign in [-1, 1] {
                        let from = (deadline - HEAD, middle - sign * HEAD);
                        sheet.line(from, (deadline + HEAD, middle + sign * HEAD), MISS);
                    }
                });
            }
        }
    }

    /// The head of an arrow whose tip is at a place; its base is `length` below.
    fn head(&mut self, (x, y): (Length, Length), length: Length, colour: Colour) {
        let corner = |x, y| Point { x, y };
        let corners = vec![corner(x, y), corner(x + HEAD / 2, y + length), corner(x - HEAD / 2, y + length)];
        self.sheet.push(Shape::Polygon { corners, fill: Fill::plain(colour), stroke: None });
    }

    /// The axis of time; gives where it ends.
    fn axis(&mut self, y: Length) -> Length {
        let ticks = round_ticks(0, self.end.units(), Sheet::ticks_on(self.right() - self.left));
        let at: Vec<(Length, String)> =
            ticks.into_iter().map(|t| (self.x(TaskTime::from_units(t)), t.to_string())).collect();
        self.sheet.axis((self.left, self.right()), y, at, "t")
    }
}

/// Finds the lowest free room for `slots` of an SM's threads, takes it until `to`, and returns where it begins.
fn stack(lane: &mut Vec<Stacked>, from: TaskTime, to: TaskTime, slots: u32, threads_per_sm: u32) -> u32 {
    lane.retain(|&(until, ..)| until > from);
    lane.sort_by_key(|&(_, bottom, _)| bottom);
    let mut base = 0;
    for &(_, bottom, top) in lane.iter() {
        if base + slots <= bottom {
            break;
        }
        base = base.max(top);
    }
    let base = base.min(threads_per_sm - slots);
    lane.push((to, base, base + slots));
    base
}
