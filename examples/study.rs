//! A study from code: does most-room placement finish sooner than the lowest SM first? Random scenarios, each from a
//! seed of its own, on all cores, and statistics of what came out.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use gpusched::device::Device;
use gpusched::gpu::GpuOptions;
use gpusched::hosts::simulate_with;
use gpusched::scenario::{HostThread, Scenario, ScenarioBuilder, Step};
use gpusched::time::Duration;
use gpusched::workload::{Kernel, Placement, StreamSpec};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const SEED: u64 = 2017;
const SAMPLES: u64 = 400;

/// Four streams, each with a kernel of random size, duration and release. Sample `index` is the same on any number of
/// threads, and can be drawn again alone.
fn sample(tx2: &Device, seed: u64, index: u64) -> Result<Scenario, Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(index);
    let mut builder = ScenarioBuilder::on(tx2, format!("sample {index}"));
    for number in 1..=4 {
        let stream = builder.add_stream(StreamSpec::new(format!("S{number}")))?;
        let (blocks, threads) = (random.random_range(1..=12), 32 * random.random_range(1..=32));
        let duration = Duration::from_ns(1_000_000 * random.random_range(1..=20));
        let kernel = builder.add_kernel(Kernel::new(format!("K{number}"), blocks, threads, duration))?;
        let release = Duration::from_ns(1_000_000 * random.random_range(0..=10));
        builder.add_thread(HostThread::once(format!("S{number}"), release, vec![Step::Launch(kernel, stream)]));
    }
    Ok(builder.build())
}

/// When the last kernel has finished \[ns\].
fn makespan(scenario: &Scenario, placement: Placement) -> Result<u64, Failure> {
    let run = simulate_with(scenario, GpuOptions { placement, ..GpuOptions::default() })?;
    Ok(run.trace.end().as_ns())
}

/// The makespan of each sample under lowest-id in percent of that under most-room, ascending.
fn study(seed: u64) -> Result<Vec<f64>, Failure> {
    let tx2 = Device::builtin("tx2")?.ok_or("the TX2 is built in")?;
    let ratios: Result<Vec<f64>, Failure> = (0..SAMPLES)
        .into_par_iter()
        .map(|index| {
            let scenario = sample(&tx2, seed, index)?;
            let most_room = makespan(&scenario, Placement::MostRoom)?;
            Ok(100.0 * makespan(&scenario, Placement::LowestId)? as f64 / most_room as f64)
        })
        .collect();
    let mut ratios = ratios?;
    ratios.sort_by(f64::total_cmp);
    Ok(ratios)
}

pub(crate) fn main() -> Result<(), Failure> {
    let ratios = study(SEED)?;
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    assert_eq!(ratios, alone.install(|| study(SEED))?, "the number of threads changes nothing");

    let count = |holds: fn(&f64) -> bool| ratios.iter().filter(|ratio| holds(ratio)).count();
    let (sooner, equal, later) =
        (count(|r| *r < 100.0), count(|r| (*r - 100.0).abs() < f64::EPSILON), count(|r| *r > 100.0));
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    println!("{SAMPLES} samples, seed {SEED}: makespan under lowest-id in percent of that under most-room");
    println!("sooner {sooner}, equal {equal}, later {later}");
    println!(
        "least {:.1}, median {:.1}, mean {mean:.1}, most {:.1}",
        ratios[0],
        ratios[ratios.len() / 2],
        ratios[ratios.len() - 1]
    );
    // Neither policy is always better: which one wins depends on what comes next.
    assert_eq!(sooner + equal + later, ratios.len());
    assert!(sooner > 0 && later > 0);
    Ok(())
}
