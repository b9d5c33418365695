//! Tables: what is said of a run, an analysis or a measurement, in columns and as JSON documents.

pub mod amalthea_table;
mod analysis;
pub mod application_table;
pub mod device_table;
mod json_documents;
mod measured;
mod printed;
mod run;
mod study_table;
mod tasks;
mod warps;

pub use analysis::bounded_responses::BoundedResponses;
pub use analysis::columns::{analysis_rows, campaign_rows, comparison_rows, orders_rows};
pub use analysis::json::{AnalysisDocument, SporadicDocument};
pub use analysis::occupancy::{OccupancyDocument, occupancy_rows, occupancy_table};
pub use analysis::report::AnalysisReport;
pub use analysis::sporadic_report::{SporadicReport, UnknownStream, jitter_of_threads};
pub use analysis::table::{campaign_table, comparison_table, orders_table};
pub use analysis::verdicts::{requirement_notes, sporadic_rows, verdict_rows};
pub use measured::findings::{finding_rows, finding_table};
pub use measured::import::{ImportDocument, import_rows, import_table};
pub use measured::profile_audit::{ProfileAuditReport, profile_audit_rows, profile_audit_table};
pub use measured::profile_replay::{ProfileReplayDocument, profile_replay_rows, profile_replay_table};
pub use measured::replay::{ReplayReport, replay_rows, replay_table};
pub use printed::{OfPaper, PrintedDocument, printed_rows, printed_table};
pub use run::blame::{BlameRow, BlameTables, blame_table};
pub use run::examiner_log::{ExaminerLog, examiner_logs};
pub use run::kernels::kernel_rows;
pub use run::responses::responses_csv;
pub use run::runnable_times::{RunnableTimes, runnable_times, runnable_times_csv, runnable_times_json};
pub use run::simulation_json::{BlockLists, SimulationReport};
pub use run::table::{kernel_table, rule_table, state_text};
pub use study_table::{ShardsDocument, SummaryDocument, shards_rows, shards_table, summary_rows, summary_table};
pub(crate) use study_table::{measure, names};
pub use tasks::curve_rows::{
    curve_header, curve_line, curve_point, segment_curve_header, segment_curve_line, segment_curve_point,
};
pub use tasks::segment_bounds::{SegmentReport, all_proven};
pub use tasks::segment_run::SegmentRunReport;
pub use tasks::task_analysis::TaskReport;
pub use tasks::task_run::{TaskRunReport, TaskStatistics};
pub use warps::{WarpsDocument, warps_rows, warps_table};
