//! What is free on an SM, what a block lacks there, and how much is taken over time.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::device::{BlockDemand, Device, RegisterFile, ResidentWarps, Resource};
use crate::limits::count_turn;
use crate::proven::OrMost;
use crate::time::Instant;

/// What is free on one SM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Free {
    /// Warp slots.
    pub warps: u32,
    /// Block slots.
    pub blocks: u32,
    /// \[bytes\]
    pub shared_memory_bytes: u32,
    /// Registers. That they are free does not say that those of a warp are in one sub-partition.
    pub registers: u32,
    /// Whose the others are.
    resident: ResidentWarps,
}

/// What a block lacks on the SM that comes nearest to having room for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shortage {
    /// The SM.
    pub sm: u32,
    /// Of what it has too little, and by how much.
    pub lacks: Vec<(Resource, u32)>,
    /// The green context whose SMs were looked at; `None`: all that its mask leaves.
    pub green: Option<Arc<str>>,
}

/// What a cluster of blocks lacks on the GPC, or lone TPC, that comes nearest to having room for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClusterShortage {
    /// Blocks of the cluster, of its fallback if it has one: as many SMs it needs.
    pub size: u32,
    /// On how many SMs a block has room there.
    pub sms: u32,
    /// Where that is.
    pub(crate) group: SmGroup,
}

/// SMs on which a cluster of blocks can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SmGroup {
    /// Those of a TPC that is of no full GPC, by its first SM.
    LoneTpc(u32),
    /// Those of a GPC, by its number.
    Gpc(u32),
}

impl fmt::Display for SmGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoneTpc(sm) => write!(f, "the lone TPC of SM {sm}"),
            Self::Gpc(number) => write!(f, "GPC {number}"),
        }
    }
}

impl Free {
    /// An SM without blocks.
    pub(super) fn empty(device: &Device) -> Self {
        Self {
            warps: device.warps_per_sm(),
            blocks: device.per_sm.blocks,
            shared_memory_bytes: device.per_sm.shared_memory_bytes,
            registers: device.per_sm.registers,
            resident: ResidentWarps::default(),
        }
    }

    /// Without `blocks` blocks more. Nothing is free where a measured run, whose clocks differ, seems to have taken
    /// more than there is.
    pub(super) fn take(&mut self, demand: &BlockDemand, blocks: u32) {
        self.change(demand, |free, one| free.saturating_sub(one.saturating_mul(blocks)));
        self.resident.add(demand.registers_per_warp(), demand.warps.saturating_mul(blocks));
    }

    /// With what `blocks` blocks took.
    pub(super) fn give_back(&mut self, demand: &BlockDemand, blocks: u32) {
        self.change(demand, |free, one| free.saturating_add(one.saturating_mul(blocks)));
        self.resident.remove(demand.registers_per_warp(), demand.warps.saturating_mul(blocks));
    }

    fn change(&mut self, demand: &BlockDemand, changed: impl Fn(u32, u32) -> u32) {
        self.warps = changed(self.warps, demand.warps);
        self.blocks = changed(self.blocks, 1);
        self.shared_memory_bytes = changed(self.shared_memory_bytes, demand.shared_memory_bytes);
        self.registers = changed(self.registers, demand.registers);
    }

    /// For how many blocks there is room.
    pub(super) fn room(&self, demand: &BlockDemand, device: &Device) -> u32 {
        let mut left = self.clone();
        let takes_one_more = |_: &u32| {
            let has_room = left.lacks(demand, device).next().is_none();
            left.take(demand, 1);
            has_room
        };
        u32::try_from((0..device.per_sm.blocks).take_while(takes_one_more).count()).or_most()
    }

    /// Of what there is too little for one block, and by how much.
    fn lacks(&self, demand: &BlockDemand, device: &Device) -> impl Iterator<Item = (Resource, u32)> + use<> {
        let lack = |what, needed: u32, free: u32| (needed > free).then(|| (what, needed - free));
        [
            lack(Resource::Threads, demand.warps * device.warp_size, self.warps * device.warp_size),
            lack(Resource::BlockSlots, 1, self.blocks),
            lack(Resource::SharedMemory, demand.shared_memory_bytes, self.shared_memory_bytes),
            lack(Resource::Registers, RegisterFile::of(device).lack(&self.resident, demand), 0),
        ]
        .into_iter()
        .flatten()
    }
}

/// What a cluster of `size` blocks lacks on the GPC or lone TPC that has most SMs with room for a block, of those that
/// `may_use` lets it use; of equals the first. `None` without GPCs.
pub(super) fn nearest_group(
    size: u32,
    may_use: impl Fn(u32) -> bool,
    free: &[Free],
    demand: &BlockDemand,
    device: &Device,
) -> Option<ClusterShortage> {
    let lone = device.lone_sms();
    let lone_tpcs = lone.len().div_ceil(device.sms_per_tpc as usize);
    let has_room = |sm: &&u32| {
        may_use(**sm) && free.get(**sm as usize).is_some_and(|free| free.lacks(demand, device).next().is_none())
    };
    let mut best: Option<ClusterShortage> = None;
    for (place, group) in device.cluster_groups().iter().enumerate() {
        let sms = u32::try_from(group.iter().filter(has_room).count()).ok()?;
        if best.as_ref().is_none_or(|best| sms > best.sms) {
            let gpc = place.checked_sub(lone_tpcs).and_then(|gpc| u32::try_from(gpc).ok());
            let group = gpc.map_or(SmGroup::LoneTpc(*group.first()?), SmGroup::Gpc);
            best = Some(ClusterShortage { size, sms, group });
        }
    }
    best
}

/// What a block lacks on that of some SMs which comes nearest to having room for it: the fewest kinds of resources,
/// then the least amount, then the lowest number. `None` without SMs.
pub(super) fn nearest(
    sms: impl Iterator<Item = u32>,
    free: &[Free],
    demand: &BlockDemand,
    device: &Device,
) -> Option<Shortage> {
    let amount = |sm: u32| {
        let free = free.get(sm as usize)?;
        let lacks = || free.lacks(demand, device);
        Some((lacks().count(), lacks().map(|(_, by)| u64::from(by)).sum::<u64>(), sm))
    };
    let (.., sm) = sms.filter_map(amount).min()?;
    Some(Shortage { green: None, sm, lacks: free.get(sm as usize)?.lacks(demand, device).collect() })
}

/// A sum over what is there at once, such as the thread slots that blocks take, in one sweep. What begins is added in
/// order of time; the sum after all events of an instant is told when nothing can change it any more. Memory grows with
/// what is there at once.
#[derive(Debug, Clone, Default)]
pub struct SumOverTime {
    taken: u64,
    /// The latest change, not told yet.
    changed_at: Option<Instant>,
    /// What ends when.
    ends: BTreeMap<Instant, u64>,
}

impl SumOverTime {
    /// Takes `amount` for some time, which begins no earlier than those before, and tells what happened before.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn add<E>(
        &mut self,
        time: Range<Instant>,
        amount: u64,
        mut emit: impl FnMut(Instant, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        if time.is_empty() {
            return Ok(());
        }
        self.end_until(time.start, &mut emit)?;
        self.change(time.start, &mut emit)?;
        self.taken += amount;
        *self.ends.entry(time.end).or_default() += amount;
        Ok(())
    }

    /// What takes `amount` and was to end at `from`, which no later beginning has passed, ends at `to` instead.
    pub fn prolong(&mut self, from: Instant, to: Instant, amount: u64) {
        debug_assert!(self.ends.get(&from).is_some_and(|&ending| ending >= amount), "it has not ended");
        if let Some(ending) = self.ends.get_mut(&from) {
            *ending -= amount;
            if *ending == 0 {
                self.ends.remove(&from);
            }
            *self.ends.entry(to).or_default() += amount;
        }
    }

    /// Tells the rest.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn finish<E>(mut self, mut emit: impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        self.end_until(Instant::MAX, &mut emit)?;
        self.changed_at.map_or(Ok(()), |at| emit(at, self.taken))
    }

    fn end_until<E>(&mut self, until: Instant, emit: &mut impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        while let Some(first) = self.ends.first_entry().filter(|first| *first.key() <= until) {
            count_turn();
            let (at, amount) = first.remove_entry();
            self.change(at, emit)?;
            self.taken -= amount;
        }
        Ok(())
    }

    /// Tells the latest change if it is over at `at`.
    fn change<E>(&mut self, at: Instant, emit: &mut impl FnMut(Instant, u64) -> Result<(), E>) -> Result<(), E> {
        match self.changed_at.replace(at) {
            Some(before) if before != at => emit(before, self.taken),
            _ => Ok(()),
        }
    }
}
