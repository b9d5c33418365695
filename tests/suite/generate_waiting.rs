//! Random scenarios whose blocks, streams and hosts wait for one another: few SMs, few blocks and small numbers, so
//! that many things happen at one instant, and counters with values that are never reached.

use gpusched::device::{BlockShape, ChannelOrder, Device, DeviceSpec, Preemption, SmMask};
use gpusched::scenario::{BarrierId, HostThread, Scenario, Step};
use gpusched::time::Duration;
use gpusched::workload::{
    BlockClock, BlockTime, Catalogue, CounterId, CounterValue, EventId, Kernel, KernelId, Placement, PointAction,
    ProcessId, ProcessSharing, ProcessSpec, Share, StreamId, StreamSpec, SyncPoint, Synchronization, ValueId,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::generate::{Case, builtin, ns, of_threads};

/// Who runs beside whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Threads of one process.
    One,
    /// Several GPUs.
    Gpus,
    /// Processes whose contexts take turns.
    Turns,
    /// Clients of MPS.
    Mps,
}

/// SMs, block slots, threads of an SM, channels and their order, latencies, gap, order of SMs.
type RawDevice = (u32, u32, u32, Option<u32>, usize, (u64, u64, u64), bool);

fn raw_device() -> impl Strategy<Value = RawDevice> {
    let often_none = || prop_oneof![4 => Just(0_u64), 1 => 1_u64..4];
    let channels = option::weighted(0.4, 1_u32..=2);
    let latencies = (often_none(), often_none(), prop_oneof![9 => Just(0_u64), 1 => 1_u64..3]);
    (1_u32..=4, 1_u32..=3, select(vec![128_u32, 256, 512]), channels, 0_usize..4, latencies, any::<bool>())
}

fn device(raw: RawDevice) -> Device {
    let (sms, blocks, threads, channels, order, (launch_latency, kernel_gap, block_gap), descending) = raw;
    let mut device = DeviceSpec::clone(&builtin("tx2"));
    "own".clone_into(&mut device.name);
    (device.sms, device.sms_per_tpc) = (sms, 1);
    (device.per_sm.threads, device.per_sm.warps, device.per_sm.blocks) = (threads, threads / 32, blocks);
    device.per_block.threads = threads.min(1024);
    (device.channels, device.channel_order) = (channels, ChannelOrder::ALL[order]);
    (device.launch_latency, device.kernel_gap, device.block_gap) = (ns(launch_latency), ns(kernel_gap), ns(block_gap));
    if descending {
        device.sm_order = gpusched::device::SmOrder::Descending;
    }
    Device::new(device).expect("it is a GPU")
}

/// Share in quarters, what, counter, value.
type RawPoint = (u32, u8, u32, u64);
/// Blocks, warps, time, points, counter that each block signals at its end, cooperative, until, mask, times of blocks.
type RawKernel = (u32, u32, u64, Vec<RawPoint>, Option<u32>, bool, bool, Option<u8>, Option<Vec<u64>>);

fn raw_kernel() -> impl Strategy<Value = RawKernel> {
    let time = || select(vec![0_u64, 1, 2, 3, 4, 4, 6, 8, 40]);
    let point = (0_u32..=4, 0_u8..8, 0_u32..COUNTERS, select(vec![0_u64, 1, 1, 2, 2, 3, 4, 6, 9]));
    let points = prop_oneof![1 => Just(Vec::new()), 3 => vec(point, 0..4)];
    let rest = (any::<bool>(), prop::bool::weighted(0.1), option::weighted(0.15, any::<u8>()));
    let times = option::weighted(0.15, vec(time(), 6));
    let shape = (1_u32..=6, select(vec![1_u32, 1, 2, 4]), time());
    (shape, points, option::weighted(0.4, 0_u32..COUNTERS), rest, times).prop_map(
        |((blocks, warps, time), points, at_end, (together, until, mask), times)| {
            (blocks, warps, time, points, at_end, together, until, mask, times)
        },
    )
}

const COUNTERS: u32 = 3;
/// The last of them is recorded at launch completion.
const EVENTS: u32 = 2;
/// What streams and hosts wait for or write, of each counter.
const VALUES: [u64; 5] = [0, 1, 2, 4, 7];

fn kernel(raw: &RawKernel, device: &Device, index: usize) -> (Kernel, Synchronization) {
    let (blocks, warps, time, points, at_end, together, until, ..) = raw;
    let threads = (warps * 32).min(device.per_block.threads);
    let time = if *until { 0 } else { *time };
    let mut all: Vec<SyncPoint> = Vec::new();
    for &(quarters, what, counter, value) in points {
        let action = match what {
            0..=2 => PointAction::Signal(CounterId(counter)),
            3..=5 => PointAction::Wait(CounterValue { counter: CounterId(counter), value }),
            _ => PointAction::GridSync,
        };
        all.push(SyncPoint { at: Share::of_billion(quarters * 250_000_000).expect("a share"), action });
    }
    if *until {
        let value = CounterValue { counter: CounterId(0), value: 1 };
        all.push(SyncPoint { at: Share::ALL, action: PointAction::Wait(value) });
    }
    let synchronization = Synchronization::in_order(*together, all).with_signals_at_end(at_end.map(CounterId));
    let name: std::sync::Arc<str> = format!("K{index}").into();
    let shape = BlockShape { threads, registers_per_thread: 0, shared_memory_bytes: 0 };
    let duration = BlockTime::fixed(ns(time));
    let kernel = Kernel {
        name: name.clone(),
        title: name,
        blocks: *blocks,
        shape,
        duration,
        clock: BlockClock::RunTime,
        sm_mask: None,
    };
    (kernel, synchronization)
}

/// What, and three numbers for it.
type RawStep = (u8, u32, u32, u64);
/// Release, iterations, period, barrier, steps.
type RawThread = (u64, u64, Option<u64>, bool, Vec<RawStep>);

fn thread(raw: &RawThread, index: usize, own: &[StreamId], kernels: u32, family: Family, processes: u32) -> HostThread {
    let (release, iterations, period, at_barrier, raw_steps) = raw;
    let number = u32::try_from(index).expect("few");
    let (turns, process) = (family == Family::Turns, number % processes);
    let mut steps = Vec::new();
    for &(what, a, b, time) in raw_steps {
        let place = if b % 5 < 2 { index + 1 } else { b as usize / 5 };
        let stream = own[place % own.len()];
        let (value, event) = (
            ValueId(b % (COUNTERS * u32::try_from(VALUES.len()).expect("few"))),
            EventId(a % if turns { 1 } else { EVENTS }),
        );
        steps.push(match what {
            0..=10 => Step::Launch(KernelId(a % kernels), stream),
            11 => Step::Memset(stream),
            12 => Step::AwaitLast,
            13 => Step::SynchronizeStream(stream),
            14 => Step::SynchronizeDevice,
            15..=16 => Step::Sleep(ns(time)),
            17..=18 => Step::Record(event, stream),
            19..=20 => Step::Wait(event, stream),
            21..=22 => Step::WaitValue(value, stream),
            23..=25 => Step::WriteValue(value, stream),
            26 => Step::AwaitValue(value),
            27..=28 => Step::SetValue(value),
            29 if *at_barrier => Step::Barrier(BarrierId(0)),
            _ => Step::SynchronizeEvent(event),
        });
    }
    HostThread {
        iterations: Some(*iterations),
        period: period.map(ns),
        process: ProcessId(process),
        ..HostThread::once(format!("T{index}"), ns(*release), steps)
    }
}

/// A GPU, or several, and the processes that share it.
fn shared(mut own: Device, family: Family, processes: u32, turns: (u64, u64), block_end: bool) -> Catalogue {
    if family == Family::Turns {
        let slice = |spec: &mut DeviceSpec| {
            spec.time_slicing.time_slice = ns(turns.0);
            spec.time_slicing.switch_cost = ns(turns.1.min(turns.0));
            spec.time_slicing.preemption = if block_end { Preemption::BlockEnd } else { Preemption::MidBlock };
        };
        own = own.with(slice).expect("it is a GPU");
    } else if family == Family::Gpus {
        own = own.times(processes).expect("few SMs");
    }
    let mut catalogue = Catalogue::new(own);
    if family != Family::One {
        let mps = family != Family::Turns;
        catalogue.set_sharing(ProcessSharing { mps, switch_cost: None }).expect("it may be shared");
        catalogue.set_process(ProcessId::FIRST, ProcessSpec::new("P0")).expect("sound");
        for process in 1..processes {
            catalogue.add_process(ProcessSpec::new(format!("P{process}"))).expect("sound");
        }
    }
    catalogue
}

fn add_events_and_counters(catalogue: &mut Catalogue, family: Family) {
    for event in 0..EVENTS {
        catalogue.add_event(format!("E{event}").into()).expect("few");
    }
    if family != Family::Turns {
        catalogue.set_launch_completion_event(EventId(EVENTS - 1)).expect("it is no other");
    }
    for counter in 0..COUNTERS {
        catalogue.add_counter(format!("C{counter}").into()).expect("few");
        for value in VALUES {
            catalogue.add_value(CounterValue { counter: CounterId(counter), value }).expect("few");
        }
    }
}

/// A scenario of this family.
pub(crate) fn waiting(family: Family) -> impl Strategy<Value = Case> {
    let stream = (0_u32..3, any::<bool>(), option::weighted(0.1, any::<u8>()));
    let step = (0_u8..31, any::<u32>(), any::<u32>(), 0_u64..6);
    let release = prop_oneof![2 => Just(0_u64), 1 => 0_u64..10];
    let raw_thread = (
        release,
        prop_oneof![3 => Just(1_u64), 1 => Just(2_u64)],
        option::weighted(0.2, 1_u64..9),
        any::<bool>(),
        vec(step, 1..9),
    );
    let placement = select(vec![Placement::MostRoom, Placement::MostRoom, Placement::RoundRobin, Placement::LowestId]);
    let parts = (raw_device(), vec(stream, 1..5), vec(raw_kernel(), 1..4), vec(raw_thread, 1..4));
    let sharing = (2_u32..=3, (1_u64..9, 0_u64..3), any::<bool>());
    (parts, placement, option::weighted(0.15, 0_u64..30), sharing).prop_map(
        move |((raw_device, streams, raw_kernels, threads), placement, horizon, (number, turns, block_end))| {
            let processes = if family == Family::One { 1 } else { number };
            let mut catalogue = shared(device(raw_device), family, processes, turns, block_end);
            let has_masks = family != Family::Gpus;
            let mask = |bits: Option<u8>| {
                let text = format!("{:x}", bits.filter(|_| has_masks)?);
                SmMask::parse(&text).ok().filter(|mask| !mask.leaves_none(catalogue.device()))
            };
            let specs: Vec<StreamSpec> = (1..)
                .zip(&streams)
                .map(|(index, &(priority, blocking, bits)): (u32, _)| StreamSpec {
                    priority: -i32::try_from(priority % catalogue.device().priority_levels).expect("few"),
                    blocking,
                    sm_mask: mask(bits),
                    process: ProcessId(index % processes),
                    ..StreamSpec::new(format!("S{index}"))
                })
                .collect();
            let masks: Vec<Option<SmMask>> = raw_kernels.iter().map(|raw| mask(raw.7)).collect();
            for stream in specs {
                catalogue.add_stream(stream).expect("the device takes it");
            }
            add_events_and_counters(&mut catalogue, family);
            let mut block_times = std::collections::BTreeMap::new();
            let all_streams = u32::try_from(catalogue.streams().len()).expect("few");
            for (index, raw) in raw_kernels.iter().enumerate() {
                let (spec, mut stated) = kernel(raw, catalogue.device(), index);
                let blocks = spec.blocks;
                let id = catalogue.add_kernel(Kernel { sm_mask: masks[index], ..spec }).expect("it takes it");
                let most = (0..all_streams).map(|stream| catalogue.most_resident(id, StreamId(stream))).min();
                stated.is_cooperative &= most.is_some_and(|most| blocks <= most);
                catalogue.set_synchronization(id, stated).expect("its counters are known");
                if let Some(times) = raw.8.as_ref().filter(|_| !raw.6) {
                    let times: Vec<Duration> = times.iter().take(blocks as usize).map(|&time| ns(time)).collect();
                    block_times.insert(id, times.into());
                }
            }
            let kernels = u32::try_from(raw_kernels.len()).expect("few");
            let threads = threads.iter().enumerate();
            // A host submits to streams of its own process, or of any GPU.
            let of_host = |index: usize| {
                let process = ProcessId(u32::try_from(index).expect("few") % processes);
                let is_own = |stream: &StreamId| {
                    family == Family::Gpus || catalogue.streams()[stream.index()].process == process
                };
                (0..all_streams).map(StreamId).filter(is_own).collect::<Vec<_>>()
            };
            let threads =
                threads.map(|(index, raw)| thread(raw, index, &of_host(index), kernels, family, processes)).collect();
            // The engine has one pointer for all GPUs.
            let has_pointer = family == Family::Gpus && placement == Placement::RoundRobin;
            let placement = if has_pointer { Placement::MostRoom } else { placement };
            let horizon = horizon.map(ns);
            Case(Scenario { placement, horizon, block_times, ..of_threads(catalogue, threads) })
        },
    )
}
