//! Tables: what is said of a run, an analysis or a measurement, in columns and as JSON documents.

mod amalthea_table;
mod analysis;
mod application_table;
mod device_table;
mod explained;
mod measured;
mod printed;
mod rule_words;
mod run;
mod signed;
mod study_table;
mod study_words;
mod tasks;
mod warps;

pub use analysis::bounded_responses::BoundedResponses;
pub use analysis::columns::analysis_rows;
pub use analysis::job_set_report::JobSetReport;
pub use analysis::ladder_report::LadderReport;
pub use analysis::occupancy::OccupancyDocument;
pub use analysis::report::AnalysisReport;
pub use analysis::sporadic_report::{SporadicReport, jitter_of_threads};
pub use analysis::verdicts::requirement_notes;
pub use application_table::{OutcomeDocument, PointDocument, rows_shown};
pub use device_table::{DeviceReport, DevicesReport};
pub use explained::ExplainReport;
pub use measured::profile_audit::ProfileAuditReport;
pub use measured::profile_replay::ProfileReplayDocument;
pub use measured::replay::ReplayReport;
pub use printed::{OfPaper, PrintedDocument};
pub use run::blame::{Behind, BlameRow, BlameRules, BlameTables};
pub use run::block_table::blocks_csv;
pub use run::examiner_log::{ExaminerLog, examiner_logs};
pub use run::report::{LongReport, SimulationReport};
pub use run::responses::responses_csv;
pub use run::runnable_times::{RunnableTimes, runnable_times, runnable_times_csv, runnable_times_json};
pub use run::state::state_text;
pub use study_table::{ShardsDocument, SummaryDocument};
pub(crate) use study_table::{measure, names};
pub(crate) use study_words::{WEIGHTED, axis_title, is_beside, name_of, with_value};
pub use tasks::curve_report::CurveReport;
pub use tasks::curve_rows::{
    curve_header, curve_line, curve_point, segment_curve_header, segment_curve_line, segment_curve_point,
};
pub use tasks::segment_bounds::SegmentReport;
pub use tasks::segment_run::SegmentRunReport;
pub use tasks::task_analysis::TaskReport;
pub use tasks::task_run::TaskRunReport;
pub use warps::WarpsDocument;
