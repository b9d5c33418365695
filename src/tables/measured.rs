//! Tables of measurements: profiles and logs, audited, imported and simulated again.

pub(super) mod findings;
pub(super) mod import;
pub(super) mod profile_audit;
pub(super) mod profile_replay;
pub(super) mod replay;
