//! Reports as one JSON document each, and which of them are laid out for people too.

use std::io::{self, Write};

use serde::Serialize;

use super::amalthea_table::ModelDocument;
use super::analysis_json::{AnalysisDocument, SporadicDocument};
use super::application_table::{OutcomeDocument, OutcomeLinesDocument, PointDocument};
use super::import::ImportDocument;
use super::occupancy::OccupancyDocument;
use super::profile_audit::ProfileAuditReport;
use super::profile_replay::ProfileReplayDocument;
use super::replay::ReplayReport;
use super::simulation_json::SimulationReport;
use super::study_table::{ShardsDocument, SummaryDocument};
use super::task_analysis::TaskReport;
use super::task_run::TaskRunReport;
use super::warps::WarpsDocument;
use crate::analysis::{Comparison, LaunchOrders};
use crate::audit::AuditReport;
use crate::experiments::validation::CampaignReport;

/// A report that is one JSON document.
pub trait JsonDocument: Serialize {
    /// Whether it stands on several indented lines, for people too, and not on one.
    const IS_INDENTED: bool = false;
}

// As many lines as there are kernels, jobs or rows would be read by nobody.
impl JsonDocument for AnalysisDocument<'_> {}
impl JsonDocument for CampaignReport {}
impl JsonDocument for Comparison<'_> {}
impl JsonDocument for LaunchOrders<'_> {}
impl JsonDocument for ModelDocument<'_> {}
impl JsonDocument for OutcomeDocument<'_> {}
impl JsonDocument for OutcomeLinesDocument<'_> {}
impl JsonDocument for PointDocument<'_> {}
impl JsonDocument for ShardsDocument<'_> {}
impl JsonDocument for SimulationReport<'_> {}
impl JsonDocument for SporadicDocument<'_> {}
impl JsonDocument for SummaryDocument<'_> {}
impl JsonDocument for WarpsDocument<'_> {}

// These are read as they are.
impl JsonDocument for AuditReport {
    const IS_INDENTED: bool = true;
}
impl JsonDocument for ImportDocument<'_> {
    const IS_INDENTED: bool = true;
}
impl JsonDocument for OccupancyDocument<'_> {
    const IS_INDENTED: bool = true;
}
impl JsonDocument for ProfileAuditReport {
    const IS_INDENTED: bool = true;
}
impl JsonDocument for ProfileReplayDocument<'_> {
    const IS_INDENTED: bool = true;
}
impl JsonDocument for ReplayReport<'_> {
    const IS_INDENTED: bool = true;
}
impl JsonDocument for TaskReport<'_> {
    const IS_INDENTED: bool = true;
}
impl JsonDocument for TaskRunReport<'_> {
    const IS_INDENTED: bool = true;
}

/// Why a document tells less than was asked for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cut {
    /// What stopped the command.
    pub reason: &'static str,
}

/// A document that tells less than was asked for, and says so.
#[derive(Debug, Serialize)]
pub struct CutDocument<'d, D> {
    /// What was complete.
    #[serde(flatten)]
    pub document: &'d D,
    /// Why there is no more.
    pub cut: Cut,
}

impl<D: JsonDocument> JsonDocument for CutDocument<'_, D> {
    const IS_INDENTED: bool = D::IS_INDENTED;
}

/// Writes a document, with the end of its last line.
///
/// # Errors
/// Whatever `out` or the document refuses.
pub fn write_json<T: JsonDocument + ?Sized>(document: &T, mut out: impl Write) -> io::Result<()> {
    if T::IS_INDENTED {
        serde_json::to_writer_pretty(&mut out, document)?;
    } else {
        serde_json::to_writer(&mut out, document)?;
    }
    out.write_all(b"\n")
}
