//! The options, one by one.

use super::OptionGroup::{Models, Profiles, Run, WhatIf};
use super::OptionKind::{
    DeadlineOf, File, Flag, Frequency, Lists, MaskOf, Name, NameOf, Names, Number, OneOf, Percents, PriorityOf, SizeOf,
    Time, TimeAboveZero, TimeAboveZeroOf, TimeOf, TimeOrShareOf,
};
use super::ScenarioOption;
use crate::amalthea::TickBound;
use crate::device::{ChannelOrder, RegisterDealing};
use crate::profile::{Collectives, Launches, Rescale};
use crate::workload::Placement;

/// Declares [`OPTIONS`]: in each group a key, what stands for its values in help and one of them as the command takes
/// it, where a value goes, and what it says.
macro_rules! options {
    ($([$group:ident] $($key:ident $(= $value:literal like $example:literal)?: $kind:expr, $help:literal;)+)+) => {
        /// All options of scenarios, in the order in which help lists them.
        pub const OPTIONS: &[ScenarioOption] = &[$($(ScenarioOption {
            key: stringify!($key),
            group: $group,
            value_name: concat!($($value)?),
            example: concat!($($example)?),
            help: $help,
            kind: $kind,
        }),+),+];
    };
}

/// A name of an enumeration.
macro_rules! one_of {
    ($kind:ident, |$options:ident, $chosen:ident| $set:expr) => {
        OneOf(
            || $kind::ALL.map($kind::name).to_vec(),
            |$options, name| {
                if let Some($chosen) = $kind::from_name(name) {
                    $set;
                }
            },
        )
    };
}

options! {
    [Run]
    device = "NAME|FILE" like "xavier": File(|o, file| o.device_file = Some(file)),
        "GPU to simulate: a built-in name (see `gpusched devices`) or a device file [default: the scenario's, or tx2]";
    launch_latency = "TIME" like "5us": Time(|o, time| o.read.launch_latency = Some(time)),
        "No kernel or copy goes on earlier than TIME after its launch (rule L1) [default: the device's]";
    kernel_gap = "TIME" like "2us": Time(|o, time| o.read.kernel_gap = Some(time)),
        "No kernel goes on earlier than TIME after the one before it in its stream has completed (rule L2) [default: \
         the device's]";
    block_gap = "TIME" like "960ns": Time(|o, time| o.read.block_gap = Some(time)),
        "What a block held comes free for another no earlier than TIME after it has ended [default: the \
         device's]";
    placement = "POLICY" like "round-robin": one_of!(Placement, |o, it| o.read.placement = Some(it)),
        "Which SM gets the next block [default: the scenario's, or the device's]";
    block_duration = "LABEL=TIME" like "mandelbrot=2ms":
        TimeOf(|o, name, time| o.read.block_durations.extend([(name, time)])),
        "How long a block runs of a kernel whose file does not say: LABEL is the benchmark's label, its file name \
         without .so, or the kernel's name";
    as_threads: Flag(|o, is_set| o.read.as_threads = is_set),
        "Replay what asks for processes or MPS clients of its own as threads of one process";
    mps: Flag(|o, is_set| o.read.mps = is_set),
        "Replay processes as clients of MPS, whose streams are as of one context, instead of contexts that take turns";
    time_slice = "TIME" like "1ms": TimeAboveZero(|o, time| o.read.time_slice = Some(time)),
        "A turn of a context lasts TIME at most (rule T2) [default: the process's, or the device's]";
    switch_cost = "TIME" like "200us": Time(|o, time| o.read.switch_cost = Some(time)),
        "A switch of contexts costs TIME (rule T3) [default: the scenario's, or the device's]";
    period = "STREAM=TIME" like "camera=40ms":
        TimeAboveZeroOf(|o, name, time| o.read.periods.extend([(name, time)])),
        "Release STREAM (a stream with operations, a host, or a benchmark's label) once every TIME; what has a single \
         job repeats until the horizon";
    deadline = "STREAM=TIME|none" like "camera=12ms":
        DeadlineOf(|o, name, time| o.read.deadlines.extend([(name, time)])),
        "By when each job of STREAM, with all its kernels and copies, should have finished, counted from its release; \
         or none [default: the scenario's, or the period]";
    horizon = "TIME" like "10s": Time(|o, time| o.read.horizon = Some(time)),
        "End the run at this time, for example 10s";
    vary = "BEST..WORST" like "80..100": Percents(|o, percents| o.read.vary_percent = Some(percents)),
        "Let each block run for a random share of its stated time, from BEST to WORST percent, for example 80..100";
    seed = "N" like "7": Number(0, u64::MAX, |o, seed| o.read.seed = Some(seed)),
        "Seed for random placement and varying block times [default: the scenario's, or 0]";
    [Models]
    runnables = "A,B,..." like "SFM,Detection": Names(|o, name| o.model.runnables.push(name)),
        "Runnables to launch, in this order [default: all that have the custom property `GridSize`, in the model's \
         order]";
    grid_size = "NAME=N" like "SFM=16": SizeOf(|o, name, size| o.model.grid_sizes.extend([(name, size)])),
        "Blocks of a runnable's kernel, in place of the model's `GridSize`";
    block_size = "NAME=N" like "SFM=256": SizeOf(|o, name, size| o.model.block_sizes.extend([(name, size)])),
        "Threads of one block of a runnable's kernel, in place of the model's `BlockSize` [default: the model's, or \
         512]";
    processing_unit = "NAME" like "GPU": Name(|o, name| o.model.processing_unit = Some(name)),
        "Processing unit, or processing unit definition, whose ticks and frequency count [default: the model's GPU]";
    frequency = "FREQUENCY" like "1.3GHz": Frequency(|o, frequency| o.model.frequency = Some(frequency)),
        "How fast ticks pass, for example 1.3GHz [default: the processing unit's frequency]";
    ticks = "BOUND" like "average": one_of!(TickBound, |o, it| o.model.ticks = it),
        "Which number of a runnable's ticks is the time of a block [default: upper]";
    process = "TASK=NAME" like "SFM=vision":
        NameOf(|o, task, process| o.model.processes.extend([(task, process)])),
        "Run TASK, or a runnable that is alone in its stream, in the process NAME; every task that is not named is then a \
         process of its own [default: threads of one process, unless the model states time slices]";
    without_copies: Flag(|o, is_set| o.model.without_copies = is_set),
        "Leave out the copies around the runnables";
    cores: Flag(|o, is_set| o.model.cores = is_set),
        "Also run what tasks do on the cores to which the model allocates them, by their priorities; so it is without \
         this where the model allocates tasks to a GPU, and neither it nor an option says which kernels there are";
    access_time = "CORE=TIME" like "A57=220ns":
        TimeOf(|o, name, time| o.model.access_times.extend([(name, time)])),
        "One access of a core, or of all of a definition, to memory takes TIME, in place of the model's latencies; for \
         models whose tasks run on cores";
    one_job: Flag(|o, is_set| o.model.one_job = is_set),
        "Launch each runnable once, at t = 0, in place of the model's stimuli";
    [Profiles]
    gpu = "N" like "0": Number(0, u32::MAX as u64, |o, gpu| o.import.gpu = u32::try_from(gpu).ok()),
        "Which GPU of the profile [default: the one that runs most kernels]";
    launches = "HOW" like "recorded": one_of!(Launches, |o, it| o.import.launches = it),
        "When operations are submitted: by host threads that take the recorded time between calls and wait for the \
         GPU where they did, or at the recorded times [default: host]";
    collectives = "HOW" like "model": one_of!(Collectives, |o, it| o.import.collectives = it),
        "How long collectives of NCCL and NVSHMEM run that overlapped others, which wait for other GPUs: each as long as \
         recorded, or as other kernels by the model [default: recorded]";
    rescale = "HOW" like "memory": one_of!(Rescale, |o, it| o.import.rescale = it),
        "For how long kernels run on another device than the recorded one: each block as long as recorded, or each kernel by \
         what SMs compute, by the bandwidth of the memory, or by whichever of these its name says limits it [default: none]";
    block_times = "PROFILE" like "alone.json": File(|o, file| o.block_times_file = Some(file)),
        "Take the block times of kernels that ran alone in PROFILE for the same kernels here. gpusched analyze also takes \
         `stated`, or percentages such as 80..100, for any input: its verdicts then hold for blocks that take no less than \
         stated, or than that share of it";
    [WhatIf]
    set_priority = "STREAM=P" like "stream 7=-1": PriorityOf(|o, name, to| o.changes.priorities.push((name, to))),
        "Give STREAM the priority P, 0 (lowest) or negative";
    set_stream = "KERNEL=STREAM" like "K1=stream 7": NameOf(|o, name, to| o.changes.streams.push((name, to))),
        "Launch KERNEL into STREAM, wherever it was launched";
    set_block_time = "KERNEL=TIME" like "K1=250ms":
        TimeOrShareOf(|o, name, time| o.changes.block_times.push((name, time))),
        "Let each block of KERNEL run for TIME, whatever its file says, or with 80% for that share of what it says. Here and \
         below KERNEL may have a * for any characters, and end with [BLOCKSxTHREADS] for one grid of several";
    set_host_time = "HOST=TIME" like "planner=50%":
        TimeOrShareOf(|o, name, time| o.changes.host_times.push((name, time))),
        "Let each sleep and work of HOST take TIME, or with 80% that share; of a profile HOST may also be a function that \
         hosts call: its calls between two submissions then take so much together";
    set_blocks = "KERNEL=N" like "K1=12": SizeOf(|o, name, blocks| o.changes.blocks.push((name, blocks))),
        "Give the grid of KERNEL N blocks; blocks behind the end of its `block_times` take its `duration`";
    set_cluster = "KERNEL=N" like "gemm=8": SizeOf(|o, name, size| {
        o.read.other_clusters.insert(name.clone());
        o.changes.clusters.push((name, size));
    }),
        "Let the blocks of KERNEL begin in clusters of N on SMs of one GPC, or with 1 each by itself (rule cluster)";
    grid_barrier = "KERNEL,..." like "K1,mandelbrot": Lists(|o, kernels| o.changes.grid_barriers.push(kernels)),
        "Take it that no block of these kernels ends before all blocks of all of them have begun: of one kernel at a \
         barrier of each launch's grid, of several, which are launched once each, together";
    sm_mask = "STREAM=MASK" like "stream 7=0xf0": MaskOf(|o, stream, mask| o.changes.sm_masks.push((stream, mask))),
        "Keep STREAM off the SMs of these TPCs, as in a scenario's `sm_mask`";
    connections = "N" like "8":
        Number(1, u32::MAX as u64, |o, number| o.changes.connections = u32::try_from(number).ok()),
        "Hardware channels that streams share, as `CUDA_DEVICE_MAX_CONNECTIONS` sets them";
    channel_order = "ORDER" like "lifo": one_of!(ChannelOrder, |o, it| o.changes.channel_order = Some(it)),
        "How streams share hardware channels: each has one for good, or which of those that wait gets the next free one \
         [default: the device's, or submission]";
    register_dealing = "HOW" like "worst": one_of!(RegisterDealing, |o, it| o.changes.register_dealing = Some(it)),
        "How warps that take unlike numbers of registers are spread over an SM's sub-partitions: so that a block begins \
          wherever counting does not rule it out, or only where it has room however they were dealt [default: the device's, \
          or best]";
}
