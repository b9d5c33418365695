//! The merged SM put to the test: random scenarios of several families, analysed and simulated.
//!
//! Every sample depends on the seed, its family and its number only, so the result is the same for any number of
//! threads, and each sample can be made again alone (`Sample::draw`).

mod judge;
mod sample;

use std::cmp::Reverse;
use std::fmt::{self, Write};
use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde_json::Value;

use crate::device::Device;
use crate::experiments::{Fields, number};
use crate::gpu::RunError;
use crate::limits::count_turn;
use crate::workload::Placement;
pub(crate) use judge::Agreement;
use judge::Judge;
pub use sample::Family;
pub(crate) use sample::Sample;
use sample::Size;

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
#[derive(Debug, Clone)]
pub struct CampaignReport {
    /// Name of the device.
    pub device: String,
    /// What people call it.
    pub device_title: String,
    /// The placement of the simulations.
    pub placement: &'static str,
    /// The seed.
    pub seed: u64,
    /// Whether the campaign was stopped before all samples were tried.
    pub stopped: bool,
    #[doc(hidden)]
    pub families: Vec<FamilyReport>,
}

/// What came out of one family.
#[derive(Debug, Clone, Serialize)]
#[doc(hidden)]
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
    pub(crate) errors: Vec<ErrorBin>,
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
pub(crate) struct ErrorBin {
    /// Lower limit; `None`: none.
    pub above: Option<f64>,
    /// Upper limit; `None`: none.
    pub up_to: Option<f64>,
    /// How many.
    pub kernels: u64,
}

impl Campaign {
    /// The report on what was tried of each family, in their order; `stopped` if that is not all.
    pub(crate) fn report(&self, tallies: &[FamilyTally], stopped: bool) -> CampaignReport {
        let families = self.families.iter().zip(tallies).map(|(family, tally)| self.family_report(*family, tally));
        CampaignReport {
            device: self.device.name.clone(),
            device_title: self.device.title.clone(),
            placement: self.placement.name(),
            seed: self.seed,
            stopped,
            families: families.collect(),
        }
    }

    /// What came out of one family; shrinks its counterexamples.
    fn family_report(&self, family: Family, sums: &FamilyTally) -> FamilyReport {
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
            samples: sums.verdicts.iter().sum(),
            equal: sums.verdicts[Agreement::Equal as usize],
            optimistic: sums.verdicts[Agreement::Optimistic as usize],
            pessimistic: sums.verdicts[Agreement::Pessimistic as usize],
            max_error: sums.most_ppm as f64 / 1e6,
            max_error_ns: sums.most_ns.unsigned_abs(),
            max_optimistic_error: sums.most_optimistic_ppm as f64 / 1e6,
            errors: bins.collect(),
            counterexample_sample: smallest.as_ref().map(|(_, _, index, _)| *index),
            counterexample_direction: smallest.as_ref().map(|(verdict, ..)| match verdict.0 {
                Agreement::Optimistic => "optimistic",
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

/// The smallest sample reached from `sample` by single changes that is still judged `verdict`.
fn shrink(judge: &mut Judge, family: Family, mut sample: Sample, verdict: Agreement) -> Sample {
    sample = sample.without_empty_streams();
    loop {
        count_turn();
        let size = sample.size();
        let mut smaller: Vec<Sample> = sample
            .neighbours()
            .into_iter()
            .filter(|neighbour| neighbour.size() < size && keeps(family, neighbour))
            .collect();
        crate::sorted::sort_by_key(&mut smaller, Sample::size);
        let still = |neighbour: &Sample| judge.judge(family, neighbour).is_ok_and(|found| found == verdict);
        match smaller.into_iter().find(still) {
            Some(found) => sample = found,
            None => return sample,
        }
    }
}

/// Whether a shrunk sample is still one of its family.
fn keeps(family: Family, sample: &Sample) -> bool {
    let alike = sample.kernels.windows(2).all(|pair| pair[0].shape() == pair[1].shape());
    !sample.kernels.is_empty()
        && match family {
            Family::EqualPowerOfTwo | Family::Chains | Family::Priorities | Family::Releases => {
                alike && sample.kernels[0].threads.is_power_of_two() && sample.kernels[0].threads >= 64
            }
            Family::EqualAny | Family::EqualAnyPrinted => alike,
            Family::SharedMemory | Family::Registers => sample.kernels.iter().all(|kernel| kernel.threads == 128),
            Family::Unequal | Family::ShrunkDurations => true,
        }
}

/// Upper limits of the bins of relative error \[10^-6\]; the last bin has none. Exact results have a bin of their own.
const BINS: [i64; 12] =
    [-500_000, -200_000, -100_000, -50_000, -20_000, -1, 0, 20_000, 50_000, 100_000, 200_000, 500_000];

/// Counterexamples that are kept to be shrunk.
const KEPT: usize = 24;

/// Sums over samples of one family. Adding two is associative and commutative, so the order of the work does not
/// matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FamilyTally {
    verdicts: [u64; 3],
    most_ppm: i64,
    most_optimistic_ppm: i64,
    most_ns: i64,
    bins: [u64; BINS.len() + 1],
    /// The smallest counterexamples, optimistic ones first.
    kept: Vec<(Reverse<Agreement>, Size, u64)>,
}

impl FamilyTally {
    /// The names of what is written by `Display`, separated by commas.
    pub(crate) const COLUMNS: &'static str =
        "equal,pessimistic,optimistic,max_error_ppm,max_optimistic_error_ppm,max_error_ns,error_bins,counterexamples";

    /// Both together.
    pub(crate) fn and(mut self, other: Self) -> Self {
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

    /// How many samples were judged so.
    pub(crate) fn count(&self, verdict: Agreement) -> u64 {
        self.verdicts[verdict as usize]
    }

    /// The largest |analysed - simulated| / simulated response of any kernel, and the largest on the unsafe side.
    pub(crate) fn max_errors(&self) -> (f64, f64) {
        (self.most_ppm as f64 / 1e6, self.most_optimistic_ppm as f64 / 1e6)
    }

    /// Reads what `Display` wrote. Counterexamples are kept only if `drawn` draws them again: it gets the number of a
    /// sample.
    pub(crate) fn parse(text: &str, mut drawn: Option<&mut dyn FnMut(u64) -> Sample>) -> Option<Self> {
        let mut fields = Fields::of(text, ',');
        let verdicts = fields.each(number)?;
        let [most_ppm, most_optimistic_ppm, most_ns] = fields.each(number)?;
        let [bins, all_kept] = fields.each(Some)?;
        let mut of_bins = Fields::of(bins, ';');
        let bins = of_bins.each(number)?;
        let bins = of_bins.end(bins)?;
        let mut read = Self { verdicts, most_ppm, most_optimistic_ppm, most_ns, bins, kept: Vec::new() };
        for kept in all_kept.split(';').filter(|kept| !kept.is_empty()) {
            let (verdict, index) = match kept.split_at_checked(1)? {
                ("o", index) => (Agreement::Optimistic, index),
                ("p", index) => (Agreement::Pessimistic, index),
                _ => return None,
            };
            let index = index.parse().ok()?;
            if let Some(drawn) = &mut drawn {
                read.kept.push((Reverse(verdict), drawn(index).size(), index));
            }
        }
        fields.end(read)
    }

    fn note(&mut self, verdict: Agreement, judge: &Judge, sample: &Sample, index: u64) {
        self.verdicts[verdict as usize] += 1;
        if verdict == Agreement::Equal {
            self.bins[bin(0)] += sample.kernels.len() as u64;
            return;
        }
        for (ppm, ns) in judge.errors(sample) {
            self.bins[bin(ppm)] += 1;
            self.most_ppm = self.most_ppm.max(ppm.abs());
            self.most_optimistic_ppm = self.most_optimistic_ppm.max(-ppm);
            self.most_ns = self.most_ns.max(ns.abs());
        }
        let direction = Reverse(verdict);
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

/// The values of [`FamilyTally::COLUMNS`]; of counterexamples their direction and number.
impl fmt::Display for FamilyTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [equal, pessimistic, optimistic] = self.verdicts;
        write!(
            f,
            "{equal},{pessimistic},{optimistic},{},{},{},",
            self.most_ppm, self.most_optimistic_ppm, self.most_ns
        )?;
        for (index, bin) in self.bins.iter().enumerate() {
            write!(f, "{}{bin}", if index > 0 { ";" } else { "" })?;
        }
        f.write_char(',')?;
        for (index, (verdict, _, sample)) in self.kept.iter().enumerate() {
            let direction = if verdict.0 == Agreement::Optimistic { 'o' } else { 'p' };
            write!(f, "{}{direction}{sample}", if index > 0 { ";" } else { "" })?;
        }
        Ok(())
    }
}

fn bin(ppm: i64) -> usize {
    BINS.partition_point(|limit| *limit < ppm)
}

/// Draws and judges samples, one run of them after another, with the same GPU.
#[derive(Debug)]
pub(crate) struct Sampler {
    device: Device,
    judge: Judge,
    sample: Sample,
}

impl Sampler {
    /// For scenarios on `device` under `placement`.
    pub(crate) fn new(device: &Device, placement: Placement) -> Self {
        Self { device: device.clone(), judge: Judge::new(device, placement), sample: Sample::default() }
    }

    /// What comes out of some samples of a family.
    ///
    /// # Errors
    /// [`RunError`] if a sample cannot run on the device.
    pub(crate) fn tally(&mut self, family: Family, seed: u64, samples: Range<u64>) -> Result<FamilyTally, RunError> {
        let seeded = ChaCha8Rng::seed_from_u64(seed);
        let mut tally = FamilyTally::default();
        for index in samples {
            self.sample.draw_again(family, &self.device, &seeded, index);
            let verdict = self.judge.judge(family, &self.sample)?;
            tally.note(verdict, &self.judge, &self.sample, index);
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests;
