//! What ran on each SM and when, with releases and deadlines, as SVG.

use crate::hosts::real_time::TaskRun;
use crate::tasks::{Reservations, TaskSet};
use crate::workload::OperationId;

/// Width of the time axis \[pixels\].
const WIDTH: f64 = 1_100.0;
const LEFT: f64 = 70.0;
const SM_HEIGHT: f64 = 64.0;
const TASK_HEIGHT: f64 = 22.0;
const GAP: f64 = 14.0;
/// Jobs and block groups that are drawn at most; a figure of more shows nothing.
const MAX_DRAWN: usize = 20_000;

/// Colours that colour-blind readers can tell apart (Okabe and Ito).
const COLORS: [&str; 8] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"];

/// A figure of [0, `end`]: one lane for each SM with what ran there, its height the share of the SM's thread slots;
/// below, one lane for each task with its releases (up), deadlines (down) and misses (red cross). Budgets of
/// `reservations` are shaded.
///
/// # Errors
/// The number of things to draw, or one that it exceeds, if that is more than 20,000.
pub fn gantt(
    set: &TaskSet,
    run: &TaskRun,
    reservations: Option<Reservations>,
    end: u64,
    threads_per_sm: u32,
) -> Result<String, usize> {
    // Stretches of many waves are expanded no further than needed to know that they are too many.
    let operations = (0..).zip(&run.launches).map(|(operation, _)| OperationId(operation));
    let waves = operations
        .flat_map(|operation| run.trace.block_runs(operation).take_while(|blocks| blocks.start.as_ns() < end));
    let drawn = run.jobs.iter().filter(|job| job.release <= end).count() + waves.take(MAX_DRAWN + 1).count();
    if drawn > MAX_DRAWN {
        return Err(drawn);
    }
    let mut figure = Figure { set, run, end: end.max(1), svg: String::new() };
    let (width, height) = (LEFT + WIDTH + 30.0, figure.lanes_end() + set.tasks.len() as f64 * TASK_HEIGHT + 40.0);
    figure.put(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    ));
    for sm in 0..set.sms {
        figure.lane(sm, reservations);
    }
    figure.blocks(threads_per_sm);
    for task in 0..set.tasks.len() {
        figure.task(task);
    }
    figure.axis(height - 14.0);
    figure.put("</svg>");
    Ok(figure.svg)
}

struct Figure<'a> {
    set: &'a TaskSet,
    run: &'a TaskRun,
    end: u64,
    svg: String,
}

/// Blocks on one SM: until when, and from where to where of its height.
type Stacked = (u64, f64, f64);

impl Figure<'_> {
    fn put(&mut self, text: &str) {
        self.svg.push_str(text);
        self.svg.push('\n');
    }

    fn x(&self, t: u64) -> f64 {
        LEFT + WIDTH * t.min(self.end) as f64 / self.end as f64
    }

    fn lane_top(sm: u32) -> f64 {
        GAP + f64::from(sm) * (SM_HEIGHT + GAP)
    }

    fn lanes_end(&self) -> f64 {
        Self::lane_top(self.set.sms)
    }

    /// An empty SM with the budgets shaded.
    fn lane(&mut self, sm: u32, reservations: Option<Reservations>) {
        let top = Self::lane_top(sm);
        self.put(&format!("<text x=\"8\" y=\"{}\">SM {sm}</text>", top + SM_HEIGHT / 2.0 + 4.0));
        let shaded = reservations.iter().flat_map(|both| [(both.single, "#eef4fb"), (both.all, "#fdf3e1")]);
        for (reservation, fill) in shaded {
            for (from, to) in reservation.served(0, self.end) {
                let (x, width) = (self.x(from), self.x(to) - self.x(from));
                self.put(&format!(
                    "<rect x=\"{x:.2}\" y=\"{top}\" width=\"{width:.2}\" height=\"{SM_HEIGHT}\" fill=\"{fill}\"/>"
                ));
            }
        }
        self.put(&format!(
            "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{SM_HEIGHT}\" fill=\"none\" stroke=\"#888\"/>"
        ));
    }

    /// Everything that ran.
    fn blocks(&mut self, threads_per_sm: u32) {
        let mut lanes: Vec<Vec<Stacked>> = vec![Vec::new(); self.set.sms as usize];
        let (set, run, end) = (self.set, self.run, self.end);
        for (operation, &job) in (0..).zip(&run.launches) {
            let (job, operation) = (&run.jobs[job as usize], OperationId(operation));
            let Some(task) = set.tasks.get(job.task as usize) else { continue };
            let threads = run.trace.kernel_of(operation).map_or(0, |kernel| kernel.shape.threads);
            for blocks in run.trace.block_runs(operation).take_while(|blocks| blocks.start.as_ns() < end) {
                let (from, to) = (blocks.start.as_ns(), blocks.end.as_ns());
                let Some(lane) = lanes.get_mut(blocks.sm as usize) else { continue };
                let slots = f64::from(threads.next_multiple_of(32)) * f64::from(blocks.blocks);
                let share = (slots / f64::from(threads_per_sm.max(1))).min(1.0);
                let base = stack(lane, from, to, share);
                let top = Self::lane_top(u32::from(blocks.sm)) + SM_HEIGHT * (1.0 - base - share);
                let (x, width) = (self.x(from), self.x(to) - self.x(from));
                let color = COLORS[job.task as usize % COLORS.len()];
                let (name, height) = (escaped(&task.name), SM_HEIGHT * share);
                let (number, count) = (job.number, blocks.blocks);
                self.put(&format!(
                    "<rect x=\"{x:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{color}\" \
                     stroke=\"#fff\" stroke-width=\"0.4\"><title>{name} job {number}: {count} blocks, {from} to {to}\
                     </title></rect>"
                ));
            }
        }
    }

    /// Releases, deadlines and misses of one task.
    fn task(&mut self, index: usize) {
        let name = escaped(&self.set.tasks[index].name);
        let base = self.lanes_end() + (index + 1) as f64 * TASK_HEIGHT;
        let (color, up) = (COLORS[index % COLORS.len()], base - TASK_HEIGHT + 6.0);
        self.put(&format!("<text x=\"8\" y=\"{}\" fill=\"{color}\">{name}</text>", base - 5.0));
        self.put(&format!("<path d=\"M{LEFT} {base}H{}\" stroke=\"#bbb\"/>", LEFT + WIDTH));
        let (run, end) = (self.run, self.end);
        for job in run.jobs.iter().filter(|job| job.task as usize == index && job.release <= end) {
            let (release, deadline) = (self.x(job.release), self.x(job.deadline));
            self.put(&format!(
                "<path d=\"M{release:.2} {base}V{up}m-3 5l3 -5l3 5\" fill=\"none\" stroke=\"{color}\"/>"
            ));
            if job.deadline <= end {
                self.put(&format!(
                    "<path d=\"M{deadline:.2} {up}V{base}m-3 -5l3 5l3 -5\" fill=\"none\" stroke=\"#333\" \
                     stroke-dasharray=\"2 1\"/>"
                ));
            }
            if job.is_late() {
                let (left, top) = (deadline - 4.0, base - TASK_HEIGHT / 2.0 - 4.0);
                self.put(&format!(
                    "<path d=\"M{left:.2} {top}l8 8m0 -8l-8 8\" stroke=\"#d00\" stroke-width=\"2\"><title>{name} job {} \
                     missed its deadline {}</title></path>",
                    job.number, job.deadline
                ));
            }
        }
    }

    fn axis(&mut self, y: f64) {
        for tick in 0..=10_u64 {
            let t = u64::try_from(u128::from(self.end) * u128::from(tick) / 10).unwrap_or(self.end);
            let x = self.x(t);
            self.put(&format!("<text x=\"{x:.2}\" y=\"{y}\" text-anchor=\"middle\" fill=\"#555\">{t}</text>"));
        }
    }
}

/// Finds the lowest free height for `share` of an SM, takes it until `to`, and returns it.
fn stack(lane: &mut Vec<Stacked>, from: u64, to: u64, share: f64) -> f64 {
    lane.retain(|&(until, ..)| until > from);
    lane.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut base: f64 = 0.0;
    for &(_, bottom, top) in lane.iter() {
        if base + share <= bottom + 1e-9 {
            break;
        }
        base = base.max(top);
    }
    let base = base.min(1.0 - share).max(0.0);
    lane.push((to, base, base + share));
    base
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
