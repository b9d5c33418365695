//! What leaves the library: reports of a run, each format in a file of its own.

pub mod amalthea_table;
mod analysis_columns;
mod analysis_table;
pub mod application_curves;
pub mod application_gantt;
pub mod application_table;
mod blame;
mod campaign_figure;
pub mod chunk_cycle;
mod columns;
pub mod cost_chart;
mod csv;
mod deadlines;
pub mod device_table;
mod differences;
mod examiner_log;
mod findings;
mod html;
mod import;
mod kernel_series;
mod kernels;
mod launches;
mod markdown;
mod occupancy;
mod pack;
mod page;
mod perfetto;
mod profile_audit;
mod profile_replay;
pub mod region_map;
pub mod replay;
mod response_chart;
pub mod response_charts;
mod responses;
mod rule_log;
mod runnable_times;
pub mod scheduler_regions;
mod simulation_json;
mod sm_groups;
mod state;
pub mod study_plot;
pub mod study_table;
mod summary;
mod table;
pub mod task_analysis;
pub mod task_charts;
pub mod task_gantt;
pub mod task_run;
pub mod timeline;
mod verdicts;
pub mod warp_charts;
pub mod warp_schedule;
mod warps;

pub use analysis_columns::{
    analysis_csv, campaign_csv, campaign_markdown, comparison_csv, comparison_markdown, orders_csv, orders_markdown,
};
pub use analysis_table::{analysis_table, campaign_table, comparison_table, orders_table, steps_text};
pub use blame::{BlameRow, blame_rows, blame_table};
pub use campaign_figure::campaign_figure;
pub(crate) use csv::field as csv_field;
pub use differences::{Difference, NotComparable, differences};
pub use examiner_log::{ExaminerLog, examiner_logs};
pub use findings::{finding_csv, finding_markdown, finding_table};
pub use html::{HtmlRun, HtmlTimeline};
pub use import::{ImportDocument, import_table};
pub use kernels::kernel_csv;
pub use occupancy::{OccupancyDocument, occupancy_csv, occupancy_markdown, occupancy_table};
pub use page::TableStyle;
pub use perfetto::{PerfettoRun, perfetto_trace};
pub use profile_audit::{profile_audit_csv, profile_audit_markdown, profile_audit_table};
pub use profile_replay::{ProfileReplayDocument, profile_replay_csv, profile_replay_markdown, profile_replay_table};
pub use response_chart::response_chart;
pub use responses::{Responses, responses, responses_csv};
pub use rule_log::{Firing, rule_log};
pub use runnable_times::{RunnableTimes, runnable_times, runnable_times_csv, runnable_times_json};
pub use simulation_json::SimulationReport;
pub use state::{QueueContent, Resident, SmState, State, Waiting};
pub use summary::{KernelSummary, SmUtilization, Summary};
pub use table::{kernel_table, rule_table, state_text};
pub use verdicts::{
    bounded_response_table, bounded_responses, bounded_responses_json, requirement_notes, requirement_table,
    sporadic_csv, sporadic_table, verdict_csv, verdict_table,
};
pub use warps::{warps_csv, warps_json, warps_table};
