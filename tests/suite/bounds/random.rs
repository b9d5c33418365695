//! Random scenarios: no run is above a bound.

use gpusched::analysis::{BlockTimes, BoundOptions, SearchOptions, analyse, finish_bounds};
use gpusched::device::Device;
use gpusched::scenario::{ReleaseOrder, Scenario};
use proptest::prelude::*;

use super::{judged, scenario};
use crate::campaign::{campaign, config};
use crate::common::tx2;

/// A stream and its jobs.
#[derive(Debug, Clone)]
struct Stream {
    priority: Option<i32>,
    release_ms: u32,
    /// Period, jobs.
    periodic: Option<(u32, u32)>,
    mask: Option<u32>,
    operations: Vec<Operation>,
}

#[derive(Debug, Clone)]
enum Operation {
    Kernel {
        blocks: u32,
        warps: u32,
        shared: u32,
        ms: u32,
    },
    Copy {
        to_device: bool,
        ms: u32,
    },
    Memset,
    /// Of one of two events.
    Record(bool),
    Wait(bool),
}

/// A scenario.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    sms: u32,
    levels: u32,
    null: bool,
    streams: Vec<Stream>,
}

impl Sample {
    pub(crate) fn example() -> Self {
        let kernel = |blocks, warps, ms| Operation::Kernel { blocks, warps, shared: 0, ms };
        let stream = |release_ms, operations| Stream {
            priority: None,
            release_ms,
            periodic: Some((20, 2)),
            mask: None,
            operations,
        };
        let copy = Operation::Copy { to_device: true, ms: 2 };
        Self {
            sms: 2,
            levels: 2,
            null: false,
            streams: vec![
                stream(0, vec![copy, kernel(5, 16, 4), kernel(3, 32, 3)]),
                stream(1, vec![kernel(7, 20, 2), kernel(2, 8, 6)]),
                stream(1, vec![kernel(3, 24, 5)]),
            ],
        }
    }

    /// The same with as many jobs as launch about so many operations in all. Each stream has a period of so many times
    /// as long as one job of each takes, if no two of them run together.
    pub(super) fn repeated(mut self, operations: u32, periods: &[u32]) -> Self {
        let time = |operation: &Operation| match *operation {
            Operation::Kernel { blocks, warps, ms, .. } => (blocks * warps).div_ceil(64 * self.sms) * ms,
            Operation::Copy { ms, .. } => ms,
            Operation::Memset | Operation::Record(_) | Operation::Wait(_) => 0,
        };
        let together = self.streams.iter().flat_map(|stream| &stream.operations).map(time).sum::<u32>().max(1);
        // In sixtieths of an operation, all together in that time.
        let share = |(stream, times): (&Stream, &u32)| stream.operations.iter().map(|_| 60 / times).sum::<u32>();
        let each = self.streams.iter().zip(periods.iter().cycle()).map(share).sum::<u32>().max(1);
        for (stream, times) in self.streams.iter_mut().zip(periods.iter().cycle()) {
            let jobs = (60 * operations).div_ceil(each * times);
            stream.periodic = Some((together * times, jobs));
        }
        self
    }

    fn device(&self) -> Device {
        let device = tx2().with(|spec| (spec.sms, spec.sms_per_tpc, spec.priority_levels) = (self.sms, 1, self.levels));
        device.expect("it is within the limits")
    }

    pub(crate) fn scenario(&self) -> Scenario {
        // A scenario needs a kernel; this one is not launched.
        let mut kernels = vec![r#""unused": {"blocks": 1, "threads": 32, "duration": "1 ms"}"#.to_owned()];
        let mut streams = Vec::new();
        for (index, stream) in self.streams.iter().enumerate() {
            let mut operations = Vec::new();
            for operation in &stream.operations {
                operations.push(match *operation {
                    Operation::Kernel { blocks, warps, shared, ms } => {
                        let name = format!("K{}", kernels.len());
                        kernels.push(format!(
                            r#""{name}": {{"blocks": {blocks}, "threads": {}, "shared_memory_bytes": {}, "duration": {{"best": "{} ms", "worst": "{ms} ms"}}}}"#,
                            32 * warps,
                            8_192 * shared,
                            ms.div_ceil(2)
                        ));
                        format!(r#"{{"kernel": "{name}"}}"#)
                    }
                    Operation::Copy { to_device, ms } => {
                        let direction = if to_device { "host-to-device" } else { "device-to-host" };
                        format!(r#"{{"copy": "{direction}", "bytes": {}}}"#, ms * 10_000_000)
                    }
                    Operation::Memset => r#"{"memset": 4}"#.to_owned(),
                    Operation::Record(event) => format!(r#"{{"record": "{event}"}}"#),
                    Operation::Wait(event) => format!(r#"{{"wait": "{event}"}}"#),
                });
            }
            let is_null = self.null && index == 0;
            let name = if is_null { "NULL".to_owned() } else { format!("S{index}") };
            let priority = stream.priority.filter(|_| !is_null).map_or(String::new(), |priority| {
                format!(r#""priority": {}, "#, priority.max(1 - i32::try_from(self.levels).expect("small")))
            });
            let mask = stream.mask.filter(|_| self.sms > 1 && !is_null);
            let mask = mask.map_or(String::new(), |mask| format!(r#""sm_mask": "0x{mask}", "#));
            let period = stream
                .periodic
                .map_or(String::new(), |(period, jobs)| format!(r#""period": "{period} ms", "jobs": {jobs}, "#));
            streams.push(format!(
                r#"{{"name": "{name}", {priority}{mask}{period}"release": "{} ms", "operations": [{}]}}"#,
                stream.release_ms,
                operations.join(", ")
            ));
        }
        scenario(&kernels.join(", "), &streams.join(", "), &self.device())
    }
}

pub(super) fn sample() -> impl Strategy<Value = Sample> {
    let kernel = |equal: bool| {
        let shape = if equal { (16_u32..=16, 0_u32..=0).boxed() } else { (1_u32..=32, 0_u32..4).boxed() };
        (1_u32..14, shape, 1_u32..12).prop_map(|(blocks, (warps, shared), ms)| Operation::Kernel {
            blocks,
            warps,
            shared,
            ms,
        })
    };
    let operation = move |equal: bool| {
        prop_oneof![
            6 => kernel(equal),
            2 => (any::<bool>(), 1_u32..8).prop_map(|(to_device, ms)| Operation::Copy { to_device, ms }),
            1 => Just(Operation::Memset),
            1 => any::<bool>().prop_map(Operation::Record),
            1 => any::<bool>().prop_map(Operation::Wait),
        ]
    };
    let stream = move |equal: bool| {
        (
            prop_oneof![2 => Just(None), 3 => (-2_i32..=0).prop_map(Some)],
            prop_oneof![2 => Just(0_u32), 1 => 0_u32..25],
            prop_oneof![2 => Just(None), 1 => (5_u32..40, 2_u32..4).prop_map(Some)],
            prop_oneof![5 => Just(None), 1 => (1_u32..=2).prop_map(Some)],
            prop::collection::vec(operation(equal), 1..4),
        )
            .prop_map(|(priority, release_ms, periodic, mask, operations)| Stream {
                priority,
                release_ms,
                periodic,
                mask,
                operations,
            })
    };
    let streams = any::<bool>().prop_flat_map(move |equal| prop::collection::vec(stream(equal), 1..5));
    let sms = prop_oneof![1 => Just(1_u32), 5 => Just(2_u32), 1 => Just(3_u32)];
    (sms, 1_u32..4, prop::bool::weighted(0.2), streams).prop_map(|(sms, levels, null, mut streams)| {
        for stream in &mut streams {
            if sms != 2 {
                stream.mask = None;
            }
        }
        Sample { sms, levels, null, streams }
    })
}

/// Periodic streams of some kernels a job, of several priorities, with several jobs each: what is carried over from one
/// job to the next, and what lower priorities have on the SMs, decides.
fn pipelines() -> impl Strategy<Value = Sample> {
    let warps = prop_oneof![Just(4_u32), Just(8), Just(16), Just(32)];
    let kernel = (1_u32..24, warps, 1_u32..4).prop_map(|(blocks, warps, ms)| {
        let blocks = if warps == 32 { blocks.div_ceil(3) } else { blocks };
        Operation::Kernel { blocks, warps, shared: 0, ms }
    });
    let copy = (any::<bool>(), 1_u32..3).prop_map(|(to_device, ms)| Operation::Copy { to_device, ms });
    let operation = prop_oneof![12 => kernel, 1 => copy];
    let stream = (
        prop_oneof![1 => Just(None), 4 => (-3_i32..=0).prop_map(Some)],
        prop_oneof![3 => Just(0_u32), 1 => 0_u32..10],
        (10_u32..60, 1_u32..5).prop_map(Some),
        prop::collection::vec(operation, 1..5),
    )
        .prop_map(|(priority, release_ms, periodic, operations)| Stream {
            priority,
            release_ms,
            periodic,
            mask: None,
            operations,
        });
    (1_u32..4, 1_u32..5, prop::collection::vec(stream, 2..5)).prop_map(|(sms, levels, streams)| Sample {
        sms,
        levels,
        null: false,
        streams,
    })
}

pub(super) fn options() -> impl Strategy<Value = BoundOptions> {
    (any::<bool>(), any::<bool>()).prop_map(|(shorter, as_declared)| BoundOptions {
        block_times: if shorter { BlockTimes::UpToStated } else { BlockTimes::AsStated },
        order: if as_declared { ReleaseOrder::Declared } else { ReleaseOrder::Any },
    })
}

/// Bound / worst response found, of every job.
fn ratios(sample: &Sample, bound: BoundOptions, seed: u64, runs: u64) -> Result<Vec<f64>, TestCaseError> {
    let scenario = sample.scenario();
    let verdicts = judged(&scenario, &SearchOptions { bound, seed, runs, ..SearchOptions::default() });
    let mut ratios = Vec::new();
    for job in &verdicts.jobs {
        let Some(found) = job.worst_found_ns else { continue };
        let bound = job.bound_ns;
        prop_assert!(bound.is_some(), "no bound: {job:?}");
        prop_assert!(bound >= Some(found), "{job:?}");
        if let Some(bound) = bound.filter(|_| found.as_ns() > 0) {
            ratios.push(bound.as_ns() as f64 / found.as_ns() as f64);
        }
    }
    Ok(ratios)
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn no_run_is_above_the_bound_of_its_job(sample in sample(), options in options(), seed in any::<u64>()) {
        ratios(&sample, options, seed, 24)?;
    }

    /// Where the analysis of the merged SM is exact, the bounds by orders of dispatch are too: a copy elsewhere keeps
    /// the bounds from being taken from the analysis.
    #[test]
    fn bounds_of_equal_independent_kernels_are_exact(
        kernels in prop::collection::vec((1_u32..40, 1_u32..12, prop_oneof![1 => Just(0_u32), 1 => 0_u32..20]), 1..7),
        warps in 1_u32..=32,
    ) {
        let streams: Vec<Stream> = kernels
            .iter()
            .map(|&(blocks, ms, release_ms)| Stream {
                priority: Some(0),
                release_ms,
                periodic: None,
                mask: None,
                operations: vec![Operation::Kernel { blocks, warps, shared: 0, ms }],
            })
            .collect();
        let mut sample = Sample { sms: 2, levels: 2, null: false, streams };
        let plain = sample.scenario();
        let exact = analyse(&plain).expect("it runs");
        let operations = vec![Operation::Copy { to_device: true, ms: 3 }];
        sample.streams.push(Stream { priority: None, release_ms: 0, periodic: None, mask: None, operations });
        let with_copy = sample.scenario();
        let bounds = finish_bounds(&with_copy, BoundOptions::DECLARED).expect("it runs");
        let mut found: Vec<_> = bounds.operations.iter().filter(|operation| (operation.origin.thread as usize) < plain.threads.len()).collect();
        found.sort_by_key(|operation| operation.origin.thread);
        let mut analysed: Vec<_> = exact.kernels.iter().collect();
        analysed.sort_by_key(|kernel| kernel.launch.benchmark);
        for (bound, kernel) in found.iter().zip(analysed) {
            prop_assert_eq!(bound.finish, kernel.finish_ns);
        }
    }
}

proptest! {
    #![proptest_config(config(10))]

    #[test]
    fn no_run_of_pipelines_is_above_the_bound_of_its_job(sample in pipelines(), seed in any::<u64>()) {
        ratios(&sample, BoundOptions::default(), seed, 12)?;
    }
}

/// Each scenario is run 200 times for each kind of block times.
#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_bounds() {
    for block_times in [BlockTimes::UpToStated, BlockTimes::AsStated] {
        let name = format!("jobs, given releases, {block_times:?}");
        let said = campaign(&name, 5_000, &(sample(), any::<u64>()), |(sample, seed)| {
            ratios(&sample, BoundOptions { block_times, ..BoundOptions::default() }, seed, 200)
        });
        println!("{said}");
    }
}

/// Each scenario is run 200 times.
#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_bounds_of_pipelines() {
    let said = campaign("jobs of pipelines", 5_000, &(pipelines(), any::<u64>()), |(sample, seed)| {
        ratios(&sample, BoundOptions::default(), seed, 200)
    });
    println!("{said}");
}
