//! Lists of plain decimals, which is nearly all of a log, read without going through binary floating point. Whatever is
//! written otherwise is left to the reader of any number, which gives the same for these.

use super::clock::LogTime;

/// Times below this are the same by way of an `f64` of seconds, whose error is less than a quarter \[ns\].
const EXACT_BELOW_NS: u64 = 1 << 50;
/// Digits that fit whatever they are.
const MOST_DIGITS: usize = 9;

/// Seconds of a list, in pairs \[ns\]; `None`: it is no list of pairs of plain decimals.
pub(super) fn plain_times(list: &str) -> Option<Vec<[LogTime; 2]>> {
    let mut rest = Numbers::of(list)?;
    // A pair takes four bytes at least, and mostly 24.
    let mut times = Vec::with_capacity(list.len() / 24);
    while rest.goes_on()? {
        let start = rest.seconds()?;
        rest.goes_on()?.then_some(())?;
        times.push([start, rest.seconds()?]);
    }
    Some(times)
}

/// Numbers of SMs of a list; `None`: it is no list of plain numbers.
pub(super) fn plain_sms(list: &str, expected: usize) -> Option<Vec<u32>> {
    let mut rest = Numbers::of(list)?;
    let mut sms = Vec::with_capacity(expected);
    while rest.goes_on()? {
        let (number, _) = rest.digits()?;
        sms.push(u32::try_from(number).ok()?);
    }
    Some(sms)
}

/// What is behind the numbers that were taken, in a text that is JSON.
struct Numbers<'t> {
    rest: &'t [u8],
    is_first: bool,
}

impl<'t> Numbers<'t> {
    fn of(list: &'t str) -> Option<Self> {
        Some(Self { rest: list.as_bytes().strip_prefix(b"[")?, is_first: true })
    }

    /// Whether there is another number, before which it goes.
    fn goes_on(&mut self) -> Option<bool> {
        self.skip_space();
        let (&byte, behind) = self.rest.split_first()?;
        match byte {
            b']' => return Some(false),
            b',' => {
                self.rest = behind;
                self.skip_space();
            }
            _ if !self.is_first => return None,
            _ => {}
        }
        self.is_first = false;
        Some(true)
    }

    fn skip_space(&mut self) {
        while let Some((b' ' | b'\n' | b'\t' | b'\r', behind)) = self.rest.split_first() {
            self.rest = behind;
        }
    }

    /// A number of few digits, and how many they are.
    fn digits(&mut self) -> Option<(u64, usize)> {
        let count = self.rest.iter().take(MOST_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 || count > MOST_DIGITS {
            return None;
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        let number = digits.iter().fold(0_u32, |number, digit| number.wrapping_mul(10) + u32::from(digit & 0xf));
        Some((u64::from(number), count))
    }

    /// Whole seconds, a point, and digits behind it.
    fn seconds(&mut self) -> Option<LogTime> {
        let (whole, _) = self.digits()?;
        self.rest = self.rest.strip_prefix(b".")?;
        let (fraction, digits) = self.digits()?;
        // Anything else behind it, such as an exponent, is found where the list goes on.
        let fraction = fraction * 10_u64.pow(u32::try_from(MOST_DIGITS - digits).ok()?);
        let ns = whole * 1_000_000_000 + fraction;
        (ns < EXACT_BELOW_NS).then_some(LogTime::from_ns(i64::try_from(ns).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::DeserializeSeed;

    use super::*;
    use crate::logs::number::{EachNumber, push_sm, push_time};

    proptest! {
        #[test]
        fn plain_lists_are_read_as_any_numbers_are(
            numbers in prop::collection::vec(("[0-9]{1,2}|[1-9][0-9]{2,8}", "(\\.[0-9]{1,10})?", "(e1)?", "[ \n]?"), 0..8),
        ) {
            let valid = |(whole, fraction, exponent, space): &(String, String, String, String)| {
                let whole = if whole.len() == 2 { whole.trim_start_matches('0') } else { whole };
                format!("{}{fraction}{exponent}{space}", if whole.is_empty() { "0" } else { whole })
            };
            let list = format!("[{}]", numbers.iter().map(valid).collect::<Vec<_>>().join(","));
            let (mut times, mut count, mut sms) = (Vec::new(), 0, Vec::new());
            let any = |each: &mut dyn FnMut(super::super::number::Number)| {
                EachNumber(each).deserialize(&mut serde_json::Deserializer::from_str(&list))
            };
            any(&mut |number| push_time(&mut times, &mut count, number)).expect("JSON");
            any(&mut |number| push_sm(&mut sms, number)).expect("JSON");
            if let Some(plain) = plain_times(&list) {
                prop_assert_eq!((2 * plain.len(), plain), (count, times));
            }
            if let Some(plain) = plain_sms(&list, 0) {
                prop_assert_eq!(plain, sms);
            }
        }
    }

    #[test]
    fn what_the_examiner_writes_is_plain() {
        let ns = |start, end| [LogTime::from_ns(start), LogTime::from_ns(end)];
        let times = "[0.000000000,0.000001000, 86400.250000000,\n86400.5]";
        assert_eq!(plain_times(times), Some(vec![ns(0, 1_000), ns(86_400_250_000_000, 86_400_500_000_000)]));
        assert_eq!(plain_sms("[ 0, 1,12 ]", 3), Some(vec![0, 1, 12]));
        assert_eq!(plain_times("[]"), Some(Vec::new()));
    }

    #[test]
    fn everything_else_is_left_to_others() {
        for list in ["[1.5]", "[1,2]", "[-1.0,2.0]", "[1.0e3,2.0]", "[1.0,null]", "{}", "3", "[1.0000000001,2.0]"] {
            assert_eq!(plain_times(list), None, "{list}");
        }
        // Thirteen days from 2^50 ns on, an f64 may round otherwise.
        assert_eq!(plain_times("[1125899.906842624,1125899.906842625]"), None);
        for list in ["[1.0]", "[-1]", "[1234567890]", "[null]", "\"x\""] {
            assert_eq!(plain_sms(list, 0), None, "{list}");
        }
    }
}
