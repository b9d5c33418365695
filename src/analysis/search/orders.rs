//! In which orders threads may act at one instant.

use std::collections::{BTreeMap, BTreeSet};

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::analysis::jobs::AnalysedJob;
use crate::scenario::{Scenario, Step};
use crate::time::Duration;

/// Threads of which all orders are tried, with everything else as stated.
const MOST_PERMUTED: usize = 4;

/// Orders of the threads of a scenario, which may be the jobs of another.
#[derive(Debug)]
pub(super) struct Orders {
    /// That of declaration, in the scenario that was given.
    pub(super) declared: Vec<usize>,
    /// Orders that are tried with everything else as stated.
    pub(super) likely: Vec<Vec<usize>>,
    /// Threads that may act at one instant, ascending.
    groups: Vec<Vec<usize>>,
    /// Whose job each thread is: those of one keep their order. Empty if all are of different ones.
    owners: Vec<u32>,
}

impl Orders {
    /// As declared only.
    pub(super) fn declared(threads: usize) -> Self {
        Self { declared: (0..threads).collect(), likely: Vec::new(), groups: Vec::new(), owners: Vec::new() }
    }

    /// Any; `jobs` are those that the threads stand for. Where releases are given, threads act together that are
    /// released together, unless they sleep. At most `most` orders are likely.
    pub(super) fn open(scenario: &Scenario, jobs: Option<&[AnalysedJob]>, releases_are_given: bool, most: u64) -> Self {
        let threads = scenario.threads.len();
        let mut orders = Self::declared(threads);
        if let Some(jobs) = jobs {
            orders.declared.sort_by_key(|&thread| jobs.get(thread).map(|job| (job.thread, job.job)));
            orders.owners = jobs.iter().map(|job| job.thread).collect();
        }
        let sleeps = |step: &Step| matches!(step, Step::Sleep(_));
        let by_release = releases_are_given && !scenario.threads.iter().flat_map(|thread| &thread.steps).any(sleeps);
        let mut groups: BTreeMap<Duration, Vec<usize>> = BTreeMap::new();
        for (thread, program) in scenario.threads.iter().enumerate() {
            let at = if by_release { program.release } else { Duration::ZERO };
            groups.entry(at).or_default().push(thread);
        }
        orders.groups = groups.into_values().filter(|group| orders.owners_of(group).len() > 1).collect();
        orders.likely = orders.likely_ones(usize::try_from(most).unwrap_or(usize::MAX));
        orders
    }

    fn owner(&self, thread: usize) -> u32 {
        // There are fewer threads than 2^32.
        self.owners.get(thread).copied().unwrap_or_else(|| u32::try_from(thread).unwrap_or(u32::MAX))
    }

    fn owners_of(&self, threads: &[usize]) -> BTreeSet<u32> {
        threads.iter().map(|&thread| self.owner(thread)).collect()
    }

    /// All orders of the owners if these are few, else each of them first and each last.
    fn likely_ones(&self, most: usize) -> Vec<Vec<usize>> {
        let mut seen = BTreeSet::new();
        let owners = self.groups.iter().flatten().map(|&thread| self.owner(thread));
        let owners: Vec<u32> = owners.filter(|owner| seen.insert(*owner)).collect();
        let mut ranked: Vec<Vec<u32>> = Vec::new();
        if owners.len() <= MOST_PERMUTED {
            ranked.push(Vec::new());
            for &owner in &owners {
                let with = |order: &Vec<u32>| {
                    (0..=order.len())
                        .map(|place| [&order[..place], &[owner], &order[place..]].concat())
                        .collect::<Vec<_>>()
                };
                ranked = ranked.iter().flat_map(with).collect();
            }
        } else {
            for &owner in owners.iter().take(most) {
                let others = || owners.iter().copied().filter(|other| *other != owner);
                ranked.push(others().chain([owner]).collect());
                ranked.push([owner].into_iter().chain(others()).collect());
            }
        }
        ranked.truncate(if self.groups.is_empty() { 0 } else { most });
        ranked.iter().map(|ranked| self.by_owner(ranked)).collect()
    }

    /// Where threads act together, those of the first of `owners` are first.
    fn by_owner(&self, owners: &[u32]) -> Vec<usize> {
        let ranks: BTreeMap<u32, usize> = owners.iter().copied().zip(0..).collect();
        let mut order: Vec<usize> = (0..self.declared.len()).collect();
        for group in &self.groups {
            let mut sorted = group.clone();
            sorted.sort_by_key(|&thread| ranks.get(&self.owner(thread)));
            for (&place, thread) in group.iter().zip(sorted) {
                order[place] = thread;
            }
        }
        order
    }

    /// How many threads act together with others.
    pub(super) fn open_threads(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    pub(super) fn draw(&self, order: &mut Vec<usize>, numbers: &mut impl Rng) {
        if self.groups.is_empty() {
            return;
        }
        *order = (0..self.declared.len()).collect();
        for group in &self.groups {
            let mut shuffled = group.clone();
            shuffled.shuffle(numbers);
            for (&place, thread) in group.iter().zip(shuffled) {
                order[place] = thread;
            }
        }
        self.keep_owners(order);
    }

    /// Swaps two threads that act together.
    pub(super) fn mutate(&self, order: &mut [usize], numbers: &mut impl Rng) {
        let group = &self.groups[numbers.random_range(0..self.groups.len())];
        let mut drawn = || {
            let thread = group[numbers.random_range(0..group.len())];
            order.iter().position(|&other| other == thread)
        };
        if let (Some(one), Some(other)) = (drawn(), drawn()) {
            order.swap(one, other);
            self.keep_owners(order);
        }
    }

    /// Puts the jobs of each owner in their order, in the places that they have.
    fn keep_owners(&self, order: &mut [usize]) {
        if self.owners.is_empty() {
            return;
        }
        let mut places: BTreeMap<u32, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (place, &thread) in order.iter().enumerate() {
            let (own, jobs) = places.entry(self.owner(thread)).or_default();
            own.push(place);
            jobs.push(thread);
        }
        for (own, mut jobs) in places.into_values() {
            jobs.sort_unstable();
            for (place, thread) in own.into_iter().zip(jobs) {
                order[place] = thread;
            }
        }
    }
}
