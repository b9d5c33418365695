//! Tasks over one axis of time: lanes of what ran where, and below them releases, deadlines and misses of each task.
//! With what ran of tasks with segments, and with the chunks of a task as a cycle of vertices.

use crate::draw::theme::{Colour, Fill, Theme, series_fill, series_repeat};
use crate::draw::{
    Anchor, Dash, Drawing, Length, MM, PAGE_WIDTH, PictureOptions, Point, Rect, Shape, Sheet, Stroke, as_length,
    time_ticks,
};
use crate::hosts::{CoreUse, SegmentRun};
use crate::proven::Proven;
use crate::tasks::TaskTime;
use crate::tasks::segments::SegmentTaskSet;
use crate::time::Instant;
use crate::time::is_in_time;
use crate::workload::OperationId;
use gpusched_core::pictures::looks::pause_line;

const LANE_HEIGHT: Length = 14 * MM;
const TASK_HEIGHT: Length = 5 * MM;
const GAP: Length = MM;
const RIGHT_MARGIN: Length = 4 * MM;
/// Names take at most this.
const MOST_FOR_NAMES: Length = 40 * MM;
/// Heads of arrows, and half of a miss' cross.
const HEAD: Length = 8 * MM / 10;
/// The mark beside a task's name, which says how its blocks look.
const MARK_WIDTH: Length = 3 * MM + MM / 2;
/// Things that are drawn at most; a figure of more shows nothing.
pub(crate) const MAX_DRAWN: usize = 20_000;

const RELEASE: Stroke = Stroke { colour: Colour::BLACK, width: Theme::PAPER.line };
const DEADLINE: Stroke = Stroke { colour: Colour::GREY_TEXT, width: Theme::PAPER.line };

/// What only keeps a place busy.
const PALE: Colour = Colour(0xec, 0xec, 0xec);

/// A job as its task's lane shows it; times are in the units of the axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneJob {
    pub(crate) number: u64,
    pub(crate) release: u64,
    pub(crate) deadline: Option<u64>,
    pub(crate) is_late: bool,
}

/// A picture of [0, `end`] that is being drawn.
pub(crate) struct TaskLanes {
    pub(crate) end: u64,
    pub(crate) sheet: Sheet,
    title: String,
    left: Length,
    width: Length,
    /// Where the first lane may begin.
    top: Length,
    /// Lanes of what ran.
    lanes: u32,
}

impl TaskLanes {
    /// As wide as a page if the options do not say otherwise; names of the lanes take the room of `widest_lane`.
    pub(super) fn new<'n>(
        title: &str,
        (lanes, widest_lane): (u32, &str),
        tasks: impl Iterator<Item = &'n str>,
        end: u64,
        options: PictureOptions,
    ) -> Self {
        let width = options.width.unwrap_or(PAGE_WIDTH);
        let names = tasks.map(Sheet::text_width);
        let widest = names.max().unwrap_or(0).max(Sheet::text_width(widest_lane)).min(MOST_FOR_NAMES).min(width / 3);
        let left = Sheet::MARGIN + MARK_WIDTH + GAP + widest + Sheet::BESIDE_PLOT;
        let mut sheet = Sheet::new();
        let top = if options.title { sheet.title(title, width) } else { 0 };
        Self { end: end.max(1), sheet, title: title.to_owned(), left, width, top, lanes }
    }

    fn right(&self) -> Length {
        self.width - RIGHT_MARGIN
    }

    pub(crate) fn x(&self, t: u64) -> Length {
        let width = i128::from(self.right() - self.left);
        let offset = i128::from(t.min(self.end)) * width / i128::from(self.end);
        self.left + Length::try_from(offset).proven("it lies between both ends")
    }

    pub(crate) fn lane_area(&self, lane: u32) -> Rect {
        let top = self.top + GAP + Length::from(lane) * (LANE_HEIGHT + GAP);
        Rect::between(self.left, top, self.right(), top + LANE_HEIGHT)
    }

    /// Where the first `tasks` lanes of tasks end.
    fn task_bottom(&self, tasks: usize) -> Length {
        self.lane_area(self.lanes).y + as_length(tasks) * TASK_HEIGHT
    }

    /// An empty lane, these times of which are shaded.
    pub(super) fn lane(&mut self, lane: u32, name: String, shaded: impl Iterator<Item = (u64, u64, Colour)>) {
        let area = self.lane_area(lane);
        self.sheet.text(name, self.left - Sheet::BESIDE_PLOT, area.centre().y, Anchor::End);
        for (from, to, colour) in shaded {
            let served = Rect::between(self.x(from), area.y, self.x(to), area.bottom());
            self.sheet.area(served, Some(Fill::plain(colour)), None);
        }
        self.sheet.area(area, None, Some(Sheet::FRAME));
    }

    /// Something of a task: a box in its colour, or, if it only keeps a place busy, pale.
    pub(crate) fn block(&mut self, area: Rect, (task, name): (usize, &str), is_pale: bool, note: String) {
        let fill = if is_pale { Fill::plain(PALE) } else { series_fill(task) };
        let number = series_repeat(task).map(|number| number.to_string());
        let labels: Vec<&str> = [Some(name), number.as_deref()].into_iter().flatten().collect();
        self.sheet.explained(note, |sheet| sheet.bar(area, fill, &labels));
    }

    /// The lanes of all tasks: releases (up), deadlines (down, dotted) and misses (crosses).
    pub(super) fn tasks<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str> + Clone,
        jobs: impl Fn(usize) -> Vec<LaneJob>,
    ) {
        let room = self.left - Sheet::BESIDE_PLOT - Sheet::MARGIN - MARK_WIDTH - GAP;
        let fitted = Sheet::fitted_apart(names.clone(), room);
        for (index, (fitted, name)) in fitted.into_iter().zip(names).enumerate() {
            self.task(index, fitted, name, &jobs(index));
        }
    }

    fn task(&mut self, index: usize, fitted: String, name: &str, jobs: &[LaneJob]) {
        let (top, base) = (self.task_bottom(index), self.task_bottom(index + 1));
        let (middle, up) = (top.midpoint(base), top + MM / 2);
        let mark = Rect { x: Sheet::MARGIN, y: middle - MM, width: MARK_WIDTH, height: 2 * MM };
        self.sheet.series_mark(mark, index);
        self.sheet.text(fitted, self.left - Sheet::BESIDE_PLOT, middle, Anchor::End);
        self.sheet.line((self.left, base), (self.right(), base), Sheet::GRID);
        let end = self.end;
        for job in jobs.iter().filter(|job| job.release <= end) {
            let release = self.x(job.release);
            self.sheet.line((release, base), (release, up), RELEASE);
            self.head((release, up), HEAD, RELEASE.colour);
            let Some(deadline) = job.deadline else { continue };
            let x = self.x(deadline);
            if deadline <= end {
                let points = vec![Point { x, y: up }, Point { x, y: base }];
                self.sheet.push(Shape::Path { points, stroke: DEADLINE, dash: Dash::Dotted });
                self.head((x, base), -HEAD, DEADLINE.colour);
            }
            if job.is_late {
                let note = format!("{name} job {} missed its deadline {deadline}", job.number);
                self.sheet.explained(note, |sheet| {
                    for sign in [-1, 1] {
                        sheet.line((x - HEAD, middle - sign * HEAD), (x + HEAD, middle + sign * HEAD), Sheet::MARK);
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

    /// How many ticks the axis has room for.
    pub(super) fn most_ticks(&self) -> u64 {
        Sheet::ticks_on(self.right() - self.left)
    }

    /// Adds the axis of time below the lanes of so many tasks.
    pub(crate) fn finish(mut self, tasks: usize, ticks: Vec<(u64, String)>, axis: &str) -> Drawing {
        let at: Vec<(Length, String)> = ticks.into_iter().map(|(t, text)| (self.x(t), text)).collect();
        let y = self.task_bottom(tasks);
        let height = self.sheet.axis((self.left, self.right()), y, at, axis);
        self.sheet.into_drawing(self.title, self.width, height)
    }
}

/// Time in which the GPU switches contexts.
const SWITCH: Colour = Colour::BLACK;
/// A driver call has this share of a lane's height, in its middle.
const CALL_SHARE: Length = 2;

/// A stretch of the GPU's work for one task.
struct Piece {
    task: usize,
    operation: OperationId,
    from: Instant,
    to: Instant,
}

/// A figure of [0, `end`], as wide as a page if the options do not say otherwise: one lane for each core, grey where a
/// task only keeps it busy and half as high where it is in a driver call; one for the GPU, with switches of contexts in
/// black and dotted lines across the pauses of segments; below, one lane for each task with its releases (up),
/// deadlines (down, dotted) and misses (crosses).
///
/// # Errors
/// The number of things to draw if that is more than 20,000.
pub fn segment_gantt(
    set: &SegmentTaskSet,
    run: &SegmentRun,
    end: Instant,
    options: PictureOptions,
) -> Result<Drawing, usize> {
    let pieces = pieces(run, end);
    let cores = || run.cores.iter().filter(|core| core.from < end);
    let jobs = run.jobs.iter().filter(|job| job.released <= end).count();
    let drawn = jobs + pieces.len() + cores().count();
    if drawn > MAX_DRAWN {
        return Err(drawn);
    }
    let names = || set.tasks.iter().map(|task| &*task.name);
    let title = "Tasks with segments, run";
    let mut lanes = TaskLanes::new(title, (set.cpus + 1, "CPU 99"), names(), end.as_ns(), options);
    for cpu in 0..set.cpus {
        lanes.lane(cpu, format!("CPU {cpu}"), std::iter::empty());
    }
    for core in cores() {
        let lane = lanes.lane_area(core.cpu);
        let (from, to) = (lanes.x(core.from.as_ns()), lanes.x(core.to.as_ns()));
        let area = match core.what {
            CoreUse::Call => {
                let height = lane.height / CALL_SHARE;
                Rect {
                    y: lane.y + (lane.height - height) / 2,
                    height,
                    ..Rect::between(from, lane.y, to, lane.bottom())
                }
            }
            CoreUse::Works | CoreUse::Waits => Rect::between(from, lane.y, to, lane.bottom()),
        };
        let name = &*set.tasks[core.task].name;
        let note = format!("{name} {}, {} to {}", core.what.name(), core.from, core.to);
        lanes.block(area, (core.task, name), core.what == CoreUse::Waits, note);
    }
    gpu(&mut lanes, set, run, &pieces, end);
    lanes.tasks(names(), |task| {
        let jobs = run.jobs.iter().filter(|job| job.task == task);
        let deadline = set.tasks[task].deadline;
        let job = jobs.map(|job| LaneJob {
            number: job.number,
            release: job.released.as_ns(),
            deadline: set.tasks[task].priority.map(|_| job.released.saturating_add(deadline).as_ns()),
            is_late: job.response().is_none_or(|response| !is_in_time(response, deadline)),
        });
        job.collect()
    });
    let ticks = time_ticks(0, lanes.end, lanes.most_ticks());
    Ok(lanes.finish(set.tasks.len(), ticks.at, &format!("time [{}]", ticks.unit)))
}

/// The GPU's work before `end`, in the turns of the tasks' contexts.
fn pieces(run: &SegmentRun, end: Instant) -> Vec<Piece> {
    let trace = &run.trace;
    let mut pieces = Vec::new();
    for (operation, &task) in (0..).zip(&run.launches) {
        let operation = OperationId(operation);
        let process = trace.process_of_known(operation);
        for blocks in trace.block_runs(operation).take_while(|blocks| blocks.start < end) {
            if !trace.is_time_sliced() {
                pieces.push(Piece { task, operation, from: blocks.start, to: blocks.end });
                continue;
            }
            let first = trace.turns().partition_point(|turn| turn.end <= blocks.start);
            let turns = trace.turns()[first..].iter().take_while(|turn| turn.start < blocks.end.min(end));
            pieces.extend(turns.filter(|turn| turn.process == process).map(|turn| Piece {
                task,
                operation,
                from: turn.start.max(blocks.start),
                to: turn.end.min(blocks.end),
            }));
        }
    }
    pieces
}

fn gpu(lanes: &mut TaskLanes, set: &SegmentTaskSet, run: &SegmentRun, pieces: &[Piece], end: Instant) {
    let lane = lanes.lane_area(set.cpus);
    let switches = run.trace.turns().iter().filter(|turn| turn.switch_from < turn.start && turn.switch_from < end);
    let switches = switches.map(|turn| (turn.switch_from.as_ns(), turn.start.as_ns(), SWITCH));
    lanes.lane(set.cpus, "GPU".to_owned(), switches);
    for piece in pieces {
        let area = Rect::between(lanes.x(piece.from.as_ns()), lane.y, lanes.x(piece.to.as_ns()), lane.bottom());
        let name = &*set.tasks[piece.task].name;
        lanes.block(area, (piece.task, name), false, format!("{name}, {} to {}", piece.from, piece.to));
    }
    // Lines of several tasks have places of their own, over the boxes of others.
    let places = as_length(set.tasks.len()) + 1;
    for (one, next) in pieces.iter().zip(pieces.iter().skip(1)) {
        if one.operation == next.operation && one.to < next.from {
            let y = lane.y + lane.height * (as_length(one.task) + 1) / places;
            let [from, to] = [one.to, next.from].map(|at| Point { x: lanes.x(at.as_ns()), y });
            let note = format!("{} pauses, {} to {}", set.tasks[one.task].name, one.to, next.from);
            let line = pause_line(from, to, series_fill(one.task));
            lanes.sheet.explained(note, |sheet| sheet.push(line));
        }
    }
}

/// Height of a vertex, and the room between two.
const VERTEX: Length = 9 * MM;
const BETWEEN: Length = 8 * MM;
const EDGE_HEAD: Length = MM;

/// One chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vertex {
    /// Its name.
    pub name: String,
    /// Its execution time, for example `3` or `C₁`.
    pub wcet: String,
    /// Its deadline, counted from its start.
    pub deadline: TaskTime,
    /// From its start to that of the next vertex, round the end of the cycle.
    pub to_next: TaskTime,
}

/// Vertices from left to right with (execution time, deadline), and on each edge the time between two starts.
pub fn chunk_cycle(title: &str, vertices: &[Vertex]) -> Drawing {
    let mut sheet = Sheet::new();
    let top = sheet.title(title, PAGE_WIDTH) + MM;
    let count = as_length(vertices.len().max(1));
    let width = (PAGE_WIDTH - 2 * Sheet::MARGIN - (count - 1) * BETWEEN) / count;
    let middle = top + VERTEX / 2;
    let small = Theme::PAPER.small_size;
    let left = |index: usize| Sheet::MARGIN + as_length(index) * (width + BETWEEN);
    for (index, vertex) in vertices.iter().enumerate() {
        let area = Rect { x: left(index), y: top, width, height: VERTEX };
        sheet.area(area, Some(Fill::plain(Colour::WHITE)), Some(Sheet::AXIS));
        sheet.text(vertex.name.clone(), area.centre().x, top + VERTEX * 3 / 10, Anchor::Middle);
        let pair = format!("({}, {})", vertex.wcet, vertex.deadline);
        sheet.text(pair, area.centre().x, top + VERTEX * 7 / 10, Anchor::Middle);
        if index + 1 < vertices.len() {
            let (from, to) = (area.right(), left(index + 1));
            sheet.line((from, middle), (to, middle), Sheet::AXIS);
            sheet.push(head(Point { x: to, y: middle }, (-EDGE_HEAD, EDGE_HEAD / 2), (-EDGE_HEAD, -EDGE_HEAD / 2)));
            sheet.small(vertex.to_next.to_string(), from.midpoint(to), middle - small, Anchor::Middle);
        }
    }
    let below = top + VERTEX + 5 * MM;
    if let Some(last) = vertices.last() {
        let (from, to) = (left(vertices.len() - 1) + width / 2, left(0) + width / 2);
        sheet.line((from, top + VERTEX), (from, below), Sheet::AXIS);
        sheet.line((from, below), (to, below), Sheet::AXIS);
        sheet.line((to, below), (to, top + VERTEX), Sheet::AXIS);
        sheet.push(head(Point { x: to, y: top + VERTEX }, (-EDGE_HEAD / 2, EDGE_HEAD), (EDGE_HEAD / 2, EDGE_HEAD)));
        sheet.small(last.to_next.to_string(), from.midpoint(to), below - small, Anchor::Middle);
    }
    sheet.into_drawing(title.to_owned(), PAGE_WIDTH, below + MM)
}

/// The point of an arrow, its other two corners relative to its tip.
fn head(tip: Point, one: (Length, Length), other: (Length, Length)) -> Shape {
    let corner = |(x, y): (Length, Length)| Point { x: tip.x + x, y: tip.y + y };
    Shape::Polygon { corners: vec![tip, corner(one), corner(other)], fill: Fill::plain(Colour::BLACK), stroke: None }
}
