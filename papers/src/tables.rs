//! What campaigns, replays and studies say.

mod application_table;
mod campaign;
mod curves;
mod profile_replay;
mod study_table;

pub use application_table::{OutcomeDocument, PointDocument};
pub use curves::CurveReport;
pub use profile_replay::ProfileReplayDocument;
pub use study_table::{ShardsDocument, SummaryDocument};
pub(crate) use study_table::{WEIGHTED, axis_title, is_beside, measure, name_of, names, with_value};
