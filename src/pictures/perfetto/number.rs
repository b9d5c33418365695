//! Numbers as the format and its readers want them.

use serde::{Serialize, Serializer};

/// Nanoseconds; the format counts in microseconds.
pub(super) struct Microseconds(pub(super) u64);

impl Serialize for Microseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1_000) {
            return serializer.serialize_u64(self.0 / 1_000);
        }
        // Perfetto multiplies by 1000 in binary floating point and cuts the rest off, so 1.001 would be 1000 ns and
        // the slice before it would overlap. Where that happens, the next number up gives the right nanosecond.
        let ns = self.0 as f64;
        let us = ns / 1e3;
        serializer.serialize_f64(if us * 1e3 < ns { us.next_up() } else { us })
    }
}

/// The number of a run's first process, and an operation. Readers take identifiers of asynchronous slices as text only,
/// and those of flows as hexadecimal text.
pub(super) struct Id(pub(super) u32, pub(super) u32);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:#x}", u64::from(self.0) << 32 | u64::from(self.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::Microseconds;

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as a reader does it")]
    fn every_nanosecond_survives_readers_that_cut_off_and_readers_that_round() {
        let near = |around: u64| (around.saturating_sub(2_000)..around + 2_000).step_by(1);
        for ns in near(0).chain(near(1_000_000_000)).chain(near(86_400_000_000_000)) {
            let text = serde_json::to_string(&Microseconds(ns)).expect("numbers can be written");
            let read: f64 = text.parse().expect("it is a number");
            assert_eq!((read * 1e3).trunc() as u64, ns, "{text}");
            assert!(!text.contains('e'), "{text}");
        }
        assert_eq!(serde_json::to_string(&Microseconds(1_500)).expect("it can be written"), "1.5");
        assert_eq!(serde_json::to_string(&Microseconds(2_000)).expect("it can be written"), "2");
    }
}
