//! Responses that bound one another.

use super::model::{SporadicRefusal, TaskSet};
use super::phases;
use super::window::Windows;
use crate::analysis::safe_bound::Weights;

/// Rounds of raising the responses; each raises one of them by a nanosecond at least.
const MOST_ROUNDS: u32 = 10_000;

/// Explorations by task after which bounds are those of the window alone.
const MOST_EXPLORED: usize = 24;

/// Bounds the response of every task, from the arrival of a job to the end of its last operation \[ns\].
pub(super) fn responses(tasks: &TaskSet, weights: &Weights<'_>) -> Result<Vec<u64>, SporadicRefusal> {
    let windows = Windows::new(tasks, weights);
    let mut explorations = MOST_EXPLORED * tasks.tasks.len();
    let explored = fixed_point(tasks, |task, responses| {
        let by_window = windows.bound(task, responses);
        if by_window.is_some_and(|bound| bound <= responses[task]) {
            return by_window;
        }
        explorations = explorations.checked_sub(1)?;
        let by_orders = phases::bound(tasks, weights, task, responses);
        by_orders.into_iter().chain(by_window).min()
    });
    explored.or_else(|_| fixed_point(tasks, |task, responses| windows.bound(task, responses)))
}

/// The least responses of which each is no less than its `bound` by all: they hold if none is beyond its period.
fn fixed_point(
    tasks: &TaskSet,
    mut bound: impl FnMut(usize, &[u64]) -> Option<u64>,
) -> Result<Vec<u64>, SporadicRefusal> {
    // Every response takes its jitter at least; a bound only grows when another does.
    let mut responses: Vec<u64> = tasks.tasks.iter().map(|task| task.jitter).collect();
    for _ in 0..MOST_ROUNDS {
        let mut grew = false;
        for (index, task) in tasks.tasks.iter().enumerate() {
            let beyond = || SporadicRefusal::BeyondPeriod { thread: task.label.clone() };
            let bound = bound(index, &responses).filter(|bound| *bound <= task.period).ok_or_else(beyond)?;
            if bound > responses[index] {
                responses[index] = bound;
                grew = true;
            }
        }
        if !grew {
            return Ok(responses);
        }
    }
    let label = tasks.tasks.first().map_or(String::new(), |task| task.label.clone());
    Err(SporadicRefusal::BeyondPeriod { thread: label })
}
