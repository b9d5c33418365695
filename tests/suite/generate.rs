//! Random scenarios for property tests, with everything the rules know: small numbers, so that many things happen at
//! the same instant. (The audit's campaign has its own, by number: `audit_oracle::sample`.)

use gpusched::device::{
    BlockShape, ChannelOrder, CopyDirection, CopySharing, Device, DeviceSpec, Gpcs, SmMask, SmNumbering, SmOrder,
};
use gpusched::scenario::{BarrierId, HostThread, ReleaseOrder, Scenario, Step};
use gpusched::time::Duration;
use gpusched::workload::{
    BlockClock, BlockTime, Catalogue, Copy, CopyId, EventId, Kernel, KernelId, Placement, StreamId, StreamSpec,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// A built-in device.
pub(crate) fn builtin(name: &str) -> Device {
    Device::builtin(name).expect("the file is sound").expect("it is built in")
}

pub(crate) fn ns(duration: u64) -> Duration {
    Duration::from_ns(duration)
}

/// A small device with odd limits.
fn own_device() -> impl Strategy<Value = Device> {
    let limits = (1_u32..=6, 1_u32..=2, select(vec![256_u32, 512, 1000, 2048]), 2_u32..=70, 1_u32..=9);
    let shared = (select(vec![1_u32, 100, 256]), select(vec![0_u32, 50]), 600_u32..5_000);
    let rest = (1_u32..=3, option::weighted(0.4, 1_u32..=3), 1_u32..=4, 0_u64..3, 0_usize..4, any::<bool>());
    let latency = || prop_oneof![2 => Just(0_u64), 1 => 1_u64..4];
    (limits, shared, rest, (latency(), latency())).prop_map(|(limits, shared, rest, (launch_latency, kernel_gap))| {
        let mut device = DeviceSpec::clone(&builtin("tx2"));
        let (sms, sms_per_tpc, threads, warps, blocks) = limits;
        "own".clone_into(&mut device.name);
        (device.sms, device.sms_per_tpc) = (sms, sms_per_tpc.min(sms));
        (device.per_sm.threads, device.per_sm.warps, device.per_sm.blocks) = (threads, warps, blocks);
        device.per_block.threads = (threads / 32).min(warps) * 32;
        let (unit, reserved, bytes) = shared;
        device.shared_memory_allocation.unit_bytes = unit;
        device.shared_memory_allocation.reserved_per_block_bytes = reserved;
        device.per_sm.shared_memory_bytes = bytes;
        device.per_block.shared_memory_bytes = bytes - reserved - unit;
        if rest.5 {
            device.per_sm.registers = 10_000;
            device.per_block.registers = 10_000;
        }
        (device.launch_latency, device.kernel_gap) = (ns(launch_latency), ns(kernel_gap));
        device.copy.engines = rest.0;
        device.copy.device_to_device_engine = sms % rest.0;
        device.channels = rest.1;
        device.channel_order = ChannelOrder::ALL[sms as usize % 4];
        device.priority_levels = rest.2;
        device.copy.latency = ns(rest.3);
        device.copy.sharing = CopySharing::ALL[blocks as usize % 2];
        device.sm_order = match rest.4 {
            0 => SmOrder::Ascending,
            1 => SmOrder::Descending,
            2 => SmOrder::EvenThenOdd,
            _ => SmOrder::Explicit((0..sms).rev().map(|sm| (sm + 1) % sms).collect()),
        };
        let tpcs = device.sms.div_ceil(device.sms_per_tpc);
        let lone_tpcs = rest.2.min(tpcs - 1) / 2;
        let first = (tpcs - lone_tpcs).div_ceil(2);
        let second = tpcs - lone_tpcs - first;
        device.gpcs = Some(Gpcs {
            tpcs: [second, first].into_iter().filter(|&tpcs| tpcs > 0).collect(),
            lone_tpcs,
            numbering: if rest.5 { SmNumbering::Striped } else { SmNumbering::Consecutive },
        });
        Device::new(device).expect("it is a GPU")
    })
}

fn device() -> impl Strategy<Value = Device> {
    prop_oneof![
        2 => Just(builtin("tx2")),
        1 => Just(builtin("k5000")),
        1 => Just(builtin("titan-v")),
        1 => (1_u32..=3).prop_map(|channels| {
            builtin("tx2").with(|spec| spec.channels = Some(channels)).expect("it is a GPU")
        }),
        5 => own_device(),
    ]
}

/// The device without what `proofs/model.v` leaves out.
fn within_proven_rules(device: &Device) -> Device {
    let plain = device.with(|spec| {
        (spec.launch_latency, spec.kernel_gap) = (Duration::ZERO, Duration::ZERO);
        spec.channels = None;
        spec.copy.sharing = CopySharing::OneAtATime;
    });
    plain.expect("it is a GPU")
}

/// A random scenario that is printed briefly.
#[derive(Clone)]
pub(crate) struct Case(pub(crate) Scenario);

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scenario = &self.0;
        let device = scenario.device();
        write!(f, "{} with {} SMs in TPCs of {}, {:?}", device.name, device.sms, device.sms_per_tpc, device.sm_order)?;
        write!(f, ", {:?}, {:?}, {:?}", device.per_sm, device.shared_memory_allocation, device.copy)?;
        write!(f, ", latencies {:?} {:?}", device.launch_latency, device.kernel_gap)?;
        writeln!(f, ", channels {:?}, {:?}, horizon {:?}", device.channels, scenario.placement, scenario.horizon)?;
        let processes = scenario.catalogue.processes();
        if processes.len() > 1 {
            writeln!(f, "  {:?}, {:?}", device.time_slicing, scenario.catalogue.sharing())?;
            for process in processes {
                writeln!(f, "  {:?}", **process)?;
            }
        }
        for (index, stream) in scenario.streams().iter().enumerate() {
            let kind = if stream.blocking { "blocking" } else { "non-blocking" };
            write!(f, "  process {}, ", stream.process.0)?;
            writeln!(f, "stream {index}: priority {}, {kind}, {:?}", stream.priority, stream.sm_mask)?;
        }
        for kernel in scenario.kernels().iter() {
            writeln!(f, "  {}: {} x {:?}, {:?}", kernel.name, kernel.blocks, kernel.shape, kernel.duration)?;
            writeln!(f, "    {:?}, {:?}", kernel.sm_mask, kernel.synchronization())?;
        }
        for copy in scenario.copies() {
            writeln!(f, "  {copy:?}")?;
        }
        for thread in &scenario.threads {
            writeln!(f, "  {thread:?}")?;
        }
        Ok(())
    }
}

/// What a scenario's generator may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Most blocks of one kernel, beyond what many small ones need.
    pub(crate) blocks: u32,
    /// All kernels have equal blocks, and there are no masks.
    pub(crate) equal_blocks: bool,
    /// Block times may vary.
    pub(crate) varying: bool,
    /// Nothing that `proofs/model.v` leaves out: masks, channels, latencies, shared links.
    pub(crate) proven_rules: bool,
}

impl Limits {
    /// All that the rules know, with fixed block times.
    pub(crate) const ALL: Self = Self { blocks: 40, equal_blocks: false, varying: false, proven_rules: false };
    /// The same with enough blocks for many waves.
    pub(crate) const MANY_BLOCKS: Self = Self { blocks: 400, ..Self::ALL };

    /// Whether masks keep kernels from SMs.
    const fn has_masks(self) -> bool {
        !self.equal_blocks && !self.proven_rules
    }
}

/// A kernel before it is fitted to its device: blocks, threads, registers, bytes, times, mask.
type RawKernel = (u32, u32, u32, u32, (u64, u64), Option<(u8, bool)>);

fn raw_kernel(limits: Limits) -> impl Strategy<Value = RawKernel> {
    let blocks = prop_oneof![4 => 1_u32..=6, 2 => 1..=limits.blocks, 1 => Just(limits.blocks)];
    let threads = prop_oneof![select(vec![1_u32, 32, 33, 64, 128, 140, 256, 512, 1024]), 1_u32..=1024];
    let registers = prop_oneof![3 => Just(0_u32), 2 => select(vec![8_u32, 16, 24, 32, 40, 48, 64, 100, 255])];
    let bytes = prop_oneof![3 => Just(0_u32), 2 => 1_u32..=4_000, 1 => 8_000_u32..=49_152];
    let times = (select(vec![0_u64, 1, 1, 2, 2, 3, 4, 5, 6, 10]), 0_u64..6);
    (blocks, threads, registers, bytes, times, option::weighted(0.2, (any::<u8>(), any::<bool>())))
}

/// Takes resources away from a block until it fits.
fn fitted(raw: RawKernel, device: &Device, limits: Limits, first: Option<&Kernel>, index: usize) -> Kernel {
    let (blocks, threads, registers, bytes, (best, more), mask) = raw;
    let threads = threads.min(device.per_block.threads).min(device.warps_per_sm() * device.warp_size).max(1);
    let allocation = &device.register_allocation;
    let counted = threads.div_ceil(device.warp_size).next_multiple_of(allocation.warps_rounded_to);
    let partition = device.per_sm.registers / allocation.sub_partitions;
    let warps = threads.div_ceil(device.warp_size);
    let fits = |registers: u32| {
        let asked = (registers * device.warp_size).next_multiple_of(allocation.unit_per_warp);
        let places = partition.checked_div(asked).map_or(u32::MAX, |places| places * allocation.sub_partitions);
        asked * counted <= device.per_block.registers && warps <= places
    };
    // Where warps take unlike numbers the rules of the proofs are not those of registers.
    let alike = first.filter(|_| limits.proven_rules).map(|first| first.shape.registers_per_thread);
    let (registers, least) = alike.map_or((registers, 0), |alike| (alike, alike));
    let registers_per_thread = (least..=registers).rev().find(|&registers| fits(registers)).unwrap_or(0);
    let shape = BlockShape {
        threads,
        registers_per_thread,
        shared_memory_bytes: bytes.min(device.per_block.shared_memory_bytes),
    };
    let duration = BlockTime { best: ns(best), worst: ns(if limits.varying { best + more } else { best }) };
    let sm_mask = mask.filter(|_| limits.has_masks()).and_then(|mask| mask_for(mask, device));
    let name: std::sync::Arc<str> = format!("K{index}").into();
    let shape = first.filter(|_| limits.equal_blocks).map_or(shape, |first| first.shape);
    Kernel { name: name.clone(), title: name, blocks, shape, duration, clock: BlockClock::RunTime, sm_mask }
}

fn mask_for((bits, inverted): (u8, bool), device: &Device) -> Option<SmMask> {
    let text = format!("{}{bits:x}", if inverted { "~" } else { "" });
    SmMask::parse(&text).ok().filter(|mask| !mask.leaves_none(device))
}

/// Events that steps record and wait for.
const EVENTS: u32 = 3;

/// A step before it is fitted to a scenario: what, and two numbers for it.
type RawStep = (u8, u32, u32, u64);
/// A thread likewise: release, iterations, time limit, period, barrier, steps.
type RawThread = (u64, u64, Option<u64>, Option<u64>, bool, Vec<RawStep>);

fn raw_thread() -> impl Strategy<Value = RawThread> {
    let step = (0_u8..30, any::<u32>(), any::<u32>(), 0_u64..8);
    let release = prop_oneof![Just(0_u64), 0_u64..12];
    let period = option::weighted(0.3, 0_u64..12);
    (release, 0_u64..4, option::weighted(0.3, 0_u64..15), period, any::<bool>(), vec(step, 1..9))
}

fn thread(raw: RawThread, index: usize, streams: u32, kernels: u32, copies: u32, barrier: bool) -> HostThread {
    let (release, iterations, time_limit, period, at_barrier, raw_steps) = raw;
    let mut steps = Vec::new();
    for (what, a, b, number) in raw_steps {
        // Two in five go to the NULL stream or to a stream that threads share.
        let stream =
            StreamId(if b % 5 < 3 { (u32::try_from(index).unwrap_or(0) + 1) % streams } else { b / 5 % streams });
        steps.push(match what {
            0..=8 => Step::Launch(KernelId(a % kernels), stream),
            9..=11 => Step::Copy(CopyId(a % copies), stream),
            12..=13 => Step::Memset(stream),
            14..=15 => Step::AwaitLast,
            16..=17 => Step::SynchronizeStream(stream),
            18 => Step::SynchronizeDevice,
            19..=20 => Step::Sleep(ns(number)),
            21 if barrier => Step::Barrier(BarrierId(0)),
            22 if !steps.is_empty() => repeat(&steps, a as usize, number),
            24..=25 => Step::Record(EventId(a % EVENTS), stream),
            26..=28 => Step::Wait(EventId(a % EVENTS), stream),
            29 if b % 3 == 0 => Step::Free,
            29 if b % 3 == 1 => Step::Allocate,
            29 => Step::SynchronizeEvent(EventId(a % EVENTS)),
            _ => Step::Launch(KernelId(a % kernels), StreamId::NULL),
        });
    }
    // A thread without a limit on iterations needs a time limit and has to let time pass.
    let unlimited = iterations == 3 && time_limit.is_some();
    if unlimited {
        steps.push(Step::Sleep(ns(2)));
    }
    HostThread {
        iterations: (!unlimited).then_some(iterations),
        time_limit: time_limit.map(ns),
        period: period.map(ns),
        barrier: (barrier && at_barrier).then_some(BarrierId(0)),
        ..HostThread::once(format!("T{index}"), ns(release), steps)
    }
}

/// A loop over the last steps that does not begin inside another one.
fn repeat(steps: &[Step], back: usize, times: u64) -> Step {
    let mut from = steps.len() - 1 - back % steps.len().min(3);
    for step in steps.iter().rev() {
        if let Step::Repeat { from: inner, .. } = *step {
            from = if from < steps.len() - 1 { from.min(inner as usize) } else { from };
        }
    }
    Step::Repeat { from: u32::try_from(from).expect("few"), times: 1 + times % 3 }
}

/// A scenario with everything the rules know.
pub(crate) fn scenario(limits: Limits) -> impl Strategy<Value = Case> {
    let stream = (option::weighted(0.5, 0_u32..4), option::weighted(0.15, (any::<u8>(), any::<bool>())), any::<bool>());
    let copy = (0_u8..3, 0_u64..60, option::weighted(0.5, 0_u64..8));
    let placement = if limits.equal_blocks {
        select(vec![Placement::Random, Placement::MostRoom])
    } else {
        select(vec![
            Placement::MostRoom,
            Placement::MostRoom,
            Placement::RoundRobin,
            Placement::LowestId,
            Placement::Gpc,
            Placement::GpcMostRoom,
        ])
    };
    let parts = (vec(stream, 1..6), vec(raw_kernel(limits), 1..5), vec(copy, 1..4), vec(raw_thread(), 1..5));
    (device(), parts, placement, option::weighted(0.2, 0_u64..40), any::<bool>(), any::<u64>()).prop_map(
        move |(device, (streams, raw_kernels, copies, threads), placement, horizon, barrier, seed)| {
            let device = if limits.proven_rules { within_proven_rules(&device) } else { device };
            let fits = device.gpcs.is_some() || !placement.goes_by_gpcs();
            let placement = if fits { placement } else { Placement::MostRoom };
            let mut kernels: Vec<Kernel> = Vec::new();
            for (index, raw) in raw_kernels.into_iter().enumerate() {
                kernels.push(fitted(raw, &device, limits, kernels.first(), index));
            }
            let count = |len: usize| u32::try_from(len).expect("few");
            let specs: Vec<_> = streams
                .into_iter()
                .zip(1..)
                .map(|((priority, mask, blocking), index)| StreamSpec {
                    priority: -i32::try_from(priority.unwrap_or(0) % device.priority_levels).expect("few"),
                    blocking: priority.is_none() || blocking,
                    sm_mask: mask.filter(|_| limits.has_masks()).and_then(|mask| mask_for(mask, &device)),
                    ..StreamSpec::new(format!("S{index}"))
                })
                .collect();
            let copies: Vec<Copy> = copies.into_iter().map(copy_of).collect();
            let (s, k, c) = (count(specs.len() + 1), count(kernels.len()), count(copies.len()));
            let threads = (0..).zip(threads).map(|(index, raw)| thread(raw, index, s, k, c, barrier)).collect();
            let mut catalogue = Catalogue::new(device);
            for stream in specs {
                catalogue.add_stream(stream).expect("the device takes it");
            }
            for event in 0..EVENTS {
                catalogue.add_event(format!("E{event}").into()).expect("few");
            }
            for kernel in kernels {
                catalogue.add_kernel(kernel).expect("the device takes it");
            }
            for copy in copies {
                catalogue.add_copy(copy).expect("the device takes it");
            }
            let horizon = horizon.map(ns);
            Case(Scenario { placement, seed, horizon, ..of_threads(catalogue, threads) })
        },
    )
}

/// What these threads do, and nothing else.
pub(crate) fn of_threads(catalogue: Catalogue, threads: Vec<HostThread>) -> Scenario {
    Scenario {
        name: "random".to_owned(),
        catalogue,
        placement: Placement::default(),
        seed: 0,
        horizon: None,
        block_times: std::collections::BTreeMap::new(),
        threads,
        release_order: ReleaseOrder::default(),
        assumptions: Vec::new(),
        ready_order: std::sync::Arc::default(),
        notes: Vec::new(),
        expected: None,
        chains: Vec::new(),
        examiner: None,
        calls: None,
    }
}

fn copy_of((direction, bytes, duration): (u8, u64, Option<u64>)) -> Copy {
    let direction = match direction {
        0 => CopyDirection::HostToDevice,
        1 => CopyDirection::DeviceToHost,
        _ => CopyDirection::DeviceToDevice,
    };
    Copy { direction, bytes: Some(bytes), duration: duration.map(ns) }
}
