//! Weights of blocks for the bound by work, each choice of which gives a bound: **by context**, where contexts have
//! turns or SMs of their own, as a head is kept out by blocks of its own context only.

use super::model::{Task, TaskSet};
use crate::analysis::safe_bound::{Weights, Work};

/// Weights v of the blocks of all classes.
#[derive(Debug)]
pub(super) struct Choice {
    /// By context, if these have turns or SMs of their own, else of all; then by class: against heads that can hold the
    /// job.
    of_contexts: Vec<Vec<u64>>,
    /// The same against any head of a context that has turns, which keeps these going.
    of_turns: Vec<Vec<u64>>,
}

impl Choice {
    /// Of blocks of a class that an operation of the context number `context` has.
    pub(super) fn of(&self, context: usize, class: usize) -> u64 {
        Self::weight(&self.of_contexts, context, class)
    }

    /// The same while the context has turns, for whatever head.
    pub(super) fn of_turns(&self, context: usize, class: usize) -> u64 {
        Self::weight(&self.of_turns, context, class)
    }

    fn weight(contexts: &[Vec<u64>], context: usize, class: usize) -> u64 {
        let of_context = contexts.get(context).or(contexts.first());
        of_context.and_then(|classes| classes.get(class)).copied().unwrap_or(0)
    }
}

/// Choices for the heads that can hold a job which waits for nothing below `level`.
pub(super) fn choices(tasks: &TaskSet, weights: &Weights<'_>, level: usize) -> Vec<Choice> {
    let contexts = tasks.contexts.unwrap_or(1).max(1);
    let mut all: Vec<Choice> = (0..2).map(|_| Choice { of_contexts: Vec::new(), of_turns: Vec::new() }).collect();
    for context in 0..contexts {
        let by_context = tasks.contexts.is_some();
        let is_met = |other: usize| !by_context || other == context;
        let any_head = tasks.channels.is_some() || tasks.queues_by_client;
        let of_context = in_both_orders(tasks, weights, is_met, |other| any_head || other.highest <= level);
        all.iter_mut().zip(of_context).for_each(|(choice, classes)| choice.of_contexts.push(classes));
        if tasks.turns.is_some() {
            let of_turns = in_both_orders(tasks, weights, is_met, |_| true);
            all.iter_mut().zip(of_turns).for_each(|(choice, classes)| choice.of_turns.push(classes));
        }
    }
    all
}

/// Weights of the classes of such processes, those with the most work lowered first or last; `is_head` tells of which
/// tasks kernels can be heads.
fn in_both_orders(
    tasks: &TaskSet,
    weights: &Weights<'_>,
    is_met: impl Fn(usize) -> bool,
    is_head: impl Fn(&Task) -> bool,
) -> [Vec<u64>; 2] {
    let mut work: Vec<Option<u128>> = vec![None; tasks.classes.len()];
    let mut heads = vec![false; tasks.classes.len()];
    for other in &tasks.tasks {
        for operation in other.operations.iter().filter(|one| is_met(one.context)) {
            if let Work::Kernel { class, blocks, block_time, .. } = operation.work {
                // What the class adds in a given time, but for a factor.
                let more =
                    u128::from(blocks) * u128::from(block_time.as_ns()) * (1 << 40) / u128::from(other.period.max(1));
                work[class] = Some(work[class].unwrap_or(0) + more);
                heads[class] |= is_head(other);
            }
        }
    }
    let mut order: Vec<usize> = (0..tasks.classes.len()).filter(|&class| work[class].is_some()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(work[class]));
    let many = vec![u64::MAX; tasks.classes.len()];
    let first = weights.lowered(&order, &heads, &many);
    order.reverse();
    [first, weights.lowered(&order, &heads, &many)]
}
