//! The order of events, on which everything else relies.

use proptest::prelude::*;

use super::calendar::{Calendar, Event};
use crate::time::Instant;

const T: Instant = Instant::from_ns(5);

/// Takes out everything, as the simulation does: of one instant, completions first.
fn drain(calendar: &mut Calendar) -> Vec<(Instant, Result<Event, u64>)> {
    let mut order = Vec::new();
    while let Some(at) = calendar.next() {
        while let Some(event) = calendar.pop_completion(at) {
            order.push((at, Ok(event)));
        }
        while let Some(token) = calendar.pop_wake(at) {
            order.push((at, Err(token)));
        }
    }
    order
}

#[test]
fn events_come_by_instant_then_phase_then_sequence() {
    let mut calendar = Calendar::new();
    calendar.wake_at(T, 0);
    calendar.complete_at(T, Event::Copy(4));
    calendar.complete_at(T, Event::Wave(3));
    calendar.complete_at(Instant::from_ns(6), Event::Wave(5));
    calendar.wake_at(Instant::from_ns(4), 1);
    let order: Vec<_> = drain(&mut calendar).into_iter().map(|(_, event)| event).collect();
    assert_eq!(order, [Err(1), Ok(Event::Copy(4)), Ok(Event::Wave(3)), Err(0), Ok(Event::Wave(5))]);
}

#[test]
fn only_events_of_the_asked_instant_are_taken() {
    let mut calendar = Calendar::new();
    calendar.wake_at(T, 7);
    assert_eq!(calendar.pop_completion(T), None);
    assert_eq!(calendar.pop_wake(Instant::from_ns(4)), None);
    assert_eq!(calendar.pop_wake(T), Some(7));
    assert_eq!(calendar.next(), None);
}

#[test]
fn a_wake_up_entered_again_moves() {
    let mut calendar = Calendar::new();
    calendar.wake_at(Instant::from_ns(9), 1);
    calendar.wake_at(T, 2);
    calendar.wake_at(Instant::from_ns(3), 1);
    assert_eq!(calendar.next(), Some(Instant::from_ns(3)));
    assert_eq!(drain(&mut calendar), [(Instant::from_ns(3), Err(1)), (T, Err(2))]);
}

#[test]
fn completions_that_are_taken_back_do_not_come() {
    let mut calendar = Calendar::new();
    for number in 0..4 {
        calendar.complete_at(T, Event::Wave(number));
    }
    calendar.retain_completions(|event| event != Event::Wave(1));
    let order: Vec<_> = drain(&mut calendar).into_iter().map(|(_, event)| event).collect();
    assert_eq!(order, [0, 2, 3].map(|number| Ok(Event::Wave(number))));
}

#[test]
fn the_completion_on_a_link_moves_and_keeps_its_place_among_those_of_its_instant() {
    let mut calendar = Calendar::new();
    let begun = calendar.begin();
    calendar.complete_at(T, Event::Wave(1));
    calendar.move_link(2, Some((Instant::from_ns(3), begun)));
    assert_eq!(calendar.next(), Some(Instant::from_ns(3)));
    calendar.move_link(2, Some((T, begun)));
    calendar.move_link(0, Some((Instant::from_ns(9), calendar.clone().begin())));
    assert_eq!(calendar.next_besides_completions(), Some(T));
    assert_eq!(calendar.pop_completion(Instant::from_ns(3)), None);
    // It began before the wave, whose completion was entered earlier.
    let order: Vec<_> = drain(&mut calendar).into_iter().map(|(_, event)| event).collect();
    assert_eq!(order, [Ok(Event::Copy(2)), Ok(Event::Wave(1)), Ok(Event::Copy(0))]);
    calendar.move_link(1, Some((T, begun)));
    calendar.move_link(1, None);
    assert_eq!(calendar.next(), None);
}

proptest! {
    #[test]
    fn any_events_come_in_the_order_of_a_sorted_list(
        events in prop::collection::vec((0_u64..5, any::<bool>()), 0..60),
    ) {
        let mut calendar = Calendar::new();
        let mut list = Vec::new();
        for (number, (at, is_wake)) in (0_u32..).zip(events) {
            let at = Instant::from_ns(at);
            if is_wake {
                calendar.wake_at(at, u64::from(number));
            } else {
                calendar.complete_at(at, Event::Wave(number));
            }
            list.push((at, is_wake, number));
        }
        list.sort_unstable();
        let event = |is_wake, number| if is_wake { Err(u64::from(number)) } else { Ok(Event::Wave(number)) };
        let sorted: Vec<_> = list.into_iter().map(|(at, is_wake, number)| (at, event(is_wake, number))).collect();
        prop_assert_eq!(drain(&mut calendar), sorted);
    }
}
