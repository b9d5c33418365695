//! Verdicts on chains as columns and as a table.

use super::verdicts::counts;
use crate::analysis::{ChainVerdict, Verdict};
use crate::formats::{Column, DocumentWriter, Page, Rows};
use crate::run::ChainDelay;
use crate::tables::run::chains::add_way;

fn chain_columns<'a>() -> [Column<&'a ChainVerdict>; 12] {
    [
        Column::new("chain", "chain", |row: &&ChainVerdict| row.chain.as_str().into()).left(),
        Column::new("measure", "measure", |row: &&ChainVerdict| row.measure.name().into()).left(),
        Column::data("worst_found_ns", |row| row.worst_found_ns.into()),
        Column::table("worst found", |row: &&ChainVerdict| {
            row.worst_found_ns.map(|found| ChainDelay::known_length(found, row.is_cut)).into()
        }),
        Column::new("bound_ns", "bound", |row| row.bound_ns.into()),
        Column::new("limit_ns", "at most", |row| row.limit_ns.into()),
        Column::new("verdict", "verdict", |row: &&ChainVerdict| row.verdict.map(Verdict::name).into()).left(),
        Column::data("order", |row: &&ChainVerdict| row.order.name().into()),
        Column::data("is_cut", |row| row.is_cut.into()),
        Column::data("from_ns", |row| row.from_ns.into()),
        Column::data("to_ns", |row| row.to_ns.into()),
        Column::data("jobs", |row: &&ChainVerdict| row.jobs.as_deref().into()),
    ]
}

/// The verdicts on chains in a document, if there are any.
pub(super) fn document<D: DocumentWriter>(to: &mut D, chains: &[ChainVerdict]) -> Result<(), D::Error> {
    if chains.is_empty() { Ok(()) } else { to.elements("chains", chains, &chain_columns(), chains) }
}

/// The verdicts on chains, if there are any, how many there are of each kind, and by which jobs the longest went.
pub(super) fn add_chains(page: &mut Page, chains: &[ChainVerdict]) {
    if chains.is_empty() {
        return;
    }
    page.blank();
    page.trimmed_table(&chain_columns(), chains);
    page.line(&counts("chains", "without a limit", chains.iter().map(|row| (row.verdict, row.order))));
    for row in chains {
        add_way(page, (&row.chain, row.measure), row.from_ns.zip(row.to_ns), row.jobs.as_deref());
    }
}
