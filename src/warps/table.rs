//! Filling the table of cycles to go: the inner loop of the exact search.

use std::time::Instant;

use super::choice::for_each_choice;
use super::histogram::{Histogram, Numbering};
use super::kernel_string::KernelString;
use crate::effort::{self, Counted, Progress};
use crate::limits;

/// A number of cycles in the table. Whoever chooses the type has shown that no value overflows it.
pub(super) trait Cell: Copy + Ord {
    /// Nothing to do.
    const ZERO: Self;
    const MAX: Self;
    /// One cycle more.
    fn next(self) -> Self;
    fn cycles(self) -> u64;
}

macro_rules! cells {
    ($($number:ty),+) => {
        $(impl Cell for $number {
            const ZERO: Self = 0;
            const MAX: Self = <$number>::MAX;
            #[inline]
            fn next(self) -> Self {
                self + 1
            }
            fn cycles(self) -> u64 {
                u64::from(self)
            }
        })+
    };
}
cells!(u16, u32);

/// What looks at a search from time to time.
pub(super) struct Look<'w> {
    /// By when it ends.
    pub(super) deadline: Option<Instant>,
    /// Is told of states that have been searched.
    pub(super) searched: Progress<'w>,
}

/// How many transitions lie between two looks at the clock, about.
const WORK_PER_LOOK: usize = 1 << 16;

/// Appends the cycles to go from the states numbered 0, 1, ... to `cells`, longest path or shortest. Gives the number
/// of warps for which all states are there: fewer than asked for once the deadline has passed.
pub(super) fn fill<V: Cell, const WORST: bool>(
    string: &KernelString,
    numbering: &Numbering,
    states: usize,
    look: &Look<'_>,
    cells: &mut Vec<V>,
) -> u32 {
    let mut histogram = Histogram::start(string, 0);
    let mut falls = Falls::new(string);
    cells.push(V::ZERO);
    histogram.advance();
    let (mut work, mut told) = (WORK_PER_LOOK, 0);
    // Each step of a string is looked at for each state; of a short one that takes no longer than the transitions.
    let steps = string.len().saturating_sub(16);
    for number in 1..states {
        if work >= WORK_PER_LOOK {
            work = 0;
            limits::end_if_stopped();
            look.searched.advance((number - told) as u64);
            told = number;
            let is_over = effort::spend(Counted::States, WORK_PER_LOOK as u64 / 16).is_err();
            if is_over || look.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
        }
        falls.collect(string, numbering, &histogram);
        work += falls.used().iter().map(Vec::len).product::<usize>() + steps;
        cells.push(extreme::<V, WORST>(cells, number, falls.used()).next());
        histogram.advance();
    }
    // The histogram is the first that is missing: all states with fewer unfinished warps are there.
    histogram.unfinished().saturating_sub(1)
}

/// The most (or fewest) cycles to go after one selection from each list.
#[inline]
fn extreme<V: Cell, const WORST: bool>(cells: &[V], number: usize, lists: &[Vec<usize>]) -> V {
    let start = if WORST { V::ZERO } else { V::MAX };
    let better = |a: V, b: V| if WORST { a.max(b) } else { a.min(b) };
    match lists {
        [] => cells[number],
        [last] => last.iter().fold(start, |best, fall| better(best, cells[number - fall])),
        [first, second] => first.iter().fold(start, |best, fall| {
            let number = number - fall;
            second.iter().fold(best, |best, fall| better(best, cells[number - fall]))
        }),
        [first, rest @ ..] => {
            first.iter().fold(start, |best, fall| better(best, extreme::<V, WORST>(cells, number - fall, rest)))
        }
    }
}

/// By how much each selection of each unit lowers the number of a state. Units for which nobody is ready have no list.
struct Falls {
    lists: Vec<Vec<usize>>,
    used: usize,
    /// Per unit, its steps if it serves one warp per cycle and none of them is held: the common case, without
    /// recursion.
    single: Vec<Option<Vec<usize>>>,
}

impl Falls {
    fn new(string: &KernelString) -> Self {
        let single = (0..).zip(string.units()).map(|(unit, kind)| {
            let steps: Vec<usize> = (0..string.len()).filter(|&step| string.steps()[step].unit == unit).collect();
            let plain = kind.capacity == 1 && steps.iter().all(|&step| !string.steps()[step].held);
            plain.then_some(steps)
        });
        let single: Vec<_> = single.collect();
        Self { lists: vec![Vec::new(); single.len()], used: 0, single }
    }

    fn used(&self) -> &[Vec<usize>] {
        &self.lists[..self.used]
    }

    #[inline]
    fn collect(&mut self, string: &KernelString, numbering: &Numbering, histogram: &Histogram) {
        self.used = 0;
        for (unit, single) in self.single.iter().enumerate() {
            let list = &mut self.lists[self.used];
            list.clear();
            if let Some(steps) = single {
                let ready = steps.iter().filter(|&&step| histogram.ready(step) > 0);
                list.extend(ready.map(|&step| numbering.fall(step, histogram.0[step], 1)));
            } else {
                for_each_choice(string, histogram, unit, &mut |picks| {
                    let falls = picks.iter().map(|pick| numbering.fall(pick.step, histogram.0[pick.step], pick.warps));
                    list.push(falls.sum());
                });
            }
            self.used += usize::from(!list.is_empty());
        }
    }
}
