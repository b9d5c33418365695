//! Long and short schedules for more warps than exact search can take: what the worst case is at least, and the best
//! case at most.

use super::bound::{best_case_bound, bound};
use super::histogram::{Histogram, Pick};
use super::kernel_string::KernelString;
use super::schedule::{Naming, Schedule};
use super::search::{MakespanSearch, Objective, SearchLimits, SearchSize};
use crate::effort::Progress;
use crate::limits::{count_turn, count_turns};

/// A work-conserving schedule, found without going through all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constructed {
    /// Its makespan: the worst case is at least this, the best case at most \[cycles\].
    pub cycles: u64,
    /// The schedule.
    pub schedule: Schedule,
}

/// Memory for the exact search over the last few warps \[bytes\].
const TAIL_BYTES: u64 = 1 << 20;
/// The largest schedule that is built \[steps of all warps\].
const MAX_STEPS_OF_ALL: u64 = 10_000_000;
/// How many steps may be simulated over all orders that are tried.
const WORK: u64 = 50_000_000;
/// Turns of a loop that a cycle takes, and as many again for each step.
const CYCLE: usize = 100;

/// Looks for a long schedule, or a short one: the scheduler prefers warps by the step that they are at, in an order
/// that is kept until few warps are left, whose worst (or best) case is found exactly. Orders are tried until one
/// reaches the proven [`bound`] or `best_case_bound` (then the worst or best case is known), all are tried, or enough
/// work was done. The same result in every run.
///
/// `None` where even that would be too large: more than ten million steps.
pub fn construct(string: &KernelString, warps: u32, objective: Objective) -> Option<Constructed> {
    let steps_of_all = u64::from(warps) * string.len() as u64;
    if steps_of_all > MAX_STEPS_OF_ALL {
        return None;
    }
    let limits = SearchLimits { memory_bytes: TAIL_BYTES, time: None };
    let fits = |warps: &u32| SearchSize::of(string, *warps).bytes.is_some_and(|bytes| bytes <= TAIL_BYTES);
    let tail_warps = (0..=warps.min(MAX_TAIL_WARPS)).rev().find(fits)?;
    let tail = MakespanSearch::run(string, tail_warps, objective, &limits, Progress::NONE).ok()?;
    let goal = match objective {
        Objective::WorstCase => bound(string, warps).cycles,
        Objective::BestCase => best_case_bound(string, warps),
    };
    let mut best: Option<(u64, Vec<usize>)> = None;
    let mut work = 0;
    let mut order: Vec<usize> = (0..string.len()).collect();
    loop {
        count_turn();
        let cycles = run(string, warps, &order, &tail, None);
        if best.as_ref().is_none_or(|&(known, _)| objective.prefers(cycles, known)) {
            best = Some((cycles, order.clone()));
        }
        work += steps_of_all.saturating_mul(string.len() as u64);
        if cycles == goal || work > WORK || !next_order(string, &mut order) {
            break;
        }
    }
    let (cycles, order) = best?;
    let mut naming = Naming::new(string, warps);
    run(string, warps, &order, &tail, Some(&mut naming));
    Some(Constructed { cycles, schedule: naming.finish() })
}

/// Beyond this, a longer exact tail changes nothing that was seen.
const MAX_TAIL_WARPS: u32 = 12;

/// The makespan under one order of preference, with the worst case of the last warps.
fn run(
    string: &KernelString,
    warps: u32,
    order: &[usize],
    tail: &MakespanSearch<'_>,
    mut naming: Option<&mut Naming>,
) -> u64 {
    let mut histogram = Histogram::start(string, warps);
    let mut picks: Vec<Pick> = Vec::new();
    let mut cycles = 0;
    while histogram.unfinished() > tail.reached() {
        count_turns(CYCLE + CYCLE * order.len());
        picks.clear();
        let mut room: Vec<u32> = string.units().iter().map(|kind| kind.capacity).collect();
        let (held, free): (Vec<usize>, Vec<usize>) = order.iter().partition(|&&step| string.steps()[step].held);
        for step in held.into_iter().chain(free) {
            let room = &mut room[string.steps()[step].unit];
            let served = histogram.ready(step).min(*room);
            if served > 0 {
                *room -= served;
                picks.push(Pick { step, warps: served });
            }
        }
        histogram.apply(&picks);
        cycles += 1;
        if let Some(naming) = naming.as_deref_mut() {
            naming.cycle(picks.iter().copied());
        }
    }
    cycles += tail.cycles_from(&histogram);
    if let Some(naming) = naming {
        tail.follow(&mut histogram, naming);
    }
    cycles
}

/// The next order in which the steps of some unit stand differently; false after the last. Only the order among steps
/// of one unit matters, so steps keep to the places of their unit.
fn next_order(string: &KernelString, order: &mut [usize]) -> bool {
    for unit in 0..string.units().len() {
        let places: Vec<usize> = (0..order.len()).filter(|&place| string.steps()[place].unit == unit).collect();
        let mut steps: Vec<usize> = places.iter().map(|&place| order[place]).collect();
        let more = next_permutation(&mut steps);
        places.iter().zip(&steps).for_each(|(&place, &step)| order[place] = step);
        if more {
            return true;
        }
    }
    false
}

/// The lexicographically next permutation; false, and the first one, after the last.
fn next_permutation(items: &mut [usize]) -> bool {
    let Some(pivot) = items.windows(2).rposition(|pair| pair[0] < pair[1]) else {
        items.reverse();
        return false;
    };
    // The pivot has a larger item behind it: its neighbour.
    let larger = items.iter().rposition(|&item| item > items[pivot]).unwrap_or(pivot + 1);
    items.swap(pivot, larger);
    items[pivot + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_permutation_comes_once() {
        let mut items = vec![0, 1, 2, 3];
        let mut seen = std::collections::BTreeSet::from([items.clone()]);
        while next_permutation(&mut items) {
            assert!(seen.insert(items.clone()));
        }
        assert_eq!((seen.len(), items), (24, vec![0, 1, 2, 3]));
    }
}
