//! A referee of bounds and verdicts with which they share no code: random programs, and runs of the reference simulator
//! in which an adversary chooses whatever the scenario leaves open. No response may be above its bound, no job that is
//! proven late, and no search of the library may find what its bounds exclude.

use std::cell::Cell;
use std::fs;

use gpusched::analysis::{
    AnalysisError, BlockTimes, BoundOptions, JobVerdicts, SearchOptions, Verdict, judge, judge_sporadic,
};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{HostThread, ReleaseOrder, Scenario};
use gpusched::time::Duration;
use gpusched::workload::Placement;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::agreement::agreed;
use crate::campaign::{config, part_of};
use crate::reference::{self, Adversary, Arrival, Open, arrivals, only_submits};

mod family;
mod sample;

use family::Family;
use sample::{Sample, sample};

/// What a campaign has seen.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) jobs: Cell<u64>,
    pub(crate) bounded: Cell<u64>,
    pub(crate) reached: Cell<u64>,
    proven: Cell<u64>,
}

impl Tally {
    fn note(&self, response: u64, (bound, verdict, deadline): Known, of: impl FnOnce() -> String) -> TestCaseResult {
        let add = |count: &Cell<u64>, one: bool| count.set(count.get() + u64::from(one));
        add(&self.jobs, true);
        add(&self.bounded, bound.is_some());
        add(&self.reached, bound == Some(response));
        add(&self.proven, verdict == Some(Verdict::Proven));
        if let Some(bound) = bound.filter(|&bound| response > bound) {
            return Err(TestCaseError::fail(format!("{} takes {response} ns, and its bound is {bound} ns", of())));
        }
        if verdict == Some(Verdict::Proven) && deadline.is_none_or(|deadline| response > deadline) {
            return Err(TestCaseError::fail(format!(
                "{} takes {response} ns, and is proven within {deadline:?}",
                of()
            )));
        }
        Ok(())
    }
}

/// Bound, verdict and deadline of a job.
pub(crate) type Known = (Option<u64>, Option<Verdict>, Option<u64>);

fn ns(time: Option<Duration>) -> Option<u64> {
    time.map(Duration::as_ns)
}

/// The same scenario under another placement, in another order of what becomes ready, with other random numbers.
fn placed(scenario: &Scenario, numbers: &mut ChaCha8Rng) -> Scenario {
    let placements = [Placement::MostRoom, Placement::RoundRobin, Placement::LowestId, Placement::Random];
    let choices = if numbers.random_range(0..3) == 0 { 0 } else { 24 };
    Scenario {
        placement: placements[numbers.random_range(0..placements.len())],
        seed: numbers.random_range(0..1_000),
        ready_order: (0..choices).map(|_| numbers.random_range(0..6_u32)).collect(),
        ..scenario.clone()
    }
}

/// How long the searches and the adversary go on.
#[derive(Debug, Clone, Copy)]
struct Effort {
    searched: u64,
    runs: u64,
}

/// Fails only if a run was found above a bound: what cannot be analysed is not.
fn unless_broken<T>(judged: Result<T, AnalysisError>, of: &str) -> Result<Option<T>, TestCaseError> {
    match judged {
        Ok(judged) => Ok(Some(judged)),
        Err(AnalysisError::Broken(broken)) => Err(TestCaseError::fail(format!("{of}: {broken}"))),
        Err(_) => Ok(None),
    }
}

/// Sets a judged scenario against runs with the releases that it states.
fn given(scenario: &Scenario, bound: BoundOptions, seed: u64, effort: Effort, tally: &Tally) -> TestCaseResult {
    let options = SearchOptions { bound, runs: effort.searched, seed, ..SearchOptions::default() };
    let of = format!("{bound:?}");
    let Some(judged) = unless_broken(judge(scenario, &options, Progress::NONE), &of)? else { return Ok(()) };
    let open = Open { shorter: bound.block_times == BlockTimes::UpToStated, order: bound.order == ReleaseOrder::Any };
    let known = |thread, iteration| known(&judged, scenario, thread, iteration);
    given_runs(scenario, open, &known, (seed, effort.runs), tally)
}

/// Sets what is known of jobs, by thread and iteration, against so many runs, of this seed, with the releases that a
/// scenario states.
pub(crate) fn given_runs(
    scenario: &Scenario,
    open: Open,
    known: &dyn Fn(usize, u64) -> Known,
    (seed, runs): (u64, u64),
    tally: &Tally,
) -> TestCaseResult {
    let mut all = scenario.clone();
    if all.threads.iter().any(|thread| thread.is_cut) {
        let periods = all.threads.iter().filter_map(|thread| thread.period).max().map_or(0, Duration::as_ns);
        all.horizon = Some(Duration::from_ns(20 + 5 * periods));
    }
    for thread in all.threads.iter_mut().filter(|thread| thread.is_cut) {
        (thread.iterations, thread.is_cut) = (None, false);
    }
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..runs {
        let (run, number) = (placed(&all, &mut numbers), numbers.random());
        let outcome = reference::run_against(&run, Some(Adversary::new(number, open, all.threads.len(), Vec::new())));
        for (one, end) in outcome.iterations.iter().zip(outcome.ends()) {
            let Some(end) = end.filter(|_| scenario.threads[one.thread].does_jobs()) else { continue };
            let of =
                || format!("{open:?}, run {number}: job {} of {}", one.iteration, scenario.threads[one.thread].label);
            tally.note(end - one.released, known(one.thread, one.iteration), of)?;
        }
    }
    Ok(())
}

/// What is known of a job; of one that the scenario's own run does not have, that it is proven if all of its thread
/// are.
fn known(judged: &JobVerdicts<'_>, scenario: &Scenario, thread: usize, iteration: u64) -> Known {
    let of_thread = || judged.jobs.iter().filter(|job| job.thread as usize == thread);
    let deadline = scenario.threads[thread].deadline();
    if let Some(job) = of_thread().find(|job| u64::from(job.job) == iteration) {
        return (ns(job.bound_ns), job.verdict, ns(deadline));
    }
    let is_proven = of_thread().next().is_some() && of_thread().all(|job| job.verdict == Some(Verdict::Proven));
    (None, is_proven.then_some(Verdict::Proven), ns(deadline))
}

/// Sets the bounds over all phasings against runs whose jobs come a period or more apart.
fn phased(scenario: &Scenario, seed: u64, effort: Effort, tally: &Tally) -> TestCaseResult {
    let jitter: Vec<Duration> = scenario.threads.iter().map(|thread| thread.jitter).collect();
    let options = SearchOptions { runs: effort.searched, seed, ..SearchOptions::default() };
    let judged = judge_sporadic(scenario, &jitter, &options, Progress::NONE);
    let Some(judged) = unless_broken(judged, "over all phasings")? else { return Ok(()) };
    if judged.streams.iter().all(|stream| stream.bound_ns.is_none()) {
        return Ok(());
    }
    let of = |thread: usize| {
        let known = &judged.streams[thread];
        (ns(known.bound_ns), known.verdict, ns(known.deadline_ns))
    };
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..effort.runs {
        phased_run(scenario, &of, &mut numbers, tally)?;
    }
    Ok(())
}

/// Sets what is known of all jobs of each thread against a run whose jobs come a period or more apart.
pub(crate) fn phased_run(
    scenario: &Scenario,
    known: &dyn Fn(usize) -> Known,
    numbers: &mut ChaCha8Rng,
    tally: &Tally,
) -> TestCaseResult {
    const JOBS: usize = 10;
    let number: u64 = numbers.random();
    let of = |thread: &HostThread| (thread.period.map_or(1, Duration::as_ns), thread.jitter.as_ns());
    let come = arrivals(number, &scenario.threads.iter().map(of).collect::<Vec<_>>(), JOBS);
    let has_triggers = scenario.threads.iter().any(|thread| thread.triggered_by.is_some());
    let mut run = placed(scenario, numbers);
    run.threads.clear();
    // By thread of the run: of which it does jobs, and the first of them.
    let mut owners: Vec<(usize, usize)> = Vec::new();
    let mut releases: Vec<Vec<Arrival>> = Vec::new();
    for (number, (thread, come)) in scenario.threads.iter().zip(come).enumerate() {
        let endless = HostThread { iterations: None, is_cut: false, time_limit: None, ..thread.clone() };
        if only_submits(scenario, number) && !has_triggers {
            for (job, arrival) in come.into_iter().enumerate() {
                run.threads.push(endless.clone());
                owners.push((number, job));
                releases.push(vec![arrival]);
            }
        } else {
            run.threads.push(endless);
            owners.push((number, 0));
            releases.push(come);
        }
    }
    for (thread, releases) in run.threads.iter_mut().zip(&releases) {
        thread.release = Duration::from_ns(releases[0].0);
    }
    let open = Open { shorter: true, order: true };
    let outcome = reference::run_against(&run, Some(Adversary::new(number, open, owners.len(), releases)));
    for (one, end) in outcome.iterations.iter().zip(outcome.ends()) {
        let (thread, first) = owners[one.thread];
        let Some(end) = end.filter(|_| scenario.threads[thread].does_jobs()) else { continue };
        let label = &scenario.threads[thread].label;
        let of = || format!("over all phasings, run {number}: job {} of {label}", first as u64 + one.iteration);
        tally.note(end - one.released, known(thread), of)?;
    }
    Ok(())
}

/// Everything that is said of a sample, against as many runs.
fn holds(sample: &Sample, seed: u64, effort: Effort, tally: &Tally) -> TestCaseResult {
    let Some(scenario) = sample.scenario() else { return Ok(()) };
    for (block_times, order) in [
        (BlockTimes::UpToStated, ReleaseOrder::Any),
        (BlockTimes::UpToStated, ReleaseOrder::Declared),
        (BlockTimes::AsStated, ReleaseOrder::Any),
    ] {
        given(&scenario, BoundOptions { block_times, order }, seed, effort, tally)?;
    }
    if scenario.threads.iter().all(|thread| thread.period.is_some() || thread.triggered_by.is_some()) {
        phased(&scenario, seed, effort, tally)?;
    }
    Ok(())
}

/// Runs cases of a family until it is enough by their number and what was seen; what fails is written to a file.
fn campaign(family: &'static Family, effort: Effort, is_enough: impl Fn(u64, &Tally) -> bool) -> Tally {
    let tally = Tally::default();
    let strategy = (sample(family), any::<u64>());
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() });
    let mut cases = 0;
    while !is_enough(cases, &tally) {
        cases += 1;
        let tree = strategy.new_tree(&mut runner).expect("nothing is rejected");
        let held = runner.run_one(tree, |(sample, seed)| holds(&sample, seed, effort, &tally));
        if let Err(error) = held {
            let path = format!("{}/hostile-{}.txt", env!("CARGO_TARGET_TMPDIR"), family.name.replace(' ', "-"));
            let written = fs::write(&path, error.to_string());
            panic!("{}, case {cases}: {error}\nkept in {path}: {written:?}", family.name);
        }
    }
    tally
}

#[test]
fn no_run_of_an_adversary_is_above_a_bound() {
    let most = u64::from(part_of(12));
    let effort = Effort { searched: 2, runs: 4 };
    let none: Vec<&str> = family::ALL
        .iter()
        .filter(|&family| campaign(family, effort, |cases, _| cases == most).jobs.get() == 0)
        .map(|family| family.name)
        .collect();
    // A few scenarios of a family may all be refused.
    assert!(none.len() < 4, "{none:?}");
}

/// The reference knows who releases whom in its own way, and so does the audit.
#[test]
fn runs_in_which_jobs_release_others_are_those_of_the_reference() {
    for family in family::ALL.iter().filter(|family| family.triggers) {
        let mut runner = TestRunner::new(config(40));
        let agree =
            |sample: Sample| sample.with_stated_times().scenario().map_or(Ok(()), |one| agreed_if_it_runs(&one));
        runner.run(&sample(family), agree).unwrap_or_else(|error| panic!("{}: {error}", family.name));
    }
}

fn agreed_if_it_runs(scenario: &Scenario) -> TestCaseResult {
    if simulate(scenario).is_ok() { agreed(scenario).map(|_| ()) } else { Ok(()) }
}

/// `GPUSCHED_CASES` scenarios of each family, or of the one that `GPUSCHED_FAMILY` names; without it until a million
/// jobs were compared.
#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_adversaries() {
    let most: Option<u64> = std::env::var("GPUSCHED_CASES").ok().and_then(|cases| cases.parse().ok());
    let only = std::env::var("GPUSCHED_FAMILY").ok();
    for family in family::ALL.iter().filter(|family| only.as_ref().is_none_or(|only| only == family.name)) {
        let enough = |cases, tally: &Tally| most.map_or(tally.jobs.get() >= 1_000_000, |most| cases >= most);
        let Tally { jobs, bounded, reached, proven } = campaign(family, Effort { searched: 16, runs: 24 }, enough);
        let [jobs, bounded, reached, proven] = [jobs, bounded, reached, proven].map(Cell::into_inner);
        let name = family.name;
        println!("{name}: {jobs} jobs, {bounded} with a bound, {reached} that reach it, {proven} proven");
    }
}
