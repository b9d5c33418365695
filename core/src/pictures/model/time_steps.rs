//! Sums over time: how much there is at once and when that changes; and averages over steps of time, for pictures in
//! which single changes are too many to be seen.

use std::convert::Infallible;
use std::ops::Range;

use crate::proven::OrMost;
use crate::time::{Duration, Instant};
use crate::trace::SumOverTime;

/// How much there is at once of some amounts, which are in the order of their beginnings: the instants at which that
/// changes, and how much it is from there on. What takes no time is left out.
pub(crate) fn changes(amounts: impl Iterator<Item = (Range<Instant>, u64)>) -> Vec<(Instant, u64)> {
    let mut changes: Vec<(Instant, u64)> = Vec::new();
    let mut emit = |at, sum| {
        if changes.last().is_none_or(|(_, last)| *last != sum) {
            changes.push((at, sum));
        }
        Ok::<(), Infallible>(())
    };
    let mut sums = SumOverTime::default();
    for (time, amount) in amounts {
        let Ok(()) = sums.add(time, amount, &mut emit);
    }
    let Ok(()) = sums.finish(&mut emit);
    changes
}

/// A window of time, divided into steps.
pub(crate) struct TimeSteps {
    window: Range<Instant>,
    count: usize,
    /// Where they begin, and where the last ends \[ns from the beginning of the window\]; `None`: they are equal.
    edges: Option<Vec<u64>>,
}

impl TimeSteps {
    /// At most `most` equal steps, none of them shorter than 1 ns.
    pub(crate) fn new(window: Range<Instant>, most: u64) -> Self {
        let mut steps = Self { window, count: 1, edges: None };
        steps.count = usize::try_from(most.min(steps.span_ns())).unwrap_or(1).max(1);
        steps
    }

    /// Steps from one edge to the next; those in the window, in order, and those of the window.
    pub(crate) fn between(window: Range<Instant>, edges: &[Instant]) -> Self {
        let mut steps = Self { window, count: 1, edges: None };
        let ns = |at: &Instant| at.since(steps.window.start).as_ns();
        let mut all = vec![0];
        all.extend(edges.iter().filter(|at| **at < steps.window.end).map(ns));
        all.push(steps.span_ns());
        all.dedup();
        steps.count = all.len() - 1;
        steps.edges = Some(all);
        steps
    }

    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    /// How long a step is \[ns\], at least 1.
    pub(crate) fn length(&self, step: usize) -> u128 {
        (self.edge(step + 1) - self.edge(step)).max(1)
    }

    /// Length of the window \[ns\], at least 1.
    fn span_ns(&self) -> u64 {
        self.window.end.since(self.window.start).as_ns().max(1)
    }

    /// When a step begins, or the last one ends.
    pub(crate) fn begin(&self, step: usize) -> Instant {
        self.window.start + Duration::from_ns(u64::try_from(self.edge(step)).or_most())
    }

    /// Whether all are of one length, but for what does not divide.
    pub(crate) const fn are_equal(&self) -> bool {
        self.edges.is_none()
    }

    /// The beginning of a step, or the end of the last one \[ns from the beginning of the window\].
    fn edge(&self, step: usize) -> u128 {
        if let Some(edges) = &self.edges {
            return edges.get(step).copied().unwrap_or_else(|| self.span_ns()).into();
        }
        u128::from(self.span_ns()) * step as u128 / self.count as u128
    }

    /// The step in which a time lies.
    fn of(&self, ns: u128) -> usize {
        if let Some(edges) = &self.edges {
            return edges.partition_point(|edge| u128::from(*edge) <= ns).clamp(1, self.count) - 1;
        }
        let guess = ns * self.count as u128 / u128::from(self.span_ns());
        let guess = usize::try_from(guess).or_most().min(self.count - 1);
        if guess + 1 < self.count && self.edge(guess + 1) <= ns { guess + 1 } else { guess }
    }
}

/// Sums of units times time, by step.
pub(crate) struct StepSums {
    /// What reaches over part of a step \[units x ns\].
    partial: Vec<u128>,
    /// What reaches over whole steps: units that begin and end \[units\].
    begins: Vec<u64>,
    ends: Vec<u64>,
}

impl StepSums {
    pub(crate) fn new(steps: &TimeSteps) -> Self {
        let count = steps.count;
        Self { partial: vec![0; count], begins: vec![0; count + 1], ends: vec![0; count + 1] }
    }

    /// Adds `units` for the part of `time` that is in the window. The end is not in it.
    pub(crate) fn add(&mut self, time: Range<Instant>, units: u64, steps: &TimeSteps) {
        let window = &steps.window;
        let ns = |instant: Instant| u128::from(window.end.min(instant).since(window.start).as_ns());
        let (start, end) = (ns(time.start), ns(time.end));
        if start >= end {
            return;
        }
        let (first, last) = (steps.of(start), steps.of(end - 1));
        if first == last {
            self.partial[first] += u128::from(units) * (end - start);
            return;
        }
        self.partial[first] += u128::from(units) * (steps.edge(first + 1) - start);
        self.partial[last] += u128::from(units) * (end - steps.edge(last));
        self.begins[first + 1] += units;
        self.ends[last] += units;
    }

    /// Units x ns of each step.
    pub(crate) fn totals(&self, steps: &TimeSteps) -> Vec<u128> {
        let mut units: u64 = 0;
        (0..steps.count)
            .map(|step| {
                units = units + self.begins[step] - self.ends[step];
                self.partial[step] + u128::from(units) * (steps.edge(step + 1) - steps.edge(step))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_lies_across_steps_counts_in_each_of_them() {
        let at = Instant::from_ns;
        let steps = TimeSteps::new(at(10)..at(40), 3);
        let mut sums = StepSums::new(&steps);
        sums.add(at(0)..at(15), 2, &steps);
        sums.add(at(15)..at(35), 4, &steps);
        sums.add(at(39)..at(90), 8, &steps);
        // By hand: 2 x 5 + 4 x 5; 4 x 10; 4 x 5 + 8 x 1.
        assert_eq!(sums.totals(&steps), [30, 40, 28]);
    }

    proptest! {
        /// Steps of one nanosecond, summed up, are the plain algorithm.
        #[test]
        fn totals_are_the_units_of_every_nanosecond(
            start in 0..50_u64,
            length in 1..200_u64,
            most in 1..60_u64,
            edges in prop::option::of(prop::collection::btree_set(0..300_u64, 0..12)),
            amounts in prop::collection::vec((0..260_u64, 0..100_u64, 0..9_u64), 0..20),
        ) {
            let at = Instant::from_ns;
            let window = at(start)..at(start + length);
            let steps = match &edges {
                None => TimeSteps::new(window, most),
                Some(edges) => TimeSteps::between(window, &edges.iter().map(|ns| at(*ns)).collect::<Vec<_>>()),
            };
            let mut sums = StepSums::new(&steps);
            let mut plain = vec![0_u128; usize::try_from(length).expect("small")];
            for (from, lasts, units) in amounts {
                sums.add(at(from)..at(from + lasts), units, &steps);
                for ns in from.max(start)..(from + lasts).min(start + length) {
                    plain[usize::try_from(ns - start).expect("small")] += u128::from(units);
                }
            }
            let edges: Vec<usize> =
                (0..=steps.count()).map(|step| usize::try_from(steps.edge(step)).expect("small")).collect();
            let expected: Vec<u128> = edges.windows(2).map(|pair| plain[pair[0]..pair[1]].iter().sum()).collect();
            prop_assert_eq!(sums.totals(&steps), expected);
        }
    }
}
