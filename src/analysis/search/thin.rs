//! Runs in which kernels leave the SMs to others early: but for one block, those of their last wave take as little time
//! as they can.
//!
//! What a stream launches next is blocked for longest by kernels of lower priority that have just begun. They begin when
//! a kernel before it in its stream has been dispatched and gives up its room, and it comes when that ends. Drawing the
//! time of every block by itself hardly ever leads to such runs.

use std::collections::{BTreeMap, BTreeSet};

use super::variation::{Freedom, Times, Variation};
use crate::device::BlockDemand;
use crate::scenario::{Scenario, Step};
use crate::time::Duration;
use crate::workload::KernelId;

/// Owners of which all sets are tried; of more, each alone and all together.
const MOST_TOGETHER: usize = 4;

/// Blocks of all kernels above which no such run is made up.
const MOST_BLOCKS: u64 = 1 << 20;

impl Freedom {
    /// Such runs, of the kernels of some of the `owners` of threads; at most `most`.
    pub(super) fn thin_runs(&self, scenario: &Scenario, owners: &[u32], most: usize) -> Vec<Variation> {
        let blocks: u64 = scenario.kernels().iter().map(|kernel| u64::from(kernel.blocks)).sum();
        if blocks > MOST_BLOCKS || owners.len() != scenario.threads.len() {
            return Vec::new();
        }
        let mut kernels: BTreeMap<u32, Vec<(usize, Times)>> = BTreeMap::new();
        for (thread, &owner) in scenario.threads.iter().zip(owners) {
            for step in &thread.steps {
                if let Step::Launch(kernel, stream) = *step
                    && let Some(times) = self.thin(scenario, kernel, scenario.catalogue.sms(kernel, stream).count())
                {
                    kernels.entry(owner).or_default().push((kernel.index(), times));
                }
            }
        }
        let owners: Vec<u32> = kernels.keys().copied().collect();
        let sets: Vec<BTreeSet<u32>> = if owners.len() <= MOST_TOGETHER {
            let set =
                |bits: u32| (0..).zip(&owners).filter(move |(bit, _)| bits >> bit & 1 == 1).map(|(_, owner)| *owner);
            (1..1 << owners.len()).map(|bits| set(bits).collect()).collect()
        } else {
            owners.iter().map(|&owner| BTreeSet::from([owner])).chain([owners.iter().copied().collect()]).collect()
        };
        let run = |set: &BTreeSet<u32>| {
            let last: Vec<u32> =
                owners.iter().copied().filter(|owner| !set.contains(owner)).chain(set.iter().copied()).collect();
            let mut run = self.in_order(scenario, &self.orders.by_owner(&last));
            for (kernel, times) in set.iter().filter_map(|owner| kernels.get(owner)).flatten() {
                run.kernels[*kernel] = times.clone();
            }
            run
        };
        sets.iter().take(most).map(run).collect()
    }

    /// Such times of a kernel that may use so many SMs.
    fn thin(&self, scenario: &Scenario, kernel: KernelId, sms: usize) -> Option<Times> {
        let &(shortest, longest, blocks) = self.kernels.get(kernel.index())?;
        let demand = BlockDemand::new(&scenario.kernels().get(kernel.index())?.shape, scenario.device()).ok()?;
        let resident = usize::try_from(demand.blocks_per_sm(scenario.device())).ok()? * sms;
        let (blocks, resident) = (blocks as usize, resident.max(1));
        // Those of the waves before, and one.
        let long = blocks.saturating_sub(1) / resident * resident + 1;
        let times = (0..blocks).map(|block| Duration::from_ns(if block < long { longest } else { shortest }));
        Some(Times::Each(times.collect::<Vec<_>>().into()))
    }
}
