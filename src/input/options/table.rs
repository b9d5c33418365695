//! The options, one by one.

use super::OptionGroup::{Models, Profiles, Run, WhatIf};
use super::OptionKind::{
    DeadlineOf, File, Flag, Frequency, MaskOf, Name, NameOf, Names, Number, OneOf, Percents, PriorityOf, SizeOf, Time,
    TimeAboveZero, TimeAboveZeroOf, TimeOf,
};
use super::{OptionGroup, OptionKind, ScenarioOption};
use crate::device::ChannelOrder;
use crate::profile::Launches;
use crate::scenario::amalthea::TickBound;
use crate::workload::Placement;

const fn row(
    group: OptionGroup,
    key: &'static str,
    (value_name, example): (&'static str, &'static str),
    help: &'static str,
    kind: OptionKind,
) -> ScenarioOption {
    ScenarioOption { key, group, value_name, example, help, kind }
}

/// All options of scenarios, in the order in which help lists them.
pub const OPTIONS: &[ScenarioOption] = &[
    row(
        Run,
        "device",
        ("NAME|FILE", "xavier"),
        "GPU to simulate: a built-in name (see `gpusched devices`) or a device file [default: the scenario's, or tx2]",
        File(|options, file| options.device_file = Some(file)),
    ),
    row(
        Run,
        "launch_latency",
        ("TIME", "5us"),
        "No kernel or copy goes on earlier than TIME after its launch (rule L1) [default: the device's]",
        Time(|options, time| options.read.launch_latency = Some(time)),
    ),
    row(
        Run,
        "kernel_gap",
        ("TIME", "2us"),
        "No kernel goes on earlier than TIME after the one before it in its stream has completed (rule L2) [default: the \
         device's]",
        Time(|options, time| options.read.kernel_gap = Some(time)),
    ),
    row(
        Run,
        "placement",
        ("POLICY", "round-robin"),
        "Which SM gets the next block [default: the scenario's, or most-room]",
        OneOf(
            || Placement::ALL.map(Placement::name).to_vec(),
            |options, name| options.read.placement = Placement::from_name(name),
        ),
    ),
    row(
        Run,
        "block_duration",
        ("LABEL=TIME", "mandelbrot=2ms"),
        "How long a block runs of a kernel whose file does not say: LABEL is the benchmark's label, its file name \
         without .so, or the kernel's name",
        TimeOf(|options, label, time| options.read.block_durations.extend([(label, time)])),
    ),
    row(
        Run,
        "as_threads",
        ("", ""),
        "Replay what asks for processes or MPS clients of its own as threads of one process",
        Flag(|options, is_set| options.read.as_threads = is_set),
    ),
    row(
        Run,
        "mps",
        ("", ""),
        "Replay processes as clients of MPS, whose streams are as of one context, instead of contexts that take turns",
        Flag(|options, is_set| options.read.mps = is_set),
    ),
    row(
        Run,
        "time_slice",
        ("TIME", "1ms"),
        "A turn of a context lasts TIME at most (rule T2) [default: the process's, or the device's]",
        TimeAboveZero(|options, time| options.read.time_slice = Some(time)),
    ),
    row(
        Run,
        "switch_cost",
        ("TIME", "200us"),
        "A switch of contexts costs TIME (rule T3) [default: the scenario's, or the device's]",
        Time(|options, time| options.read.switch_cost = Some(time)),
    ),
    row(
        Run,
        "period",
        ("STREAM=TIME", "camera=40ms"),
        "Release STREAM (a stream with operations, a host, or a benchmark's label) once every TIME; what has a single \
         job repeats until the horizon",
        TimeAboveZeroOf(|options, stream, time| options.read.periods.extend([(stream, time)])),
    ),
    row(
        Run,
        "deadline",
        ("STREAM=TIME|none", "camera=12ms"),
        "By when each job of STREAM, with all its kernels and copies, should have finished, counted from its release; or \
         none [default: the scenario's, or the period]",
        DeadlineOf(|options, stream, deadline| options.read.deadlines.extend([(stream, deadline)])),
    ),
    row(
        Run,
        "horizon",
        ("TIME", "10s"),
        "End the run at this time, for example 10s",
        Time(|options, time| options.read.horizon = Some(time)),
    ),
    row(
        Run,
        "vary",
        ("BEST..WORST", "80..100"),
        "Let each block run for a random share of its stated time, from BEST to WORST percent, for example 80..100",
        Percents(|options, percents| options.read.vary_percent = Some(percents)),
    ),
    row(
        Run,
        "seed",
        ("N", "7"),
        "Seed for random placement and varying block times [default: the scenario's, or 0]",
        Number(0, u64::MAX, |options, seed| options.read.seed = Some(seed)),
    ),
    row(
        Models,
        "runnables",
        ("A,B,...", "SFM,Lane"),
        "Runnables to launch, in this order [default: all that have the custom property `GridSize`, in the model's order]",
        Names(|options, name| options.model.runnables.push(name)),
    ),
    row(
        Models,
        "grid_size",
        ("NAME=N", "SFM=16"),
        "Blocks of a runnable's kernel, in place of the model's `GridSize`",
        SizeOf(|options, name, size| options.model.grid_sizes.extend([(name, size)])),
    ),
    row(
        Models,
        "block_size",
        ("NAME=N", "SFM=256"),
        "Threads of one block of a runnable's kernel, in place of the model's `BlockSize` [default: the model's, or 512]",
        SizeOf(|options, name, size| options.model.block_sizes.extend([(name, size)])),
    ),
    row(
        Models,
        "processing_unit",
        ("NAME", "GPU"),
        "Processing unit, or processing unit definition, whose ticks and frequency count [default: the model's GPU]",
        Name(|options, name| options.model.processing_unit = Some(name)),
    ),
    row(
        Models,
        "frequency",
        ("FREQUENCY", "1.3GHz"),
        "How fast ticks pass, for example 1.3GHz [default: the processing unit's frequency]",
        Frequency(|options, frequency| options.model.frequency = Some(frequency)),
    ),
    row(
        Models,
        "ticks",
        ("BOUND", "average"),
        "Which number of a runnable's ticks is the time of a block [default: upper]",
        OneOf(
            || TickBound::ALL.map(TickBound::name).to_vec(),
            |options, name| options.model.ticks = TickBound::from_name(name).unwrap_or_default(),
        ),
    ),
    row(
        Models,
        "without_copies",
        ("", ""),
        "Leave out the copies around the runnables",
        Flag(|options, is_set| options.model.without_copies = is_set),
    ),
    row(
        Models,
        "one_job",
        ("", ""),
        "Launch each runnable once, at t = 0, in place of the model's stimuli",
        Flag(|options, is_set| options.model.one_job = is_set),
    ),
    row(
        Profiles,
        "gpu",
        ("N", "0"),
        "Which GPU of the profile [default: the one that runs most kernels]",
        Number(0, u32::MAX as u64, |options, gpu| options.import.gpu = u32::try_from(gpu).ok()),
    ),
    row(
        Profiles,
        "launches",
        ("HOW", "recorded"),
        "When operations are submitted: by host threads that take the recorded time between calls and wait for the GPU \
         where they did, or at the recorded times [default: host]",
        OneOf(
            || Launches::ALL.map(Launches::name).to_vec(),
            |options, name| options.import.launches = Launches::from_name(name).unwrap_or_default(),
        ),
    ),
    row(
        Profiles,
        "block_times",
        ("PROFILE", "alone.json"),
        "Take the block times of kernels that ran alone in PROFILE for the same kernels here",
        File(|options, file| options.block_times_file = Some(file)),
    ),
    row(
        WhatIf,
        "set_priority",
        ("STREAM=P", "stream 7=-1"),
        "Give STREAM the priority P, 0 (lowest) or negative",
        PriorityOf(|options, stream, priority| options.changes.priorities.push((stream, priority))),
    ),
    row(
        WhatIf,
        "set_stream",
        ("KERNEL=STREAM", "K1=stream 7"),
        "Launch KERNEL into STREAM, wherever it was launched",
        NameOf(|options, kernel, stream| options.changes.streams.push((kernel, stream))),
    ),
    row(
        WhatIf,
        "set_block_time",
        ("KERNEL=TIME", "K1=250ms"),
        "Let each block of KERNEL run for TIME, whatever its file says",
        TimeOf(|options, kernel, time| options.changes.block_times.push((kernel, time))),
    ),
    row(
        WhatIf,
        "sm_mask",
        ("STREAM=MASK", "stream 7=0xf0"),
        "Keep STREAM off the SMs of these TPCs, as in a scenario's `sm_mask`",
        MaskOf(|options, stream, mask| options.changes.sm_masks.push((stream, mask))),
    ),
    row(
        WhatIf,
        "connections",
        ("N", "8"),
        "Hardware channels that streams share, as `CUDA_DEVICE_MAX_CONNECTIONS` sets them",
        Number(1, u32::MAX as u64, |options, number| options.changes.connections = u32::try_from(number).ok()),
    ),
    row(
        WhatIf,
        "channel_order",
        ("ORDER", "lifo"),
        "Which of the streams that wait for a hardware channel gets the next one [default: the device's, or fifo]",
        OneOf(
            || ChannelOrder::ALL.map(ChannelOrder::name).to_vec(),
            |options, name| options.changes.channel_order = ChannelOrder::from_name(name),
        ),
    ),
];
