//! What ran on each SM and when, with releases and deadlines, as SVG.

use std::fmt::Write;

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
/// The number of things to draw, if that is more than 20,000.
pub fn gantt(
    set: &TaskSet,
    run: &TaskRun,
    reservations: Option<Reservations>,
    end: u64,
    threads_per_sm: u32,
) -> Result<String, usize> {
    let end = end.max(1);
    let x = |t: u64| LEFT + WIDTH * t.min(end) as f64 / end as f64;
    let lanes_end = GAP + f64::from(set.sms) * (SM_HEIGHT + GAP);
    let height = lanes_end + set.tasks.len() as f64 * TASK_HEIGHT + 40.0;
    let jobs = || run.jobs.iter().filter(|job| job.release <= end);
    let drawn = jobs().count() + run.trace.operations().len();
    if drawn > MAX_DRAWN {
        return Err(drawn);
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{height}\" viewBox=\"0 0 {0} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        LEFT + WIDTH + 30.0
    );
    let mut put = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    for sm in 0..set.sms {
        let top = GAP + f64::from(sm) * (SM_HEIGHT + GAP);
        put(format!("<text x=\"8\" y=\"{}\">SM {sm}</text>", top + SM_HEIGHT / 2.0 + 4.0));
        put(format!(
            "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{SM_HEIGHT}\" fill=\"none\" stroke=\"#888\"/>"
        ));
        for (reservation, fill) in
            reservations.iter().flat_map(|both| [(both.single, "#eef4fb"), (both.all, "#fdf3e1")])
        {
            for (from, to) in reservation.served(0, end) {
                put(format!(
                    "<rect x=\"{:.2}\" y=\"{top}\" width=\"{:.2}\" height=\"{SM_HEIGHT}\" fill=\"{fill}\"/>",
                    x(from),
                    x(to) - x(from)
                ));
            }
        }
    }
    // Free height of each SM over time is not needed: blocks of one job are stacked from a base of their own.
    let mut busy: Vec<Vec<(u64, u64, f64, f64)>> = vec![Vec::new(); set.sms as usize];
    for (operation, &job) in (0..).zip(&run.launches) {
        let job = &run.jobs[job as usize];
        let Some(task) = set.tasks.get(job.task as usize) else { continue };
        let threads = run.trace.kernel_of(OperationId(operation)).map_or(0, |kernel| kernel.shape.threads);
        for blocks in run.trace.block_runs(OperationId(operation)) {
            let (from, to) = (blocks.start.as_ns(), blocks.end.as_ns());
            let Some(lane) = busy.get_mut(blocks.sm as usize).filter(|_| from < end) else { continue };
            let slots = f64::from(threads.next_multiple_of(32)) * f64::from(blocks.blocks);
            let share = (slots / f64::from(threads_per_sm.max(1))).min(1.0);
            lane.retain(|&(_, until, ..)| until > from);
            let mut base: f64 = 0.0;
            lane.sort_by(|one, other| one.2.total_cmp(&other.2));
            for &(_, _, bottom, top) in lane.iter() {
                if base + share <= bottom + 1e-9 {
                    break;
                }
                base = base.max(top);
            }
            let base = base.min(1.0 - share).max(0.0);
            lane.push((from, to, base, base + share));
            let top = GAP + f64::from(blocks.sm) * (SM_HEIGHT + GAP) + SM_HEIGHT * (1.0 - base - share);
            put(format!(
                "<rect x=\"{:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{}\" stroke=\"#fff\" \
                 stroke-width=\"0.4\"><title>{} job {}: {} blocks, {from} to {to}</title></rect>",
                x(from),
                x(to) - x(from),
                SM_HEIGHT * share,
                COLORS[job.task as usize % COLORS.len()],
                escaped(&task.name),
                job.number,
                blocks.blocks,
            ));
        }
    }
    for (index, task) in set.tasks.iter().enumerate() {
        let base = lanes_end + (index + 1) as f64 * TASK_HEIGHT;
        let color = COLORS[index % COLORS.len()];
        put(format!("<text x=\"8\" y=\"{}\" fill=\"{color}\">{}</text>", base - 5.0, escaped(&task.name)));
        put(format!("<path d=\"M{LEFT} {base}H{}\" stroke=\"#bbb\"/>", LEFT + WIDTH));
        for job in jobs().filter(|job| job.task as usize == index) {
            let (release, deadline) = (x(job.release), x(job.deadline));
            let up = base - TASK_HEIGHT + 6.0;
            put(format!("<path d=\"M{release:.2} {base}V{up}m-3 5l3 -5l3 5\" fill=\"none\" stroke=\"{color}\"/>"));
            if job.deadline <= end {
                put(format!(
                    "<path d=\"M{deadline:.2} {up}V{base}m-3 -5l3 5l3 -5\" fill=\"none\" stroke=\"#333\" \
                     stroke-dasharray=\"2 1\"/>"
                ));
            }
            if job.is_late() {
                let (left, top) = (deadline - 4.0, base - TASK_HEIGHT / 2.0 - 4.0);
                put(format!(
                    "<path d=\"M{left:.2} {top}l8 8m0 -8l-8 8\" stroke=\"#d00\" stroke-width=\"2\">\
                     <title>{} job {} missed its deadline {}</title></path>",
                    escaped(&task.name),
                    job.number,
                    job.deadline
                ));
            }
        }
    }
    for tick in 0..=10_u64 {
        let t = u64::try_from(u128::from(end) * u128::from(tick) / 10).unwrap_or(end);
        put(format!("<text x=\"{:.2}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{t}</text>", x(t), height - 14.0));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(svg, "</svg>");
    Ok(svg)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
