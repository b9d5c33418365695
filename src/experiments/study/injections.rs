//! Points of curves over applications that are injected at random, computed as rows of a study on rayon's current threads.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::command::StudyCommand;
use super::compute::Work;
use super::error::StudyError;
use super::evr::{EvrPoint, EvrStudy, periods, quantities};
use super::layout::{Layout, Shard};
use crate::applications::{ApplicationSet, Injections};
use crate::experiments::evr::{PointTally, SweepOptions, SweepPoint};
use crate::time::Duration;

/// DATE 2014, Figures 3 to 5: `counts` applications, each up to `gap` after the one before.
///
/// # Errors
/// As [`sample_applications`].
pub fn random_injection(
    set: &ApplicationSet,
    counts: &[u32],
    gap: Duration,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, StudyError> {
    points(set, counts.iter().map(|&count| Injections::Random { count, gap }), options, &mut |_| {})
}

/// DATE 2014, Figure 6: `counts` applications in each of `periods` periods; met and violations are per period.
///
/// # Errors
/// As [`sample_applications`].
pub fn per_period(
    set: &ApplicationSet,
    counts: &[u32],
    period: Duration,
    periods: u32,
    options: &SweepOptions,
) -> Result<Vec<SweepPoint>, StudyError> {
    points(set, counts.iter().map(|&count| Injections::PerPeriod { count, period, periods }), options, &mut |_| {})
}

/// Runs every sample of one kind of injections under every scheduler; means and spreads are in the order of the
/// schedulers. Of samples that were run, `done` hears.
///
/// # Errors
/// [`StudyError::Sample`] if nothing can be injected, or the applications cannot be run.
pub fn sample_applications(
    set: &ApplicationSet,
    injections: Injections,
    options: &SweepOptions,
    done: &mut (dyn FnMut(u64) + Send),
) -> Result<Vec<SweepPoint>, StudyError> {
    points(set, std::iter::once(injections), options, done)
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
    let layout = Layout { points: points.len() as u64, samples: u64::from(options.samples), per_row: 1 };
    let mut tallies = vec![PointTally::default(); points.len()];
    let work = Work { experiment: &experiment, layout, shard: Shard::WHOLE, done: 0 };
    work.run(&AtomicBool::new(false), |rows| {
        for row in rows {
            let wrong = || StudyError::Values { row: row.number, command: StudyCommand::Evr.name() };
            let place = usize::try_from(row.place.point).ok();
            let place = place.and_then(|place| points.get(place).zip(tallies.get_mut(place)));
            let (point, tally) = place.ok_or_else(wrong)?;
            done(row.place.samples);
            tally.add(quantities(&row.values).ok_or_else(wrong)?, periods(point.injections).1);
        }
        Ok(())
    })?;
    let of = |(point, tally): (&EvrPoint, &PointTally)| {
        tally.point(point.scheduler.name().to_owned(), set.synthetic, periods(point.injections).0)
    };
    Ok(points.iter().zip(&tallies).map(of).collect())
}
