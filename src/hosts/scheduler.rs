//! The schedulers by name, and running applications under one of them.

use std::fmt;

use thiserror::Error;

use super::global_edf::global_edf;
use super::gpu_evr::{EvrRules, GpuEvr, MAX_SMS};
use super::plain_streams::plain_streams;
use super::timegraph::timegraph;
use crate::applications::ApplicationSet;
use crate::device::Device;
use crate::gpu::{Gpu, GpuOptions, Host, RunError, Simulation};
use crate::trace::Trace;

/// A scheduler of applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheduler {
    /// [GPU-EvR](super::gpu_evr).
    GpuEvr,
    /// [TimeGraph](super::timegraph).
    TimeGraph,
    /// [Global EDF](super::global_edf).
    GlobalEdf,
    /// [Plain CUDA streams](super::plain_streams).
    PlainStreams,
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
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::GpuEvr, Self::TimeGraph, Self::GlobalEdf, Self::PlainStreams];

    /// Name used on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GpuEvr => "gpu-evr",
            Self::TimeGraph => "timegraph",
            Self::GlobalEdf => "global-edf",
            Self::PlainStreams => "plain-streams",
        }
    }

    /// The scheduler of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheduler| scheduler.name() == name)
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
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Runs all injections of `set` to their end and gives the trace. Every operation's origin names the injection as its
/// thread and, for kernels, the kernel's index as its iteration. `rules` are GPU-EvR's; the others have none.
///
/// # Errors
/// [`ScheduleError`] if the scheduler does not work on the device, or the run cannot be represented.
pub fn run_applications(set: &ApplicationSet, scheduler: Scheduler, rules: EvrRules) -> Result<Trace, ScheduleError> {
    scheduler.check(&set.device)?;
    let run = match scheduler {
        Scheduler::GpuEvr => run(set, GpuEvr::new(set, rules)),
        Scheduler::TimeGraph => run(set, timegraph(set)),
        Scheduler::GlobalEdf => run(set, global_edf(set)),
        Scheduler::PlainStreams => run(set, plain_streams(set)),
    };
    Ok(run?)
}

fn run(set: &ApplicationSet, host: impl Host) -> Result<Trace, RunError> {
    let gpu = Gpu::new(&set.device, GpuOptions::default());
    Simulation::new(gpu, host).run().map(|(trace, _, _)| trace)
}
