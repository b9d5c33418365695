//! Runs that may stand still: the scenario's own, and others with other orders of launches, placements and times.

use std::sync::Arc;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::gpu::GpuOptions;
use crate::hosts::{SimulateOptions, simulate_with};
use crate::limits::count_turn;
use crate::run::{Standstill, StillWait, Summary};
use crate::scenario::{HostThread, Scenario, followed};
use crate::time::Duration;
use crate::trace::Rule;
use crate::workload::{BlockTime, KernelId, OperationId, OperationKind, Placement, StreamId};

/// Operations that one run may submit.
const MOST_OPERATIONS: u32 = 100_000;
/// Operations and waves of blocks of all runs, after which no other is tried.
const MOST_IN_ALL: usize = 2_000_000;
/// Threads of which all orders are tried.
const MOST_PERMUTED: usize = 4;
/// Runs with drawn orders, placements and times.
const DRAWN: u64 = 150;

/// A run that stands still.
#[derive(Debug, Clone, PartialEq)]
pub struct HangingRun {
    /// The scenario of which it is the run.
    pub scenario: Scenario,
    /// Who waits for what in it.
    pub standstill: Standstill,
    /// Its kernels that stand still, and their streams.
    pub(super) stuck: Vec<(OperationKind, StreamId)>,
    /// In which order its kernels were launched, by title, with their streams.
    pub launches: Vec<String>,
    /// What is different from the scenario that was asked about; empty: nothing.
    pub changed: Vec<&'static str>,
}

impl HangingRun {
    pub(super) fn how(&self) -> String {
        match &*self.changed.join(", ") {
            "" => "in the run of the scenario as it is".to_owned(),
            changed => format!("in a run with other choices of {changed}"),
        }
    }
}

/// A way in which a scenario is changed.
#[derive(Debug, Clone, Default)]
struct Variant {
    /// By thread, its place in the order of launches.
    ranks: Vec<usize>,
    /// Whether threads come one right after another in that order, whatever releases are stated.
    anew: bool,
    placement: Option<Placement>,
    choices: Vec<u32>,
    /// By kernel, how many times as long its blocks run, in powers of 4 from -3 to 3.
    scales: Vec<i32>,
    seed: u64,
}

/// Looks for a run that stands still, in the scenario's own only or also in others; says how many were tried.
pub(super) fn hunt(scenario: &Scenario, others: bool) -> (Option<HangingRun>, u64) {
    let (mut tried, mut operations) = (0, 0);
    // A horizon that only ends the run may come before anything stands still.
    let ends = |thread: &HostThread| {
        let iterations = thread.iterations.filter(|_| !thread.is_cut);
        iterations.is_some_and(|iterations| followed(thread, iterations).is_some())
    };
    let endless = scenario.horizon.filter(|_| others && scenario.threads.iter().all(ends));
    let endless = endless.map(|_| Scenario { horizon: None, ..scenario.clone() });
    let as_it_is = variants(scenario).take(usize::from(endless.is_some())).map(|variant| (scenario, variant));
    let all = variants(scenario).take(if others { usize::MAX } else { 1 });
    let all = all.map(|variant| (endless.as_ref().unwrap_or(scenario), variant));
    for (of, variant) in as_it_is.chain(all) {
        count_turn();
        tried += 1;
        if let Some(mut found) = try_variant(of, &variant, &mut operations) {
            found.changed.extend((of.horizon != scenario.horizon).then_some("how long it goes on"));
            return (Some(found), tried);
        }
        if operations > MOST_IN_ALL {
            break;
        }
    }
    (None, tried)
}

/// All variants, the likeliest first.
fn variants(scenario: &Scenario) -> impl Iterator<Item = Variant> + use<> {
    let threads = scenario.threads.len();
    let kernels = scenario.kernels().len();
    let in_order = Variant { ranks: (0..threads).collect(), ..Variant::default() };
    let mut orders = vec![in_order.ranks.clone()];
    if threads <= MOST_PERMUTED {
        orders = permutations(threads);
    } else {
        orders.push((0..threads).rev().collect());
    }
    let as_stated = orders.clone().into_iter().map(|ranks| Variant { ranks, ..Variant::default() });
    let late = Variant { choices: vec![1; 64], ..in_order.clone() };
    let anew = orders.into_iter().map(|ranks| Variant { ranks, anew: true, ..Variant::default() });
    let placed = Placement::ALL.map(|placement| Variant { placement: Some(placement), ..in_order.clone() });
    let drawn = (0..DRAWN).map(move |seed| {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        let mut ranks: Vec<usize> = (0..threads).collect();
        ranks.shuffle(&mut numbers);
        let placement = Placement::ALL[numbers.random_range(0..Placement::ALL.len())];
        Variant {
            ranks,
            anew: numbers.random_range(0..3) > 0,
            placement: Some(placement),
            choices: (0..32).map(|_| numbers.random_range(0..4)).collect(),
            scales: (0..kernels).map(|_| numbers.random_range(-3..=3)).collect(),
            seed,
        }
    });
    as_stated.chain([late]).chain(anew).chain(placed).chain(drawn)
}

fn permutations(of: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for next in 0..of {
        all = all
            .into_iter()
            .flat_map(|one: Vec<usize>| {
                (0..=one.len()).rev().map(move |place| {
                    let mut more = one.clone();
                    more.insert(place, next);
                    more
                })
            })
            .collect();
    }
    all
}

fn try_variant(scenario: &Scenario, variant: &Variant, operations: &mut usize) -> Option<HangingRun> {
    let (changed_scenario, changed) = apply(scenario, variant)?;
    let options = SimulateOptions::of(&changed_scenario);
    let gpu = GpuOptions { max_operations: MOST_OPERATIONS, ..options.gpu };
    let run = simulate_with(&changed_scenario, gpu).ok()?;
    *operations += run.trace.operations().len() + run.trace.waves();
    let standstill = Standstill::of(&Summary::of(&run)).filter(|found| found.is_final)?;
    let record = |wait: &StillWait| run.trace.record(OperationId(wait.id));
    // What is only behind others in its stream does not hang by itself.
    let own = standstill.waits.iter().filter(|wait| wait.rule != Rule::G2);
    let stuck = own.filter_map(record).map(|record| (record.kind, record.stream)).collect();
    let kernels = run.trace.numbered().filter_map(|(id, record)| Some((run.trace.kernel_of(id)?, record.stream)));
    let launches = kernels.map(|(kernel, stream)| format!("{} ({})", kernel.title, run.trace.stream_name(stream)));
    let launches = launches.collect();
    drop(run);
    Some(HangingRun { standstill, stuck, launches, changed, scenario: changed_scenario })
}

/// The scenario with a variant's changes, and what they are.
fn apply(scenario: &Scenario, variant: &Variant) -> Option<(Scenario, Vec<&'static str>)> {
    let mut other = scenario.clone();
    let mut changed = Vec::new();
    // One ns apart, in the order asked for: among equal releases, or of all.
    let times = |rank: usize| Duration::from_ns(rank as u64);
    let is_in_order = variant.ranks.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_in_order || variant.anew {
        for (thread, &rank) in other.threads.iter_mut().zip(&variant.ranks) {
            let from = if variant.anew { Duration::ZERO } else { thread.release };
            thread.release = from.saturating_add(times(rank));
        }
        changed.push(if variant.anew { "releases" } else { "the order of simultaneous releases" });
    }
    if let Some(placement) = variant.placement.filter(|placement| *placement != scenario.placement) {
        scenario.device().check_placement(placement).ok()?;
        other.placement = placement;
        other.seed = variant.seed;
        changed.push("the placement of blocks");
    }
    if !variant.choices.is_empty() {
        other.ready_order = Arc::from(&*variant.choices);
        changed.push("which of several kernels that become ready together is first");
    }
    for (number, &scale) in (0..).zip(&variant.scales) {
        let kernel = KernelId(number);
        let stated = scenario.kernels().get(kernel.index())?.duration;
        let factor = 4_u64.pow(scale.unsigned_abs());
        let of = |time: Duration| {
            Duration::from_ns(if scale < 0 { time.as_ns() / factor } else { time.as_ns().saturating_mul(factor) })
        };
        other.catalogue.set_block_time(kernel, BlockTime { best: of(stated.best), worst: of(stated.worst) }).ok()?;
        other.block_times.remove(&kernel);
    }
    if variant.scales.iter().any(|scale| *scale != 0) {
        changed.push("how long blocks run");
    }
    Some((other, changed))
}
