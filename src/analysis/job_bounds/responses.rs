//! Responses that bound one another.

use super::model::TaskSet;
use super::phases::{self, Ends, last, smaller};
use super::segments::Segments;
use super::window::Windows;
use crate::analysis::safe_bound::Weights;
use crate::effort;

/// Rounds of raising the responses; each raises one of them by a nanosecond at least.
const MOST_ROUNDS: u32 = 10_000;

/// Explorations by task after which bounds are those of the window alone.
const MOST_EXPLORED: usize = 24;

/// By when each operation and pause of every task's jobs has ended, from the arrival of a job \[ns\]; `None`: it may
/// take longer than is allowed. Bounds hold of the tasks that have one, whatever the others do.
pub(super) fn ends(tasks: &TaskSet, weights: &Weights<'_>) -> Vec<Option<Ends>> {
    let windows = Windows::new(tasks, weights);
    let segments: Vec<Option<Segments>> = tasks.tasks.iter().map(Segments::of).collect();
    let mut explorations = MOST_EXPLORED * tasks.tasks.len();
    let explored = fixed_point(tasks, |task, responses| {
        let by_window = windows.ends(task, responses);
        let is_enough = |ends: &Ends| responses[task].is_some_and(|response| last(ends) <= response);
        // By orders of dispatch nothing is known of a job that has others of its own before it.
        let most_alone = tasks.tasks[task].most_alone();
        let may_queue = responses[task].is_none_or(|response| response > most_alone);
        let is_enough = by_window.as_ref().is_some_and(is_enough) || may_queue;
        if is_enough || explorations == 0 || effort::check().is_err() {
            return by_window;
        }
        explorations -= 1;
        let by_orders = match &segments[task] {
            Some(segments) => segments.ends(tasks, weights, task, responses),
            None => phases::ends(tasks, weights, task, responses),
        };
        smaller(by_orders.filter(|ends| tasks.tasks[task].is_done_within(most_alone, ends)), by_window)
    });
    if explored.iter().all(Option::is_some) {
        return explored;
    }
    let by_window = fixed_point(tasks, |task, responses| windows.ends(task, responses));
    explored.into_iter().zip(by_window).map(|(one, other)| smaller(one, other)).collect()
}

/// The least responses of which each is no less than what `ends` says by all, without those that are beyond their
/// period.
fn fixed_point(tasks: &TaskSet, mut ends: impl FnMut(usize, &[Option<u64>]) -> Option<Ends>) -> Vec<Option<Ends>> {
    // Every response takes its jitter at least; a bound only grows when another does.
    let mut responses: Vec<Option<u64>> = tasks.tasks.iter().map(|task| Some(task.jitter)).collect();
    let mut known: Vec<Option<Ends>> = vec![None; responses.len()];
    for _ in 0..MOST_ROUNDS {
        let mut grew = false;
        for (index, task) in tasks.tasks.iter().enumerate() {
            let Some(response) = responses[index] else { continue };
            known[index] = ends(index, &responses).filter(|ends| task.is_done_within(task.within, ends));
            let bound = known[index].as_ref().map(last);
            if bound.is_none_or(|bound| bound > response) {
                responses[index] = bound;
                grew = true;
            }
        }
        if !grew {
            return known;
        }
    }
    vec![None; tasks.tasks.len()]
}
