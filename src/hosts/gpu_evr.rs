//! GPU-EvR: applications share the GPU's SMs by class and by what they need to meet their requirements.
//!
//! Lee and Al Faruque, "GPU-EvR: Run-Time Event Based Real-Time Scheduling Framework on GPGPU Platform", DATE 2014. Two
//! levels decide: the [workload manager](workload_manager) (Algorithm 1), which application comes to the GPU; the [GPU
//! manager](gpu_manager) (Algorithm 2), how many SMs each application there has. Both rely on a [timing model](timing)
//! (Equations 3 to 9). The `mapping` then has the blocks follow: it launches only as many blocks as can start, on SMs
//! that belong to their application, and passes an SM on when the last block on it has completed. So the hardware's
//! queues are always empty when a launch comes.
//!
//! Where the pseudo-code is incomplete, [`EvrRules`] name the decisions and their alternatives; `docs/gpu-evr.md`
//! measures their effect.

pub mod gpu_manager;
mod mapping;
mod rules;
mod running;
mod sm_set;
pub mod timing;
pub mod workload_manager;

use gpu_manager::GpuManager;
use mapping::Mapping;
use workload_manager::WorkloadManager;

pub use mapping::MAX_SMS;
pub use rules::{EvrRules, FullGpu, Keep, Late, Leftover, Remaining, RuleError, UrgentQueue};
pub use running::{Progress, RunningApp};
pub use sm_set::SmSet;

use crate::applications::ApplicationSet;
use crate::gpu::{Gpu, GpuEvent, GpuOptions, Host, Simulation, SubmitError, Trace};
use crate::time::Duration;

use super::scheduler::{ScheduleError, Scheduler};

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
    arrived: Vec<u32>,
    /// Something has happened since it last acted.
    woken: bool,
    log: EvrLog,
}

impl<'a> GpuEvr<'a> {
    /// A framework that will run the injections of `set`.
    #[must_use]
    pub fn new(set: &'a ApplicationSet, rules: EvrRules) -> Self {
        Self {
            set,
            workload_manager: WorkloadManager::new(rules),
            gpu_manager: GpuManager::new(set.device.sms, rules),
            mapping: Mapping::new(set),
            arrived: Vec::new(),
            woken: false,
            log: EvrLog::default(),
        }
    }

    /// Runs all injections and gives the trace with what the framework knew.
    ///
    /// # Errors
    /// As [`run_applications`](super::run_applications).
    pub fn run(set: &'a ApplicationSet, rules: EvrRules) -> Result<(Trace, EvrLog), ScheduleError> {
        Scheduler::GpuEvr.check(&set.device)?;
        let gpu = Gpu::new(&set.device, GpuOptions::default());
        let (trace, _, host) = Simulation::new(gpu, Self::new(set, rules)).run()?;
        Ok((trace, host.log))
    }

    /// Takes in what has arrived.
    fn enqueue_arrivals(&mut self, gpu: &mut Gpu) {
        for number in std::mem::take(&mut self.arrived) {
            let Some(injection) = self.set.injections.get(number as usize) else { continue };
            let Some((application, profile)) = self.set.of(injection) else { continue };
            let app = RunningApp::new(number, application.class, injection.due(), profile);
            self.log.expected.push(self.gpu_manager.expected_response(&app, gpu.now()));
            if let Some(margin) = self.workload_manager.enqueue(app) {
                // Any token that is no injection's: it only has to wake the framework.
                gpu.wake_at(margin, u64::from(u32::MAX) + u64::from(number));
            }
        }
    }
}

impl Host for GpuEvr<'_> {
    fn start(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError> {
        for (token, injection) in (0..).zip(&self.set.injections) {
            gpu.wake_at(injection.arrival, token);
        }
        self.mapping.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &Gpu) {
        if let GpuEvent::Completed(operation) = event {
            self.woken = true;
            self.mapping.completed(operation, gpu, &mut self.gpu_manager);
        }
    }

    fn on_wake(&mut self, token: u64) {
        self.woken = true;
        let number = u32::try_from(token).ok().filter(|&number| (number as usize) < self.set.injections.len());
        self.arrived.extend(number);
    }

    fn act(&mut self, gpu: &mut Gpu) -> Result<(), SubmitError> {
        if !std::mem::take(&mut self.woken) {
            return Ok(());
        }
        self.enqueue_arrivals(gpu);
        // Algorithms 1 and 2 are endless loops side by side; here they take turns until neither has anything to do.
        self.log.promoted.extend(self.workload_manager.check_and_update_app_info(gpu.now()));
        while self.workload_manager.submit_next(gpu.now(), &mut self.gpu_manager) {
            self.log.reallocations += u64::from(self.gpu_manager.reallocate(gpu.now()));
        }
        self.log.reallocations += u64::from(self.gpu_manager.reallocate(gpu.now()));
        self.gpu_manager.lend();
        self.mapping.hand_over(&mut self.gpu_manager);
        self.mapping.launch(gpu, &mut self.gpu_manager)
    }
}

#[cfg(test)]
mod tests;
