//! What came out of samples of one family, in numbers that add up.

use std::cmp::Reverse;
use std::fmt::{self, Write};
use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::family::Family;
use super::judge::{Agreement, Judge};
use super::sample::Sample;
use super::shrink::Size;
use crate::device::Device;
use crate::gpu::RunError;
use crate::workload::Placement;

/// Upper limits of the bins of relative error \[10^-6\]; the last bin has none. Exact results have a bin of their own.
pub(super) const BINS: [i64; 12] =
    [-500_000, -200_000, -100_000, -50_000, -20_000, -1, 0, 20_000, 50_000, 100_000, 200_000, 500_000];

/// Counterexamples that are kept to be shrunk.
const KEPT: usize = 24;

/// Sums over samples of one family. Adding two is associative and commutative, so the order of the work does not
/// matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FamilyTally {
    pub(super) verdicts: [u64; 3],
    pub(super) most_ppm: i64,
    pub(super) most_optimistic_ppm: i64,
    pub(super) most_ns: i64,
    pub(super) bins: [u64; BINS.len() + 1],
    /// The smallest counterexamples, optimistic ones first.
    pub(super) kept: Vec<(Reverse<Agreement>, Size, u64)>,
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
        fn next<T: std::str::FromStr>(fields: &mut std::str::Split<'_, char>) -> Option<T> {
            fields.next()?.parse().ok()
        }
        let mut fields = text.split(',');
        let mut read = Self::default();
        for verdict in &mut read.verdicts {
            *verdict = next(&mut fields)?;
        }
        read.most_ppm = next(&mut fields)?;
        read.most_optimistic_ppm = next(&mut fields)?;
        read.most_ns = next(&mut fields)?;
        let mut bins = fields.next()?.split(';');
        for bin in &mut read.bins {
            *bin = bins.next()?.parse().ok()?;
        }
        for kept in fields.next()?.split(';').filter(|kept| !kept.is_empty()) {
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
        (bins.next().is_none() && fields.next().is_none()).then_some(read)
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
