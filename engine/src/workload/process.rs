//! Processes that share a GPU, each with a context of its own (rules T1 to T6, MPS).

use std::ops::Deref;
use std::sync::Arc;

use super::StreamId;
use crate::device::Device;
use crate::named::named;
use crate::time::Duration;

/// Turns of one round at most (T6).
pub(super) const MOST_TURNS: u64 = 1 << 20;

numbered! {
    /// A process, with its one CUDA context. Number 0 always exists: without others, everything is of it.
    #[derive(Default)]
    pub struct ProcessId;
}

impl ProcessId {
    /// The one that always exists.
    pub const FIRST: Self = Self(0);
}

named! {
    /// T6: how often a context comes in a round, in the terms of NVIDIA's `nvgpu` driver.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
    pub enum InterleaveLevel: ALL, from_name, Serialize {
        /// Once.
        #[default]
        Low = "low",
        /// Before each context of low level.
        Medium = "medium",
        /// Before each context of medium or low level.
        High = "high",
    }
}

impl InterleaveLevel {
    /// The time slice that `nvgpu` gives a context of this level.
    pub const fn nvgpu_time_slice(self) -> Duration {
        match self {
            Self::Low => Duration::from_ns(1_300_000),
            Self::Medium => Duration::from_ns(2_600_000),
            Self::High => Duration::from_ns(5_200_000),
        }
    }
}

/// `CUDA_MPS_ACTIVE_THREAD_PERCENTAGE`: how much of the GPU a client of MPS may use, above 0 and up to 100 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MpsPercentage(u64);

impl MpsPercentage {
    /// Parts of a percent that are told apart.
    const PARTS: u64 = 1_000_000_000_000;
    /// The whole GPU.
    pub const ALL: Self = Self(100 * Self::PARTS);

    /// So many millionths of a millionth of a percent; `None` for 0 and for more than 100 %.
    pub fn from_parts(parts: u64) -> Option<Self> {
        (1..=Self::ALL.0).contains(&parts).then_some(Self(parts))
    }

    /// In percent, as files have it.
    pub fn percent(self) -> f64 {
        self.0 as f64 / Self::PARTS as f64
    }

    /// How many SMs of a device a client may use at once: rounded down to whole TPCs, at least one of them (measured:
    /// with 50 % 56 of 114 SMs, and 54 of 108).
    pub fn sms(self, device: &Device) -> u32 {
        let sms = u128::from(device.sms) * u128::from(self.0) / u128::from(Self::ALL.0);
        // At most the number of SMs, of 32 bits.
        let sms = u32::try_from(sms).unwrap_or(device.sms);
        if sms == device.sms {
            return sms;
        }
        (sms / device.sms_per_tpc).max(1).saturating_mul(device.sms_per_tpc).min(device.sms)
    }
}

/// A process that is to share the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSpec {
    /// Name in reports.
    pub name: Arc<str>,
    /// T2: how long a turn of its context lasts at most; `None`: as the device states.
    pub time_slice: Option<Duration>,
    /// T6.
    pub level: InterleaveLevel,
    /// How much of the GPU it may use as a client of MPS; nothing without MPS.
    pub mps_percentage: MpsPercentage,
    /// SMs of its static partition, which as a client of MPS it has for itself, and which count in place of the
    /// percentage; `None`: it has none.
    pub sms: Option<u32>,
}

impl ProcessSpec {
    /// One of low level with the device's time slice and, under MPS, the whole GPU.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            time_slice: None,
            level: InterleaveLevel::Low,
            mps_percentage: MpsPercentage::ALL,
            sms: None,
        }
    }

    /// On how many SMs of a device it may have blocks at once as a client of MPS.
    pub fn client_sms(&self, device: &Device) -> u32 {
        self.sms.unwrap_or_else(|| self.mps_percentage.sms(device)).min(device.sms)
    }
}

/// A process whose time slice the device takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedProcess {
    pub(super) spec: ProcessSpec,
    pub(super) null: StreamId,
}

impl CheckedProcess {
    /// Its own NULL stream.
    pub const fn null_stream(&self) -> StreamId {
        self.null
    }
}

impl Deref for CheckedProcess {
    type Target = ProcessSpec;

    fn deref(&self) -> &ProcessSpec {
        &self.spec
    }
}

/// How contexts that take turns do so: what is stated of processes, and otherwise what the device states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnTaking {
    /// T2: how long a turn lasts at most, by process.
    pub time_slices: Vec<Duration>,
    /// T3: what a switch of contexts costs.
    pub switch_cost: Duration,
    /// T5: whether copies run only in the turns of their contexts.
    pub copies_run_in_turn: bool,
}

/// How the contexts of several processes share the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ProcessSharing {
    /// NVIDIA's Multi-Process Service: the streams of all processes are as of one context, without slices.
    pub mps: bool,
    /// T3: what a switch of contexts costs; `None`: as the device states.
    pub switch_cost: Option<Duration>,
}
