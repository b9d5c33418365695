//! The exact worst and best case, by dynamic programming over histograms.
//!
//! Warps are alike: exchanging two of them turns a schedule into a schedule. So the cycles still to go depend on the
//! histogram only, and the worst case is the longest path from "nobody has begun" to "everybody is done", the best
//! case the shortest. No other reduction is used. The states of fewer warps come first in the numbering, so one table
//! gives T(1), ..., T(W).

use std::time::{Duration, Instant};

use super::histogram::{Histogram, Numbering, Pick, for_each_choice, states};
use super::kernel_string::KernelString;
use super::schedule::{Naming, Schedule};
use crate::effort::{self, Counted, Progress};
use crate::limits::{self, count_turn};
use crate::proven::OrMost;

/// Which path is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// The longest: no work-conserving scheduler takes longer.
    WorstCase,
    /// The shortest that a work-conserving scheduler can take.
    BestCase,
}

impl Objective {
    /// Whether `cycles` is strictly nearer to the objective than `known`.
    pub(super) fn prefers(self, cycles: u64, known: u64) -> bool {
        match self {
            Self::WorstCase => cycles > known,
            Self::BestCase => cycles < known,
        }
    }
}

/// What a search may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLimits {
    /// Memory of the table \[bytes\].
    pub memory_bytes: u64,
    /// Time; `None` for as long as it takes.
    pub time: Option<Duration>,
}

impl SearchLimits {
    /// 1 GiB and any time.
    pub const DEFAULT: Self = Self { memory_bytes: 1 << 30, time: None };
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The search was not begun: by its own estimate it would need more than it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("exact search would go through {} states, {} in each, and need {} bytes of memory; {memory_bytes} bytes and \
         {MAX_CHOICES} choices are allowed", many(size.states), choices(size.choices), many(size.bytes))]
pub struct TooLarge {
    /// The estimate.
    pub size: SearchSize,
    /// Memory that was allowed \[bytes\].
    pub memory_bytes: u64,
}

fn many(count: Option<u64>) -> String {
    count.map_or_else(|| "more than 10^19".to_owned(), |count| count.to_string())
}

fn choices(count: Option<u64>) -> String {
    format!("up to {} choice{}", many(count), if count == Some(1) { "" } else { "s" })
}

/// The most choices per state that a search goes through.
const MAX_CHOICES: u64 = 1_000_000;

/// What a search will take; `None` where a number exceeds 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchSize {
    /// Histograms of W warps over I steps: C(W + I, I).
    pub states: Option<u64>,
    /// At most so many selections of warps are possible in one state.
    pub choices: Option<u64>,
    /// Memory of the table \[bytes\].
    pub bytes: Option<u64>,
}

impl SearchSize {
    /// The estimate for `warps` warps.
    pub fn of(string: &KernelString, warps: u32) -> Self {
        let states = states(string.len(), warps);
        let cell = if is_narrow(string, warps) { size_of::<u16>() } else { size_of::<u32>() };
        let bytes = states.and_then(|states| states.checked_mul(cell as u64));
        let bytes = bytes.and_then(|bytes| bytes.checked_add(Numbering::bytes(string.len(), warps)));
        let choices = (0..).zip(string.units()).map(|(unit, kind)| {
            // A unit with room for everybody has no choice; otherwise sigma warps come from I_u steps.
            let steps = usize::try_from(string.steps_on(unit)).or_most();
            if steps == 0 || kind.capacity >= warps {
                Some(1)
            } else {
                super::histogram::states(steps - 1, kind.capacity)
            }
        });
        let choices = choices.into_iter().try_fold(1_u64, |product, choices| product.checked_mul(choices?));
        Self { states, choices, bytes }
    }

    /// Whether a search may go through so much.
    pub(super) fn fits(&self, limits: &SearchLimits) -> bool {
        self.bytes.is_some_and(|bytes| bytes <= limits.memory_bytes)
            && self.choices.is_some_and(|choices| choices <= MAX_CHOICES)
    }
}

/// A finished search, or one that ran out of time: exact makespans for up to [`Self::reached`] warps.
#[derive(Debug)]
pub struct MakespanSearch<'a> {
    string: &'a KernelString,
    objective: Objective,
    numbering: Numbering,
    cells: Cells,
    reached: u32,
}

/// Cycles to go from each state; narrow where the numbers are.
#[derive(Debug)]
enum Cells {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

/// A schedule has no idle cycle, so nothing takes more than W I cycles.
fn is_narrow(string: &KernelString, warps: u32) -> bool {
    string.len() as u64 * u64::from(warps) < u64::from(u16::MAX)
}

/// The cycles to go from so many states, and for how many warps they are known; `None` if there is no memory for them.
fn filled<C: Cell>(
    string: &KernelString,
    numbering: &Numbering,
    states: usize,
    look: &Look<'_>,
    objective: Objective,
) -> Option<(Vec<C>, u32)> {
    let mut table = Vec::new();
    table.try_reserve_exact(states).ok()?;
    let reached = match objective {
        Objective::WorstCase => fill::<C, true>(string, numbering, states, look, &mut table),
        Objective::BestCase => fill::<C, false>(string, numbering, states, look, &mut table),
    };
    Some((table, reached))
}

impl<'a> MakespanSearch<'a> {
    /// Finds the exact makespans of 1 to `warps` warps, and adds the states that it goes through to `searched`.
    ///
    /// # Errors
    /// [`TooLarge`] if it would need more memory than allowed, or has more than a million choices in a state. Running
    /// out of time is no error: then [`Self::reached`] is below `warps`.
    pub fn run(
        string: &'a KernelString,
        warps: u32,
        objective: Objective,
        limits: &SearchLimits,
        searched: Progress<'_>,
    ) -> Result<Self, TooLarge> {
        let size = SearchSize::of(string, warps);
        let too_large = || TooLarge { size, memory_bytes: limits.memory_bytes };
        let states = size
            .states
            .filter(|&states| size.fits(limits) && effort::left(Counted::States).is_none_or(|left| states <= left))
            .and_then(|states| usize::try_from(states).ok())
            .ok_or_else(too_large)?;
        let numbering = Numbering::new(string.len(), warps);
        let look = Look { deadline: limits.time.and_then(|time| Instant::now().checked_add(time)), searched };
        let found = if is_narrow(string, warps) {
            filled(string, &numbering, states, &look, objective).map(|(cells, reached)| (Cells::Narrow(cells), reached))
        } else {
            filled(string, &numbering, states, &look, objective).map(|(cells, reached)| (Cells::Wide(cells), reached))
        };
        let (cells, reached) = found.ok_or_else(too_large)?;
        Ok(Self { string, objective, numbering, cells, reached })
    }

    /// The number of warps up to which makespans are known: what was asked for unless time ran out.
    pub fn reached(&self) -> u32 {
        self.reached
    }

    /// The exact makespan \[cycles\] of `warps` warps; `None` beyond [`Self::reached`].
    pub fn makespan(&self, warps: u32) -> Option<u64> {
        let known = warps <= self.reached;
        known.then(|| self.cell(self.numbering.start(self.string.len(), warps)))
    }

    /// The exact makespans \[cycles\] of 0, 1, ..., [`Self::reached`] warps.
    pub fn makespans(&self) -> Vec<u64> {
        (0..=self.reached).filter_map(|warps| self.makespan(warps)).collect()
    }

    /// A schedule with the makespan of `warps` warps, the same in every run; `None` beyond [`Self::reached`].
    pub fn schedule(&self, warps: u32) -> Option<Schedule> {
        if warps > self.reached {
            return None;
        }
        let mut naming = Naming::new(self.string, warps);
        self.follow(&mut Histogram::start(self.string, warps), &mut naming);
        Some(naming.finish())
    }

    /// Cycles to go from a histogram with at most [`Self::reached`] unfinished warps.
    pub(super) fn cycles_from(&self, histogram: &Histogram) -> u64 {
        self.cell(self.number(histogram))
    }

    /// Names the cycles of an optimal path from `histogram` to the end.
    pub(super) fn follow(&self, histogram: &mut Histogram, naming: &mut Naming) {
        while histogram.unfinished() > 0 {
            count_turn();
            let mut best: Option<(u64, Vec<Pick>)> = None;
            self.each_cycle(histogram, 0, &mut Vec::new(), &mut |picks| {
                let mut next = histogram.clone();
                next.apply(picks);
                let cycles = self.cycles_from(&next);
                let better = best.as_ref().is_none_or(|&(known, _)| self.objective.prefers(cycles, known));
                if better {
                    best = Some((cycles, picks.to_vec()));
                }
            });
            // Somebody is unfinished, so some unit has a warp to serve.
            let Some((_, picks)) = best else { return };
            histogram.apply(&picks);
            naming.cycle(picks);
        }
    }

    /// Calls `found` with everything that may happen in one cycle on the units from `unit` on.
    fn each_cycle(&self, histogram: &Histogram, unit: usize, picks: &mut Vec<Pick>, found: &mut dyn FnMut(&[Pick])) {
        if unit == self.string.units().len() {
            found(picks);
            return;
        }
        let mut choices = Vec::new();
        for_each_choice(self.string, histogram, unit, &mut |choice| choices.push(choice.to_vec()));
        if choices.is_empty() {
            choices.push(Vec::new());
        }
        for choice in choices {
            let length = picks.len();
            picks.extend(choice);
            self.each_cycle(histogram, unit + 1, picks, found);
            picks.truncate(length);
        }
    }

    fn number(&self, histogram: &Histogram) -> usize {
        let terms = histogram.0.iter().enumerate().map(|(step, &left)| self.numbering.fall(step, left, left));
        terms.sum()
    }

    fn cell(&self, number: usize) -> u64 {
        match &self.cells {
            Cells::Narrow(cells) => cells[number].cycles(),
            Cells::Wide(cells) => cells[number].cycles(),
        }
    }
}

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
