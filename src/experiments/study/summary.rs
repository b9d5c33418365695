//! The points of a study, summed up from its rows.

use std::path::Path;

use super::error::StudyError;
use super::file::Study;
use super::layout::{RowSamples, Shard};
use super::result_file::CHUNK;
use super::rows::{Found, Rows};
use super::tally::Tally;
use crate::effort;
use crate::limits::count_turn;
use crate::statistics::Measure;

/// What rows say so far.
#[derive(Debug, Clone, PartialEq)]
pub struct StudySummary {
    /// Rows read.
    pub rows: u64,
    /// Rows that the file will have.
    pub expected: u64,
    /// Points that have rows, in order.
    pub points: Vec<PointSummary>,
}

/// What the rows of one point say.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSummary {
    /// Number of the point.
    pub point: u64,
    /// Samples.
    pub samples: u64,
    /// Quantities by name.
    pub measures: Vec<(&'static str, Measure)>,
}

impl StudySummary {
    /// Of the rows of a file; memory does not grow with their number.
    ///
    /// # Errors
    /// [`StudyError`] if the file cannot be read, or belongs to something else.
    pub fn read(study: &Study, path: &Path) -> Result<Self, StudyError> {
        let Some(mut rows) = Rows::open(study, path, CHUNK)? else {
            return Ok(Self { rows: 0, expected: study.layout.rows(), points: Vec::new() });
        };
        let mut sums = Sums { study, tallies: Vec::new() };
        while let Some(Found { place, values, .. }) = rows.next()? {
            count_turn();
            if sums.add(place, values).is_none() {
                return Err(StudyError::Values { row: rows.given() - 1, command: study.command.name() });
            }
        }
        Ok(Self { rows: rows.given(), expected: rows.expected(), points: sums.points() })
    }

    /// Of the whole study, computed here and now on rayon's current threads, without a file.
    ///
    /// # Errors
    /// [`StudyError::Sample`] if a sample cannot be computed.
    pub fn compute(study: &Study) -> Result<Self, StudyError> {
        let mut sums = Sums { study, tallies: Vec::new() };
        let mut count = 0;
        study.work(Shard::WHOLE, 0).run(|rows| {
            for row in rows {
                let wrong = || StudyError::Values { row: row.number, command: study.command.name() };
                sums.add(row.place, &row.values).ok_or_else(wrong)?;
                count += 1;
            }
            Ok(())
        })?;
        effort::check()?;
        Ok(Self { rows: count, expected: study.layout.rows(), points: sums.points() })
    }
}

/// Points as their rows come, in order.
struct Sums<'a> {
    study: &'a Study,
    /// Number and samples of a point, and the sums over its rows.
    tallies: Vec<(u64, u64, Box<dyn Tally>)>,
}

impl Sums<'_> {
    /// Adds a row; `None` if its values are not what the study's command writes.
    fn add(&mut self, place: RowSamples, values: &str) -> Option<()> {
        if self.tallies.last().is_none_or(|(point, ..)| *point != place.point) {
            self.tallies.push((place.point, 0, self.study.tally(place.point)));
        }
        let (_, samples, tally) = self.tallies.last_mut()?;
        *samples += place.samples;
        tally.add(place.samples, values)
    }

    fn points(self) -> Vec<PointSummary> {
        let of = |(point, samples, tally): (u64, u64, Box<dyn Tally>)| PointSummary {
            point,
            samples,
            measures: tally.measures(),
        };
        self.tallies.into_iter().map(of).collect()
    }
}
