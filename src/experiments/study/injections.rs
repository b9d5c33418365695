//! Points of curves over applications that are injected at random, computed as rows of a study on rayon's current
//! threads.

use std::ops::Range;
use std::sync::Arc;

use super::command::StudyCommand;
use super::compute::{Experiment, Work, Worker};
use super::error::StudyError;
use super::evr::{EvrPoint, EvrStudy, periods, quantities};
use super::layout::{Layout, Shard};
use crate::applications::{ApplicationSet, Injections};
use crate::effort;
use crate::experiments::evr::{PointTally, SweepOptions, SweepPoint};
use crate::time::Duration;

/// DATE 2014, Figures 3 to 5: `counts` applications, each up to `gap` after the one before.
///
/// # Errors
/// As [`sample_applications`].
pub(crate) fn random_injection(
    set: &ApplicationSet,
    counts: &[u32],
    gap: Duration,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, StudyError> {
    all_points(set, counts.iter().map(|&count| Injections::Random { count, gap }), options)
}

/// DATE 2014, Figure 6: `counts` applications in each of `periods` periods; met and violations are per period.
///
/// # Errors
/// As [`sample_applications`].
pub(crate) fn per_period(
    set: &ApplicationSet,
    counts: &[u32],
    period: Duration,
    periods: u32,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, StudyError> {
    all_points(set, counts.iter().map(|&count| Injections::PerPeriod { count, period, periods }), options)
}

/// Runs every sample of one kind of injections under every scheduler; means and spreads are in the order of the
/// schedulers. Of samples that were run, `done` hears. When the work is stopped, the points are of what was complete by
/// then, and schedulers of which no sample was are not among them.
///
/// # Errors
/// [`StudyError::Sample`] if nothing can be injected, or the applications cannot be run; [`StudyError::EarlyEnd`] if
/// nothing was complete when it was stopped.
pub fn sample_applications(
    set: &ApplicationSet,
    injections: Injections,
    options: &SweepOptions,
    done: &mut (dyn FnMut(u64) + Send),
) -> Result<Vec<SweepPoint>, StudyError> {
    let points = points(set, std::iter::once(injections), options, done)?;
    if points.is_empty() {
        effort::check()?;
    }
    Ok(points)
}

/// [`points`], if all of their samples are complete.
fn all_points(
    set: &ApplicationSet,
    injections: impl Iterator<Item = Injections>,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, StudyError> {
    let points = points(set, injections, options, &mut |_| {})?;
    effort::check()?;
    Ok(points)
}

/// A study whose points are samples of another, and the samples of each the points of that.
struct BySample<'a>(&'a EvrStudy);

impl Experiment for BySample<'_> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(SampleWorker(self.0.worker()))
    }
}

struct SampleWorker<'a>(Box<dyn Worker + 'a>);

impl Worker for SampleWorker<'_> {
    fn values(&mut self, sample: u64, points: Range<u64>) -> Result<String, String> {
        // A row has one sample.
        self.0.values(points.start, sample..sample + 1)
    }
}

/// A study with one point for each kind of injections and scheduler.
fn points(
    set: &ApplicationSet,
    injections: impl Iterator<Item = Injections>,
    options: &SweepOptions,
    done: &mut (dyn FnMut(u64) + Send),
) -> Result<Vec<SweepPoint>, StudyError> {
    let set = Arc::new(set.clone());
    let (seed, rules) = (options.seed, options.rules);
    let mut experiment = EvrStudy { points: Vec::new() };
    for injections in injections {
        let point = |&scheduler| EvrPoint { set: Arc::clone(&set), scheduler, injections, rules, seed };
        experiment.points.extend(options.schedulers.iter().map(point));
    }
    let points = &experiment.points;
    // Each sample is run of all points before the next one is, so that they have equally many whenever it ends.
    let layout = Layout { points: u64::from(options.samples), samples: points.len() as u64, per_row: 1 };
    let by_sample = BySample(&experiment);
    let mut tallies = vec![PointTally::default(); points.len()];
    let work = Work { experiment: &by_sample, layout, shard: Shard::WHOLE, done: 0 };
    work.run(|rows| {
        for row in rows {
            let wrong = || StudyError::Values { row: row.number, command: StudyCommand::Evr.name() };
            let place = usize::try_from(row.place.first).ok();
            let place = place.and_then(|place| points.get(place).zip(tallies.get_mut(place)));
            let (point, tally) = place.ok_or_else(wrong)?;
            done(1);
            tally.add(quantities(&row.values).ok_or_else(wrong)?, periods(point.injections).1);
        }
        Ok(())
    })
    .map_err(|error| match error {
        StudyError::Sample { point, first, what, .. } => {
            StudyError::Sample { point: first, first: point, last: point, what }
        }
        error => error,
    })?;
    let of = |(point, tally): (&EvrPoint, &PointTally)| {
        tally.point(point.scheduler.name().to_owned(), set.synthetic, periods(point.injections).0)
    };
    Ok(points.iter().zip(&tallies).map(of).filter(|point| point.samples > 0).collect())
}
