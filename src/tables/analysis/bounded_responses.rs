//! Response times of a run beside what is proven of them.

use crate::analysis::JobVerdict;
use crate::formats::{MAX_ROWS, Page};
use crate::run::{Jobs, Responses, each_response};
use crate::scenario::Scenario;
use crate::spelling::formats;
use crate::tables::run::responses::bounded_response_columns;

/// Response times of the scenario's own run beside the bound on all jobs of the same stream or host, where every job
/// has one. Rows are made one by one: of many streams they take more memory than all that is known of their jobs.
#[derive(Debug, Clone, Copy)]
pub struct BoundedResponses<'a> {
    /// What was simulated.
    pub scenario: &'a Scenario,
    /// The jobs of its own run.
    pub run: &'a Jobs,
    /// What is known of them, in the order of their threads.
    pub verdicts: &'a [JobVerdict],
}

impl<'a> BoundedResponses<'a> {
    /// One entry for every stream with operations and every host that submits something, in declaration order.
    pub fn rows(&self) -> impl Iterator<Item = Responses<'a>> + use<'a> {
        let mut later = self.verdicts;
        each_response(self.scenario, self.run).map(move |mut row| {
            later = &later[later.iter().take_while(|job| job.thread < row.benchmark).count()..];
            let own = later.iter().take_while(|job| job.thread == row.benchmark);
            let mut bounds = own.map(|job| job.bound_ns);
            let longest = bounds.try_fold(None, |longest, bound| Some(longest.max(Some(bound?))));
            row.bound_ns = longest.flatten();
            row
        })
    }

    /// Adds a table, unless it says no more than the jobs do, as there is one of each.
    pub(super) fn add_to(&self, page: &mut Page) {
        if self.rows().any(|row| row.jobs > 1) {
            let (columns, json) = (bounded_response_columns(), formats(&["json"]));
            page.first_rows(MAX_ROWS, &columns, self.rows(), " streams and hosts", &json);
            page.blank();
        }
    }
}
