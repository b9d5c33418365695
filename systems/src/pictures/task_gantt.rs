//! What ran on each SM and when, with releases and deadlines.

use super::task_lanes::{LaneJob, MAX_DRAWN, TaskLanes};
use crate::draw::theme::Colour;
use crate::draw::{Drawing, Length, PictureOptions, Rect, round_ticks};
use crate::hosts::TaskRun;
use crate::tasks::{Reservations, TaskSet, TaskTime};
use crate::workload::OperationId;

/// Budgets of the reservation of one SM's own tasks, and of that of all SMs' tasks.
const BUDGETS: [Colour; 2] = [Colour(0xe4, 0xee, 0xf8), Colour(0xfa, 0xee, 0xd4)];

/// A figure of [0, `end`], as wide as a page if the options do not say otherwise: one lane for each SM with what ran
/// there, its height the share of the SM's thread slots; below, one lane for each task with its releases (up),
/// deadlines (down, dotted) and misses (crosses). Budgets of `reservations` are shaded.
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
    // Stretches of many waves are expanded no further than needed to know that they are too many.
    let operations = (0..).zip(&run.launches).map(|(operation, _)| OperationId(operation));
    let waves = operations
        .flat_map(|operation| run.trace.block_runs(operation).take_while(|blocks| blocks.start < end.instant()));
    let drawn = run.jobs.iter().filter(|job| job.release <= end).count() + waves.take(MAX_DRAWN + 1).count();
    if drawn > MAX_DRAWN {
        return Err(drawn);
    }
    let names = || set.tasks.iter().map(|task| &*task.name);
    let end = end.max(TaskTime::UNIT);
    let mut lanes = TaskLanes::new("Task set run", (set.sms, "SM 99"), names(), end.units(), options);
    for sm in 0..set.sms {
        let shaded = reservations.iter().flat_map(|both| [both.single, both.all].into_iter().zip(BUDGETS));
        let served = shaded.flat_map(|(reservation, colour)| {
            let served = reservation.served(TaskTime::ZERO, end);
            served.map(move |(from, to)| (from.units(), to.units(), colour))
        });
        lanes.lane(sm, format!("SM {sm}"), served);
    }
    blocks(&mut lanes, set, run, end, threads_per_sm);
    lanes.tasks(names(), |task| {
        let jobs = run.jobs.iter().filter(|job| job.task as usize == task);
        let job = jobs.map(|job| LaneJob {
            number: job.number.into(),
            release: job.release.units(),
            deadline: Some(job.deadline.units()),
            is_late: job.is_late(),
        });
        job.collect()
    });
    let ticks = round_ticks(0, end.units(), lanes.most_ticks()).into_iter().map(|t| (t, t.to_string())).collect();
    Ok(lanes.finish(set.tasks.len(), ticks, "t"))
}

/// Blocks on one SM: until when, and the lowest and the highest thread slot that they take.
type Stacked = (TaskTime, u32, u32);

/// Everything that ran.
fn blocks(lanes: &mut TaskLanes, set: &TaskSet, run: &TaskRun, end: TaskTime, threads_per_sm: u32) {
    let mut stacks: Vec<Vec<Stacked>> = vec![Vec::new(); set.sms as usize];
    for (operation, &job) in (0..).zip(&run.launches) {
        let (job, operation) = (&run.jobs[job as usize], OperationId(operation));
        let Some(task) = set.tasks.get(job.task as usize) else { continue };
        let threads = run.trace.kernel_of(operation).map_or(0, |kernel| kernel.shape.threads);
        for blocks in run.trace.block_runs(operation).take_while(|blocks| blocks.start < end.instant()) {
            let (from, to) = (TaskTime::from(blocks.start), TaskTime::from(blocks.end));
            let Some(lane) = stacks.get_mut(blocks.sm as usize) else { continue };
            let slots = threads.next_multiple_of(32).saturating_mul(blocks.blocks.into()).min(threads_per_sm);
            let base = stack(lane, from, to, slots, threads_per_sm);
            let frame = lanes.lane_area(u32::from(blocks.sm));
            let above =
                |slots: u32| frame.bottom() - frame.height * Length::from(slots) / Length::from(threads_per_sm.max(1));
            let area = Rect::between(lanes.x(from.units()), above(base + slots), lanes.x(to.units()), above(base));
            let note = format!("{} job {}: {} blocks, {from} to {to}", task.name, job.number, blocks.blocks);
            lanes.block(area, (job.task as usize, &task.name), false, note);
        }
    }
}

/// Finds the lowest free room for `slots` of an SM's threads, takes it until `to`, and returns where it begins.
fn stack(lane: &mut Vec<Stacked>, from: TaskTime, to: TaskTime, slots: u32, threads_per_sm: u32) -> u32 {
    lane.retain(|&(until, ..)| until > from);
    crate::sorted::sort_by_key(lane, |&(_, bottom, _)| bottom);
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
