//! What is known of a run without its record: sums over its operations, each of which is counted once and forgotten,
//! and whether there is more work than time for it, which the scenario itself tells.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::jobs::{Backlog, Job, Jobs};
use super::responses::Responses;
use crate::device::{BlockDemand, Device};
use crate::gpu::Ended;
use crate::scenario::{HostThread, Scenario};
use crate::sorted::sort_by_key;
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Trace};
use crate::words::counted;
use crate::workload::{EventId, KernelId, OperationKind, StreamId};

/// How busy one SM was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SmUtilization {
    /// The SM.
    pub sm: u32,
    /// Thread slots.
    pub threads: f64,
    /// Block slots.
    pub block_slots: f64,
    /// Shared memory.
    pub shared_memory: f64,
}

/// For how long what of the SMs was taken.
#[derive(Debug, Clone)]
pub(super) struct Busy<'s> {
    device: &'s Device,
    /// Warp slots, block slots and bytes of shared memory, times ns, by SM.
    sums: Vec<[u128; 3]>,
}

impl<'s> Busy<'s> {
    pub(super) fn new(device: &'s Device) -> Self {
        Self { device, sums: vec![[0; 3]; device.sms as usize] }
    }

    /// Blocks of that demand ran for so long on an SM, all together \[ns\].
    fn add(&mut self, demand: BlockDemand, sm: u16, block_ns: u128) {
        let sums = &mut self.sums[usize::from(sm)];
        sums[1] += block_ns;
        // Of most waves 64 bits hold it, with which a product costs an instruction.
        let ([warps, _, shared], of) = (sums, [demand.warps, demand.shared_memory_bytes]);
        let [more_warps, more_shared] = match u64::try_from(block_ns) {
            Ok(block_ns) => of.map(|amount| u128::from(block_ns) * u128::from(amount)),
            Err(_) => of.map(|amount| block_ns * u128::from(amount)),
        };
        *warps += more_warps;
        *shared += more_shared;
    }

    fn repeat(&mut self, before: &Self, times: u64) {
        let sums = self.sums.iter_mut().flatten();
        sums.zip(before.sums.iter().flatten()).for_each(|(now, before)| *now += (*now - before) * u128::from(times));
    }

    /// All blocks that a record has.
    pub(super) fn add_all(&mut self, trace: &Trace) {
        for (id, _) in trace.numbered() {
            let Some(kernel) = trace.kernel_of(id) else { continue };
            let Ok(demand) = BlockDemand::new(&kernel.shape, self.device) else { continue };
            trace.block_time(id).for_each(|(sm, block_ns)| self.add(demand, sm, block_ns));
        }
    }

    /// The shares of a run that lasted until `end`.
    pub(super) fn shares(&self, end: Instant) -> Vec<SmUtilization> {
        let span = end.as_ns() as f64;
        if span == 0.0 {
            return Vec::new();
        }
        let share =
            |sum: u128, capacity: u32| if capacity == 0 { 0.0 } else { sum as f64 / (span * f64::from(capacity)) };
        (0..)
            .zip(&self.sums)
            .map(|(sm, &[warps, blocks, shared])| SmUtilization {
                sm,
                threads: share(warps, self.device.warps_per_sm()),
                block_slots: share(blocks, self.device.per_sm.blocks),
                shared_memory: share(shared, self.device.per_sm.shared_memory_bytes),
            })
            .collect()
    }
}

/// Operations, counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    operations: u64,
    unfinished: u64,
    kernels: u64,
    copies: u64,
    blocks: u64,
    /// When the last of those that finished did.
    finish: Option<Instant>,
    /// Waits for events that were not recorded before, and the event of the first of them.
    idle_waits: u64,
    first_idle: Option<EventId>,
    /// By kernel, of launches that the run left with blocks that had not begun: how many, and how many they have.
    never_started: BTreeMap<KernelId, [u64; 2]>,
}

/// Kernels that a note names at most.
const MOST_NAMED: usize = 3;

impl Counts {
    fn repeat(&mut self, before: &Self, times: u64) {
        // When the last of them finished is seen from then on, and what came first stays so.
        let Self { operations, unfinished, kernels, copies, blocks, idle_waits, .. } = self;
        let old =
            [before.operations, before.unfinished, before.kernels, before.copies, before.blocks, before.idle_waits];
        let counts = [operations, unfinished, kernels, copies, blocks, idle_waits];
        counts.into_iter().zip(old).for_each(|(now, before)| *now += (*now - before) * times);
    }

    pub(super) fn add(&mut self, trace: &Trace) {
        for (id, record) in trace.numbered() {
            self.operations += 1;
            match record.finish() {
                None => self.unfinished += 1,
                finish => self.finish = self.finish.max(finish),
            }
            match record.kind {
                OperationKind::Kernel(kernel) => {
                    self.kernels += 1;
                    let blocks = trace.kernel_of(id).map_or(0, |kernel| u64::from(kernel.blocks));
                    self.blocks += blocks;
                    if record.last_start().is_none() {
                        let never = blocks.saturating_sub(trace.begun_by(id, trace.end()).into());
                        let sums = self.never_started.entry(kernel).or_default();
                        sums.iter_mut().zip([never, blocks]).for_each(|(sum, more)| *sum += more);
                    }
                }
                OperationKind::Copy(_) => self.copies += 1,
                // Of a measured run it is not known, nor when a wait was over.
                OperationKind::Wait(event) if record.finish().is_some() && trace.awaited_by(id).is_none() => {
                    self.idle_waits += 1;
                    self.first_idle.get_or_insert(event);
                }
                _ => {}
            }
        }
    }

    /// What the user should know of a run, but for deadlines: the reader's notes, and what had not finished when it
    /// ended.
    pub(super) fn notes(
        &self,
        scenario: &Scenario,
        events: &[Arc<str>],
        (ended, end): (Ended, Instant),
    ) -> Vec<String> {
        let mut notes = scenario.notes.clone();
        if ended != Ended::Done {
            let how = if ended == Ended::Cut { "was stopped at" } else { "ends at the horizon," };
            let Self { unfinished, operations, .. } = self;
            let never_started = self.told_never_started(scenario);
            notes.push(format!(
                "the run {how} {end}; {unfinished} of {operations} operations had not finished{never_started}"
            ));
        }
        notes.extend(overload_notes(scenario));
        notes.extend(self.note_on_idle_waits(events));
        notes
    }

    /// How many blocks had not begun, of the kernels with most: `, and 60 of 128 blocks of K had never started`.
    fn told_never_started(&self, scenario: &Scenario) -> String {
        let mut kernels: Vec<_> = self.never_started.iter().collect();
        sort_by_key(&mut kernels, |(_, [never, _])| Reverse(*never));
        let named = kernels.iter().take(MOST_NAMED).filter_map(|(id, [never, blocks])| {
            Some(format!("{never} of {blocks} blocks of {}", scenario.kernels().get(id.index())?.title))
        });
        let more = kernels.len().saturating_sub(MOST_NAMED);
        let named: Vec<String> = named.chain((more > 0).then(|| counted(more, "more kernel"))).collect();
        match &*named {
            [] => String::new(),
            [only] => format!(", and {only} had never started"),
            [others @ .., last] => format!(", and {} and {last} had never started", others.join(", ")),
        }
    }

    /// A wait for an event that was not recorded before is no wait, which is rarely what was meant.
    fn note_on_idle_waits(&self, events: &[Arc<str>]) -> Option<String> {
        let first = events.get(self.first_idle?.index())?;
        let which = match self.idle_waits {
            1 => "1 wait for an event holds nothing".to_owned(),
            more => format!("{more} waits for events hold nothing"),
        };
        Some(format!("{which}, the first for {first}: it had not been recorded when the wait was submitted (E2)"))
    }
}

/// Whose kernels' response times are summed up beside those of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimesWanted {
    /// Nobody's: there may be as many of them as kernels.
    Unwanted,
    /// Those of one host thread.
    OfThread(u32),
    /// All.
    OfAll,
}

impl TimesWanted {
    /// Whether those of a thread are wanted.
    #[doc(hidden)]
    pub fn include(self, thread: u32) -> bool {
        match self {
            Self::Unwanted => false,
            Self::OfThread(wanted) => wanted == thread,
            Self::OfAll => true,
        }
    }
}

/// What is known of a run of which no record was kept.
#[derive(Debug, Clone)]
pub struct Sums<'s> {
    scenario: &'s Scenario,
    counts: Counts,
    busy: Busy<'s>,
    /// Of each thread that does jobs.
    responses: Vec<Responses<'s>>,
    /// Whose kernels are counted in `kernels`, each as a job is in a row of its own.
    kernel_times: TimesWanted,
    kernels: Responses<'static>,
    /// Operations of each thread that had not completed when the run ended, or whose iteration had not.
    left_out: Vec<u64>,
    ended: Ended,
    end: Instant,
    /// How much time was not simulated, as all came again in it.
    skipped: Duration,
}

impl<'s> Sums<'s> {
    pub(crate) fn new(scenario: &'s Scenario, kernel_times: TimesWanted) -> Self {
        let threads = (0..).zip(&scenario.threads).filter(|(_, thread)| thread.does_jobs());
        Self {
            scenario,
            counts: Counts::default(),
            busy: Busy::new(scenario.device()),
            responses: threads.map(|(index, thread)| Responses::none(index, thread)).collect(),
            kernel_times,
            kernels: Responses::default(),
            left_out: vec![0; scenario.threads.len()],
            ended: Ended::Done,
            end: Instant::ZERO,
            skipped: Duration::ZERO,
        }
    }

    /// What has come since it was `before`, in `period`, has come `times` times again, and time has passed by as much
    /// beside that of the run.
    pub(crate) fn repeat(&mut self, mut before: Self, period: Duration, times: u64) {
        // The run has not ended, and until then nothing is left out.
        let Self {
            scenario: _,
            counts,
            busy,
            responses,
            kernel_times: _,
            kernels,
            left_out: _,
            ended: _,
            end: _,
            skipped,
        } = self;
        counts.repeat(&before.counts, times);
        busy.repeat(&before.busy, times);
        responses.iter_mut().zip(&mut before.responses).for_each(|(row, before)| row.repeat(before, times));
        kernels.repeat(&mut before.kernels, times);
        *skipped = skipped.saturating_add(period.repeated(times));
    }

    /// Blocks of an operation have completed that leave before it.
    pub(crate) fn add_blocks(&mut self, record: &OperationRecord, sm: u16, block_ns: u128) {
        if let OperationKind::Kernel(kernel) = record.kind
            && let Some(kernel) = self.scenario.kernels().get(kernel.index())
        {
            self.busy.add(kernel.demand(), sm, block_ns);
        }
    }

    /// Operations leave with what is known of them.
    pub(crate) fn add(&mut self, trace: &Trace) {
        self.counts.add(trace);
        self.busy.add_all(trace);
        if self.kernel_times != TimesWanted::Unwanted {
            kernel_responses(trace, self.kernel_times).for_each(|response| self.kernels.count_time(response));
        }
    }

    /// Of what is left when the run has ended, some will never be over.
    pub(crate) fn leave_out(&mut self, trace: &Trace, jobs: &Jobs) {
        for (_, record) in trace.numbered().filter(|(_, record)| !jobs.has_ended_with(record)) {
            if let Some(left_out) = self.left_out.get_mut(record.origin.thread as usize) {
                *left_out += 1;
            }
        }
    }

    fn row_of(&mut self, thread: u32) -> Option<&mut Responses<'s>> {
        let place = self.responses.binary_search_by_key(&thread, |row| row.benchmark).ok()?;
        self.responses.get_mut(place)
    }

    /// A job is over, or the run has ended.
    pub(crate) fn add_job(&mut self, job: &Job) {
        let end = self.end;
        if let Some(row) = self.row_of(job.thread) {
            row.count(job, end);
        }
    }

    /// The run has ended, which is known before what is left then is counted; in time of its own until it is closed.
    pub(crate) fn end_at(&mut self, ended: Ended, end: Instant) {
        (self.ended, self.end) = (ended, end);
    }

    /// All is counted but what had not begun.
    pub(crate) fn close(&mut self, backlogs: &[Backlog]) {
        for backlog in backlogs {
            if let Some(row) = self.row_of(backlog.thread) {
                row.count_late(backlog);
            }
        }
        self.responses.iter_mut().for_each(Responses::sum_up);
        self.kernels.sum_up();
        self.end = self.end.saturating_add(self.skipped);
        self.counts.finish = self.counts.finish.map(|finish| finish.saturating_add(self.skipped));
    }

    /// What was simulated.
    pub fn scenario(&self) -> &'s Scenario {
        self.scenario
    }

    /// How it ended.
    pub fn ended(&self) -> Ended {
        self.ended
    }

    /// As [`Trace::end`](crate::trace::Trace::end).
    pub fn end(&self) -> Instant {
        self.end
    }

    /// How much of the time was not simulated, as all that came in it had come before.
    pub fn skipped(&self) -> Duration {
        self.skipped
    }

    /// As [`Trace::makespan`](crate::trace::Trace::makespan).
    pub fn makespan(&self) -> Option<Instant> {
        self.counts.finish.filter(|_| self.counts.unfinished == 0)
    }

    /// How many kernels were launched.
    pub fn kernels(&self) -> u64 {
        self.counts.kernels
    }

    /// How many blocks they have.
    pub fn blocks(&self) -> u64 {
        self.counts.blocks
    }

    /// How many copies were submitted.
    pub fn copies(&self) -> u64 {
        self.counts.copies
    }

    /// As [`Summary::responses`](super::Summary::responses).
    pub fn responses(&self) -> &[Responses<'s>] {
        &self.responses
    }

    /// How often kernels had which response time, if that was wanted.
    #[doc(hidden)]
    pub fn kernel_times(&self) -> &[(Duration, u64)] {
        &self.kernels.times
    }

    /// How many operations of a thread had not completed when the run ended, or belong to an iteration that had not.
    pub(crate) fn left_out(&self, thread: usize) -> u64 {
        self.left_out.get(thread).copied().unwrap_or(0)
    }

    /// As [`Jobs::misses`](super::Jobs::misses).
    pub fn misses(&self) -> u64 {
        self.responses.iter().filter_map(|row| row.misses).sum()
    }

    /// As [`Summary::utilization`](super::Summary::utilization).
    pub fn utilization(&self) -> Vec<SmUtilization> {
        self.busy.shares(self.end)
    }

    /// As [`Summary::notes`](super::Summary::notes).
    pub fn notes(&self) -> Vec<String> {
        let events = self.scenario.events();
        let mut notes = self.counts.notes(self.scenario, events, (self.ended, self.end));
        notes.extend(self.responses.iter().filter_map(Responses::note));
        notes
    }
}

/// The response times of kernels that finished, one by one.
pub fn kernel_responses(trace: &Trace, wanted: TimesWanted) -> impl Iterator<Item = Duration> {
    let kernels = trace.operations().iter().filter(|record| matches!(record.kind, OperationKind::Kernel(_)));
    kernels.filter(move |record| wanted.include(record.origin.thread)).filter_map(OperationRecord::response)
}

/// What an operation takes at least \[ns\]: from its beginning to its end, and of thread slots and block slots for how
/// long.
type Least = (u128, [u128; 2]);

/// Sums of shares that come to a whole are rounded.
const WHOLE: f64 = 1.0 + 1e-9;

/// What the user should know of work that comes again without end: where it takes more time than there is, wherever
/// blocks are placed, the backlog grows as long as the run goes on, whatever its length. All is that which takes
/// turns, shared links, masks and waiting make longer still.
pub fn overload_notes(scenario: &Scenario) -> Vec<String> {
    // Dependent launches run beside those before them in their stream.
    if scenario.catalogue.has_programmatic_launches() {
        return Vec::new();
    }
    let mut streams: BTreeMap<StreamId, f64> = BTreeMap::new();
    let mut slots = [0.0; 2];
    for thread in &scenario.threads {
        let Some(period) = endless_period(thread) else { continue };
        for (kind, stream) in thread.steps.iter().filter_map(|step| step.submission()) {
            let (time, taken) = least(scenario, kind);
            *streams.entry(stream).or_default() += time as f64 / period;
            slots.iter_mut().zip(taken).for_each(|(slots, taken)| *slots += taken as f64 / period);
        }
    }
    let device = scenario.device();
    let capacities =
        [device.warps_per_sm(), device.per_sm.blocks].map(|of_one| f64::from(of_one) * f64::from(device.sms));
    let names = ["thread slots", "block slots"];
    let of_streams = streams.into_iter().filter(|(_, share)| *share > WHOLE).map(|(stream, share)| {
        let name = scenario.catalogue.streams().get(stream.index()).map_or("", |stream| &stream.name);
        format!(
            "stream {name:?} is overloaded: its operations, one after the other, take {:.1} % of the time",
            share * 100.0
        )
    });
    let shares = names.into_iter().zip(slots.into_iter().zip(capacities).map(|(taken, capacity)| taken / capacity));
    let is_shared = !scenario.catalogue.is_time_sliced();
    let of_gpu = shares
        .filter(|(_, share)| is_shared && *share > WHOLE)
        .map(|(name, share)| format!("the GPU is overloaded: blocks take {:.1} % of its {name}", share * 100.0));
    let all = of_streams.chain(of_gpu).map(|what| format!("{what} at least, so jobs come later and later"));
    all.collect()
}

/// How often a thread comes again without end \[ns\].
fn endless_period(thread: &HostThread) -> Option<f64> {
    let has_end =
        thread.iterations.is_some() && !thread.is_cut || thread.time_limit.is_some() || thread.until.is_some();
    thread.period.filter(|period| *period > Duration::ZERO && !has_end).map(|period| period.as_ns() as f64)
}

fn least(scenario: &Scenario, kind: OperationKind) -> Least {
    match kind {
        OperationKind::Kernel(kernel) => least_of_kernel(scenario, kernel).unwrap_or_default(),
        OperationKind::Copy(copy) => {
            let time = scenario.copies().get(copy.index()).map_or(0, |copy| copy.time().as_ns());
            (time.into(), [0; 2])
        }
        _ => Least::default(),
    }
}

fn least_of_kernel(scenario: &Scenario, id: KernelId) -> Option<Least> {
    let (kernel, device) = (scenario.kernels().get(id.index())?, scenario.device());
    let time = u128::from(scenario.shortest_block_time(id)?.as_ns());
    let demand = kernel.demand();
    let resident = u64::from(demand.blocks_per_sm(device)) * u64::from(device.sms);
    let waves = u64::from(kernel.blocks).div_ceil(resident.max(1));
    let blocks = u128::from(kernel.blocks) * time;
    Some((u128::from(waves) * time, [blocks * u128::from(demand.warps), blocks]))
}
