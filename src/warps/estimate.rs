//! The report's approximation of the worst case, which it calls safe and which is not a bound.

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
    use super::*;

    #[test]
    fn the_estimate_of_four_lcl_warps_is_below_what_they_can_take() {
        // T(1), T(2) by hand: 3 and 4.
        assert_eq!(estimate(4, &[0, 3, 4]), Some(Estimate { cycles: 8, from: 2, known: 2 }));
        assert_eq!(estimate(5, &[0, 3]), Some(Estimate { cycles: 15, from: 1, known: 1 }));
        assert_eq!(estimate(5, &[0]), None);
        assert_eq!(estimate(0, &[0, 3]), Some(Estimate { cycles: 0, from: 1, known: 1 }));
    }
}
