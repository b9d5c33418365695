//! Whether a run keeps what the analyses claim of all runs: the check that no command leaves out that knows both.

use std::collections::BTreeMap;

use thiserror::Error;

use super::analyse::{AnalysedKernel, Analysis};
use crate::broken_bound::BrokenBound;
use crate::hosts::ProgramError;
use crate::time::Instant;
use crate::trace::Trace;
use crate::workload::OperationKind;

/// Why nothing is said of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// It cannot be run or analysed.
    #[error(transparent)]
    Run(#[from] ProgramError),
    /// A run exceeds what was found to hold of all runs.
    #[error(transparent)]
    Broken(#[from] BrokenBound),
}

/// When the kernels of each host thread finished, in the order of its launches.
pub(super) type Finishes = BTreeMap<u32, Vec<Option<Instant>>>;

pub(super) fn finishes(trace: &Trace) -> Finishes {
    let mut launches = Finishes::new();
    for record in trace.operations() {
        if matches!(record.kind, OperationKind::Kernel(_)) {
            launches.entry(record.origin.thread).or_default().push(record.finish());
        }
    }
    launches
}

/// The kernels of an analysis, each with its finish in a run: those of one host thread are matched in launch order.
pub(super) fn matched<'k, 'a>(
    analysis: &'k Analysis<'a>,
    launches: &Finishes,
) -> impl Iterator<Item = (&'k AnalysedKernel<'a>, Option<Instant>)> {
    let mut next: BTreeMap<u32, usize> = BTreeMap::new();
    analysis.kernels.iter().map(move |kernel| {
        let position = next.entry(kernel.launch.benchmark).or_default();
        let finish = launches.get(&kernel.launch.benchmark).and_then(|finishes| finishes.get(*position)).copied();
        *position += 1;
        (kernel, finish.flatten())
    })
}

/// The scenario's own run must not be beyond any safe finish, and just as analysed where the analysis calls itself
/// exact.
pub(super) fn kept_by(analysis: &Analysis<'_>, launches: &Finishes) -> Result<(), BrokenBound> {
    for (kernel, finish) in matched(analysis, launches) {
        let subject = || {
            let launch = &kernel.launch;
            format!("iteration {} of {} in {} finishes at", launch.iteration, launch.title(), launch.label())
        };
        BrokenBound::check(finish, ("its safe finish in all runs", kernel.safe_finish_ns), subject)?;
        if analysis.exact && finish != kernel.finish_ns {
            let text = |finish: Option<Instant>| finish.map_or_else(|| "no instant".to_owned(), |at| at.to_string());
            let (found, claimed) = (text(finish), text(kernel.finish_ns));
            return Err(BrokenBound { subject: subject(), found, claim: "its exact finish in all runs", claimed });
        }
    }
    Ok(())
}

impl Analysis<'_> {
    /// Looks whether the scenario's own run keeps what the analysis claims of all runs.
    ///
    /// # Errors
    /// What it does not keep.
    pub fn check_run(&self, trace: &Trace) -> Result<(), BrokenBound> {
        kept_by(self, &finishes(trace))
    }
}
