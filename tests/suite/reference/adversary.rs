//! What a scenario leaves open, chosen against its bounds: times of blocks, copies and work, releases, placement, the
//! order in which host threads act at one instant.

use std::cmp::Ordering;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use gpusched::scenario::Scenario;

/// Operations and iterations from which on all takes as long as stated, so that hosts that go on for a time come to its
/// end; and from which on nothing more is run.
const MOST_SHORT: usize = 300;
const MOST: usize = 1_500;

/// What may differ from what is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Open {
    /// Blocks, copies and work may take less time than stated: any, or down to the shortest that is stated of blocks.
    pub(crate) shorter: bool,
    /// What different threads do at one instant is mixed in any way.
    pub(crate) order: bool,
}

/// How long the blocks of a thread take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Longest,
    /// All but the last block end early.
    Gaps,
    Shortest,
    Mixed,
}

/// When an iteration arrives, and when it is released.
pub(crate) type Arrival = (u64, u64);

/// The choices of one run.
#[derive(Debug)]
pub(crate) struct Adversary {
    numbers: ChaCha8Rng,
    open: Open,
    /// By thread.
    styles: Vec<Style>,
    /// Of ten times, how many are not of the style of their thread.
    strays: u32,
    /// Of each thread whose releases are not the stated ones, those of its iterations.
    arrivals: Vec<Vec<Arrival>>,
    /// Operations and iterations that have begun.
    begun: usize,
}

impl Adversary {
    /// The choices that a number draws. Threads have the releases of `arrivals`, and no more iterations than these, or
    /// those that are stated where there are none.
    pub(crate) fn new(seed: u64, open: Open, threads: usize, arrivals: Vec<Vec<Arrival>>) -> Self {
        let mut numbers = ChaCha8Rng::seed_from_u64(seed);
        let usual = style(&mut numbers);
        let own = |_| if numbers.random_range(0..2) == 0 { usual } else { style(&mut numbers) };
        let styles = (0..threads).map(own).collect();
        let strays = [0, 0, 1, 3][numbers.random_range(0..4_usize)];
        Self { numbers, open, styles, strays, arrivals, begun: 0 }
    }

    /// Whether nothing more is to be run.
    pub(super) fn is_over(&self) -> bool {
        self.begun >= MOST
    }

    pub(super) fn note_begun(&mut self) {
        self.begun += 1;
    }

    /// How long a block takes, the last of its kernel or another one.
    pub(super) fn block_time(&mut self, thread: usize, is_last: bool, (best, worst): (u64, u64)) -> u64 {
        let shortest = if self.open.shorter { 0 } else { best };
        let style =
            if self.numbers.random_range(0..10) < self.strays { style(&mut self.numbers) } else { self.styles[thread] };
        if self.begun > MOST_SHORT {
            return worst;
        }
        match style {
            Style::Longest => worst,
            Style::Gaps if is_last => worst,
            Style::Gaps => worst.saturating_sub(1).max(shortest),
            Style::Shortest => shortest,
            Style::Mixed => between(&mut self.numbers, shortest, worst),
        }
    }

    /// How long a copy, or work of a host, takes.
    pub(super) fn time(&mut self, thread: usize, stated: u64) -> u64 {
        let shortest = if self.open.shorter { 0 } else { stated };
        self.block_time(thread, true, (shortest, stated))
    }

    /// One of so many.
    pub(super) fn pick(&mut self, of: usize) -> usize {
        self.numbers.random_range(0..of)
    }

    /// The order in which threads act.
    pub(super) fn order(&mut self, threads: &mut [usize]) {
        if self.open.order {
            for place in 1..threads.len() {
                threads.swap(place, self.numbers.random_range(0..=place));
            }
        }
    }

    /// Whether others act after this step of a thread.
    pub(super) fn others_come_between(&mut self) -> bool {
        self.open.order && self.numbers.random_range(0..3) == 0
    }

    /// When an iteration arrives and is released, which may be as stated; `None` of one that does not come.
    pub(super) fn arrival(&self, thread: usize, iteration: u64, stated: Arrival) -> Option<Arrival> {
        let Some(own) = self.arrivals.get(thread) else { return Some(stated) };
        own.get(usize::try_from(iteration).ok()?).copied()
    }
}

/// Arrivals of `jobs` jobs of each of these periods and jitters: at least a period apart, each released up to its
/// jitter later, often so that jobs of several threads are released at one instant, after one that was as late as
/// may be.
pub(crate) fn arrivals(seed: u64, threads: &[(u64, u64)], jobs: usize) -> Vec<Vec<Arrival>> {
    let mut numbers = ChaCha8Rng::seed_from_u64(seed ^ u64::from_be_bytes(*b"arrivals"));
    let longest = threads.iter().map(|(period, jitter)| period + jitter).max().unwrap_or(0);
    let meeting = 2 * longest;
    let together = numbers.random_range(0..3) > 0;
    let of_thread = |&(period, jitter): &(u64, u64)| {
        let mut all = Vec::new();
        if together && numbers.random_range(0..4) > 0 {
            // One job is released at the meeting, or just beside it, and those after it come as early as they can.
            let at = meeting + [0, 0, 0, 1, 2][numbers.random_range(0..5_usize)]
                - [0, 0, 1][numbers.random_range(0..3_usize)];
            let arrives = at - jitter;
            let before = numbers.random_range(0..=(arrives / period.max(1)).min(3));
            for job in 0..jobs as u64 {
                let arrival = (arrives + job * period) - before * period;
                let late = match job.cmp(&before) {
                    Ordering::Equal => jitter,
                    Ordering::Greater if numbers.random_range(0..4) > 0 => 0,
                    Ordering::Less | Ordering::Greater => between(&mut numbers, 0, jitter),
                };
                all.push((arrival, arrival + late));
            }
            return all;
        }
        let mut arrival = between(&mut numbers, 0, period);
        for _ in 0..jobs {
            all.push((arrival, arrival + between(&mut numbers, 0, jitter)));
            let gap = if numbers.random_range(0..8) == 0 { between(&mut numbers, 0, period) } else { 0 };
            arrival += period + gap;
        }
        all
    };
    threads.iter().map(of_thread).collect()
}

/// The number of threads of a scenario whose jobs are taken apart: what each does at a release, without waiting.
pub(crate) fn only_submits(scenario: &Scenario, thread: usize) -> bool {
    let thread = &scenario.threads[thread];
    thread.barrier.is_none() && thread.core.is_none() && thread.steps.iter().all(|step| step.submission().is_some())
}

fn style(numbers: &mut impl Rng) -> Style {
    [Style::Longest, Style::Longest, Style::Gaps, Style::Shortest, Style::Mixed][numbers.random_range(0..5_usize)]
}

/// Often one of the ends, or beside one.
fn between(numbers: &mut impl Rng, least: u64, most: u64) -> u64 {
    match numbers.random_range(0..6) {
        0 => least,
        1 => (least + 1).min(most),
        2 => most.saturating_sub(1).max(least),
        3 => most,
        _ => numbers.random_range(least..=most),
    }
}
