//! What is asked about the waits of a run: its answers come first, its tables last.

use std::cell::OnceCell;

use super::blame::{BlameTables, add_blame, blame_answer, blame_columns};
use super::overlap::{add_overlap, overlap_columns, overlap_rows};
use super::path::{add_critical_path, part_columns, part_rows, path_answer, sum_columns, sums};
use crate::formats::{DocumentWriter, Page, Rows};
use crate::run::{CriticalPath, Overlap, Summary};
use crate::tables::RuleWords;

/// What is asked about the waits of a run; needs its record.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskedWaits<'a> {
    /// Who made whom wait (`blame`, `blame_by_stream`); filled when it is first needed, so that it is summed up once
    /// for all that tells it.
    pub blame: Option<&'a OnceCell<BlameTables>>,
    /// Whether people see there also what waited within its own stream, line by line; JSON has it always.
    pub own_waits: bool,
    /// What took the time of the run, or of a job (`critical_path`, `critical_path_sums`).
    pub critical_path: Option<&'a CriticalPath>,
    /// Why streams do not run side by side (`overlap`).
    pub overlap: Option<&'a Overlap>,
}

impl<'a> AskedWaits<'a> {
    pub(super) fn is_any(&self) -> bool {
        self.blame.is_some() || self.critical_path.is_some() || self.overlap.is_some()
    }

    fn blame_tables(&self, summary: &Summary<'_>) -> Option<&'a BlameTables> {
        self.blame.map(|tables| tables.get_or_init(|| BlameTables::new(summary)))
    }

    /// Adds the lists for programs.
    ///
    /// # Errors
    /// As the writer's.
    pub fn document<D: DocumentWriter>(&self, to: &mut D, summary: &Summary<'_>) -> Result<(), D::Error> {
        if let Some(tables) = self.blame_tables(summary) {
            to.rows("blame", &blame_columns(), tables.kernels.iter().cloned())?;
            to.rows("blame_by_stream", &blame_columns(), tables.streams.iter().cloned())?;
        }
        if let Some(path) = self.critical_path {
            to.rows("critical_path", &part_columns(), part_rows(summary, path))?;
            to.rows("critical_path_sums", &sum_columns(), sums(summary, path))?;
        }
        match self.overlap {
            Some(overlap) => to.rows("overlap", &overlap_columns(), overlap_rows(summary, overlap)),
            None => Ok(()),
        }
    }

    /// Adds the answers.
    pub fn add_answers(&self, page: &mut Page, summary: &Summary<'_>) {
        if let Some(overlap) = self.overlap {
            add_overlap(page, summary, overlap);
            page.blank();
        }
        if let Some(tables) = self.blame_tables(summary) {
            page.line(&blame_answer(tables));
            page.blank();
        }
        if let Some(path) = self.critical_path {
            page.line(&path_answer(summary, path));
            page.blank();
        }
    }

    /// Adds the tables behind them.
    pub fn add_tables(&self, page: &mut Page, summary: &Summary<'_>) {
        self.add_tables_with(page, summary, &mut RuleWords::default());
    }

    /// The same where rules may have been explained already.
    pub(super) fn add_tables_with(&self, page: &mut Page, summary: &Summary<'_>, words: &mut RuleWords) {
        if let Some(tables) = self.blame_tables(summary) {
            page.blank();
            add_blame(page, tables, self.own_waits, words);
            words.add_to(page);
        }
        if let Some(path) = self.critical_path {
            page.blank();
            add_critical_path(page, summary, path, words);
        }
    }
}
