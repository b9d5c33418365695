//! A search for runs with long responses: random runs, then hill climbing from the worst of them.
//!
//! Searched are block and copy times, orders of simultaneous releases, and placements; for sporadic streams also
//! releases. What is found is a run, so a response found is one that can happen; a response not found may still happen.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant as WallTime;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::assumptions;
use super::jobs::after_last_launch;
use super::jobs::{AnalysedJob, with_operations};
use super::prepared::shown;
use super::safe_bound::BoundOptions;
use crate::effort;
use crate::effort::Progress;
use crate::hosts::{ProgramError, simulate_in_brief, simulate_placed};
use crate::limits::{count_turn, in_any_case};
use crate::run::{ChainDelay, Job, Jobs, Run};
use crate::scenario::{ChainMeasure, HostThread, ReleaseOrder, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::workload::{Origin, Placement};
use orders::list_of;

mod affordable;
mod chains;
mod climb;
mod early_ends;
mod orders;
mod variation;

pub(super) use chains::SearchedChains;
use climb::Change;
pub(super) use orders::{Choice, arranged, drawn_choices, next_lists, orders_of, own_step, without_threads};
use orders::{Orders, unrolled};
pub(super) use variation::ReleaseRule;
use variation::{Freedom, Variation};

/// Operations above which launches do not get times of their own.
const MOST_UNROLLED: usize = 20_000;

/// Jobs from whose worst runs the search climbs.
const MOST_TARGETS: usize = 16;

/// Random runs that are handed out together: so many, or fewer if all their jobs are more than [`MOST_HELD`].
const CHUNK: u64 = 64;

/// Responses of jobs that are held until they are compared with what was found before, all runs together.
const MOST_HELD: usize = 1 << 18;

/// What to search, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// What may vary.
    pub bound: BoundOptions,
    /// Placements to try; none: the scenario's.
    pub placements: Vec<Placement>,
    /// Runs to simulate: half of them at random, then climbing; and as many again at most in which blocks end just
    /// before a job asks for their room. With a time limit this is repeated until it is over. With none, only what is
    /// stated is run, under each placement.
    pub runs: u64,
    /// Of the random numbers. Without a time limit the same seed finds the same, whatever the number of threads.
    pub seed: u64,
    /// For how long at most.
    pub time_limit: Option<std::time::Duration>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        // Those that every device can have.
        let placements = Placement::ALL.into_iter().filter(|placement| !placement.goes_by_gpcs()).collect();
        let bound = BoundOptions::default();
        Self { bound, placements, runs: 512, seed: 0, time_limit: None }
    }
}

/// The longest response of a job that was found. Many jobs may have theirs in one run, which is as large as the
/// scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    response: u64,
    variation: Arc<Variation>,
}

/// What a search found.
#[derive(Debug)]
pub struct SearchResult<'s> {
    /// The jobs of the scenario.
    pub jobs: Vec<AnalysedJob>,
    /// Runs that were simulated.
    pub runs: u64,
    base: Cow<'s, Scenario>,
    freedom: Freedom,
    found: Vec<Option<Found>>,
    /// Of each chain of the scenario, by both measures.
    chains: Vec<Option<(Found, ChainDelay)>>,
    /// Until when runs are known to be some of what is searched.
    known_until: Option<Instant>,
}

impl SearchResult<'_> {
    /// The same, without the scenario that it is about.
    pub(super) fn into_owned(self) -> SearchResult<'static> {
        let Self { jobs, runs, base, freedom, found, chains, known_until } = self;
        SearchResult { jobs, runs, base: Cow::Owned(base.into_owned()), freedom, found, chains, known_until }
    }

    /// The longest response of job number `job` of `jobs` in any run, or that it takes longer than until more may be
    /// released than these runs have; `None`: it never finished.
    pub fn worst(&self, job: usize) -> Option<Duration> {
        let response = Duration::from_ns(self.found.get(job)?.as_ref()?.response);
        Some(shown(self.known_until, self.jobs.get(job)?.released, response))
    }

    /// A scenario whose simulation has that response. Block and copy times are those of the run; where launches do not
    /// depend on completions, each job is a host thread of its own, released when it was in the run. Threads are
    /// declared in the order in which they acted.
    pub fn witness(&self, job: usize) -> Option<Scenario> {
        Some(self.bad_run(self.found.get(job)?.as_ref()?, &self.jobs.get(job)?.stream))
    }

    /// The longest that was found of chain number `chain`.
    pub(super) fn worst_of_chain(&self, chain: usize, measure: ChainMeasure) -> Option<Duration> {
        Some(Duration::from_ns(self.chain(chain, measure)?.0.response))
    }

    /// The way of data that was so long.
    pub(super) fn delay_of_chain(&self, chain: usize, measure: ChainMeasure) -> Option<ChainDelay> {
        Some(self.chain(chain, measure)?.1.clone())
    }

    fn chain(&self, chain: usize, measure: ChainMeasure) -> Option<&(Found, ChainDelay)> {
        self.chains.get(chain * ChainMeasure::ALL.len() + measure as usize)?.as_ref()
    }

    /// As [`Self::witness`], of a chain; its jobs have the same times there, and where each job is a thread of its own,
    /// the chain is left out.
    pub(super) fn witness_of_chain(&self, (chain, name): (usize, &str), measure: ChainMeasure) -> Option<Scenario> {
        Some(self.bad_run(&self.chain(chain, measure)?.0, name))
    }

    fn bad_run(&self, found: &Found, of: &str) -> Scenario {
        let mut witness = self.freedom.apply(&self.base, &found.variation);
        self.freedom.release_at_arrivals(&mut witness, &found.variation);
        witness.name = format!("{}: a bad run of {of}", self.base.name);
        // Its threads are declared in the order of the run.
        witness.release_order = ReleaseOrder::Declared;
        witness.tell_urgency_apart();
        // Its choices are told as they were.
        let chosen = simulate_in_brief(&witness).ok().map(|run| list_of(run.trace.ready_choices()));
        witness.ready_order = chosen.map_or(witness.ready_order, Into::into);
        // It is another scenario than the file that the logs belong to.
        witness.examiner = None;
        witness
    }
}

/// Searches runs of a scenario with the releases that it states.
///
/// # Errors
/// [`ProgramError`], as the simulation of the scenario has it.
pub fn search<'s>(
    scenario: &'s Scenario,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Result<SearchResult<'s>, ProgramError> {
    let run = simulate_in_brief(scenario)?;
    search_known(scenario, (&run, &run.jobs()), &[], options, progress)
}

/// As [`search()`], with the run of the scenario itself and the jobs of that. Where no thread sleeps, or waits and goes
/// on, each job may be released up to its thread's `jitter` later than stated, and its response then counts from when
/// it is stated; without any jitter nothing is late.
pub(super) fn search_known<'s>(
    scenario: &'s Scenario,
    (run, begun): (&Run<'_>, &Jobs),
    jitter: &[Duration],
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Result<SearchResult<'s>, ProgramError> {
    let mut jobs = with_operations(run, begun);
    jobs.retain(|job| !scenario.comes_at_horizon(job.thread, job.released));
    let is_small = run.trace.operations().len() <= MOST_UNROLLED;
    // Jobs as threads of their own know no barriers, which threads pass in an order that no file states.
    let is_any = options.bound.order == ReleaseOrder::Any;
    let has_barriers = scenario.threads.iter().any(|thread| thread.barriers().next().is_some());
    let has_known_ends = || scenario.threads.iter().all(|thread| after_last_launch(thread).is_some());
    // Nor does a job that is one wait for the one before it, as a host that sleeps beyond its period has it.
    let is_held = |pair: &[Job]| {
        let sleeps = |thread: &HostThread| thread.steps.iter().any(|step| matches!(step, Step::Sleep(_)));
        pair[0].thread == pair[1].thread
            && pair[0].host_finished.is_some_and(|end| end > pair[1].released)
            && scenario.threads.get(pair[0].thread as usize).is_some_and(sleeps)
    };
    let unrolls = is_small
        && !begun.begun.windows(2).any(is_held)
        && !has_barriers
        && assumptions::launch_dependence(scenario).is_none()
        && has_known_ends();
    if unrolls && is_any {
        // The search is the same wherever threads stand in the file.
        let ranks = scenario.thread_ranks();
        jobs.sort_by_key(|job| (ranks[job.thread as usize], job.job));
    }
    let releases = if unrolls { late_releases(scenario, &jobs, jitter) } else { Vec::new() };
    let chains = SearchedChains::new(scenario, run);
    let (base, own) = if unrolls {
        (Cow::Owned(unrolled(run, &jobs)), None)
    } else {
        let response = |job: &AnalysedJob| begun.get(job.thread, job.job)?.response().map(Duration::as_ns);
        let own = jobs.iter().map(response).chain(chains.own_worst()).collect();
        (Cow::Borrowed(scenario), Some(own))
    };
    // Of unrolled jobs whatever the order of the file.
    let has_choices = |run: &Run<'_>| !run.trace.ready_choices().is_empty();
    let has_ready_orders = match &base {
        Cow::Owned(unrolled) if options.runs > 0 => simulate_in_brief(unrolled).is_ok_and(|run| has_choices(&run)),
        _ => has_choices(run),
    };
    let base =
        Base { scenario: base, is_unrolled: unrolls, jobs, own, releases, chains: Some(chains), has_ready_orders };
    let found = search_from(base, options, progress)?;
    Ok(SearchResult { known_until: scenario.known_until(), ..found })
}

/// How late jobs may be, each of which is a thread.
fn late_releases(scenario: &Scenario, jobs: &[AnalysedJob], jitter: &[Duration]) -> Vec<ReleaseRule> {
    // A job that sleeps may still be at it when the next one is released.
    let sleeps = |thread: &HostThread| thread.steps.iter().any(|step| matches!(step, Step::Sleep(_)));
    let is_late = jitter.iter().any(|jitter| *jitter > Duration::ZERO);
    if !is_late || scenario.threads.iter().any(sleeps) {
        return Vec::new();
    }
    let rule = |(number, jitter): (u32, &Duration)| {
        let of_thread = || jobs.iter().enumerate().filter(move |(_, job)| job.thread == number);
        ReleaseRule {
            threads: of_thread().map(|(index, _)| index).collect(),
            arrivals: of_thread().map(|(_, job)| job.released.as_ns()).collect(),
            period: None,
            jitter: jitter.as_ns(),
        }
    };
    (0..).zip(jitter).map(rule).collect()
}

/// A scenario whose runs are searched.
pub(super) struct Base<'s> {
    /// Its threads are the jobs if it is unrolled.
    pub(super) scenario: Cow<'s, Scenario>,
    pub(super) is_unrolled: bool,
    pub(super) jobs: Vec<AnalysedJob>,
    /// The response of each of them in the run of the scenario itself \[ns\], if that was simulated.
    pub(super) own: Option<Vec<Option<u64>>>,
    pub(super) releases: Vec<ReleaseRule>,
    /// Chains of its jobs.
    pub(super) chains: Option<SearchedChains<'s>>,
    /// Whether operations become ready together in a run of it.
    pub(super) has_ready_orders: bool,
}

/// Searches runs of `base`.
pub(super) fn search_from<'s>(
    base: Base<'s>,
    options: &SearchOptions,
    progress: Progress<'_>,
) -> Result<SearchResult<'s>, ProgramError> {
    let Base { scenario: base, is_unrolled, jobs, own: known, releases, chains, has_ready_orders } = base;
    let own = [base.placement];
    let placements = if options.placements.is_empty() { &own[..] } else { &options.placements };
    let owners: Vec<u32> = if is_unrolled { jobs.iter().map(|job| job.thread).collect() } else { Vec::new() };
    let mut freedom = Freedom::new(&base, options.bound, placements, &owners);
    freedom.releases = releases;
    freedom.has_ready_orders = has_ready_orders;
    if options.bound.order == ReleaseOrder::Any {
        let releases_are_given = is_unrolled && freedom.releases.is_empty();
        let jobs = is_unrolled.then_some(&jobs[..]);
        freedom.orders = Orders::open(&base, jobs, releases_are_given, options.runs / 4);
    }
    let found = vec![None; jobs.len() + chains.as_ref().map_or(0, SearchedChains::number)];
    let mut searcher = Searcher {
        result: SearchResult { jobs, runs: 0, base, freedom, found, chains: Vec::new(), known_until: None },
        chains,
        unrolled: is_unrolled,
        own: known,
        seed: options.seed,
        until: options.time_limit.map(|limit| WallTime::now() + limit),
        runs: AtomicU64::new(0),
        progress,
    };
    if has_ready_orders {
        searcher.ready_orders(options.runs / 4)?;
    }
    let mut round = 0;
    loop {
        count_turn();
        searcher.sample(round, options.runs.div_ceil(2))?;
        searcher.climb(round, options.runs / 2, Change::Any)?;
        searcher.climb(round, options.runs, Change::EarlyEnds)?;
        round += 1;
        if searcher.until.is_none() || searcher.is_over() {
            break;
        }
    }
    // Last, so that nothing that was drawn depends on where threads stand in the file.
    let SearchResult { freedom, base, .. } = &searcher.result;
    if let Some(variation) = freedom.declared_run(base) {
        let responses = in_any_case(|| searcher.run(&variation))?;
        searcher.note(&Arc::new(variation), &responses);
    }
    let jobs = searcher.result.jobs.len();
    let mut chains = Vec::new();
    for (number, found) in searcher.result.found.split_off(jobs).into_iter().enumerate() {
        let Some(found) = found else {
            chains.push(None);
            continue;
        };
        let delay = in_any_case(|| searcher.delay(number, &found.variation))?;
        chains.push(delay.map(|delay| (found, delay)));
    }
    let mut result = searcher.result;
    result.runs = searcher.runs.into_inner();
    result.chains = chains;
    let mut known: Vec<_> = result.jobs.into_iter().zip(result.found).collect();
    known.sort_by_key(|(job, _)| (job.thread, job.job));
    (result.jobs, result.found) = known.into_iter().unzip();
    Ok(result)
}

/// Nothing of what was stopped: what was found by then counts.
fn unless_stopped<T>(done: Result<T, ProgramError>) -> Option<Result<T, ProgramError>> {
    match done {
        Err(error) if error.is_stop() => None,
        done => Some(done),
    }
}

struct Searcher<'a, 's> {
    /// What was found of the jobs, and behind them of the chains.
    result: SearchResult<'s>,
    chains: Option<SearchedChains<'s>>,
    unrolled: bool,
    seed: u64,
    until: Option<WallTime>,
    /// What came of the base itself, if that is known.
    own: Option<Vec<Option<u64>>>,
    runs: AtomicU64,
    progress: Progress<'a>,
}

impl Searcher<'_, '_> {
    fn is_over(&self) -> bool {
        effort::check().is_err() || self.until.is_some_and(|until| WallTime::now() >= until)
    }

    /// Numbers that depend on the seed and on what they are for only.
    fn numbers(&self, round: u64, climbing: bool, which: u64) -> ChaCha8Rng {
        let mut numbers = ChaCha8Rng::seed_from_u64(self.seed);
        numbers.set_stream(round << 33 | u64::from(climbing) << 32 | which & 0xffff_ffff);
        numbers
    }

    /// All orders in which what becomes ready together may enter its queues, with everything else as stated, or so many
    /// of them.
    fn ready_orders(&mut self, most: u64) -> Result<(), ProgramError> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let stated = self.result.freedom.placed_as_stated(&self.result.base);
        let mut lists: Vec<Vec<u32>> = vec![Vec::new()];
        let mut next = 0;
        while next < lists.len().min(most) && !self.is_over() {
            count_turn();
            let end = lists.len().min(most).min(next + MOST_TARGETS);
            let here = effort::here();
            let tried: Vec<_> = lists[next..end]
                .par_iter()
                .filter_map(|list| {
                    let mut variation = stated.clone();
                    variation.ready = list.as_slice().into();
                    let ran = here.within(|| self.simulate(&variation));
                    unless_stopped(ran.map(|(responses, choices)| (Arc::new(variation), responses, choices)))
                })
                .collect::<Result<_, ProgramError>>()?;
            next = end;
            for (variation, responses, choices) in tried {
                self.note(&variation, &responses);
                let left = most.saturating_sub(lists.len());
                lists.extend(next_lists(&variation.ready, &choices).take(left));
            }
        }
        Ok(())
    }

    /// Random runs; the first of the first round are as stated, under each of the placements, and then in orders of
    /// simultaneous releases that are likely to be bad.
    fn sample(&mut self, round: u64, runs: u64) -> Result<(), ProgramError> {
        let freedom = &self.result.freedom;
        let stated = match (round, runs) {
            (0, 0) => freedom.placements() as u64,
            (0, _) => freedom.stated_runs(),
            _ => 0,
        };
        // Whatever is held together is compared in the order of the runs: the result is the same.
        let affordable = u64::try_from(MOST_HELD / self.result.jobs.len().max(1)).unwrap_or(CHUNK);
        let chunk = affordable.max(rayon::current_num_threads() as u64).min(CHUNK);
        // As stated, a small scenario is run in any case: of each job some response is known.
        let sure = if self.unrolled { stated.min(freedom.placements() as u64) } else { 0 };
        let mut next = 0;
        while next < runs.max(stated) && (next < sure || !self.is_over()) {
            count_turn();
            let numbers = next..(next + chunk).min(runs.max(stated));
            next = numbers.end;
            let here = effort::here();
            let tried: Vec<_> = numbers
                .into_par_iter()
                .filter_map(|number| {
                    if number >= sure && here.within(|| self.is_over()) {
                        return None;
                    }
                    let SearchResult { freedom, base, .. } = &self.result;
                    let variation = match usize::try_from(number).ok().filter(|_| number < stated) {
                        Some(number) => freedom.stated_run(base, number),
                        None => freedom.draw(base, &mut self.numbers(round, false, number)),
                    };
                    let run = || self.run(&variation);
                    let responses = here.within(|| if number < sure { in_any_case(run) } else { run() });
                    unless_stopped(responses.map(|responses| (Arc::new(variation), responses)))
                })
                .collect::<Result<_, ProgramError>>()?;
            for (variation, responses) in tried {
                self.note(&variation, &responses);
            }
        }
        Ok(())
    }

    fn note(&mut self, variation: &Arc<Variation>, responses: &[Option<u64>]) {
        for (found, response) in self.result.found.iter_mut().zip(responses) {
            let known = found.as_ref().map(|found| found.response);
            if let Some(response) = response.filter(|response| Some(*response) > known) {
                *found = Some(Found { response, variation: Arc::clone(variation) });
            }
        }
    }

    /// The response of every job \[ns\].
    fn run(&self, variation: &Variation) -> Result<Vec<Option<u64>>, ProgramError> {
        let SearchResult { base, freedom, .. } = &self.result;
        let scenario = freedom.vary(base, variation);
        let is_own = matches!(scenario, Cow::Borrowed(_))
            && (variation.placement, variation.seed) == (base.placement, base.seed);
        if let Some(own) = self.own.as_ref().filter(|_| is_own) {
            self.runs.fetch_add(1, Ordering::Relaxed);
            self.progress.advance(1);
            return Ok(own.clone());
        }
        Ok(self.simulate(variation)?.0)
    }

    /// The same, and between how many operations the run chose that might enter a queue next.
    fn simulate(&self, variation: &Variation) -> Result<(Vec<Option<u64>>, Vec<Choice>), ProgramError> {
        let SearchResult { jobs, base, freedom, .. } = &self.result;
        let scenario = freedom.vary(base, variation);
        let run = simulate_placed(&scenario, variation.placement, variation.seed)?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.progress.advance(1);
        let mut responses = vec![None; jobs.len()];
        if self.unrolled {
            let mut arrivals: Vec<Instant> = jobs.iter().map(|job| job.released).collect();
            for (rule, releases) in freedom.releases.iter().zip(&variation.releases) {
                for (&thread, &(arrival, _)) in rule.threads.iter().zip(releases) {
                    arrivals[thread] = Instant::from_ns(arrival);
                }
            }
            for done in run.jobs().begun {
                let job = variation.declared(done.thread) as usize;
                let Some((response, finish)) = responses.get_mut(job).zip(done.finished) else { continue };
                let is_timed = base.threads.get(job).is_some_and(|thread| thread.triggered_by.is_none());
                let arrival = if is_timed { arrivals[job] } else { done.released };
                *response = Some(finish.since(arrival).as_ns());
            }
            for (job, response) in jobs.iter().zip(&mut responses) {
                if !job.complete {
                    *response = None;
                }
            }
        } else {
            for job in run.jobs().begun {
                let key = (variation.declared(job.thread), job.iteration);
                let Ok(index) = jobs.binary_search_by_key(&key, |job| (job.thread, job.job)) else { continue };
                // Those that others release are not released in each run when they are in the scenario's own.
                let is_timed = base.threads.get(key.0 as usize).is_some_and(|thread| thread.triggered_by.is_none());
                let until = base.known_until().filter(|_| !is_timed);
                let response = job.response().map(|response| shown(until, job.released, response));
                responses[index] = response.map(Duration::as_ns);
            }
        }
        let chains = self.chains.iter();
        responses.extend(chains.flat_map(|chains| chains.worst(&run, |origin| self.job_of(variation, origin))));
        Ok((responses, run.trace.ready_choices().to_vec()))
    }

    /// Which job of the scenario an iteration of a run is, and whether it does there all that the job does.
    fn job_of(&self, variation: &Variation, origin: Origin) -> Option<(Origin, bool)> {
        let thread = variation.declared(origin.thread);
        if !self.unrolled {
            return Some((Origin { thread, ..origin }, true));
        }
        let job = self.result.jobs.get(thread as usize)?;
        Some((Origin { thread: job.thread, iteration: job.job }, job.complete))
    }

    /// The longest of number `number` of what is known of chains in a run, which is run once more.
    fn delay(&self, number: usize, variation: &Variation) -> Result<Option<ChainDelay>, ProgramError> {
        let SearchResult { base, freedom, .. } = &self.result;
        let scenario = freedom.vary(base, variation);
        let run = simulate_placed(&scenario, variation.placement, variation.seed)?;
        let job = |origin| self.job_of(variation, origin);
        Ok(self.chains.as_ref().and_then(|chains| chains.delay(number, &run, job)))
    }
}
