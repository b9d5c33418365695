//! The merged SM on random scenarios, as a study.

use std::ops::Range;
use std::sync::Arc;

use super::StudyError;
use super::compute::{Layout, Point, Points, StudyCommand, Tally, compute_all};
use super::grid::{self, Parameters, Read, keys};
use crate::device::Device;
use crate::experiments::validation::{Agreement, Campaign, CampaignReport, Family, FamilyTally, Sample, Sampler};
use crate::json::{Node, Problem};
use crate::statistics::Measure;
use crate::workload::Placement;

/// One point: a family on a device.
#[derive(Debug, Clone)]
pub(super) struct MergedSmPoint {
    device: Arc<Device>,
    placement: Placement,
    family: Family,
    seed: u64,
}

pub(super) fn default_point(root: Node<'_>) -> Result<MergedSmPoint, Problem> {
    let device = grid::default_device().map_err(|what| root.problem(what))?;
    Ok(MergedSmPoint {
        device: Arc::new(device),
        placement: Placement::default(),
        family: Family::EqualPowerOfTwo,
        seed: 0,
    })
}

impl Parameters for MergedSmPoint {
    const KEYS: &'static [(&'static str, Read<Self>)] = keys! { |value, files|
        "device" => device: grid::device(value, files).map(Arc::new);
        "family" => family: grid::one_of(value, &Family::ALL, Family::name);
        "placement" => placement: grid::one_of(value, &Placement::ALL, Placement::name);
    };

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }
}

impl Point for MergedSmPoint {
    /// For the device and placement of the row computed last.
    type Kept<'p> = Option<(Arc<Device>, Placement, Sampler)>;

    fn columns() -> &'static str {
        FamilyTally::COLUMNS
    }

    fn values(&self, samples: Range<u64>, kept: &mut Self::Kept<'_>) -> Result<String, String> {
        let fits = |(device, placement, _): &(Arc<Device>, Placement, Sampler)| {
            Arc::ptr_eq(device, &self.device) && *placement == self.placement
        };
        if !kept.as_ref().is_some_and(fits) {
            *kept = None;
        }
        let (_, _, sampler) = kept.get_or_insert_with(|| {
            (Arc::clone(&self.device), self.placement, Sampler::new(&self.device, self.placement))
        });
        let tally = sampler.tally(self.family, self.seed, samples).map_err(|error| error.to_string())?;
        Ok(tally.to_string())
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(FamilyTally::default())
    }
}

impl Tally for FamilyTally {
    fn add(&mut self, _samples: u64, values: &str) -> Option<()> {
        *self = std::mem::take(self).and(Self::parse(values, None)?);
        Some(())
    }

    fn measures(&self) -> Vec<(&'static str, Measure)> {
        let verdicts = [Agreement::Equal, Agreement::Optimistic, Agreement::Pessimistic];
        let of = verdicts.iter().map(|verdict| self.count(*verdict)).sum();
        let share = |verdict| Measure::Share { count: self.count(verdict), of };
        let (error, optimistic) = self.max_errors();
        vec![
            ("equal", share(Agreement::Equal)),
            ("optimistic", share(Agreement::Optimistic)),
            ("pessimistic", share(Agreement::Pessimistic)),
            ("max_error", Measure::Largest(error)),
            ("max_optimistic_error", Measure::Largest(optimistic)),
        ]
    }
}

impl Campaign {
    /// Runs the campaign on rayon's current thread pool, as a study with one point for each family; the report does
    /// not depend on the size of the pool. `done` is told how many samples were tried since it was last called. Once
    /// the work is stopped the campaign ends with what is done.
    ///
    /// # Errors
    /// [`StudyError::Sample`] if a sample cannot run on the device.
    pub fn run(&self, done: &(dyn Fn(u64) + Sync)) -> Result<CampaignReport, StudyError> {
        let device = Arc::new(self.device.clone());
        let point = |family: &Family| MergedSmPoint {
            device: Arc::clone(&device),
            placement: self.placement,
            family: *family,
            seed: self.seed,
        };
        let experiment = Points(self.families.iter().map(point).collect());
        let command = StudyCommand::MergedSm;
        let (points, per_row) = (self.families.len() as u64, command.samples_per_row());
        let layout = Layout { points, samples: self.samples, per_row };
        let mut tallies = vec![FamilyTally::default(); self.families.len()];
        let complete = compute_all(&experiment, (layout, command), |row| {
            let index = usize::try_from(row.place.point).ok()?;
            let mut draw = |sample| Sample::draw(self.families[index], &self.device, self.seed, sample);
            let tally = FamilyTally::parse(&row.values, Some(&mut draw))?;
            tallies[index] = std::mem::take(&mut tallies[index]).and(tally);
            done(row.place.samples);
            Some(())
        })?;
        Ok(self.report(&tallies, !complete))
    }
}
