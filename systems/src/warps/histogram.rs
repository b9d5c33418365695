//! Histograms of warps, numbered so that a step only leads to smaller numbers.
//!
//! Warps are alike, so a state is how many have yet to do each step: `left[k]` warps have not done step k, and
//! `left[0] <= left[1] <= ... <= left[I - 1] <= W`. The states are numbered in the combinatorial number system,
//! `sum over k of C(left[k] + k, k + 1)` with k from 0: without gaps, the states of y < W warps first, and every step
//! of a warp lowers one `left` and so the number. A table indexed by it needs no keys and is filled from the front.

use super::kernel_string::KernelString;

/// `C(left + k, k + 1)` for each step k and each number of warps: what `left[k]` adds to a state's number.
#[derive(Debug)]
pub(super) struct Numbering {
    /// One row of `warps + 1` entries per step.
    terms: Vec<usize>,
    warps: usize,
}

/// The number of histograms of up to `warps` warps over `steps` steps, C(W + I, I); `None` beyond 64 bits.
pub(super) fn states(steps: usize, warps: u32) -> Option<u64> {
    let (small, large) =
        if (warps as usize) < steps { (warps.into(), steps as u64) } else { (steps as u64, warps.into()) };
    let mut count: u128 = 1;
    for factor in 1..=small {
        // Exact: the product of the first `factor` quotients is itself a binomial coefficient.
        count = count * u128::from(large + factor) / u128::from(factor);
        if count > u128::from(u64::MAX) {
            return None;
        }
    }
    u64::try_from(count).ok()
}

impl Numbering {
    /// For a table of `states(steps, warps)` entries, which must fit `usize`.
    pub(super) fn new(steps: usize, warps: u32) -> Self {
        let warps = warps as usize;
        let mut terms: Vec<usize> = (0..=warps).collect();
        for step in 1..steps {
            let mut sum = 0;
            for left in 0..=warps {
                // C(n + k, k + 1) = sum over m <= n of C(m + k - 1, k).
                sum += terms[(step - 1) * (warps + 1) + left];
                terms.push(sum);
            }
        }
        Self { terms, warps }
    }

    /// Bytes that [`Self::new`] takes.
    pub(super) fn bytes(steps: usize, warps: u32) -> u64 {
        (steps as u64).saturating_mul(u64::from(warps) + 1).saturating_mul(size_of::<usize>() as u64)
    }

    /// By how much a state's number falls when `moved` of the `left` warps do step `step`.
    #[inline]
    pub(super) fn fall(&self, step: usize, left: u32, moved: u32) -> usize {
        let row = step * (self.warps + 1);
        self.terms[row + left as usize] - self.terms[row + (left - moved) as usize]
    }

    /// The number of the state in which none of `warps` warps has begun.
    pub(super) fn start(&self, steps: usize, warps: u32) -> usize {
        (0..steps).map(|step| self.terms[step * (self.warps + 1) + warps as usize]).sum()
    }
}

/// A histogram: how many warps have yet to do each step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Histogram(pub(super) Vec<u32>);

impl Histogram {
    /// Nobody has begun.
    pub(super) fn start(string: &KernelString, warps: u32) -> Self {
        Self(vec![warps; string.len()])
    }

    /// Warps that would do `step` next.
    #[inline]
    pub(super) fn ready(&self, step: usize) -> u32 {
        self.0[step] - if step == 0 { 0 } else { self.0[step - 1] }
    }

    pub(super) fn unfinished(&self) -> u32 {
        self.0.last().copied().unwrap_or(0)
    }

    /// These warps do these steps.
    pub(super) fn apply(&mut self, picks: &[Pick]) {
        for pick in picks {
            self.0[pick.step] -= pick.warps;
        }
    }

    /// Goes to the histogram with the next number.
    #[inline]
    pub(super) fn advance(&mut self) {
        for step in 0..self.0.len() {
            if self.0.get(step + 1).is_none_or(|&next| self.0[step] < next) {
                self.0[step] += 1;
                return;
            }
            self.0[step] = 0;
        }
    }
}

/// How many warps do which step in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pick {
    /// Index into the string's steps.
    pub(super) step: usize,
    /// How many warps do it; at least 1.
    pub(super) warps: u32,
}

/// Calls `found` with every selection that a work-conserving scheduler may make for one unit: all warps that hold it,
/// and as many of the others that are ready for it as it has room for. Nothing is found where nobody is ready.
pub(super) fn for_each_choice(
    string: &KernelString,
    histogram: &Histogram,
    unit: usize,
    found: &mut impl FnMut(&[Pick]),
) {
    let mut picks = Vec::new();
    let (mut waiting, mut room) = (Vec::new(), string.units()[unit].capacity);
    let mut waiting_warps = 0_u32;
    for (step, ready) in ready_steps(string, histogram, unit) {
        if string.steps()[step].held {
            picks.push(Pick { step, warps: ready });
            // More holders than places is a histogram that no schedule reaches; whatever it gives is never used.
            room = room.saturating_sub(ready);
        } else {
            waiting.push(Pick { step, warps: ready });
            waiting_warps += ready;
        }
    }
    let take = room.min(waiting_warps);
    if take > 0 || !picks.is_empty() {
        compositions(&waiting, waiting_warps, take, &mut picks, found);
    }
}

/// The steps on `unit` for which warps are ready, and how many are.
fn ready_steps(string: &KernelString, histogram: &Histogram, unit: usize) -> impl Iterator<Item = (usize, u32)> {
    let on_unit = (0..).zip(string.steps()).filter(move |(_, step)| step.unit == unit);
    on_unit.map(|(step, _)| (step, histogram.ready(step))).filter(|&(_, ready)| ready > 0)
}

/// All ways to take `take` of the waiting warps, who are `total`, appended to what `picks` holds already.
fn compositions(waiting: &[Pick], total: u32, take: u32, picks: &mut Vec<Pick>, found: &mut impl FnMut(&[Pick])) {
    let Some((first, rest)) = waiting.split_first().filter(|_| take > 0) else {
        found(picks);
        return;
    };
    let behind = total - first.warps;
    for warps in take.saturating_sub(behind)..=take.min(first.warps) {
        if warps > 0 {
            picks.push(Pick { step: first.step, warps });
        }
        compositions(rest, behind, take - warps, picks, found);
        if warps > 0 {
            picks.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Unit;
    use super::*;

    #[test]
    fn histograms_are_numbered_without_gaps_and_fewer_warps_come_first() {
        let string = KernelString::parse("LLCL", &[Unit::new('L'), Unit::new('C')]).unwrap();
        let numbering = Numbering::new(4, 6);
        let mut histogram = Histogram(vec![0; 4]);
        for number in 0..states(4, 6).unwrap() {
            let by_terms: usize = (0..4).map(|step| numbering.fall(step, histogram.0[step], histogram.0[step])).sum();
            assert_eq!(by_terms as u64, number);
            assert!(histogram.0.is_sorted());
            histogram.advance();
        }
        assert_eq!(histogram.unfinished(), 7);
        for warps in 0..=6 {
            assert_eq!(numbering.start(4, warps) as u64 + 1, states(4, warps).unwrap());
            assert_eq!(Histogram::start(&string, warps).unfinished(), warps);
        }
        assert_eq!(states(5, 30), Some(324_632));
        assert_eq!(states(600, 600), None);
    }

    fn choices(text: &str, capacity: &str, left: &[u32]) -> Vec<Vec<(usize, u32)>> {
        let units = [Unit { sigma: capacity.parse().unwrap(), ..Unit::new('L') }, Unit::new('C')];
        let string = KernelString::parse(text, &units).unwrap();
        let mut all = Vec::new();
        for_each_choice(&string, &Histogram(left.to_vec()), 0, &mut |picks| {
            all.push(picks.iter().map(|pick| (pick.step, pick.warps)).collect());
        });
        all
    }

    #[test]
    fn a_unit_is_filled_as_far_as_warps_are_ready() {
        // One warp is ready for step 0, two for step 2.
        assert_eq!(choices("LCL", "1", &[1, 1, 3]), [vec![(2, 1)], vec![(0, 1)]]);
        assert_eq!(choices("LCL", "2", &[1, 1, 3]), [vec![(2, 2)], vec![(0, 1), (2, 1)]]);
        assert_eq!(choices("LCL", "4", &[1, 1, 3]), [vec![(0, 1), (2, 2)]]);
        assert_eq!(choices("LCL", "1", &[0, 3, 3]), Vec::<Vec<_>>::new());
    }
}
