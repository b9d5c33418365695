//! All orders of simultaneous launches (thesis, chapter 5: the order in which kernels launched together enter the EE
//! queue is unknown, so all cases have to be considered), and of what else becomes ready at one instant.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;
use thiserror::Error;

use super::analyse::{AnalysedKernel, analyse_as_stated};
use super::assumptions::launch_dependence;
use super::search::{Choice, arranged, drawn_choices, next_lists, orders_of};
use crate::broken_bound::BrokenBound;
use crate::effort;
use crate::effort::Progress;
use crate::hosts::{ProgramError, simulate_in_brief};
use crate::joined::Joined;
use crate::limits::count_turn;
use crate::proven::Proven;
use crate::run::Run;
use crate::scenario::{HostThread, KernelLaunch, Scenario};
use crate::time::Instant;
use crate::trace::OperationRecord;
use crate::workload::OperationKind;

/// Orders up to which all are tried: those of 8 host threads.
const MOST_ORDERS: u64 = 40_320;

/// Runs of which all finishes are held until they are compared.
const CHUNK: usize = 256;

/// How the finish times of one order are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The response-time analysis, where it is exact.
    Analysis,
    /// Simulation.
    Simulation,
}

/// Best and worst finish of every kernel over the orders tried.
#[derive(Debug, Clone)]
pub struct LaunchOrders<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Name of the device.
    pub device: &'a str,
    /// How finish times were found.
    pub method: Method,
    /// Orders of host threads, each kept throughout a run, with all orders of what else becomes ready at one instant;
    /// where these are too many to try, about so many. `None` if there are more than 2^64.
    pub orders: Option<u64>,
    /// Orders that were tried; sampled ones may repeat.
    pub orders_tried: u64,
    /// Whether these were all, and nothing of one instant can come in any other order: not if two threads launch
    /// together again and again, so that either may be the first one each time.
    pub exhaustive: bool,
    /// Of the sample, if it is one; `None`: all orders of threads are to be tried.
    pub seed: Option<u64>,
    /// Kernel launches, in the order in which they come when host threads act as declared.
    pub kernels: Vec<OrderedKernel<'a>>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// One kernel launch over all orders; times in ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderedKernel<'a> {
    /// Which launch it is, with its number in a run in which host threads act as declared.
    #[serde(flatten)]
    pub launch: KernelLaunch<'a>,
    /// The earliest finish in any order; `None` if no order has it finish.
    pub best_finish_ns: Option<Instant>,
    /// The latest finish in any order; `None` if some order does not have it finish.
    pub worst_finish_ns: Option<Instant>,
    /// Labels of the host threads in the first order that gives the earliest. Kernels with the same order share it.
    pub best_order: Arc<[&'a str]>,
    /// Labels of the host threads in the first order that gives the latest.
    pub worst_order: Arc<[&'a str]>,
    /// The [`ready_order`](Scenario::ready_order) that gives the earliest.
    pub best_ready_order: Arc<[u32]>,
    /// That of the latest.
    pub worst_ready_order: Arc<[u32]>,
}

/// Why orders cannot be explored.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OrdersError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] ProgramError),
    /// A run exceeds what was found to hold of all runs.
    #[error(transparent)]
    Broken(#[from] BrokenBound),
    /// The orders differ in how many kernels a host thread launches, so there is nothing to compare.
    #[error("the number of kernels that {thread:?} launches depends on the order; limit its iterations, not its time")]
    LaunchesDiffer {
        /// The label.
        thread: String,
    },
}

/// A kernel launch: the host thread as declared, and which of its launches.
type Launch = (u32, u32);

/// Earliest and latest finish of every launch, by launch.
type Extremes = Vec<(Launch, (Found, Found))>;

/// A finish time and the number of the order that gave it.
type Found = (Instant, usize);

/// How many orders there are, if 64 bits hold the number: of threads, and of what becomes ready at one instant in this
/// run, or each as it.
fn number_of_orders(groups: &[Vec<usize>], run: &Run<'_>) -> Option<u64> {
    let of_ready = orders_of(run.trace.ready_choices())?;
    groups.iter().try_fold(of_ready, |product, group| product.checked_mul(factorial(group.len())?))
}

/// How many orders [`launch_orders`] tries; a few more or less if not all runs leave as much open.
pub fn orders_to_try(run: &Run<'_>, samples: u64) -> u64 {
    number_of_orders(&Ties::of(run).groups, run).filter(|&orders| orders <= MOST_ORDERS).unwrap_or(samples.max(1))
}

/// An order: the number of that of the threads, and who is the next each time of those that become ready at one
/// instant.
type Order = (u64, Vec<u32>);

/// Explores the orders in which host threads act that are first released at one instant, or launch at one instant in
/// the scenario's own run, and those in which operations enter their queues that become ready at one instant. If there
/// are more than 40320 (those of 8 threads), `samples` of them are tried: that of the scenario itself, and others drawn
/// at random. Uses rayon's current thread pool; the result does not depend on its size. How many orders have been tried
/// is in `progress`. If it is [stopped](crate::effort), the orders that were tried by then count.
///
/// # Errors
/// [`OrdersError`].
pub fn launch_orders<'s>(
    run: &'s Run<'_>,
    samples: u64,
    seed: u64,
    progress: Progress<'_>,
) -> Result<LaunchOrders<'s>, OrdersError> {
    let scenario: &'s Scenario = &run.scenario;
    let analysis = analyse_as_stated(scenario)?;
    analysis.check_run(&run.trace)?;
    let method = if analysis.exact { Method::Analysis } else { Method::Simulation };
    let Ties { groups, left_out } = Ties::of(run);
    let mut orders = number_of_orders(&groups, run);
    let all = orders.is_some_and(|orders| orders <= MOST_ORDERS);
    let mut plan = Plan::new(run, groups, (!all).then_some(samples), seed);
    let Explored { extremes, complete, has_more } = plan.explore(method, progress)?;
    let tried = plan.len() as u64;
    if all && !has_more {
        orders = Some(tried);
    }
    if complete == 0 {
        effort::check().map_err(ProgramError::from)?;
    }

    let label = |thread: usize| &*scenario.threads[thread].label;
    let mut told = FxHashMap::default();
    let mut told = |number| {
        let in_words = || {
            let (threads, ready) = plan.order(number);
            (threads.into_iter().map(label).collect::<Arc<[_]>>(), Arc::from(ready))
        };
        told.entry(number).or_insert_with(in_words).clone()
    };
    let known = |finish: Instant| (finish < Instant::MAX).then_some(finish);
    let mut position: BTreeMap<u32, u32> = BTreeMap::new();
    let mut kernels = Vec::new();
    for kernel in &analysis.kernels {
        let nth = position.entry(kernel.launch.benchmark).or_default();
        let found = extremes.binary_search_by_key(&(kernel.launch.benchmark, *nth), |(launch, _)| *launch);
        *nth += 1;
        let Ok(place) = found else { continue };
        let (_, ((best, best_number), (worst, worst_number))) = extremes[place];
        let ((best_order, best_ready_order), (worst_order, worst_ready_order)) =
            (told(best_number), told(worst_number));
        kernels.push(OrderedKernel {
            launch: kernel.launch,
            best_finish_ns: known(best),
            worst_finish_ns: known(worst),
            best_order,
            worst_order,
            best_ready_order,
            worst_ready_order,
        });
    }
    let mut notes = analysis.notes;
    if complete < tried {
        notes.push(format!("stopped after {complete} of {tried} orders: best and worst are of those"));
    } else if !all {
        notes.push(format!(
            "the scenario's own order and {} drawn at random (seed {seed}): best and worst are not certain",
            tried - 1
        ));
    }
    if has_more {
        notes.push(format!(
            "more than {MOST_ORDERS} orders, as runs differ in what becomes ready at one instant: best and worst are not certain"
        ));
    }
    let exhaustive = all && !has_more && complete == tried && left_out.is_empty();
    notes.extend(left_out.into_iter().map(|what| format!("best and worst are not certain: {what}")));
    Ok(LaunchOrders {
        scenario: &scenario.name,
        device: &scenario.device().name,
        method,
        orders,
        orders_tried: complete,
        exhaustive,
        seed: (!all).then_some(seed),
        kernels,
        notes,
    })
}

/// The orders to try.
struct Plan<'s> {
    scenario: &'s Scenario,
    groups: Vec<Vec<usize>>,
    /// All that are known so far; empty if some are drawn.
    known: Vec<Order>,
    /// How many are drawn, if they are.
    drawn: usize,
    seed: u64,
    /// Whether operations become ready together in the scenario's own run.
    is_open: bool,
}

/// What came of them.
struct Explored {
    extremes: Extremes,
    /// Orders that were tried.
    complete: u64,
    /// Whether there are more than were planned.
    has_more: bool,
}

impl<'s> Plan<'s> {
    /// All orders, or so many that are drawn.
    fn new(run: &'s Run<'_>, groups: Vec<Vec<usize>>, samples: Option<u64>, seed: u64) -> Self {
        let of_threads = groups.iter().try_fold(1_u64, |product, group| product.checked_mul(factorial(group.len())?));
        // Each with the first choices; the others follow from what was to choose between.
        let known = of_threads
            .filter(|_| samples.is_none())
            .into_iter()
            .flat_map(|all| (0..all).map(|number| (number, Vec::new())));
        let drawn = samples.map_or(0, |samples| usize::try_from(samples.max(1)).unwrap_or(usize::MAX));
        let is_open = !run.trace.ready_choices().is_empty();
        Self { scenario: &run.scenario, known: known.collect(), groups, drawn, seed, is_open }
    }

    fn len(&self) -> usize {
        self.drawn.max(self.known.len())
    }

    /// The order of the threads, and of what becomes ready together. The first is always the scenario's own, so that
    /// nothing found is better or worse than what a run shows.
    fn order(&self, number: usize) -> (Vec<usize>, Vec<u32>) {
        let Self { scenario, groups, known, .. } = self;
        match known.get(number) {
            Some((of_threads, ready)) => (numbered(groups, scenario.threads.len(), *of_threads), ready.clone()),
            None if number == 0 => (numbered(groups, scenario.threads.len(), 0), scenario.ready_order.to_vec()),
            None => drawn(groups, scenario, self.is_open, (self.seed, number as u64)),
        }
    }

    fn explore(&mut self, method: Method, progress: Progress<'_>) -> Result<Explored, OrdersError> {
        let here = effort::here();
        let mut explored = Explored { extremes: Extremes::new(), complete: 0, has_more: false };
        let mut next = 0;
        // The rest is left at once.
        while next < self.len() && here.within(effort::check).is_ok() {
            count_turn();
            let end = self.len().min(next + CHUNK);
            let plan = &*self;
            let tried: Vec<Option<(Extremes, Vec<Choice>)>> = (next..end)
                .into_par_iter()
                .map_init(
                    || plan.scenario.clone(),
                    |permuted, number| {
                        let order = plan.order(number);
                        let (finishes, choices) = match here.within(|| finishes(plan.scenario, permuted, order, method))
                        {
                            // What was tried by then counts.
                            Err(OrdersError::Run(error)) if error.is_stop() => return Ok(None),
                            finishes => finishes?,
                        };
                        progress.advance(1);
                        let alike = |(launch, finish)| (launch, ((finish, number), (finish, number)));
                        let mut extremes: Extremes = finishes.into_iter().map(alike).collect();
                        extremes.sort_unstable_by_key(|(launch, _)| *launch);
                        Ok(Some((extremes, choices)))
                    },
                )
                .collect::<Result<_, OrdersError>>()?;
            for (number, tried) in (next..).zip(tried) {
                let Some((own, choices)) = tried else { continue };
                explored.complete += 1;
                explored.extremes = merged(self.scenario, explored.extremes, &own)?;
                let Some((of_threads, ready)) = self.known.get(number).cloned() else { continue };
                for list in next_lists(&ready, &choices) {
                    explored.has_more |= self.known.len() as u64 >= MOST_ORDERS;
                    if explored.has_more {
                        break;
                    }
                    self.known.push((of_threads, list));
                }
            }
            next = end;
        }
        Ok(explored)
    }
}

fn factorial(n: usize) -> Option<u64> {
    (1..=n as u64).try_fold(1_u64, u64::checked_mul)
}

/// Order number `number` of all orders: a number to a mixed base, whose digits say which of the remaining threads of a
/// group comes next. Number 0 is the order of declaration.
fn numbered(groups: &[Vec<usize>], threads: usize, mut number: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..threads).collect();
    for group in groups {
        let mut left = group.clone();
        for &place in group {
            let choices = left.len() as u64;
            // Below the length of a vector.
            let chosen = usize::try_from(number % choices).unwrap_or(0);
            number /= choices;
            order[place] = left.remove(chosen);
        }
    }
    order
}

/// An order drawn at random; of what becomes ready at one instant if that is open.
fn drawn(
    groups: &[Vec<usize>],
    scenario: &Scenario,
    is_open: bool,
    (seed, number): (u64, u64),
) -> (Vec<usize>, Vec<u32>) {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    numbers.set_stream(number);
    let order = arranged(groups, scenario.threads.len(), |group| group.shuffle(&mut numbers));
    let ready = if is_open { drawn_choices(&mut numbers).to_vec() } else { Vec::new() };
    (order, ready)
}

/// The finish of every launch, [`Instant::MAX`] for none, and what a run chose.
type Finishes = (Vec<(Launch, Instant)>, Vec<Choice>);

/// They when the threads are declared in an order, and operations become ready in another one.
fn finishes(
    scenario: &Scenario,
    permuted: &mut Scenario,
    (order, ready): (Vec<usize>, Vec<u32>),
    method: Method,
) -> Result<Finishes, OrdersError> {
    permuted.ready_order = ready.into();
    permuted.threads.clear();
    permuted.threads.extend(order.iter().map(|&thread| scenario.threads[thread].placed(&order)));
    let mut launches = vec![0_u32; order.len()];
    let mut launch = |thread: u32| {
        let declared = order[thread as usize];
        launches[declared] += 1;
        (u32::try_from(declared).proven("32 bits count threads"), launches[declared] - 1)
    };
    Ok(match method {
        Method::Analysis => {
            let kernels = analyse_as_stated(permuted)?.kernels;
            let finish = |kernel: &AnalysedKernel<'_>| {
                (launch(kernel.launch.benchmark), kernel.finish_ns.unwrap_or(Instant::MAX))
            };
            (kernels.iter().map(finish).collect(), Vec::new())
        }
        Method::Simulation => {
            let trace = simulate_in_brief(permuted)?.trace;
            let kernels = trace.operations().iter().filter(|record| matches!(record.kind, OperationKind::Kernel(_)));
            let finish =
                kernels.map(|record| (launch(record.origin.thread), record.finish().unwrap_or(Instant::MAX))).collect();
            (finish, trace.ready_choices().to_vec())
        }
    })
}

/// The extremes of both; of equal ones those of the lower number.
fn merged(scenario: &Scenario, mut one: Extremes, other: &Extremes) -> Result<Extremes, OrdersError> {
    // Nothing was tried where the search was stopped.
    if one.is_empty() || other.is_empty() {
        return Ok(if one.is_empty() { other.clone() } else { one });
    }
    let worse = |(finish, number): Found| (finish, std::cmp::Reverse(number));
    for ((launch, (best, worst)), (same, (other_best, other_worst))) in one.iter_mut().zip(other) {
        if launch != same {
            return Err(launches_differ(scenario, (*launch).min(*same)));
        }
        *best = (*best).min(*other_best);
        if worse(*other_worst) > worse(*worst) {
            *worst = *other_worst;
        }
    }
    let more = if one.len() > other.len() { one.get(other.len()) } else { other.get(one.len()) };
    match more {
        Some(&(launch, _)) => Err(launches_differ(scenario, launch)),
        None => Ok(one),
    }
}

fn launches_differ(scenario: &Scenario, (thread, _): Launch) -> OrdersError {
    let label = scenario.threads.get(thread as usize).map_or("", |thread| &thread.label);
    OrdersError::LaunchesDiffer { thread: label.to_owned() }
}

/// Threads whose order matters, and what orders of threads leave out.
#[derive(Debug)]
struct Ties {
    /// Two threads or more each, by index, ascending: each of a group is tied to another one of it.
    groups: Vec<Vec<usize>>,
    /// What may come in an order that no order of threads has.
    left_out: Vec<String>,
}

impl Ties {
    /// Of threads that are released together at first, or that launch at one instant in this run.
    fn of(run: &Run<'_>) -> Self {
        let scenario: &Scenario = &run.scenario;
        let mut sets = Joined::new(scenario.threads.len());
        let (mut meets_again, mut is_mixed) = (false, false);
        let mut launches: BTreeMap<Instant, Vec<&OperationRecord>> = BTreeMap::new();
        for record in run.trace.operations() {
            launches.entry(record.launched()).or_default().push(record);
        }
        for together in launches.values() {
            let mut threads: Vec<usize> = together.iter().map(|record| record.origin.thread as usize).collect();
            threads.sort_unstable();
            threads.dedup();
            let Some((first, others)) = threads.split_first() else { continue };
            // Orders that are chosen at each instant make one order of all threads if no two of them meet twice, not by
            // way of others either: then these instants and threads are a forest.
            for other in others {
                meets_again |= !sets.join(*first, *other);
            }
            is_mixed |= !others.is_empty() && may_mix(scenario, together);
        }
        let mut released = BTreeMap::new();
        let timed = |(_, program): &(usize, &HostThread)| program.triggered_by.is_none();
        for (thread, program) in scenario.threads.iter().enumerate().filter(timed) {
            let first: &mut usize = released.entry(program.release).or_insert(thread);
            sets.join(*first, thread);
        }
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for thread in 0..scenario.threads.len() {
            groups.entry(sets.of(thread)).or_default().push(thread);
        }
        let groups = groups.into_values().filter(|group| group.len() > 1).collect();
        let mut left_out = Vec::new();
        if meets_again {
            left_out.push(
                "each order is kept throughout a run, and threads that meet again may come in another one".to_owned(),
            );
        }
        if is_mixed {
            left_out.push(
                "what one thread launches at one instant is kept together, and others may come in between".to_owned(),
            );
        }
        if scenario.threads.len() > 1
            && let Some(dependence) = launch_dependence(scenario)
        {
            let thread = dependence.thread;
            left_out
                .push(format!("{thread:?} may launch together with others at instants that this run does not have"));
        }
        Self { groups, left_out }
    }
}

/// Whether it may matter that what threads launch at one instant comes in turns: not if each launches one operation, or
/// kernels and copies into one stream for itself, of which only the first enters a queue.
fn may_mix(scenario: &Scenario, together: &[&OperationRecord]) -> bool {
    let mut stream_of = BTreeMap::new();
    let mut number = BTreeMap::<u32, usize>::new();
    for record in together {
        *number.entry(record.origin.thread).or_default() += 1;
    }
    let is_plain = |record: &OperationRecord| {
        let is_event = matches!(record.kind, OperationKind::Record(_) | OperationKind::Wait(_));
        !is_event && !scenario.catalogue.is_null_stream(record.stream)
    };
    let mut has_own = |record: &&OperationRecord| {
        let own = *stream_of.entry(record.origin.thread).or_insert(record.stream);
        own == record.stream
    };
    let all_have_own = together.iter().all(&mut has_own);
    let mut streams: Vec<_> = stream_of.values().copied().collect();
    streams.sort_unstable();
    streams.dedup();
    let is_shared = streams.len() < stream_of.len();
    let are_several = number.values().any(|number| *number > 1);
    are_several && !(all_have_own && !is_shared && together.iter().all(|record| is_plain(record)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_orders_are_all_different_and_keep_other_threads_in_place() {
        let groups = vec![vec![0, 2, 3], vec![4, 5]];
        let orders: std::collections::BTreeSet<_> = (0..12).map(|number| numbered(&groups, 6, number)).collect();
        assert_eq!(orders.len(), 12);
        assert!(orders.iter().all(|order| order[1] == 1));
    }
}
