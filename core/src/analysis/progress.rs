//! Whether kernels that wait on the GPU for one another can stand still for good: proven that they cannot, a run in
//! which they do, or open.
//!
//! Times count for nothing here: what is proven holds for all of them. The conditions are those of `docs/hang.md`,
//! which `proofs/barriers.v` and the files behind it prove; where none holds, runs are tried, and then all states of
//! small scenarios are looked at.

mod conditions;
mod hunt;
mod model;
mod states;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use conditions::ProgressCondition;
use conditions::{Lack, Part, System};
pub use hunt::HangingRun;
use model::Launch;
use states::Explored;

use crate::joined::Joined;
use crate::limits::count_turn;
use crate::named::named;
use crate::scenario::Scenario;
use crate::time::Duration;
use crate::workload::{CheckedKernel, OperationKind, Synchronization};

named! {
    /// Whether kernels that wait for one another can stand still.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ProgressVerdict: ALL, Serialize {
        /// In no run, under the rules of the model.
        CannotHang = "cannot hang",
        /// Neither is known.
        Open = "open",
        /// In the run that is told.
        Hangs = "hangs",
    }
}

/// Whether the kernels of a scenario can stand still.
#[derive(Debug, Clone)]
pub struct ProgressVerdicts {
    /// Kernels that wait for one another, by group.
    pub groups: Vec<ProgressGroup>,
    /// A run that stands still, if one was found.
    pub hanging: Option<HangingRun>,
    /// Runs that were tried.
    pub runs_tried: u64,
    /// What the verdicts rest on.
    pub assumptions: Vec<String>,
    /// Where nothing waits: kernels whose grids are as those of persistent kernels, a whole number of blocks for each
    /// SM, all of which fit at once. Whether their blocks wait for one another, the scenario does not say.
    pub like_persistent: Vec<String>,
}

/// Kernels that wait for one another on the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressGroup {
    /// Whether they can stand still.
    pub verdict: ProgressVerdict,
    /// Why they cannot.
    pub condition: Option<ProgressCondition>,
    /// What lacks for a proof, or in which way they hang.
    pub why: Vec<String>,
    /// What CUDA itself promises of them.
    pub promise: CudaPromise,
    /// Its kernels, by stream.
    pub kernels: Vec<WaitingKernel>,
}

/// A kernel of a group, and the room that it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingKernel {
    /// Its title; or the wait of a stream or a host, without blocks.
    pub kernel: String,
    /// Where it is launched, or which host waits.
    pub stream: String,
    /// Blocks that have to be there at once.
    pub needed: u32,
    /// Blocks of it that fit alone.
    pub alone: u32,
    /// Blocks of it that fit at once whichever SMs the others that wait take.
    pub sure: u32,
}

named! {
    /// What CUDA promises of kernels that wait on the GPU, whatever the rules of the model are: the execution model of
    /// CUDA C++ (NVIDIA), forward progress.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum CudaPromise: ALL, Serialize {
        /// Once a thread of a cooperative grid has begun, all of the grid gets on.
        Cooperative = "promised: each is a cooperative grid that waits for itself alone",
        /// What is waited for is done before; so nothing is a group.
        Order = "promised: what is waited for has ended before",
        /// Nothing is promised between grids, nor between blocks of one that is not cooperative.
        None = "not promised: CUDA lets blocks of other grids, and of grids that are not cooperative, starve",
    }
}

impl ProgressVerdicts {
    /// Of all groups, the worst.
    pub fn verdict(&self) -> ProgressVerdict {
        self.groups.iter().map(|group| group.verdict).max().unwrap_or(ProgressVerdict::CannotHang)
    }
}

/// Judges a scenario.
pub fn judge_progress(scenario: &Scenario) -> ProgressVerdicts {
    let system = System::of(scenario);
    let parts = system.parts();
    let unknown: Vec<String> = system.program.unknown.iter().cloned().collect();
    let proven: Vec<Result<ProgressCondition, Vec<String>>> =
        parts.iter().map(|part| prove(&system, part, &unknown)).collect();
    // The scenario's own run is looked at in any case: it would show what is wrong with a proof.
    let others = proven.iter().any(Result::is_err);
    let hunted = scenario.catalogue.synchronizes().then(|| hunt::hunt(scenario, others));
    let (hanging, runs_tried) = hunted.unwrap_or((None, 0));
    let is_stuck = |item: usize| {
        let of = &system.program.items[item];
        let is_it = |kind: OperationKind| match kind {
            OperationKind::Kernel(kernel) => of.launch.as_ref().is_some_and(|launch| launch.kernel == kernel),
            OperationKind::WaitValue(value) => of.needs == Some(model::counter_and_value(scenario, value)),
            _ => false,
        };
        let stuck = hanging.as_ref().map_or(&[][..], |run| &run.stuck);
        stuck.iter().any(|&(kind, stream)| of.stream == Some(stream) && is_it(kind))
    };
    let mut groups = Vec::new();
    for (part, proven) in parts.iter().zip(proven) {
        // What no condition proves may be small enough for all of its states.
        let explored = match &proven {
            Err(_) if unknown.is_empty() && !part.items.iter().any(|&item| is_stuck(item)) => {
                Some(states::explore(&system, part))
            }
            _ => None,
        };
        for group in groups_of(&system, part) {
            let hangs = group.iter().any(|&item| is_stuck(item));
            groups.push(judged(&system, (part, &group), &proven, explored, hanging.as_ref().filter(|_| hangs)));
        }
    }
    // A run that stands still is told of whatever is said, and of what is not known nothing is proven.
    let hangs = groups.iter().any(|group| group.verdict == ProgressVerdict::Hangs);
    let is_open = groups.is_empty() && !unknown.is_empty() && scenario.catalogue.synchronizes();
    if is_open || hanging.is_some() && !hangs {
        groups.push(whatever_waits(scenario, unknown, hanging.as_ref()));
    }
    let like_persistent = if groups.is_empty() { like_persistent(&system) } else { Vec::new() };
    ProgressVerdicts { groups, hanging, runs_tried, assumptions: assumptions(scenario), like_persistent }
}

/// Kernels that wait, where it is not known for what.
fn whatever_waits(scenario: &Scenario, why: Vec<String>, hanging: Option<&HangingRun>) -> ProgressGroup {
    let waits = |kernel: &&CheckedKernel| kernel.synchronization().is_some_and(Synchronization::waits);
    let row = |kernel: &CheckedKernel| {
        let (kernel, needed) = (kernel.title.to_string(), kernel.blocks);
        WaitingKernel { kernel, stream: String::new(), needed, alone: 0, sure: 0 }
    };
    let kernels = scenario.kernels().iter().filter(waits).map(row).collect();
    let (verdict, why) = match hanging {
        Some(run) => (ProgressVerdict::Hangs, vec![run.how()]),
        None => (ProgressVerdict::Open, why),
    };
    ProgressGroup { verdict, condition: None, why, promise: CudaPromise::None, kernels }
}

/// Titles of kernels whose grids are a whole number of blocks for each SM and fit at once.
fn like_persistent(system: &System<'_>) -> Vec<String> {
    let catalogue = &system.scenario.catalogue;
    let is_like = |(item, launch): &(usize, &Launch)| {
        let sms = system.program.items[*item].stream.map_or(0, |stream| catalogue.sms(launch.kernel, stream).count());
        launch.blocks.is_multiple_of(sms as u64) && launch.blocks <= u64::from(system.alone(*item))
    };
    let titles: BTreeSet<String> =
        system.program.launches().filter(is_like).map(|(item, _)| names(system, item).0).collect();
    titles.into_iter().collect()
}

/// The condition that a part meets, or what lacks of all.
fn prove(system: &System<'_>, part: &Part, unknown: &[String]) -> Result<ProgressCondition, Vec<String>> {
    if !unknown.is_empty() {
        return Err(unknown.to_vec());
    }
    if !system.ends_with_room(part) {
        let events: BTreeSet<&str> = part.items.iter().filter_map(|&item| system.unsure_event(item)).collect();
        let perhaps = match &events.into_iter().collect::<Vec<_>>()[..] {
            [] => String::new(),
            names => format!(", if waits for {} are over late: how early that is, depends on times", names.join(", ")),
        };
        return Err(vec![format!("even with room for all blocks, some wait for what never comes{perhaps}")]);
    }
    if let Some(condition) = system.one_queue(part) {
        return Ok(condition);
    }
    let lacks = system.lacks(part);
    if lacks.is_empty() {
        return Ok(ProgressCondition::SureRoom);
    }
    let said = lacks.iter().map(|lack| {
        let (kernel, stream) = names(system, lack.item);
        format!("{kernel} ({stream}): {} needed, {} sure", lack.needed, lack.sure)
    });
    Err(said.collect())
}

/// Launches of a part that wait for one another's counters, and waits of streams and hosts for those.
fn groups_of(system: &System<'_>, part: &Part) -> Vec<Vec<usize>> {
    let mut joined = Joined::new(part.items.len());
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    let mut has_counter = vec![false; part.items.len()];
    for (place, &item) in part.items.iter().enumerate() {
        count_turn();
        let passes = system.launch(item).map_or(&[][..], |launch| &launch.passes).iter();
        let gate = system.program.items[item].needs.filter(|_| system.gates.contains(&item));
        for counter in passes.map(|pass| pass.counter()).chain(gate.map(|(counter, _)| counter)) {
            joined.join(place, *first.entry(counter).or_insert(place));
            has_counter[place] = true;
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, &item) in part.items.iter().enumerate().filter(|(place, _)| has_counter[*place]) {
        groups.entry(joined.of(place)).or_default().push(item);
    }
    groups.into_values().filter(|items| items.iter().any(|&item| system.may_wait(item))).collect()
}

fn names(system: &System<'_>, item: usize) -> (String, String) {
    let catalogue = &system.scenario.catalogue;
    let of = &system.program.items[item];
    let kernel = system.launch(item).and_then(|launch| catalogue.kernels().get(launch.kernel.index()));
    let gate = of.needs.and_then(|(counter, value)| Some((catalogue.counters().get(counter)?, value)));
    let gate = gate.map(|(counter, value)| format!("wait_value {counter} {value}"));
    let host = || system.scenario.threads.get(of.thread).map_or_else(String::new, |host| host.label.to_string());
    let stream = of.stream.and_then(|id| catalogue.streams().get(id.index()));
    (
        kernel.map_or_else(|| gate.unwrap_or_default(), |kernel| kernel.title.to_string()),
        stream.map_or_else(host, |spec| spec.name.to_string()),
    )
}

fn judged(
    system: &System<'_>,
    (part, group): (&Part, &[usize]),
    proven: &Result<ProgressCondition, Vec<String>>,
    explored: Option<Explored>,
    hanging: Option<&HangingRun>,
) -> ProgressGroup {
    let mut kernels: BTreeMap<(String, String), WaitingKernel> = BTreeMap::new();
    for &item in group {
        let (kernel, stream) = names(system, item);
        let room = system.room(part, item).unwrap_or(Lack { item, needed: 0, sure: 0 });
        let blocks = system.launch(item).map_or(0, |launch| u32::try_from(launch.blocks).unwrap_or(u32::MAX));
        let (alone, sure) = (system.alone(item).min(blocks), room.sure.min(blocks));
        let own = kernels.entry((kernel.clone(), stream.clone()));
        let row = own.or_insert(WaitingKernel { kernel, stream, needed: room.needed, alone, sure });
        row.needed = row.needed.max(room.needed);
        row.sure = row.sure.min(sure);
    }
    let (verdict, condition, why) = match (proven, explored) {
        _ if hanging.is_some() => (ProgressVerdict::Hangs, None, hanging.into_iter().map(HangingRun::how).collect()),
        (Ok(condition), _) => (ProgressVerdict::CannotHang, Some(*condition), Vec::new()),
        (Err(_), Some(Explored::NoStandstill)) => {
            (ProgressVerdict::CannotHang, Some(ProgressCondition::AllStates), Vec::new())
        }
        (Err(lacks), explored) => {
            let mut why = lacks.clone();
            why.extend(explored.and_then(Explored::in_words));
            (ProgressVerdict::Open, None, why)
        }
    };
    let is_whole = |item: usize| {
        !system.may_wait(item)
            || system.launch(item).is_some_and(|launch| launch.is_cooperative) && system.waits_for_itself(item)
    };
    let all_whole = group.iter().all(|&item| is_whole(item));
    let promise = if all_whole { CudaPromise::Cooperative } else { CudaPromise::None };
    ProgressGroup { verdict, condition, why, promise, kernels: kernels.into_values().collect() }
}

/// What a verdict rests on, besides the rules of the model.
fn assumptions(scenario: &Scenario) -> Vec<String> {
    let mut all = vec![
        "blocks wait for nothing but what the input says, of which profiles and models say nothing".to_owned(),
        "blocks take what the scenario states of their SM: where registers or shared memory are not stated, none"
            .to_owned(),
        "every launch is made, and none but those of the scenario, as long as a run of it goes".to_owned(),
        "the split between L1 and shared memory keeps no block from an SM that has room by the numbers".to_owned(),
    ];
    if scenario.device().block_gap > Duration::ZERO {
        all.push("what a block held comes free after the block gap".to_owned());
    }
    if scenario.device().gpus() > 1 {
        all.push("GPUs see one another's counters".to_owned());
    }
    all
}
