//! Round ticks on an axis of time.

use crate::limits::count_turn;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Ticks of an axis: a unit, and where they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AxisTicks {
    /// Name of the unit.
    pub unit: &'static str,
    /// Instants \[ns\] and what is written there.
    pub at: Vec<(u64, String)>,
}

/// Ticks from `from` to `to` \[ns\], at most `most` of them (at least 2): multiples of 1, 2 or 5 times a power of ten,
/// in the largest unit of which the span holds two.
pub(crate) fn time_ticks(from: u64, to: u64, most: u64) -> AxisTicks {
    time_ticks_since(0, from, to, most)
}

/// As [`time_ticks`], on an axis that counts from `origin` \[ns\]: what is before it is negative.
pub(crate) fn time_ticks_since(origin: u64, from: u64, to: u64, most: u64) -> AxisTicks {
    let span = to.saturating_sub(from);
    let units = [(NS_PER_SECOND, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let (unit_ns, unit) = units.into_iter().find(|(ns, _)| span >= 2 * ns).unwrap_or((1, "ns"));
    let step = round_step(span, most.max(2));
    let before = (1..=origin.saturating_sub(from) / step).rev().map(|number| (origin - number * step, number, "−"));
    let since = |at: u64| at.checked_sub(origin);
    let first = since(from).unwrap_or(0).div_ceil(step);
    let after = since(to).map(|last| first..=last / step).into_iter().flatten();
    let after = after.map(|number| (origin + number * step, number, ""));
    let at = before.chain(after).take_while(|(at, ..)| *at <= to);
    let at = at.map(|(at, number, sign)| (at, format!("{sign}{}", in_unit(number * step, unit_ns)))).collect();
    AxisTicks { unit, at }
}

/// Round numbers from `from` to `to`, at most `most` of them (at least 2).
pub(crate) fn round_ticks(from: u64, to: u64, most: u64) -> Vec<u64> {
    let step = round_step(to.saturating_sub(from), most.max(2));
    (from.div_ceil(step)..=to / step).map(|tick| tick * step).collect()
}

/// The smallest 1-2-5 step of which `span` holds fewer than `most`.
fn round_step(span: u64, most: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        count_turn();
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if span / step < most {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// The exact decimal of `ns` in a unit that is a power of ten.
fn in_unit(ns: u64, unit_ns: u64) -> String {
    let (whole, rest) = (ns / unit_ns, ns % unit_ns);
    if rest == 0 {
        return whole.to_string();
    }
    let width = unit_ns.ilog10() as usize;
    format!("{whole}.{}", format!("{rest:0width$}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(from: u64, to: u64, most: u64) -> (Vec<String>, &'static str) {
        let ticks = time_ticks(from, to, most);
        (ticks.at.into_iter().map(|(_, label)| label).collect(), ticks.unit)
    }

    #[test]
    fn steps_are_one_two_or_five_times_a_power_of_ten() {
        assert_eq!(
            labels(0, 4_100_000_000, 10),
            (["0", "0.5", "1", "1.5", "2", "2.5", "3", "3.5", "4"].map(String::from).to_vec(), "s")
        );
        assert_eq!(labels(0, 4_100_000_000, 5), (["0", "1", "2", "3", "4"].map(String::from).to_vec(), "s"));
        assert_eq!(labels(0, 1_700_000, 5), (["0", "500", "1000", "1500"].map(String::from).to_vec(), "µs"));
    }

    #[test]
    fn a_window_far_from_zero_has_exact_labels() {
        assert_eq!(
            labels(12_300_000_000, 12_303_000_000, 4),
            (["12300", "12301", "12302", "12303"].map(String::from).to_vec(), "ms")
        );
    }

    #[test]
    fn an_axis_may_count_from_within_the_window() {
        let ticks = time_ticks_since(1_300, 250, 2_400, 5);
        assert_eq!(
            ticks.at,
            [(300, "−1"), (800, "−0.5"), (1_300, "0"), (1_800, "0.5"), (2_300, "1")]
                .map(|(at, text)| (at, text.to_owned()))
                .to_vec()
        );
        assert_eq!(time_ticks_since(3_000, 0, 2_000, 5).at.len(), 5);
    }

    #[test]
    fn the_longest_time_has_ticks() {
        let ticks = time_ticks(0, u64::MAX, 6);
        assert!((2..=6).contains(&ticks.at.len()), "{ticks:?}");
    }

    #[test]
    fn one_nanosecond_has_two_ticks() {
        assert_eq!(labels(0, 1, 6).0, ["0", "1"]);
    }
}
