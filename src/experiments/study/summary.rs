//! The points of a study, summed up from its rows.

use std::path::Path;

use super::error::StudyError;
use super::file::Study;
use super::result_file::CHUNK;
use super::rows::{Found, Rows};
use super::tally::{Measure, Tally};

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
        let mut tallies: Vec<(u64, u64, Box<dyn Tally>)> = Vec::new();
        while let Some(Found { place, values, .. }) = rows.next()? {
            if tallies.last().is_none_or(|(point, ..)| *point != place.point) {
                tallies.push((place.point, 0, study.tally(place.point)));
            }
            let Some((_, samples, tally)) = tallies.last_mut() else { break };
            *samples += place.samples;
            if tally.add(place.samples, values).is_none() {
                return Err(StudyError::Values { row: rows.given() - 1, command: study.command.name() });
            }
        }
        let points = tallies
            .into_iter()
            .map(|(point, samples, tally)| PointSummary { point, samples, measures: tally.measures() })
            .collect();
        Ok(Self { rows: rows.given(), expected: rows.expected(), points })
    }
}
