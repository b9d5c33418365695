//! Logs of measurements, audited and simulated again; below, the same of profiles.

pub(super) mod profile_replay;
pub(super) mod profiles;

use std::io::{self, Write};

use super::HINT;
use crate::audit::{AuditReport, Finding, PlacementTried};
use crate::experiments::replay::{KernelComparison, Replay};
use crate::formats::{CellOf, Column, DocumentWriter, Page, Report, Rows, RowsPart, Text, fields};
use crate::logs::Dropped;
use crate::spelling::formats;
use crate::time::{Duration, NS_PER_SECOND};
use crate::words::counted;

fn finding_columns<'f>() -> [Column<&'f Finding>; 12] {
    [
        Column::new("rule", "rule", |finding: &&Finding| finding.rule.name().into()).left(),
        Column::new("kernel", "kernel", |finding: &&Finding| (&*finding.kernel).into()).left(),
        Column::data("block", |finding| finding.block.into()),
        Column::table("block", |finding| finding.block.map_or_else(String::new, |block| block.to_string()).into()),
        Column::data("sm", |finding| finding.sm.into()),
        Column::table("SM", |finding| finding.sm.map_or_else(String::new, |sm| sm.to_string()).into()),
        Column::data("at_ns", |finding| finding.at_ns.as_ns().into()),
        Column::table("at", |finding| seconds(finding.at_ns.as_ns()).into()),
        Column::data("by", |finding| finding.by.into()),
        Column::table("by", |finding| format!("{} {}", finding.by, finding.unit).into()),
        Column::data("unit", |finding| finding.unit.into()),
        Column::new("what", "what", |finding: &&Finding| finding.what.as_str().into()).left(),
    ]
}

/// Seconds to the nanosecond, which clocks that count from 1970 have too many of for an `f64`.
fn seconds(ns: i64) -> String {
    let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    format!("{sign}{}.{:09} s", ns / NS_PER_SECOND, ns % NS_PER_SECOND)
}

fn tried_columns<'t>() -> [Column<&'t PlacementTried>; 4] {
    fn elsewhere(tried: &PlacementTried) -> String {
        let first = tried
            .first_elsewhere
            .as_ref()
            .map(|block| format!("{} block {} on SM {}, not {}", block.kernel, block.block, block.sm, block.predicted));
        first.unwrap_or_default()
    }
    [
        Column::table("placement", |tried: &&PlacementTried| tried.policy.name().into()).left(),
        Column::table("order of SMs", |tried: &&PlacementTried| tried.order.as_str().into()).left(),
        Column::table("blocks there", |tried| format!("{} of {}", tried.followed, tried.decidable).into()),
        Column::table("first elsewhere", |tried: &&PlacementTried| elsewhere(tried).into()).left(),
    ]
}

/// Findings shown in a table.
const SHOWN: usize = 100;

/// The findings, and what was checked.
impl Report for AuditReport {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "violations";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.elements("violations", &self.violations, &finding_columns(), &self.violations)?;
        fields!(to, self => checked);
        to.list("dropped", &self.dropped)?;
        fields!(to, self => placement);
        if !self.learned.is_empty() {
            to.list("learned_placement", &self.learned)?;
        }
        fields!(to, self => devices, notes);
        Ok(())
    }

    fn text(&self, page: &mut Page) {
        let Self { violations, checked, placement, .. } = self;
        let shown = page.most_rows(SHOWN);
        if !violations.is_empty() {
            page.table(&finding_columns(), violations.iter().take(shown));
            if violations.len() > shown {
                let (more, formats) = (violations.len() - shown, formats(&["json", "csv"]));
                page.line(&format!("and {more} more ({formats} lists all)"));
            }
            page.line(HINT);
            page.blank();
        }
        page.line(&format!(
            "{} in {}, {}; {} of {} decidable blocks were placed as {} says",
            counted(violations.len(), "finding"),
            counted(checked.kernels, "kernel"),
            counted(checked.blocks, "block"),
            placement.followed,
            placement.decidable,
            placement.policy.name()
        ));
        for learned in &self.learned {
            page.blank();
            page.line(&format!("which placement explains the {} blocks of {} best:", learned.blocks, learned.run));
            page.table(&tried_columns(), &learned.tried);
        }
    }
}

/// Everything about a replay.
#[derive(Debug, Clone, Copy)]
pub struct ReplayReport<'a> {
    /// The replay.
    pub replay: &'a Replay,
    /// What was left out of the logs.
    pub dropped: &'a [Dropped],
    /// What was assumed.
    pub notes: &'a [String],
}

/// The kernels, and the figures over all blocks; empty where the simulated kernel did not get that far.
impl Report for ReplayReport<'_> {
    const IS_INDENTED: bool = true;

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let replay = self.replay;
        to.entry("device", &replay.scenario.device().name)?;
        to.entry("placement", replay.scenario.placement.name())?;
        to.list("kernels", &replay.kernels)?;
        fields!(to, replay => blocks, sm_decidable, sm_equal, median_start_error_ns, max_start_error_ns);
        to.list("dropped", self.dropped)?;
        to.entry("notes", self.notes)
    }

    fn rows(&self, part: RowsPart<'_>, out: &mut dyn Write) -> io::Result<()> {
        part.write(&replay_columns(), &self.replay.kernels, out)
    }

    fn text(&self, page: &mut Page) {
        let replay = self.replay;
        page.table(&replay_columns(), &replay.kernels);
        page.blank();
        page.line(&format!(
            "{} blocks: starts differ by {} (median) and {} (at most); {} of {} decidable blocks on the same SM",
            replay.blocks,
            Duration::from_ns(replay.median_start_error_ns),
            Duration::from_ns(replay.max_start_error_ns),
            replay.sm_equal,
            replay.sm_decidable
        ));
    }
}

fn replay_columns<'k>() -> [Column<&'k KernelComparison>; 15] {
    [
        Column::new("kernel", "kernel", |kernel: &&KernelComparison| (&*kernel.name).into()).left(),
        Column::data("benchmark", |kernel| kernel.benchmark.into()),
        Column::new("iteration", "iteration", |kernel| kernel.iteration.into()),
        Column::new("blocks", "blocks", |kernel| kernel.blocks.into()),
        Column::data("measured_start_ns", |kernel| kernel.measured_start_ns.into()),
        Column::table("start measured", |kernel| milliseconds(Some(kernel.measured_start_ns))),
        Column::data("simulated_start_ns", |kernel| kernel.simulated_start_ns.into()),
        Column::table("simulated", |kernel| milliseconds(kernel.simulated_start_ns)),
        Column::data("measured_finish_ns", |kernel| kernel.measured_finish_ns.into()),
        Column::table("finish measured", |kernel| milliseconds(Some(kernel.measured_finish_ns))),
        Column::data("simulated_finish_ns", |kernel| kernel.simulated_finish_ns.into()),
        Column::table("simulated", |kernel| milliseconds(kernel.simulated_finish_ns)),
        Column::data("difference_ns", |kernel| kernel.difference_ns.into()),
        Column::table("apart", |kernel| milliseconds(kernel.difference_ns)),
        Column::data("max_start_error_ns", |kernel| kernel.max_start_error_ns.into()),
    ]
}

fn milliseconds<'r>(ns: Option<i64>) -> CellOf<'r, Text> {
    ns.map(|ns| format!("{:.3} ms", ns as f64 / 1e6)).into()
}
