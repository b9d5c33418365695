//! What SMs hold: rules R1, R2, R3, registers, SM ids, SM masks, and the limits of a single block.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::case::Case;
use super::demand::{RESOURCES, Sm};
use super::finding::{AuditRule, Finding};
use super::observation::{Observation, ObservedOperation};
use super::sweep::BlockEvent;
use crate::logs::LogTime;

/// Checks every block by itself, then the SMs together.
pub(super) fn check(case: &Case<'_>, findings: &mut Vec<Finding>) {
    check_shapes(case.observation, findings);
    check_sms(case, findings);
    check_sums(case, findings);
}

/// No block asks for more than a block may.
fn check_shapes(observation: &Observation, findings: &mut Vec<Finding>) {
    let limits = &observation.device.per_block;
    for operation in &observation.operations {
        let Some(kernel) = operation.kernel() else { continue };
        let Some(block) = kernel.blocks.get(0) else { continue };
        let asked = [
            (kernel.shape.threads, limits.threads, "threads"),
            (kernel.shape.shared_memory_bytes, limits.shared_memory_bytes, "bytes of shared memory"),
        ];
        for (asked, limit, unit) in asked {
            if asked > limit {
                findings.push(Finding {
                    rule: AuditRule::BlockLimit,
                    kernel: operation.name.clone(),
                    block: Some(0),
                    sm: Some(block.sm),
                    at_ns: block.start_ns,
                    by: u64::from(asked - limit),
                    unit,
                    what: format!(
                        "its blocks have {asked} {unit}, and a block may have {limit} on {}",
                        observation.device.name
                    ),
                });
            }
        }
    }
}

/// Every block ran on an SM that exists and that its mask leaves.
fn check_sms(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let device = &case.observation.device;
    for (index, operation) in case.observation.operations.iter().enumerate() {
        let Some(kernel) = operation.kernel() else { continue };
        if kernel.sm_mask.is_none() && kernel.blocks.sms.iter().all(|&sm| sm < device.sms) {
            continue;
        }
        if case.observation.virtual_sms
            && let Some(finding) = too_many_sms(case, index)
        {
            findings.push(finding);
        }
        for (number, block) in kernel.blocks.iter().enumerate() {
            let (rule, by, unit, what) = if block.sm >= device.sms {
                let what = format!("SM {} does not exist: {} has SMs 0 to {}", block.sm, device.name, device.sms - 1);
                (AuditRule::Sm, u64::from(block.sm - device.sms) + 1, "SMs", what)
            } else if !case.observation.virtual_sms && !case.may_use(index, block.sm) {
                let what = match case.observation.green_context_of(index) {
                    Some(_) => format!("its green context does not have SM {}", block.sm),
                    None => format!("its SM mask takes SM {} away", block.sm),
                };
                (AuditRule::Mask, 1, "blocks", what)
            } else {
                continue;
            };
            let (kernel, at_ns) = (operation.name.clone(), block.start_ns);
            findings.push(Finding { rule, kernel, block: Some(number), sm: Some(block.sm), at_ns, by, unit, what });
        }
    }
}

/// Of a kernel whose mask names other SMs than the log does: it ran on more of them than the mask leaves.
fn too_many_sms(case: &Case<'_>, index: usize) -> Option<Finding> {
    let operation = case.observation.operations.get(index)?;
    let kernel = operation.kernel().filter(|kernel| kernel.sm_mask.is_some())?;
    let left = (0..case.observation.device.sms).filter(|&sm| case.may_use(index, sm)).count();
    let on = kernel.blocks.sms.iter().collect::<BTreeSet<_>>().len();
    (on > left).then(|| Finding {
        rule: AuditRule::Mask,
        kernel: operation.name.clone(),
        block: None,
        sm: None,
        at_ns: case.facts[index].first_start.unwrap_or(LogTime::MIN),
        by: (on - left) as u64,
        unit: "SMs",
        what: format!("it ran on {on} SMs, and its SM mask leaves {left}"),
    })
}

/// One SM while time passes.
#[derive(Clone)]
struct Account {
    holds: Sm,
    /// For each resource: the finding that tells of the present excess.
    over: [Option<usize>; 4],
}

/// At no time do the blocks of an SM take more than it has; where contexts take turns, those of each context, since
/// what the others have there is put aside meanwhile (T1, T4); where SM numbers are virtual, those of each mask. A
/// block that is recorded as starting up to the tolerance before the end of the one it replaces is noise, so blocks
/// count as ending that much earlier.
fn check_sums(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let (observation, tolerance) = (case.observation, case.clocks.tolerances.one_clock_ns);
    let empty = Sm::empty(&observation.device);
    let sms = vec![Account { holds: empty, over: [None; 4] }; observation.device.sms as usize];
    let owners = owners(observation);
    let mut accounts = vec![sms; owners.iter().max().map_or(0, |last| last + 1)];
    let is_long = |event: &BlockEvent| event.ran_ns > tolerance;
    let mut ends = case.events.ends().filter(is_long).peekable();
    for start in case.counted(case.events.starts()).filter(is_long) {
        while let Some(end) = ends.next_if(|end| end.at.saturating_sub(tolerance) <= start.at) {
            let Some(account) = account(&mut accounts, &owners, &end) else { continue };
            account.holds.change(&case.facts[end.operation()].taken, -1);
            for (over, excess) in account.over.iter_mut().zip(account.holds.excess()) {
                if excess <= 0 {
                    *over = None;
                }
            }
        }
        let Some(account) = account(&mut accounts, &owners, &start) else { continue };
        account.holds.change(&case.facts[start.operation()].taken, 1);
        for (resource, (excess, (rule, unit))) in account.holds.excess().into_iter().zip(RESOURCES).enumerate() {
            if excess <= 0 {
                continue;
            }
            let by = excess.unsigned_abs();
            if let Some(known) = account.over[resource].and_then(|finding: usize| findings.get_mut(finding)) {
                known.by = known.by.max(by);
                continue;
            }
            account.over[resource] = Some(findings.len());
            let sm = start.sm;
            findings.push(Finding {
                rule,
                kernel: observation.operations[start.operation()].name.clone(),
                block: Some(start.block as usize),
                sm,
                at_ns: start.at,
                by,
                unit,
                what: account.holds.holds_too_much(sm.unwrap_or(0), resource, excess, unit),
            });
        }
    }
}

/// Whose account of each SM the blocks of each operation are on, by number.
fn owners(observation: &Observation) -> Vec<usize> {
    let mut known = FxHashMap::default();
    let owner = |(index, operation): (usize, &ObservedOperation)| {
        let mask = operation.kernel().and_then(|kernel| kernel.sm_mask).filter(|_| observation.virtual_sms);
        let next = known.len();
        *known.entry((observation.context_of(index), mask)).or_insert(next)
    };
    observation.operations.iter().enumerate().map(owner).collect()
}

fn account<'a>(accounts: &'a mut [Vec<Account>], owners: &[usize], event: &BlockEvent) -> Option<&'a mut Account> {
    accounts.get_mut(*owners.get(event.operation())?)?.get_mut(event.sm? as usize)
}
