//! `kernels`: what can be launched, by name, and a note on registers that a file does not state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::counters;
use super::operations::one_of;
use super::reading::{NamedKernel, NamedKernels, Reading};
use crate::device::{BlockDemand, BlockShape, Device, RegisterFile, ResidentWarps, Sided};
use crate::json::{Node, Object, Problem};
use crate::scenario::reader::{self, Place, dimensions};
use crate::scenario::{ReadOptions, Scenario, Step};
use crate::spelling::option;
use crate::time::Duration;
use crate::workload::{
    BlockClock, BlockTime, Clusters, Kernel, KernelId, Programmatic, Share, StreamId, WorkItems, WorkloadError,
};

/// Reads the object whose keys are the kernels' names.
pub(super) fn read(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    for (name, node) in node.object()?.into_entries() {
        if name.is_empty() {
            return Err(node.problem("a kernel needs a name that is not empty"));
        }
        if reading.kernels.has(&name) {
            return Err(node.problem(format!("two kernels are called {name:?}")));
        }
        let name: Arc<str> = name.into();
        let kernel = kernel(&name, node, reading)?;
        reading.kernels.insert(name, kernel);
    }
    Ok(())
}

fn kernel(name: &Arc<str>, node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<NamedKernel, Problem> {
    let mut entry = node.object()?;
    let blocks = dimensions(entry.required("blocks")?, Sided::Grid)?;
    let threads_node = entry.required("threads")?;
    let threads = dimensions(threads_node, Sided::Block)?;
    let stated_node = entry.optional("duration")?;
    let stated = stated_node.map(block_time).transpose()?;
    let clock = entry.optional("clock")?.map(block_clock).transpose()?.unwrap_or_default();
    let times_node = entry.optional("block_times")?;
    let own_times = times_node.map(|node| block_times(node, blocks)).transpose()?;
    let shared_memory_node = entry.optional("shared_memory_bytes")?;
    let registers_node = entry.optional("registers_per_thread")?;
    let (shared_memory_bytes, registers_per_thread) = (number(shared_memory_node)?, number(registers_node)?);
    let trigger = entry.optional("trigger")?.map(counters::share).transpose()?;
    let (waits, wait) = entry.optional("wait")?.map_or((None, None), |node| {
        // A list of waits for counters, or where a programmatic launch waits.
        if node.is_list() { (Some(node), None) } else { (None, Some(node)) }
    });
    let wait = wait.map(counters::share).transpose()?;
    let stated_of_others = counters::of_kernel(&mut entry, waits, reading)?;
    let clusters = clusters(&mut entry)?;
    let items_node = entry.optional("items")?;
    let mask_node = entry.optional("sm_mask")?;
    let sm_mask = mask_node.map(reader::sm_mask).transpose()?;
    entry.finish()?;

    let of_all = own_times.as_ref().filter(|times| times.len() == blocks as usize).and_then(|times| span(times));
    let stated = stated.or(of_all);
    let is_until = stated_of_others.is_until;
    if let Some(place) = stated_node.filter(|_| is_until) {
        return Err(place.problem("a kernel that runs \"until\" a counter has a value has no \"duration\" besides"));
    }
    let stated = if is_until { Some(BlockTime::fixed(Duration::ZERO)) } else { stated };
    let given = stated.is_none();
    let stated = stated.or_else(|| reading.builder.given_block_duration(&[name]).map(BlockTime::fixed));
    let duration = stated.ok_or_else(|| {
        let missing = match &own_times {
            Some(times) => format!("kernel {name:?} has {blocks} blocks, \"block_times\" {} times", times.len()),
            None => format!("the block duration of kernel {name:?} is not in the file"),
        };
        node.problem(missing).with_help(format!(
            "add \"duration\", or state it with {}, for example {}",
            option("block_duration").of(name, "TIME"),
            option("block_duration").of(name, "2ms")
        ))
    })?;
    let items = items_node.map(|node| work_items(node, duration, own_times.is_some())).transpose()?;
    if items == Some(WorkItems::TryCancel) && (trigger.is_some() || wait.is_some()) {
        return Err(node.problem("\"trigger\" and \"wait\" are not simulated where blocks take others over"));
    }
    let varies = duration.varies() && of_all.is_none();
    let kernel = Kernel {
        name: Arc::clone(name),
        title: Arc::clone(name),
        blocks,
        shape: BlockShape { threads, registers_per_thread, shared_memory_bytes },
        duration,
        clock,
        sm_mask,
    };
    let place = Place { whole: node, threads: Some(threads_node), priority: None, sm_mask: mask_node };
    let added = reading.builder.add_kernel(kernel);
    let id = added.map_err(|error| place.of(&error).problem(format!("kernel {name:?}: {error}")))?;
    let programmatic = Programmatic { trigger, wait: wait.unwrap_or(Share::ALL), is_dependent: false };
    let stated = reading.builder.set_programmatic(id, programmatic);
    stated.map_err(|error| node.problem(format!("kernel {name:?}: {error}")))?;
    let stated = reading.builder.set_clusters(id, clusters);
    if !reading.builder.options().other_clusters.contains(&**name) {
        stated.map_err(|error| node.problem(format!("kernel {name:?}: {error}")))?;
    }
    let stated = reading.builder.set_synchronization(id, stated_of_others.synchronization);
    stated.map_err(|error| node.problem(format!("kernel {name:?}: {error}")))?;
    let is_in_loop = items.is_some_and(|items| items != WorkItems::TryCancel);
    if reading.builder.options().vary_percent.is_some() && is_in_loop {
        reading.builder.note(format!("kernel {name:?} has blocks in a loop: their times do not vary"));
    }
    if let Some((node, times)) = times_node.zip(own_times) {
        reading.builder.set_block_times(id, varied(node, times, reading.builder.options())?);
    }
    if let (Some(items), Some(place)) = (items, items_node) {
        let stated = reading.builder.set_work_items(id, items);
        stated.map_err(|error| place.problem(format!("kernel {name:?}: {error}")))?;
    }
    Ok(NamedKernel {
        id,
        blocks,
        varies,
        given,
        states_registers: registers_node.is_some(),
        states_shared_memory: shared_memory_node.is_some(),
        is_launched: false,
        dependent: None,
    })
}

/// `cluster` and `cluster_fallback`: in which clusters blocks come.
fn clusters(entry: &mut Object<'_>) -> Result<Option<Clusters>, Problem> {
    let size = entry.optional("cluster")?.map(|node| node.whole_u32(0, u32::MAX)).transpose()?;
    let fallback_node = entry.optional("cluster_fallback")?;
    let fallback = fallback_node.map(|node| node.whole_u32(1, u32::MAX)).transpose()?;
    match (size, fallback_node) {
        (None, Some(node)) => Err(node.problem("a kernel with \"cluster_fallback\" needs \"cluster\"")),
        (size, _) => Ok(size.map(|size| Clusters { size, fallback })),
    }
}

/// What `items` is where blocks take those over that have not begun.
pub(super) const TRY_CANCEL: &str = "try_cancel";

/// How blocks take work items, each of which takes `time`.
fn work_items(node: Node<'_>, time: BlockTime, has_own_times: bool) -> Result<WorkItems, Problem> {
    if node.text().is_ok_and(|text| text == TRY_CANCEL) {
        return Ok(WorkItems::TryCancel);
    }
    let expected = || node.expected("a number of items, or \"try_cancel\"");
    let items = node.whole_u32(1, u32::MAX).map_err(|_| expected())?;
    if has_own_times || time.varies() {
        return Err(node.problem("items that blocks take in a loop all need one \"duration\""));
    }
    Ok(WorkItems::Loop { items, time: time.worst })
}

/// One time for all blocks, or the bounds between which each block's time is drawn.
fn block_time(node: Node<'_>) -> Result<BlockTime, Problem> {
    if !node.is_object() {
        return node.time().map(BlockTime::fixed);
    }
    let mut bounds = node.object()?;
    let time = BlockTime { best: bounds.required("best")?.time()?, worst: bounds.required("worst")?.time()? };
    bounds.finish()?;
    if time.best > time.worst {
        return Err(
            node.problem(format!("the best block time, {}, is longer than the worst, {}", time.best, time.worst))
        );
    }
    Ok(time)
}

/// On which clock a block's time passes.
fn block_clock(node: Node<'_>) -> Result<BlockClock, Problem> {
    one_of(node, &BlockClock::ALL.map(BlockClock::name), BlockClock::from_name)
}

/// Times of single blocks, the first ones of the grid.
fn block_times(node: Node<'_>, blocks: u32) -> Result<Arc<[Duration]>, Problem> {
    let times: Vec<Duration> = node.filled_list()?.iter().map(Node::time).collect::<Result<_, _>>()?;
    if times.len() > blocks as usize {
        return Err(node.problem(format!("the kernel has {blocks} blocks, and these are {} times", times.len())));
    }
    Ok(times.into())
}

/// The times of single blocks under the user's variation, which may stretch them and draws none of them.
fn varied(node: Node<'_>, times: Arc<[Duration]>, options: &ReadOptions) -> Result<Arc<[Duration]>, Problem> {
    match options.vary_percent {
        None => Ok(times),
        Some((best, worst)) if best == worst => {
            let stretched = times.iter().map(|time| Some(options.vary(BlockTime::fixed(*time))?.worst)).collect();
            let stretched: Option<Vec<Duration>> = stretched;
            Ok(stretched.ok_or_else(|| node.problem(WorkloadError::BlockTimeTooLong.to_string()))?.into())
        }
        Some((best, worst)) => Err(node
            .problem(format!(
                "these blocks run for just these times, of which no random share is drawn as {best}..{worst} asks"
            ))
            .with_help(format!(
                "{} leaves them as they are, other equal percentages stretch or shorten them",
                option("vary").with("100..100")
            ))),
    }
}

/// Between which bounds times of blocks are.
fn span(times: &[Duration]) -> Option<BlockTime> {
    Some(BlockTime { best: *times.iter().min()?, worst: *times.iter().max()? })
}

fn number(node: Option<Node<'_>>) -> Result<u32, Problem> {
    node.map_or(Ok(0), |node| node.whole_u32(0, u32::MAX))
}

/// Kernels above which nobody looks at all pairs.
const MOST_KERNELS: usize = 1_000;

/// The most registers that the compiler gives a thread.
const MOST_REGISTERS: u32 = 255;

/// A kernel as the file states it.
struct StatedKernel<'a> {
    id: KernelId,
    name: &'a str,
    shape: BlockShape,
    states_registers: bool,
    states_shared_memory: bool,
    streams: BTreeSet<StreamId>,
}

/// The note on kernels of which registers, or registers and shared memory, are not stated, if that may decide: two
/// kernels of different streams have room on one SM together by what is stated, and might have none by what is not.
///
/// A file that states neither of any kernel is about threads, and a number that is stated as 0 is stated: of both there
/// is nothing to say.
pub(super) fn note_unstated(kernels: &NamedKernels, scenario: &Scenario) -> Option<String> {
    let named = kernels.named();
    if named.len() > MOST_KERNELS {
        return None;
    }
    let mut streams: BTreeMap<KernelId, BTreeSet<StreamId>> = BTreeMap::new();
    for step in scenario.threads.iter().flat_map(|thread| &thread.steps) {
        if let Step::Launch(kernel, stream) = *step {
            streams.entry(kernel).or_default().insert(stream);
        }
    }
    let all: Vec<StatedKernel<'_>> = named
        .into_iter()
        .filter_map(|(name, kernel)| {
            Some(StatedKernel {
                id: kernel.id,
                name,
                shape: scenario.kernels().get(kernel.id.index())?.shape,
                states_registers: kernel.states_registers,
                states_shared_memory: kernel.states_shared_memory,
                streams: streams.remove(&kernel.id)?,
            })
        })
        .collect();
    let states_any =
        |kernel: &StatedKernel<'_>| kernel.shape.registers_per_thread + kernel.shape.shared_memory_bytes > 0;
    if !all.iter().any(states_any) {
        return None;
    }
    let pairs = all.iter().enumerate().flat_map(|(place, one)| all[place + 1..].iter().map(move |other| [one, other]));
    let deciding: Vec<[&StatedKernel<'_>; 2]> = pairs.filter(|pair| may_decide(*pair, scenario)).collect();
    let [one, other] = deciding.first()?.map(|kernel| kernel.name);
    let open: BTreeMap<&str, bool> = deciding
        .iter()
        .flatten()
        .filter(|kernel| !kernel.states_registers)
        .map(|kernel| (kernel.name, kernel.states_shared_memory))
        .collect();
    let listed = |names: Vec<&str>| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let without_either = open.iter().filter(|(_, states)| !**states).map(|(name, _)| *name).collect::<Vec<_>>();
    let either = match without_either.as_slice() {
        [] => String::new(),
        _ => format!(" (nor shared_memory_bytes: {})", listed(without_either)),
    };
    Some(format!(
        "registers_per_thread is not stated of {}{either}: by what is stated, blocks of {one:?} and {other:?} have room on \
         one SM together, and with what they take besides they might not; 0 says that it does not matter",
        listed(open.into_keys().collect()),
    ))
}

/// Whether what is not stated may decide if these two share an SM.
fn may_decide([one, other]: [&StatedKernel<'_>; 2], scenario: &Scenario) -> bool {
    let device = scenario.device();
    if (one.states_registers && other.states_registers)
        || !fit([one.shape, other.shape], device)
        || !may_meet([one, other], scenario)
    {
        return false;
    }
    let most_registers = [one, other].map(|kernel| {
        let shape = kernel.shape;
        if kernel.states_registers { shape } else { with_most_registers(shape, device) }
    });
    let most_shared_memory = [one, other].map(|kernel| {
        let is_open = !kernel.states_registers && !kernel.states_shared_memory;
        let most = device.per_block.shared_memory_bytes;
        if is_open { BlockShape { shared_memory_bytes: most, ..kernel.shape } } else { kernel.shape }
    });
    !fit(most_registers, device) || !fit(most_shared_memory, device)
}

/// Whether blocks of two kernels may be on one SM at once: of different streams, on SMs that both may use, and not in
/// turns.
fn may_meet([one, other]: [&StatedKernel<'_>; 2], scenario: &Scenario) -> bool {
    let catalogue = &scenario.catalogue;
    let process = |stream: StreamId| scenario.streams().get(stream.index()).map(|stream| stream.process);
    let is_together = |stream: StreamId, others: StreamId| {
        stream != others
            && (!catalogue.is_time_sliced() || process(stream) == process(others))
            && catalogue.sms(one.id, stream).any(|sm| catalogue.sms(other.id, others).any(|other| other == sm))
    };
    one.streams.iter().any(|&stream| other.streams.iter().any(|&others| is_together(stream, others)))
}

fn with_most_registers(shape: BlockShape, device: &Device) -> BlockShape {
    let with = |registers_per_thread| BlockShape { registers_per_thread, ..shape };
    let may_run = |shape: &BlockShape| BlockDemand::new(shape, device).is_ok();
    (1..=MOST_REGISTERS).rev().map(with).find(may_run).unwrap_or(shape)
}

/// Whether an SM has room for a block of each.
fn fit(shapes: [BlockShape; 2], device: &Device) -> bool {
    let [Ok(one), Ok(other)] = shapes.map(|shape| BlockDemand::new(&shape, device)) else { return false };
    let mut resident = ResidentWarps::default();
    resident.add(one.registers_per_warp(), one.warps);
    let has_registers = RegisterFile::of(device).room(&resident, &other).is_none_or(|blocks| blocks > 0);
    has_registers
        && device.per_sm.blocks >= 2
        && one.warps + other.warps <= device.warps_per_sm()
        && u64::from(one.shared_memory_bytes) + u64::from(other.shared_memory_bytes)
            <= u64::from(device.per_sm.shared_memory_bytes)
}
