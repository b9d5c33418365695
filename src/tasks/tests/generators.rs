//! Small random task sets and reservations.

use proptest::prelude::*;

use super::{Reservation, Timing};

/// Up to `most` tasks with periods up to `longest`.
pub(super) fn tasks(most: usize, longest: u64) -> impl Strategy<Value = Vec<Timing>> {
    let task = (1..=longest)
        .prop_flat_map(|period| (Just(period), 1..=period))
        .prop_flat_map(|(period, deadline)| (Just(period), Just(deadline), 1..=deadline.div_ceil(2)));
    prop::collection::vec(task.prop_map(|(period, deadline, wcet)| Timing::new(wcet, period, deadline)), 1..=most)
}

/// Any reservation with a period up to `longest`, also one that reaches past the end of its period.
pub(super) fn reservation(longest: u64) -> impl Strategy<Value = Reservation> {
    (1..=longest)
        .prop_flat_map(|period| (0..period, 0..=period, Just(period)))
        .prop_map(|(offset, budget, period)| Reservation::new(offset, budget, period))
}
