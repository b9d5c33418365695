//! Weights of blocks for the bound by work, each choice of which gives a bound: **by context**, where contexts have
//! turns or SMs of their own, as a head is kept out by blocks of its own context only.

use super::model::{Task, TaskSet};
use crate::analysis::safe_bound::{Weights, Work};

/// Weights v of the blocks of all classes.
#[derive(Debug)]
pub(super) struct Choice {
    /// By context, if these have turns or SMs of their own, else of all; then by class.
    of_contexts: Vec<Vec<u64>>,
}

impl Choice {
    /// Of blocks of a class that an operation of the context number `context` has.
    pub(super) fn of(&self, context: usize, class: usize) -> u64 {
        let of_context = self.of_contexts.get(context).or(self.of_contexts.first());
        of_context.and_then(|classes| classes.get(class)).copied().unwrap_or(0)
    }
}

/// Choices for the heads that can hold a job of `task`, with whatever it can have to wait for down to `level`.
pub(super) fn choices(tasks: &TaskSet, weights: &Weights<'_>, task: &Task, level: usize) -> Vec<Choice> {
    let contexts = tasks.contexts.unwrap_or(1).max(1);
    let mut all: Vec<Choice> = (0..2).map(|_| Choice { of_contexts: Vec::with_capacity(contexts) }).collect();
    for context in 0..contexts {
        let by_context = tasks.contexts.is_some();
        // Of contexts of others it counts for how long they have work, with whatever head.
        let waits_here = |task: &Task| task.operations.iter().any(|one| one.context == context);
        let is_own = waits_here(task) || task.reached.iter().flatten().any(|&other| waits_here(&tasks.tasks[other]));
        let any_head = tasks.channels.is_some() || tasks.queues_by_client || by_context && !is_own;
        let of_context = in_both_orders(
            tasks,
            weights,
            |other| !by_context || other == context,
            |other| any_head || other.highest <= level,
        );
        all.iter_mut().zip(of_context).for_each(|(choice, classes)| choice.of_contexts.push(classes));
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
