//! What a GPU says of the rules, by experiments of the probe (`probe/` of the project), each of which tells two or more
//! answers apart.
//!
//! The probe writes a folder: what it asked (`probe.json`), and for each experiment the scenario that it ran, a table
//! of its blocks, and for each answer the scenario that behaves so under the rules here. [`ProbeFolder`] reads it.
//! [`ProbeFolder::judge`] simulates every answer on a device like the card, looks at measured and simulated blocks in
//! one way (`looks`), and says which answer was measured, how often, and whether it is the one that is taken without
//! any option.

mod file;
mod judge;
mod looks;

pub use file::ProbeFolder;
pub use judge::ProbeReport;
pub(crate) use judge::{ProbeRow, ProbeVerdict};
