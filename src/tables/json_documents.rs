//! The JSON documents, and which of them are laid out for people too.

use crate::analysis::{Comparison, LaunchOrders};
use crate::audit::AuditReport;
use crate::experiments::validation::CampaignReport;
use crate::formats::JsonDocument;
use crate::tables::amalthea_table::ModelDocument;
use crate::tables::application_table::{OutcomeDocument, OutcomeLinesDocument, PointDocument};
use crate::tables::{
    AnalysisDocument, ImportDocument, OccupancyDocument, ProfileAuditReport, ProfileReplayDocument, ReplayReport,
    ShardsDocument, SimulationReport, SporadicDocument, SummaryDocument, TaskReport, TaskRunReport, WarpsDocument,
};

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
