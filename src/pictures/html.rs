//! A run, or two runs above one another, as one HTML file to look at in a browser.
//!
//! The file holds everything it needs and loads nothing: data as JSON, a style sheet, and scripts, which draw what is
//! visible on a canvas and look up the state at the cursor, which is that of [`State`](crate::run::State): who is in
//! which queue, and why each operation waits, is in the data for the whole run, so the page knows no rules.
//!
//! Times are exact at any size although JavaScript's numbers are only up to 2^53: the data holds each instant once, in
//! ascending order as 64 bits, and everything else refers to its number in that list, of which there are at most 2^32.

mod blocks;
mod chain_columns;
mod core_columns;
mod data;
mod escape;
mod instants;
mod jobs;
mod lanes;
mod occupancy;
mod page;
mod palette;
mod phases;
mod pictures;
mod queues;
mod size;
mod tour;
mod turn_columns;
mod waits;

use std::io::{self, Write};

use serde::Serialize;

pub use size::TooManyEntries;
pub(crate) use tour::{HtmlScene, write_html_tour};

use super::timeline::FinishMark;
use crate::run::{Recorded, Summary};
use crate::time::Instant;

/// What an HTML file shows.
#[derive(Debug, Clone)]
pub struct HtmlTimeline<'a> {
    runs: Vec<HtmlRun<'a>>,
    marks: &'a [FinishMark],
    merged: bool,
    origin: Instant,
    notes: Vec<String>,
}

/// One run in an HTML file.
#[derive(Debug, Clone, Copy)]
pub struct HtmlRun<'a> {
    /// What it is called where there are two, such as `simulated`.
    pub name: &'a str,
    /// The run.
    pub summary: Summary<'a>,
    /// Whether only what ran is known of it, not its queues and waits: a measured run. If not even its blocks are
    /// known, as of a recorded application, it is shown by stream.
    pub blocks_only: bool,
}

impl<'a> HtmlTimeline<'a> {
    /// One run.
    pub fn new(summary: Summary<'a>) -> Self {
        Self {
            runs: vec![HtmlRun { name: "simulated", summary, blocks_only: false }],
            marks: &[],
            merged: false,
            origin: Instant::ZERO,
            notes: Vec::new(),
        }
    }

    /// Two runs on one axis of time, with the finish times of both.
    pub fn comparison(upper: HtmlRun<'a>, lower: HtmlRun<'a>, marks: &'a [FinishMark]) -> Self {
        Self { runs: vec![upper, lower], marks, merged: false, origin: Instant::ZERO, notes: Vec::new() }
    }

    /// The same with all instants told as counted from `origin`, as tables beside it do; those before it are negative.
    pub fn counted_from(self, origin: Instant) -> Self {
        Self { origin, ..self }
    }

    /// The same with what else is to be known of it, beside the notes of its runs.
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// Blocks of all its runs.
    pub fn blocks(&self) -> u64 {
        // Of a recorded application no blocks are known.
        let known = self.runs.iter().filter(|run| run.summary.trace.waves() > 0);
        let launches = known.flat_map(|run| run.summary.launches());
        launches.map(|Recorded { work: kernel, .. }| u64::from(kernel.blocks)).sum()
    }

    /// Turns of contexts of all its runs.
    pub fn turns(&self) -> u64 {
        self.runs.iter().map(|run| run.summary.trace.turns().len() as u64).sum()
    }

    /// The same with blocks of one launch that do the same, at one time or following one another without a pause, as
    /// one entry each.
    pub fn merged(self) -> Self {
        Self { merged: true, ..self }
    }

    /// Entries that a [merged](Self::merged) file has for blocks.
    pub fn merged_blocks(&self) -> u64 {
        let runs = |run: &HtmlRun<'_>| {
            let trace = run.summary.trace;
            run.summary.launches().map(|Recorded { id, .. }| trace.repeated_runs(id).count() as u64).sum::<u64>()
        };
        self.runs.iter().map(runs).sum()
    }

    /// Writes the file, the same bytes each time. Memory grows with the number of [blocks](Self::blocks), or of
    /// [merged ones](Self::merged_blocks).
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let title = self.runs.first().map_or("", |run| &run.summary.scenario.name);
        page::write(title, "", &[data::PageData::new(self)], out)
    }

    /// Writes the data alone, as JSON that an open file of a timeline takes in place of its own (`gpusched.show` of its
    /// scripts).
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_data(&self, out: impl Write) -> io::Result<()> {
        let mut json = serde_json::Serializer::with_formatter(out, escape::InsideScript);
        Ok([data::PageData::new(self)].serialize(&mut json)?)
    }
}
