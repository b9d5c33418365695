//! Algorithm 2 as the thesis prints it (section 3.4): small, slow, and what the fast forms are held against.
//!
//! What print leaves to the text is done as the text and its example say: a pair that was taken out of h is gone,
//! pairs of equal time are added up, and (Fig. 3.3) a kernel released after `t_a` starts at its release, when
//! everything that has ended by then is free. With C = 0 the printed loop would not end; see `run`.

use std::num::NonZeroU32;
use std::ops::ControlFlow;

use serde::Serialize;

use super::merged_sm::{MergedKernel, TimeOverflow};
use crate::limits::count_steps;
use crate::time::{Duration, Instant};

/// One step of Algorithm 2: what one turn of its loop did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AlgorithmStep {
    /// Index of the kernel i.
    pub kernel: usize,
    /// `t_a` before the turn.
    pub t_a: Instant,
    /// `g_f` before the turn.
    pub g_f: u32,
    /// `g_i` before the turn: blocks still to be placed.
    pub to_place: u32,
    /// `f_i`, if the turn placed the last of them ("`g_f` >= `g_i`? yes").
    pub finish: Option<Instant>,
    /// h after the turn, ascending.
    pub h: Vec<(Instant, u32)>,
    /// `t_a` after the turn.
    pub next_t_a: Instant,
    /// `g_f` after the turn.
    pub next_g_f: u32,
}

/// Finish times by the printed algorithm, of kernels in the order in which they enter the EE queue.
///
/// # Errors
/// [`TimeOverflow`].
#[doc(hidden)]
pub fn finish_times(g_max: NonZeroU32, tasks: &[MergedKernel]) -> Result<Vec<Instant>, TimeOverflow> {
    run(g_max, tasks, EmptyPairs::Entered, |_, _| ControlFlow::Continue(()))
}

/// Pairs of h of the turns that are listed, for each turn that may be.
pub(super) const PAIRS_OF_A_STEP: usize = 64;

/// Every turn of the algorithm's loop, `most` at most, with [`PAIRS_OF_A_STEP`] times as many pairs of h at most;
/// [`None`] if there are more.
///
/// # Errors
/// [`TimeOverflow`].
#[doc(hidden)]
pub fn steps(
    g_max: NonZeroU32,
    tasks: &[MergedKernel],
    most: usize,
) -> Result<Option<Vec<AlgorithmStep>>, TimeOverflow> {
    let turns: u64 = tasks.iter().map(|task| u64::from(task.blocks / g_max) + 1).sum();
    if usize::try_from(turns).map_or(true, |turns| turns > most) {
        return Ok(None);
    }
    let mut steps = Vec::new();
    let (mut is_over, mut pairs) = (false, 0);
    run(g_max, tasks, EmptyPairs::Entered, |step, h| {
        // Pairs without blocks come back however often, which the blocks do not tell.
        pairs += h.len();
        is_over = steps.len() == most || pairs > most.saturating_mul(PAIRS_OF_A_STEP);
        if is_over {
            return ControlFlow::Break(());
        }
        let mut h = h.to_vec();
        h.sort_unstable();
        steps.push(AlgorithmStep { h, ..step });
        ControlFlow::Continue(())
    })?;
    Ok((!is_over).then_some(steps))
}

/// What to do with pairs (t, 0), which the algorithm enters into h after a kernel that has used up `g_f` exactly. They
/// change no finish time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum EmptyPairs {
    /// As printed. Taken out of h, such a pair frees nothing and comes back one block time later, so there is one more
    /// of them for every such kernel. It is gone where it falls on the time of another pair, to which it adds nothing.
    Entered,
    /// They are left out.
    LeftOut,
}

/// The work of the algorithm's loop, the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[doc(hidden)]
pub struct LoopWork {
    /// Turns that take the branch of `g_f` >= `g_i`: one for each kernel.
    pub finishing_turns: usize,
    /// Turns that take the other branch.
    pub placing_turns: usize,
    /// Pairs of h that `min` looks at, in all turns together.
    pub pairs_compared: u64,
    /// The most pairs that h has had.
    pub most_pairs: usize,
}

impl LoopWork {
    /// All turns.
    #[doc(hidden)]
    pub fn turns(&self) -> usize {
        self.finishing_turns + self.placing_turns
    }
}

/// How much the algorithm's loop does.
///
/// # Errors
/// [`TimeOverflow`].
#[doc(hidden)]
pub fn work(g_max: NonZeroU32, tasks: &[MergedKernel], empty: EmptyPairs) -> Result<LoopWork, TimeOverflow> {
    let mut work = LoopWork::default();
    run(g_max, tasks, empty, |step, h| {
        // The turn has taken out one pair, if it was of the other branch.
        let taken = usize::from(step.finish.is_none());
        if taken == 0 {
            work.finishing_turns += 1;
        } else {
            work.placing_turns += 1;
            work.pairs_compared += h.len() as u64 + 1;
        }
        work.most_pairs = work.most_pairs.max(h.len() + taken);
        ControlFlow::Continue(())
    })?;
    Ok(work)
}

fn run(
    g_max: NonZeroU32,
    tasks: &[MergedKernel],
    empty: EmptyPairs,
    mut observe: impl FnMut(AlgorithmStep, &[(Instant, u32)]) -> ControlFlow<()>,
) -> Result<Vec<Instant>, TimeOverflow> {
    let mut f = Vec::with_capacity(tasks.len());
    let (mut t_a, mut g_f) = (Instant::ZERO, g_max.get());
    let mut h: Vec<(Instant, u32)> = Vec::new();
    let mut i = 0;
    let mut g_i = tasks.first().map_or(0, |task| task.blocks);
    while i < tasks.len() {
        count_steps(h.len());
        // Fig. 3.3 (b).
        if tasks[i].release > t_a {
            t_a = tasks[i].release;
            g_f += h.iter().filter(|(t, _)| *t <= t_a).map(|(_, g)| g).sum::<u32>();
            h.retain(|(t, _)| *t > t_a);
        }
        let end = t_a.checked_add(tasks[i].block_time).ok_or(TimeOverflow)?;
        let (kernel, to_place, (next_t_a, next_g_f)) = (i, g_i, (t_a, g_f));
        let mut step = AlgorithmStep { kernel, t_a, g_f, to_place, finish: None, h: Vec::new(), next_t_a, next_g_f };
        if g_f >= g_i {
            f.push(end);
            step.finish = Some(end);
            add(&mut h, end, g_i);
            g_f -= g_i;
            i += 1;
            g_i = tasks.get(i).map_or(0, |task| task.blocks);
        } else {
            g_i -= g_f;
            // A pair (t, 0) that ends at once would come out again for ever.
            if g_f > 0 || empty == EmptyPairs::Entered && end > t_a {
                add(&mut h, end, g_f);
            }
            // h is not empty: free and tracked blocks together are g_max, and g_f < g_i.
            let Some(index) = (0..h.len()).min_by_key(|&index| h[index].0) else { break };
            (t_a, g_f) = h.swap_remove(index);
        }
        (step.next_t_a, step.next_g_f) = (t_a, g_f);
        if observe(step, &h).is_break() {
            break;
        }
    }
    Ok(f)
}

/// Appends a pair to h; pairs of equal time are added up.
fn add(h: &mut Vec<(Instant, u32)>, time: Instant, blocks: u32) {
    match h.iter_mut().find(|(t, _)| *t == time) {
        Some((_, g)) => *g += blocks,
        None => h.push((time, blocks)),
    }
}

/// Finish times of kernels with `grids` blocks of length C = `block_time`, all released at t = 0, on a merged SM of
/// `g_max` blocks.
///
/// With d = `g_i` - `g_f`: if d <= 0, `f_i` = `t_a` + C and `g_f` decreases by `g_i`. Otherwise K = floor((d - 1) /
/// `g_max`), `t_a` increases by (K + 1) C, `f_i` = `t_a` + C, `g_f` = `g_max` - (d - K `g_max`).
///
/// This is the thesis' special case (section 3.6): all kernels released together and all blocks of the same length.
/// No h is needed then, and each kernel costs the same whatever its grid. These are the corrected equations;
/// `printed_with_cases` and `printed_without_cases` have those in print, to show where they differ (`docs/errata.md`,
/// entries 1 and 2).
///
/// # Errors
/// [`TimeOverflow`].
#[doc(hidden)]
pub fn equal_finish_times(
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
#[doc(hidden)]
pub type HalfNs = i128;

/// Eq. 3.8 to 3.10 with their case distinction: K = `floor((g_i` - `g_f`) / `g_max`), `g_f` = `g_max` - (`g_i` - `g_f`
/// - K `g_max`), `t_a` = `t_a` + C + K C, `f_i` = `t_a` + C.
#[doc(hidden)]
pub fn printed_with_cases(g_max: NonZeroU32, block_time: Duration, grids: &[u32]) -> Vec<HalfNs> {
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
#[doc(hidden)]
pub fn printed_without_cases(g_max: NonZeroU32, block_time: Duration, grids: &[u32]) -> Vec<HalfNs> {
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
    use crate::time::Duration;

    #[test]
    fn the_turn_of_section_3_5_of_which_the_thesis_has_the_finish_time_only() {
        let steps =
            steps(NonZeroU32::new(8).unwrap(), &together(&[(4, 2), (6, 7), (6, 2), (5, 5)]), 100).unwrap().unwrap();
        assert_eq!(steps.len(), 6);
        let last = &steps[5];
        let h: Vec<_> = last.h.iter().map(|(t, g)| (t.as_ns(), *g)).collect();
        assert_eq!((last.kernel, last.finish, h), (3, Some(Instant::from_ns(11)), vec![(10, 2), (11, 5), (12, 1)]));
        assert_eq!((last.next_t_a.as_ns(), last.next_g_f), (6, 0));
    }

    /// Kernels of (C, blocks) released together.
    fn together(kernels: &[(u64, u32)]) -> Vec<MergedKernel> {
        let kernel = |&(c, blocks): &(u64, u32)| MergedKernel {
            release: Instant::ZERO,
            block_time: Duration::from_ns(c),
            blocks,
        };
        kernels.iter().map(kernel).collect()
    }

    #[test]
    fn pairs_without_blocks_come_back_and_cost_turns_but_change_no_finish_time() {
        let g_max = NonZeroU32::new(4).unwrap();
        // Each kernel but the last uses up g_f exactly, and no two pairs of h fall on one time for long.
        let tasks = together(&[(101, 4), (103, 4), (107, 4), (109, 4), (113, 40)]);
        let of = |empty| {
            let mut f = Vec::new();
            let keep = |step: AlgorithmStep, _: &[_]| {
                f.extend(step.finish);
                ControlFlow::Continue(())
            };
            run(g_max, &tasks, empty, keep).unwrap();
            (f, work(g_max, &tasks, empty).unwrap())
        };
        let ((f, printed), (same, lean)) = (of(EmptyPairs::Entered), of(EmptyPairs::LeftOut));
        assert_eq!(f, same);
        // By hand: 4 blocks end together, so kernels 2 to 5 wait for 1, 1, 1 and 10 pairs.
        assert_eq!((lean.finishing_turns, lean.placing_turns, lean.most_pairs), (5, 13, 1));
        assert!(printed.placing_turns > 2 * lean.placing_turns && printed.most_pairs == 5, "{printed:?}");
    }

    #[test]
    fn a_pair_without_blocks_is_gone_where_it_falls_on_the_time_of_another() {
        let steps = steps(NonZeroU32::new(4).unwrap(), &together(&[(2, 4), (5, 4), (3, 3), (2, 8)]), 100).unwrap();
        let steps = steps.unwrap();
        let h: Vec<Vec<(u64, u32)>> =
            steps.iter().map(|step| step.h.iter().map(|(t, g)| (t.as_ns(), *g)).collect()).collect();
        // By hand: (5, 0) is taken out at 5 and comes back as (8, 0), is taken out at 8 and comes back at 10, to which
        // it adds nothing. From then on every pair has blocks.
        let by_hand: [Vec<(u64, u32)>; 12] = [
            vec![(2, 4)],
            vec![(5, 0)],
            vec![(5, 0), (7, 4)],
            vec![(7, 4)],
            vec![(8, 0)],
            vec![(8, 0), (10, 3)],
            vec![(9, 1), (10, 3)],
            vec![(10, 3)],
            vec![(11, 1)],
            vec![(12, 3)],
            vec![(13, 1)],
            vec![(13, 1), (14, 2)],
        ];
        assert_eq!(h, by_hand);
        let f: Vec<u64> = steps.iter().filter_map(|step| step.finish).map(Instant::as_ns).collect();
        assert_eq!(f, [2, 7, 10, 14]);
    }

    #[test]
    fn turns_of_two_kernels_grow_with_g_max_while_n_g_over_g_max_stays_4() {
        // g_max - 1 places are held for long, and g_max + 1 blocks pass one after another through the last one.
        for g_max in [8, 32, 128, 512] {
            let kernels = together(&[(1000, g_max - 1), (1, g_max + 1)]);
            let work = work(NonZeroU32::new(g_max).unwrap(), &kernels, EmptyPairs::LeftOut).unwrap();
            assert_eq!((work.turns(), work.most_pairs), (g_max as usize + 2, 2));
            let g: u32 = kernels.iter().map(|kernel| kernel.blocks).sum();
            assert_eq!(2 * g / g_max, 4);
        }
    }

    #[test]
    fn a_kernel_that_uses_up_g_f_costs_the_next_one_a_wasted_step() {
        let task = MergedKernel { release: Instant::ZERO, block_time: Duration::from_ns(3), blocks: 8 };
        let steps = steps(NonZeroU32::new(8).unwrap(), &[task, task], 100).unwrap().unwrap();
        // The second step enters (0 + 3, 0) into h.
        assert_eq!((steps[1].g_f, steps[1].to_place, steps[1].next_t_a.as_ns()), (0, 8, 3));
        assert_eq!(steps.len(), 3);
    }

    #[test]
    fn pairs_without_blocks_that_come_back_for_seconds_are_not_listed() {
        let (g_max, tasks) = (NonZeroU32::new(4).unwrap(), together(&[(10_000_000_000, 4), (1, 1)]));
        assert_eq!(steps(g_max, &tasks, 1_000), Ok(None));
        let few = steps(g_max, &together(&[(10, 4), (1, 1)]), 12).unwrap().map(|steps| steps.len());
        assert_eq!((few, steps(g_max, &together(&[(10, 4), (1, 1)]), 11)), (Some(12), Ok(None)));
    }

    #[test]
    fn a_release_after_t_a_finds_everything_free_that_has_ended() {
        // Fig. 3.3: released at 2, between the first block's end and the second's.
        let task = |release, c, blocks| MergedKernel {
            release: Instant::from_ns(release),
            block_time: Duration::from_ns(c),
            blocks,
        };
        let tasks = [task(0, 1, 1), task(0, 3, 1), task(2, 5, 2)];
        let f = finish_times(NonZeroU32::new(2).unwrap(), &tasks).unwrap();
        assert_eq!(f, [1, 3, 8].map(Instant::from_ns));
    }

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
        assert_eq!(equal_finish_times(g_max(8), C, &grids).unwrap(), [10, 20].map(Instant::from_ns));
        // 15 instead of 10; and then half of the GPU is held to be free at 5, so the second ends at 15, not at 20.
        assert_eq!(printed_without_cases(g_max(8), C, &grids), [30, 30]);
    }

    #[test]
    fn eq_3_10_and_3_14_are_one_block_time_late_when_the_rest_is_a_multiple_of_g_max() {
        assert_eq!(equal_finish_times(g_max(8), C, &[16]).unwrap(), [Instant::from_ns(20)]);
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
            prop_assert_eq!(equal_finish_times(g_max(blocks), C, &grids).unwrap(), algorithm);
        }

        #[test]
        fn printed_equations_differ_exactly_where_the_errata_say(
            blocks in 1_u32..10, grids in prop::collection::vec(1_u32..60, 1..12),
        ) {
            let right = halves(&equal_finish_times(g_max(blocks), C, &grids).unwrap());
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
