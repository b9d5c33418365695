//! Many samples of a family, in parallel, summed up.

use std::sync::atomic::{AtomicBool, Ordering};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::Value;

use super::family::Family;
use super::judge::{Judge, Verdict};
use super::sample::Sample;
use super::shrink::{Size, shrink};
use crate::device::Device;
use crate::gpu::RunError;
use crate::workload::Placement;

/// What to try.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// The GPU.
    pub device: Device,
    /// Which SM gets the next block.
    pub placement: Placement,
    /// Families, in the order of the report.
    pub families: Vec<Family>,
    /// Samples of each.
    pub samples: u64,
    /// Of all of them.
    pub seed: u64,
}

/// What came out of a campaign.
#[derive(Debug, Clone, Serialize)]
pub struct CampaignReport {
    /// Name of the device.
    pub device: String,
    /// The placement of the simulations.
    pub placement: &'static str,
    /// The seed.
    pub seed: u64,
    /// Whether the campaign was stopped before all samples were tried.
    pub stopped: bool,
    /// By family.
    pub families: Vec<FamilyReport>,
}

/// What came out of one family.
#[derive(Debug, Clone, Serialize)]
pub struct FamilyReport {
    /// Its name.
    pub family: &'static str,
    /// What is drawn.
    pub description: &'static str,
    /// Samples tried.
    pub samples: u64,
    /// Samples of which all finish times agree.
    pub equal: u64,
    /// Samples of which some kernel finishes later than analysed: the analysis is unsafe.
    pub optimistic: u64,
    /// Samples of which some kernel finishes earlier than analysed, and none later.
    pub pessimistic: u64,
    /// The largest |analysed - simulated| / simulated response of any kernel.
    pub max_error: f64,
    /// The largest |analysed - simulated| of any kernel \[ns\].
    pub max_error_ns: u64,
    /// The largest relative error on the unsafe side.
    pub max_optimistic_error: f64,
    /// Kernels by relative error, (analysed - simulated) / simulated response.
    pub errors: Vec<ErrorBin>,
    /// Number of the sample that was shrunk.
    pub counterexample_sample: Option<u64>,
    /// In which direction the analysis errs on the counterexample.
    pub counterexample_direction: Option<&'static str>,
    /// The smallest scenario found on which analysis and simulation differ, in the native format; an optimistic one
    /// if there is any.
    pub smallest_counterexample: Option<Value>,
    /// For shrunk durations: the same scenario with the durations that make a kernel finish later.
    pub shrunk_counterexample: Option<Value>,
}

/// Kernels whose relative error is above `above` and at most `up_to`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ErrorBin {
    /// Lower limit; `None`: none.
    pub above: Option<f64>,
    /// Upper limit; `None`: none.
    pub up_to: Option<f64>,
    /// How many.
    pub kernels: u64,
}

/// Upper limits of the bins of relative error \[10^-6\]; the last bin has none. Exact results have a bin of their own.
const BINS: [i64; 12] =
    [-500_000, -200_000, -100_000, -50_000, -20_000, -1, 0, 20_000, 50_000, 100_000, 200_000, 500_000];

/// Samples between two looks at whether to stop, and between two reports of progress.
const BATCH: u64 = 8_192;
/// Samples that one task takes on: making a judge costs as much as a few samples.
const CHUNK: u64 = 256;
/// Counterexamples that are kept to be shrunk.
const KEPT: usize = 24;

/// Sums over samples. Adding two is associative and commutative, so the order of the work does not matter.
#[derive(Debug, Clone, Default)]
struct Sums {
    verdicts: [u64; 3],
    most_ppm: i64,
    most_optimistic_ppm: i64,
    most_ns: i64,
    bins: [u64; BINS.len() + 1],
    /// The smallest counterexamples, optimistic ones first.
    kept: Vec<(std::cmp::Reverse<Verdict>, Size, u64)>,
}

impl Sums {
    fn add(mut self, other: Self) -> Self {
        for (sum, part) in self.verdicts.iter_mut().zip(other.verdicts) {
            *sum += part;
        }
        for (sum, part) in self.bins.iter_mut().zip(other.bins) {
            *sum += part;
        }
        self.most_ppm = self.most_ppm.max(other.most_ppm);
        self.most_optimistic_ppm = self.most_optimistic_ppm.max(other.most_optimistic_ppm);
        self.most_ns = self.most_ns.max(other.most_ns);
        self.kept.extend(other.kept);
        self.kept.sort_unstable();
        self.kept.truncate(KEPT);
        self
    }

    fn note(&mut self, verdict: Verdict, judge: &Judge, sample: &Sample, index: u64) {
        self.verdicts[verdict as usize] += 1;
        if verdict == Verdict::Equal {
            self.bins[bin(0)] += sample.kernels.len() as u64;
            return;
        }
        for (ppm, ns) in judge.errors(sample) {
            self.bins[bin(ppm)] += 1;
            self.most_ppm = self.most_ppm.max(ppm.abs());
            self.most_optimistic_ppm = self.most_optimistic_ppm.max(-ppm);
            self.most_ns = self.most_ns.max(ns.abs());
        }
        let direction = std::cmp::Reverse(verdict);
        if self.kept.len() == KEPT && self.kept.last().is_some_and(|last| direction > last.0) {
            return;
        }
        let candidate = (direction, sample.size(), index);
        if self.kept.len() < KEPT || self.kept.last().is_some_and(|last| candidate < *last) {
            let place = self.kept.partition_point(|kept| *kept < candidate);
            self.kept.insert(place, candidate);
            self.kept.truncate(KEPT);
        }
    }
}

fn bin(ppm: i64) -> usize {
    BINS.partition_point(|limit| *limit < ppm)
}

impl Campaign {
    /// Runs the campaign on rayon's current thread pool; the report does not depend on its size. `done` is told how
    /// many samples were tried since it was last called. Once `stop` is set the campaign ends with what is done.
    ///
    /// # Errors
    /// [`RunError`] if a sample cannot run on the device.
    pub fn run(&self, stop: &AtomicBool, done: &(dyn Fn(u64) + Sync)) -> Result<CampaignReport, RunError> {
        let mut families = Vec::new();
        let mut stopped = false;
        for &family in &self.families {
            let mut sums = Sums::default();
            let mut tried = 0;
            while tried < self.samples {
                stopped = stop.load(Ordering::Relaxed);
                if stopped {
                    break;
                }
                let batch = BATCH.min(self.samples - tried);
                sums = sums.add(self.batch(family, tried, batch)?);
                tried += batch;
                done(batch);
            }
            families.push(self.report(family, tried, &sums));
        }
        Ok(CampaignReport {
            device: self.device.name.clone(),
            placement: self.placement.name(),
            seed: self.seed,
            stopped,
            families,
        })
    }

    fn batch(&self, family: Family, first: u64, samples: u64) -> Result<Sums, RunError> {
        let seeded = ChaCha8Rng::seed_from_u64(self.seed);
        let chunks = (0..samples.div_ceil(CHUNK)).into_par_iter();
        let work = chunks.map_init(
            || (Judge::new(&self.device, self.placement), Sample::default()),
            |(judge, sample), chunk| {
                let mut sums = Sums::default();
                let from = first + chunk * CHUNK;
                for index in from..(from + CHUNK).min(first + samples) {
                    sample.draw_again(family, &self.device, &seeded, index);
                    let verdict = judge.judge(family, sample)?;
                    sums.note(verdict, judge, sample, index);
                }
                Ok(sums)
            },
        );
        work.try_reduce(Sums::default, |one, other| Ok(one.add(other)))
    }

    fn report(&self, family: Family, samples: u64, sums: &Sums) -> FamilyReport {
        let mut judge = Judge::new(&self.device, self.placement);
        let shrunk = sums.kept.iter().map(|(verdict, _, index)| {
            let drawn = Sample::draw(family, &self.device, self.seed, *index);
            let small = shrink(&mut judge, family, drawn, verdict.0);
            (*verdict, small.size(), *index, small)
        });
        let smallest = shrunk.min_by(|one, other| (one.0, one.1, one.2).cmp(&(other.0, other.1, other.2)));
        let limits = BINS.map(|limit| limit as f64 / 1e6);
        let bins = sums.bins.iter().enumerate().map(|(index, &kernels)| ErrorBin {
            above: index.checked_sub(1).and_then(|below| limits.get(below)).copied(),
            up_to: limits.get(index).copied(),
            kernels,
        });
        let name = |what: &str| format!("{}: smallest counterexample{what}", family.name());
        let is_shrunk = family == Family::ShrunkDurations;
        FamilyReport {
            family: family.name(),
            description: family.description(),
            samples,
            equal: sums.verdicts[Verdict::Equal as usize],
            optimistic: sums.verdicts[Verdict::Optimistic as usize],
            pessimistic: sums.verdicts[Verdict::Pessimistic as usize],
            max_error: sums.most_ppm as f64 / 1e6,
            max_error_ns: sums.most_ns.unsigned_abs(),
            max_optimistic_error: sums.most_optimistic_ppm as f64 / 1e6,
            errors: bins.collect(),
            counterexample_sample: smallest.as_ref().map(|(_, _, index, _)| *index),
            counterexample_direction: smallest.as_ref().map(|(verdict, ..)| match verdict.0 {
                Verdict::Optimistic => "optimistic",
                _ => "pessimistic",
            }),
            shrunk_counterexample: smallest
                .as_ref()
                .filter(|_| is_shrunk)
                .map(|(.., sample)| sample.to_json(&name(", shorter"), true)),
            smallest_counterexample: smallest.map(|(.., sample)| sample.to_json(&name(""), false)),
        }
    }
}
