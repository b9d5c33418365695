use proptest::prelude::*;

use super::*;

#[test]
fn seconds_are_rounded_to_the_nearest_nanosecond() {
    let ns = |text| Duration::from_decimal_seconds(text).map(Duration::as_ns);
    assert_eq!(ns("0.4"), Ok(400_000_000));
    assert_eq!(ns("0.0000000005"), Ok(1));
    assert_eq!(ns("0.00000000049999999999999999999999999999999"), Ok(0));
    assert_eq!(ns("1e-9"), Ok(1));
    assert_eq!(ns("2.5E3"), Ok(2_500_000_000_000));
    assert_eq!(ns("-0.0"), Ok(0));
    assert_eq!(ns("9223372036.854775808"), Ok(1 << 63));
}

#[test]
fn seconds_that_no_run_can_have_are_refused() {
    for text in ["-1", "NaN", "inf", "1e300", "9223372036.854775809", "", ".", "1e", "0x10", "1,5", "1e999999999999"] {
        assert!(Duration::from_decimal_seconds(text).is_err(), "{text} was accepted");
    }
    assert_eq!(Duration::from_decimal_seconds("1e-999999999999"), Ok(Duration::ZERO));
}

#[test]
fn times_carry_a_unit() {
    let ns = |text| Duration::parse(text).map(Duration::as_ns);
    assert_eq!(ns("1.7s"), Ok(1_700_000_000));
    assert_eq!(ns(" 250 ms "), Ok(250_000_000));
    assert_eq!(ns("3us"), Ok(3_000));
    assert_eq!(ns("3\u{b5}s"), Ok(3_000));
    assert_eq!(ns("1 \u{3bc}s"), Ok(1_000));
    assert_eq!(ns("12ns"), Ok(12));
    for text in ["12", "12 m", "s", "12 min", "-1s", "1 parsec"] {
        assert!(Duration::parse(text).is_err(), "{text} was accepted");
    }
}

#[test]
fn durations_print_in_the_largest_fitting_unit() {
    assert_eq!(Duration::from_ns(1_700_000_000).to_string(), "1.7 s");
    assert_eq!(Duration::from_ns(250_000_000).to_string(), "250 ms");
    assert_eq!(Duration::from_ns(1_001).to_string(), "1.001 us");
    assert_eq!(Duration::ZERO.to_string(), "0 s");
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_as_the_same_duration(ns in 0..=MAX_INPUT_NS) {
        let duration = Duration::from_ns(ns);
        prop_assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
    }
}
