//! Algorithm 2 as the thesis prints it (section 3.4): small, slow, and what the fast forms are held against.
//!
//! What print leaves to the text is done as the text and its example say: a pair that was taken out of h is gone,
//! pairs of equal time are added up, and (Fig. 3.3) a kernel released after `t_a` starts at its release, when
//! everything that has ended by then is free. With C = 0 the printed loop would not end; see `run`.

use std::num::NonZeroU32;
use std::ops::ControlFlow;

use serde::Serialize;

use super::merged_sm::MergedKernel;
use super::task::TimeOverflow;
use crate::limits::count_steps;
use crate::time::Instant;

/// What one turn of the algorithm's loop did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
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
pub(crate) fn finish_times(g_max: NonZeroU32, tasks: &[MergedKernel]) -> Result<Vec<Instant>, TimeOverflow> {
    run(g_max, tasks, EmptyPairs::Entered, |_, _| ControlFlow::Continue(()))
}

/// Pairs of h of the turns that are listed, for each turn that may be.
pub(super) const PAIRS_OF_A_STEP: usize = 64;

/// Every turn of the algorithm's loop, `most` at most, with [`PAIRS_OF_A_STEP`] times as many pairs of h at most;
/// [`None`] if there are more.
///
/// # Errors
/// [`TimeOverflow`].
pub(crate) fn steps(g_max: NonZeroU32, tasks: &[MergedKernel], most: usize) -> Result<Option<Vec<Turn>>, TimeOverflow> {
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
        steps.push(Turn { h, ..step });
        ControlFlow::Continue(())
    })?;
    Ok((!is_over).then_some(steps))
}

/// What to do with pairs (t, 0), which the algorithm enters into h after a kernel that has used up `g_f` exactly. They
/// change no finish time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmptyPairs {
    /// As printed. Taken out of h, such a pair frees nothing and comes back one block time later, so there is one more
    /// of them for every such kernel. It is gone where it falls on the time of another pair, to which it adds nothing.
    Entered,
    /// They are left out.
    LeftOut,
}

/// The work of the algorithm's loop, the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LoopWork {
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
    pub(crate) fn turns(&self) -> usize {
        self.finishing_turns + self.placing_turns
    }
}

/// How much the algorithm's loop does.
///
/// # Errors
/// [`TimeOverflow`].
pub(crate) fn work(g_max: NonZeroU32, tasks: &[MergedKernel], empty: EmptyPairs) -> Result<LoopWork, TimeOverflow> {
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
    mut observe: impl FnMut(Turn, &[(Instant, u32)]) -> ControlFlow<()>,
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
        let before = (i, t_a, g_f, g_i);
        let end = t_a.checked_add(tasks[i].block_time).ok_or(TimeOverflow)?;
        let mut finish = None;
        if g_f >= g_i {
            f.push(end);
            finish = Some(end);
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
        let (kernel, old_t_a, old_g_f, to_place) = before;
        let step =
            Turn { kernel, t_a: old_t_a, g_f: old_g_f, to_place, finish, h: Vec::new(), next_t_a: t_a, next_g_f: g_f };
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

#[cfg(test)]
mod tests {
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
            let keep = |step: Turn, _: &[_]| {
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
}
