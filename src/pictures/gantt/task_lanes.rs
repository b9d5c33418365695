//! Lanes over one axis of time: what ran where, and below them releases, deadlines and misses of each task.

use crate::draw::theme::{self, Colour, Fill, Theme, series_fill, series_repeat};
use crate::draw::{
    Anchor, Dash, Drawing, Length, MM, PAGE_WIDTH, PictureOptions, Point, Rect, Shape, Sheet, Stroke, times,
};

const LANE_HEIGHT: Length = 14 * MM;
const TASK_HEIGHT: Length = 5 * MM;
const GAP: Length = MM;
const BESIDE_PLOT: Length = 13 * MM / 10;
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
const MISS: Stroke = Stroke { colour: theme::MARK, width: MM / 3 };

/// What only keeps a place busy.
const PALE: Colour = Colour(0xec, 0xec, 0xec);

/// A job as its task's lane shows it; times are in the units of the axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneJob {
    pub(crate) number: u64,
    pub(crate) release: u64,
    pub(crate) deadline: u64,
    /// Without one, no deadline is shown.
    pub(crate) has_deadline: bool,
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
    pub(crate) fn new<'n>(
        title: &str,
        (lanes, widest_lane): (u32, &str),
        tasks: impl Iterator<Item = &'n str>,
        end: u64,
        options: PictureOptions,
    ) -> Self {
        let width = options.width.unwrap_or(PAGE_WIDTH);
        let names = tasks.map(Sheet::text_width);
        let widest = names.max().unwrap_or(0).max(Sheet::text_width(widest_lane)).min(MOST_FOR_NAMES).min(width / 3);
        let left = Sheet::MARGIN + MARK_WIDTH + GAP + widest + BESIDE_PLOT;
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
        self.left + Length::try_from(offset).unwrap_or(0)
    }

    pub(crate) fn lane_area(&self, lane: u32) -> Rect {
        let top = self.top + GAP + Length::from(lane) * (LANE_HEIGHT + GAP);
        Rect::between(self.left, top, self.right(), top + LANE_HEIGHT)
    }

    /// Where the first `tasks` lanes of tasks end.
    fn task_bottom(&self, tasks: usize) -> Length {
        self.lane_area(self.lanes).y + times(tasks) * TASK_HEIGHT
    }

    /// An empty lane, these times of which are shaded.
    pub(crate) fn lane(&mut self, lane: u32, name: String, shaded: impl Iterator<Item = (u64, u64, Colour)>) {
        let area = self.lane_area(lane);
        self.sheet.text(name, self.left - BESIDE_PLOT, area.centre().y, Anchor::End);
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
    pub(crate) fn tasks<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str> + Clone,
        jobs: impl Fn(usize) -> Vec<LaneJob>,
    ) {
        let room = self.left - BESIDE_PLOT - Sheet::MARGIN - MARK_WIDTH - GAP;
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
        self.sheet.text(fitted, self.left - BESIDE_PLOT, middle, Anchor::End);
        self.sheet.line((self.left, base), (self.right(), base), Sheet::GRID);
        let end = self.end;
        for job in jobs.iter().filter(|job| job.release <= end) {
            let (release, deadline) = (self.x(job.release), self.x(job.deadline));
            self.sheet.line((release, base), (release, up), RELEASE);
            self.head((release, up), HEAD, RELEASE.colour);
            if job.has_deadline && job.deadline <= end {
                let points = vec![Point { x: deadline, y: up }, Point { x: deadline, y: base }];
                self.sheet.push(Shape::Path { points, stroke: DEADLINE, dash: Dash::Dotted });
                self.head((deadline, base), -HEAD, DEADLINE.colour);
            }
            if job.has_deadline && job.is_late {
                let note = format!("{name} job {} missed its deadline {}", job.number, job.deadline);
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

    /// How many ticks the axis has room for.
    pub(crate) fn most_ticks(&self) -> u64 {
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
