//! Runs all checks on one observed run (an audit), and sums up audits of several runs (a report).

use serde::Serialize;

use super::audited_run::{AuditedRun, count};
use super::executions::executions;
use super::finding::{Finding, Tolerances};
use super::learn::LearnedPlacement;
use super::observed_run::{ObservedContexts, ObservedRun};
use super::placement::PlacementStatistic;
use super::{conservation, copies, placement, releases, resources, rounds, synchronization, times, waits};
use crate::device::CopySharing;
use crate::effort::Progress;
use crate::logs::{Dropped, LogInput};

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// What breaks a rule, by time.
    pub findings: Vec<Finding>,
    /// How much was looked at.
    pub checked: Checked,
    /// How many blocks went where the model would have put them.
    pub placement: PlacementStatistic,
    /// What could not be checked, and why.
    pub notes: Vec<String>,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Checked {
    /// Kernel launches.
    pub kernels: usize,
    /// Blocks.
    pub blocks: usize,
}

/// Finds what breaks one of the rules.
type Check = fn(&AuditedRun<'_>, &mut Vec<Finding>);

/// How many checks look at every block, one after another; others look at all of them in a moment.
const SWEEPS: u64 = 4;

/// Those that need no other.
const ALONE: &[Check] = &[
    waits::check_ready,
    resources::check,
    resources::check_clients,
    resources::check_clusters,
    waits::check_calls,
    releases::check,
    synchronization::check,
    |run, found| copies::check_links(run.observed, found),
];

impl ObservedRun {
    /// At how many blocks the checks of an audit look, all together.
    pub fn looks(&self) -> u64 {
        self.blocks() * SWEEPS
    }

    fn blocks(&self) -> u64 {
        self.kernels().map(|kernel| kernel.blocks.len() as u64).sum()
    }
}

/// Checks an observed run by every rule. The tolerances are those for measured times; simulated ones are exact. The
/// number of blocks that checks have looked at is in `looked`; it goes to [`ObservedRun::looks`].
pub fn audit(observed: &ObservedRun, tolerances: &Tolerances, looked: Progress<'_>) -> Audit {
    let (mut notes, mut findings) = (Vec::new(), Vec::new());
    let executed = executions(observed);
    let apart = times::check_clocks(observed, &executed, tolerances, &mut findings);
    let mut tolerances = *tolerances;
    if apart > tolerances.across_clocks_ns {
        tolerances.across_clocks_ns = apart;
        notes.push(format!(
            "the clocks are apart by {} at least, so everything that compares them was checked with that tolerance",
            super::finding::length(apart)
        ));
    }
    let run = AuditedRun::with_executions(observed, executed, &tolerances, looked);
    let of_clocks = std::mem::take(&mut findings);
    times::check(&run, &mut findings);
    findings.extend(of_clocks);
    // Each looks at all blocks again, so they do so at once; what they find is put together in a fixed order.
    let by = |checks: &[Check]| {
        let mut found = Vec::new();
        for check in checks {
            check(&run, &mut found);
        }
        found
    };
    let none = || {
        count(looked, observed.blocks());
        Vec::new()
    };
    let binds = run.channels_bind() || observed.may_trigger_at_once();
    let has_limits = !observed.client_sms.is_empty();
    // The record has for how long a block went on in turns: one that has waited may have ended later than it tells.
    let has_open_ends = observed.turns().is_some() && observed.synchronizes();
    let is_unfit = has_open_ends || observed.incomplete.is_some() || has_limits || observed.has_masked_virtual_sms();
    let ((alone, (placement, placed)), (queued, conserved)) = rayon::join(
        || {
            rayon::join(
                || by(ALONE),
                || {
                    let mut found = Vec::new();
                    (placement::check(&run, &mut found), found)
                },
            )
        },
        || {
            rayon::join(
                || if binds { none() } else { by(&[waits::check_queues, copies::check]) },
                || if binds || is_unfit { none() } else { by(&[conservation::check]) },
            )
        },
    );
    let early = waits::programmatic_launches(&run);
    if early > 0 {
        let kernels = if early == 1 { "kernel began" } else { "kernels began" };
        notes.push(format!(
            "PDL: {early} {kernels} before the one before in its stream had ended: programmatic dependent launch, \
             which this GPU has and no log shows"
        ));
    }
    if observed.virtual_sms {
        let conserved = if observed.has_masked_virtual_sms() { ", work conservation" } else { "" };
        notes.push(format!(
            "SMs may have the numbers that each client of MPS gives them for itself, as from Volta on (libsmctrl): masks \
             were checked by how many SMs they leave, and SMs for each process and mask by itself; placement{conserved} and \
             clusters were not checked"
        ));
    }
    if binds {
        let why = if run.channels_bind() {
            "streams share hardware channels"
        } else {
            "kernels begin or end at the instant at which others trigger or end (PDL), in an order that is not known"
        };
        notes.push(format!("{why}: queue order and work conservation were not checked"));
    } else {
        if let Some(why) = &observed.incomplete {
            notes.push(format!("work conservation was not checked: {why}"));
        } else if has_limits {
            notes.push("MPS limits the SMs of clients: work conservation and placement were not checked".to_owned());
        }
        if has_open_ends {
            notes.push(
                "blocks wait for others while contexts take turns: their waits, turns and work conservation were not checked"
                    .to_owned(),
            );
        } else {
            check_turns(&run, &mut findings, &mut notes);
        }
        if observed.contexts == ObservedContexts::Unseen {
            let take = if observed.virtual_sms { "may take" } else { "take" };
            notes.push(format!(
                "benchmarks ran in several processes, whose contexts {take} turns (T1) that no log shows: queues and SMs \
                 were checked for each process by itself, and work conservation while it was the only one with work"
            ));
        }
    }
    findings.extend(alone.into_iter().chain(queued).chain(conserved).chain(placed));
    findings.sort_by(|one, other| {
        (one.at_ns, one.rule, &one.kernel, one.block).cmp(&(other.at_ns, other.rule, &other.kernel, other.block))
    });
    let blocks = observed.kernels().map(|kernel| kernel.blocks.len()).sum();
    let checked = Checked { kernels: observed.kernels().count(), blocks };
    Audit { findings, checked, placement, notes }
}

/// T1 to T6, and what of them cannot be checked.
fn check_turns(run: &AuditedRun<'_>, findings: &mut Vec<Finding>, notes: &mut Vec<String>) {
    let Some(turns) = run.observed.turns() else { return };
    rounds::check(run, findings);
    if turns.is_driven_by_host {
        notes.push(
            "a host took contexts off the runlist: the order and length of turns, and copies in them, were not checked"
                .to_owned(),
        );
    } else if !run.clocks.exact {
        notes.push(
            "something had no length, or a timer ran out while its block was suspended: the order of turns, early ends of \
             them and copies in them were not checked"
                .to_owned(),
        );
    }
    if run.observed.device.copy.sharing == CopySharing::SharedLink {
        if run.observed.copies_run_in_turns() {
            notes.push("copies that share a link in the turns of their contexts were not checked".to_owned());
        }
    } else if run.clocks.exact && !turns.is_driven_by_host {
        copies::check_turns(run, findings);
    }
}

/// Everything about one or several audits.
#[derive(Debug, Clone, Default)]
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
        Self { dropped, ..Self::default() }
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

/// Audits each run, with the scenario that made it where that is known, as `audit` does one.
pub fn audit_logs(input: LogInput, mut audit: impl FnMut(&ObservedRun) -> Audit) -> AuditReport {
    let mut report = AuditReport::new(input.dropped);
    for run in input.runs {
        let observed = match &run.scenario {
            Some((scenario, pairing)) => ObservedRun::of_logs_with(&run.run, scenario, pairing),
            None => ObservedRun::of_logs(&run.run, &run.device),
        };
        report.notes.extend(run.notes);
        if run.scenario.is_none() && run.device.has_clusters() {
            report.notes.push(
                "no log tells which kernels have clusters or are of a green context: these may seem to wait without need, \
                 or to be out of order, where a scenario of the same kernels would say why"
                    .to_owned(),
            );
        }
        report.add(audit(&observed), &run.device.name);
    }
    report
}
