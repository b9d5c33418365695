//! Tables on AMALTHEA models and their runs, and on profiles: what was imported, and what their audit found.

mod amalthea_table;
mod profiles;

pub use amalthea_table::RunnableTimes;
pub use profiles::ProfileAuditReport;
