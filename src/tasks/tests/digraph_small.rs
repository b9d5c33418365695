//! The digraph test on sets small enough for it.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_set_that_the_digraph_test_accepts_misses(
        set in generators::tasks(3, 6), reservation in generators::reservation(6),
    ) {
        let verdict = digraph::test(&set, reservation);
        prop_assert!(!verdict.is_yes() || exact::test(&set, reservation).is_yes());
    }
}

#[test]
fn chunks_can_accept_what_the_digraph_test_accepts_too() {
    for (set, reservation) in [
        (tasks(&[(4, 5, 10), (6, 40, 40)]), Reservation::new(0, 16, 20)),
        (tasks(&[(1, 3, 3)]), Reservation::new(0, 3, 4)),
    ] {
        assert_eq!(chunks::test(&set, reservation), TaskVerdict::Yes);
        assert_eq!(digraph::test(&set, reservation), TaskVerdict::Yes);
    }
}

#[test]
fn a_set_that_would_take_too_long_gets_no_answer() {
    let set = tasks(&[(300, 997, 997), (300, 1009, 1009)]);
    assert!(matches!(digraph::test(&set, Reservation::new(0, 500, 600)), TaskVerdict::Unknown(_)));
}
