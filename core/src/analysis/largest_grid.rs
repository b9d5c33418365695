//! How large the grid of a kernel may be so that nothing of a scenario can stand still.
//!
//! Found by halving over verdicts of the scenario with that many blocks. Where these are not monotone in the grid, as
//! with counter values that are stated for one size, a larger one may do as well: what was asked is told.

use std::collections::BTreeMap;

use super::progress::{ProgressCondition, ProgressVerdict, ProgressVerdicts, judge_progress};
use super::residency::{Crowd, room_alone};
use crate::device::Device;
use crate::limits::count_turn;
use crate::scenario::{Scenario, WhatIf, WhatIfError};
use crate::spelling::option;
use crate::workload::{CheckedKernel, WorkloadError};

/// Where no grid hangs, larger ones are asked about up to so many blocks.
const MOST_BLOCKS: u32 = 4_096;

/// The largest grid of a kernel with which nothing can stand still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargestGrid {
    /// Its blocks; `None`: none was found.
    pub blocks: Option<u32>,
    /// Why nothing can stand still then; `None` also where nothing waits.
    pub condition: Option<ProgressCondition>,
    /// Blocks of it that fit on the empty GPU.
    pub alone: u32,
    /// The smallest larger grid that was asked about and may hang, or without any the stated one, and its verdict.
    pub beyond: Option<(u32, ProgressVerdict)>,
    /// Whether anything waits on the GPU; if not, nothing else is looked for.
    pub waits: bool,
}

/// What came of one grid.
#[derive(Debug, Clone, Copy)]
struct Asked {
    verdict: ProgressVerdict,
    condition: Option<ProgressCondition>,
}

impl Asked {
    /// Of all groups, the condition of the one that the kernel is in.
    fn of(judged: &ProgressVerdicts, titles: &[String]) -> Self {
        let is_own = |kernel: &str| titles.iter().any(|title| title == kernel);
        let own = judged.groups.iter().find(|group| group.kernels.iter().any(|row| is_own(&row.kernel)));
        Self { verdict: judged.verdict(), condition: own.or(judged.groups.first()).and_then(|group| group.condition) }
    }
}

/// Looks for the largest grid of a kernel with which nothing of `scenario` with `changes` can stand still. Sums of
/// [grid barriers](WhatIf::grid_barriers) follow the grid, and stated values do not.
///
/// # Errors
/// [`WhatIfError`] for names that do not exist, and for what the device does not take.
pub fn largest_grid(scenario: &Scenario, changes: &WhatIf, kernel: &str) -> Result<LargestGrid, WhatIfError> {
    let ids = scenario.kernels_named(option("largest_grid"), kernel)?;
    // Times count for nothing, and need not be there for all blocks.
    let mut scenario = scenario.clone();
    scenario.block_times.retain(|id, _| !ids.contains(id));
    let known = scenario.clone().what_if(changes)?;
    let of_name = || ids.iter().filter_map(|id| known.kernels().get(id.index()));
    let titles: Vec<String> = of_name().map(|kernel| kernel.title.to_string()).collect();
    let unit = of_name().filter_map(CheckedKernel::clusters).map(|clusters| clusters.size).max().unwrap_or(1);
    let stated = of_name().map(|kernel| kernel.blocks).max().unwrap_or(1);
    let launched = Crowd::of_scenario(&known).into_iter().filter(|crowd| ids.contains(&crowd.kernel));
    let alone = launched.map(|crowd| room_alone(&known.catalogue, crowd.kernel, crowd.stream)).min().unwrap_or(0);

    // CUDA refuses a cooperative launch that does not fit.
    let most = if of_name().any(CheckedKernel::is_cooperative) { alone } else { MOST_BLOCKS };
    let mut found = LargestGrid { blocks: None, condition: None, alone, beyond: None, waits: false };
    let as_stated = judge_progress(&known);
    if as_stated.groups.is_empty() {
        return Ok(found);
    }
    let mut asked = BTreeMap::from([(stated / unit, Asked::of(&as_stated, &titles))]);
    asked.retain(|units, _| units * unit == stated);
    let mut cannot_hang = |units: u32| -> Result<bool, WhatIfError> {
        let of_units = if let Some(known) = asked.get(&units) {
            *known
        } else {
            let mut changes = changes.clone();
            changes.blocks.push((kernel.to_owned(), units.saturating_mul(unit)));
            Asked::of(&judge_progress(&scenario.clone().what_if(&changes)?), &titles)
        };
        asked.insert(units, of_units);
        Ok(of_units.verdict == ProgressVerdict::CannotHang)
    };
    let mut low = None;
    for units in [stated / unit, alone / unit, 1] {
        if units > 0 && units * unit <= most && low.is_none_or(|low| units > low) && cannot_hang(units)? {
            low = Some(units);
        }
    }
    if let Some(mut low) = low {
        // The first that is larger and may hang.
        let mut high = low + 1;
        while high <= most / unit && cannot_hang(high)? {
            count_turn();
            (low, high) = (high, high.saturating_mul(2));
        }
        let mut step = high.saturating_sub(low) / 2;
        while high <= most / unit && step > 0 {
            count_turn();
            if cannot_hang(low + step)? {
                low += step;
            } else {
                high = low + step;
            }
            step = (high - low) / 2;
        }
    }
    let largest = asked.iter().rfind(|(_, of)| of.verdict == ProgressVerdict::CannotHang);
    let beyond = match largest {
        Some((units, _)) => asked.range(units + 1..).next(),
        None => asked.get_key_value(&(stated / unit)).or(asked.first_key_value()),
    };
    found.blocks = largest.map(|(units, _)| units * unit);
    found.condition = largest.and_then(|(_, of)| of.condition);
    found.beyond = beyond.map(|(units, of)| (units * unit, of.verdict));
    found.waits = true;
    Ok(found)
}

impl Scenario {
    /// The same on another device, placed as that one does if it cannot as this one.
    ///
    /// # Errors
    /// [`WorkloadError`] if that device does not take something of it.
    pub fn on_device(&self, device: Device) -> Result<Self, WorkloadError> {
        let own = device.placement;
        let placement = if device.check_placement(self.placement).is_ok() { self.placement } else { own };
        Ok(Self { catalogue: self.catalogue.on(device)?, placement, ..self.clone() })
    }
}
