//! What leaves the library: reports of a run, each format in a file of its own.

pub mod application_table;
mod csv;
pub mod device_table;
mod examiner_log;
mod rule_log;
mod simulation_json;
mod state;
mod summary;
mod table;

pub use csv::kernel_csv;
pub use examiner_log::{ExaminerLog, examiner_logs};
pub use rule_log::{Firing, rule_log};
pub use simulation_json::SimulationReport;
pub use state::{QueueContent, Resident, SmState, State, Waiting};
pub use summary::{KernelSummary, SmUtilization, Summary};
pub use table::{kernel_table, rule_table, state_text};
