//! How a simulated result differs from the published one.

use thiserror::Error;

use crate::scenario::Expected;
use crate::trace::Trace;
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

/// Compares a finished run with what was expected of its scenario.
///
/// Times are compared under every placement, where blocks are only under the one under which they were found.
///
/// # Errors
/// [`NotComparable`] if the run was one under other conditions.
pub fn differences(expected: &Expected, trace: &Trace) -> Result<Vec<Difference>, NotComparable> {
    if !expected.replaced.is_empty() {
        return Err(NotComparable { replaced: expected.replaced.clone() });
    }
    let mut differences = Vec::new();
    for kernel in &expected.kernels {
        let mut differs = |what: String| {
            differences.push(Difference { kernel: kernel.name.clone(), place: kernel.place.clone(), what });
        };
        let ids = (0..).map(OperationId).take(trace.operations().len());
        let launches = ids.filter(|&id| trace.kernel_of(id).is_some_and(|launched| *launched.title == *kernel.name));
        let Some(id) = launches.into_iter().nth(kernel.iteration as usize) else {
            differs(format!("launch {} did not happen", kernel.iteration));
            continue;
        };
        let record = &trace.operations()[id.0 as usize];
        let times =
            [("first start", kernel.first_start, record.first_start()), ("finish", kernel.finish, record.finish())];
        for (what, published, simulated) in times {
            let Some(published) = published else { continue };
            match simulated {
                None => differs(format!("{what}: expected {published}, not reached")),
                Some(simulated) if published.since(simulated).max(simulated.since(published)) > expected.tolerance => {
                    differs(format!("{what}: expected {published}, simulated {simulated}"));
                }
                Some(_) => {}
            }
        }
        if trace.placement() != expected.placement {
            continue;
        }
        if let Some(published) = &kernel.blocks_per_sm {
            let mut simulated = vec![0_u32; trace.sms() as usize];
            for run in trace.block_runs(id) {
                simulated[usize::from(run.sm)] += u32::from(run.blocks);
            }
            if *published != simulated {
                differs(format!("blocks per SM: expected {published:?}, simulated {simulated:?}"));
            }
        }
        if let Some(published) = &kernel.sm_of_block {
            let mut simulated: Vec<Option<u32>> = vec![None; published.len()];
            for block in trace.blocks(id) {
                if let Some(sm) = simulated.get_mut(block.index as usize) {
                    *sm = Some(u32::from(block.sm));
                }
            }
            if published.iter().zip(&simulated).any(|(published, sm)| published.is_some() && published != sm) {
                differs(format!("SM of each block: expected {}, simulated {}", listed(published), listed(&simulated)));
            }
        }
    }
    Ok(differences)
}

/// SMs by block, with a dash where none is known.
fn listed(sms: &[Option<u32>]) -> String {
    let shown = sms.iter().map(|sm| sm.map_or_else(|| "-".to_owned(), |sm| sm.to_string()));
    format!("[{}]", shown.collect::<Vec<_>>().join(", "))
}
