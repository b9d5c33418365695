//! Tables of measurements: profiles and logs, audited, imported and simulated again.

mod activity;
pub(super) mod findings;
pub(super) mod import;
pub(super) mod profile_audit;
mod profile_comparison;
pub(super) mod profile_replay;
pub(super) mod replay;
