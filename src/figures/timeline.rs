//! Figures that are the block timeline of a shipped scenario.

use std::fmt::Write;

use super::figure::{File, Made};
use crate::hosts::simulate;
use crate::plot::{Timeline, TimelineOptions};
use crate::report::{Summary, kernel_csv};
use crate::scenario::{ReadOptions, Scenario};

/// A scenario that this project ships.
#[derive(Debug, Clone, Copy)]
pub(super) struct Published {
    /// Its path in the project.
    pub path: &'static str,
    /// Its text.
    pub json: &'static str,
}

/// A shipped scenario, by its path in `scenarios/`.
macro_rules! published {
    ($path:literal) => {
        $crate::figures::timeline::Published {
            path: concat!("scenarios/", $path),
            json: include_str!(concat!("../../scenarios/", $path)),
        }
    };
}
pub(super) use published;

/// Simulates the scenario, draws it, and says whether it came out as the paper says.
pub(super) fn make(name: &'static str, published: Published) -> Result<Made, Box<dyn std::error::Error + Send + Sync>> {
    let scenario = Scenario::from_json(published.path, published.json, &ReadOptions::default())?;
    let run = simulate(&scenario)?;
    let summary = Summary { scenario: &scenario, trace: &run.trace, ended: run.ended };
    // The papers' point is why a kernel waits.
    let options = TimelineOptions { queues: true, occupancy: true, ..TimelineOptions::default() };
    let svg = Timeline::new(&summary, &options)?.draw(&summary, &options).to_svg();
    let mut csv = Vec::new();
    kernel_csv(&summary, true, &mut csv)?;
    let files = vec![
        File { name: format!("{name}.svg"), text: svg },
        File { name: format!("{name}.csv"), text: String::from_utf8(csv)? },
    ];
    let mut finding = String::new();
    if let Some(expected) = &scenario.expected {
        let differences = expected.differences(&run.trace)?;
        let known = expected.kernels.len();
        if differences.is_empty() {
            write!(finding, "All {known} kernels as expected, within {}. {}", expected.tolerance, expected.source)?;
        } else {
            write!(finding, "{} of {known} kernels differ:", differences.len())?;
            for difference in &differences {
                write!(finding, " {}: {};", difference.kernel, difference.what)?;
            }
            write!(finding, " expected: {}", expected.source)?;
        }
    }
    Ok(Made { files, finding })
}
