//! The same operations kernel by kernel, not block by block: each takes as long as its waves take alone, whatever runs
//! beside it. The stream queues and hosts are those of every run; what is behind them has no limits, or EE queues and
//! as much room as the GPU has.

use std::collections::VecDeque;

use crate::device::KernelOccupancy;
use crate::effort::Progress;
use crate::gpu::{Backend, BackendContext, Event, Gpu, ReadyOperation, RunError};
use crate::hosts::{ProgramError, SimulateOptions, run_on};
use crate::limits::count_turn;
use crate::run::Run;
use crate::scenario::Scenario;
use crate::time::{Duration, Instant};
use crate::trace::{Observer, Recorder};
use crate::workload::{OperationId, OperationKind};

/// When a kernel begins that may leave its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    /// At once, as if there were as many SMs as anybody wants.
    AtOnce,
    /// When it is the head of its EE queue (A1, X1), those of higher priority are empty (A2), and one of its blocks
    /// finds room (R). How much of the GPU a kernel fills is counted as a whole, not by SM.
    WithRoom,
}

/// Runs a scenario.
///
/// # Errors
/// As [`simulate`](crate::hosts::simulate).
pub(super) fn run_whole_kernels<'s>(
    scenario: &'s Scenario,
    begins: Begins,
    completed: Progress<'_>,
) -> Result<Run<'s>, ProgramError> {
    let device = match begins {
        Begins::AtOnce => scenario.device().without_channels(),
        Begins::WithRoom => scenario.device().clone(),
    };
    let recorder = Recorder::new(device.sms, scenario.placement, scenario.seed);
    let gpu = Gpu::with_backend(WholeKernels::new(begins), recorder, &device, SimulateOptions::of(scenario).gpu);
    run_on(gpu, scenario, completed)
}

#[derive(Debug)]
struct WholeKernels {
    begins: Begins,
    /// The EE queues, the highest priority first: kernels that have not begun.
    queues: Vec<VecDeque<Work>>,
    running: Vec<Running>,
    /// The first that would end after the end of time.
    overflow: Option<OperationId>,
}

/// What a kernel takes of the GPU.
#[derive(Debug, Clone, Copy)]
struct Work {
    operation: OperationId,
    /// Place of its EE queue.
    level: usize,
    block_time: Duration,
    waves: u32,
    one_block: Share,
    last_wave: Share,
}

/// A part of all that the GPU has, of [`ALL`].
type Share = u64;

const ALL: Share = 1 << 32;

#[derive(Debug, Clone, Copy)]
struct Running {
    work: Work,
    start: Instant,
    /// When its last wave begins, from when on it fills no more than that, and is fully dispatched (G3).
    last_wave: Instant,
    is_dispatched: bool,
}

impl Running {
    /// When one of its waves ends next, at `now` or later; none where waves take no time.
    fn next_boundary(&self, now: Instant) -> Option<Instant> {
        let wave = self.work.block_time.as_ns();
        let behind = now.since(self.start).as_ns().checked_rem(wave)?;
        now.checked_add(Duration::from_ns(if behind == 0 { 0 } else { wave - behind }))
    }

    /// What it fills, as a kernel of the EE queue `level` sees it at `now`: between two waves it lets in what has a
    /// higher priority.
    fn fills(&self, level: usize, now: Instant) -> Share {
        match () {
            () if self.is_dispatched => self.work.last_wave,
            () if level < self.work.level && self.next_boundary(now) == Some(now) => 0,
            () => ALL,
        }
    }
}

impl WholeKernels {
    fn new(begins: Begins) -> Self {
        Self { begins, queues: Vec::new(), running: Vec::new(), overflow: None }
    }

    /// Takes the head of the first EE queue that is not empty, if it may begin now; else looks again when it may.
    fn next_to_begin<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Option<Work> {
        let queue = self.queues.iter_mut().find(|queue| !queue.is_empty())?;
        let level = queue.front()?.level;
        if self.begins == Begins::WithRoom {
            let holds = |running: &Running| !running.is_dispatched && running.work.level <= level;
            if self.running.iter().any(holds) {
                // It is fully dispatched at an instant that is in the calendar.
                return None;
            }
            let filled =
                self.running.iter().map(|running| running.fills(level, context.now)).fold(0, Share::saturating_add);
            if filled.saturating_add(queue.front()?.one_block) > ALL {
                let lower = self.running.iter().filter(|running| !running.is_dispatched);
                let boundary = lower.filter_map(|running| running.next_boundary(context.now)).min();
                if let Some(at) = boundary.filter(|at| *at > context.now) {
                    context.calendar.complete_at(at, Event::Context);
                }
                return None;
            }
        }
        queue.pop_front()
    }

    fn begin<O: Observer>(&mut self, work: Work, context: &mut BackendContext<'_, O>) {
        context.observer.dispatched(work.operation, context.now);
        let before_last = work.block_time.checked_mul(u64::from(work.waves.saturating_sub(1)));
        let last_wave = before_last.and_then(|time| context.now.checked_add(time));
        let end =
            last_wave.and_then(|last| if work.waves == 0 { Some(last) } else { last.checked_add(work.block_time) });
        let Some((last_wave, end)) = last_wave.zip(end) else {
            self.overflow = self.overflow.or(Some(work.operation));
            return;
        };
        context.calendar.complete_at(end, Event::Wave(work.operation.0));
        if last_wave > context.now {
            context.calendar.complete_at(last_wave, Event::Context);
        }
        self.running.push(Running { work, start: context.now, last_wave, is_dispatched: false });
    }
}

impl Backend for WholeKernels {
    fn enter<O: Observer>(&mut self, ready: ReadyOperation, context: &mut BackendContext<'_, O>) {
        let ReadyOperation { operation, kind, stream, .. } = ready;
        let takes = match kind {
            OperationKind::Kernel(kernel) => {
                let (kernel, device) = (&context.catalogue.kernels()[kernel.index()], context.catalogue.device());
                let occupancy = KernelOccupancy::new(&kernel.shape, kernel.blocks, device.sms, device);
                let room = u64::from(occupancy.resident_blocks_per_sm) * u64::from(device.sms);
                let share = |blocks: u64| (blocks * ALL).checked_div(room).unwrap_or(ALL);
                let before_last = u64::from(occupancy.waves.saturating_sub(1)) * room;
                let level = context.catalogue.streams()[stream.index()].level();
                if self.queues.len() <= level {
                    self.queues.resize_with(level + 1, VecDeque::new);
                }
                self.queues[level].push_back(Work {
                    operation,
                    level,
                    block_time: kernel.duration.worst,
                    waves: occupancy.waves,
                    one_block: share(1),
                    last_wave: share(u64::from(kernel.blocks).saturating_sub(before_last)),
                });
                return;
            }
            OperationKind::Copy(copy) => context.catalogue.copies()[copy.index()].time(),
            _ => Duration::ZERO,
        };
        context.observer.dispatched(operation, context.now);
        context.observer.fully_dispatched(operation, context.now);
        match context.now.checked_add(takes) {
            Some(end) => context.calendar.complete_at(end, Event::Wave(operation.0)),
            None => self.overflow = self.overflow.or(Some(operation)),
        }
    }

    fn complete<O: Observer>(&mut self, event: Event, _context: &mut BackendContext<'_, O>) -> Option<OperationId> {
        // What else comes is a reason to look again.
        let Event::Wave(number) = event else { return None };
        self.running.retain(|running| running.work.operation.0 != number);
        Some(OperationId(number))
    }

    fn dispatch<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<Option<OperationId>, RunError> {
        loop {
            count_turn();
            if let Some(operation) = self.overflow {
                return Err(RunError::TimeOverflow { operation });
            }
            let now = context.now;
            let dispatched = self.running.iter_mut().find(|running| !running.is_dispatched && running.last_wave <= now);
            if let Some(running) = dispatched {
                running.is_dispatched = true;
                context.observer.fully_dispatched(running.work.operation, now);
                return Ok(Some(running.work.operation));
            }
            let Some(work) = self.next_to_begin(context) else { return Ok(None) };
            self.begin(work, context);
        }
    }

    fn clear(&mut self) {
        *self = Self::new(self.begins);
    }
}
