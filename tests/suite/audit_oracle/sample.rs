//! Small random scenarios by number, for campaigns in which any sample can be run again alone: many events coincide, as
//! whole milliseconds do. Only what the plain reading of the rules knows; `crate::generate` makes scenarios with all
//! the rest, and shrinks them.

use gpusched::device::{BlockShape, CopyDirection, CopySharing, Device, SmMask};
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::time::Duration;
use gpusched::workload::{BlockClock, BlockTime, Copy, Kernel, StreamId, StreamSpec};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::generate::builtin;

/// A scenario that depends on `sample` only. What it may use depends on the bits of `sample`.
pub(crate) fn scenario(sample: u64) -> Scenario {
    let mut random = ChaCha8Rng::seed_from_u64(0x6175_6469_7400);
    random.set_stream(sample);
    let options = ReadOptions { seed: Some(sample), ..ReadOptions::default() };
    let mut builder = ScenarioBuilder::new(
        format!("sample {sample}"),
        device(&mut random, sample >> 8 & 1 == 1, sample.is_multiple_of(3)),
        &options,
    );
    let has = |feature: u32| sample >> feature & 1 == 1;
    let mut streams = vec![StreamId::NULL];
    for index in 0..random.random_range(1..5) {
        let prioritized = has(0) && random.random_bool(0.5);
        let spec = StreamSpec {
            priority: if prioritized { -i32::from(random.random_bool(0.5)) } else { 0 },
            blocking: !prioritized,
            sm_mask: (has(1) && random.random_bool(0.3)).then(|| mask(&mut random)),
            ..StreamSpec::new(format!("stream {index}"))
        };
        streams.push(builder.add_stream(spec).expect("every device here has two priorities"));
    }
    let events = ["E", "F"].map(|name| builder.add_event(name).expect("few"));
    let barrier = has(2).then(|| builder.new_barrier());
    for index in 0..random.random_range(1..5_u32) {
        let own = StreamId(random.random_range(1..streams.len()).try_into().expect("few streams"));
        let mut steps = Vec::new();
        for position in 0..random.random_range(1..4) {
            let stream = match random.random_range(0..10) {
                0..3 if has(3) => StreamId::NULL,
                3 => streams[random.random_range(0..streams.len())],
                _ => own,
            };
            match random.random_range(0..10) {
                0 | 1 if has(4) => {
                    let copy = copy(&mut random);
                    steps.push(Step::Copy(builder.add_copy(copy).expect("short"), stream));
                }
                2 if has(4) => steps.push(Step::Memset(stream)),
                3 if has(8) => steps.push(Step::Record(events[random.random_range(0..2)], stream)),
                4 | 5 if has(8) => steps.push(Step::Wait(events[random.random_range(0..2)], stream)),
                _ => {
                    let kernel = kernel(&format!("K{index}.{position}"), &mut random, sample);
                    steps.push(Step::Launch(builder.add_kernel(kernel).expect("it fits an SM"), stream));
                }
            }
            match random.random_range(0..6) {
                0 => steps.push(Step::SynchronizeStream(stream)),
                1 => steps.push(Step::Sleep(time(&mut random, 4))),
                2 => steps.push(Step::AwaitLast),
                _ => {}
            }
        }
        steps.push(Step::SynchronizeStream(own));
        let release = if random.random_bool(0.5) { Duration::ZERO } else { time(&mut random, 6) };
        let iterations = Some(random.random_range(1..3));
        let once = HostThread::once(format!("thread {index}"), release, steps);
        builder.add_thread(HostThread { iterations, barrier, ..once });
    }
    builder.build()
}

/// A TX2, or something like it with more SMs, another order and two copy engines; perhaps with launch latencies, or
/// with shared links.
fn device(random: &mut impl Rng, latencies: bool, shared: bool) -> Device {
    let name = if random.random_bool(0.6) { "tx2" } else { "titan-v" };
    let changed = builtin(name).with(|spec| {
        spec.copy.sharing = if shared { CopySharing::SharedLink } else { CopySharing::OneAtATime };
        if latencies && random.random_bool(0.5) {
            spec.launch_latency = Duration::from_ns(random.random_range(0..3) * 500_000);
            spec.kernel_gap = Duration::from_ns(random.random_range(0..3) * 500_000);
        }
        if name == "tx2" {
            return;
        }
        spec.sms = random.random_range(1..6);
        spec.sms_per_tpc = spec.sms_per_tpc.min(spec.sms);
        spec.copy.engines = 2;
    });
    changed.expect("it is a GPU")
}

fn mask(random: &mut impl Rng) -> SmMask {
    // Never takes the first TPC away, so that some SM is left everywhere.
    SmMask::parse(&format!("{:x}", random.random_range(0..4_u32) * 2)).expect("hexadecimal")
}

/// Up to `most` ms, mostly whole ones.
fn time(random: &mut impl Rng, most: u64) -> Duration {
    let whole = random.random_range(1..=most) * 1_000_000;
    Duration::from_ns(if random.random_bool(0.8) { whole } else { whole + random.random_range(0..999_999) })
}

fn copy(random: &mut impl Rng) -> Copy {
    let direction = if random.random_bool(0.5) { CopyDirection::HostToDevice } else { CopyDirection::DeviceToHost };
    Copy { direction, bytes: Some(random.random_range(1..100)), duration: Some(time(random, 3)) }
}

fn kernel(name: &str, random: &mut impl Rng, sample: u64) -> Kernel {
    let has = |feature: u32| sample >> feature & 1 == 1;
    let threads = [32, 140, 256, 512, 768, 1024][random.random_range(0..6)];
    let shared = if has(5) { [0, 0, 8192, 20_000, 32_768][random.random_range(0..5)] } else { 0 };
    // As many as the per-block limit of the TX2 leaves.
    let registers = if has(6) { [0, 16, 30][random.random_range(0..3)] } else { 0 };
    let best = time(random, 5);
    let worst = if has(7) { best + time(random, 2) } else { best };
    Kernel {
        name: name.into(),
        title: name.into(),
        blocks: random.random_range(1..9),
        shape: BlockShape { threads, registers_per_thread: registers, shared_memory_bytes: shared },
        duration: BlockTime { best, worst },
        clock: BlockClock::RunTime,
        sm_mask: (has(1) && random.random_bool(0.2)).then(|| mask(random)),
    }
}
