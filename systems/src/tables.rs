//! What tests and runs of tasks and warps say.

mod tasks;
mod warps;

pub use tasks::segments::{SegmentReport, SegmentRunReport};
pub use tasks::{TaskReport, TaskRunReport};
pub use warps::WarpsDocument;
