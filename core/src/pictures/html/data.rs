//! What the page knows, as the JSON that is embedded in it. The scripts read it in `script/data.js`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::blocks::{self, Groups, OccupancyColumns, SmBlocks, StandColumns, occupancy};
use super::columns::{ChainData, CoreData, Instants, Once, Palette, TurnData};
use super::reports::{BlameData, Deadlines, response_figure};
use super::waits::{LaneColumns, PhaseColumns, QueueData, RuleData, Waits, lanes};
use super::{HtmlRun, HtmlTimeline, columns};
use crate::device::{CopySharing, Device, KernelOccupancy};
use crate::draw::theme::series_repeat;
use crate::effort::Counted;
use crate::limits::count;
use crate::pictures::looks::KernelSeries;
use crate::pictures::timeline::FinishMark;
use crate::pictures::timeline_model::{self, ALWAYS, CopyInLane, HeightBy, demand_of};
use crate::proven::OrMost;
use crate::run::{Responses, Summary};
use crate::time::Instant;
use crate::trace::{
    NEVER, OperationRecord, Phase, Queue, QueueContents, Reason, Trace, phases, queue_contents, reasons,
};
use crate::workload::{CheckedKernel, Copy, CounterValue, Grid, KernelId, OperationKind, StreamId};

/// Instants that come to one shape where work is counted.
const INSTANTS_OF_A_SHAPE: u64 = 16;

#[derive(Debug, Serialize)]
pub(super) struct PageData<'a> {
    runs: Vec<RunData<'a>>,
    palette: Palette,
    rules: Vec<RuleData>,
    finishes: &'a [FinishMark],
    /// What instants are counted from where they are told.
    origin_ns: Instant,
    /// What is to be known beside the notes of the runs.
    notes: &'a [String],
}

#[derive(Debug, Serialize)]
struct RunData<'a> {
    name: &'a str,
    scenario: &'a str,
    placement: &'static str,
    blocks_only: bool,
    /// Whether blocks that do the same are one entry.
    merged: bool,
    notes: Vec<String>,
    device: DeviceData<'a>,
    threads: Vec<&'a str>,
    streams: Vec<StreamData<'a>>,
    processes: Vec<&'a str>,
    /// Who has EE queues, where green contexts do.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_owners: Option<Vec<&'a str>>,
    kernels: Vec<KernelData<'a>>,
    /// What kernels have in common, each once.
    shapes: Once<ShapeData>,
    copies: Vec<CopyData>,
    /// Lanes of copy engines, several of one where copies share its link: the engine, and the copies in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    copy_lanes: Vec<(u32, Vec<u32>)>,
    /// Names of events, and behind them values of counters as titles of operations have them.
    events: Vec<Cow<'a, str>>,
    instants: Instants,
    /// Number of the instant at which the run ended.
    end: i64,
    operations: Operations,
    /// Whose turn it is, if contexts take turns.
    turns: Option<TurnData>,
    /// Who has which core when, if hosts share some.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<CoreData>,
    /// The longest way of data through a chain, if the scenario has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<ChainData>,
    deadlines: Deadlines,
    /// Those of streams without deadline and with one job are told with their kernels.
    responses: Vec<Responses<'a>>,
    response_figure: Option<String>,
    queues: Vec<QueueData<'a>>,
    lanes: Vec<LaneColumns>,
    waits: Waits,
    phases: PhaseColumns,
    blame: Option<BlameData>,
    occupancy: Vec<OccupancyColumns>,
    groups: Groups,
    /// When blocks wait for others, if any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    stands: Option<StandColumns>,
    /// Number of the instant until which a run is shown that stands still.
    #[serde(skip_serializing_if = "Option::is_none")]
    still_until: Option<i64>,
    sms: Vec<SmBlocks>,
}

#[derive(Debug, Serialize)]
struct DeviceData<'a> {
    name: &'a str,
    resources: [ResourceData; 4],
    /// Highest first.
    priorities: Vec<i32>,
    copy_engines: u32,
    /// Whether copies share the link of an engine.
    shares_link: bool,
}

/// What an SM has of something that blocks take. The script adds up what they take of it, which is all that it knows of
/// resources.
#[derive(Debug, Serialize)]
struct ResourceData {
    /// What other data and the state at an instant call it.
    key: &'static str,
    /// What stands behind an amount of it.
    words: &'static str,
    /// What an SM has, in units of which a kernel's `demand` says how many a block takes.
    capacity: u32,
    unit: u32,
    /// What it is called where heights of bands stand for it, and what an SM has of it, as it is written.
    name: &'static str,
    text: String,
}

#[derive(Debug, Serialize)]
struct StreamData<'a> {
    name: &'a str,
    /// As reports have it.
    number: i64,
    process: u32,
}

#[derive(Debug, Serialize)]
struct KernelData<'a> {
    title: &'a str,
    /// Number of its title's fill, and what tells it from others with the same hatch.
    series: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<usize>,
    name: &'a str,
    shape: usize,
}

/// So many blocks of one shape.
#[derive(Debug, PartialEq, Eq, Hash, Serialize)]
struct ShapeData {
    blocks: u32,
    /// What one block takes of each of the device's resources, in their units.
    demand: [u32; 4],
    /// That as it is written, of what heights of bands stand for.
    takes: [String; 3],
    /// Blocks that one SM holds at once, what keeps it from holding more, and how often all SMs are filled, when the
    /// kernel runs alone.
    alone: (u32, &'static str, u32),
    /// All of it in sentences.
    says: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CopyData {
    direction: &'static str,
    bytes: Option<u64>,
    engine: u32,
}

/// Columns, one entry for each operation. Instants are numbers, -1 if not reached.
#[derive(Debug, Default, Serialize)]
struct Operations {
    /// What is among them, and which of these each is.
    kinds: Once<&'static str>,
    kind: Vec<usize>,
    /// Number of its kernel, copy or event.
    what: Vec<u32>,
    stream: Vec<u32>,
    thread: Vec<u32>,
    iteration: Vec<u32>,
    launched: Vec<i64>,
    first_start: Vec<i64>,
    finish: Vec<i64>,
}

impl<'a> PageData<'a> {
    pub(super) fn new(timeline: &'a HtmlTimeline<'a>) -> Self {
        let HtmlTimeline { runs, marks, merged, origin, notes } = timeline;
        let one_by_one = !merged;
        Self {
            runs: runs.iter().map(|run| RunData::new(run, one_by_one)).collect(),
            palette: Palette::new(),
            rules: RuleData::all(),
            finishes: marks,
            origin_ns: *origin,
            notes,
        }
    }
}

impl<'a> RunData<'a> {
    fn new(run: &HtmlRun<'a>, one_by_one: bool) -> Self {
        let Summary { scenario, trace, .. } = run.summary;
        let device = scenario.device();
        count(Counted::Shapes, trace.operations().len() as u64);
        // Of a measured run neither queues nor waits are known.
        let (queues, reasons): (Vec<QueueContents>, Vec<Reason>) =
            if run.blocks_only { Default::default() } else { (queue_contents(trace, device), reasons(trace, device)) };
        let still_until = timeline_model::still_until(&run.summary, Instant::ZERO);
        let by_sm = blocks::by_sm(&run.summary, one_by_one, still_until);
        let phases: Vec<Phase> = phases(trace, device, &reasons);

        let mut known = vec![Instant::ZERO, trace.end()];
        known.extend(still_until);
        known.extend(trace.stands().iter().flat_map(|stand| [stand.from, stand.to]).filter(|at| *at != NEVER));
        known.extend(trace.operations().iter().flat_map(instants_of));
        let stays = queues.iter().flat_map(|contents| &contents.stays);
        known.extend(stays.flat_map(|stay| [Some(stay.entered), stay.left]).flatten());
        known.extend(reasons.iter().flat_map(|reason| [Some(reason.from), reason.to]).flatten());
        known.extend(by_sm.iter().flatten().flat_map(|block| [block.time.start, block.time.end]));
        let turns = trace.turns().iter();
        known.extend(turns.flat_map(|turn| [turn.switch_from, turn.start, turn.end]));
        known.extend(run.summary.cores.iter().flat_map(|span| [span.start, span.end]));
        let longest = run.summary.longest_way();
        known.extend(longest.iter().flat_map(|longest| columns::instants_of_chain(longest, trace.end())));
        count(Counted::Shapes, known.len() as u64 / INSTANTS_OF_A_SHAPE);
        let instants = Instants::new(known);
        let operations = Operations::new(trace, &instants);
        let taken = |resource: &HeightBy| by_sm.iter().flatten().any(|blocks| blocks.units(*resource, device) > 0);
        let resources: Vec<HeightBy> = HeightBy::ALL.into_iter().filter(taken).collect();
        let groups = Groups::new(&by_sm, &instants);
        let sm = |blocks: &Vec<_>| SmBlocks::new(blocks, one_by_one, &resources, device, &groups);
        let series = KernelSeries::new(trace.kernels());
        let mut shapes = Once::default();
        let kernel = |(id, kernel): (u32, &'a CheckedKernel)| {
            let (series, shape) = (series.of(KernelId(id)), shapes.number(ShapeData::new(kernel, device)));
            KernelData { title: &kernel.title, series, repeat: series_repeat(series), name: &kernel.name, shape }
        };
        let kernels = (0..).zip(trace.kernels().iter()).map(kernel).collect();
        let copy = |&Copy { direction, bytes, .. }: &Copy| {
            let engine = device.copy.engine_for(direction);
            CopyData { direction: direction.name(), bytes, engine }
        };
        let names: Vec<Queue> = queues.iter().map(|contents| contents.queue).collect();

        Self {
            name: run.name,
            scenario: &scenario.name,
            placement: scenario.placement.name(),
            blocks_only: run.blocks_only,
            merged: !one_by_one,
            notes: run.summary.notes(),
            device: DeviceData {
                name: &device.name,
                resources: ResourceData::of_sm(device),
                priorities: device.priorities().collect(),
                copy_engines: device.copy.engines,
                shares_link: device.copy.sharing == CopySharing::SharedLink,
            },
            threads: scenario.threads.iter().map(|thread| &*thread.label).collect(),
            streams: (0..)
                .zip(trace.streams())
                .map(|(id, stream)| StreamData {
                    name: &stream.name,
                    number: scenario.stream_number(StreamId(id)),
                    process: stream.process.0,
                })
                .collect(),
            processes: trace.processes().iter().map(|process| &*process.name).collect(),
            queue_owners: queue_owners(trace),
            turns: TurnData::new(trace, &instants),
            cores: CoreData::new(run.summary.cores, scenario.threads.len(), &instants),
            chain: longest.map(|longest| ChainData::new(&longest, scenario, &instants, trace.end())),
            kernels,
            shapes,
            copies: trace.copies().iter().map(copy).collect(),
            copy_lanes: copy_lanes(&run.summary),
            events: trace.events().iter().map(|name| Cow::Borrowed(&**name)).chain(values(trace)).collect(),
            end: instants.number(trace.end()),
            queues: queues.iter().map(|contents| QueueData::new(contents, trace, &instants)).collect(),
            waits: Waits::new(&reasons, &names, &operations.launched, &instants),
            phases: PhaseColumns::new(&run.summary, &phases, &operations.launched, &instants),
            blame: if run.blocks_only { None } else { BlameData::new(&run.summary, &reasons, &phases) },
            lanes: lanes(&queues, &run.summary, &instants),
            occupancy: occupancy(&run.summary, &instants),
            operations,
            deadlines: Deadlines::new(&run.summary),
            responses: run.summary.responses().into_iter().filter(Responses::is_worth_showing).collect(),
            response_figure: response_figure(&run.summary),
            sms: by_sm.iter().map(sm).collect(),
            stands: StandColumns::new(&run.summary, &by_sm, (&groups, &instants)),
            still_until: still_until.map(|until| instants.number(until)),
            groups,
            instants,
        }
    }
}

fn instants_of(record: &OperationRecord) -> impl Iterator<Item = Instant> + use<> {
    let later = [record.first_start(), record.finish()];
    std::iter::once(record.launched()).chain(later.into_iter().flatten())
}

impl ResourceData {
    fn of_sm(device: &Device) -> [Self; 4] {
        let resource = |by: HeightBy, key, words| {
            let (capacity, unit) = (by.of_sm(device), by.unit(device));
            Self { key, words, capacity: capacity / unit, unit, name: by.name(), text: by.amount(capacity) }
        };
        let (slots, blocks) = (device.per_sm.blocks, resource(HeightBy::Threads, "blocks", "block slots"));
        [
            resource(HeightBy::Threads, "threads", "threads"),
            Self { capacity: slots, unit: 1, name: "block slots", text: slots.to_string(), ..blocks },
            resource(HeightBy::SharedMemory, "shared_memory", "bytes of shared memory"),
            resource(HeightBy::Registers, "registers", "registers"),
        ]
    }
}

impl ShapeData {
    fn new(kernel: &CheckedKernel, device: &Device) -> Self {
        let Grid { shape, blocks, .. } = &***kernel;
        let alone = KernelOccupancy::new(shape, *blocks, device.sms, device);
        let alone = (alone.resident_blocks_per_sm, alone.limited_by.name(), alone.waves);
        let demand = demand_of(kernel, device);
        let takes = HeightBy::ALL.map(|by| by.amount(by.of_block(&demand, device)));
        let whole = Some(demand.warps).filter(|warps| warps * device.warp_size != shape.threads);
        let whole = whole.map_or_else(String::new, |warps| format!(" ({warps} whole warps)"));
        let [threads, memory, registers] = HeightBy::ALL.map(|by| by.amount(by.of_sm(device)));
        let of_sm = [
            (1, format!("{} of {threads} threads{whole}", shape.threads)),
            (demand.shared_memory_bytes, format!("{} of {memory} of shared memory", takes[1])),
            (demand.registers, format!("{} of {registers} registers", takes[2])),
        ];
        let of_sm: Vec<&str> = of_sm.iter().filter(|(amount, _)| *amount > 0).map(|(_, text)| &**text).collect();
        let (held, limit, waves) = alone;
        let says = vec![
            format!("{blocks} blocks; a block takes of an SM {}", of_sm.join(", ")),
            format!("alone, an SM holds {held} of them at once (limit: {limit}), and all SMs are filled {waves} times"),
        ];
        let demand = [demand.warps, 1, demand.shared_memory_bytes, demand.registers];
        Self { blocks: *blocks, demand, takes, alone, says }
    }
}

impl Operations {
    fn new(trace: &Trace, instants: &Instants) -> Self {
        let mut columns = Self::default();
        let events = u32::try_from(trace.events().len()).or_most();
        for record in trace.operations() {
            columns.kind.push(columns.kinds.number(record.kind.name()));
            columns.what.push(match record.kind {
                OperationKind::Kernel(kernel) => kernel.0,
                OperationKind::Copy(copy) => copy.0,
                OperationKind::Memset => 0,
                OperationKind::Record(event) | OperationKind::Wait(event) => event.0,
                OperationKind::WaitValue(value) | OperationKind::WriteValue(value) => events.saturating_add(value.0),
            });
            columns.stream.push(record.stream.0);
            columns.thread.push(record.origin.thread);
            columns.iteration.push(record.origin.iteration);
            columns.launched.push(instants.number(record.launched()));
            columns.first_start.push(instants.number_or_never(record.first_start()));
            columns.finish.push(instants.number_or_never(record.finish()));
        }
        columns
    }
}

fn values(trace: &Trace) -> impl Iterator<Item = Cow<'_, str>> {
    let name = |value: &CounterValue| trace.counters().get(value.counter.index()).map_or("", |name| name);
    trace.values().iter().map(move |value| Cow::Owned(format!("{}, {}", name(value), value.value)))
}

fn copy_lanes(summary: &Summary<'_>) -> Vec<(u32, Vec<u32>)> {
    let mut lanes: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for CopyInLane { id, engine, lane, .. } in timeline_model::copies(summary, &ALWAYS) {
        lanes.entry((engine, lane)).or_default().push(id.0);
    }
    lanes.into_iter().map(|((engine, _), copies)| (engine, copies)).collect()
}

/// The names of whoever has EE queues, where green contexts or clients of MPS have their own.
fn queue_owners(trace: &Trace) -> Option<Vec<&str>> {
    let has_owners = !trace.is_time_sliced() && trace.queue_contexts().len() > 1;
    has_owners
        .then(|| trace.queue_contexts().into_iter().filter_map(|context| trace.queue_context_name(context)).collect())
}
