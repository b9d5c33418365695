//! Everything about one or several audits, in one document.

use super::finding::Finding;
use super::learn::LearnedPlacement;
use super::placement::PlacementStatistic;
use super::run::{Audit, Checked};
use crate::logs::Dropped;

/// Everything about one or several audits.
#[derive(Debug, Clone)]
pub struct AuditReport {
    /// What breaks a rule.
    pub violations: Vec<Finding>,
    /// How much was looked at.
    pub checked: Checked,
    /// What was left out of the logs.
    pub dropped: Vec<Dropped>,
    /// How many blocks went where the model would have put them.
    pub placement: PlacementStatistic,
    /// What explains best where the blocks of each run went; none unless that was asked for.
    pub learned: Vec<LearnedPlacement>,
    /// The devices, by name, one for each run.
    pub devices: Vec<String>,
    /// What could not be checked, and what was assumed.
    pub notes: Vec<String>,
}

impl AuditReport {
    /// A report of nothing.
    pub fn new(dropped: Vec<Dropped>) -> Self {
        Self {
            violations: Vec::new(),
            checked: Checked::default(),
            dropped,
            placement: PlacementStatistic::default(),
            learned: Vec::new(),
            devices: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds the audit of one run on `device`.
    pub fn add(&mut self, audit: Audit, device: &str) {
        self.violations.extend(audit.findings);
        self.checked.kernels += audit.checked.kernels;
        self.checked.blocks += audit.checked.blocks;
        self.placement.policy = audit.placement.policy;
        self.placement.decidable += audit.placement.decidable;
        self.placement.followed += audit.placement.followed;
        self.devices.push(device.to_owned());
        self.notes.extend(audit.notes);
    }
}
