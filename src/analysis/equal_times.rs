//! The thesis' special case (section 3.6): all kernels released together and all blocks of the same length. No h is
//! needed then, and each kernel costs the same whatever its grid.
//!
//! [`finish_times`] has the corrected equations. `printed_with_cases` and `printed_without_cases` have those in
//! print, to show where they differ (`docs/errata.md`, entries 1 and 2).

use std::num::NonZeroU32;

use super::task::TimeOverflow;
use crate::time::{Duration, Instant};

/// Finish times of kernels with `grids` blocks of length C = `block_time`, all released at t = 0, on a merged SM of
/// `g_max` blocks.
///
/// With d = `g_i` - `g_f`: if d <= 0, `f_i` = `t_a` + C and `g_f` decreases by `g_i`. Otherwise K = floor((d - 1) /
/// `g_max`), `t_a` increases by (K + 1) C, `f_i` = `t_a` + C, `g_f` = `g_max` - (d - K `g_max`).
///
/// # Errors
/// [`TimeOverflow`].
pub(crate) fn finish_times(
    g_max: NonZeroU32,
    block_time: Duration,
    grids: &[u32],
) -> Result<Vec<Instant>, TimeOverflow> {
    let (mut t_a, mut g_f) = (Instant::ZERO, g_max.get());
    let finish = |t_a: Instant| t_a.checked_add(block_time).ok_or(TimeOverflow);
    grids
        .iter()
        .map(|&g_i| {
            if g_i <= g_f {
                g_f -= g_i;
                return finish(t_a);
            }
            let d = g_i - g_f;
            let k = (d - 1) / g_max;
            let waited = block_time.checked_mul(u64::from(k) + 1).ok_or(TimeOverflow)?;
            t_a = t_a.checked_add(waited).ok_or(TimeOverflow)?;
            g_f = g_max.get() - (d - k * g_max.get());
            finish(t_a)
        })
        .collect()
}

/// A finish time by equations in print, in half nanoseconds: with α = 1/2 they leave the integers.
pub(crate) type HalfNs = i128;

/// Eq. 3.8 to 3.10 with their case distinction: K = `floor((g_i` - `g_f`) / `g_max`), `g_f` = `g_max` - (`g_i` - `g_f`
/// - K `g_max`), `t_a` = `t_a` + C + K C, `f_i` = `t_a` + C.
pub(crate) fn printed_with_cases(g_max: NonZeroU32, block_time: Duration, grids: &[u32]) -> Vec<HalfNs> {
    let (c, g_max) = (2 * i128::from(block_time.as_ns()), i128::from(g_max.get()));
    let (mut t_a, mut g_f) = (0, g_max);
    grids
        .iter()
        .map(|&g_i| {
            let d = i128::from(g_i) - g_f;
            if d <= 0 {
                g_f = -d;
            } else {
                let k = d / g_max;
                g_f = g_max - (d - k * g_max);
                t_a += c + k * c;
            }
            t_a + c
        })
        .collect()
}

/// Eq. 3.12 to 3.15, which do without cases: K = `floor(|g_i` - `g_f`| / `g_max`), α = (`sgn(g_i` - `g_f`) + 1) / 2,
/// `t_a` = `t_a` + α C + K C, `g_f` = α `g_max` - (`g_i` - `g_f` - K `g_max`), `f_i` = `t_a` + C.
pub(crate) fn printed_without_cases(g_max: NonZeroU32, block_time: Duration, grids: &[u32]) -> Vec<HalfNs> {
    // Blocks are counted in halves too.
    let (c, g_max) = (i128::from(block_time.as_ns()), 2 * i128::from(g_max.get()));
    let (mut t_a, mut g_f) = (0, g_max);
    grids
        .iter()
        .map(|&g_i| {
            let d = 2 * i128::from(g_i) - g_f;
            let k = d.abs() / g_max;
            let twice_alpha = d.signum() + 1;
            t_a += twice_alpha * c + 2 * k * c;
            g_f = twice_alpha * (g_max / 2) - (d - k * g_max);
            t_a + 2 * c
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::merged_sm::{self, MergedKernel};
    use super::*;

    const C: Duration = Duration::from_ns(10);

    fn g_max(blocks: u32) -> NonZeroU32 {
        NonZeroU32::new(blocks).unwrap()
    }

    fn halves(finish: &[Instant]) -> Vec<HalfNs> {
        finish.iter().map(|finish| 2 * i128::from(finish.as_ns())).collect()
    }

    #[test]
    fn eq_3_13_advances_half_a_block_time_when_the_grid_is_just_what_is_free() {
        let grids = [8, 1];
        assert_eq!(finish_times(g_max(8), C, &grids).unwrap(), [10, 20].map(Instant::from_ns));
        // 15 instead of 10; and then half of the GPU is held to be free at 5, so the second ends at 15, not at 20.
        assert_eq!(printed_without_cases(g_max(8), C, &grids), [30, 30]);
    }

    #[test]
    fn eq_3_10_and_3_14_are_one_block_time_late_when_the_rest_is_a_multiple_of_g_max() {
        assert_eq!(finish_times(g_max(8), C, &[16]).unwrap(), [Instant::from_ns(20)]);
        assert_eq!(printed_with_cases(g_max(8), C, &[16]), [60]);
        assert_eq!(printed_without_cases(g_max(8), C, &[16]), [60]);
    }

    proptest! {
        #[test]
        fn closed_form_equals_the_algorithm(blocks in 1_u32..10, grids in prop::collection::vec(1_u32..60, 1..12)) {
            let kernels: Vec<_> = grids
                .iter()
                .map(|&blocks| MergedKernel { release: Instant::ZERO, block_time: C, blocks })
                .collect();
            let algorithm = merged_sm::finish_times(g_max(blocks), &kernels).unwrap();
            prop_assert_eq!(finish_times(g_max(blocks), C, &grids).unwrap(), algorithm);
        }

        #[test]
        fn printed_equations_differ_exactly_where_the_errata_say(
            blocks in 1_u32..10, grids in prop::collection::vec(1_u32..60, 1..12),
        ) {
            let right = halves(&finish_times(g_max(blocks), C, &grids).unwrap());
            let with_cases = printed_with_cases(g_max(blocks), C, &grids);
            let without_cases = printed_without_cases(g_max(blocks), C, &grids);
            let mut free = i64::from(blocks);
            let mut still_right = true;
            for (index, &grid) in grids.iter().enumerate() {
                let rest = i64::from(grid) - free;
                let late = rest > 0 && rest % i64::from(blocks) == 0;
                // f_i alone is wrong in Eq. 3.10: t_a and g_f describe the same state one block time later.
                let excess = if late { 2 * i128::from(C.as_ns()) } else { 0 };
                prop_assert_eq!(with_cases[index] - right[index], excess);
                still_right &= rest != 0;
                if still_right {
                    prop_assert_eq!(without_cases[index], with_cases[index]);
                } else if rest == 0 {
                    prop_assert_ne!(without_cases[index], right[index]);
                    break;
                }
                free = if rest <= 0 { -rest } else { (-rest).rem_euclid(i64::from(blocks)) };
                // The printed state has all of the GPU free where the right one has nothing.
                if late { free = i64::from(blocks); }
            }
        }
    }
}
