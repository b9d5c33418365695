//! In which orders threads may act, and operations enter their queues, at one instant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use crate::analysis::jobs::{self, AnalysedJob};
use crate::run::Run;
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::workload::{Copy, OperationKind, ProcessId, StreamId};

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
        let by_rank = |group: &mut [usize]| group.sort_by_key(|&thread| ranks.get(&self.owner(thread)));
        arranged(&self.groups, self.declared.len(), by_rank)
    }

    /// How many threads act together with others.
    pub(super) fn open_threads(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    pub(super) fn draw(&self, order: &mut Vec<usize>, numbers: &mut impl Rng) {
        if self.groups.is_empty() {
            return;
        }
        *order = arranged(&self.groups, self.declared.len(), |group| group.shuffle(numbers));
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

/// An order of so many threads in which those of each group are in its places as `arrange` puts them.
pub(in crate::analysis) fn arranged(
    groups: &[Vec<usize>],
    threads: usize,
    mut arrange: impl FnMut(&mut [usize]),
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..threads).collect();
    for group in groups {
        let mut arranged = group.clone();
        arrange(&mut arranged);
        for (&place, thread) in group.iter().zip(arranged) {
            order[place] = thread;
        }
    }
    order
}

/// A scenario on the same device, with the same streams and events, in which nobody launches anything.
pub(in crate::analysis) fn without_threads(scenario: &Scenario) -> Scenario {
    Scenario {
        catalogue: scenario.catalogue.without_work(),
        block_times: BTreeMap::new(),
        threads: Vec::new(),
        horizon: None,
        chains: Vec::new(),
        expected: None,
        examiner: None,
        calls: None,
        ..scenario.clone()
    }
}

/// The scenario with a host thread for each job, and a kernel or copy for each launch: it does the same as long as
/// launch times do not depend on completions. Jobs are by thread and number, so threads that act at one instant do so
/// in the order of the scenario. What a host does after its last launch it does in its job.
pub(super) fn unrolled(run: &Run<'_>, jobs: &[AnalysedJob]) -> Scenario {
    let scenario: &Scenario = &run.scenario;
    let mut unrolled = without_threads(scenario);
    let mut labels = BTreeMap::<u32, u32>::new();
    for job in jobs {
        *labels.entry(job.thread).or_default() += 1;
    }
    for job in jobs {
        let mut now = job.released;
        let mut steps = Vec::with_capacity(job.operations.len());
        for &operation in &job.operations {
            let Some(record) = run.trace.operations().get(operation as usize) else { continue };
            let launched = record.launched();
            if launched > now {
                steps.push(Step::Sleep(launched.since(now)));
                now = launched;
            }
            steps.extend(own_step(scenario, &mut unrolled, record.kind, record.stream));
        }
        let tail = scenario.threads.get(job.thread as usize).and_then(jobs::after_last_launch);
        steps.extend(tail.into_iter().flatten());
        // A host has steps, also one whose job had launched nothing when the run ended.
        if steps.is_empty() {
            steps.push(Step::Sleep(Duration::ZERO));
        }
        let alone = labels.get(&job.thread) == Some(&1);
        let label = if alone { Arc::clone(&job.stream) } else { format!("{} job {}", job.stream, job.job).into() };
        let thread = HostThread::once(label, job.released.since(Instant::ZERO), steps);
        let process = scenario.threads.get(job.thread as usize).map_or(ProcessId::FIRST, |thread| thread.process);
        unrolled.threads.push(HostThread { process, deadline: job.deadline.into(), ..thread });
    }
    unrolled
}

/// A launch of `unrolled` that does what `kind` does in `scenario`, with a kernel or copy of its own; `None` for one
/// that the scenario does not have.
pub(in crate::analysis) fn own_step(
    scenario: &Scenario,
    unrolled: &mut Scenario,
    kind: OperationKind,
    stream: StreamId,
) -> Option<Step> {
    Some(match kind {
        OperationKind::Kernel(kernel) => {
            let stated = scenario.kernels().get(kernel.index())?;
            let own = unrolled.catalogue.add_kernel(stated.into()).ok()?;
            if let Some(times) = scenario.block_times.get(&kernel) {
                unrolled.block_times.insert(own, Arc::clone(times));
            }
            Step::Launch(own, stream)
        }
        OperationKind::Copy(copy) => {
            let stated: &Copy = scenario.copies().get(copy.index())?;
            Step::Copy(unrolled.catalogue.add_copy(*stated).ok()?, stream)
        }
        OperationKind::Memset => Step::Memset(stream),
        OperationKind::Record(event) => Step::Record(event, stream),
        OperationKind::Wait(event) => Step::Wait(event, stream),
        OperationKind::WaitValue(value) => Step::WaitValue(value, stream),
        OperationKind::WriteValue(value) => Step::WriteValue(value, stream),
    })
}

/// Several operations could be next: how many, and which of them was, from 0.
pub(in crate::analysis) type Choice = (u32, u32);

/// Choices of one run that are drawn at most; those that follow are the first of each.
const MOST_DRAWN: usize = 32;

/// Numbers below this are drawn for a choice, as 3, 4 and 5 divide it.
const MOST_AMONG: u32 = 60;

/// The next lists of choices to try after a run that was told `list` and then took the first one each time. With the
/// list of no choices to begin with, every order comes once.
///
/// All orders in which operations that become ready at one instant may enter their queues: a tree, in which each run
/// tells between how many of them it chose, and when.
pub(in crate::analysis) fn next_lists(list: &[u32], choices: &[Choice]) -> impl Iterator<Item = Vec<u32>> {
    choices.iter().enumerate().skip(list.len()).flat_map(move |(place, &(among, _))| {
        (1..among).map(move |chosen| {
            let mut next = list.to_vec();
            next.resize(place, 0);
            next.push(chosen);
            next
        })
    })
}

/// The list that leads to these choices.
pub(super) fn list_of(choices: &[Choice]) -> Vec<u32> {
    let used = choices.iter().rposition(|(_, chosen)| *chosen > 0).map_or(0, |last| last + 1);
    choices.iter().take(used).map(|(_, chosen)| *chosen).collect()
}

/// How many orders there are if each run chooses between as many; `None`: more than 2^64.
pub(in crate::analysis) fn orders_of(choices: &[Choice]) -> Option<u64> {
    choices.iter().try_fold(1_u64, |product, &(among, _)| product.checked_mul(u64::from(among)))
}

/// Choices of who enters a queue next: the same each time, or any.
pub(in crate::analysis) fn drawn_choices(numbers: &mut impl Rng) -> Arc<[u32]> {
    let length = numbers.random_range(1..=MOST_DRAWN);
    let same = numbers.random_range(0..4_u32).checked_sub(1);
    (0..length).map(|_| same.unwrap_or_else(|| numbers.random_range(0..MOST_AMONG))).collect()
}

/// One of them drawn anew.
pub(super) fn changed_choices(choices: &[u32], numbers: &mut impl Rng) -> Arc<[u32]> {
    let mut changed = choices.to_vec();
    let place = numbers.random_range(0..MOST_DRAWN.min(changed.len() + 4));
    changed.resize(changed.len().max(place + 1), 0);
    changed[place] = numbers.random_range(0..MOST_AMONG);
    changed.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_order_is_tried_once() {
        // Whoever chooses 2 of 3 first chooses twice more between 2, the others once.
        let run = |list: &[u32]| {
            let chosen = |place: usize| list.get(place).copied().unwrap_or(0);
            let more = if chosen(0) == 2 { 2 } else { 1 };
            let rest = (1..=more).map(|place| (2, chosen(place)));
            [(3, chosen(0))].into_iter().chain(rest).collect::<Vec<_>>()
        };
        let (mut lists, mut next) = (vec![Vec::new()], 0);
        let mut seen = BTreeSet::new();
        while next < lists.len() {
            let choices = run(&lists[next]);
            assert!(seen.insert(choices.clone()), "{choices:?} twice");
            assert_eq!(list_of(&choices), lists[next]);
            let more: Vec<_> = next_lists(&lists[next], &choices).collect();
            lists.extend(more);
            next += 1;
        }
        assert_eq!(seen.len(), 2 + 2 + 4);
        assert_eq!(orders_of(&run(&[])), Some(6));
    }
}
