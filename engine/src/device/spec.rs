//! The numbers that make up a GPU, its placement policy, and how contexts share it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::named::named;
use crate::time::{Duration, NS_PER_SECOND};

/// What is stated about a GPU, as far as block scheduling depends on it; a [`Device`](super::Device) once it is
/// checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeviceSpec {
    /// Short name, as in `--device NAME`.
    pub name: String,
    /// Full name of board and chip.
    pub title: String,
    /// NVIDIA's compute capability, for information.
    pub compute_capability: String,
    /// Number of SMs.
    pub sms: u32,
    /// SMs per TPC; an SM mask switches whole TPCs.
    pub sms_per_tpc: u32,
    /// Threads per warp.
    pub warp_size: u32,
    /// What one SM holds at once.
    pub per_sm: PerSmLimits,
    /// What one block may ask for.
    pub per_block: PerBlockLimits,
    /// How registers are handed out.
    pub register_allocation: RegisterAllocation,
    /// How shared memory is handed out.
    pub shared_memory_allocation: SharedMemoryAllocation,
    /// Number of stream priorities: 0 is the lowest and the default, `-(priority_levels - 1)` the highest.
    pub priority_levels: u32,
    /// How ties between equally roomy SMs are broken.
    pub sm_order: SmOrder,
    /// Its GPCs, where they are known or assumed.
    pub gpcs: Option<Gpcs>,
    /// Which SM gets the next block where nobody says otherwise.
    pub placement: Placement,
    /// Copy engines and their speed.
    pub copy: CopyEngines,
    /// Hardware channels that streams share (Bakita and Anderson, RTAS 2024); `None`: as many as there are streams.
    pub channels: Option<u32>,
    /// How streams share them.
    pub channel_order: ChannelOrder,
    /// L1: no kernel or copy goes on earlier than this after its launch.
    pub launch_latency: Duration,
    /// L2: no kernel goes on earlier than this after the kernel before it in its stream has completed.
    pub kernel_gap: Duration,
    /// No block takes the place of another earlier than this after that has ended.
    pub block_gap: Duration,
    /// PDL: from the last trigger of a kernel until the one behind it in its stream may begin.
    pub pdl_trigger_latency: Duration,
    /// PDL: from the end of a kernel until blocks of the one behind it return from their wait.
    pub pdl_wait_latency: Duration,
    /// Whether a synchronous memset holds its caller (H3).
    pub synchronous_memset: SynchronousMemset,
    /// How contexts of several processes share it.
    pub time_slicing: TimeSlicing,
    /// The clock that its SMs reach \[MHz\], where it is published.
    pub boost_clock_mhz: Option<u32>,
    /// How fast its memory is read or written \[bytes/s\], where it is published.
    pub memory_bytes_per_s: Option<u64>,
    /// Duration of one loop iteration of the examiner's `counter_spin` \[10^-9 ns\].
    pub spin_iteration_atto: u64,
    /// Where the numbers come from, by key of the device file.
    pub sources: BTreeMap<String, String>,
    /// Which numbers nobody published, by key of the device file, and why they are what they are.
    pub assumptions: BTreeMap<String, String>,
    /// The GPU of which these are several, each with SMs, queues and channels of its own; `None`: it is one.
    #[serde(skip)]
    pub each: Option<Arc<DeviceSpec>>,
}

/// What one SM holds at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PerSmLimits {
    /// Resident threads.
    pub threads: u32,
    /// Resident warps.
    pub warps: u32,
    /// Resident blocks (block slots).
    pub blocks: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Shared memory \[bytes\].
    pub shared_memory_bytes: u32,
}

/// What one block may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PerBlockLimits {
    /// Threads.
    pub threads: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Shared memory \[bytes\].
    pub shared_memory_bytes: u32,
}

/// How registers are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RegisterAllocation {
    /// A warp gets a multiple of this many registers.
    pub unit_per_warp: u32,
    /// Equal parts of the register file; all registers of a warp come out of one part.
    pub sub_partitions: u32,
    /// The per-block limit counts warps rounded up to a multiple of this.
    pub warps_rounded_to: u32,
    /// How warps that take unlike numbers of registers are taken to be spread over the parts.
    #[serde(skip_serializing_if = "is_default")]
    pub dealing: RegisterDealing,
}

/// Whether a device file need not state it.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

named! {
    /// How warps that take unlike numbers of registers are spread over the sub-partitions of an SM. Nobody published
    /// that; of warps that all take the same it makes no difference.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum RegisterDealing: ALL, from_name, Serialize {
        /// So that a block begins wherever counting does not rule it out.
        #[default]
        Best = "best",
        /// So that a block begins only where it has room however the warps beside it were dealt.
        Worst = "worst",
    }
}

/// How shared memory is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SharedMemoryAllocation {
    /// A block gets a multiple of this \[bytes\].
    pub unit_bytes: u32,
    /// Taken by the system for every resident block \[bytes\].
    pub reserved_per_block_bytes: u32,
}

/// In which order equally roomy SMs are preferred (spec: measured, see `docs/model.md`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmOrder {
    /// 0, 1, 2, … (Pascal).
    Ascending,
    /// …, 2, 1, 0 (measured on a Quadro K5000).
    Descending,
    /// 0, 2, 4, …, 1, 3, 5, … (Volta, Turing).
    EvenThenOdd,
    /// Every SM id once, in this order.
    Explicit(Vec<u32>),
}

impl SmOrder {
    /// All SM ids, most preferred first.
    pub fn ids(&self, sms: u32) -> Vec<u32> {
        match self {
            Self::Ascending => (0..sms).collect(),
            Self::Descending => (0..sms).rev().collect(),
            Self::EvenThenOdd => (0..sms).step_by(2).chain((1..sms).step_by(2)).collect(),
            Self::Explicit(ids) => ids.clone(),
        }
    }

    /// Whether it is an order of `sms` SMs.
    pub(super) fn names_every_sm_once(&self, sms: u32) -> bool {
        let Self::Explicit(ids) = self else { return true };
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..sms)
    }
}

named! {
    /// How streams share hardware channels: each has one for good, or takes a free one, and which of those that wait
    /// gets it then. On real GPUs that is not always the first (Bakita and Anderson, RTAS 2024, corollary 2). How
    /// streams are dealt to channels, nobody published.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum ChannelOrder: ALL, from_name, Serialize {
        /// Each stream has one channel for good, in turn as streams are created. What is submitted to streams of one
        /// channel goes on in the order of submission.
        #[default]
        Submission = "submission",
        /// The one that waits longest.
        Fifo = "fifo",
        /// The one that waits shortest.
        Lifo = "lifo",
        /// Any of them, with equal probability, seeded.
        Random = "random",
    }
}

named! {
    /// Which way a copy goes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum CopyDirection: ALL, from_name, Serialize {
        /// From CPU memory to GPU memory.
        HostToDevice = "host-to-device",
        /// From GPU memory to CPU memory.
        DeviceToHost = "device-to-host",
        /// Within GPU memory.
        DeviceToDevice = "device-to-device",
    }
}

named! {
    /// How a copy engine serves the copies of several streams.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum CopySharing: ALL, from_name, Serialize {
        /// One copy at a time, first in, first out (C2).
        #[default]
        OneAtATime = "one-at-a-time",
        /// Every copy begins as soon as it enters the CE queue. Those that run at once, however many, have equal shares
        /// of the engine: its link is so shared as it was measured on a GTX 950. A copy's time is that which it takes
        /// alone.
        SharedLink = "shared-link",
    }
}

named! {
    /// What a synchronous memset does to the host thread that calls it (H3). NVIDIA's description has it return at
    /// once; on a TX2 its caller was seen to wait for the GPU (Yang et al., ECRTS 2018, table 3).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum SynchronousMemset: ALL, from_name, Serialize {
        /// The call returns at once.
        #[default]
        Returns = "returns",
        /// The call returns when the memset has completed.
        CallerWaits = "caller-waits",
    }
}

/// Copy engines and their speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CopyEngines {
    /// Number of engines, each with a CE queue of its own.
    pub engines: u32,
    /// How each of them serves copies of several streams.
    pub sharing: CopySharing,
    /// Added to every copy.
    pub latency: Duration,
    /// \[bytes/s\]
    pub host_to_device_bytes_per_s: u64,
    /// \[bytes/s\]
    pub device_to_host_bytes_per_s: u64,
    /// \[bytes/s\]
    pub device_to_device_bytes_per_s: u64,
    /// The engine of copies within the device: 0, which host to device uses, unless the device has one to spare.
    pub device_to_device_engine: u32,
}

impl CopyEngines {
    /// How long a copy of `bytes` takes if it has its engine to itself: `latency + ceil(bytes * 10^9 / bandwidth)` ns.
    ///
    /// `None` if that is past the end of representable time.
    pub fn duration(&self, direction: CopyDirection, bytes: u64) -> Option<Duration> {
        let bandwidth = match direction {
            CopyDirection::HostToDevice => self.host_to_device_bytes_per_s,
            CopyDirection::DeviceToHost => self.device_to_host_bytes_per_s,
            CopyDirection::DeviceToDevice => self.device_to_device_bytes_per_s,
        };
        let transfer = (u128::from(bytes) * u128::from(NS_PER_SECOND)).div_ceil(u128::from(bandwidth.max(1)));
        Duration::from_ns(u64::try_from(transfer).ok()?).checked_add(self.latency)
    }

    /// The engine that serves `direction`: number 0, with several engines number 1 for device to host, and for device
    /// to device the one that is stated.
    pub const fn engine_for(&self, direction: CopyDirection) -> u32 {
        match direction {
            CopyDirection::DeviceToHost if self.engines > 1 => 1,
            CopyDirection::DeviceToDevice => self.device_to_device_engine,
            _ => 0,
        }
    }
}

// Graphics processing clusters: which TPCs make one.

named! {
    /// How the numbers of SMs run over the GPCs of a GPU.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum SmNumbering: ALL, from_name, Serialize {
        /// The first TPC of each GPC in order, then the second of each that has one, and so on. What logs of single
        /// blocks of a B200 show (repository memory-of-star/gpu_sheduler_survey, 2026).
        #[default]
        Striped = "striped",
        /// GPC by GPC.
        Consecutive = "consecutive",
    }
}

/// The GPCs of a GPU, and its lone TPCs: those that belong to no full GPC. These have the highest numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gpcs {
    /// TPCs of each GPC.
    pub tpcs: Vec<u32>,
    /// TPCs of no full GPC.
    pub lone_tpcs: u32,
    /// How their SMs are numbered.
    pub numbering: SmNumbering,
}

impl Gpcs {
    /// All of its TPCs; saturating.
    pub(super) fn all_tpcs(&self) -> u32 {
        self.tpcs.iter().fold(self.lone_tpcs, |all, tpcs| all.saturating_add(*tpcs))
    }

    /// TPC numbers of each GPC.
    pub(super) fn numbered(&self) -> Vec<Vec<u32>> {
        let mut numbers = 0..self.all_tpcs();
        let mut gpcs = vec![Vec::new(); self.tpcs.len()];
        match self.numbering {
            SmNumbering::Consecutive => {
                for (gpc, &tpcs) in gpcs.iter_mut().zip(&self.tpcs) {
                    gpc.extend(numbers.by_ref().take(tpcs as usize));
                }
            }
            SmNumbering::Striped => {
                for place in 0..self.tpcs.iter().copied().max().unwrap_or(0) {
                    let with_one = gpcs.iter_mut().zip(&self.tpcs).filter(|(_, tpcs)| place < **tpcs);
                    with_one.zip(numbers.by_ref()).for_each(|((gpc, _), number)| gpc.push(number));
                }
            }
        }
        gpcs
    }
}

named! {
    /// A policy for choosing among the SMs on which a block fits. The published rules do not say which one it gets.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Placement: ALL, from_name, Serialize {
        /// The SM that could hold the most further blocks of this kernel right now, re-evaluated for every block; ties
        /// by the device's SM order. What measurements show: Gilman, Ogden, Guo and Walls, "Demystifying the Placement
        /// Policies of the NVIDIA GPU Thread Block Scheduler for Concurrent Kernels", 2021.
        #[default]
        MostRoom = "most-room",
        /// The next SM after the last one used, by number; the pointer is shared by all kernels and starts at SM 0.
        RoundRobin = "round-robin",
        /// The lowest-numbered SM.
        LowestId = "lowest-id",
        /// Any, with equal probability (`ChaCha8`, seeded).
        Random = "random",
        /// By levels of one block on each SM with room, GPC by GPC, lone TPCs first. How many each SM gets is dealt
        /// before: lone TPCs, then SMs by number. What logs of single blocks of a B200 show of kernels on an idle or
        /// evenly loaded GPU (repository memory-of-star/gpu_sheduler_survey, 2026). Assumed: the blocks that follow as
        /// others end are dealt in the same way, from the beginning.
        Gpc = "gpc",
        /// As `gpc` for the blocks with which a kernel begins; those that follow as others end go where most room is,
        /// ties in the order of `gpc`: the other assumption.
        GpcMostRoom = "gpc-most-room",
    }
}

impl Placement {
    /// Whether it goes by the GPCs of a device.
    pub const fn goes_by_gpcs(self) -> bool {
        matches!(self, Self::Gpc | Self::GpcMostRoom)
    }

    /// Whether it deals by levels the blocks of a kernel that are assigned from block `first_block` on.
    #[doc(hidden)]
    pub const fn deals(self, first_block: u32) -> bool {
        match self {
            Self::Gpc => true,
            Self::GpcMostRoom => first_block == 0,
            _ => false,
        }
    }
}

// How the contexts of several processes share a GPU: time slices, switches, runlists (rules T2 to T5).

/// What a device states about contexts that share it (rules T2 to T5, `docs/model.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimeSlicing {
    /// T2: a turn of a context lasts at most so long, unless its process states its own.
    pub time_slice: Duration,
    /// T3: from the end of one context's turn to the beginning of another's; no block runs meanwhile.
    pub switch_cost: Duration,
    /// T5: copies of several contexts on one copy engine take turns of this length.
    pub copy_time_slice: Duration,
    /// T5: whether copy engines go on during another context's turn.
    pub runlists: Runlists,
    /// T4: what becomes of blocks that run when a turn is over.
    pub preemption: Preemption,
}

impl TimeSlicing {
    /// What a device file has that says nothing of it: nominal slices of 2 ms, switches that cost nothing, copies that
    /// trade every millisecond, runlists of their own for copy engines, and preemption in mid-block.
    pub const NOMINAL: Self = Self {
        time_slice: Duration::from_ns(2_000_000),
        switch_cost: Duration::ZERO,
        copy_time_slice: Duration::from_ns(1_000_000),
        runlists: Runlists::Separate,
        preemption: Preemption::MidBlock,
    };
}

impl Default for TimeSlicing {
    fn default() -> Self {
        Self::NOMINAL
    }
}

named! {
    /// Whether copy engines are scheduled together with the compute engine (Bakita and Anderson, RTAS 2024).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Runlists: ALL, from_name, Serialize {
        /// Copy engines have runlists of their own: copies of a context go on during another's turn.
        #[default]
        Separate = "separate",
        /// One runlist for all engines: copies of a context progress in its turn only.
        Shared = "shared",
    }
}

named! {
    /// What becomes of blocks that run when their context's turn is over.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Preemption: ALL, from_name, Serialize {
        /// They stop where they are and go on in the context's next turn, on the same SMs (Pascal and later).
        #[default]
        MidBlock = "mid-block",
        /// They run to their ends, and only then is the turn over (Maxwell and Kepler).
        BlockEnd = "block-end",
    }
}
