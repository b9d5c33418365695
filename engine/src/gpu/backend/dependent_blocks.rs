//! Blocks that stand at their wait for the kernel before theirs (PDL), and when blocks trigger.

use super::BackendContext;
use super::sm_backend::{RunningKernel, SmBackend, Standing, next_place};
use crate::gpu::host::RunError;
use crate::time::{Duration, Instant};
use crate::trace::{NewWave, Observer, TraceFull};
use crate::workload::OperationId;

impl SmBackend {
    /// For how long blocks of a kernel stand at their wait that begin at `start` and run for `run`; `None`: that is not
    /// known yet.
    #[inline]
    pub(super) fn stands(&self, kernel: u32, start: Instant, run: Duration) -> Option<Duration> {
        let kernel = &self.kernels[kernel as usize];
        if !kernel.programmatic.is_dependent {
            return Some(Duration::ZERO);
        }
        let waits_from = start.saturating_add(kernel.programmatic.wait.of(run));
        kernel.released.map(|released| released.since(waits_from))
    }

    /// Blocks begin that may stand at their wait for any time.
    pub(super) fn stand(&mut self, kernel: u32, standing: Standing) {
        let (_, blocks, _) = standing.block;
        if self.kernels[kernel as usize].programmatic.holds_its_trigger() {
            self.kernels[kernel as usize].untriggered += blocks;
        } else {
            // Where they stand makes no difference to their trigger.
            self.count_trigger(kernel, standing.start, standing.run, Duration::ZERO);
        }
        self.standing.push(standing);
    }

    /// Blocks are known to trigger.
    #[inline]
    pub(super) fn count_trigger(&mut self, kernel: u32, start: Instant, run: Duration, stood: Duration) {
        let kernel = &mut self.kernels[kernel as usize];
        if let Some(after) = kernel.programmatic.triggers_after(run, stood) {
            kernel.triggered = kernel.triggered.max(start.saturating_add(after));
        }
    }

    /// Once all blocks of a kernel are assigned and it is known when each triggers, its dependent may be told.
    #[inline]
    pub(super) fn note_trigger(&mut self, kernel: u32) {
        let kernel = &self.kernels[kernel as usize];
        if kernel.programmatic.trigger.is_some() && kernel.unassigned == 0 && kernel.untriggered == 0 {
            self.triggers.push((kernel.operation, kernel.triggered));
        }
    }

    /// The kernel before `operation` has ended: waits return at `at`.
    pub(super) fn release_blocks<O: Observer>(
        &mut self,
        operation: OperationId,
        at: Instant,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), RunError> {
        let is_it = |kernel: &RunningKernel| {
            kernel.operation == operation && kernel.released.is_none() && kernel.programmatic.is_dependent
        };
        // It may still wait for a channel; then it is told when it enters its queue.
        let Some(place) = self.kernels.iter().position(is_it) else { return Ok(()) };
        let place = next_place(place);
        self.kernels[place as usize].released = Some(at);
        let (own, others) = std::mem::take(&mut self.standing).into_iter().partition(|one| one.kernel == place);
        self.standing = others;
        let own: Vec<Standing> = own;
        let is_told_now = self.kernels[place as usize].programmatic.holds_its_trigger();
        for standing in own {
            let Standing { start, run, .. } = standing;
            let stood = self.stands(place, start, run).unwrap_or_default();
            if is_told_now {
                self.count_trigger(place, start, run, stood);
                self.kernels[place as usize].untriggered -= standing.block.1;
            }
            let overflow = RunError::TimeOverflow { operation };
            let duration = run.checked_add(stood).ok_or(overflow)?;
            let end = start.checked_add(duration).ok_or(overflow)?;
            self.tell_of_wave(&standing, duration, context)?;
            let event = self.kernels[place as usize].end_of_wave(standing.place);
            context.calendar.complete_begun(end, standing.sequence, event);
        }
        if is_told_now {
            self.note_trigger(place);
        }
        Ok(())
    }

    /// The run is over: what stands then ends as if its wait returned right after that.
    pub(super) fn tell_of_standing<O: Observer>(
        &mut self,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), TraceFull> {
        let released = context.horizon.saturating_add(Duration::from_ns(1));
        for standing in std::mem::take(&mut self.standing) {
            self.kernels[standing.kernel as usize].released = Some(released);
            let stood = self.stands(standing.kernel, standing.start, standing.run).unwrap_or_default();
            let duration = standing.run.saturating_add(stood);
            self.tell_of_wave(&standing, duration, context)?;
        }
        Ok(())
    }

    fn tell_of_wave<O: Observer>(
        &self,
        standing: &Standing,
        duration: Duration,
        context: &mut BackendContext<'_, O>,
    ) -> Result<(), TraceFull> {
        let (first_block, blocks, cursor) = standing.block;
        let operation = self.kernels[standing.kernel as usize].operation;
        let wave = NewWave { operation, first_block, blocks, cursor, start: standing.start, duration };
        context.observer.wave(&wave, &standing.parts)
    }
}
