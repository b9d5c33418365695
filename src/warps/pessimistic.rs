//! The report's pessimistic makespan.

use super::kernel_string::KernelString;

/// The report's value T = `ceil(W / sigma_L) I_L + ceil(W / sigma_C) I_C` \[cycles\], over all units of the string
/// (Berezovskyi et al., HURRAY-TR-120710, 2012, Eq. 5 to 7, whose brackets are ceilings).
///
/// It bounds the makespan only if every sigma is at most 1 ([`KernelString::one_warp_per_unit`] after transformation):
/// "LL" with `sigma_L` = 2 and four warps can take 5 cycles, and this gives 4.
#[must_use]
pub fn pessimistic(string: &KernelString, warps: u32) -> u64 {
    (0..).zip(string.units()).map(|(unit, kind)| u64::from(warps.div_ceil(kind.capacity)) * string.steps_on(unit)).sum()
}
