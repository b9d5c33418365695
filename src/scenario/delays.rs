//! Whose jobs may delay whose.

use crate::limits::count_turn;
use std::collections::BTreeSet;

use super::model::{HostThread, Scenario};

/// The threads of which anything may delay jobs of those with these labels, themselves among them: all that use the GPU
/// delay one another, all that meet at barriers, and on a core the more urgent ones the others.
pub(crate) fn who_delays(scenario: &Scenario, labels: &[String]) -> BTreeSet<usize> {
    let threads = &scenario.threads;
    let uses_gpu =
        |thread: &HostThread| thread.submits() || thread.steps.iter().any(|step| step.waits_for_operations());
    let meets = |thread: &HostThread| thread.barriers().next().is_some();
    let delays = |by: usize, of: usize| {
        let (one, other) = (&threads[by], &threads[of]);
        let on_core = one
            .core
            .zip(other.core)
            .is_some_and(|(one, other)| one.core == other.core && (one.priority, by) < (other.priority, of));
        on_core || uses_gpu(one) && uses_gpu(other) || meets(one) && meets(other)
    };
    let is_named = |thread: &usize| labels.iter().any(|label| **label == *threads[*thread].label);
    let mut found: BTreeSet<usize> = (0..threads.len()).filter(is_named).collect();
    let mut open: Vec<usize> = found.iter().copied().collect();
    while let Some(of) = open.pop() {
        count_turn();
        let more: Vec<usize> = (0..threads.len()).filter(|by| !found.contains(by) && delays(*by, of)).collect();
        found.extend(&more);
        open.extend(more);
    }
    found
}
