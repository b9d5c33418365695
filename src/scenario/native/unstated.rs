//! Registers that a file does not state, where they may decide which kernels share an SM.

use std::collections::{BTreeMap, BTreeSet};

use super::reading::NamedKernels;
use crate::device::{BlockDemand, BlockShape, Device, RegisterFile, ResidentWarps};
use crate::scenario::{Scenario, Step};
use crate::workload::{KernelId, StreamId};

/// Kernels above which nobody looks at all pairs.
const MOST_KERNELS: usize = 1_000;

/// The most registers that the compiler gives a thread.
const MOST_REGISTERS: u32 = 255;

/// A kernel as the file states it.
struct Stated<'a> {
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
pub(super) fn note(kernels: &NamedKernels, scenario: &Scenario) -> Option<String> {
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
    let all: Vec<Stated<'_>> = named
        .into_iter()
        .filter_map(|(name, kernel)| {
            Some(Stated {
                id: kernel.id,
                name,
                shape: scenario.kernels().get(kernel.id.index())?.shape,
                states_registers: kernel.states_registers,
                states_shared_memory: kernel.states_shared_memory,
                streams: streams.remove(&kernel.id)?,
            })
        })
        .collect();
    let states_any = |kernel: &Stated<'_>| kernel.shape.registers_per_thread + kernel.shape.shared_memory_bytes > 0;
    if !all.iter().any(states_any) {
        return None;
    }
    let pairs = all.iter().enumerate().flat_map(|(place, one)| all[place + 1..].iter().map(move |other| [one, other]));
    let deciding: Vec<[&Stated<'_>; 2]> = pairs.filter(|pair| may_decide(*pair, scenario)).collect();
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
fn may_decide([one, other]: [&Stated<'_>; 2], scenario: &Scenario) -> bool {
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
fn may_meet([one, other]: [&Stated<'_>; 2], scenario: &Scenario) -> bool {
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
