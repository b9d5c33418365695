//! The order of events, on which everything else relies.

use proptest::prelude::*;

use super::{Calendar, Event, Phase};
use crate::time::Instant;

const T: Instant = Instant::from_ns(5);

#[test]
fn events_come_by_instant_then_phase_then_sequence() {
    let mut calendar = Calendar::new();
    calendar.push(Event::Wake(0), T, Phase::Host, 0);
    calendar.push(Event::Wave(3), T, Phase::Completion, 9);
    calendar.push(Event::Copy(4), T, Phase::Completion, 8);
    calendar.push(Event::Wave(5), Instant::from_ns(6), Phase::Completion, 1);
    calendar.push(Event::Wake(1), Instant::from_ns(4), Phase::Host, 1);
    let order: Vec<Event> = std::iter::from_fn(|| calendar.pop()).map(|(_, _, event)| event).collect();
    assert_eq!(order, [Event::Wake(1), Event::Copy(4), Event::Wave(3), Event::Wake(0), Event::Wave(5)]);
}

#[test]
fn only_events_of_the_asked_instant_and_phase_are_taken() {
    let mut calendar = Calendar::new();
    calendar.push(Event::Wake(7), T, Phase::Host, 7);
    assert_eq!(calendar.pop_at(T, Phase::Completion), None);
    assert_eq!(calendar.pop_at(Instant::from_ns(4), Phase::Host), None);
    assert_eq!(calendar.pop_at(T, Phase::Host), Some(Event::Wake(7)));
    assert!(calendar.is_empty());
}

#[test]
fn an_event_entered_again_moves() {
    let mut calendar = Calendar::new();
    calendar.push(Event::Wave(1), Instant::from_ns(9), Phase::Completion, 1);
    calendar.push(Event::Wave(2), T, Phase::Completion, 2);
    calendar.push(Event::Wave(1), Instant::from_ns(3), Phase::Completion, 3);
    assert_eq!(calendar.len(), 2);
    assert_eq!(calendar.next(), Some((Instant::from_ns(3), Phase::Completion)));
    calendar.remove(Event::Wave(1));
    assert_eq!(calendar.pop(), Some((T, Phase::Completion, Event::Wave(2))));
}

proptest! {
    #[test]
    fn any_events_come_in_the_order_of_a_sorted_list(
        events in prop::collection::vec((0_u64..5, any::<bool>()), 0..60),
    ) {
        let mut calendar = Calendar::new();
        let mut list = Vec::new();
        for (number, (at, is_wake)) in (0..).zip(events) {
            let (event, phase) = if is_wake {
                (Event::Wake(u64::from(number)), Phase::Host)
            } else {
                (Event::Wave(number), Phase::Completion)
            };
            let at = Instant::from_ns(at);
            calendar.push(event, at, phase, u64::from(number));
            list.push((at, phase, number, event));
        }
        list.sort_unstable_by_key(|&(at, phase, number, _)| (at, phase, number));
        let sorted: Vec<_> = list.into_iter().map(|(at, phase, _, event)| (at, phase, event)).collect();
        let popped: Vec<_> = std::iter::from_fn(|| calendar.pop()).collect();
        prop_assert_eq!(popped, sorted);
    }
}
