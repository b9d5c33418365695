//! Missed deadlines: how late the jobs were.

use std::io::{self, Write};

use super::event::{Events, SliceTime};
use super::tracks::Tracks;
use crate::run::{DueJobs, Summary, due_jobs};

/// A slice for each job that missed its deadline, from then until it finished; one for all jobs of a thread that had
/// not begun when the run ended, of which there may be any number.
pub(super) fn write<W: Write>(summary: &Summary<'_>, tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let missed = due_jobs(summary).into_iter().filter(DueJobs::is_missed);
    for (number, jobs) in (0..).zip(missed) {
        let to = jobs.finished().unwrap_or(summary.trace.end());
        let sentence = jobs.sentence(0, summary.scenario);
        let name = match jobs.count {
            1 => sentence,
            count => format!("{sentence}; and {} more like it", count - 1),
        };
        let span = SliceTime { from: jobs.due_of(0), to };
        events.asynchronous(tracks.streams(), "deadline missed", &name, tracks.id(number), span)?;
    }
    Ok(())
}
