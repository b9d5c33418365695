//! Section 3.2: one merged SM against the real ones, by random scenarios.

use std::fmt::Write;

use super::super::made::{Failure, Made};
use super::SEED;
use crate::device::Device;
use crate::experiments::validation::{Campaign, CampaignReport, Family};
use crate::formats::csv_of;
use crate::pictures::campaign_figure;
use crate::workload::Placement;

/// Scenarios of each family.
const SAMPLES: u64 = 100_000;

pub(super) fn make(name: &'static str) -> Result<Made, Failure> {
    let campaign = Campaign {
        device: Device::builtin("tx2")?.ok_or("the TX2 is not built in")?,
        placement: Placement::MostRoom,
        families: Family::ALL.to_vec(),
        samples: SAMPLES,
        seed: SEED,
    };
    let report = campaign.run(&|_| {})?;
    Ok(Made::of(name, &campaign_figure(&report), csv_of(&report), shares(&report)))
}

/// The shares of a campaign as a table of Markdown.
fn shares(report: &CampaignReport) -> String {
    let mut table = format!(
        "| family, {SAMPLES} scenarios each (seed {SEED}) | equal | optimistic (unsafe) | pessimistic |\n\
         | --- | ---: | ---: | ---: |\n"
    );
    for family in &report.families {
        let percent = |count: u64| 100.0 * count as f64 / family.samples.max(1) as f64;
        let (equal, early, late) = (percent(family.equal), percent(family.optimistic), percent(family.pessimistic));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {} | {equal:.3} % | {early:.3} % | {late:.3} % |", family.description);
    }
    table
}
