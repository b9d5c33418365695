//! How a simulated result differs from the published one.

use thiserror::Error;

use crate::printed::{Printed, Value};
use crate::scenario::{Expected, ExpectedKernel};
use crate::trace::{OperationRecord, Trace};
use crate::workload::OperationId;

/// One way in which a run is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The kernel.
    pub kernel: String,
    /// Where in print the expected value stands, if the scenario says so.
    pub place: Option<String>,
    /// What differs, with both values.
    pub what: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{} ({place}): {}", self.kernel, self.what),
            None => write!(f, "{}: {}", self.kernel, self.what),
        }
    }
}

/// A run under other conditions than those of the expected result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the expected result holds for the scenario as its file has it, and an option replaces {}", replaced.join(" and "))]
pub struct NotComparable {
    /// What differs: the device, the block durations, …
    pub replaced: Vec<&'static str>,
}

/// Compares a finished run with what was expected of its scenario, value by value, with the kernel that each is of.
///
/// Times are compared under every placement, where blocks are only under the one under which they were found.
///
/// # Errors
/// [`NotComparable`] if the run was one under other conditions.
pub(crate) fn against_expected<'e>(
    expected: &'e Expected,
    trace: &Trace,
) -> Result<Vec<(&'e ExpectedKernel, Printed)>, NotComparable> {
    if !expected.replaced.is_empty() {
        return Err(NotComparable { replaced: expected.replaced.clone() });
    }
    let tolerance = expected.tolerance.as_ns() as f64 / 1e9;
    let mut compared = Vec::new();
    for kernel in &expected.kernels {
        let ids = (0..).map(OperationId).take(trace.operations().len());
        let launches = ids.filter(|&id| trace.kernel_of(id).is_some_and(|launched| *launched.title == *kernel.name));
        let launch = launches.into_iter().nth(kernel.iteration as usize);
        let record = launch.map(|id| &trace.operations()[id.index()]);
        let times = [
            ("first start", kernel.first_start, record.and_then(OperationRecord::first_start)),
            ("finish", kernel.finish, record.and_then(OperationRecord::finish)),
        ];
        let place = kernel.place.as_deref().unwrap_or_default();
        for (what, published, simulated) in times {
            let Some(published) = published else { continue };
            let value = Printed::or_nothing(place, what, published, simulated.map(Value::from)).within(tolerance);
            compared.push((kernel, value));
        }
        if trace.placement() != expected.placement {
            continue;
        }
        if let Some(published) = &kernel.blocks_per_sm {
            let simulated = launch.map(|id| {
                let mut simulated = vec![0_u32; trace.sms() as usize];
                for run in trace.block_runs(id) {
                    simulated[usize::from(run.sm)] += u32::from(run.blocks);
                }
                Value::from(format!("{simulated:?}"))
            });
            compared.push((kernel, Printed::or_nothing(place, "blocks per SM", format!("{published:?}"), simulated)));
        }
        if let Some(published) = &kernel.sm_of_block {
            let simulated = launch.map(|id| Value::from(sms_beside(published, trace, id)));
            compared.push((kernel, Printed::or_nothing(place, "SM of each block", listed(published), simulated)));
        }
    }
    Ok(compared)
}

/// What of [`against_expected`] differs.
pub(crate) fn differing<'e>(
    expected: &'e Expected,
    trace: &Trace,
) -> Result<impl Iterator<Item = (&'e ExpectedKernel, Printed)> + use<'e>, NotComparable> {
    Ok(against_expected(expected, trace)?.into_iter().filter(|(_, value)| !value.agrees()))
}

/// Compares a finished run with what was expected of its scenario.
pub(super) fn differences(expected: &Expected, trace: &Trace) -> Result<Vec<Difference>, NotComparable> {
    let differing = differing(expected, trace)?.map(|(kernel, value)| {
        let Printed { what, printed, here, .. } = value;
        let found = here.map_or_else(|| "not reached".to_owned(), |here| format!("simulated {here}"));
        let what = format!("{what}: expected {printed}, {found}");
        Difference { kernel: kernel.name.clone(), place: kernel.place.clone(), what }
    });
    Ok(differing.collect())
}

/// The SMs of a launch's blocks; as print has them, dashes included, if those that print has are the same.
fn sms_beside(published: &[Option<u32>], trace: &Trace, id: OperationId) -> String {
    let mut simulated = vec![None; published.len()];
    for block in trace.blocks(id) {
        if let Some(sm) = simulated.get_mut(block.index as usize) {
            *sm = Some(u32::from(block.sm));
        }
    }
    let same = published.iter().zip(&simulated).all(|(known, sm)| known.is_none() || known == sm);
    listed(if same { published } else { &simulated })
}

/// SMs by block, with a dash where none is known.
fn listed(sms: &[Option<u32>]) -> String {
    let shown = sms.iter().map(|sm| sm.map_or_else(|| "-".to_owned(), |sm| sm.to_string()));
    format!("[{}]", shown.collect::<Vec<_>>().join(", "))
}
