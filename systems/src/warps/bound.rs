//! Proven bounds on the makespan, for any number of warps (`docs/warps.md` has the proofs); and what the report has in
//! their place: its pessimistic makespan and its approximation, which is not a bound.

use super::kernel_string::KernelString;
use crate::named::named;

/// A proven bound and the argument it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// No work-conserving schedule takes longer \[cycles\].
    pub cycles: u64,
    /// Which of the bounds is the smallest.
    pub by: BoundKind,
}

named! {
    /// Which argument proves a bound; its name is the bound as a formula, for tables and notes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BoundKind {
        /// While the last warp waits for a unit, that unit is busy with others: any sigma, any number of units.
        Waiting = "I + sum over units of floor((W - 1) I_u / sigma_u)",
        /// Letter changes force cycles in which both units work: two units, sigma = 1.
        Changes = "(I - M) W + M",
    }
}

/// The smallest proven bound on the worst-case makespan \[cycles\]. Time grows with the string, not with `warps`.
pub fn bound(string: &KernelString, warps: u32) -> Bound {
    let waiting = Bound { cycles: waiting_bound(string, warps), by: BoundKind::Waiting };
    match changes_bound(string, warps) {
        Some(cycles) if cycles <= waiting.cycles => Bound { cycles, by: BoundKind::Changes },
        _ => waiting,
    }
}

/// T <= I + sum over units u of `floor((W - 1) I_u / sigma_u)` \[cycles\]: the last warp executes in I cycles; in each
/// other cycle the unit it waits for serves sigma of the others.
pub(crate) fn waiting_bound(string: &KernelString, warps: u32) -> u64 {
    let Some(others) = warps.checked_sub(1) else { return 0 };
    let waits = (0..)
        .zip(string.units())
        .map(|(unit, kind)| u64::from(others) * string.steps_on(unit) / u64::from(kind.capacity));
    string.len() as u64 + waits.sum::<u64>()
}

/// T <= (I - M) W + M \[cycles\], M being the [weight of the letter changes](change_weight); `None` where it is not
/// proven: more than two units, or one that serves several warps per cycle.
pub(crate) fn changes_bound(string: &KernelString, warps: u32) -> Option<u64> {
    let used = (0..string.units().len()).filter(|&unit| string.steps_on(unit) > 0).count();
    if used > 2 || !string.one_warp_per_unit() {
        return None;
    }
    if warps == 0 {
        return Some(0);
    }
    let weight = change_weight(string);
    // Each change has a step before it, so the weight is below the length.
    Some((string.len() as u64 - weight) * u64::from(warps) + weight)
}

/// The report's string seen as its letter changes: M. Two neighbouring changes are linked when the run between them has
/// length 1; a linked group of k counts `ceil(k / 2)`.
pub(crate) fn change_weight(string: &KernelString) -> u64 {
    let runs: Vec<usize> = string.steps().chunk_by(|a, b| a.unit == b.unit).map(<[_]>::len).collect();
    let Some(changes) = runs.len().checked_sub(1).filter(|&changes| changes > 0) else { return 0 };
    let inner = &runs[1..changes];
    let groups = inner.split(|&run| run > 1);
    // Splitting the inner runs at the long ones gives the groups; a group of k changes has k - 1 short runs in it.
    groups.map(|short_runs| (short_runs.len() as u64 + 1).div_ceil(2)).sum()
}

/// No schedule at all is shorter \[cycles\]: a unit's work cannot begin before the steps in front of its first one
/// and leaves the steps behind its last one to do.
pub(crate) fn best_case_bound(string: &KernelString, warps: u32) -> u64 {
    if warps == 0 {
        return 0;
    }
    let of_unit = |unit: usize, capacity: u32| {
        let on_unit = |step: &super::kernel_string::InstructionCycle| step.unit == unit;
        let first = string.steps().iter().position(on_unit)?;
        let behind = string.steps().iter().rev().position(on_unit)?;
        let busy = (u64::from(warps) * string.steps_on(unit)).div_ceil(u64::from(capacity));
        Some(first as u64 + busy + behind as u64)
    };
    let units = (0..).zip(string.units()).filter_map(|(unit, kind)| of_unit(unit, kind.capacity)).max();
    units.unwrap_or(0).max(string.len() as u64)
}

/// The report's value T = `ceil(W / sigma_L) I_L + ceil(W / sigma_C) I_C` \[cycles\], over all units of the string
/// (Berezovskyi et al., HURRAY-TR-120710, 2012, Eq. 5 to 7, whose brackets are ceilings), sigma being the whole warps
/// that the units serve in a cycle after the transformation.
///
/// It bounds the makespan only if these are 1 ([`KernelString::one_warp_per_unit`]), as in all of the report's inputs:
/// "LL" with `sigma_L` = 2 and four warps can take 5 cycles, and this gives 4.
pub fn pessimistic(string: &KernelString, warps: u32) -> u64 {
    (0..).zip(string.units()).map(|(unit, kind)| u64::from(warps.div_ceil(kind.capacity)) * string.steps_on(unit)).sum()
}

/// The same with sigma as it stands, if that leaves [units over](super::Sigma::has_rest): 3/2 for 48 units, the CUDA
/// cores that the report's section 3 gives to compute capability 2.1. No bound: four warps of "C" take 4 cycles, and
/// this gives 3.
pub(crate) fn pessimistic_as_printed(string: &KernelString, warps: u32) -> Option<u64> {
    let used = || (0..).zip(string.units()).filter(|&(unit, _)| string.steps_on(unit) > 0);
    if !used().any(|(_, kind)| kind.sigma.has_rest()) {
        return None;
    }
    // What the transformation has repeated is counted already.
    let rounds = |sigma: super::Sigma| {
        if sigma.has_rest() { sigma.rounds(warps) } else { warps.div_ceil(sigma.capacity().get()).into() }
    };
    Some(used().map(|(unit, kind)| rounds(kind.sigma) * string.steps_on(unit)).sum())
}

/// The report's `T_approx(x)` (Berezovskyi et al., HURRAY-TR-120710, 2012, Eq. 42 and 43).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The smallest `ceil(W / y) T(y)` for y <= x \[cycles\]. NOT a bound: "LCL", one warp per unit: T(2) = 4, so
    /// four warps are estimated at 8 cycles, and they can take 9.
    pub cycles: u64,
    /// The smallest y that gives it.
    pub from: u32,
    /// The report's x: makespans of up to so many warps were known.
    pub known: u32,
}

/// The estimate for `warps` warps from the exact worst cases of 0, 1, ..., x warps; `None` where x is 0.
pub fn estimate(warps: u32, makespans: &[u64]) -> Option<Estimate> {
    let counts = || (0_u32..).zip(makespans).skip(1);
    let known = counts().map(|(count, _)| count).last()?;
    let values = counts().map(|(count, &makespan)| (u64::from(warps.div_ceil(count)) * makespan, count));
    values.min().map(|(cycles, from)| Estimate { cycles, from, known })
}

#[cfg(test)]
mod tests {
    use super::super::Unit;
    use super::*;

    fn string(text: &str) -> KernelString {
        KernelString::parse(text, &[Unit::new('L'), Unit::new('C')]).unwrap()
    }

    #[test]
    fn linked_changes_count_half() {
        let cases =
            [("L", 0), ("LLL", 0), ("LLC", 1), ("LLCLL", 1), ("LCLCL", 2), ("LLCC", 1), ("LCL", 1), ("LLCCLL", 2)];
        for (text, weight) in cases {
            assert_eq!(change_weight(&string(text)), weight, "{text}");
        }
        // Changes 1 to 3 are linked, the run of two breaks the chain, changes 4 and 5 are linked.
        assert_eq!(change_weight(&string("LCLCCLC")), 2 + 1);
    }

    #[test]
    fn bound_of_llc_is_two_w_plus_one() {
        for warps in 1..50 {
            assert_eq!(bound(&string("LLC"), warps).cycles, u64::from(2 * warps + 1));
            assert_eq!(bound(&string("LLCC"), warps).cycles, u64::from(3 * warps + 1));
        }
        assert_eq!(bound(&string("LCLCL"), 600), Bound { cycles: 1802, by: BoundKind::Changes });
        assert_eq!(bound(&string("LLC"), 0).cycles, 0);
    }

    #[test]
    fn the_estimate_of_four_lcl_warps_is_below_what_they_can_take() {
        // T(1), T(2) by hand: 3 and 4.
        assert_eq!(estimate(4, &[0, 3, 4]), Some(Estimate { cycles: 8, from: 2, known: 2 }));
        assert_eq!(estimate(5, &[0, 3]), Some(Estimate { cycles: 15, from: 1, known: 1 }));
        assert_eq!(estimate(5, &[0]), None);
        assert_eq!(estimate(0, &[0, 3]), Some(Estimate { cycles: 0, from: 1, known: 1 }));
    }
}
