//! Reader of device files.

use std::collections::BTreeMap;

use super::{CopyEngines, Device, PerBlockLimits, PerSmLimits, RegisterAllocation, SharedMemoryAllocation, SmOrder};
use crate::json::{Node, Object, Problem};
use crate::time::Duration;

/// SMs that a device may have at most; the largest built so far has under 200.
const MAX_SMS: u32 = 4_096;
/// Bound on per-SM counts of threads, warps and blocks, so that sums over all SMs stay small.
const MAX_PER_SM: u32 = 65_535;
/// Bound on registers and bytes of shared memory of one SM.
const MAX_MEMORY: u32 = 1 << 28;
/// Stream priorities that a device may have at most.
const MAX_PRIORITIES: u32 = 64;

/// Reads the device file that starts at `node`.
pub(crate) fn device(node: Node<'_>) -> Result<Device, Problem> {
    let mut file = node.object()?;
    let name = file.required("name")?.string()?;
    let title = match file.optional("title")? {
        Some(title) => title.string()?,
        None => name.clone(),
    };
    let compute_capability = match file.optional("compute_capability")? {
        Some(text) => text.string()?,
        None => String::new(),
    };
    let sms_node = file.required("sms")?;
    let sms = sms_node.whole_u32(1, MAX_SMS)?;
    let copy_engines = file.required("copy_engines")?.whole_u32(1, 64)?;
    let spin = file.required("ns_per_spin_iteration")?;
    let device = Device {
        name,
        title,
        compute_capability,
        sms,
        sms_per_tpc: file.required("sms_per_tpc")?.whole_u32(1, sms.max(1))?,
        warp_size: file.required("warp_size")?.whole_u32(1, 1_024)?,
        per_sm: per_sm(file.required("per_sm")?)?,
        per_block: per_block(file.required("per_block")?)?,
        register_allocation: registers(file.required("register_allocation")?)?,
        shared_memory_allocation: shared_memory(file.required("shared_memory_allocation")?)?,
        priority_levels: file.required("priority_levels")?.whole_u32(1, MAX_PRIORITIES)?,
        sm_order: sm_order(file.required("sm_order")?, sms)?,
        copy: copy(file.required("copy")?, copy_engines)?,
        channels: file.optional("channels")?.map(|node| node.whole_u32(1, u32::MAX)).transpose()?,
        spin_iteration_atto: spin
            .decimal()?
            .scaled(9, u64::MAX)
            .map_err(|_| spin.expected("nanoseconds, below 18446744073"))?,
        sources: notes(&mut file, "sources")?,
        assumptions: notes(&mut file, "assumptions")?,
    };
    if device.warps_per_sm() == 0 {
        return Err(file.node().problem("an SM of this device holds not even one warp"));
    }
    if device.per_sm.registers < device.register_allocation.sub_partitions {
        return Err(file.node().problem("there are more register sub-partitions than registers"));
    }
    file.finish()?;
    Ok(device)
}

fn per_sm(node: Node<'_>) -> Result<PerSmLimits, Problem> {
    let mut group = node.object()?;
    let limits = PerSmLimits {
        threads: group.required("threads")?.whole_u32(1, MAX_PER_SM)?,
        warps: group.required("warps")?.whole_u32(1, MAX_PER_SM)?,
        blocks: group.required("blocks")?.whole_u32(1, MAX_PER_SM)?,
        registers: group.required("registers")?.whole_u32(0, MAX_MEMORY)?,
        shared_memory_bytes: group.required("shared_memory_bytes")?.whole_u32(0, MAX_MEMORY)?,
    };
    group.finish()?;
    Ok(limits)
}

fn per_block(node: Node<'_>) -> Result<PerBlockLimits, Problem> {
    let mut group = node.object()?;
    let limits = PerBlockLimits {
        threads: group.required("threads")?.whole_u32(1, MAX_PER_SM)?,
        registers: group.required("registers")?.whole_u32(0, MAX_MEMORY)?,
        shared_memory_bytes: group.required("shared_memory_bytes")?.whole_u32(0, MAX_MEMORY)?,
    };
    group.finish()?;
    Ok(limits)
}

fn registers(node: Node<'_>) -> Result<RegisterAllocation, Problem> {
    let mut group = node.object()?;
    let allocation = RegisterAllocation {
        unit_per_warp: group.required("unit_per_warp")?.whole_u32(1, MAX_MEMORY)?,
        sub_partitions: group.required("sub_partitions")?.whole_u32(1, 1_024)?,
        warps_rounded_to: group.required("warps_rounded_to")?.whole_u32(1, 1_024)?,
    };
    group.finish()?;
    Ok(allocation)
}

fn shared_memory(node: Node<'_>) -> Result<SharedMemoryAllocation, Problem> {
    let mut group = node.object()?;
    let allocation = SharedMemoryAllocation {
        unit_bytes: group.required("unit_bytes")?.whole_u32(1, MAX_MEMORY)?,
        reserved_per_block_bytes: group.required("reserved_per_block_bytes")?.whole_u32(0, MAX_MEMORY)?,
    };
    group.finish()?;
    Ok(allocation)
}

fn copy(node: Node<'_>, engines: u32) -> Result<CopyEngines, Problem> {
    let mut group = node.object()?;
    let copy = CopyEngines {
        engines,
        latency: Duration::from_ns(group.required("latency_ns")?.whole_number(0, u64::MAX >> 1)?),
        host_to_device_bytes_per_s: group.required("host_to_device_bytes_per_s")?.whole_number(1, u64::MAX)?,
        device_to_host_bytes_per_s: group.required("device_to_host_bytes_per_s")?.whole_number(1, u64::MAX)?,
        device_to_device_bytes_per_s: group.required("device_to_device_bytes_per_s")?.whole_number(1, u64::MAX)?,
    };
    group.finish()?;
    Ok(copy)
}

fn sm_order(node: Node<'_>, sms: u32) -> Result<SmOrder, Problem> {
    if node.is_list() {
        let ids: Vec<u32> = node.list()?.iter().map(|id| id.whole_u32(0, sms - 1)).collect::<Result<_, _>>()?;
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        let complete = sorted.iter().copied().eq(0..sms);
        return if complete { Ok(SmOrder::Explicit(ids)) } else { Err(node.expected("every SM id exactly once")) };
    }
    match node.string().as_deref() {
        Ok("ascending") => Ok(SmOrder::Ascending),
        Ok("descending") => Ok(SmOrder::Descending),
        Ok("even-then-odd") => Ok(SmOrder::EvenThenOdd),
        _ => Err(node.expected("\"ascending\", \"descending\", \"even-then-odd\" or a list of all SM ids")),
    }
}

fn notes(file: &mut Object<'_>, key: &'static str) -> Result<BTreeMap<String, String>, Problem> {
    let Some(node) = file.optional(key)? else { return Ok(BTreeMap::new()) };
    node.object()?.into_entries().into_iter().map(|(key, note)| Ok((key.into_owned(), note.string()?))).collect()
}
