//! Responses that bound one another.

use super::model::TaskSet;
use super::phases;
use super::window::Windows;
use crate::analysis::safe_bound::Weights;

/// Rounds of raising the responses; each raises one of them by a nanosecond at least.
const MOST_ROUNDS: u32 = 10_000;

/// Explorations by task after which bounds are those of the window alone.
const MOST_EXPLORED: usize = 24;

/// Bounds the response of every task, from the arrival of a job to the end of its last operation \[ns\]; `None`: it may
/// be beyond its period. Bounds hold of the tasks that have one, whatever the others do.
pub(super) fn responses(tasks: &TaskSet, weights: &Weights<'_>) -> Vec<Option<u64>> {
    let windows = Windows::new(tasks, weights);
    let mut explorations = MOST_EXPLORED * tasks.tasks.len();
    let explored = fixed_point(tasks, |task, responses| {
        let by_window = windows.bound(task, responses);
        if by_window.is_some_and(|bound| responses[task].is_some_and(|response| bound <= response)) || explorations == 0
        {
            return by_window;
        }
        explorations -= 1;
        let by_orders = phases::bound(tasks, weights, task, responses);
        by_orders.into_iter().chain(by_window).min()
    });
    if explored.iter().all(Option::is_some) {
        return explored;
    }
    let by_window = fixed_point(tasks, |task, responses| windows.bound(task, responses));
    explored.into_iter().zip(by_window).map(|(one, other)| one.into_iter().chain(other).min()).collect()
}

/// The least responses of which each is no less than its `bound` by all, without those that are beyond their period.
fn fixed_point(tasks: &TaskSet, mut bound: impl FnMut(usize, &[Option<u64>]) -> Option<u64>) -> Vec<Option<u64>> {
    // Every response takes its jitter at least; a bound only grows when another does.
    let mut responses: Vec<Option<u64>> = tasks.tasks.iter().map(|task| Some(task.jitter)).collect();
    for _ in 0..MOST_ROUNDS {
        let mut grew = false;
        for (index, task) in tasks.tasks.iter().enumerate() {
            let Some(response) = responses[index] else { continue };
            let bound = bound(index, &responses).filter(|bound| *bound <= task.period);
            if bound.is_none_or(|bound| bound > response) {
                responses[index] = bound;
                grew = true;
            }
        }
        if !grew {
            return responses;
        }
    }
    vec![None; tasks.tasks.len()]
}
