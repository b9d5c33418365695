//! What a host thread does, step by step, with repeated steps as often as they are.

use super::model::{HostThread, Step};
use crate::limits::count_turn;

/// Steps of a program that are followed, those of repeated ones as often as they are.
const MOST_FOLLOWED: usize = 1 << 16;

/// The steps of so many iterations, repeated ones as often as they are. `None`: too many.
pub(crate) fn followed(thread: &HostThread, iterations: u64) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for _ in 0..iterations {
        // Without a period a job counts from when it has passed the barrier.
        steps.extend(thread.barrier.filter(|_| thread.period.is_some()).map(Step::Barrier));
        let mut done = vec![0_u64; thread.steps.len()];
        let mut next = 0;
        while let Some(step) = thread.steps.get(next) {
            count_turn();
            next += 1;
            if let Step::Repeat { from, times } = *step {
                done[next - 1] += 1;
                if done[next - 1] < times {
                    next = from.min(next - 1);
                } else {
                    done[next - 1] = 0;
                }
            } else {
                steps.push(*step);
            }
            if steps.len() > MOST_FOLLOWED || done.iter().any(|&done| done > MOST_FOLLOWED as u64) {
                return None;
            }
        }
    }
    Some(steps)
}
