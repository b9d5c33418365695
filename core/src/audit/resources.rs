//! What SMs hold: rules R1, R2, R3, registers, SM ids, SM masks, the limits of a single block, on how many SMs clients
//! of MPS are, and whether clusters are on SMs of one GPC.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::audited_run::AuditedRun;
use super::executions::{RESOURCES, Sm};
use super::finding::{AuditRule, Finding};
use super::observed_run::{ObservedKernel, ObservedOperation, ObservedRun};
use super::sweep::BlockEvent;
use crate::device::Device;
use crate::limits::count_turn;
use crate::logs::{LogTime, LoggedBlock};
use crate::workload::Clusters;

/// Checks every block by itself, then the SMs together.
pub(super) fn check(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    check_shapes(run.observed, findings);
    check_sms(run, findings);
    check_sums(run, findings);
}

/// No block asks for more than a block may.
fn check_shapes(observed: &ObservedRun, findings: &mut Vec<Finding>) {
    let limits = &observed.device.per_block;
    for operation in &observed.operations {
        let Some(kernel) = operation.kernel() else { continue };
        let Some(block) = kernel.blocks.get(0) else { continue };
        let asked = [
            (kernel.shape.threads, limits.threads, "threads"),
            (kernel.shape.shared_memory_bytes, limits.shared_memory_bytes, "bytes of shared memory"),
        ];
        for (asked, limit, unit) in asked {
            if asked > limit {
                let device = &observed.device.name;
                let what = format!("its blocks have {asked} {unit}, and a block may have {limit} on {device}");
                let by = u64::from(asked - limit);
                let finding = Finding::new(AuditRule::BlockLimit, &operation.name, block.start_ns, by, what);
                findings.push(finding.of_block(0, Some(block.sm)).counted_in(unit));
            }
        }
    }
}

/// Every block ran on an SM that exists and that its mask leaves.
fn check_sms(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let device = &run.observed.device;
    for (index, operation) in run.observed.operations.iter().enumerate() {
        let Some(kernel) = operation.kernel() else { continue };
        if device.gpus() == 1 && kernel.sm_mask.is_none() && kernel.blocks.sms.iter().all(|&sm| sm < device.sms) {
            continue;
        }
        if run.observed.virtual_sms
            && let Some(finding) = too_many_sms(run, index)
        {
            findings.push(finding);
        }
        for (number, block) in kernel.blocks.iter().enumerate() {
            let (rule, by, unit, what) = if block.sm >= device.sms {
                let what = format!("SM {} does not exist: {} has SMs 0 to {}", block.sm, device.name, device.sms - 1);
                (AuditRule::Sm, u64::from(block.sm - device.sms) + 1, "SMs", what)
            } else if !run.observed.virtual_sms && !run.may_use(index, block.sm) {
                let what = match run.observed.green_context_of(index) {
                    Some(_) => format!("its green context does not have SM {}", block.sm),
                    None if device.gpus() > 1 => format!("its GPU does not have SM {}", block.sm),
                    None => format!("its SM mask takes SM {} away", block.sm),
                };
                (AuditRule::Mask, 1, "blocks", what)
            } else {
                continue;
            };
            let finding = Finding::new(rule, &operation.name, block.start_ns, by, what);
            findings.push(finding.of_block(number, Some(block.sm)).counted_in(unit));
        }
    }
}

/// Of a kernel whose mask names other SMs than the log does: it ran on more of them than the mask leaves.
fn too_many_sms(run: &AuditedRun<'_>, index: usize) -> Option<Finding> {
    let operation = run.observed.operations.get(index)?;
    let kernel = operation.kernel().filter(|kernel| kernel.sm_mask.is_some())?;
    let left = (0..run.observed.device.sms).filter(|&sm| run.may_use(index, sm)).count();
    let on = kernel.blocks.sms.iter().collect::<BTreeSet<_>>().len();
    let at = run.executed[index].first_start.unwrap_or(LogTime::MIN);
    let what = format!("it ran on {on} SMs, and its SM mask leaves {left}");
    let by = on.saturating_sub(left) as u64;
    (by > 0).then(|| Finding::new(AuditRule::Mask, &operation.name, at, by, what).counted_in("SMs"))
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
fn check_sums(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let (observed, tolerance) = (run.observed, run.clocks.tolerances.one_clock_ns);
    let empty = Sm::empty(&observed.device);
    let sms = vec![Account { holds: empty, over: [None; 4] }; observed.device.sms as usize];
    let owners = owners(observed);
    let mut accounts = vec![sms; owners.iter().max().map_or(0, |last| last + 1)];
    let is_long = |event: &BlockEvent| event.ran_ns > tolerance;
    let mut ends = run.events.ends().filter(is_long).peekable();
    for start in run.counted(run.events.starts()).filter(is_long) {
        while let Some(end) = ends.next_if(|end| end.at.saturating_sub(tolerance) <= start.at) {
            let Some(account) = account(&mut accounts, &owners, &end) else { continue };
            account.holds.change(&run.executed[end.operation()].taken, -1);
            for (over, excess) in account.over.iter_mut().zip(account.holds.excess()) {
                if excess <= 0 {
                    *over = None;
                }
            }
        }
        let Some(account) = account(&mut accounts, &owners, &start) else { continue };
        account.holds.change(&run.executed[start.operation()].taken, 1);
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
            let name = &observed.operations[start.operation()].name;
            let what = account.holds.holds_too_much(start.sm.unwrap_or(0), resource, excess, unit);
            let finding = Finding::new(rule, name, start.at, by, what);
            findings.push(finding.of_block(start.block as usize, start.sm).counted_in(unit));
        }
    }
}

/// Whose account of each SM the blocks of each operation are on, by number.
fn owners(observed: &ObservedRun) -> Vec<usize> {
    let mut known = FxHashMap::default();
    let owner = |(index, operation): (usize, &ObservedOperation)| {
        let mask = operation.kernel().and_then(|kernel| kernel.sm_mask).filter(|_| observed.virtual_sms);
        let next = known.len();
        *known.entry((observed.context_of(index), mask)).or_insert(next)
    };
    observed.operations.iter().enumerate().map(owner).collect()
}

fn account<'a>(accounts: &'a mut [Vec<Account>], owners: &[usize], event: &BlockEvent) -> Option<&'a mut Account> {
    accounts.get_mut(*owners.get(event.operation())?)?.get_mut(event.sm? as usize)
}

/// No client of MPS has blocks on more SMs at once than it may use, nor on one of another where all may use no more
/// together than there are. Checked at each start of a block.
pub(super) fn check_clients(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    let observed = run.observed;
    // Of a measured run nobody knows whether MPS ran at all, and the noise of its clock would add SMs.
    if observed.client_sms.is_empty() || !observed.is_simulated() {
        return;
    }
    let mut blocks = vec![vec![0_i64; observed.device.sms as usize]; observed.process_count()];
    let shares: u64 = observed.client_sms.iter().map(|&sms| u64::from(sms)).sum();
    let are_disjoint = shares <= u64::from(observed.device.sms);
    let place = |event: &BlockEvent| {
        let stream = observed.stream_of(observed.operations.get(event.operation())?)?;
        Some((stream.process, event.sm? as usize))
    };
    let has_length = |event: &BlockEvent| event.ran_ns > 0;
    let mut ends = run.events.ends().filter(&has_length).peekable();
    for start in run.events.starts().filter(&has_length) {
        while let Some(end) = ends.next_if(|end| end.at <= start.at) {
            let own = place(&end).and_then(|(process, sm)| blocks.get_mut(process)?.get_mut(sm));
            if let Some(own) = own {
                *own -= 1;
            }
        }
        let Some((process, sm)) = place(&start) else { continue };
        let finding = |by: usize, what: String| {
            let name = &observed.operations[start.operation()].name;
            let finding = Finding::new(AuditRule::Mps, name, start.at, by as u64, what);
            finding.of_block(start.block as usize, start.sm).counted_in("SMs")
        };
        let is_used_by =
            |(other, blocks): (usize, &Vec<i64>)| other != process && blocks.get(sm).is_some_and(|&on| on > 0);
        if are_disjoint && blocks.iter().enumerate().any(is_used_by) {
            let what = "another client of MPS is on that SM, although their shares leave each its own".to_owned();
            findings.push(finding(1, what));
        }
        let Some(own) = blocks.get_mut(process) else { continue };
        if let Some(own) = own.get_mut(sm) {
            *own += 1;
        }
        let on = own.iter().filter(|&&blocks| blocks > 0).count();
        let limit = observed.client_sms.get(process).map_or(usize::MAX, |&limit| limit as usize);
        if on > limit {
            let what = format!("with it its process is on {on} SMs, and MPS limits it to {limit}");
            findings.push(finding(on - limit, what));
        }
    }
}

/// The blocks of a cluster begin together, each on an SM of its own of one GPC. Checked where all of them were seen.
pub(super) fn check_clusters(run: &AuditedRun<'_>, findings: &mut Vec<Finding>) {
    if run.observed.virtual_sms {
        return;
    }
    let groups = Groups::of(&run.observed.device);
    let tolerance = run.clocks.tolerances.one_clock_ns;
    for operation in &run.observed.operations {
        let Some(kernel) = operation.kernel() else { continue };
        let Some(clusters) = kernel.clusters else { continue };
        let blocks: Vec<LoggedBlock> = kernel.blocks.iter().collect();
        let is_together = |blocks: &[LoggedBlock]| {
            let times = || blocks.iter().map(|block| block.start_ns);
            let apart = times().max().zip(times().min()).map_or(0, |(last, first)| last.since(first));
            apart <= tolerance && groups.are_of_one(blocks)
        };
        for (first, whole) in (0..).step_by(clusters.size as usize).zip(blocks.chunks(clusters.size as usize)) {
            if whole.len() == clusters.size as usize && is_together(whole) {
                continue;
            }
            let least = clusters.least() as usize;
            for (place, cluster) in (first..).step_by(least).zip(whole.chunks(least)) {
                let lacks_some = cluster.len() < least;
                // Of a kernel that a log has in part nobody knows which blocks it lacks.
                if lacks_some && !run.clocks.ordered || !lacks_some && is_together(cluster) {
                    continue;
                }
                let sms: Vec<String> = cluster.iter().map(|block| block.sm.to_string()).collect();
                let what = format!(
                    "a cluster of {} blocks did not begin at one time on as many SMs of one GPC; they are on {}",
                    clusters.least(),
                    sms.join(", ")
                );
                let (at, sm) = cluster.first().map_or((LogTime::MIN, None), |block| (block.start_ns, Some(block.sm)));
                let by = u64::from(clusters.least());
                let finding = Finding::new(AuditRule::Cluster, &operation.name, at, by, what);
                findings.push(finding.of_block(place, sm).counted_in("blocks"));
            }
        }
    }
}

/// Which lone TPC or GPC each SM is of.
pub(super) struct Groups {
    /// By number: the SMs, ascending.
    pub(super) sms: Vec<Vec<u32>>,
    pub(super) of_sm: Vec<Option<usize>>,
}

impl Groups {
    pub(super) fn of(device: &Device) -> Self {
        let mut sms = device.cluster_groups();
        let mut of_sm = vec![None; device.sms as usize];
        for (number, group) in sms.iter_mut().enumerate() {
            group.sort_unstable();
            for &sm in &*group {
                if let Some(of_sm) = of_sm.get_mut(sm as usize) {
                    *of_sm = Some(number);
                }
            }
        }
        Self { sms, of_sm }
    }

    /// Whether blocks are on different SMs of one GPC or lone TPC.
    fn are_of_one(&self, blocks: &[LoggedBlock]) -> bool {
        let group = |block: &LoggedBlock| self.of_sm.get(block.sm as usize).copied().flatten();
        let first = blocks.first().and_then(group);
        let sms: BTreeSet<u32> = blocks.iter().map(|block| block.sm).collect();
        sms.len() == blocks.len() && first.is_some() && blocks.iter().all(|block| group(block) == first)
    }

    /// The SMs that the clusters of the blocks from `first` on get, as far as there is room: a cluster for each group
    /// in turn, on those SMs of it that have room for most. `rooms` is for how many blocks each SM has room.
    pub(super) fn deal(
        &self,
        kernel: &ObservedKernel,
        clusters: Clusters,
        first: u32,
        rooms: &[(u32, i64)],
    ) -> Vec<u32> {
        let mut left: Vec<i64> = vec![0; self.of_sm.len()];
        for &(sm, room) in rooms {
            if let Some(left) = left.get_mut(sm as usize) {
                *left = room;
            }
        }
        let (mut order, mut block, mut turn) = (Vec::new(), first, 0);
        while block < kernel.grid {
            count_turn();
            let sizes = [Some(clusters.size).filter(|size| block.is_multiple_of(*size)), clusters.fallback];
            let best = sizes.into_iter().flatten().find_map(|size| {
                let mut places = (turn..self.sms.len()).chain(0..turn.min(self.sms.len()));
                places.find_map(|place| Some((place, fullest_first(&self.sms[place], &left, size as usize)?)))
            });
            let Some((place, chosen)) = best else { break };
            turn = place + 1;
            for sm in chosen {
                left[sm as usize] -= 1;
                order.push(sm);
                block += 1;
            }
        }
        order
    }
}

/// So many SMs with room, those with most of it first; `None` if there are fewer.
fn fullest_first(sms: &[u32], left: &[i64], size: usize) -> Option<Vec<u32>> {
    let mut with_room: Vec<u32> = sms.iter().copied().filter(|sm| left[*sm as usize] > 0).collect();
    // Of equals the lowest, which stand first.
    crate::sorted::sort_by_key(&mut with_room, |sm| -left[*sm as usize]);
    (with_room.len() >= size).then(|| with_room[..size].to_vec())
}
