//! Random pipelines: periodic streams whose jobs are a few kernels one after the other, at a given load.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::grid::{self, Parameters, Read, keys};
use crate::device::Device;
use crate::json::{Node, Problem};
use crate::named::named;
use crate::tasks::uunifast;
use crate::time::Duration;

named! {
    /// How streams come to their periods.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum PeriodsAre: ALL {
        /// Each has one of the list.
        OneEach = "one-each",
        /// Each draws one of the list.
        Drawn = "drawn",
    }
}

named! {
    /// How the load is divided among streams.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum LoadsAre: ALL {
        /// Each has the same share.
        Equal = "equal",
        /// By `UUniFast`.
        UUniFast = "uunifast",
    }
}

named! {
    /// Which priorities streams have.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Priorities: ALL {
        /// The shorter the period, the higher; those for which the device has no level are all at the lowest.
        RateMonotonic = "rate-monotonic",
        /// All have the lowest.
        Equal = "equal",
    }
}

/// A distribution of scenarios: what it draws is uniform within the ranges.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pipelines {
    pub(super) streams: u32,
    /// Their periods, and how they are meant.
    pub(super) periods: Vec<Duration>,
    pub(super) periods_are: PeriodsAre,
    /// Share of the GPU's time that all streams need together \[percent\].
    pub(super) load_percent: u32,
    pub(super) loads_are: LoadsAre,
    /// Kernels of a job.
    pub(super) kernels: RangeInclusive<u32>,
    /// Blocks of a kernel, in parts of those that the idle GPU holds \[percent\].
    pub(super) waves_percent: RangeInclusive<u32>,
    /// Threads of a block: one of these.
    pub(super) threads: Vec<u32>,
    pub(super) priorities: Priorities,
    /// Deadlines, in parts of the period \[percent\].
    pub(super) deadline_percent: u32,
    /// Until when jobs are released; `None`: twice the longest period of the list.
    pub(super) releases_until: Option<Duration>,
}

impl Default for Pipelines {
    /// Four streams of harmonic periods, with the kernels by which `docs/analysis.md` measures how much is open.
    fn default() -> Self {
        Self {
            streams: 4,
            periods: [10, 20, 40, 80].map(|ms| Duration::from_ns(ms * 1_000_000)).to_vec(),
            periods_are: PeriodsAre::OneEach,
            load_percent: 40,
            loads_are: LoadsAre::Equal,
            kernels: 3..=10,
            waves_percent: 30..=200,
            threads: vec![128, 256, 512],
            priorities: Priorities::RateMonotonic,
            deadline_percent: 100,
            releases_until: None,
        }
    }
}

/// Most streams of a pipeline, kernels of a job, and percent.
const MOST: u32 = 1_000;

fn range(value: Node<'_>, least: u32) -> Result<RangeInclusive<u32>, Problem> {
    grid::range(value, (u64::from(least), u64::from(MOST)))
}

impl Parameters for Pipelines {
    const KEYS: &'static [(&'static str, Read<Self>)] = keys! { |value, files|
        "deadline_percent" => deadline_percent: value.whole_u32(1, MOST);
        "kernels_per_job" => kernels: range(value, 1);
        "load_percent" => load_percent: value.whole_u32(1, MOST);
        "loads_are" => loads_are: grid::one_of(value, &LoadsAre::ALL, LoadsAre::name);
        "periods" => periods: value.filled_list()?.iter().map(grid::positive).collect::<Result<Vec<Duration>, Problem>>();
        "periods_are" => periods_are: grid::one_of(value, &PeriodsAre::ALL, PeriodsAre::name);
        "priorities" => priorities: grid::one_of(value, &Priorities::ALL, Priorities::name);
        "releases_until" => releases_until: grid::positive(&value);
        "streams" => streams: value.whole_u32(1, MOST);
        "threads_per_block" => threads: {
            let threads = value.filled_list()?;
            threads.iter().map(|one| one.whole_u32(1, 1_024)).collect::<Result<Vec<u32>, Problem>>()
        };
        "waves_percent" => waves_percent: range(value, 1);
    };
}

/// Longest blocks of a kernel take so many times as long as the shortest of the same job, at most.
const WEIGHTS: RangeInclusive<f64> = 0.5..=1.5;

/// A kernel before it is known how long its blocks run.
struct Drawn {
    blocks: u64,
    threads: u32,
    /// Its blocks in parts of those that the idle GPU holds.
    waves: f64,
    /// How long its blocks run, in parts of one time for the whole stream.
    weight: f64,
}

impl Pipelines {
    /// What is wrong with the numbers together.
    pub(super) fn wrong(&self) -> Option<String> {
        let (streams, periods) = (self.streams, self.periods.len());
        (self.periods_are == PeriodsAre::OneEach && streams as usize != periods)
            .then(|| format!("{streams} streams have {periods} periods: state as many, or \"periods_are\": \"drawn\""))
    }

    /// Sample number `sample` under `seed` on a device, as a scenario file. It depends on these and the distribution
    /// alone; samples at another load are drawn anew.
    pub(super) fn scenario(&self, device: &Device, seed: u64, sample: u64) -> String {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        numbers.set_stream(u64::from(self.load_percent) << 40 | sample);
        let streams = self.streams as usize;
        let load = f64::from(self.load_percent) / 100.0;
        let loads = match self.loads_are {
            LoadsAre::Equal => vec![load / f64::from(self.streams); streams],
            LoadsAre::UUniFast => uunifast(streams, load, &mut numbers),
        };
        let periods: Vec<Duration> = match self.periods_are {
            PeriodsAre::OneEach => self.periods.clone(),
            PeriodsAre::Drawn => {
                (0..streams).map(|_| self.periods[numbers.random_range(0..self.periods.len())]).collect()
            }
        };
        let longest = self.periods.iter().copied().max().unwrap_or_default();
        let until = self.releases_until.unwrap_or_else(|| longest.saturating_add(longest));
        let levels = device.priorities().count();
        let mut kernels = Map::new();
        let streams = periods.iter().zip(loads).enumerate().map(|(index, (period, load))| {
            let stream = format!("S{}", index + 1);
            let mut operations = Vec::new();
            for (number, (kernel, time)) in self.kernels(device, load * period.as_ns() as f64, &mut numbers).enumerate()
            {
                let name = format!("{stream}-K{}", number + 1);
                operations.push(json!({"kernel": &name}));
                let Drawn { blocks, threads, .. } = kernel;
                kernels.insert(name, json!({"blocks": blocks, "threads": threads, "duration": format!("{time} ns")}));
            }
            let shorter: BTreeSet<&Duration> = periods.iter().filter(|other| *other < period).collect();
            let above_lowest = match self.priorities {
                Priorities::RateMonotonic => levels.saturating_sub(shorter.len() + 1),
                Priorities::Equal => 0,
            };
            let deadline = u128::from(period.as_ns()) * u128::from(self.deadline_percent) / 100;
            json!({
                "name": stream,
                "priority": 0_i64.saturating_sub_unsigned(above_lowest as u64),
                "period": format!("{} ns", period.as_ns()),
                "jobs": until.as_ns().div_ceil(period.as_ns().max(1)).max(1),
                "deadline": format!("{deadline} ns"),
                "operations": operations,
            })
        });
        let streams: Vec<Value> = streams.collect();
        let name = format!("load {} %, seed {seed}, sample {sample}", self.load_percent);
        json!({"format": "gpusched-scenario/1", "name": name, "kernels": kernels, "streams": streams}).to_string()
    }

    /// The kernels of a job that needs `work` of the GPU's time \[ns\], each with the time of its blocks \[ns\].
    fn kernels(
        &self,
        device: &Device,
        work: f64,
        numbers: &mut ChaCha8Rng,
    ) -> impl Iterator<Item = (Drawn, u64)> + use<> {
        let count = numbers.random_range(self.kernels.clone());
        let drawn = (0..count).map(|_| {
            let threads = self.threads[numbers.random_range(0..self.threads.len())];
            let held = (device.warps_per_sm() / threads.div_ceil(device.warp_size).max(1)).min(device.per_sm.blocks);
            let held = u64::from(device.sms) * u64::from(held.max(1));
            let percent = numbers.random_range(self.waves_percent.clone());
            let blocks = ((held * u64::from(percent) + 50) / 100).max(1);
            let weight = numbers.random_range(WEIGHTS);
            Drawn { blocks, threads, waves: blocks as f64 / held as f64, weight }
        });
        let drawn: Vec<Drawn> = drawn.collect();
        let parts: f64 = drawn.iter().map(|kernel| kernel.waves * kernel.weight).sum();
        drawn.into_iter().map(move |kernel| {
            let time = whole(work * kernel.weight / parts).max(1);
            (kernel, time)
        })
    }
}

/// The nearest whole number.
fn whole(ns: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "of a time above zero, and cut at 2^64"
    )]
    let whole = ns.round() as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{ReadOptions, Scenario};

    fn tx2() -> Device {
        Device::builtin("tx2").expect("sound").expect("built in")
    }

    fn read(text: &str) -> Scenario {
        Scenario::from_json("drawn.json", text, &ReadOptions::default()).expect("it is sound")
    }

    /// Of each stream's jobs, in parts of its period.
    fn loads(scenario: &Scenario) -> Vec<f64> {
        let of_thread = |thread: &crate::scenario::HostThread| {
            let held = |threads: u32| 2.0 * f64::from((2048 / threads).min(32));
            let kernels =
                scenario.kernels().iter().filter(|kernel| kernel.name.starts_with(&format!("{}-", thread.label)));
            let work: f64 = kernels
                .map(|kernel| {
                    f64::from(kernel.blocks) / held(kernel.shape.threads) * kernel.duration.worst.as_ns() as f64
                })
                .sum();
            work / thread.period.expect("it has one").as_ns() as f64
        };
        scenario.threads.iter().map(of_thread).collect()
    }

    #[test]
    fn streams_need_the_load_that_is_asked_for() {
        for (loads_are, streams) in [(LoadsAre::Equal, 4), (LoadsAre::UUniFast, 4)] {
            for sample in 0..20 {
                let pipelines = Pipelines { load_percent: 60, loads_are, streams, ..Pipelines::default() };
                let loads = loads(&read(&pipelines.scenario(&tx2(), 1, sample)));
                assert!((loads.iter().sum::<f64>() - 0.6).abs() < 1e-4, "{loads:?}");
                let equal = loads.iter().all(|load| (load - 0.15).abs() < 1e-4);
                assert_eq!(equal, loads_are == LoadsAre::Equal, "{loads:?}");
            }
        }
    }

    #[test]
    fn the_shorter_the_period_the_higher_the_priority_as_far_as_there_are_levels() {
        // A TX2 has two levels: 0 and -1.
        let drawn = read(&Pipelines::default().scenario(&tx2(), 7, 0));
        let priorities: Vec<i32> = drawn.streams().iter().skip(1).map(|stream| stream.priority).collect();
        assert_eq!(priorities, [-1, 0, 0, 0]);
        // 160 ms of jobs: 16, 8, 4 and 2.
        let jobs: Vec<Option<u64>> = drawn.threads.iter().map(|thread| thread.iterations).collect();
        assert_eq!(jobs, [Some(16), Some(8), Some(4), Some(2)]);
    }

    #[test]
    fn a_sample_is_the_same_again_and_another_by_seed_number_and_load() {
        let pipelines = Pipelines::default();
        let one = pipelines.scenario(&tx2(), 1, 2);
        assert_eq!(one, pipelines.scenario(&tx2(), 1, 2));
        let heavier = Pipelines { load_percent: 41, ..pipelines.clone() };
        for other in
            [pipelines.scenario(&tx2(), 2, 2), pipelines.scenario(&tx2(), 1, 3), heavier.scenario(&tx2(), 1, 2)]
        {
            assert_ne!(one, other);
        }
    }
}
