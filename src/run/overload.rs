//! More work than there is time for, which the scenario itself tells.

use std::collections::BTreeMap;

use crate::scenario::{HostThread, Scenario};
use crate::time::Duration;
use crate::workload::{KernelId, OperationKind, StreamId};

/// What an operation takes at least \[ns\]: from its beginning to its end, and of thread slots and block slots for how
/// long.
type Least = (u128, [u128; 2]);

/// Sums of shares that come to a whole are rounded.
const WHOLE: f64 = 1.0 + 1e-9;

/// What the user should know of work that comes again without end: where it takes more time than there is, wherever
/// blocks are placed, the backlog grows as long as the run goes on, whatever its length. All is that which takes
/// turns, shared links, masks and waiting make longer still.
pub(crate) fn overload_notes(scenario: &Scenario) -> Vec<String> {
    // Dependent launches run beside those before them in their stream.
    if scenario.catalogue.has_programmatic_launches() {
        return Vec::new();
    }
    let mut streams: BTreeMap<StreamId, f64> = BTreeMap::new();
    let mut slots = [0.0; 2];
    for thread in &scenario.threads {
        let Some(period) = endless_period(thread) else { continue };
        for (kind, stream) in thread.steps.iter().filter_map(|step| step.submission()) {
            let (time, taken) = least(scenario, kind);
            *streams.entry(stream).or_default() += time as f64 / period;
            slots.iter_mut().zip(taken).for_each(|(slots, taken)| *slots += taken as f64 / period);
        }
    }
    let device = scenario.device();
    let capacities =
        [device.warps_per_sm(), device.per_sm.blocks].map(|of_one| f64::from(of_one) * f64::from(device.sms));
    let names = ["thread slots", "block slots"];
    let of_streams = streams.into_iter().filter(|(_, share)| *share > WHOLE).map(|(stream, share)| {
        let name = scenario.catalogue.streams().get(stream.index()).map_or("", |stream| &stream.name);
        format!(
            "stream {name:?} is overloaded: its operations, one after the other, take {:.1} % of the time",
            share * 100.0
        )
    });
    let shares = names.into_iter().zip(slots.into_iter().zip(capacities).map(|(taken, capacity)| taken / capacity));
    let is_shared = !scenario.catalogue.is_time_sliced();
    let of_gpu = shares
        .filter(|(_, share)| is_shared && *share > WHOLE)
        .map(|(name, share)| format!("the GPU is overloaded: blocks take {:.1} % of its {name}", share * 100.0));
    let all = of_streams.chain(of_gpu).map(|what| format!("{what} at least, so jobs come later and later"));
    all.collect()
}

/// How often a thread comes again without end \[ns\].
fn endless_period(thread: &HostThread) -> Option<f64> {
    let has_end =
        thread.iterations.is_some() && !thread.is_cut || thread.time_limit.is_some() || thread.until.is_some();
    thread.period.filter(|period| *period > Duration::ZERO && !has_end).map(|period| period.as_ns() as f64)
}

fn least(scenario: &Scenario, kind: OperationKind) -> Least {
    match kind {
        OperationKind::Kernel(kernel) => least_of_kernel(scenario, kernel).unwrap_or_default(),
        OperationKind::Copy(copy) => {
            let time = scenario.copies().get(copy.index()).map_or(0, |copy| copy.time().as_ns());
            (time.into(), [0; 2])
        }
        OperationKind::Memset | OperationKind::Record(_) | OperationKind::Wait(_) => Least::default(),
    }
}

fn least_of_kernel(scenario: &Scenario, id: KernelId) -> Option<Least> {
    let (kernel, device) = (scenario.kernels().get(id.index())?, scenario.device());
    let time = u128::from(scenario.shortest_block_time(id)?.as_ns());
    let demand = kernel.demand();
    let resident = u64::from(demand.blocks_per_sm(device)) * u64::from(device.sms);
    let waves = u64::from(kernel.blocks).div_ceil(resident.max(1));
    let blocks = u128::from(kernel.blocks) * time;
    Some((u128::from(waves) * time, [blocks * u128::from(demand.warps), blocks]))
}
