//! The merged SM on random scenarios, as a study.

use std::ops::Range;
use std::sync::Arc;

use super::command::{StudyCommand, StudyExperiment};
use super::compute::{Experiment, Work, Worker};
use super::error::StudyError;
use super::grid::{self, Parameters, Read};
use super::layout::{Layout, Shard};
use super::tally::Tally;
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

/// The device of a study that names none.
const DEFAULT_DEVICE: &str = "tx2";

pub(super) fn default_point(root: Node<'_>) -> Result<MergedSmPoint, Problem> {
    let device = Device::builtin(DEFAULT_DEVICE).ok().flatten();
    let device = device.ok_or_else(|| root.problem(format!("there is no device {DEFAULT_DEVICE}")))?;
    Ok(MergedSmPoint {
        device: Arc::new(device),
        placement: Placement::default(),
        family: Family::EqualPowerOfTwo,
        seed: 0,
    })
}

impl Parameters for MergedSmPoint {
    const KEYS: &'static [(&'static str, Read<Self>)] = &[
        ("device", |value, files| Ok(Self::set(Arc::new(grid::device(value, files)?), |point, it| point.device = it))),
        ("family", |value, _| {
            let it = grid::one_of(value, &Family::ALL.map(Family::name), Family::from_name)?;
            Ok(Self::set(it, |point, it| point.family = it))
        }),
        ("placement", |value, _| {
            let it = grid::one_of(value, &Placement::ALL.map(Placement::name), Placement::from_name)?;
            Ok(Self::set(it, |point, it| point.placement = it))
        }),
    ];

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
    }
}

#[derive(Debug)]
pub(super) struct MergedSmStudy {
    pub(super) points: Vec<MergedSmPoint>,
}

impl Experiment for MergedSmStudy {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(MergedSmWorker { points: &self.points, sampler: None })
    }
}

impl StudyExperiment for MergedSmStudy {
    fn columns(&self) -> &'static str {
        FamilyTally::COLUMNS
    }

    fn tally(&self, _point: u64) -> Box<dyn Tally> {
        Box::new(FamilyTally::default())
    }
}

struct MergedSmWorker<'a> {
    points: &'a [MergedSmPoint],
    /// For the device and placement of the row computed last.
    sampler: Option<(Arc<Device>, Placement, Sampler)>,
}

impl Worker for MergedSmWorker<'_> {
    fn values(&mut self, point: u64, samples: Range<u64>) -> Result<String, String> {
        let point = super::point(self.points, point)?;
        let fits = |(device, placement, _): &(Arc<Device>, Placement, Sampler)| {
            Arc::ptr_eq(device, &point.device) && *placement == point.placement
        };
        if !self.sampler.as_ref().is_some_and(fits) {
            self.sampler = None;
        }
        let (_, _, sampler) = self.sampler.get_or_insert_with(|| {
            (Arc::clone(&point.device), point.placement, Sampler::new(&point.device, point.placement))
        });
        let tally = sampler.tally(point.family, point.seed, samples).map_err(|error| error.to_string())?;
        Ok(tally.to_string())
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
        let experiment = MergedSmStudy { points: self.families.iter().map(point).collect() };
        let layout = Layout {
            points: self.families.len() as u64,
            samples: self.samples,
            per_row: StudyCommand::MergedSm.samples_per_row(),
        };
        let mut tallies = vec![FamilyTally::default(); self.families.len()];
        let work = Work { experiment: &experiment, layout, shard: Shard::WHOLE, done: 0 };
        let complete = work.run(|rows| {
            for row in rows {
                let values = || StudyError::Values { row: row.number, command: StudyCommand::MergedSm.name() };
                let index = usize::try_from(row.place.point).map_err(|_| values())?;
                let family = self.families[index];
                let mut draw = |sample| Sample::draw(family, &self.device, self.seed, sample);
                let tally = FamilyTally::parse(&row.values, Some(&mut draw)).ok_or_else(values)?;
                tallies[index] = std::mem::take(&mut tallies[index]).and(tally);
                done(row.place.samples);
            }
            Ok(())
        })?;
        Ok(self.report(&tallies, !complete))
    }
}
