//! Logs as the examiner writes them, read byte by byte: plain decimals, plain strings, lists of numbers. Whatever is
//! written otherwise is left to the reader of any JSON, which gives the same for these.

use super::log::LogTime;
use super::visit::{Draft, Entry, NO_TIME};

/// Times below this are the same by way of an `f64` of seconds, whose error is less than a quarter \[ns\].
const EXACT_BELOW_NS: u64 = 1 << 50;
/// Digits that fit whatever they are.
const MOST_DIGITS: usize = 9;

/// A log, or a piece of one that was completed to one; `None`: it is no log, or not a plain one.
pub(super) fn plain_log(text: &[u8]) -> Option<Draft> {
    let (mut rest, mut draft) = (Rest(text), Draft::default());
    rest.object(|rest, key| {
        draft.keys += 1;
        draft.ends_in_times = key == b"times";
        match key {
            b"scenario_name" => draft.scenario_name = Some(rest.text()?),
            b"benchmark_name" => draft.benchmark_name = Some(rest.text()?),
            b"label" => draft.label = Some(rest.text()?),
            b"max_resident_threads" => draft.max_resident_threads = Some(rest.whole()?),
            b"PID" => draft.pid = Some(rest.whole()?),
            b"TID" => draft.tid = Some(rest.whole()?),
            b"mps_sms" => draft.mps_sms = Some(rest.whole()?),
            b"left_out_at_horizon" => draft.left_out_at_horizon = Some(rest.whole()?),
            b"times" => {
                let entries = draft.entries.get_or_insert_default();
                rest.list(|rest| {
                    entries.push(entry(rest)?);
                    Some(())
                })?;
            }
            _ => rest.ignore()?,
        }
        Some(())
    })?;
    rest.skip_space();
    rest.0.is_empty().then_some(draft)
}

/// One entry of `times`.
fn entry(rest: &mut Rest<'_>) -> Option<Entry> {
    let mut entry = Entry::default();
    rest.object(|rest, key| {
        entry.filled = true;
        match key {
            b"block_count" => entry.block_count = Some(rest.whole()?),
            b"thread_count" => entry.threads = Some(rest.whole()?),
            b"shared_memory" => entry.shared_memory_bytes = Some(rest.whole()?),
            b"kernel_name" => entry.name = Some(rest.text()?),
            b"cuda_launch_times" => {
                entry.launch_ns.clear();
                rest.list(|rest| {
                    entry.launch_ns.push(rest.seconds()?);
                    Some(())
                })?;
            }
            b"execute_times" => {
                let (mut pair, mut count) = ([NO_TIME; 2], 0);
                rest.list(|rest| {
                    let time = rest.seconds()?;
                    if let Some(place) = pair.get_mut(count) {
                        *place = time;
                    }
                    count += 1;
                    Some(())
                })?;
                if count == pair.len() {
                    entry.execute_ns = Some(pair);
                }
            }
            b"block_times" => {
                // A pair takes 8 bytes at least, mostly 24; how many there are is mostly told before.
                let stated = entry.block_count.map_or(rest.0.len() / 24, |count| usize::try_from(count).unwrap_or(0));
                let mut times = Vec::with_capacity(stated.min(rest.0.len() / 8));
                rest.list(|rest| {
                    let start = rest.seconds()?;
                    rest.skip_space();
                    rest.skip(b',')?;
                    rest.skip_space();
                    times.push([start, rest.seconds()?]);
                    Some(())
                })?;
                (entry.time_count, entry.times) = (2 * times.len(), times);
            }
            b"block_smids" => {
                let mut sms = Vec::with_capacity(entry.times.len());
                rest.list(|rest| {
                    let (number, _) = rest.natural()?;
                    sms.push(number);
                    Some(())
                })?;
                entry.sms = sms;
            }
            _ => return rest.ignore(),
        }
        entry.is_kernel |= key != b"execute_times";
        Some(())
    })?;
    Some(entry)
}

/// What is left of a text; everything gives `None` for what is not plain.
struct Rest<'t>(&'t [u8]);

impl<'t> Rest<'t> {
    fn skip_space(&mut self) {
        while let Some((b' ' | b'\n' | b'\t' | b'\r', behind)) = self.0.split_first() {
            self.0 = behind;
        }
    }

    fn skip(&mut self, byte: u8) -> Option<()> {
        let (&first, behind) = self.0.split_first()?;
        self.0 = behind;
        (first == byte).then_some(())
    }

    /// Between two brackets: whatever `each` takes, with commas between.
    #[inline]
    fn between(&mut self, [open, close]: [u8; 2], mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.skip_space();
        self.skip(open)?;
        self.skip_space();
        if self.0.first() == Some(&close) {
            return self.skip(close);
        }
        loop {
            each(self)?;
            self.skip_space();
            let (&byte, behind) = self.0.split_first()?;
            self.0 = behind;
            if byte == close {
                return Some(());
            }
            (byte == b',').then_some(())?;
            self.skip_space();
        }
    }

    #[inline]
    fn list(&mut self, each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.between(*b"[]", each)
    }

    /// An object, of which `each` takes the values.
    fn object(&mut self, mut each: impl FnMut(&mut Self, &'t [u8]) -> Option<()>) -> Option<()> {
        self.between(*b"{}", |rest| {
            let key = rest.string()?;
            rest.skip_space();
            rest.skip(b':')?;
            rest.skip_space();
            each(rest, key)
        })
    }

    /// The bytes of a string in which nothing is escaped.
    fn string(&mut self) -> Option<&'t [u8]> {
        let inside = self.0.strip_prefix(b"\"")?;
        let length = inside.iter().position(|&byte| matches!(byte, b'"' | b'\\' | ..b' '))?;
        let (string, behind) = inside.split_at(length);
        self.0 = behind.strip_prefix(b"\"")?;
        std::str::from_utf8(string).ok().map(str::as_bytes)
    }

    fn text(&mut self) -> Option<String> {
        std::str::from_utf8(self.string()?).ok().map(str::to_owned)
    }

    /// A string, a decimal, or a list of them, of which nothing is kept.
    fn ignore(&mut self) -> Option<()> {
        match self.0.first()? {
            b'[' => self.list(Self::ignore_one),
            _ => self.ignore_one(),
        }
    }

    fn ignore_one(&mut self) -> Option<()> {
        if self.0.first()? == &b'"' {
            return self.string().map(drop);
        }
        self.0 = self.0.strip_prefix(b"-").unwrap_or(self.0);
        self.natural()?;
        if let Some(behind) = self.0.strip_prefix(b".") {
            self.0 = behind;
            self.digits()?;
        }
        // Anything else behind it, such as an exponent, is no comma and no bracket.
        Some(())
    }

    /// A number of few digits, and how many they are.
    #[inline]
    fn digits(&mut self) -> Option<(u32, usize)> {
        let (mut number, mut count) = (0_u32, 0);
        if let Some((eight, behind)) = self.0.split_first_chunk::<8>()
            && let Some(first) = eight_digits(*eight)
        {
            (number, count, self.0) = (first, 8, behind);
        }
        while let Some((&byte, behind)) = self.0.split_first().filter(|(byte, _)| byte.is_ascii_digit()) {
            if count == MOST_DIGITS {
                return None;
            }
            (number, count, self.0) = (number * 10 + u32::from(byte & 0xf), count + 1, behind);
        }
        (count > 0).then_some((number, count))
    }

    /// The same, as JSON has whole numbers: nothing begins with zero but zero.
    #[inline]
    fn natural(&mut self) -> Option<(u32, usize)> {
        let begins_with_zero = self.0.first() == Some(&b'0');
        self.digits().filter(|&(_, count)| !begins_with_zero || count == 1)
    }

    fn whole(&mut self) -> Option<u64> {
        self.natural().map(|(number, _)| u64::from(number))
    }

    /// Whole seconds, a point, and digits behind it.
    #[inline]
    fn seconds(&mut self) -> Option<LogTime> {
        let (whole, _) = self.natural()?;
        self.0 = self.0.strip_prefix(b".")?;
        let (fraction, digits) = self.digits()?;
        let ns = u64::from(whole) * 1_000_000_000 + u64::from(fraction) * TENS.get(MOST_DIGITS - digits)?;
        (ns < EXACT_BELOW_NS).then_some(LogTime::from_ns(i64::try_from(ns).ok()?))
    }
}

/// Powers of ten.
const TENS: [u64; MOST_DIGITS] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The number that eight bytes write, if all are digits; pairs of digits, of pairs, and of those, are put together at
/// once.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u32> {
    const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let bytes = u64::from_le_bytes(bytes);
    // The upper half of each byte is 3, and stays 3 if 6 is added, which takes `:` and what is behind it to 4.
    let is_3 = |bytes: u64| bytes & !LOW == 0x3030_3030_3030_3030;
    if !is_3(bytes) || !is_3(bytes + 0x0606_0606_0606_0606) {
        return None;
    }
    let pairs = ((bytes & LOW).wrapping_mul((10 << 8) | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul((100 << 16) | 1) >> 16) & 0x0000_ffff_0000_ffff;
    u32::try_from(fours.wrapping_mul((10_000 << 32) | 1) >> 32).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::logs::visit::any_log;

    const SOUND: &str = include_str!("../../../tests/data/logs/two-streams/two.json");

    proptest! {
        #[test]
        fn plain_logs_are_read_as_any_json_is(
            numbers in prop::collection::vec(("[0-9]{1,2}|[1-9][0-9]{2,8}", "(\\.[0-9]{1,10})?", "(e1)?", "[ \n]?"), 0..8),
            key in "block_times|block_smids|cuda_launch_times|execute_times|cpu_times",
        ) {
            let number = |(whole, fraction, exponent, space): &(String, String, String, String)| {
                format!("{whole}{fraction}{exponent}{space}")
            };
            let list = numbers.iter().map(number).collect::<Vec<_>>().join(",");
            let text = format!("{{\"times\": [{{}}, {{\"block_count\": 3, \"{key}\": [{list}]}}]}}");
            if let Some(plain) = plain_log(text.as_bytes()) {
                prop_assert_eq!(Some(plain), any_log(text.as_bytes()));
            }
        }

        #[test]
        fn a_plain_log_with_one_byte_changed_is_read_as_any_json_is(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut text = SOUND.as_bytes().to_vec();
            let at = at.index(text.len());
            text[at] = byte;
            if let Some(plain) = plain_log(&text) {
                prop_assert_eq!(Some(plain), any_log(&text));
            }
        }

        #[test]
        fn eight_digits_are_a_number_and_anything_else_is_none(bytes in "[0-9]{8}|[/-:]{8}", other in any::<[u8; 8]>()) {
            for bytes in [bytes.as_bytes().try_into().expect("eight"), other] {
                let plain = std::str::from_utf8(&bytes).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                prop_assert_eq!(eight_digits(bytes), plain.map(|text| text.parse().expect("digits")));
            }
        }
    }
}
