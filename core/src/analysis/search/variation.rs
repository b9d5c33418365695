//! One way in which a scenario may run: what the statement of the scenario leaves open.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rand::{Rng, RngExt};

use super::early_ends::EarlyEnd;
use super::orders::Orders;
use super::orders::{changed_choices, drawn_choices};
use crate::analysis::safe_bound::{BlockTimes, BoundOptions};
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::Duration;
use crate::workload::{BlockTime, CheckedKernel, CopyId, KernelId, OperationKind, Placement};

/// Kernels of more blocks get one time for all of them.
const MOST_OWN_TIMES: u32 = 64;

/// Kernels of more blocks have no blocks that are cut one by one.
const MOST_CUT: u32 = 1_024;

/// Blocks of all kernels above which none of more than its share gets times that differ between its blocks: each of
/// these is simulated by itself, and its time is held.
const MOST_BLOCKS: u64 = 4_000_000;

/// Of what a thread waits for that repeats for as long as a time limit says, times are no shorter than this part of the
/// longest: its iterations are no more than so many times those that are stated, and never without number.
const SHORTEST_REPEATED: u64 = 8;

/// What may vary.
#[derive(Debug)]
pub(super) struct Freedom {
    /// By kernel: shortest, longest \[ns\], blocks.
    kernels: Vec<(u64, u64, u32)>,
    /// Kernels of more blocks have no gaps.
    most_with_gaps: u64,
    /// By copy: shortest, longest \[ns\].
    copies: Vec<(u64, u64)>,
    /// The kernels of each thread, and of all threads that are jobs of one.
    together: Vec<Vec<usize>>,
    pub(super) orders: Orders,
    placements: Vec<Placement>,
    pub(super) releases: Vec<ReleaseRule>,
    block_times: BlockTimes,
    /// Whether operations become ready together, so that they may enter their queues in several orders.
    pub(super) has_ready_orders: bool,
}

/// How the releases of the jobs of one stream may vary: each is released up to `jitter` after its arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::analysis) struct ReleaseRule {
    /// Index of the thread of each job.
    pub(in crate::analysis) threads: Vec<usize>,
    /// Of each job, ascending: when it arrives at the earliest \[ns\].
    pub(in crate::analysis) arrivals: Vec<u64>,
    /// From one arrival to the next at least \[ns\]; `None`: each comes at its earliest.
    pub(in crate::analysis) period: Option<u64>,
    /// \[ns\]
    pub(in crate::analysis) jitter: u64,
}

/// A way to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variation {
    kernels: Vec<Times>,
    copies: Vec<u64>,
    /// The threads, in the order in which they act.
    order: Vec<usize>,
    /// In which order operations enter their queues that become ready at one instant.
    pub(super) ready: Arc<[u32]>,
    pub(super) placement: Placement,
    pub(super) seed: u64,
    /// By rule, then job: (arrival, release) \[ns\].
    pub(super) releases: Vec<Vec<(u64, u64)>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Times {
    AsStated,
    All(u64),
    /// So long \[ns\], all but the last block 1 ns less: what waits gets the room of a kernel just before the next of
    /// its stream may ask for it, whatever the priorities.
    LastEndsLast(u64),
    Each(Arc<[Duration]>),
}

impl Freedom {
    pub(super) fn new(scenario: &Scenario, options: BoundOptions, placements: &[Placement], owners: &[u32]) -> Self {
        let repeated = repeated_for_a_time(scenario);
        let shortest = |of: OperationKind, stated: Duration, longest: u64| {
            let least = if repeated.contains(&of) { longest.div_ceil(SHORTEST_REPEATED) } else { 0 };
            options.block_times.shortest(stated).as_ns().max(least)
        };
        let kernels = (0..).map(KernelId).zip(scenario.kernels().iter()).map(|(id, kernel)| {
            let longest = scenario.longest_block_time(id).unwrap_or(kernel.duration.worst).as_ns();
            let stated = scenario.shortest_block_time(id).unwrap_or(kernel.duration.best);
            (shortest(OperationKind::Kernel(id), stated, longest), longest, kernel.blocks)
        });
        let copies = (0..).map(CopyId).zip(scenario.copies()).map(|(id, copy)| {
            let time = copy.time();
            (shortest(OperationKind::Copy(id), time, time.as_ns()), time.as_ns())
        });
        let kernels: Vec<(u64, u64, u32)> = kernels.collect();
        let blocks: u64 = kernels.iter().map(|(.., blocks)| u64::from(*blocks)).sum();
        let share = MOST_BLOCKS / (kernels.len() as u64).max(1);
        Self {
            most_with_gaps: if blocks > MOST_BLOCKS { share } else { MOST_BLOCKS },
            kernels,
            copies: copies.collect(),
            together: kernels_of_threads(scenario, owners),
            orders: Orders::declared(scenario.threads.len()),
            placements: placements.to_vec(),
            releases: Vec::new(),
            block_times: options.block_times,
            has_ready_orders: false,
        }
    }

    /// As stated, under one of the placements.
    pub(super) fn stated(&self, scenario: &Scenario, placement: usize) -> Variation {
        Variation {
            kernels: vec![Times::AsStated; self.kernels.len()],
            copies: self.copies.iter().map(|(_, longest)| *longest).collect(),
            order: (0..scenario.threads.len()).collect(),
            ready: Arc::clone(&scenario.ready_order),
            placement: self.placements.get(placement).copied().unwrap_or(scenario.placement),
            seed: scenario.seed,
            releases: self.releases.iter().map(ReleaseRule::earliest).collect(),
        }
    }

    /// How many placements there are to choose from.
    pub(super) fn placements(&self) -> usize {
        self.placements.len()
    }

    /// How many runs differ from what is stated in their placements and orders only, and in the gaps that blocks leave
    /// which end 1 ns early.
    pub(super) fn stated_runs(&self) -> u64 {
        let with_gaps = self.kernels.iter().any(|kernel| self.gapped(kernel) != Times::AsStated);
        (self.placed_and_ordered() << u32::from(with_gaps)) as u64
    }

    /// How many runs differ from what is stated in their placements and orders only.
    fn placed_and_ordered(&self) -> usize {
        self.placements.len() + self.orders.likely.len()
    }

    /// One of these.
    pub(super) fn stated_run(&self, scenario: &Scenario, number: usize) -> Variation {
        if let Some(without) = number.checked_sub(self.placed_and_ordered()) {
            let kernels = self.kernels.iter().map(|kernel| self.gapped(kernel)).collect();
            return Variation { kernels, ..self.stated_run(scenario, without) };
        }
        match number.checked_sub(self.placements.len()).and_then(|number| self.orders.likely.get(number)) {
            Some(order) => self.in_order(scenario, order),
            None => self.stated(scenario, number),
        }
    }

    /// As stated in the order of declaration, if that is not how threads are numbered here.
    pub(super) fn declared_run(&self, scenario: &Scenario) -> Option<Variation> {
        (!self.orders.declared.is_sorted()).then(|| self.in_order(scenario, &self.orders.declared))
    }

    /// As stated, under the placement of the scenario if that is among those to choose from.
    pub(super) fn placed_as_stated(&self, scenario: &Scenario) -> Variation {
        let own = self.placements.iter().position(|placement| *placement == scenario.placement);
        self.stated(scenario, own.unwrap_or(0))
    }

    /// The same in an order.
    fn in_order(&self, scenario: &Scenario, order: &[usize]) -> Variation {
        Variation { order: order.to_vec(), ..self.placed_as_stated(scenario) }
    }

    /// Everything drawn anew.
    pub(super) fn draw(&self, scenario: &Scenario, numbers: &mut impl Rng) -> Variation {
        let mut drawn = self.stated(scenario, 0);
        // In half of the runs the kernels of a thread are alike: all long, with gaps between them, or all short.
        if numbers.random_range(0..2) == 0 {
            for kernels in &self.together {
                self.style(kernels, &mut drawn.kernels, numbers);
            }
        }
        // Some runs take the stated times, others have hardly any of them.
        let share = numbers.random_range(0..=6_u32).saturating_sub(2);
        for kernel in 0..self.kernels.len() {
            if numbers.random_range(0..4) < share {
                drawn.kernels[kernel] = self.times(kernel, numbers);
            }
        }
        for copy in 0..self.copies.len() {
            if numbers.random_range(0..4) < share {
                drawn.copies[copy] = time(self.copies[copy], numbers);
            }
        }
        self.orders.draw(&mut drawn.order, numbers);
        self.place(&mut drawn, numbers);
        for (rule, jobs) in self.releases.iter().zip(&mut drawn.releases) {
            *jobs = rule.draw(numbers);
        }
        if self.has_ready_orders && numbers.random_range(0..2) == 0 {
            drawn.ready = drawn_choices(numbers);
        }
        drawn
    }

    /// A few things drawn anew.
    pub(super) fn mutate(&self, variation: &Variation, numbers: &mut impl Rng) -> Variation {
        let mut mutant = variation.clone();
        for _ in 0..numbers.random_range(1..=3_u32) {
            if self.has_ready_orders && numbers.random_range(0..4) == 0 {
                mutant.ready = changed_choices(&mutant.ready, numbers);
                continue;
            }
            let (kernels, copies) = (self.kernels.len(), self.copies.len());
            let releases = 2 * self.releases.iter().map(|rule| rule.threads.len()).sum::<usize>();
            let ordered = self.orders.open_threads();
            // As often as all kernels one by one, all of some thread at once.
            if kernels > 0 && !self.together.is_empty() && numbers.random_range(0..3) == 0 {
                let which = numbers.random_range(0..self.together.len());
                self.style(&self.together[which], &mut mutant.kernels, numbers);
                continue;
            }
            let mut which = numbers.random_range(0..(kernels + copies + ordered + releases + 2));
            if which < kernels {
                mutant.kernels[which] = self.times(which, numbers);
                continue;
            }
            which -= kernels;
            if which < copies {
                mutant.copies[which] = time(self.copies[which], numbers);
                continue;
            }
            which -= copies;
            if which < ordered {
                self.orders.mutate(&mut mutant.order, numbers);
                continue;
            }
            which -= ordered;
            if which < releases {
                let rule = numbers.random_range(0..self.releases.len());
                self.releases[rule].mutate(&mut mutant.releases[rule], numbers);
                continue;
            }
            self.place(&mut mutant, numbers);
        }
        mutant
    }

    /// The same with some blocks that end earlier, as far as they may.
    pub(super) fn ending_early(&self, variation: &Variation, blocks: &[EarlyEnd]) -> Variation {
        let mut changed = variation.clone();
        for &EarlyEnd { kernel, block, ns } in blocks {
            let Some(&(_, longest, count)) = self.kernels.get(kernel) else { continue };
            if count > MOST_CUT || block >= count as usize {
                continue;
            }
            let time = |block: u32| match &changed.kernels[kernel] {
                Times::AsStated => longest,
                Times::LastEndsLast(ns) if block + 1 < count => ns.saturating_sub(1),
                Times::All(ns) | Times::LastEndsLast(ns) => *ns,
                Times::Each(each) => each.get(block as usize).map_or(longest, |time| time.as_ns()),
            };
            let mut each: Vec<Duration> = (0..count).map(|block| Duration::from_ns(time(block))).collect();
            each[block] = each[block].min(Duration::from_ns(ns));
            changed.kernels[kernel] = Times::Each(each.into());
        }
        changed
    }

    fn place(&self, variation: &mut Variation, numbers: &mut impl Rng) {
        if let Some(index) = self.placements.len().checked_sub(1) {
            variation.placement = self.placements[numbers.random_range(0..=index)];
        }
        variation.seed = numbers.next_u64();
    }

    fn times(&self, kernel: usize, numbers: &mut impl Rng) -> Times {
        let (shortest, longest, blocks) = self.kernels[kernel];
        match numbers.random_range(0..10) {
            0..2 => Times::AsStated,
            2..4 => self.gapped(&self.kernels[kernel]),
            4 => Times::All(shortest),
            5..7 if blocks <= MOST_OWN_TIMES => {
                Times::Each((0..blocks).map(|_| Duration::from_ns(time((shortest, longest), numbers))).collect())
            }
            _ => Times::All(time((shortest, longest), numbers)),
        }
    }

    /// The longest times, but the last block ends 1 ns after the others if it may.
    fn gapped(&self, &(shortest, longest, blocks): &(u64, u64, u32)) -> Times {
        let may_differ = blocks > 1 && u64::from(blocks) <= self.most_with_gaps && shortest < longest;
        if may_differ { Times::LastEndsLast(longest) } else { Times::AsStated }
    }

    /// Gives all of these kernels times of one kind.
    fn style(&self, kernels: &[usize], times: &mut [Times], numbers: &mut impl Rng) {
        let style = numbers.random_range(0..5_u32);
        for &kernel in kernels {
            let of = &self.kernels[kernel];
            times[kernel] = match style {
                0 => Times::AsStated,
                1 | 2 => self.gapped(of),
                3 => Times::All(of.0),
                _ => Times::All(of.1),
            };
        }
    }

    /// The scenario that runs this way.
    pub(super) fn apply(&self, scenario: &Scenario, variation: &Variation) -> Scenario {
        let varied = self.vary(scenario, variation).into_owned();
        Scenario { placement: variation.placement, seed: variation.seed, ..varied }
    }

    /// What is released late sleeps until then in `applied`, which runs this way: so its response counts from its
    /// arrival there too.
    pub(super) fn release_at_arrivals(&self, applied: &mut Scenario, variation: &Variation) {
        for (rule, jobs) in self.releases.iter().zip(&variation.releases) {
            for (number, &(arrival, release)) in rule.threads.iter().zip(jobs) {
                let place = variation.order.iter().position(|thread| thread == number);
                let thread = place.and_then(|place| applied.threads.get_mut(place));
                if let Some(thread) = thread.filter(|_| release > arrival) {
                    thread.release = Duration::from_ns(arrival);
                    // No step of a job by itself counts the steps before it.
                    thread.steps.insert(0, Step::Sleep(Duration::from_ns(release - arrival)));
                }
            }
        }
    }

    /// The scenario that runs this way under the placement and with the seed of the variation; many differ in nothing
    /// else from what is stated.
    pub(super) fn vary<'s>(&self, scenario: &'s Scenario, variation: &Variation) -> Cow<'s, Scenario> {
        let is_stated = |(times, kernel): (&Times, &CheckedKernel)| {
            *times == Times::AsStated && kernel.duration == BlockTime::fixed(kernel.duration.worst)
        };
        let is_in_order = variation.order.is_sorted();
        let is_ready_alike = variation.ready == scenario.ready_order;
        if is_in_order
            && is_ready_alike
            && self.releases.is_empty()
            && variation.kernels.iter().zip(scenario.kernels().iter()).all(is_stated)
            && variation.copies.iter().zip(scenario.copies()).all(|(&ns, copy)| copy.time().as_ns() == ns)
        {
            return Cow::Borrowed(scenario);
        }
        let mut varied = Scenario { ready_order: Arc::clone(&variation.ready), ..scenario.clone() };
        let shortest = |stated: Duration| self.block_times.shortest(stated);
        for ((id, times), kernel) in (0..).map(KernelId).zip(&variation.kernels).zip(scenario.kernels().iter()) {
            // Not a time that is drawn.
            let mut all = kernel.duration.worst;
            // A block whose own time is stated takes no longer than that.
            let own = scenario.own_block_times(id);
            let within = |block: usize, time: Duration| match own.get(block) {
                Some(stated) => time.clamp(shortest(*stated), *stated),
                None => time.clamp(shortest(kernel.duration.best), kernel.duration.worst),
            };
            let blocks = kernel.blocks as usize;
            match times {
                Times::AsStated => {}
                Times::All(ns) => {
                    let time = Duration::from_ns(*ns);
                    all = within(own.len(), time);
                    if !own.is_empty() {
                        varied.block_times.insert(id, (0..own.len()).map(|block| within(block, time)).collect());
                    }
                }
                Times::LastEndsLast(ns) => {
                    let early = Duration::from_ns(ns.saturating_sub(1));
                    let of = |block: usize| if block + 1 < blocks { early } else { Duration::from_ns(*ns) };
                    varied.block_times.insert(id, (0..blocks).map(|block| within(block, of(block))).collect());
                }
                Times::Each(each) => {
                    let each = each.iter().enumerate().map(|(block, time)| within(block, *time));
                    varied.block_times.insert(id, each.collect());
                }
            }
            // Changing a kernel copies them all. It cannot fail: best and worst are the same.
            if kernel.duration != BlockTime::fixed(all) {
                let _ = varied.catalogue.set_block_time(id, BlockTime::fixed(all));
            }
        }
        for (id, &ns) in (0..).map(CopyId).zip(&variation.copies) {
            varied.catalogue.set_copy_time(id, Duration::from_ns(ns));
        }
        for (rule, jobs) in self.releases.iter().zip(&variation.releases) {
            for (&thread, &(_, release)) in rule.threads.iter().zip(jobs) {
                varied.threads[thread].release = Duration::from_ns(release);
            }
        }
        if !is_in_order {
            let mut threads: Vec<_> = varied.threads.into_iter().map(Some).collect();
            varied.threads = variation.order.iter().filter_map(|&thread| threads.get_mut(thread)?.take()).collect();
            let links = varied.chains.iter_mut().flat_map(|chain| &mut chain.links).map(|link| &mut link.thread);
            let others = varied.threads.iter_mut().flat_map(|one| one.until.iter_mut().chain(&mut one.triggered_by));
            for number in links.chain(others) {
                let place = (0..).zip(&variation.order).find(|(_, thread)| **thread == *number as usize);
                *number = place.map_or(*number, |(place, _)| place);
            }
        }
        Cow::Owned(varied)
    }
}

impl Variation {
    /// The thread, as the scenario declares it, that is declared at this place.
    pub(super) fn declared(&self, place: u32) -> u32 {
        // There are fewer threads than 2^32.
        self.order.get(place as usize).and_then(|thread| u32::try_from(*thread).ok()).unwrap_or(place)
    }
}

impl ReleaseRule {
    fn earliest(&self) -> Vec<(u64, u64)> {
        self.arrivals.iter().map(|&arrival| (arrival, arrival)).collect()
    }

    /// A phase, then jobs that mostly come as early as they can.
    fn draw(&self, numbers: &mut impl Rng) -> Vec<(u64, u64)> {
        let mut jobs = self.earliest();
        let period = self.period.unwrap_or(0);
        let phase = if numbers.random_range(0..3) == 0 { 0 } else { time((0, period), numbers) };
        let mut late = phase;
        for (arrival, release) in &mut jobs {
            if numbers.random_range(0..8) == 0 {
                late += time((0, period), numbers);
            }
            *arrival += late;
            *release = *arrival + time((0, self.jitter), numbers);
        }
        in_order(&mut jobs);
        jobs
    }

    /// Moves one job and those after it, or releases one at another time.
    fn mutate(&self, jobs: &mut [(u64, u64)], numbers: &mut impl Rng) {
        if jobs.is_empty() {
            return;
        }
        let from = numbers.random_range(0..jobs.len());
        if self.jitter > 0 && (self.period.is_none() || numbers.random_range(0..2) == 0) {
            jobs[from].1 = jobs[from].0 + time((0, self.jitter), numbers);
            return in_order(jobs);
        }
        let Some(period) = self.period else { return };
        let from = if numbers.random_range(0..2) == 0 { 0 } else { from };
        let earliest = from.checked_sub(1).map_or(0, |before| jobs[before].0 + period);
        let slack = jobs[from].0 - earliest;
        let size = time((0, period), numbers) >> numbers.random_range(0..8_u32);
        let later = numbers.random_range(0..2) == 0;
        for (arrival, release) in &mut jobs[from..] {
            let by = if later { size } else { 0 };
            let back = if later { 0 } else { size.min(slack) };
            *arrival = *arrival + by - back;
            *release = *release + by - back;
        }
        in_order(jobs);
    }
}

/// No job of a thread is released before the one before it; as that one has arrived earlier, none is later by more than
/// its jitter for it.
fn in_order(jobs: &mut [(u64, u64)]) {
    let mut last = 0;
    for (_, release) in jobs {
        last = last.max(*release);
        *release = last;
    }
}

/// What threads submit that go on until a time is over, as often as they can.
fn repeated_for_a_time(scenario: &Scenario) -> Vec<OperationKind> {
    let goes_on = |thread: &&HostThread| thread.iterations.is_none() && thread.period.is_none();
    let steps = scenario.threads.iter().filter(goes_on).flat_map(|thread| &thread.steps);
    steps.filter_map(|step| step.submission()).map(|(kind, _)| kind).collect()
}

/// The kernels of each thread, then of the threads that have one owner.
fn kernels_of_threads(scenario: &Scenario, owners: &[u32]) -> Vec<Vec<usize>> {
    let of = |thread: &HostThread| {
        let launched = |step: &Step| if let Step::Launch(kernel, _) = step { Some(kernel.index()) } else { None };
        thread.steps.iter().filter_map(launched).collect::<Vec<_>>()
    };
    let mut together: Vec<_> = scenario.threads.iter().map(of).collect();
    // In the order of the threads, not of their owners' numbers, which tell where these stand in the file.
    let mut place = BTreeMap::<u32, usize>::new();
    for (thread, &owner) in owners.iter().enumerate() {
        let next = together.len();
        let at = *place.entry(owner).or_insert(next);
        if at == next {
            together.push(Vec::new());
        }
        let of_thread = together[thread].clone();
        together[at].extend(of_thread);
    }
    together.retain(|kernels| !kernels.is_empty());
    together
}

/// A time of an interval: often one of its ends or a simple share, at which ends of different kernels meet.
fn time((shortest, longest): (u64, u64), numbers: &mut impl Rng) -> u64 {
    let width = longest - shortest;
    match numbers.random_range(0..6) {
        0 => longest,
        1 => shortest + width.min(1),
        2 | 3 => shortest + width / 12 * numbers.random_range(0..=12_u64),
        _ => shortest + numbers.random_range(0..=width),
    }
}
