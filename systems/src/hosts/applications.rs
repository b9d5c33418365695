//! Running applications under one of the schedulers, which have names.

pub mod gpu_evr;
pub(super) mod usage_sums;
mod whole;

use thiserror::Error;

use crate::applications::{Application, ApplicationSet, ExecutionProfile, Injection, Usage};
use crate::device::Device;
use crate::effort::{self, Counted};
use crate::gpu::{ContextBackend, Gpu, GpuOptions, RunError, Simulated};
use crate::limits::count;
use crate::named::named;
use crate::trace::{Observer, Trace};

use gpu_evr::{EvrLog, EvrRules, GpuEvr, MAX_SMS};
use usage_sums::{MAX_SM_COUNTS, UsageDetail, UsageSums};
pub use whole::Alone;
use whole::{global_edf, plain_streams, timegraph};

named! {
    /// A scheduler of applications.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Scheduler: ALL, from_name, Display {
        /// [GPU-EvR](gpu_evr).
        GpuEvr = "gpu-evr",
        /// TimeGraph: one application at a time on the whole GPU, the highest class first.
        TimeGraph = "timegraph",
        /// Global EDF: one application at a time on the whole GPU, the earliest due first.
        GlobalEdf = "global-edf",
        /// Plain CUDA streams: every application submits everything when it arrives.
        PlainStreams = "plain-streams",
    }
}

/// Why applications cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The simulation failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// GPU-EvR hands out single SMs by SM masks, which switch whole TPCs.
    #[error(
        "gpu-evr maps blocks to single SMs by SM masks, and {device} has {sms_per_tpc} SMs per TPC, which a mask switches together"
    )]
    SharedTpc {
        /// The device.
        device: String,
        /// SMs of one TPC.
        sms_per_tpc: u32,
    },
    /// A mask has so many bits.
    #[error("gpu-evr maps blocks to SMs by SM masks of {MAX_SMS} bits, and {device} has {sms} SMs")]
    TooManySms {
        /// The device.
        device: String,
        /// Its SMs.
        sms: u32,
    },
    /// On how many SMs each application ran over time does not fit.
    #[error(
        "the number of SMs of the applications changes more than {MAX_SM_COUNTS} times, too often to be kept, as JSON and \
         Markdown need it for all of them; take a table or CSV"
    )]
    TooManySmCounts,
    /// The run would be refused in its course.
    #[error("{scheduler} submits at least {least} operations for these applications; a run has {most} at most")]
    TooManyOperations {
        /// Under which scheduler.
        scheduler: Scheduler,
        /// Operations that it submits at least.
        least: u64,
        /// Operations that a run may have.
        most: u32,
    },
}

impl Scheduler {
    /// Runs all injections of `set` to their end and gives the trace. Every operation's origin names the injection as
    /// its thread and, for kernels, the kernel's index as its iteration. `rules` are GPU-EvR's; the others have none.
    ///
    /// # Errors
    /// [`ScheduleError`] if the scheduler does not work on the device, or the run cannot be represented.
    pub fn run(self, set: &ApplicationSet, rules: EvrRules) -> Result<Trace, ScheduleError> {
        let gpu = run_observed((set, self, rules), Gpu::new(&set.device, GpuOptions::default()), false)?;
        Ok(gpu.into_trace())
    }

    /// As [`Scheduler::run`] under GPU-EvR, with what the framework knew.
    ///
    /// # Errors
    /// As [`Scheduler::run`].
    pub fn run_gpu_evr(set: &ApplicationSet, rules: EvrRules) -> Result<(Trace, EvrLog), ScheduleError> {
        Self::GpuEvr.check(&set.device)?;
        Self::GpuEvr.check_work(set)?;
        let host = GpuEvr::new(set, rules);
        let Simulated { trace, host, .. } = Simulated::of(&set.device, GpuOptions::default(), host)?;
        Ok((trace, host.into_log()))
    }

    /// Runs all injections of `set` to their end and gives what [`Outcome::of_usage`](crate::applications::Outcome)
    /// needs. No trace is kept: memory grows by a few bytes for each application and for each launch that waits or
    /// runs, and with the changes of SMs over time if `detail` asks for them.
    ///
    /// # Errors
    /// As [`Scheduler::run`].
    pub fn usage(self, set: &ApplicationSet, rules: EvrRules, detail: UsageDetail) -> Result<Usage, ScheduleError> {
        match detail {
            UsageDetail::Totals => self.totals(set, rules, &mut Alone::default()),
            UsageDetail::SmsOverTime(_) => self.usage_of_run((set, rules), detail, false),
        }
    }

    /// As [`Scheduler::usage`] without numbers over time. What applications take alone is kept for other injections of
    /// the same ones.
    ///
    /// # Errors
    /// As [`Scheduler::run`].
    pub fn totals(self, set: &ApplicationSet, rules: EvrRules, alone: &mut Alone) -> Result<Usage, ScheduleError> {
        self.check(&set.device)?;
        self.check_work(set)?;
        // What is limited is counted operation by operation.
        let is_counted = [Counted::Operations, Counted::Blocks].into_iter().any(|what| effort::left(what).is_some());
        let known = if is_counted { None } else { alone.usage(self, set) };
        match known {
            Some(usage) => Ok(usage),
            None => self.usage_of_run((set, rules), UsageDetail::Totals, !is_counted),
        }
    }

    fn usage_of_run(
        self,
        (set, rules): (&ApplicationSet, EvrRules),
        detail: UsageDetail,
        joins_rounds: bool,
    ) -> Result<Usage, ScheduleError> {
        let sums = UsageSums::new(set.device.sms, set.injections.len(), detail);
        let gpu = Gpu::observed_by(sums, &set.device, GpuOptions::default());
        match run_observed((set, self, rules), gpu, joins_rounds) {
            Ok(gpu) => Ok(gpu.into_back_and_observer().1.into_usage()),
            // There is no trace: what is full are the sums.
            Err(ScheduleError::Run(RunError::TraceFull(_))) => Err(ScheduleError::TooManySmCounts),
            Err(error) => Err(error),
        }
    }

    /// Whether this scheduler works on `device`.
    ///
    /// # Errors
    /// [`ScheduleError`] saying why not.
    pub fn check(self, device: &Device) -> Result<(), ScheduleError> {
        if self != Self::GpuEvr {
            return Ok(());
        }
        if device.sms_per_tpc > 1 {
            return Err(ScheduleError::SharedTpc { device: device.name.clone(), sms_per_tpc: device.sms_per_tpc });
        }
        if device.sms > MAX_SMS {
            return Err(ScheduleError::TooManySms { device: device.name.clone(), sms: device.sms });
        }
        Ok(())
    }

    /// Whether a run of what `set` injects can have as many operations as this scheduler submits: known before it
    /// begins, though only from below where the scheduler divides launches as it goes.
    ///
    /// # Errors
    /// [`ScheduleError::TooManyOperations`] if not.
    pub fn check_work(self, set: &ApplicationSet) -> Result<(), ScheduleError> {
        let most = GpuOptions::default().max_operations;
        let of_each: Vec<u64> =
            set.applications.iter().zip(&set.profiles).map(|(own, profile)| self.operations(own, profile)).collect();
        let of = |injection: &Injection| of_each.get(injection.application as usize).copied().unwrap_or(0);
        let least = set.injections.iter().map(of).fold(0, u64::saturating_add);
        if least > most.into() {
            return Err(ScheduleError::TooManyOperations { scheduler: self, least, most });
        }
        // What the limits of this work do not allow is not begun.
        if effort::left(Counted::Operations).is_some_and(|left| least > left) {
            count(Counted::Operations, least);
        }
        Ok(())
    }

    /// Operations that it submits at least for an application: its copies and its launches, each of which GPU-EvR
    /// divides into as many as fill all SMs or fewer of them.
    fn operations(self, application: &Application, profile: &ExecutionProfile) -> u64 {
        let of_kernel = |k: usize| {
            let at_once = profile.blocks_per_sm(k).saturating_mul(profile.sms()).max(1);
            let divided = if self == Self::GpuEvr { profile.blocks(k).div_ceil(at_once) } else { 1 };
            u64::from(profile.launches(k)) * u64::from(divided)
        };
        let copies = [application.copy_in_bytes, application.copy_out_bytes].into_iter().filter(|&bytes| bytes > 0);
        (0..profile.kernels()).map(of_kernel).fold(copies.count() as u64, u64::saturating_add)
    }
}

fn run_observed<O: Observer>(
    (set, scheduler, rules): (&ApplicationSet, Scheduler, EvrRules),
    mut gpu: Gpu<ContextBackend, O>,
    joins_rounds: bool,
) -> Result<Gpu<ContextBackend, O>, ScheduleError> {
    scheduler.check(&set.device)?;
    scheduler.check_work(set)?;
    match scheduler {
        Scheduler::GpuEvr if joins_rounds => gpu.run(&mut GpuEvr::new(set, rules).join_rounds())?,
        Scheduler::GpuEvr => gpu.run(&mut GpuEvr::new(set, rules))?,
        Scheduler::TimeGraph => gpu.run(&mut timegraph(set))?,
        Scheduler::GlobalEdf => gpu.run(&mut global_edf(set))?,
        Scheduler::PlainStreams => gpu.run(&mut plain_streams(set))?,
    };
    Ok(gpu)
}
