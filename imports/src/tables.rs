//! What models hold, and what profiles say of the rules.

mod amalthea_table;
mod profiles;

pub use amalthea_table::RunnableTimes;
pub use profiles::ProfileAuditReport;
