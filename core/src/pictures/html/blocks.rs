//! The page's data on blocks: those of each SM in columns, and how much of all SMs they take over time.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::columns::{Instants, Once, steps};
use crate::device::{BlockDemand, Device};
use crate::pictures::timeline_model::{
    self, ALWAYS, HeightBy, StepSums, TimeSteps, changes, most_at_once, packed_apart,
};
use crate::proven::OrMost;
use crate::run::{Awaited, Stands, Summary};
use crate::time::Instant;
use crate::workload::{OperationId, ProcessId};

/// Blocks on an SM up to which pages have their places by shared memory and by registers, too.
const MOST_PLACED: usize = 20_000;

/// One block; or blocks of one launch that run at the same time, and as many others that follow them without a pause.
#[derive(Debug, Clone)]
pub(super) struct PlacedBlocks {
    pub(super) time: Range<Instant>,
    operation: u32,
    /// The process in whose turns alone they run; `None`: contexts do not take turns.
    in_turns_of: Option<ProcessId>,
    /// The block's number, if it is one.
    index: u32,
    /// Blocks at one time.
    blocks: u32,
    /// How often they follow one another.
    times: u32,
    demand: BlockDemand,
}

impl PlacedBlocks {
    fn group(&self) -> Group {
        (self.time.start, self.operation, self.time.end, self.times)
    }

    /// What they take of a resource: threads, bytes or registers.
    pub(super) fn units(&self, resource: HeightBy, device: &Device) -> u32 {
        resource.of_block(&self.demand, device).saturating_mul(self.blocks)
    }
}

/// All blocks of a run by SM, those of an SM in the order of their starts: each by itself, or those together that do
/// the same. What goes on beyond the time that is shown of a run that stands still ends there.
pub(super) fn by_sm(summary: &Summary<'_>, one_by_one: bool, still_until: Option<Instant>) -> Vec<Vec<PlacedBlocks>> {
    let last = still_until.unwrap_or(Instant::MAX);
    let mut by_sm = vec![Vec::new(); summary.scenario.device().sms as usize];
    for launch in timeline_model::launches(summary) {
        let (operation, demand) = (launch.operation.0, launch.demand);
        let in_turns_of = summary.trace.context_with_turns(launch.operation);
        let mut add = |sm: u16, time: Range<Instant>, index, blocks, times| {
            let time = time.start..time.end.min(last);
            if let Some(on_sm) = by_sm.get_mut(usize::from(sm)) {
                on_sm.push(PlacedBlocks { time, operation, in_turns_of, index, blocks, times, demand });
            }
        };
        if one_by_one {
            summary
                .trace
                .blocks(launch.operation)
                .for_each(|block| add(block.sm, block.start..block.end, block.index, 1, 1));
        } else {
            for run in launch.runs(ALWAYS) {
                let first = run.first;
                add(first.sm, first.start..run.end(), first.first_block, first.blocks.into(), run.times);
            }
        }
    }
    for blocks in &mut by_sm {
        crate::sorted::sort_by_key(blocks, |block: &PlacedBlocks| (block.group(), block.index));
    }
    by_sm
}

/// What blocks on several SMs have in common: when they start, their launch, when they end, how often they follow one
/// another.
type Group = (Instant, u32, Instant, u32);

/// All groups of a run, in columns and in order.
#[derive(Debug, Serialize)]
pub(super) struct Groups {
    #[serde(skip)]
    numbers: FxHashMap<Group, i64>,
    operation: Vec<u32>,
    times: Vec<u32>,
    /// Number of the start, counted from that of the group before.
    start: Vec<i64>,
    /// Number of the end, counted from that of its own start.
    length: Vec<i64>,
}

impl Groups {
    pub(super) fn new(by_sm: &[Vec<PlacedBlocks>], instants: &Instants) -> Self {
        let distinct: FxHashSet<Group> = by_sm.iter().flatten().map(PlacedBlocks::group).collect();
        let mut in_order: Vec<Group> = distinct.into_iter().collect();
        in_order.sort_unstable();
        Self {
            operation: in_order.iter().map(|group| group.1).collect(),
            times: in_order.iter().map(|group| group.3).collect(),
            start: steps(in_order.iter().map(|group| instants.number(group.0))),
            length: in_order.iter().map(|group| instants.length(&(group.0..group.2))).collect(),
            numbers: in_order.into_iter().zip(0..).collect(),
        }
    }

    fn number(&self, blocks: &PlacedBlocks) -> i64 {
        self.numbers.get(&blocks.group()).copied().unwrap_or_default()
    }
}

/// Times in which blocks wait for others on their SMs, in columns.
#[derive(Debug, Serialize)]
pub(super) struct StandColumns {
    said: Once<Told>,
    /// Number of the blocks' group.
    group: Vec<i64>,
    /// Which of what is said.
    what: Vec<usize>,
    /// Number of the instant of the beginning.
    from: Vec<i64>,
    /// Number of the instant of the end; -1: the run ended before.
    to: Vec<i64>,
}

/// For what blocks wait at a point of their kernel.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct Told {
    point: u32,
    #[serde(flatten)]
    awaited: Awaited,
    /// As it follows "waits".
    until: String,
    /// What the counter holds when the run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<u64>,
}

impl StandColumns {
    /// `None` if no blocks wait.
    pub(super) fn new(
        summary: &Summary<'_>,
        by_sm: &[Vec<PlacedBlocks>],
        (groups, instants): (&Groups, &Instants),
    ) -> Option<Self> {
        let stands = Stands::new(summary.trace);
        let mut said = Once::default();
        let mut rows: BTreeSet<(i64, i64, i64, usize)> = BTreeSet::new();
        for blocks in by_sm.iter().flatten() {
            for stand in stands.of(OperationId(blocks.operation), blocks.index) {
                let Some(awaited) = stands.awaited(stand) else { continue };
                let (until, last) = (awaited.sentence(), stands.at_end(stand));
                let what = said.number(Told { point: stand.point, awaited, until, last });
                let to = instants.number_or_never((!stand.is_open()).then_some(stand.to));
                rows.insert((groups.number(blocks), instants.number(stand.from), to, what));
            }
        }
        (!rows.is_empty()).then(|| Self {
            said,
            group: rows.iter().map(|row| row.0).collect(),
            what: rows.iter().map(|row| row.3).collect(),
            from: rows.iter().map(|row| row.1).collect(),
            to: rows.iter().map(|row| row.2).collect(),
        })
    }
}

/// The blocks of one SM, one column for each property.
#[derive(Debug, Serialize)]
pub(super) struct SmBlocks {
    /// Number of the group, counted from that of the block before.
    group: Vec<i64>,
    /// Numbers of the blocks, where each is by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<Vec<u32>>,
    /// Otherwise how many they are at one time.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<u32>>,
    /// By warp slots.
    #[serde(flatten)]
    places: Places,
    /// By bytes of shared memory; `None` if no block of the run takes any.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_memory: Option<Places>,
    /// By registers; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    registers: Option<Places>,
}

/// Where blocks are drawn within the band of their SM, if its height stands for one resource.
#[derive(Debug, Default, Serialize)]
struct Places {
    /// The lowest unit of the band that it is drawn on; its height is what its kernel takes.
    low: Vec<u32>,
    /// Blocks that are drawn in several parts because no free part of the band was large enough: their position in
    /// the columns, and from which unit to which each part reaches.
    split: Vec<(u32, Vec<(u32, u32)>)>,
    /// What is taken at once at most, and that as it is written, if it is more than there is: measured blocks may
    /// overlap, because clocks differ or several processes run.
    #[serde(skip_serializing_if = "Option::is_none")]
    overfull: Option<(u32, String)>,
}

impl Places {
    fn new(blocks: &[PlacedBlocks], resource: HeightBy, device: &Device) -> Self {
        let unit = resource.unit(device);
        let capacity = resource.of_sm(device) / unit;
        let need = |block: &PlacedBlocks| (block.units(resource, device) / unit, block.time.clone());
        // Each context has the whole SM in its turns.
        let needs: Vec<_> = blocks.iter().map(|block| (block.in_turns_of, need(block))).collect();
        let most = most_at_once(needs.iter().map(|(context, (units, time))| (*context, (*units).into(), time.clone())));
        let most = u32::try_from(most).or_most();
        let overfull = || (most, resource.amount(most.saturating_mul(unit)));
        let mut places = Self { overfull: (most > capacity).then(overfull), ..Self::default() };
        for (position, parts) in (0..).zip(packed_apart(capacity.max(most), &needs)) {
            places.low.push(parts.first().map_or(0, |part| part.start));
            if parts.len() > 1 {
                places.split.push((position, parts.into_iter().map(|part| (part.start, part.end)).collect()));
            }
        }
        places
    }
}

impl SmBlocks {
    /// `one_by_one`: whether each block is by itself. `resources` are those of which blocks of the run take some.
    pub(super) fn new(
        blocks: &[PlacedBlocks],
        one_by_one: bool,
        resources: &[HeightBy],
        device: &Device,
        groups: &Groups,
    ) -> Self {
        let places = |resource: HeightBy| {
            let shown = resources.contains(&resource) && blocks.len() <= MOST_PLACED;
            shown.then(|| Places::new(blocks, resource, device))
        };
        Self {
            places: Places::new(blocks, HeightBy::Threads, device),
            shared_memory: places(HeightBy::SharedMemory),
            registers: places(HeightBy::Registers),
            index: one_by_one.then(|| blocks.iter().map(|block| block.index).collect()),
            blocks: (!one_by_one).then(|| blocks.iter().map(|block| block.blocks).collect()),
            group: steps(blocks.iter().map(|block| groups.number(block))),
        }
    }
}

/// Changes up to which each is told; more are averaged over steps.
const MOST_CHANGES: usize = 20_000;
/// Steps of an average.
const STEPS: u64 = 4_000;

#[derive(Debug, Serialize)]
pub(super) struct OccupancyColumns {
    resource: &'static str,
    /// What all SMs have of it.
    capacity: u64,
    /// Numbers of the instants at which the amount changes; empty: `amount` has equal steps from the beginning to the
    /// end, over each of which it is the average.
    at: Vec<i64>,
    /// How much of it is taken from there on.
    amount: Vec<u64>,
}

/// The resources of which something is taken.
pub(super) fn occupancy(summary: &Summary<'_>, instants: &Instants) -> Vec<OccupancyColumns> {
    let device = summary.scenario.device();
    let mut in_order: Vec<(Range<Instant>, [u64; 3])> = timeline_model::in_use(summary, &ALWAYS).collect();
    crate::sorted::sort_by_key(&mut in_order, |(time, _)| time.start);
    let curve = |(number, resource): (usize, HeightBy)| {
        let amounts = || in_order.iter().map(|(time, amounts)| (time.clone(), amounts[number]));
        let changes = changes(amounts().filter(|(_, amount)| *amount > 0));
        let capacity = u64::from(resource.of_sm(device)) * u64::from(device.sms);
        let (at, amount) = if changes.len() <= MOST_CHANGES {
            changes.into_iter().map(|(at, amount)| (instants.number(at), amount)).unzip()
        } else {
            (Vec::new(), averages(amounts(), summary.trace.end()))
        };
        OccupancyColumns { resource: resource.name(), capacity, at, amount }
    };
    HeightBy::ALL.into_iter().enumerate().map(curve).filter(|curve| !curve.amount.is_empty()).collect()
}

/// The mean over each of the steps, rounded down.
fn averages(amounts: impl Iterator<Item = (Range<Instant>, u64)>, end: Instant) -> Vec<u64> {
    let steps = TimeSteps::new(Instant::ZERO..end, STEPS);
    let mut sums = StepSums::new(&steps);
    amounts.for_each(|(time, amount)| sums.add(time, amount, &steps));
    let mean = |(step, sum): (usize, u128)| u64::try_from(sum / steps.length(step)).or_most();
    sums.totals(&steps).into_iter().enumerate().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_keep_the_area() {
        let ns = Instant::from_ns;
        // Half of the time 8, then 2.
        let means = averages([(ns(0)..ns(4_000_000), 8), (ns(4_000_000)..ns(8_000_000), 2)].into_iter(), ns(8_000_000));
        assert_eq!((means[0], means[1_999], means[2_000], means[3_999]), (8, 8, 2, 2));
        // A change in the middle of the first step of 1000 ns.
        let means = averages(std::iter::once((ns(500)..ns(4_000_000), 4)), ns(4_000_000));
        assert_eq!((means[0], means[1]), (2, 4));
    }
}
