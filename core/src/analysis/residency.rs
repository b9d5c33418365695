//! How many blocks of a kernel fit on the GPU at once: alone, and at worst beside blocks of others.
//!
//! Kernels whose blocks wait for one another, such as persistent ones with a barrier over the grid, go on only if all
//! of their blocks are on SMs at once. Others that are there as well may take the room of some of them; which of the
//! SMs they are on is the GPU's choice.
//!
//! **Bound.** An empty SM holds f blocks of the kernel. It loses k of them only if for some resource, of which it has c
//! and a block of the kernel takes a, the blocks of others on it take q = c + 1 - (f - k + 1) a at least. So
//!
//! 1. they are b(k) at least, the least ⌈q / m⌉ over the resources, where m is the most that one of them takes. The SMs
//!    together lose no more than the best choice of a k for each of them with Σ b(k) at most all blocks of others.
//! 2. If each has a price no lower than min(k, k x / q) for every k and resource of which it takes x, the prices of
//!    those on an SM add up to k at least: one of them takes q by itself, or the sum of x / q is 1 or more. The SMs
//!    together lose no more than all prices.
//!
//! The first is exact if all others take the same; the second tells small blocks from large ones. As the GPU begins a
//! block wherever there is room, the kernel gets what is not lost.

use std::collections::{BTreeMap, BTreeSet};

use crate::device::{BlockDemand, Device, RegisterDealing, RegisterFile};
use crate::limits::count_steps;
use crate::proven::OrMost;
use crate::scenario::{Scenario, Step};
use crate::workload::{Catalogue, CheckedKernel, KernelId, ProcessId, StreamId};

/// Blocks of one kernel, launched in a stream, that may be on the GPU at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crowd {
    /// The kernel.
    pub kernel: KernelId,
    /// The stream.
    pub stream: StreamId,
    /// How many blocks.
    pub blocks: u32,
}

impl Crowd {
    /// All kernels of a scenario, by stream. Those of one stream follow one another, so that the blocks of one launch
    /// may be there at once; of all launches where some are programmatic (PDL).
    pub fn of_scenario(scenario: &Scenario) -> Vec<Self> {
        let overlap = scenario.catalogue.has_programmatic_launches();
        let mut crowds: BTreeMap<(StreamId, KernelId), u32> = BTreeMap::new();
        for thread in &scenario.threads {
            let repeats = thread.steps.iter().any(|step| matches!(step, Step::Repeat { .. }));
            for step in &thread.steps {
                let Step::Launch(id, stream) = *step else { continue };
                let Some(kernel) = scenario.kernels().get(id.index()) else { continue };
                let blocks = crowds.entry((stream, id)).or_default();
                *blocks = match overlap {
                    false => kernel.blocks,
                    true if repeats || thread.iterations != Some(1) => u32::MAX,
                    true => blocks.saturating_add(kernel.blocks),
                };
            }
        }
        crowds.into_iter().map(|((stream, kernel), blocks)| Self { kernel, stream, blocks }).collect()
    }

    /// Those of a scenario's that may be there beside one launch of a kernel in a stream.
    pub fn beside(all: &[Self], scenario: &Scenario, kernel: KernelId, stream: StreamId) -> Vec<Self> {
        let overlap = scenario.catalogue.has_programmatic_launches();
        let own = scenario.kernels().get(kernel.index()).map_or(0, |kernel| kernel.blocks);
        let others = all.iter().filter(|crowd| overlap || crowd.stream != stream).map(|crowd| {
            let is_own = (crowd.kernel, crowd.stream) == (kernel, stream);
            Self { blocks: crowd.blocks.saturating_sub(if is_own { own } else { 0 }), ..*crowd }
        });
        others.collect()
    }
}

/// A kernel on the SMs that it may use.
struct Room<'c> {
    kernel: &'c CheckedKernel,
    process: ProcessId,
    sms: Vec<u32>,
    /// On how many of them it may have blocks at once.
    at_once: usize,
    /// Blocks that one of them holds.
    of_sm: u32,
}

impl<'c> Room<'c> {
    fn new(catalogue: &'c Catalogue, kernel: KernelId, stream: StreamId) -> Option<Self> {
        let (sms, process) = (catalogue.sms(kernel, stream).collect::<Vec<_>>(), catalogue.process_of(stream)?);
        let kernel = catalogue.kernels().get(kernel.index())?;
        let at_once = sms.len().min(catalogue.sms_at_once(process) as usize);
        Some(Self { kernel, process, sms, at_once, of_sm: kernel.demand().blocks_per_sm(catalogue.device()) })
    }

    /// Blocks that fit, where `of_group` tells it of clusters: of so many SMs of one GPC, and their size.
    fn blocks(&self, device: &Device, of_group: impl Fn(u64, u64) -> u64) -> u64 {
        let Some(clusters) = self.kernel.clusters() else { return self.at_once as u64 * u64::from(self.of_sm) };
        let of_sms = |group: &Vec<u32>| group.iter().filter(|sm| self.sms.contains(sm)).count() as u64;
        let groups = device.cluster_groups();
        groups.iter().map(|group| of_group(of_sms(group), u64::from(clusters.least()))).sum()
    }
}

/// How many blocks of a kernel that is launched in a stream are on its SMs at once at most, if nothing else is on the
/// GPU and the grid has enough of them.
pub fn room_alone(catalogue: &Catalogue, kernel: KernelId, stream: StreamId) -> u32 {
    let Some(room) = Room::new(catalogue, kernel, stream) else { return 0 };
    let of_sm = u64::from(room.of_sm);
    let of_group = |sms, size| if sms < size { 0 } else { sms * of_sm / size * size };
    u32::try_from(room.blocks(catalogue.device(), of_group)).or_most()
}

/// How many blocks of a kernel that is launched in a stream fit at once whichever SMs the blocks of `others` are on, if
/// the grid has enough of them: a lower bound.
pub fn sure_room(catalogue: &Catalogue, kernel: KernelId, stream: StreamId, others: &[Crowd]) -> u32 {
    let Some(room) = Room::new(catalogue, kernel, stream) else { return 0 };
    let device = catalogue.device();
    let enables = |other: &Crowd, sm: u32| {
        catalogue.mask(other.kernel, other.stream).is_none_or(|mask| mask.enables_sm(sm, device))
    };
    // Neither contexts that take turns nor clients with SMs of their own meet on one.
    let are_apart = catalogue.is_time_sliced() || catalogue.clients_are_disjoint();
    let is_own = |other: &Crowd| catalogue.process_of(other.stream) == Some(room.process);
    let meets = |other: &Crowd| other.blocks > 0 && room.sms.iter().any(|sm| enables(other, *sm));
    if catalogue.is_limited_client(room.process)
        && device.gpus() == 1
        && !catalogue.has_partition(room.process)
        && room.sms.len() < device.sms as usize
        && others.iter().any(|other| is_own(other) || meets(other))
    {
        // Its client may have used up its share of SMs where the mask forbids them, or others all that the mask leaves.
        return 0;
    }
    let beside = others.iter().filter(|other| meets(other) && (!are_apart || is_own(other)));
    let beside: Vec<&Crowd> = beside.collect();
    let shared = room.sms.iter().filter(|sm| beside.iter().any(|other| enables(other, **sm))).count();
    let mut kinds: BTreeMap<[u32; 3], (BlockDemand, u64)> = BTreeMap::new();
    for other in beside {
        let Some(known) = catalogue.kernels().get(other.kernel.index()) else { continue };
        let demand = known.demand();
        let key = [demand.warps, demand.registers, demand.shared_memory_bytes];
        kinds.entry(key).or_insert((demand, 0)).1 += u64::from(other.blocks);
    }
    let kinds: Vec<(BlockDemand, u64)> = kinds.into_values().collect();
    let lost = most_lost(device, &room.kernel.demand(), &kinds, shared.min(room.at_once));
    // Clusters find none only where all but one less than their size of a GPC's SMs are full.
    let of_group = |sms: u64, size: u64| (sms + 1).saturating_sub(size) * u64::from(room.of_sm);
    u32::try_from(room.blocks(device, of_group).saturating_sub(lost)).or_most()
}

/// A resource of an SM: how much it has, and what is taken of it by a block of the kernel and of each other kind.
struct Pool {
    has: u64,
    own: u64,
    others: Vec<u64>,
}

/// What decides whether a block has room. Registers come in pieces, as [`RegisterFile::room`] has it.
fn pools(device: &Device, own: &BlockDemand, others: &[(BlockDemand, u64)]) -> Vec<Pool> {
    let pool = |has: u32, taken: &dyn Fn(&BlockDemand) -> u32| Pool {
        has: has.into(),
        own: taken(own).into(),
        others: others.iter().map(|(other, _)| taken(other).into()).collect(),
    };
    let mut pools = vec![
        pool(device.warps_per_sm(), &|demand| demand.warps),
        pool(device.per_sm.blocks, &|_| 1),
        pool(device.per_sm.shared_memory_bytes, &|demand| demand.shared_memory_bytes),
    ];
    let (allocation, of_warp) = (&device.register_allocation, own.registers_per_warp());
    let is_worst = allocation.dealing == RegisterDealing::Worst;
    let unlike = others.iter().map(|(other, _)| other.registers_per_warp()).chain([allocation.unit_per_warp]);
    let smaller = unlike.filter(|size| !is_worst && (1..of_warp).contains(size));
    let sizes: BTreeSet<u32> = smaller.chain([of_warp]).filter(|size| *size > 0).collect();
    pools.extend(sizes.into_iter().map(|size| {
        pool(RegisterFile::of(device).places(size), &|demand| {
            let registers = demand.registers_per_warp();
            demand.warps * if is_worst { registers.div_ceil(size) } else { registers / size }
        })
    }));
    pools.retain(|pool| pool.own > 0);
    pools
}

/// Parts of a price.
const PARTS: u64 = 1 << 20;

/// Blocks of the kernel at most for which `others` leave no room on so many SMs.
fn most_lost(device: &Device, own: &BlockDemand, others: &[(BlockDemand, u64)], sms: usize) -> u64 {
    let of_sm = u64::from(own.blocks_per_sm(device));
    let pools = pools(device, own, others);
    let all: u64 = others.iter().map(|(_, blocks)| *blocks).sum();
    let fitting = match others {
        [(only, _)] => u64::from(only.blocks_per_sm(device)),
        _ => u64::MAX,
    };
    let mut prices = vec![0; others.len()];
    let mut needed = Vec::new();
    for lost in 1..=of_sm {
        let mut least = u64::MAX;
        for Pool { has, own, others } in &pools {
            let amount = has + 1 - (of_sm - lost + 1) * own;
            let most = others.iter().copied().max().filter(|most| *most > 0);
            least = least.min(most.map_or(u64::MAX, |most| amount.div_ceil(most)));
            for (price, taken) in prices.iter_mut().zip(others) {
                *price = (lost * PARTS).min((lost * taken).saturating_mul(PARTS).div_ceil(amount)).max(*price);
            }
        }
        needed.extend(Some((lost, least)).filter(|(_, blocks)| *blocks <= fitting.min(all)));
    }
    let priced = others
        .iter()
        .zip(&prices)
        .fold(0_u64, |sum, ((_, blocks), price)| sum.saturating_add(blocks.saturating_mul(*price)));
    let whole = needed.last().map_or(0, |(lost, _)| lost * sms as u64);
    best_choice(&needed, sms, all).unwrap_or(whole).min(priced / PARTS).min(whole)
}

/// Steps for which the best choice is looked for.
const MOST_STEPS: usize = 1 << 20;

/// What so many SMs lose together at most, if each loses one of `needed` for so many of `all` blocks, or nothing.
/// `None`: it takes too long to find out.
fn best_choice(needed: &[(u64, u64)], sms: usize, all: u64) -> Option<u64> {
    let dearest = needed.iter().map(|(_, blocks)| *blocks).max().unwrap_or(0);
    let all = usize::try_from(all.min(dearest * sms as u64)).ok()?;
    let steps = all.checked_mul(sms)?.checked_mul(needed.len())?;
    if steps > MOST_STEPS {
        return None;
    }
    count_steps(steps);
    let mut best = vec![0_u64; all + 1];
    for _ in 0..sms {
        // Fewer left have not been given anything to yet by this SM.
        for left in (0..=all).rev() {
            let choices = needed.iter().filter_map(|(lost, blocks)| {
                let before = left.checked_sub(usize::try_from(*blocks).ok()?)?;
                Some(best[before] + lost)
            });
            best[left] = choices.fold(best[left], u64::max);
        }
    }
    best.last().copied()
}
