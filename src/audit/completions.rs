//! In which order operations complete that complete at one instant.

use super::facts::Facts;
use super::observation::{Observation, ObservedWork};
use super::readiness::{Readiness, derive};
use super::stamp::Clocks;

/// When each operation was ready to enter its EE or CE queue.
///
/// On an exact clock even the order within one instant counts: what completes at one instant does so in the order in
/// which it was assigned, copies (by engine) before kernels, kernels by priority and then by their place in the queue.
/// That place in turn depends on the completions of earlier instants, so the order is found step by step: each round
/// settles at least one more instant.
pub(super) fn readiness(observation: &Observation, facts: &[Facts], clocks: &Clocks) -> Vec<Readiness> {
    let mut ranks = vec![0; facts.len()];
    let mut ready = derive(observation, facts, clocks, &ranks);
    if !clocks.exact {
        return ready;
    }
    for _ in 0..=facts.len() {
        let next = rank(observation, facts, &ready);
        if next == ranks {
            break;
        }
        ranks = next;
        ready = derive(observation, facts, clocks, &ranks);
    }
    ready
}

/// Ranks of completions, from 1, in the order of time and, at one instant, of assignment.
fn rank(observation: &Observation, facts: &[Facts], ready: &[Readiness]) -> Vec<u64> {
    let mut order: Vec<(_, usize)> = Vec::new();
    for (index, operation) in observation.operations.iter().enumerate() {
        let Some(finish) = facts[index].finish else { continue };
        let (last, kind, level) = match &operation.work {
            ObservedWork::Kernel(kernel) => {
                let ending = kernel.blocks.times.iter().filter(|[_, end]| *end == finish);
                (ending.map(|[start, _]| *start).max(), 1, i64::from(facts[index].priority))
            }
            ObservedWork::Copy(copy) => (facts[index].first_start, 0, i64::from(copy.engine)),
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) => continue,
        };
        order.push(((finish, last, kind, level, ready[index].lo.gpu), index));
    }
    order.sort_unstable();
    let mut ranks = vec![0; facts.len()];
    for (rank, (_, index)) in (1..).zip(order) {
        ranks[index] = rank;
    }
    ranks
}
