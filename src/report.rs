//! What leaves the library: reports of a run, each format in a file of its own.

pub mod amalthea_table;
mod analysis_csv;
mod analysis_table;
pub mod application_table;
mod campaign_figure;
mod csv;
pub mod device_table;
mod examiner_log;
mod html;
mod perfetto;
mod rule_log;
mod runnable_times;
mod simulation_json;
mod state;
mod summary;
mod table;
pub mod task_analysis;
pub mod task_gantt;
pub mod task_run;
mod warps;

pub use analysis_csv::{analysis_csv, campaign_csv, comparison_csv, orders_csv};
pub use analysis_table::{analysis_table, campaign_table, comparison_table, orders_table, steps_text};
pub use campaign_figure::campaign_figure;
pub(crate) use csv::field as csv_field;
pub use csv::kernel_csv;
pub use examiner_log::{ExaminerLog, examiner_logs};
pub use html::{HtmlRun, HtmlTimeline};
pub use perfetto::{PerfettoRun, perfetto_trace};
pub use rule_log::{Firing, rule_log};
pub use runnable_times::{RunnableTimes, runnable_times, runnable_times_csv, runnable_times_json};
pub use simulation_json::SimulationReport;
pub use state::{QueueContent, Resident, SmState, State, Waiting};
pub use summary::{KernelSummary, SmUtilization, Summary};
pub(crate) use table::plain_table;
pub use table::{kernel_table, rule_table, state_text};
pub use warps::{warps_csv, warps_json, warps_table};
