//! The published result of a scenario, and how a simulated one differs from it.

use thiserror::Error;

use crate::time::{Duration, Instant};
use crate::trace::Trace;
use crate::workload::{OperationId, Placement};

/// What a paper or a measurement says should come out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Where the numbers come from.
    pub source: String,
    /// How far off a time may be.
    pub tolerance: Duration,
    /// The placement under which it was found.
    pub placement: Placement,
    /// Kernels of which something is known.
    pub kernels: Vec<ExpectedKernel>,
    /// Conditions under which it was found that the user has replaced: the device, the block durations, …
    pub replaced: Vec<&'static str>,
}

/// What is known of one kernel launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedKernel {
    /// The kernel's title.
    pub name: String,
    /// Which of its launches, from 0, in launch order.
    pub iteration: u32,
    /// When its first block starts.
    pub first_start: Option<Instant>,
    /// When its last block ends.
    pub finish: Option<Instant>,
    /// Blocks per SM, by SM id; compared only under the placement under which they were found.
    pub blocks_per_sm: Option<Vec<u32>>,
}

/// One way in which a run is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The kernel.
    pub kernel: String,
    /// What differs, with both values.
    pub what: String,
}

/// A run under other conditions than those of the expected result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the expected result holds for the scenario as its file has it, and an option replaces {}", replaced.join(" and "))]
pub struct NotComparable {
    /// What differs: the device, the block durations, …
    pub replaced: Vec<&'static str>,
}

impl Expected {
    /// Compares a finished run with what was expected of it.
    ///
    /// Times are compared under every placement, blocks per SM only under the one under which they were found.
    ///
    /// # Errors
    /// [`NotComparable`] if the run was one under other conditions.
    pub fn differences(&self, trace: &Trace) -> Result<Vec<Difference>, NotComparable> {
        if !self.replaced.is_empty() {
            return Err(NotComparable { replaced: self.replaced.clone() });
        }
        let mut differences = Vec::new();
        for kernel in &self.kernels {
            let mut differs = |what: String| differences.push(Difference { kernel: kernel.name.clone(), what });
            let ids = (0..).map(OperationId).take(trace.operations().len());
            let launches =
                ids.filter(|&id| trace.kernel_of(id).is_some_and(|launched| *launched.title == *kernel.name));
            let Some(id) = launches.into_iter().nth(kernel.iteration as usize) else {
                differs(format!("launch {} did not happen", kernel.iteration));
                continue;
            };
            let record = &trace.operations()[id.0 as usize];
            let times =
                [("first start", kernel.first_start, record.first_start()), ("finish", kernel.finish, record.finish())];
            for (what, expected, simulated) in times {
                let Some(expected) = expected else { continue };
                match simulated {
                    None => differs(format!("{what}: expected {expected}, not reached")),
                    Some(simulated) if expected.since(simulated).max(simulated.since(expected)) > self.tolerance => {
                        differs(format!("{what}: expected {expected}, simulated {simulated}"));
                    }
                    Some(_) => {}
                }
            }
            if let Some(expected) = kernel.blocks_per_sm.as_ref().filter(|_| trace.placement() == self.placement) {
                let mut simulated = vec![0_u32; trace.sms() as usize];
                for run in trace.block_runs(id) {
                    simulated[usize::from(run.sm)] += u32::from(run.blocks);
                }
                if *expected != simulated {
                    differs(format!("blocks per SM: expected {expected:?}, simulated {simulated:?}"));
                }
            }
        }
        Ok(differences)
    }
}
