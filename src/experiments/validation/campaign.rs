//! Many samples of each family, summed up and reported.

use serde::Serialize;
use serde_json::Value;

use super::family::Family;
use super::judge::{Agreement, Judge};
use super::sample::Sample;
use super::shrink::shrink;
use super::tally::{BINS, FamilyTally};
use crate::device::Device;
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
    pub(crate) families: Vec<FamilyReport>,
}

/// What came out of one family.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FamilyReport {
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
