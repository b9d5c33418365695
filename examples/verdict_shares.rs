//! How many verdicts of everyday pipelines are decided: four periodic streams with rate-monotonic priorities, whose
//! jobs are 3 to 10 kernels of 0.3 to 2 waves, at several loads, on several devices, deadline = period.
//!
//! `GPUSCHED_CASES` sets how many task sets are drawn for each row, `GPUSCHED_SEED` the first seed,
//! `GPUSCHED_DEVICES` the devices, separated by commas, `GPUSCHED_LOAD` the one load to look at, `GPUSCHED_RUNS` how
//! many runs each search has.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::fmt::Write;
use std::time::Instant as WallTime;

use gpusched::analysis::{SearchOptions, Verdict, finish_bounds, judge, judge_sporadic};
use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::scenario::{ReadOptions, Scenario};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Periods \[ms\], the shortest first, and for how long jobs are released \[ms\].
const FAMILIES: [(&str, [u64; 4], u64); 2] =
    [("harmonic", [10, 20, 40, 80], 160), ("non-harmonic", [10, 33, 50, 100], 300)];

/// Shares of the GPU's time that all streams need together \[%\].
const LOADS: [u64; 4] = [20, 40, 60, 80];

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive, and far below 2^63")]
fn at_least_one(number: f64) -> u64 {
    (number.round() as u64).max(1)
}

/// One task set: each stream has a quarter of the load.
fn sample(device: &str, (periods, until): ([u64; 4], u64), load: u64, seed: u64) -> Result<Scenario, Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Which streams share a channel is not what the table is about.
    let of = Device::builtin(device)?.ok_or("it is built in")?.without_channels();
    let levels = i32::try_from(of.priorities().count())?;
    let (mut kernels, mut streams) = (String::new(), String::new());
    for (index, period) in periods.into_iter().enumerate() {
        let count = random.random_range(3..=10);
        let parts: Vec<(u64, f64)> =
            (0..count).map(|_| (1 << random.random_range(2..=4), random.random_range(0.3..=2.0))).collect();
        let weights: Vec<f64> = parts.iter().map(|_| random.random_range(0.5..=1.5)).collect();
        let total: f64 = parts.iter().zip(&weights).map(|((_, waves), weight)| waves * weight).sum();
        let unit_ns = period as f64 * 1e6 * load as f64 / 100.0 / 4.0 / total;
        let mut operations = Vec::new();
        for (number, ((warps, waves), weight)) in parts.into_iter().zip(weights).enumerate() {
            let resident = u64::from(of.sms) * (u64::from(of.warps_per_sm()) / warps);
            let blocks = at_least_one(resident as f64 * waves);
            let (name, separator) = (format!("K{index}_{number}"), if kernels.is_empty() { "" } else { ", " });
            let ns = at_least_one(unit_ns * weight);
            write!(
                kernels,
                r#"{separator}"{name}": {{"blocks": {blocks}, "threads": {}, "duration": "{ns} ns"}}"#,
                32 * warps
            )?;
            operations.push(format!(r#"{{"kernel": "{name}"}}"#));
        }
        // The shortest period has the highest priority that there is.
        let priority = (i32::try_from(index)? + 1 - levels).min(0);
        let separator = if streams.is_empty() { "" } else { ", " };
        write!(
            streams,
            r#"{separator}{{"name": "S{index}", "priority": {priority}, "period": "{period} ms", "jobs": {}, "operations": [{}]}}"#,
            until.div_ceil(period),
            operations.join(", ")
        )?;
    }
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "{load} %, seed {seed}", "kernels": {{{kernels}}}, "streams": [{streams}]}}"#
    );
    Ok(Scenario::from_json("sample.json", &text, &ReadOptions { device: Some(of), ..ReadOptions::default() })?)
}

/// A row of the table: device, family, load; jobs proven, missed and open; how bounds compare with what was found;
/// streams proven over all phasings; the longest time that the bounds of a task set took.
fn row(device: &str, family: usize, load: u64, seeds: std::ops::Range<u64>, runs: u64) -> Result<String, Failure> {
    let (name, periods, until) = FAMILIES[family];
    let (mut counts, mut ratios) = ([0_u32; 3], Vec::new());
    let (mut streams, mut missed_streams, mut of_streams, mut longest) = (0, 0, 0, 0.0_f64);
    for seed in seeds {
        let scenario = sample(device, (periods, until), load, seed)?;
        let options = SearchOptions { runs, ..SearchOptions::default() };
        let begun = WallTime::now();
        finish_bounds(&scenario, options.bound)?;
        longest = longest.max(begun.elapsed().as_secs_f64());
        for job in judge(&scenario, &options, Progress::NONE)?.jobs {
            match job.verdict {
                Some(Verdict::Proven) => counts[0] += 1,
                Some(Verdict::Missed) => counts[1] += 1,
                _ => counts[2] += 1,
            }
            let (bound, found) = (job.bound_ns.map_or(f64::INFINITY, |bound| bound.as_ns() as f64), job.worst_found_ns);
            ratios.extend(found.map(|found| bound / found.as_ns() as f64));
        }
        for stream in judge_sporadic(&scenario, &[], &options, Progress::NONE)?.streams {
            streams += u32::from(stream.verdict == Some(Verdict::Proven));
            missed_streams += u32::from(stream.verdict == Some(Verdict::Missed));
            of_streams += 1;
        }
    }
    ratios.sort_by(f64::total_cmp);
    let at = |percent: usize| ratios.get((ratios.len().saturating_sub(1)) * percent / 100).copied().unwrap_or(f64::NAN);
    let [proven, missed, open] = counts;
    let decided = 100.0 * f64::from(proven + missed) / f64::from(proven + missed + open);
    Ok(format!(
        "{device:<10} {name:<13} {load:>2} %  proven {proven:>5} missed {missed:>4} open {open:>5}  decided {decided:>5.1} %  \
         bound / worst found: median {:.2}, 90 % {:.2}, most {:.2}  sporadic proven {streams} missed {missed_streams} of {of_streams}  {longest:.1} s",
        at(50),
        at(90),
        at(100)
    ))
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

pub(crate) fn main() -> Result<(), Failure> {
    let devices = std::env::var("GPUSCHED_DEVICES").unwrap_or_else(|_| "tx2".to_owned());
    let (cases, first) = (number("GPUSCHED_CASES", 1), number("GPUSCHED_SEED", 0));
    for device in devices.split(',') {
        for family in 0..FAMILIES.len() {
            for load in LOADS.into_iter().filter(|load| number("GPUSCHED_LOAD", *load) == *load) {
                println!("{}", row(device, family, load, first..first + cases, number("GPUSCHED_RUNS", 64))?);
            }
        }
    }
    Ok(())
}
