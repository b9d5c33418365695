//! What chains came to in a run, as columns and as a table.

use crate::formats::{Column, Page};
use crate::run::{ChainDelay, ChainRun, Summary};
use crate::scenario::{Chain, ChainMeasure};
use crate::time::Instant;

/// One measure of a chain, with the jobs on the way of its longest.
pub(super) struct ChainRow {
    run: ChainRun,
    jobs: Option<String>,
}

impl ChainRow {
    /// Of a run, in the order of the scenario.
    pub(super) fn all(summary: &Summary<'_>) -> Vec<Self> {
        let named = |run: &ChainRun| summary.scenario.chains.iter().find(|chain| chain.name == run.chain);
        let row = |run: ChainRun| {
            let path = |(delay, chain): (&ChainDelay, &Chain)| delay.path(chain, summary.scenario);
            let jobs = run.worst.as_ref().zip(named(&run)).map(path);
            Self { run, jobs }
        };
        summary.chains().into_iter().map(row).collect()
    }
}

impl ChainRun {
    /// What the user has to know of it: that it was longer than it may be, or that nothing is known of that.
    pub(crate) fn note(&self) -> Option<String> {
        let limit = self.limit?;
        let Self { chain, measure, misses, .. } = self;
        let measure = measure.name();
        if self.is_unmeasured() {
            return Some(format!(
                "the {measure} of {chain:?} is not known to be within its {limit}: none was measured before the run ends"
            ));
        }
        let worst = self.worst.as_ref()?;
        let (all, worst) = (self.measured + self.unfinished, ChainDelay::known_length(worst.length(), worst.is_cut));
        (*misses > 0).then(|| {
            format!("the {measure} of {chain:?} is above its {limit} {misses} of {all} times; the longest is {worst}")
        })
    }
}

pub(super) fn chain_columns<'a>() -> [Column<&'a ChainRow>; 12] {
    [
        Column::new("chain", "chain", |row: &&ChainRow| (&*row.run.chain).into()).left(),
        Column::new("measure", "measure", |row: &&ChainRow| row.run.measure.name().into()).left(),
        Column::new("measured", "measured", |row| row.run.measured.into()),
        Column::new("unfinished", "unfinished", |row| row.run.unfinished.into()),
        Column::data("worst_ns", |row| row.run.worst.as_ref().map(ChainDelay::length).into()),
        Column::table("longest", |row: &&ChainRow| {
            row.run.worst.as_ref().map(|worst| ChainDelay::known_length(worst.length(), worst.is_cut)).into()
        }),
        Column::new("limit_ns", "at most", |row| row.run.limit.into()),
        Column::new("misses", "misses", |row| row.run.limit.map(|_| row.run.misses).into()),
        Column::data("is_cut", |row| row.run.worst.as_ref().is_some_and(|worst| worst.is_cut).into()),
        Column::data("from_ns", |row| row.run.worst.as_ref().map(|worst| worst.from).into()),
        Column::data("to_ns", |row| row.run.worst.as_ref().map(|worst| worst.to).into()),
        Column::data("jobs", |row: &&ChainRow| row.jobs.as_deref().into()),
    ]
}

/// The chains of a run, if its scenario has any, and the way of data that took longest.
pub(super) fn add_chains(page: &mut Page, rows: &[ChainRow]) {
    if rows.is_empty() {
        return;
    }
    page.blank();
    page.trimmed_table(&chain_columns(), rows);
    for row in rows {
        let worst = row.run.worst.as_ref();
        let ends = worst.map(|worst| (worst.from, worst.to));
        add_way(page, (&row.run.chain, row.run.measure), ends, row.jobs.as_deref());
    }
}

/// By which jobs data went that took longest.
pub(in crate::tables) fn add_way(
    page: &mut Page,
    (chain, measure): (&str, ChainMeasure),
    ends: Option<(Instant, Instant)>,
    jobs: Option<&str>,
) {
    if let Some(((from, to), jobs)) = ends.zip(jobs) {
        page.line(&format!("longest {} of {chain}: {from} to {to}, by {jobs}", measure.name()));
    }
}
