//! GPU-EvR: applications share the GPU's SMs by class and by what they need to meet their requirements.
//!
//! Lee and Al Faruque, "GPU-EvR: Run-Time Event Based Real-Time Scheduling Framework on GPGPU Platform", DATE 2014. Two
//! `managers` decide: the workload manager (Algorithm 1), which application comes to the GPU; the GPU manager
//! (Algorithm 2), how many SMs each application there has. Both rely on a [timing model](timing) (Equations 4 to 9).
//! The `mapping` then has the blocks follow: it launches only as many blocks as can start, on SMs that belong to their
//! application, and passes an SM on when the last block on it has completed. So the hardware's queues are always empty
//! when a launch comes.
//!
//! Where the pseudo-code is incomplete, [`EvrRules`] name the decisions and their alternatives; `docs/gpu-evr.md`
//! measures their effect.

mod managers;
mod mapping;
mod rules;
pub mod timing;

use std::cmp::Reverse;

use crate::applications::{ApplicationSet, ExecutionProfile};
use crate::gpu::{GpuEvent, GpuInterface, Host, RunError};
use crate::proven::OrMost;
use crate::time::{Duration, Instant};

use managers::{GpuManager, WorkloadManager};
use mapping::Mapping;

#[doc(hidden)]
pub use mapping::MAX_SMS;
pub use rules::{EvrRules, FullGpu, Keep, Late, Leftover, Remaining, RuleError, UrgentQueue};
pub(crate) use timing::RunningApp;
pub use timing::Stage;

/// Launches for which room is made beforehand, at most: some 200 MB.
const MAX_EXPECTED: usize = 1_000_000;

/// Launches if no application ever had more than one SM.
fn most_launches(set: &ApplicationSet) -> usize {
    let of = |profile: &ExecutionProfile| {
        let rounds = |k| u64::from(profile.blocks(k).div_ceil(profile.blocks_per_sm(k).max(1)));
        (0..profile.kernels()).map(|k| rounds(k) * u64::from(profile.launches(k))).fold(0, u64::saturating_add)
    };
    let profiles = set.injections.iter().filter_map(|injection| set.of(injection));
    usize::try_from(profiles.map(|(_, profile)| of(profile)).fold(0, u64::saturating_add)).or_most()
}

/// What the framework knew and did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvrLog {
    /// For each injection, the response time expected at its arrival (Equation 4 or 5).
    pub expected: Vec<Duration>,
    /// Injections that were promoted to the urgent queue, in that order.
    pub promoted: Vec<u32>,
    /// How often the GPU manager dealt out SMs anew.
    pub reallocations: u64,
}

/// The framework in front of the GPU.
#[derive(Debug)]
pub struct GpuEvr<'a> {
    set: &'a ApplicationSet,
    workload_manager: WorkloadManager<'a>,
    gpu_manager: GpuManager<'a>,
    mapping: Mapping<'a>,
    /// Injections that have not arrived yet, by arrival, the next one last.
    to_come: Vec<u32>,
    /// When it will be woken.
    wake: Option<Instant>,
    /// Something has happened since it last acted.
    woken: bool,
    log: EvrLog,
}

impl<'a> GpuEvr<'a> {
    /// A framework that will run the injections of `set`.
    pub fn new(set: &'a ApplicationSet, rules: EvrRules) -> Self {
        let mut to_come: Vec<u32> = (0..).zip(&set.injections).map(|(number, _)| number).collect();
        to_come.sort_by_key(|&number| Reverse((set.injections[number as usize].arrival, number)));
        Self {
            set,
            workload_manager: WorkloadManager::new(rules),
            gpu_manager: GpuManager::new(set.device.sms, rules),
            mapping: Mapping::new(set),
            to_come,
            wake: None,
            woken: false,
            log: EvrLog::default(),
        }
    }

    /// Launches rounds of blocks as one between which nothing is decided, if the device takes the same time for that:
    /// operations are fewer and longer, and sums over a run are the same.
    pub(super) fn join_rounds(mut self) -> Self {
        let device = &self.set.device;
        let gaps = [device.launch_latency, device.kernel_gap, device.block_gap];
        self.mapping.joins_rounds = gaps.iter().all(|&gap| gap == Duration::ZERO);
        self
    }

    /// What it knew and did.
    pub fn into_log(self) -> EvrLog {
        self.log
    }

    /// When the next injection arrives.
    fn next_arrival(&self) -> Option<Instant> {
        self.to_come.last().and_then(|&number| self.set.injections.get(number as usize)).map(|next| next.arrival)
    }

    /// Takes in what has arrived.
    fn enqueue_arrivals(&mut self, now: Instant) {
        while self.next_arrival().is_some_and(|arrival| arrival <= now)
            && let Some(number) = self.to_come.pop()
        {
            let Some(injection) = self.set.injections.get(number as usize) else { continue };
            let Some((application, profile)) = self.set.of(injection) else { continue };
            let app = RunningApp::new(number, application.class, injection.due(), profile);
            self.log.expected.push(self.gpu_manager.expected_response(&app, now));
            self.workload_manager.enqueue(app);
        }
    }

    /// Asks to be woken when the next application arrives or becomes urgent, and says when that is. One wake-up that
    /// moves, instead of one for each of them, keeps the GPU's calendar short.
    fn wake_for_the_next(&mut self, gpu: &mut impl GpuInterface) -> Instant {
        let next = self.next_arrival().into_iter().chain(self.workload_manager.next_promotion()).min();
        if let Some(at) = next.filter(|_| next != self.wake) {
            gpu.wake_at(at, 0);
            self.wake = next;
        }
        next.unwrap_or(Instant::MAX)
    }
}

impl Host for GpuEvr<'_> {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        gpu.reserve(most_launches(self.set).min(MAX_EXPECTED));
        self.wake_for_the_next(gpu);
        Ok(self.mapping.start(gpu)?)
    }

    fn on_event(&mut self, event: GpuEvent, _gpu: &impl GpuInterface) {
        if let GpuEvent::Completed(operation) = event {
            self.woken = true;
            self.mapping.completed(operation, &mut self.gpu_manager);
        }
    }

    fn on_wake(&mut self, _token: u64) {
        self.woken = true;
        self.wake = None;
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        if !std::mem::take(&mut self.woken) {
            return Ok(());
        }
        self.enqueue_arrivals(gpu.now());
        // Algorithms 1 and 2 are endless loops side by side; here they take turns until neither has anything to do.
        self.log.promoted.extend(self.workload_manager.check_and_update_app_info(gpu.now()));
        while self.workload_manager.submit_next(gpu.now(), &mut self.gpu_manager) {
            self.log.reallocations += u64::from(self.gpu_manager.reallocate(gpu.now()));
        }
        self.log.reallocations += u64::from(self.gpu_manager.reallocate(gpu.now()));
        let until = self.wake_for_the_next(gpu);
        self.gpu_manager.lend();
        self.mapping.hand_over(&mut self.gpu_manager);
        Ok(self.mapping.launch(gpu, &mut self.gpu_manager, until)?)
    }
}

#[cfg(test)]
mod tests;
