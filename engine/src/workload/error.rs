//! Why a device does not take what runs on it, in the words of messages.

use thiserror::Error;

use super::process::MOST_TURNS;
use crate::device::{DemandError, SmMask};
use crate::time::Duration;

/// Why a device does not take a stream, kernel or copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A block that can never run.
    #[error(transparent)]
    Demand(#[from] DemandError),
    /// A kernel without blocks.
    #[error("a kernel needs at least 1 block")]
    EmptyGrid,
    /// A grid that no GPU has.
    #[error("a grid has at most 2147483647 blocks along x")]
    GridTooLong,
    /// A mask under which nothing could ever run.
    #[error("the SM mask {mask} leaves none of the {sms} SMs of this device")]
    MaskLeavesNoSm {
        /// The mask.
        mask: SmMask,
        /// SMs of the device.
        sms: u32,
    },
    /// A stream priority that the device does not have.
    #[error("stream priority {priority} is outside this device's range, {highest} (highest) to 0 (lowest)")]
    Priority {
        /// The priority.
        priority: i32,
        /// The device's highest one.
        highest: i32,
    },
    /// Best block time above worst.
    #[error("the best block time is longer than the worst")]
    BlockTime,
    /// A block time that, varied as the user asks, is longer than time itself.
    #[error("the block time, in the share of it that the user asks for, is longer than 2^64 ns")]
    BlockTimeTooLong,
    /// A copy of which neither size nor duration is stated.
    #[error("a copy needs its size, its duration, or both")]
    CopyOfNoLength,
    /// A copy longer than time itself.
    #[error("the copy takes longer than 2^64 ns")]
    CopyTooLong,
    /// Programmatic dependent launch on a device that has none.
    #[error(
        "programmatic dependent launch (PDL) needs a GPU of compute capability 9.0 or later, which this device is not"
    )]
    NoProgrammaticLaunch,
    /// Programmatic dependent launch in contexts that take turns.
    #[error("programmatic dependent launch (PDL) is not simulated where contexts of several processes take turns")]
    ProgrammaticInTurns,
    /// Blocks that wait for others in a way of which the simulation knows nothing.
    #[error("blocks that signal, wait or are cooperative are not simulated where they {refused}")]
    Synchronization {
        /// What they do besides.
        refused: &'static str,
    },
    /// A cooperative launch that CUDA refuses.
    #[error(
        "a cooperative launch of {blocks} blocks, of which the SMs that it may use hold {most} at once: CUDA refuses it \
         (cudaErrorCooperativeLaunchTooLarge, 720)"
    )]
    CooperativeTooLarge {
        /// Blocks of the grid.
        blocks: u32,
        /// Blocks that are on these SMs at once at most.
        most: u32,
    },
    /// Clusters of which all have to begin together.
    #[error("cooperative launches of clusters are not simulated")]
    CooperativeClusters,
    /// An event that is recorded at two times.
    #[error("the event is recorded at a trigger or at launch completion: one of both")]
    TwoRecords,
    /// More GPUs than have numbers for their SMs.
    #[error("{gpus} of these GPUs have more SMs than are simulated, 4096")]
    ManyGpus {
        /// How many.
        gpus: u32,
    },
    /// An SM mask on one of several GPUs.
    #[error("SM masks and copies are simulated on one GPU only, and these are several (devices)")]
    OnSeveralGpus,
    /// A counter that was not made known.
    #[error("no such counter")]
    NoCounter,
    /// Clusters of blocks on a device that has none.
    #[error("clusters of blocks need a GPU of compute capability 9.0 or later, which this device is not")]
    NoClusters,
    /// Clusters of blocks on a device of which it is not known what a GPC is.
    #[error("clusters of blocks run on one GPC each, and this device does not state its GPCs (gpcs)")]
    NoGpcsForClusters,
    /// A cluster that no GPC can hold.
    #[error("a cluster of {size} blocks: this device has clusters of 1 to {most}, each block on an SM of one GPC")]
    ClusterSize {
        /// Its blocks.
        size: u32,
        /// How many there may be.
        most: u32,
    },
    /// A grid that is no multiple of its clusters.
    #[error("a grid of {blocks} blocks cannot be divided into clusters of {size}")]
    ClustersOfGrid {
        /// Blocks of a cluster.
        size: u32,
        /// Blocks of the grid.
        blocks: u32,
    },
    /// A fallback that does not divide the cluster.
    #[error("clusters of {size} blocks cannot fall back to {fallback}: that must be a divisor of {size} below it")]
    ClusterFallback {
        /// Blocks of a cluster.
        size: u32,
        /// Blocks of one where there is no room for that.
        fallback: u32,
    },
    /// Clusters that can never run.
    #[error("a cluster of {size} blocks can never run: no GPC has {size} SMs that the kernel may use")]
    ClusterMasked {
        /// Blocks of the smallest cluster.
        size: u32,
    },
    /// Clusters of a client of MPS.
    #[error("clusters of blocks are not simulated in a client of MPS with a percentage of the SMs")]
    ClustersOfClient,
    /// A persistent kernel with fewer items than blocks.
    #[error("{blocks} blocks take {items} items in a loop: each needs one at least")]
    FewItems {
        /// Items.
        items: u32,
        /// Blocks of the grid.
        blocks: u32,
    },
    /// Items that take longer than there is time.
    #[error("{items} items one after another take longer than 9223372036854775807 ns")]
    ItemsTooLong {
        /// Items of one block.
        items: u32,
    },
    /// A persistent kernel with more blocks than are told apart.
    #[error("a grid of more than {most} blocks takes items in a loop only if they are a multiple of its blocks")]
    ManyLoops {
        /// Blocks at most.
        most: u32,
    },
    /// Blocks that cancel others on a device that cannot.
    #[error("blocks take over others (try_cancel) from compute capability 10.0 on, and this device is not of it")]
    NoTryCancel,
    /// A green context on a device that has none.
    #[error("green contexts need a GPU of compute capability 6.0 or later, which this device is not")]
    NoGreenContexts,
    /// A green context that was not made known.
    #[error("no such green context")]
    NoGreenContext,
    /// A green context of which nothing could ever start.
    #[error("a green context needs at least one work queue")]
    NoWorkQueue,
    /// More SMs than there are to split.
    #[error("each group gets {asked} SMs after rounding, and there are {units} units of {multiple} SMs to split")]
    SplitTooLarge {
        /// SMs of each group after rounding.
        asked: u32,
        /// Units that there are.
        units: u32,
        /// SMs of each.
        multiple: u32,
    },
    /// A green context without SMs.
    #[error("no SM remains that is in none of the groups")]
    NothingRemains,
    /// Too many TPCs for a mask.
    #[error("a green context has TPCs below number 128 only")]
    TooManyTpcs,
    /// A mask where a green context says which SMs are used.
    #[error("an SM mask cannot be set where a green context says which SMs are used")]
    MaskInGreenContext,
    /// N1 and N2 in a green context.
    #[error("a stream of a green context is non-blocking, as CUDA makes no other ones")]
    BlockingInGreenContext,
    /// Green contexts of several processes.
    #[error("green contexts are simulated for one process only, which is no client of MPS with a part of the SMs")]
    GreenContextsOfProcesses,
    /// A static partition of MPS on a device that has none.
    #[error("static SM partitions of MPS need a GPU of compute capability 8.0 or later, which this device is not")]
    NoSmPartitions,
    /// A static partition of a number of SMs that MPS does not make.
    #[error(
        "a static partition of MPS has a multiple of {chunk} SMs here, of which one partition may have what remains besides, \
         not {sms}"
    )]
    SmPartition {
        /// SMs asked for.
        sms: u32,
        /// SMs of a chunk.
        chunk: u32,
    },
    /// Static partitions of more SMs than there are.
    #[error("the static partitions of MPS have more SMs together than the {sms} of the device")]
    PartitionsTooLarge {
        /// SMs of the device.
        sms: u32,
    },
    /// A client without static partition beside others that have one.
    #[error("where one process has a static partition of MPS (sms), all have one: CUDA lets no other client run")]
    ClientWithoutPartition,
    /// A mask where a static partition says which SMs are used.
    #[error("an SM mask cannot be set in a process that has a static partition of SMs")]
    MaskInPartition,
    /// A turn of no length.
    #[error("a time slice of 0: a context would never run")]
    NoTimeSlice,
    /// A GPU that would switch contexts for longer than it runs one of them.
    #[error("a switch of contexts costs {switch_cost}, more than the time slice of {time_slice}")]
    SwitchCost {
        /// The cost of a switch.
        switch_cost: Duration,
        /// The time slice.
        time_slice: Duration,
    },
    /// A round of turns that is too long to be kept.
    #[error("so many processes of these levels take more than {} turns in a round", MOST_TURNS)]
    Runlist,
    /// A stream of a process that was not made known.
    #[error("no such process")]
    NoProcess,
    /// More streams, events, kernels or copies than 32 bits count.
    #[error("more than 4294967295 streams, events, kernels or copies")]
    TooMany,
}
