//! Finds the placement policy, and the order of SMs, that explain best where measured blocks went.

use serde::Serialize;

use super::audited_run::AuditedRun;
use super::finding::Tolerances;
use super::observed_run::ObservedRun;
use super::placement::{Misplaced, PlacementStatistic, explained};
use crate::device::{Device, DeviceSpec, Gpcs, Placement, SmNumbering, SmOrder};
use crate::limits::end_if_stopped;
use crate::logs::BlockList;
use crate::proven::OrMost;

/// What explains where the blocks of one run went: all that was tried, what explains most first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearnedPlacement {
    /// What the run is called.
    pub run: String,
    /// Blocks of the run.
    pub blocks: usize,
    /// What was tried; never empty.
    pub(crate) tried: Vec<PlacementTried>,
}

impl LearnedPlacement {
    /// The GPU with what explains most blocks; `None` if nothing that was tried explains one.
    pub fn best(&self) -> Option<&Device> {
        self.tried.first().filter(|tried| tried.followed > 0).map(|tried| &tried.device)
    }
}

/// One policy with one order of SMs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct PlacementTried {
    /// The policy.
    pub policy: Placement,
    /// In which order it serves SMs.
    pub order: String,
    /// Blocks whose SM it can tell.
    pub decidable: usize,
    /// Those that were on that SM.
    pub followed: usize,
    /// The first block that was elsewhere.
    pub first_elsewhere: Option<Misplaced>,
    /// The GPU with that policy and order.
    #[serde(skip)]
    pub device: Device,
}

/// Tries the policies with the orders that devices have, and with the order in which the log's own first wave served
/// the SMs, also as that of GPCs.
pub fn learn_placement(observed: &ObservedRun, tolerances: &Tolerances) -> LearnedPlacement {
    let device = &observed.device;
    let mut candidates = Vec::new();
    let mut add = |order: &str, change: &dyn Fn(&mut DeviceSpec)| {
        candidates.extend(device.with(change).ok().map(|device| (order.to_owned(), device)));
    };
    let by = |policy: Placement, order: SmOrder| {
        move |spec: &mut DeviceSpec| (spec.placement, spec.sm_order) = (policy, order.clone())
    };
    add("ascending", &by(Placement::MostRoom, SmOrder::Ascending));
    add("even, then odd", &by(Placement::MostRoom, SmOrder::EvenThenOdd));
    add("descending", &by(Placement::MostRoom, SmOrder::Descending));
    add("by number, each filled first", &by(Placement::LowestId, SmOrder::Ascending));
    add("by number, on from the last", &by(Placement::RoundRobin, SmOrder::Ascending));
    if device.gpcs.is_some() {
        add("GPCs of the device", &|spec| spec.placement = Placement::Gpc);
    }
    if let Some((kernel, order)) = first_wave(observed) {
        let seen = order.len();
        let rest = (0..device.sms).filter(|sm| !order.contains(sm));
        let whole: Vec<u32> = order.iter().copied().chain(rest).collect();
        if let Some(gpcs) = gpcs_of(&whole, device).filter(|gpcs| device.gpcs.as_ref() != Some(gpcs)) {
            add(&format!("GPCs as {kernel} went through them"), &|spec| {
                (spec.placement, spec.gpcs) = (Placement::Gpc, Some(gpcs.clone()));
            });
        }
        let of = if seen < whole.len() {
            format!("{seen} SMs as {kernel} served them")
        } else {
            format!("as {kernel} served them")
        };
        add(&of, &by(Placement::MostRoom, SmOrder::Explicit(whole)));
    }
    let mut tried = Vec::new();
    for (order, device) in candidates {
        end_if_stopped();
        let observed = ObservedRun { device: device.clone(), ..observed.clone() };
        let (PlacementStatistic { policy, decidable, followed }, first_elsewhere) =
            explained(&AuditedRun::new(&observed, tolerances), device.placement);
        tried.push(PlacementTried { policy, order, decidable, followed, first_elsewhere, device });
    }
    // The largest share first, and of equals the one of most blocks, then the one that was tried first.
    tried.sort_by(|one, other| {
        let share = |tried: &PlacementTried, of: &PlacementTried| {
            u128::from(tried.followed as u64) * u128::from(of.decidable.max(1) as u64)
        };
        share(other, one).cmp(&share(one, other)).then(other.followed.cmp(&one.followed))
    });
    let blocks = observed.kernels().map(|kernel| kernel.blocks.len()).sum();
    for tried in &mut tried {
        let found = format!(
            "found by gpusched audit --learn-placement from {}: {} of {} blocks whose SM can be told are where {} puts \
             them; {} blocks in all",
            observed.title,
            tried.followed,
            tried.decidable,
            tried.policy.name(),
            blocks
        );
        let said = tried.device.with(|spec| say(spec, &found));
        tried.device = said.unwrap_or_else(|_| tried.device.clone());
    }
    LearnedPlacement { run: observed.title.to_string(), blocks, tried }
}

/// Of the blocks whose SM the device of a run tells, how many there are and how many were there.
pub(crate) fn explained_by_device(observed: &ObservedRun, tolerances: &Tolerances) -> (usize, usize) {
    let (statistic, _) = explained(&AuditedRun::new(observed, tolerances), observed.device.placement);
    (statistic.decidable, statistic.followed)
}

/// Says of a device where its order of SMs is from.
fn say(spec: &mut DeviceSpec, found: &str) {
    let is_about = |key: &String| ["placement", "gpcs", "sm_order"].iter().any(|about| key.starts_with(about));
    spec.sources.retain(|key, _| !is_about(key));
    spec.assumptions.retain(|key, _| !is_about(key));
    spec.sources.insert("placement".to_owned(), found.to_owned());
    let key = if spec.placement.goes_by_gpcs() { "gpcs" } else { "sm_order" };
    spec.sources.insert(key.to_owned(), found.to_owned());
}

/// The order in which a kernel served SMs until it came back to one: of the kernel that served most of them, the first
/// of equals.
fn first_wave(observed: &ObservedRun) -> Option<(String, Vec<u32>)> {
    let served = |blocks: &BlockList| {
        let mut is_served = vec![false; observed.device.sms as usize];
        let first =
            |sm: &&u32| is_served.get_mut(**sm as usize).is_some_and(|is_served| !std::mem::replace(is_served, true));
        blocks.sms.iter().take_while(first).copied().collect::<Vec<u32>>()
    };
    let mut longest: Option<(String, Vec<u32>)> = None;
    for operation in &observed.operations {
        let Some(kernel) = operation.kernel().filter(|kernel| kernel.is_whole()) else { continue };
        let order = served(&kernel.blocks);
        if longest.as_ref().is_none_or(|(_, longest)| order.len() > longest.len()) {
            longest = Some((operation.name.to_string(), order));
        }
    }
    longest.filter(|(_, order)| order.len() > 1)
}

/// GPCs that would be gone through in this order: each has ascending numbers, and lone TPCs, which have the highest,
/// come first.
fn gpcs_of(order: &[u32], device: &Device) -> Option<Gpcs> {
    let mut runs: Vec<&[u32]> = order.chunk_by(|one, next| one < next).collect();
    let sms = |run: &[u32]| u32::try_from(run.len()).or_most();
    let tpcs = |run: &[u32]| sms(run).div_ceil(device.sms_per_tpc);
    let are_last = |run: &[u32]| run.iter().copied().eq(device.sms.saturating_sub(sms(run))..device.sms);
    let lone_tpcs = runs.first().filter(|run| runs.len() > 1 && are_last(run)).map_or(0, |run| tpcs(run));
    if lone_tpcs > 0 {
        runs.remove(0);
    }
    let tpcs: Vec<u32> = runs.into_iter().map(tpcs).collect();
    let goes_so = |numbering: SmNumbering| {
        let gpcs = Gpcs { tpcs: tpcs.clone(), lone_tpcs, numbering };
        let with = device.with(|spec| spec.gpcs = Some(gpcs.clone())).ok()?;
        (with.sm_preference(Placement::Gpc) == order).then_some(gpcs)
    };
    // One GPC of all SMs says nothing.
    (tpcs.len() > 1).then(|| SmNumbering::ALL.into_iter().find_map(goes_so)).flatten()
}
