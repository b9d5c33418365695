//! All orders of simultaneous launches (thesis, chapter 5: the order in which kernels launched together enter the EE
//! queue is unknown, so all cases have to be considered).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use thiserror::Error;

use super::analyse::analyse_as_stated;
use crate::broken_bound::BrokenBound;
use crate::effort;
use crate::effort::Progress;
use crate::hosts::{ProgramError, simulate};
use crate::proven::Proven;
use crate::run::Run;
use crate::scenario::{KernelLaunch, Scenario};
use crate::time::Instant;
use crate::workload::OperationKind;

mod ties;

use ties::Ties;

/// Orders up to which all are tried: those of 8 host threads.
const MOST_ORDERS: u64 = 40_320;

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
    /// Orders of host threads, each kept throughout a run; `None` if there are more than 2^64.
    pub orders: Option<u64>,
    /// Orders that were tried; sampled ones may repeat.
    pub orders_tried: u64,
    /// Whether these were all, and no launches of one instant can come in any other order: not if two threads launch
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
    /// Labels of the host threads in the first order that gives the earliest.
    pub best_order: Vec<&'a str>,
    /// Labels of the host threads in the first order that gives the latest.
    pub worst_order: Vec<&'a str>,
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
type Found = (Instant, u64);

/// How many orders there are, if 64 bits hold the number.
fn number_of_orders(groups: &[Vec<usize>]) -> Option<u64> {
    groups.iter().try_fold(1_u64, |product, group| product.checked_mul(factorial(group.len())?))
}

/// How many orders [`launch_orders`] tries.
pub fn orders_to_try(run: &Run<'_>, samples: u64) -> u64 {
    number_of_orders(&Ties::of(run).groups).filter(|&orders| orders <= MOST_ORDERS).unwrap_or(samples.max(1))
}

/// Explores the orders in which host threads act that are first released at one instant, or launch at one instant in
/// the scenario's own run. If there are more than 40320 (those of 8 threads), `samples` of them are tried: that of the
/// scenario itself, and others drawn at random. Uses rayon's current thread pool; the result does not depend on its
/// size. How many orders have been tried is in `progress`. If it is [stopped](crate::effort), the orders that were
/// tried by then count.
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
    let orders = number_of_orders(&groups);
    let all = orders.is_some_and(|orders| orders <= MOST_ORDERS);
    let tried = orders.filter(|_| all).unwrap_or(samples.max(1));
    let order = |number: u64| {
        // The first is always the scenario's own, so that nothing found is better or worse than what a run shows.
        if all || number == 0 {
            numbered(&groups, scenario.threads.len(), number)
        } else {
            drawn(&groups, scenario, seed, number)
        }
    };
    let (here, complete) = (effort::here(), AtomicU64::new(0));
    let extremes = (0..tried)
        .into_par_iter()
        // The rest is left at once.
        .take_any_while(|_| here.within(effort::check).is_ok())
        .map_init(
            || scenario.clone(),
            |permuted, number| {
                let finishes = match here.within(|| finishes(scenario, permuted, &order(number), method)) {
                    // What was tried by then counts.
                    Err(OrdersError::Run(error)) if error.is_stop() => return Ok(Extremes::new()),
                    finishes => finishes?,
                };
                complete.fetch_add(1, Ordering::Relaxed);
                progress.advance(1);
                let alike = |(launch, finish)| (launch, ((finish, number), (finish, number)));
                let mut extremes: Extremes = finishes.into_iter().map(alike).collect();
                extremes.sort_unstable_by_key(|(launch, _)| *launch);
                Ok(extremes)
            },
        )
        .try_reduce_with(|one, other| merged(scenario, one, &other))
        .transpose()?
        .unwrap_or_default();
    let complete = complete.into_inner();
    if complete == 0 {
        effort::check().map_err(ProgramError::from)?;
    }

    let labels = |number: u64| order(number).into_iter().map(|thread| &*scenario.threads[thread].label).collect();
    let known = |finish: Instant| (finish < Instant::MAX).then_some(finish);
    let mut position: BTreeMap<u32, u32> = BTreeMap::new();
    let mut kernels = Vec::new();
    for kernel in &analysis.kernels {
        let nth = position.entry(kernel.launch.benchmark).or_default();
        let found = extremes.binary_search_by_key(&(kernel.launch.benchmark, *nth), |(launch, _)| *launch);
        *nth += 1;
        let Ok(place) = found else { continue };
        let (_, ((best, best_number), (worst, worst_number))) = extremes[place];
        kernels.push(OrderedKernel {
            launch: kernel.launch,
            best_finish_ns: known(best),
            worst_finish_ns: known(worst),
            best_order: labels(best_number),
            worst_order: labels(worst_number),
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
    let exhaustive = all && complete == tried && left_out.is_empty();
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

fn drawn(groups: &[Vec<usize>], scenario: &Scenario, seed: u64, number: u64) -> Vec<usize> {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    numbers.set_stream(number);
    let mut order: Vec<usize> = (0..scenario.threads.len()).collect();
    for group in groups {
        let mut shuffled = group.clone();
        shuffled.shuffle(&mut numbers);
        for (&place, thread) in group.iter().zip(shuffled) {
            order[place] = thread;
        }
    }
    order
}

/// The finish of every launch when the threads are declared in `order`; [`Instant::MAX`] for none.
fn finishes(
    scenario: &Scenario,
    permuted: &mut Scenario,
    order: &[usize],
    method: Method,
) -> Result<Vec<(Launch, Instant)>, OrdersError> {
    permuted.threads.clear();
    permuted.threads.extend(order.iter().map(|&thread| scenario.threads[thread].clone()));
    let mut launches = vec![0_u32; order.len()];
    let mut launch = |thread: u32| {
        let declared = order[thread as usize];
        launches[declared] += 1;
        (u32::try_from(declared).proven("32 bits count threads"), launches[declared] - 1)
    };
    Ok(match method {
        Method::Analysis => analyse_as_stated(permuted)?
            .kernels
            .iter()
            .map(|kernel| (launch(kernel.launch.benchmark), kernel.finish_ns.unwrap_or(Instant::MAX)))
            .collect(),
        Method::Simulation => simulate(permuted)?
            .trace
            .operations()
            .iter()
            .filter(|record| matches!(record.kind, OperationKind::Kernel(_)))
            .map(|record| (launch(record.origin.thread), record.finish().unwrap_or(Instant::MAX)))
            .collect(),
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
