//! The state of the GPU at one instant, told from the trace: queues, residents, and why each thing waits.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::summary::{SmUtilization, Summary, stream_index};
use crate::device::{BlockDemand, Device, Resource};
use crate::gpu::{OperationRecord, Rule};
use crate::time::Instant;
use crate::workload::{OperationId, OperationKind, StreamId};

/// The GPU after all events of one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct State {
    /// The instant.
    pub at_ns: Instant,
    /// The stream queues that are not empty, the NULL stream's first; the head of each first. An operation stays
    /// until it has completed (G4, C4).
    pub stream_queues: Vec<QueueContent>,
    /// The EE queues by stream priority, highest first; the head of each first.
    #[serde(serialize_with = "as_map")]
    pub ee_queues: Vec<(i32, Vec<String>)>,
    /// What waits for a copy engine, in order of entry; of all engines together.
    pub ce_queue: Vec<String>,
    /// The CE queue of each copy engine.
    pub ce_queues: Vec<Vec<String>>,
    /// What each copy engine is serving.
    pub copy_engines: Vec<Option<String>>,
    /// The SMs.
    pub sms: Vec<SmState>,
    /// Every operation that was submitted and has work left that is not on the GPU.
    pub waiting: Vec<Waiting>,
}

/// One stream queue at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueContent {
    /// The stream's name.
    pub name: String,
    /// The stream's number, -1 for the NULL stream.
    pub stream: i64,
    /// What is in the queue.
    pub operations: Vec<String>,
}

/// One SM at one instant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SmState {
    /// The SM.
    pub sm: u32,
    /// Kernels with blocks on it, in launch order.
    pub resident: Vec<Resident>,
    /// Thread slots.
    pub free_threads: u32,
    /// Block slots.
    pub free_blocks: u32,
    /// \[bytes\]
    pub free_shared_memory: u32,
    /// Registers.
    pub free_registers: u32,
}

/// Blocks of one kernel on one SM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resident {
    /// The kernel's title.
    pub kernel: String,
    /// Number of the operation.
    pub id: u32,
    /// How many blocks.
    pub blocks: u32,
}

/// An operation that waits, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// The operation's title.
    pub operation: String,
    /// Its number.
    pub id: u32,
    /// The rule that holds it.
    pub rule: &'static str,
    /// What it waits for.
    pub why: String,
}

fn as_map<S: Serializer>(queues: &[(i32, Vec<String>)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(queues.len()))?;
    for (priority, names) in queues {
        map.serialize_entry(&priority.to_string(), names)?;
    }
    map.end()
}

impl State {
    /// The state of a run at `at`.
    #[must_use]
    pub fn at(summary: &Summary<'_>, at: Instant) -> Self {
        Snapshot::new(summary, at).state()
    }
}

/// What is needed to tell the state at one instant.
struct Snapshot<'a> {
    summary: Summary<'a>,
    at: Instant,
    /// Submitted and not completed, in launch order.
    present: Vec<(OperationId, &'a OperationRecord)>,
    /// The head of each stream queue.
    heads: BTreeMap<StreamId, OperationId>,
    free: Vec<Free>,
    resident: Vec<Vec<Resident>>,
}

/// What is free on one SM.
#[derive(Clone, Copy)]
struct Free {
    warps: u32,
    blocks: u32,
    shared_memory_bytes: u32,
    registers: u32,
}

impl<'a> Snapshot<'a> {
    fn new(summary: &Summary<'a>, at: Instant) -> Self {
        let trace = summary.trace;
        let device = summary.scenario.device();
        let present: Vec<_> = (0..)
            .map(OperationId)
            .zip(trace.operations())
            .filter(|(_, record)| record.launched() <= at && record.finish().is_none_or(|finish| finish > at))
            .collect();
        let mut heads = BTreeMap::new();
        for (id, record) in &present {
            heads.entry(record.stream).or_insert(*id);
        }
        let empty = Free {
            warps: device.warps_per_sm(),
            blocks: device.per_sm.blocks,
            shared_memory_bytes: device.per_sm.shared_memory_bytes,
            registers: device.per_sm.registers,
        };
        let mut snapshot = Self {
            summary: *summary,
            at,
            present,
            heads,
            free: vec![empty; device.sms as usize],
            resident: vec![Vec::new(); device.sms as usize],
        };
        snapshot.settle(device);
        snapshot
    }

    /// Puts the resident blocks on their SMs.
    fn settle(&mut self, device: &Device) {
        let trace = self.summary.trace;
        for (id, _) in &self.present {
            let Some(kernel) = trace.kernel_of(*id) else { continue };
            let Ok(demand) = BlockDemand::new(&kernel.shape, device) else { continue };
            for part in trace.resident_at(*id, self.at) {
                let blocks = u32::from(part.blocks);
                let free = &mut self.free[usize::from(part.sm)];
                free.warps -= demand.warps * blocks;
                free.blocks -= blocks;
                free.shared_memory_bytes -= demand.shared_memory_bytes * blocks;
                free.registers -= demand.registers * blocks;
                let residents = &mut self.resident[usize::from(part.sm)];
                match residents.last_mut().filter(|last| last.id == id.0) {
                    Some(last) => last.blocks += blocks,
                    None => residents.push(Resident { kernel: kernel.title.to_string(), id: id.0, blocks }),
                }
            }
        }
    }

    fn state(&self) -> State {
        let device = self.summary.scenario.device();
        let ee_queues = device
            .priorities()
            .map(|priority| (priority, self.ee_queue(priority).into_iter().map(|id| self.title(id)).collect()))
            .collect();
        let engines = 0..device.copy.engines;
        let ce_queues = engines.clone().map(|engine| {
            let ids = self.queued(|record| self.engine_of(record) == Some(engine));
            ids.into_iter().map(|id| self.title(id)).collect()
        });
        let sms = (0..device.sms).zip(&self.free).zip(&self.resident);
        State {
            at_ns: self.at,
            stream_queues: self.stream_queues(),
            ce_queues: ce_queues.collect(),
            ee_queues,
            ce_queue: self.ce_queue().into_iter().map(|id| self.title(id)).collect(),
            copy_engines: engines.map(|engine| self.served_by(engine).map(|id| self.title(id))).collect(),
            sms: sms
                .map(|((sm, free), resident)| SmState {
                    sm,
                    resident: resident.clone(),
                    free_threads: free.warps * device.warp_size,
                    free_blocks: free.blocks,
                    free_shared_memory: free.shared_memory_bytes,
                    free_registers: free.registers,
                })
                .collect(),
            waiting: self.present.iter().filter_map(|(id, record)| self.waiting(*id, record)).collect(),
        }
    }

    fn stream_queues(&self) -> Vec<QueueContent> {
        let mut queues: BTreeMap<StreamId, Vec<String>> = BTreeMap::new();
        for (id, record) in &self.present {
            queues.entry(record.stream).or_default().push(self.title(*id));
        }
        let streams = self.summary.trace.streams();
        let name = |stream: StreamId| streams.get(stream.0 as usize).map_or_else(String::new, |s| s.name.to_string());
        queues
            .into_iter()
            .map(|(stream, operations)| QueueContent { name: name(stream), stream: stream_index(stream), operations })
            .collect()
    }

    /// Operations in a queue: queued, and not fully dispatched.
    fn queued(&self, belongs: impl Fn(&OperationRecord) -> bool) -> Vec<OperationId> {
        let in_queue = |record: &OperationRecord| {
            record.queued().is_some_and(|queued| queued <= self.at)
                && record.last_start().is_none_or(|start| start > self.at)
        };
        let mut ids: Vec<_> = self.present.iter().filter(|(_, record)| in_queue(record) && belongs(record)).collect();
        ids.sort_unstable_by_key(|(_, record)| record.queue_order());
        ids.into_iter().map(|(id, _)| *id).collect()
    }

    fn ee_queue(&self, priority: i32) -> Vec<OperationId> {
        self.queued(|record| {
            matches!(record.kind, OperationKind::Kernel(_)) && self.priority_of(record.stream) == priority
        })
    }

    fn ce_queue(&self) -> Vec<OperationId> {
        self.queued(|record| matches!(record.kind, OperationKind::Copy(_)))
    }

    fn served_by(&self, engine: u32) -> Option<OperationId> {
        let running = |record: &OperationRecord| record.first_start().is_some_and(|start| start <= self.at);
        let mut copies = self.present.iter().filter(|(_, record)| running(record));
        copies.find(|(_, record)| self.engine_of(record) == Some(engine)).map(|(id, _)| *id)
    }

    fn engine_of(&self, record: &OperationRecord) -> Option<u32> {
        let OperationKind::Copy(copy) = record.kind else { return None };
        let direction = self.summary.trace.copies().get(copy.0 as usize)?.direction;
        Some(self.summary.scenario.device().copy.engine_for(direction))
    }

    fn priority_of(&self, stream: StreamId) -> i32 {
        self.summary.trace.streams().get(stream.0 as usize).map_or(0, |stream| stream.priority)
    }

    fn title(&self, id: OperationId) -> String {
        title(&self.summary, id)
    }

    /// The rule that holds an operation now; `None` for what is completely on the GPU.
    fn rule(&self, id: OperationId, record: &OperationRecord) -> Option<Rule> {
        let reached = |instant: Option<Instant>| instant.is_some_and(|instant| instant <= self.at);
        if reached(record.last_start()) {
            return None;
        }
        let is_copy = matches!(record.kind, OperationKind::Copy(_));
        if self.heads.get(&record.stream) != Some(&id) {
            return Some(if is_copy { Rule::C1 } else { Rule::G2 });
        }
        if !reached(record.queued()) {
            return Some(match self.held_by(id, record) {
                None => Rule::Channel,
                Some(_) if record.stream == StreamId::NULL => Rule::N1,
                Some(_) => Rule::N2,
            });
        }
        if is_copy {
            return Some(Rule::C2);
        }
        let own = self.priority_of(record.stream);
        if self.ee_queue(own).first() != Some(&id) {
            return Some(Rule::X1);
        }
        if self.holder_above(own).is_some() {
            return Some(Rule::A2);
        }
        let lacks = self.shortages(id).into_iter().map(|(lacks, _)| lacks);
        // The first rule that every SM breaks, after giving each the benefit of the rules before it.
        lacks.filter_map(|lacks| lacks.first().map(|(what, _)| rule_about(*what))).max().or(Some(Rule::R2))
    }

    /// The operation because of which N1 or N2 hold the head of a stream.
    fn held_by(&self, id: OperationId, record: &OperationRecord) -> Option<OperationId> {
        let streams = self.summary.trace.streams();
        let blocking = |stream: StreamId| streams.get(stream.0 as usize).is_some_and(|spec| spec.blocking);
        let concerns = |stream: StreamId| match record.stream {
            StreamId::NULL => blocking(stream),
            own => stream == StreamId::NULL && blocking(own),
        };
        self.heads.iter().find(|(stream, head)| concerns(**stream) && **head < id).map(|(_, head)| *head)
    }

    /// The head of the highest non-empty EE queue above a priority.
    fn holder_above(&self, priority: i32) -> Option<OperationId> {
        let mut higher = self.summary.scenario.device().priorities().filter(|&other| other < priority);
        higher.find_map(|priority| self.ee_queue(priority).first().copied())
    }

    /// The rule that holds an operation now, and whom or what it waits for.
    fn waiting(&self, id: OperationId, record: &OperationRecord) -> Option<Waiting> {
        let rule = self.rule(id, record)?;
        let why = match rule {
            Rule::G2 | Rule::C1 => self.behind(self.heads.get(&record.stream), "in its stream, behind"),
            Rule::X1 => {
                let queue = self.ee_queue(self.priority_of(record.stream));
                self.behind(queue.first(), "in its EE queue, behind")
            }
            Rule::A2 => {
                let holder = self.holder_above(self.priority_of(record.stream));
                self.behind(holder.as_ref(), "while an EE queue of higher priority holds")
            }
            Rule::N1 => {
                let earlier = self.held_by(id, record);
                self.behind(earlier.as_ref(), "until an earlier operation of a blocking stream completes:")
            }
            Rule::N2 => {
                let earlier = self.held_by(id, record);
                self.behind(earlier.as_ref(), "until an earlier operation of the NULL stream completes:")
            }
            Rule::C2 => {
                let served = self.engine_of(record).and_then(|engine| self.served_by(engine));
                self.behind(served.as_ref(), "until its copy engine is idle, which serves")
            }
            Rule::R2 | Rule::R3 | Rule::Registers => self.missing(id),
            Rule::Channel => "until a hardware channel is free".to_owned(),
        };
        Some(Waiting { operation: self.title(id), id: id.0, rule: rule.name(), why })
    }

    fn behind(&self, other: Option<&OperationId>, relation: &str) -> String {
        other.map_or_else(|| relation.to_owned(), |other| format!("{relation} {}", self.title(*other)))
    }

    /// What a block of `id` lacks on each SM that it may use, with the SM.
    fn shortages(&self, id: OperationId) -> Vec<(Vec<(Resource, u32)>, u32)> {
        let device = self.summary.scenario.device();
        let Some(kernel) = self.summary.trace.kernel_of(id) else { return Vec::new() };
        let Ok(demand) = BlockDemand::new(&kernel.shape, device) else { return Vec::new() };
        let stream = self.summary.trace.operations().get(id.0 as usize).map(|record| record.stream);
        let stream_mask = stream
            .and_then(|stream| self.summary.trace.streams().get(stream.0 as usize))
            .and_then(|stream| stream.sm_mask);
        let mask = kernel.sm_mask.or(stream_mask);
        let allowed = (0..device.sms).filter(|&sm| mask.is_none_or(|mask| mask.enables_sm(sm, device)));
        allowed.map(|sm| (shortage(&self.free[sm as usize], &demand, device), sm)).collect()
    }

    /// What a block of `id` lacks on the SM that comes nearest to having room for it.
    fn missing(&self, id: OperationId) -> String {
        // Fewest kinds of resources missing first, then the least amount.
        let nearest = self
            .shortages(id)
            .into_iter()
            .min_by_key(|(lacks, _)| (lacks.len(), lacks.iter().map(|(_, by)| u64::from(*by)).sum::<u64>()));
        let Some((lacks, sm)) = nearest else { return String::new() };
        let list: Vec<String> = lacks.iter().map(|(what, by)| format!("{by} {}", what.name())).collect();
        format!("no SM has room for its next block; SM {sm} comes nearest and lacks {}", list.join(" and "))
    }
}

/// The rule about a resource.
fn rule_about(resource: Resource) -> Rule {
    match resource {
        Resource::Threads | Resource::BlockSlots => Rule::R2,
        Resource::SharedMemory => Rule::R3,
        Resource::Registers => Rule::Registers,
    }
}

/// What an SM lacks for one block, and how much of it.
fn shortage(free: &Free, demand: &BlockDemand, device: &Device) -> Vec<(Resource, u32)> {
    let lack = |what, needed: u32, free: u32| (needed > free).then(|| (what, needed - free));
    [
        lack(Resource::Threads, demand.warps * device.warp_size, free.warps * device.warp_size),
        lack(Resource::BlockSlots, 1, free.blocks),
        lack(Resource::SharedMemory, demand.shared_memory_bytes, free.shared_memory_bytes),
        lack(Resource::Registers, demand.registers, free.registers),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What reports call an operation: a kernel by its title, a copy by its direction and number.
pub(super) fn title(summary: &Summary<'_>, id: OperationId) -> String {
    let Some(record) = summary.trace.operations().get(id.0 as usize) else { return String::new() };
    match record.kind {
        OperationKind::Kernel(_) => summary.trace.kernel_of(id).map(|kernel| kernel.title.to_string()),
        OperationKind::Copy(copy) => {
            let direction = summary.trace.copies().get(copy.0 as usize).map(|copy| copy.direction.name());
            direction.map(|direction| format!("copy {} ({direction})", id.0))
        }
        OperationKind::Memset => Some(format!("memset {}", id.0)),
    }
    .unwrap_or_default()
}

/// See [`Summary::utilization`].
pub(super) fn utilization(summary: &Summary<'_>) -> Vec<SmUtilization> {
    let device = summary.scenario.device();
    let span = summary.trace.end().as_ns() as f64;
    if span == 0.0 {
        return Vec::new();
    }
    let mut busy = vec![[0_u128; 3]; device.sms as usize];
    for (id, _, kernel) in summary.launches() {
        let Ok(demand) = BlockDemand::new(&kernel.shape, device) else { continue };
        for (sm, block_ns) in summary.trace.block_time(id) {
            let sums = &mut busy[usize::from(sm)];
            sums[0] += block_ns * u128::from(demand.warps);
            sums[1] += block_ns;
            sums[2] += block_ns * u128::from(demand.shared_memory_bytes);
        }
    }
    let share = |sum: u128, capacity: u32| if capacity == 0 { 0.0 } else { sum as f64 / (span * f64::from(capacity)) };
    (0..)
        .zip(busy)
        .map(|(sm, [warps, blocks, shared])| SmUtilization {
            sm,
            threads: share(warps, device.warps_per_sm()),
            block_slots: share(blocks, device.per_sm.blocks),
            shared_memory: share(shared, device.per_sm.shared_memory_bytes),
        })
        .collect()
}
