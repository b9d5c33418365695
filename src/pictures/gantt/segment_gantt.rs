//! What ran on each core and on the GPU, of tasks with segments, with releases and deadlines.

use super::task_lanes::{LaneJob, MAX_DRAWN, TaskLanes};
use crate::draw::theme::{Colour, series_fill};
use crate::draw::{Drawing, Length, PictureOptions, Point, Rect, time_ticks, times};
use crate::hosts::{CoreUse, SegmentRun};
use crate::pictures::timeline::pauses::line as pause_line;
use crate::tasks::segments::SegmentTaskSet;
use crate::time::Instant;
use crate::workload::OperationId;

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
        let note = format!("{name} {}, {} to {}", core.what.words(), core.from, core.to);
        lanes.block(area, (core.task, name), core.what == CoreUse::Waits, note);
    }
    gpu(&mut lanes, set, run, &pieces, end);
    lanes.tasks(names(), |task| {
        let jobs = run.jobs.iter().filter(|job| job.task == task);
        let deadline = set.tasks[task].deadline;
        let job = jobs.map(|job| LaneJob {
            number: job.number,
            release: job.released.as_ns(),
            deadline: job.released.saturating_add(deadline).as_ns(),
            has_deadline: set.tasks[task].priority.is_some(),
            is_late: job.response().is_none_or(|response| response > deadline),
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
        let process = trace.process_of(operation);
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
    let places = times(set.tasks.len()) + 1;
    for (one, next) in pieces.iter().zip(pieces.iter().skip(1)) {
        if one.operation == next.operation && one.to < next.from {
            let y = lane.y + lane.height * (times(one.task) + 1) / places;
            let [from, to] = [one.to, next.from].map(|at| Point { x: lanes.x(at.as_ns()), y });
            let note = format!("{} pauses, {} to {}", set.tasks[one.task].name, one.to, next.from);
            let line = pause_line(from, to, series_fill(one.task));
            lanes.sheet.explained(note, |sheet| sheet.push(line));
        }
    }
}
