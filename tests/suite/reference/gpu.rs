//! The GPU's state, completions and dispatching (model, section 4, steps 1 and 3).

use std::collections::{BTreeMap, VecDeque};

use gpusched::device::CopySharing;
use gpusched::scenario::Scenario;
use gpusched::trace::Rule;
use gpusched::workload::{EventId, OperationKind, StreamId};

use super::outcome::ReferenceOperation;
use super::placement::choose;
use super::resources::{Free, Need};

/// Where something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Sm(usize),
    Engine(usize),
}

/// A copy on a link that it shares.
#[derive(Debug, Clone, Copy)]
struct Sharing {
    operation: usize,
    engine: usize,
    /// What it still has to get \[1 / `PARTS` ns\].
    left: u128,
    /// How many blocks and copies had begun before.
    order: usize,
}

/// With up to 24 copies at once, shares of a nanosecond are whole numbers of these.
const PARTS: u128 = 16 * 9 * 5 * 7 * 11 * 13 * 17 * 19 * 23;

/// A block or a copy under way.
#[derive(Debug, Clone, Copy)]
struct Running {
    operation: usize,
    place: Place,
    end: u64,
    /// How many blocks and copies had begun before.
    order: usize,
}

pub(super) struct ReferenceGpu<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) now: u64,
    pub(super) operations: Vec<ReferenceOperation>,
    /// Stream queues.
    pub(super) streams: Vec<VecDeque<usize>>,
    /// EE queues by priority; the first is the highest.
    pub(super) ee_queues: BTreeMap<i32, VecDeque<usize>>,
    /// CE queues by engine.
    pub(super) ce_queues: Vec<VecDeque<usize>>,
    /// Operations that have entered an EE or CE queue.
    pub(super) entered: usize,
    /// Which streams have a channel.
    pub(super) has_channel: Vec<bool>,
    /// Kernels that are ready but for a channel.
    pub(super) channel_queue: VecDeque<usize>,
    /// How often one of them got a channel.
    pub(super) channels_handed_over: u64,
    /// In the order of assignment.
    running: Vec<Running>,
    /// Copies on shared links, at the instant `shared_until`.
    sharing: Vec<Sharing>,
    shared_until: u64,
    /// Blocks and copies that have begun.
    begun: usize,
    last_sm: Option<usize>,
    /// What each operation that is not fully dispatched waits for since the last instant.
    reasons: Vec<(usize, Rule)>,
    reasons_since: u64,
}

impl<'a> ReferenceGpu<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        Self {
            scenario,
            now: 0,
            operations: Vec::new(),
            streams: vec![VecDeque::new(); scenario.streams().len()],
            ee_queues: BTreeMap::new(),
            ce_queues: vec![VecDeque::new(); scenario.device().copy.engines as usize],
            entered: 0,
            has_channel: vec![false; scenario.streams().len()],
            channel_queue: VecDeque::new(),
            channels_handed_over: 0,
            running: Vec::new(),
            sharing: Vec::new(),
            shared_until: 0,
            begun: 0,
            last_sm: None,
            reasons: Vec::new(),
            reasons_since: 0,
        }
    }

    /// When the next block or copy ends.
    pub(super) fn next_completion(&self) -> Option<u64> {
        let next_shared = self.sharing.iter().map(|copy| {
            let nanoseconds = (copy.left * self.on_link(copy.engine)).div_ceil(PARTS);
            self.shared_until + u64::try_from(nanoseconds).expect("short copies")
        });
        self.running.iter().map(|running| running.end).chain(next_shared).min()
    }

    /// How many copies are on a link.
    fn on_link(&self, engine: usize) -> u128 {
        let count = self.sharing.iter().filter(|copy| copy.engine == engine).count() as u128;
        assert!(count <= 24, "the shares of more copies are rounded");
        count
    }

    /// Gives every copy on a shared link its share of the time until now.
    fn share_links(&mut self) {
        let time = u128::from(self.now - self.shared_until) * PARTS;
        let shares: Vec<u128> = self.sharing.iter().map(|copy| time / self.on_link(copy.engine)).collect();
        for (copy, share) in self.sharing.iter_mut().zip(shares) {
            copy.left = copy.left.saturating_sub(share);
        }
        self.shared_until = self.now;
        // Done: from here on it is like a copy that ends now.
        let done = self.sharing.iter().filter(|copy| copy.left == 0);
        self.running.extend(done.map(|copy| Running {
            operation: copy.operation,
            place: Place::Engine(copy.engine),
            end: self.now,
            order: copy.order,
        }));
        self.sharing.retain(|copy| copy.left > 0);
        self.running.sort_by_key(|running| running.order);
    }

    pub(super) fn is_finished(&self, operation: usize) -> bool {
        self.operations[operation].finish.is_some()
    }

    /// The last record of an event so far.
    pub(super) fn last_record(&self, event: EventId) -> Option<usize> {
        self.operations.iter().rposition(|operation| operation.kind == OperationKind::Record(event))
    }

    /// G1.
    pub(super) fn submit(&mut self, kind: OperationKind, stream: StreamId, thread: usize, iteration: u64) -> usize {
        let operation = self.operations.len();
        let awaits = match kind {
            OperationKind::Wait(event) => self.last_record(event),
            _ => None,
        };
        self.operations.push(ReferenceOperation {
            kind,
            awaits,
            stream,
            thread,
            iteration,
            launched: self.now,
            reached_head: None,
            queued: None,
            entry: None,
            first_start: None,
            last_start: None,
            finish: None,
            blocks: Vec::new(),
            waits: Vec::new(),
        });
        self.streams[stream.0 as usize].push_back(operation);
        self.promote();
        operation
    }

    /// Step 1: what ends now, in the order of assignment.
    pub(super) fn complete_what_is_due(&mut self) {
        self.share_links();
        let due: Vec<Running> = self.running.iter().filter(|running| running.end == self.now).copied().collect();
        for done in due {
            let position = self.running.iter().position(|running| {
                (running.operation, running.place, running.end) == (done.operation, done.place, done.end)
            });
            self.running.remove(position.expect("it is running"));
            let more = self.running.iter().any(|running| running.operation == done.operation);
            let operation = &mut self.operations[done.operation];
            if !more && operation.last_start.is_some() {
                // G4, C4.
                operation.finish = Some(self.now);
                let popped = self.streams[operation.stream.0 as usize].pop_front();
                assert_eq!(popped, Some(done.operation));
            }
            self.promote();
        }
    }

    /// C2, C3: at once where copies share a link, or else when the engine is idle.
    pub(super) fn start_copies(&mut self) {
        let shared = self.scenario.device().copy.sharing == CopySharing::SharedLink;
        for engine in 0..self.ce_queues.len() {
            while let Some(&operation) = self.ce_queues[engine].front() {
                if !shared && self.running.iter().any(|running| running.place == Place::Engine(engine)) {
                    break;
                }
                self.ce_queues[engine].pop_front();
                let (time, order) = (self.copy_time(operation), self.begun);
                self.begun += 1;
                if shared {
                    self.sharing.push(Sharing { operation, engine, left: u128::from(time) * PARTS, order });
                } else {
                    let end = self.now + time;
                    self.running.push(Running { operation, place: Place::Engine(engine), end, order });
                }
                let record = &mut self.operations[operation];
                record.first_start = Some(self.now);
                record.last_start = Some(self.now);
            }
        }
    }

    fn copy_time(&self, operation: usize) -> u64 {
        let OperationKind::Copy(copy) = self.operations[operation].kind else { panic!("no copy in a CE queue") };
        let copy = &self.scenario.copies()[copy.0 as usize];
        if let Some(stated) = copy.duration {
            return stated.as_ns();
        }
        let engines = &self.scenario.device().copy;
        let bandwidth = match copy.direction {
            gpusched::device::CopyDirection::HostToDevice => engines.host_to_device_bytes_per_s,
            gpusched::device::CopyDirection::DeviceToHost => engines.device_to_host_bytes_per_s,
            gpusched::device::CopyDirection::DeviceToDevice => engines.device_to_device_bytes_per_s,
        };
        let nanoseconds = copy.bytes * 1_000_000_000;
        let transfer = nanoseconds / bandwidth + u64::from(!nanoseconds.is_multiple_of(bandwidth));
        engines.latency.as_ns() + transfer
    }

    /// What each SM has left, counted anew from what is resident.
    fn free(&self) -> Vec<Free> {
        let mut free = vec![Free::empty_sm(self.scenario.device()); self.scenario.device().sms as usize];
        for running in &self.running {
            if let Place::Sm(sm) = running.place {
                let need = self.need(running.operation);
                free[sm] = free[sm].take(&need).expect("resident blocks fit");
            }
        }
        free
    }

    fn need(&self, operation: usize) -> Need {
        let OperationKind::Kernel(kernel) = self.operations[operation].kind else { panic!("no kernel") };
        Need::of(&self.scenario.kernels()[kernel.0 as usize].shape, self.scenario.device())
    }

    /// Which SMs a kernel may use: by its own mask, or else its stream's.
    fn allowed(&self, operation: usize) -> Vec<bool> {
        let record = &self.operations[operation];
        let OperationKind::Kernel(kernel) = record.kind else { panic!("no kernel") };
        let own = self.scenario.kernels()[kernel.0 as usize].sm_mask;
        let mask = own.or(self.scenario.streams()[record.stream.0 as usize].sm_mask);
        let device = self.scenario.device();
        (0..device.sms).map(|sm| mask.is_none_or(|mask| mask.enables_tpc(sm / device.sms_per_tpc))).collect()
    }

    /// The head of the highest non-empty EE queue (X1, A2).
    fn highest_head(&self) -> Option<usize> {
        self.ee_queues.values().find_map(|queue| queue.front().copied())
    }

    /// Assigns blocks one by one until the kernel whose turn it is does not fit (R1 to R3).
    pub(super) fn dispatch(&mut self) {
        while let Some(operation) = self.highest_head() {
            let OperationKind::Kernel(kernel) = self.operations[operation].kind else { panic!("no kernel") };
            let kernel = &self.scenario.kernels()[kernel.0 as usize];
            let (device, placement) = (self.scenario.device(), self.scenario.placement);
            let (need, allowed) = (self.need(operation), self.allowed(operation));
            let Some(sm) = choose(placement, device, &self.free(), &need, &allowed, self.last_sm) else { return };
            self.last_sm = Some(sm);
            let end = self.now + kernel.duration.best.as_ns();
            self.running.push(Running { operation, place: Place::Sm(sm), end, order: self.begun });
            self.begun += 1;
            let record = &mut self.operations[operation];
            record.blocks.push((u32::try_from(sm).expect("few SMs"), self.now, end));
            record.first_start.get_or_insert(self.now);
            if record.blocks.len() == kernel.blocks as usize {
                // G3.
                record.last_start = Some(self.now);
                let priority = self.scenario.streams()[record.stream.0 as usize].priority;
                self.ee_queues.get_mut(&priority).expect("it is queued").pop_front();
                // A full dispatch may free a channel.
                self.promote();
            }
        }
    }

    /// Remembers what holds each operation from this instant on.
    pub(super) fn note_reasons(&mut self) {
        self.reasons = (0..self.operations.len())
            .filter(|&operation| {
                let record = &self.operations[operation];
                record.last_start.is_none() && record.finish.is_none()
            })
            .map(|operation| (operation, self.reason(operation)))
            .collect();
        self.reasons_since = self.now;
    }

    /// Writes down that what was noted held until `until`.
    pub(super) fn note_waits_until(&mut self, until: u64) {
        let reasons = std::mem::take(&mut self.reasons);
        if until == self.reasons_since {
            return;
        }
        for (operation, rule) in reasons {
            let waits = &mut self.operations[operation].waits;
            match waits.last_mut() {
                Some((last, _, to)) if *last == rule && *to == self.reasons_since => *to = until,
                _ => waits.push((rule, self.reasons_since, until)),
            }
        }
    }

    /// Which rule holds an operation that is not fully dispatched.
    fn reason(&self, operation: usize) -> Rule {
        let record = &self.operations[operation];
        let is_copy = matches!(record.kind, OperationKind::Copy(_));
        if self.streams[record.stream.0 as usize].front() != Some(&operation) {
            return if is_copy { Rule::C1 } else { Rule::G2 };
        }
        if self.channel_queue.contains(&operation) {
            return Rule::Channel;
        }
        if !self.is_recorded(operation) {
            return Rule::E2;
        }
        if self.now < self.launch_latency_over(operation) {
            return Rule::L1;
        }
        if self.now < self.kernel_gap_over(operation) {
            return Rule::L2;
        }
        if record.queued.is_none() {
            return if record.stream == StreamId::NULL { Rule::N1 } else { Rule::N2 };
        }
        if is_copy {
            return Rule::C2;
        }
        let priority = self.scenario.streams()[record.stream.0 as usize].priority;
        if self.ee_queues[&priority].front() != Some(&operation) {
            return Rule::X1;
        }
        if self.highest_head() != Some(operation) {
            return Rule::A2;
        }
        let (need, allowed) = (self.need(operation), self.allowed(operation));
        let usable: Vec<Free> = self.free().into_iter().zip(allowed).filter(|&(_, ok)| ok).map(|(sm, _)| sm).collect();
        assert!(!usable.iter().any(|sm| sm.fits(&need)), "a head that fits does not wait");
        if !usable.iter().any(|sm| sm.fits_threads(&need)) {
            Rule::R2
        } else if !usable.iter().any(|sm| sm.fits_threads_and_shared(&need)) {
            Rule::R3
        } else {
            Rule::Registers
        }
    }
}
