//! What no gang schedule can do without (RTNS 2020, Lemma 2, sharpened).
//!
//! Every SM has to serve its own tasks and all gang tasks: `U_p` + `U_B` <= 1 for each SM p. Summed up over m SMs this
//! gives the paper's condition, sum of `U_p` + m `U_B` <= m, which can hold while one SM is overloaded.

use super::task_set::{Allocation, TaskSet, Timing};
use super::utilization::compare_utilization;

/// Whether no SM is asked for more than it has. `None` if that is too close to tell in 128 bits.
pub(crate) fn test(set: &TaskSet) -> Option<bool> {
    let all = set.timings_of(Allocation::All);
    let mut answer = Some(true);
    for sm in 0..set.sms {
        let own = set.timings_of(Allocation::Sm(sm));
        let load = own.iter().chain(&all).map(Timing::load);
        match compare_utilization(load, std::iter::once((1, 1))) {
            Some(order) if order.is_gt() => return Some(false),
            Some(_) => {}
            None => answer = None,
        }
    }
    answer
}
