//! The report's pessimistic makespan.

use super::kernel_string::KernelString;

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
