//! Queues, waits and states of a run against what a plain look at all blocks and instants gives.

use std::collections::BTreeMap;

use gpusched::device::{BlockDemand, ChannelOrder, CopySharing};
use gpusched::hosts::simulate;
use gpusched::scenario::Scenario;
use gpusched::time::{Duration, Instant};
use gpusched::trace::{
    Block, Cause, EeQueueSnapshot, OperationRecord, Queue, QueueContents, Reason, Rule, Shortage, Snapshot,
    SumOverTime, Trace, queue_contents, reasons,
};
use gpusched::workload::{OperationId, OperationKind, ProcessId, StreamId};
use proptest::prelude::*;

use crate::campaign::config;
use crate::generate::{Case, Limits, scenario};
use crate::reference::{Free, Need};

/// A run as plain lists, and the published rules read off them at one instant.
struct Plain<'a> {
    scenario: &'a Scenario,
    trace: &'a Trace,
    blocks: Vec<(OperationId, Block)>,
    at: Instant,
}

impl<'a> Plain<'a> {
    fn new(scenario: &'a Scenario, trace: &'a Trace) -> Self {
        let ids = (0..).map(OperationId).take(trace.operations().len());
        let blocks = ids.flat_map(|id| trace.blocks(id).map(move |block| (id, block))).collect();
        Self { scenario, trace, blocks, at: Instant::ZERO }
    }

    /// Every instant of the run at which anything happens, and those beside it.
    fn instants(&self) -> Vec<Instant> {
        let of_record = |record: &OperationRecord| {
            let later = [record.reached_head(), record.queued(), record.reached_queue_head(), record.finish()];
            let later = [&later[..], &[record.first_start(), record.last_start(), Some(record.launched())]].concat();
            later.into_iter().flatten()
        };
        let mut instants: Vec<Instant> = self.trace.operations().iter().flat_map(of_record).collect();
        instants.extend(self.blocks.iter().flat_map(|(_, block)| [block.start, block.end]));
        instants.extend([Instant::ZERO, self.trace.end()]);
        let one = Duration::from_ns(1);
        let around = |at: Instant| [Instant::from_ns(at.as_ns().saturating_sub(1)), at, at + one];
        let mut instants: Vec<Instant> = instants.into_iter().flat_map(around).collect();
        // What was to come after the horizon is not known.
        instants.retain(|at| *at <= self.trace.end());
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    fn record(&self, id: OperationId) -> &OperationRecord {
        &self.trace.operations()[id.index()]
    }

    fn reached(&self, instant: Option<Instant>) -> bool {
        instant.is_some_and(|instant| instant <= self.at)
    }

    fn is_kernel(&self, id: OperationId) -> bool {
        matches!(self.record(id).kind, OperationKind::Kernel(_))
    }

    fn engine(&self, id: OperationId) -> Option<u32> {
        let OperationKind::Copy(copy) = self.record(id).kind else { return None };
        Some(self.scenario.device().copy.engine_for(self.trace.copies()[copy.index()].direction))
    }

    fn priority(&self, stream: StreamId) -> i32 {
        self.trace.streams()[stream.index()].priority
    }

    /// Submitted and not completed.
    fn present(&self) -> Vec<OperationId> {
        let ids = (0..).map(OperationId).take(self.trace.operations().len());
        ids.filter(|&id| self.record(id).launched() <= self.at && !self.reached(self.record(id).finish())).collect()
    }

    fn content(&self, queue: Queue) -> Vec<OperationId> {
        let mut content = self.present();
        let is_queued = |id| self.reached(self.record(id).queued()) && !self.reached(self.record(id).last_start());
        content.retain(|&id| match queue {
            Queue::Stream(stream) => self.record(id).stream == stream,
            Queue::Ee(_, priority) => {
                self.is_kernel(id) && is_queued(id) && self.priority(self.record(id).stream) == priority
            }
            Queue::Ce(engine) => self.engine(id) == Some(engine) && is_queued(id),
            Queue::CopyEngine(engine) => self.engine(id) == Some(engine) && self.reached(self.record(id).first_start()),
        });
        if !matches!(queue, Queue::Stream(_)) {
            content.sort_unstable_by_key(|&id| self.record(id).queue_order());
        }
        content
    }

    /// Block counts of each SM, and what they leave of warps, block slots, shared memory and registers.
    fn sm(&self, sm: u32) -> (BTreeMap<OperationId, u32>, [u32; 4]) {
        let device = self.scenario.device();
        let limits = &device.per_sm;
        let mut free = [device.warps_per_sm(), limits.blocks, limits.shared_memory_bytes, limits.registers];
        let mut counts = BTreeMap::new();
        let here = self.blocks.iter().filter(|(_, block)| u32::from(block.sm) == sm);
        for (id, _) in here.filter(|(_, block)| block.start <= self.at && self.at < block.end) {
            *counts.entry(*id).or_default() += 1;
            for (free, takes) in free.iter_mut().zip(self.takes(*id)) {
                *free -= takes;
            }
        }
        (counts, free)
    }

    fn takes(&self, id: OperationId) -> [u32; 4] {
        let kernel = self.trace.kernel_of(id).expect("it is a kernel");
        let demand = BlockDemand::new(&kernel.shape, self.scenario.device()).expect("it fits");
        [demand.warps, 1, demand.shared_memory_bytes, demand.registers]
    }

    /// By how much a block falls short on each SM that it may use.
    fn shortages(&self, id: OperationId) -> Vec<(u32, [u32; 4])> {
        let device = self.scenario.device();
        let kernel = self.trace.kernel_of(id).expect("it is a kernel");
        let mask = kernel.sm_mask.or(self.trace.streams()[self.record(id).stream.index()].sm_mask);
        let allowed = (0..device.sms).filter(|&sm| mask.is_none_or(|mask| mask.enables_sm(sm, device)));
        let short = |sm| {
            let (free, takes) = (self.sm(sm).1, self.takes(id));
            let mut by = [0, 1, 2, 3].map(|resource: usize| takes[resource].saturating_sub(free[resource]));
            by[0] *= device.warp_size;
            by[3] = self.lacking_registers(sm, id);
            (sm, by)
        };
        allowed.map(short).collect()
    }

    fn lacking_registers(&self, sm: u32, id: OperationId) -> u32 {
        let device = self.scenario.device();
        let need = |id| Need::of(&self.trace.kernel_of(id).expect("it is a kernel").shape, device);
        let here = self.blocks.iter().filter(|(_, block)| u32::from(block.sm) == sm);
        let here = here.filter(|(_, block)| block.start <= self.at && self.at < block.end);
        let sm = here.fold(Free::empty_sm(device), |sm, (other, _)| sm.with(&need(*other)));
        u32::try_from(sm.lacking_registers(&need(id))).expect("few registers")
    }

    /// The latency or gap that holds the head of a stream queue.
    fn latency(&self, id: OperationId) -> Option<Rule> {
        let (record, device) = (self.record(id), self.scenario.device());
        let is_kernel = |record: &OperationRecord| matches!(record.kind, OperationKind::Kernel(_));
        if record.kind.is_instant() {
            return None;
        }
        if self.at < record.launched() + device.launch_latency {
            return Some(Rule::L1);
        }
        let before = self.trace.operations()[..id.index()].iter().rev();
        let kernel = before.filter(|other| other.stream == record.stream).find(|other| is_kernel(other))?;
        (is_kernel(record) && self.at < kernel.finish()? + device.kernel_gap).then_some(Rule::L2)
    }

    /// Of the kernels and waits that were submitted to its channel before it, the last that goes on no earlier; streams
    /// were dealt to channels in turn.
    fn ahead_in_channel(&self, id: OperationId) -> Option<OperationId> {
        let device = self.scenario.device();
        let channels = device.channels.filter(|_| device.channel_order == ChannelOrder::Submission)?;
        let channel = |id: OperationId| self.record(id).stream.0 % channels;
        let goes_on = |id: OperationId| {
            let record = self.record(id);
            let at = match record.kind {
                OperationKind::Kernel(_) => record.queued(),
                OperationKind::Wait(_) => record.finish(),
                _ => return Instant::ZERO,
            };
            at.unwrap_or(Instant::MAX)
        };
        let holds = |other: &OperationId| channel(*other) == channel(id) && goes_on(*other) >= goes_on(id);
        (0..id.0).rev().map(OperationId).find(holds)
    }

    /// Which rule holds an operation, and whom it waits for: by the rules as published, in their order.
    fn held(&self, id: OperationId) -> Option<(Rule, Option<OperationId>)> {
        let record = self.record(id);
        if self.reached(record.last_start()) {
            return None;
        }
        let first = |queue| self.content(queue).first().copied();
        let head = first(Queue::Stream(record.stream));
        if head != Some(id) {
            return Some((if self.engine(id).is_some() { Rule::C1 } else { Rule::G2 }, head));
        }
        if let OperationKind::Wait(event) = record.kind {
            let before = self.trace.operations()[..id.index()].iter();
            let last = before.rev().find(|other| other.kind == OperationKind::Record(event));
            if let Some(last) = last.filter(|last| !self.reached(last.finish())) {
                return Some((Rule::E2, first(Queue::Stream(last.stream))));
            }
        }
        if let Some(rule) = self.latency(id) {
            return Some((rule, None));
        }
        if !self.reached(record.queued()) {
            let blocking = |stream: StreamId| self.trace.streams()[stream.index()].blocking;
            let streams = (0..).map(StreamId).take(self.trace.streams().len());
            let concerns = |stream: &StreamId| match record.stream {
                StreamId::NULL => *stream != StreamId::NULL && blocking(*stream),
                own => *stream == StreamId::NULL && blocking(own),
            };
            let earlier = streams.filter(concerns).filter_map(|stream| first(Queue::Stream(stream)));
            let earlier = earlier.filter(|head| *head < id).min_by_key(|head| self.record(*head).stream);
            return Some(match earlier {
                None => (Rule::Channel, self.ahead_in_channel(id)),
                Some(_) if record.stream == StreamId::NULL => (Rule::N1, earlier),
                Some(_) => (Rule::N2, earlier),
            });
        }
        if let Some(engine) = self.engine(id) {
            return Some((Rule::C2, first(Queue::CopyEngine(engine))));
        }
        let own = self.priority(record.stream);
        let head = first(Queue::Ee(ProcessId::FIRST.into(), own));
        if head != Some(id) {
            return Some((Rule::X1, head));
        }
        let mut higher = self.scenario.device().priorities().filter(|&other| other < own);
        if let Some(holder) = higher.find_map(|priority| first(Queue::Ee(ProcessId::FIRST.into(), priority))) {
            return Some((Rule::A2, Some(holder)));
        }
        let broken = |(_, by): (u32, [u32; 4])| match by {
            [0, 0, 0, _] => Rule::Registers,
            [0, 0, ..] => Rule::R3,
            _ => Rule::R2,
        };
        Some((self.shortages(id).into_iter().map(broken).max().expect("it may use some SM"), None))
    }

    /// Whether the SM named is one where the fewest resources are lacking, and of those the least amount.
    fn is_nearest(&self, id: OperationId, shortage: &Shortage) -> bool {
        let size = |by: &[u32; 4]| {
            let lacking = by.iter().filter(|by| **by > 0);
            (lacking.clone().count(), lacking.map(|by| u64::from(*by)).sum::<u64>())
        };
        let shortages = self.shortages(id);
        let (_, here) = shortages.iter().find(|(sm, _)| *sm == shortage.sm).expect("it may use that SM");
        let told: Vec<u32> = shortage.lacks.iter().map(|(_, by)| *by).collect();
        told.into_iter().eq(here.iter().copied().filter(|by| *by > 0))
            && shortages.iter().all(|(sm, by)| (size(here), shortage.sm) <= (size(by), *sm))
    }

    fn agrees(&self, state: &Snapshot) -> Result<(), TestCaseError> {
        let device = self.scenario.device();
        let streams = (0..).map(StreamId).take(self.trace.streams().len());
        let queues = streams.map(|stream| (stream, self.content(Queue::Stream(stream))));
        let queues: Vec<_> = queues.filter(|(_, content)| !content.is_empty()).collect();
        prop_assert_eq!(&state.stream_queues, &queues, "at {}", self.at);
        let queues: Vec<_> = device
            .priorities()
            .map(|priority| {
                let operations = self.content(Queue::Ee(ProcessId::FIRST.into(), priority));
                EeQueueSnapshot { context: ProcessId::FIRST.into(), priority, operations }
            })
            .collect();
        prop_assert_eq!(&state.ee_queues, &queues, "at {}", self.at);
        let engines = || 0..device.copy.engines;
        let queues: Vec<_> = engines().map(|engine| self.content(Queue::Ce(engine))).collect();
        prop_assert_eq!(&state.ce_queues, &queues, "at {}", self.at);
        let served: Vec<Vec<OperationId>> = engines().map(|engine| self.content(Queue::CopyEngine(engine))).collect();
        let shared = device.copy.sharing == CopySharing::SharedLink;
        prop_assert!(shared || served.iter().all(|served| served.len() <= 1));
        prop_assert_eq!(&state.copy_engines, &served, "at {}", self.at);
        for (number, sm) in (0..).zip(&state.sms) {
            let (residents, free) = self.sm(number);
            prop_assert_eq!(&sm.residents, &residents.into_iter().collect::<Vec<_>>(), "SM {} at {}", number, self.at);
            let told = [sm.free.warps, sm.free.blocks, sm.free.shared_memory_bytes, sm.free.registers];
            prop_assert_eq!(told, free, "SM {} at {}", number, self.at);
        }
        let told: Vec<_> = state.waiting.iter().map(|held| (held.operation, (held.rule, held.behind))).collect();
        let held: Vec<_> = self.present().into_iter().filter_map(|id| Some((id, self.held(id)?))).collect();
        prop_assert_eq!(told, held, "at {}", self.at);
        for held in &state.waiting {
            match held.cause.as_ref().expect("a simulated run tells all causes") {
                Cause::Room(shortage) => prop_assert!(self.is_nearest(held.operation, shortage), "at {}", self.at),
                Cause::Time => prop_assert!(matches!(held.rule, Rule::L1 | Rule::L2)),
                Cause::Behind(queue) | Cause::Record { queue, .. } => {
                    prop_assert_eq!(held.behind, self.content(*queue).first().copied(), "at {}", self.at);
                }
                Cause::Channel(ahead) => prop_assert_eq!((held.rule, held.behind), (Rule::Channel, *ahead)),
                Cause::Turn => prop_assert_eq!(held.rule, Rule::T1),
                Cause::Share => prop_assert_eq!(held.rule, Rule::Mps),
                Cause::Together { .. } => prop_assert_eq!(held.rule, Rule::Cooperative),
                Cause::Counter(..) => prop_assert_eq!(held.rule, Rule::Counter),
                Cause::Cluster(_) => prop_assert_eq!(held.rule, Rule::Cluster),
            }
        }
        Ok(())
    }
}

/// What queue intervals and waits over time emit of one instant, as a state tells it.
fn over_time_agrees(queues: &[QueueContents], reasons: &[Reason], state: &Snapshot) -> Result<(), TestCaseError> {
    let content = |queue: Queue| -> Vec<OperationId> {
        let contents = queues.iter().find(|contents| contents.queue == queue);
        contents.map_or_else(Vec::new, |contents| contents.at(state.at).collect())
    };
    let mut streams = Vec::new();
    for contents in queues {
        if let Queue::Stream(stream) = contents.queue {
            streams.push((stream, content(contents.queue)));
        }
    }
    streams.retain(|(_, content)| !content.is_empty());
    prop_assert_eq!(&streams, &state.stream_queues, "at {}", state.at);
    for EeQueueSnapshot { context, priority, operations: expected } in &state.ee_queues {
        prop_assert_eq!(&content(Queue::Ee(*context, *priority)), expected, "at {}", state.at);
    }
    for (engine, (expected, served)) in (0..).zip(state.ce_queues.iter().zip(&state.copy_engines)) {
        prop_assert_eq!(&content(Queue::Ce(engine)), expected, "at {}", state.at);
        prop_assert_eq!(&content(Queue::CopyEngine(engine)), served, "at {}", state.at);
    }
    let now = reasons.iter().filter(|reason| reason.from <= state.at && reason.to.is_none_or(|to| state.at < to));
    let now: Vec<_> = now.map(|reason| (reason.operation, reason.rule, reason.cause.clone())).collect();
    let told: Vec<_> = state.waiting.iter().map(|held| (held.operation, held.rule, held.cause.clone())).collect();
    prop_assert_eq!(now, told, "at {}", state.at);
    Ok(())
}

/// Joined where only the cause changes, and as far as the run went, they are the waits of the record.
fn are_the_waits_of_the_record(reasons: &[Reason], trace: &Trace) -> Result<(), TestCaseError> {
    for id in (0..).map(OperationId).take(trace.operations().len()) {
        let mut waits: Vec<(Rule, Instant, Instant)> = Vec::new();
        for reason in reasons.iter().filter(|reason| reason.operation == id) {
            let to = reason.to.map_or(trace.end(), |to| to.min(trace.end()));
            match waits.last_mut().filter(|(rule, _, end)| *rule == reason.rule && *end == reason.from) {
                Some(last) => last.2 = last.2.max(to),
                None => waits.push((reason.rule, reason.from, to)),
            }
        }
        waits.retain(|(_, from, to)| from < to);
        let expected: Vec<_> = trace.waits(id).into_iter().map(|wait| (wait.rule, wait.from, wait.to)).collect();
        prop_assert_eq!(waits, expected, "{:?}", id);
    }
    Ok(())
}

fn check(scenario: &Scenario) -> Result<(), TestCaseError> {
    let run = simulate(scenario)?;
    let (trace, device) = (&run.trace, scenario.device());
    let (queues, reasons) = (queue_contents(trace, device), reasons(trace, device));
    are_the_waits_of_the_record(&reasons, trace)?;
    // Of copies that share a link the shorter one is done first.
    let shared = device.copy.sharing == CopySharing::SharedLink;
    for contents in queues.iter().filter(|contents| !shared || !matches!(contents.queue, Queue::CopyEngine(_))) {
        let leaving = contents.stays.iter().map(|stay| stay.left.unwrap_or(Instant::MAX));
        prop_assert!(leaving.is_sorted(), "first in, first out: {:?}", contents);
    }
    let mut plain = Plain::new(scenario, trace);
    for at in plain.instants() {
        plain.at = at;
        let state = Snapshot::new(trace, device, at);
        plain.agrees(&state)?;
        over_time_agrees(&queues, &reasons, &state)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn states_queues_and_waits_are_those_of_the_plain_lists_of_blocks_and_instants(
        Case(scenario) in scenario(Limits::ALL),
    ) {
        check(&scenario)?;
    }

    #[test]
    fn states_queues_and_waits_are_right_at_every_horizon(
        Case(scenario) in scenario(Limits { varying: true, ..Limits::ALL }), horizon in 0_u64..30,
    ) {
        check(&Scenario { horizon: Some(Duration::from_ns(horizon)), ..scenario })?;
    }

    #[test]
    fn a_sum_over_time_is_that_of_all_that_is_there_after_each_instant(
        mut times in prop::collection::vec((0_u64..20, 0_u64..6, 0_u64..5), 0..30),
    ) {
        times.sort_unstable();
        let (mut told, mut sums) = (Vec::new(), SumOverTime::default());
        let mut emit = |at: Instant, sum: u64| { told.push((at.as_ns(), sum)); Ok::<(), std::fmt::Error>(()) };
        for &(start, length, amount) in &times {
            sums.add(Instant::from_ns(start)..Instant::from_ns(start + length), amount, &mut emit).expect("it goes on");
        }
        sums.finish(&mut emit).expect("it goes on");
        prop_assert!(told.is_sorted_by(|one, next| one.0 < next.0));
        for at in 0..30 {
            let there = times.iter().filter(|(start, length, _)| (*start..start + length).contains(&at));
            let sum: u64 = there.map(|(.., amount)| amount).sum();
            let last = told.iter().rev().find(|(changed, _)| *changed <= at);
            prop_assert_eq!(last.map_or(0, |(_, sum)| *sum), sum, "at {}", at);
        }
    }
}
