//! How long copies take alone that were recorded while they shared a link.

use std::collections::BTreeMap;

use super::model::{GpuProfile, ProfiledKind, ProfiledOperation};
use crate::device::{CopyDirection, CopyEngines, CopySharing};

/// Of a nanosecond, in which shares are counted: 1 to 16 divide it.
const PARTS: u128 = 720_720;

fn direction_of(operation: &ProfiledOperation) -> Option<CopyDirection> {
    match operation.kind {
        ProfiledKind::Copy { direction, .. } => Some(direction),
        ProfiledKind::Kernel(_) | ProfiledKind::Memset => None,
    }
}

impl GpuProfile {
    /// How long each copy takes that has its engine to itself \[ns\], by operation; 0 of the others. That is how
    /// long it took, unless `engines` have links that copies share: then each had an equal share of its engine's link
    /// at every instant, and what it had in all is what it takes alone.
    pub(super) fn copy_times(&self, gpu: u32, engines: &CopyEngines) -> Vec<u64> {
        let engine_of = |operation: &ProfiledOperation| direction_of(operation).map(|way| engines.engine_for(way));
        let mut times: Vec<u64> = vec![0; self.operations.len()];
        // By engine: when copies begin and end.
        let mut changes: BTreeMap<u32, BTreeMap<u64, (u128, u128)>> = BTreeMap::new();
        for (operation, time) in self.operations.iter().zip(&mut times) {
            let Some(engine) = engine_of(operation) else { continue };
            *time = operation.duration_ns;
            if self.gpu_of(operation.stream) == gpu {
                let changes = changes.entry(engine).or_default();
                changes.entry(operation.start_ns).or_default().0 += 1;
                changes.entry(operation.end_ns()).or_default().1 += 1;
            }
        }
        if engines.sharing == CopySharing::OneAtATime {
            return times;
        }
        let given: BTreeMap<u32, BTreeMap<u64, u128>> =
            changes.into_iter().map(|(engine, changes)| (engine, given(changes))).collect();
        for (operation, time) in self.operations.iter().zip(&mut times) {
            let Some(given) = engine_of(operation).and_then(|engine| given.get(&engine)) else { continue };
            if let (Some(before), Some(after)) = (given.get(&operation.start_ns), given.get(&operation.end_ns())) {
                *time = u64::try_from((after - before + PARTS / 2) / PARTS).unwrap_or(*time);
            }
        }
        times
    }
}

/// What a copy that runs all the time would have had of a link at each instant at which some begin and end.
fn given(changes: BTreeMap<u64, (u128, u128)>) -> BTreeMap<u64, u128> {
    let (mut since, mut running, mut given) = (0, 0_u128, 0);
    let at_each = changes.into_iter().map(|(at, (begin, end))| {
        given += u128::from(at - since) * PARTS / running.max(1);
        since = at;
        // A copy begins before it ends.
        running = (running + begin).saturating_sub(end);
        (at, given)
    });
    at_each.collect()
}
