//! Blocks that signal and wait while they run: they go from point to point of their kernel's synchronization, and keep
//! what they have of their SM while they wait.

use std::collections::BTreeMap;

use super::SmBackend;
use crate::gpu::backend::BackendContext;
use crate::gpu::calendar::Event;
use crate::gpu::host::RunError;
use crate::time::{Duration, Instant};
use crate::trace::{NEVER, NewWave, Observer, Stand, TraceFull};
use crate::workload::{KernelId, OperationId, Part, PointAction, SyncPoint, Synchronization};

/// Waves of such blocks that are on the GPU.
#[derive(Debug, Clone, Default)]
pub(in crate::gpu::backend) struct Synchronized {
    /// By place among the waves that run.
    waves: BTreeMap<u32, SynchronizedWave>,
    /// Those that wait, in the order in which they came to it.
    waiting: Vec<u32>,
    /// How many changes of counters those have seen.
    seen: u64,
    /// Since those were looked at, blocks have come to a barrier of their grid.
    has_arrived: bool,
    /// Why the run cannot go on.
    failed: Option<RunError>,
}

/// Blocks that were assigned together: all come to each point at the same instant.
#[derive(Debug, Clone)]
struct SynchronizedWave {
    /// Place of their kernel.
    kernel: u32,
    /// The first of them, how many, and the round-robin pointer before them.
    block: (u32, u32, u32),
    /// Which of all that completes they are.
    sequence: u64,
    start: Instant,
    /// How long they run without waiting, and how long they have.
    run: Duration,
    progress: Duration,
    /// The point that they come to next, or are at, and the barriers of their grid that they have come to.
    next: usize,
    barriers: u64,
    /// How long they have waited, on the clock of their context.
    stood: Duration,
    /// Since when they wait at a point, and the same on that clock.
    since: Option<(Instant, Instant)>,
    parts: Vec<Part>,
}

impl Synchronized {
    pub(super) fn is_empty(&self) -> bool {
        self.waves.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl SmBackend {
    /// Blocks begin whose kernel synchronizes them, as wave `place`.
    pub(in crate::gpu::backend) fn begin_synchronized<O: Observer>(
        &mut self,
        (kernel, place): (u32, u32),
        block: (u32, u32, u32),
        run: Duration,
        parts: &[Part],
        context: &mut BackendContext<'_, O>,
    ) {
        let wave = SynchronizedWave {
            kernel,
            block,
            sequence: context.calendar.begin(),
            start: context.now,
            run,
            progress: Duration::ZERO,
            next: 0,
            barriers: 0,
            stood: Duration::ZERO,
            since: None,
            parts: parts.to_vec(),
        };
        self.synchronized.waves.insert(place, wave);
        self.go_to_next_point(place, context);
    }

    /// Enters when blocks come to their next point; behind the last, when they end.
    fn go_to_next_point<O: Observer>(&mut self, place: u32, context: &mut BackendContext<'_, O>) {
        let Some(wave) = self.synchronized.waves.get_mut(&place) else { return };
        let kernel = &self.kernels[wave.kernel as usize];
        let next = synchronization(kernel.kernel, context).and_then(|all| all.points.get(wave.next));
        let progress = next.map_or(wave.run, |point| point.at.of(wave.run));
        let overflow = RunError::TimeOverflow { operation: kernel.operation };
        let Some(at) = context.now.checked_add(Duration::from_ns(progress.as_ns() - wave.progress.as_ns())) else {
            self.synchronized.failed = Some(overflow);
            return;
        };
        wave.progress = progress;
        if next.is_some() {
            context.calendar.complete_at(at, Event::Point(place));
            return;
        }
        let (operation, end) = (kernel.operation, kernel.end_of_wave(place));
        context.calendar.complete_begun(at, wave.sequence, end);
        if let Some(wave) = self.synchronized.waves.remove(&place) {
            let told = tell_of_wave(operation, &wave, context);
            self.synchronized.failed = self.synchronized.failed.or(told.err().map(RunError::from));
        }
    }

    /// Blocks have come to their next point.
    pub(super) fn come_to_point<O: Observer>(&mut self, place: u32, context: &mut BackendContext<'_, O>) {
        let Some((kernel, point)) = self.point_of(place, context) else { return };
        let Some(wave) = self.synchronized.waves.get_mut(&place) else { return };
        let blocks = u64::from(wave.block.1);
        match point.action {
            PointAction::Signal(counter) => context.counters.add(counter, blocks),
            PointAction::GridSync => {
                wave.barriers += 1;
                self.kernels[kernel as usize].arrived += blocks;
                self.synchronized.has_arrived = true;
            }
            PointAction::Wait(_) => {}
        }
        if self.may_pass(place, context) {
            self.pass(place, context);
        } else if let Some(wave) = self.synchronized.waves.get_mut(&place) {
            wave.since = Some((context.now, context.calendar.clock(context.now)));
            self.synchronized.waiting.push(place);
        }
    }

    /// Lets go on what waits and need not any longer. Each goes on in another round of this instant, so that whatever
    /// it signals is seen by all.
    pub(super) fn look_at_waiting<O: Observer>(&mut self, context: &mut BackendContext<'_, O>) -> Result<(), RunError> {
        let Synchronized { waiting, seen, has_arrived, .. } = &mut self.synchronized;
        let arrived = std::mem::take(has_arrived);
        let changed = std::mem::replace(seen, context.counters.changes()) != context.counters.changes();
        if !waiting.is_empty() && (arrived || changed) {
            let all = std::mem::take(waiting).into_iter();
            let (free, held): (Vec<u32>, _) = all.partition(|&place| self.may_pass(place, context));
            self.synchronized.waiting = held;
            for place in free {
                self.pass(place, context);
            }
        }
        self.synchronized.failed.take().map_or(Ok(()), Err)
    }

    /// Blocks leave the point that they are at.
    fn pass<O: Observer>(&mut self, place: u32, context: &mut BackendContext<'_, O>) {
        let Some(wave) = self.synchronized.waves.get_mut(&place) else { return };
        let point = wave.next;
        wave.next += 1;
        if let Some((from, since)) = wave.since.take() {
            wave.stood = wave.stood.saturating_add(context.calendar.clock(context.now).since(since));
            let operation = self.kernels[wave.kernel as usize].operation;
            context.observer.stood(&wave.stand(operation, point, from, context.now));
        }
        self.go_to_next_point(place, context);
    }

    /// The kernel of a wave, and the point that it is at.
    fn point_of<O>(&self, place: u32, context: &BackendContext<'_, O>) -> Option<(u32, SyncPoint)> {
        let wave = self.synchronized.waves.get(&place)?;
        let kernel = &self.kernels[wave.kernel as usize];
        Some((wave.kernel, *synchronization(kernel.kernel, context)?.points.get(wave.next)?))
    }

    /// Whether what blocks wait for at the point that they are at has come.
    fn may_pass<O>(&self, place: u32, context: &BackendContext<'_, O>) -> bool {
        let Some((kernel, point)) = self.point_of(place, context) else { return true };
        match point.action {
            PointAction::Signal(_) => true,
            PointAction::Wait(wanted) => context.counters.has_reached(wanted),
            PointAction::GridSync => {
                let kernel = &self.kernels[kernel as usize];
                let barriers = self.synchronized.waves.get(&place).map_or(0, |wave| wave.barriers);
                kernel.arrived >= barriers * u64::from(kernel.blocks)
            }
        }
    }

    /// Whether none of the blocks that wait may go on.
    pub(in crate::gpu) fn waits_in_vain<O>(&self, context: &BackendContext<'_, O>) -> bool {
        !self.synchronized.waiting.iter().any(|&place| self.may_pass(place, context))
    }

    /// The run is over: tells of the blocks that have not ended; who waits then does so for good.
    pub(super) fn tell_of_synchronized<O: Observer>(
        &mut self,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), TraceFull> {
        let over = context.horizon.saturating_add(Duration::from_ns(1));
        for (_, mut wave) in std::mem::take(&mut self.synchronized.waves) {
            let operation = self.kernels[wave.kernel as usize].operation;
            if let Some((from, since)) = wave.since.take() {
                wave.stood = wave.stood.saturating_add(context.calendar.clock(over).since(since));
                context.observer.stood(&wave.stand(operation, wave.next, from, NEVER));
            }
            tell_of_wave(operation, &wave, context)?;
        }
        self.synchronized.waiting.clear();
        Ok(())
    }
}

impl SynchronizedWave {
    fn stand(&self, operation: OperationId, point: usize, from: Instant, to: Instant) -> Stand {
        let (first_block, blocks, _) = self.block;
        Stand { operation, first_block, blocks, point: u32::try_from(point).unwrap_or(u32::MAX), from, to }
    }
}

fn synchronization<'c, O>(kernel: KernelId, context: &BackendContext<'c, O>) -> Option<&'c Synchronization> {
    context.catalogue.kernels()[kernel.index()].synchronization()
}

fn tell_of_wave<O: Observer>(
    operation: OperationId,
    wave: &SynchronizedWave,
    context: &mut BackendContext<'_, O>,
) -> Result<(), TraceFull> {
    let (first_block, blocks, cursor) = wave.block;
    let duration = wave.run.saturating_add(wave.stood);
    context.observer.wave(&NewWave { operation, first_block, blocks, cursor, start: wave.start, duration }, &wave.parts)
}
