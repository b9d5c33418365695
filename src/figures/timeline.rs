//! Figures that are the block timeline of a shipped scenario.

use super::made::Made;
use crate::formats::csv_of;
use crate::hosts::simulate;
use crate::pictures::timeline::{Timeline, TimelineOptions};
use crate::run::{NotComparable, Summary};
use crate::scenario::{ReadOptions, Scenario};
use crate::tables::SimulationReport;

/// A scenario or a model that this project ships.
#[derive(Debug, Clone, Copy)]
pub(super) struct Published {
    /// Its path in the project.
    pub path: &'static str,
    pub text: &'static str,
}

/// A shipped scenario or model, by its path in `scenarios/`.
macro_rules! published {
    ($path:literal) => {
        $crate::figures::timeline::Published {
            path: concat!("scenarios/", $path),
            text: include_str!(concat!("../../scenarios/", $path)),
        }
    };
}
pub(super) use published;

/// Simulates the scenario, draws it, and says whether it came out as the paper says.
pub(super) fn make(name: &'static str, published: Published) -> Result<Made, Box<dyn std::error::Error + Send + Sync>> {
    let scenario = Scenario::from_json(published.path, published.text, &ReadOptions::default())?;
    let run = simulate(&scenario)?;
    let summary = Summary::of(&run);
    // The papers' point is why a kernel waits.
    let options = TimelineOptions { queues: true, occupancy: true, ..TimelineOptions::default() };
    let picture = Timeline::new(&summary, &options)?.draw(&summary, &options);
    let report = SimulationReport { blocks: true, ..SimulationReport::of(summary) };
    Ok(Made::of(name, &picture, csv_of(&report), against_expected(&summary)?))
}

/// Whether a run came out as its scenario expects; nothing if it expects nothing.
pub(super) fn against_expected(summary: &Summary<'_>) -> Result<String, NotComparable> {
    let Some(expected) = &summary.scenario.expected else { return Ok(String::new()) };
    let differences = summary.differences()?;
    let known = expected.kernels.len();
    if differences.is_empty() {
        let all = if known == 1 { "The one kernel".to_owned() } else { format!("All {known} kernels") };
        return Ok(format!("{all} as expected, within {}. {}", expected.tolerance, expected.source));
    }
    let differing: Vec<String> = differences.iter().map(|difference| format!(" {difference};")).collect();
    Ok(format!("{} of {known} kernels differ:{} expected: {}", differences.len(), differing.concat(), expected.source))
}
