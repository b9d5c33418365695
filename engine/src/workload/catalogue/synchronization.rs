//! Counters of a catalogue, and kernels whose blocks signal, wait, or begin together.

use std::sync::Arc;

use super::{Catalogue, CheckedKernel, WorkloadError, next};
use crate::workload::{
    BlockClock, CounterId, CounterValue, EventId, KernelId, PointAction, Programmatic, StreamId, Synchronization,
    ValueId, WorkItems,
};

impl Catalogue {
    /// Names of the counters, by [`CounterId`].
    pub fn counters(&self) -> &[Arc<str>] {
        &self.counters
    }

    /// Values of counters that streams and hosts wait for or write, by [`ValueId`].
    pub fn values(&self) -> &[CounterValue] {
        &self.values
    }

    /// Adds a counter.
    ///
    /// # Errors
    /// [`WorkloadError::TooMany`].
    pub fn add_counter(&mut self, name: Arc<str>) -> Result<CounterId, WorkloadError> {
        let id = CounterId(next(self.counters.len())?);
        self.counters.push(name);
        Ok(id)
    }

    /// Adds a value of a counter.
    ///
    /// # Errors
    /// [`WorkloadError::NoCounter`] and [`WorkloadError::TooMany`].
    pub fn add_value(&mut self, value: CounterValue) -> Result<ValueId, WorkloadError> {
        if value.counter.index() >= self.counters.len() {
            return Err(WorkloadError::NoCounter);
        }
        let id = ValueId(next(self.values.len())?);
        self.values.push(value);
        Ok(id)
    }

    /// Has an event recorded once all blocks of the kernel right before the record have begun
    /// (`cudaLaunchAttributeLaunchCompletionEvent`, which is best effort).
    ///
    /// # Errors
    /// [`WorkloadError::TwoRecords`] if it is recorded at a trigger.
    pub fn set_launch_completion_event(&mut self, event: EventId) -> Result<(), WorkloadError> {
        if self.is_programmatic_event(event) {
            return Err(WorkloadError::TwoRecords);
        }
        self.launch_completion_events.insert(event);
        Ok(())
    }

    /// Whether an event is recorded once all blocks of the kernel before the record have begun.
    pub fn is_launch_completion_event(&self, event: EventId) -> bool {
        self.launch_completion_events.contains(&event)
    }

    /// Says how blocks of a kernel depend on others while they run. An unknown kernel is passed over.
    ///
    /// # Errors
    /// [`WorkloadError::NoCounter`], and [`WorkloadError::Synchronization`] if blocks of this kernel cannot be
    /// simulated with it.
    pub fn set_synchronization(
        &mut self,
        kernel: KernelId,
        synchronization: Synchronization,
    ) -> Result<(), WorkloadError> {
        let is_known = |counter: CounterId| counter.index() < self.counters.len();
        let all_known = synchronization.points.iter().all(|point| match point.action {
            PointAction::Signal(counter) => is_known(counter),
            PointAction::Wait(value) => is_known(value.counter),
            PointAction::GridSync => true,
        });
        if !all_known {
            return Err(WorkloadError::NoCounter);
        }
        let Some(known) = self.kernels.get(kernel.index()) else { return Ok(()) };
        check(known, &synchronization)?;
        let stated = (!synchronization.is_none()).then(|| Arc::new(synchronization));
        if known.synchronization() == stated.as_deref() {
            return Ok(());
        }
        self.synchronizes |= stated.is_some();
        if let Some(checked) = Arc::make_mut(&mut self.kernels).get_mut(kernel.index()) {
            checked.grid_mut().synchronization = stated;
        }
        Ok(())
    }

    /// Whether a kernel is cooperative, or blocks of one signal or wait, or streams or hosts do so on counters: then
    /// how long something takes is not known from its own time.
    pub fn synchronizes(&self) -> bool {
        let says = |kernel: &CheckedKernel| kernel.synchronization().is_some();
        !self.values.is_empty() || self.synchronizes && self.kernels.iter().any(says)
    }

    /// How many blocks of a kernel in a stream are on the GPU at once at most.
    pub fn most_resident(&self, kernel: KernelId, stream: StreamId) -> u32 {
        let Some(known) = self.kernels.get(kernel.index()) else { return 0 };
        let process = self.streams.get(stream.index()).map(|stream| stream.process);
        let share = process.map_or(self.device.sms, |process| self.sms_at_once(process));
        // A device has at most 4,096 SMs.
        let sms = u32::try_from(self.sms(kernel, stream).count()).unwrap_or(share).min(share);
        sms.saturating_mul(known.demand().blocks_per_sm(&self.device))
    }

    /// Whether CUDA takes the launch of a kernel in a stream, if it is cooperative.
    pub(super) fn check_cooperative(&self, kernel: KernelId, stream: StreamId) -> Result<(), WorkloadError> {
        let known = self.kernels.get(kernel.index()).filter(|_| self.synchronizes);
        let Some(known) = known.filter(|known| known.is_cooperative()) else {
            return Ok(());
        };
        let (blocks, most) = (known.blocks, self.most_resident(kernel, stream));
        if blocks > most { Err(WorkloadError::CooperativeTooLarge { blocks, most }) } else { Ok(()) }
    }
}

/// Refuses what is not simulated with what else is known of a kernel.
fn check(kernel: &CheckedKernel, stated: &Synchronization) -> Result<(), WorkloadError> {
    let refused = if kernel.clock == BlockClock::Wall {
        "watch a timer (clock \"wall\")"
    } else if kernel.programmatic() != Programmatic::NONE {
        "take part in programmatic dependent launch"
    } else if stated.is_cooperative && kernel.clusters().is_some() {
        // Which groups of SMs clusters get depends on those that came before.
        return Err(WorkloadError::CooperativeClusters);
    } else if !stated.points.is_sorted_by_key(|point| point.at) {
        "come to points that are not in order of time"
    } else if kernel.work_items() == Some(WorkItems::TryCancel) {
        "take others over (try_cancel)"
    } else {
        return Ok(());
    };
    if stated.is_none() { Ok(()) } else { Err(WorkloadError::Synchronization { refused }) }
}
