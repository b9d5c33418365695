//! What the export says of GPUs, contexts and streams.

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::table::{TableError, for_each};
use crate::device::ComputeCapability;
use crate::profile::builder::ProfileBuilder;
use crate::profile::gpu::GpuProperties;

/// Reads properties of GPUs and of the streams that something ran in.
pub(super) fn read(database: &Connection, builder: &mut ProfileBuilder<'_>) -> Result<(), TableError> {
    gpus(database, builder)?;
    let mut streams: FxHashMap<(u64, u32, i64), (i32, Option<i64>)> = FxHashMap::default();
    let needed = ["processId", "contextId", "streamId", "priority"];
    for_each(database, "TARGET_INFO_CUDA_STREAM", &needed, &["flag"], |row| {
        let key = (row.unsigned(0), row.small(1), row.whole(2), row.small(3));
        if let (Some(process), Some(context), Some(number), Some(priority)) = key {
            // Written as if it had no sign: 4294967293 is -3.
            streams.insert((process, context, number), (priority.cast_signed().min(0), row.whole(4)));
        }
    })?;
    let mut null_streams: FxHashMap<(u64, u32), i64> = FxHashMap::default();
    let needed = ["processId", "contextId", "nullStreamId"];
    for_each(database, "TARGET_INFO_CUDA_CONTEXT_INFO", &needed, &[], |row| {
        if let (Some(process), Some(context), Some(number)) = (row.unsigned(0), row.small(1), row.whole(2)) {
            null_streams.insert((process, context), number);
        }
    })?;
    for stream in builder.streams_mut() {
        let known = streams.get(&(stream.process, stream.context, stream.number));
        stream.priority = known.map(|(priority, _)| *priority);
        // ENUM_CUPTI_STREAM_TYPE: 1 default, 2 non-blocking, 3 NULL.
        let flag = known.and_then(|(_, flag)| *flag);
        stream.is_null = flag == Some(3) || null_streams.get(&(stream.process, stream.context)) == Some(&stream.number);
        stream.blocking = match flag {
            Some(1) => Some(!stream.is_null),
            Some(2 | 3) => Some(false),
            _ => None,
        };
    }
    Ok(())
}

fn gpus(database: &Connection, builder: &mut ProfileBuilder<'_>) -> Result<(), TableError> {
    // Numbers of CUDA's devices are not always those of the GPUs.
    let mut cuda: FxHashMap<u32, u32> = FxHashMap::default();
    for_each(database, "TARGET_INFO_CUDA_DEVICE", &["gpuId", "cudaId"], &[], |row| {
        if let (Some(gpu), Some(cuda_id)) = (row.small(0), row.small(1)) {
            cuda.insert(gpu, cuda_id);
        }
    })?;
    let limits = [
        "name",
        "computeMajor",
        "computeMinor",
        "smCount",
        "threadsPerWarp",
        "maxWarpsPerSm",
        "maxBlocksPerSm",
        "maxThreadsPerBlock",
        "maxRegistersPerSm",
        "maxRegistersPerBlock",
        "maxShmemPerSm",
        "maxShmemPerBlockOptin",
        "totalMemory",
        "asyncEngines",
        "clockRate",
        "memoryBandwidth",
    ];
    for_each(database, "TARGET_INFO_GPU", &["id"], &limits, |row| {
        let Some(id) = row.small(0) else { return };
        let capability = row.small(2).zip(row.small(3));
        let properties = GpuProperties {
            name: row.text(1).unwrap_or_default().to_owned(),
            compute_capability: capability.map(|(major, minor)| ComputeCapability { major, minor }),
            sms: row.small(4),
            warp_size: row.small(5),
            threads_per_sm: row.small(5).zip(row.small(6)).and_then(|(warp, warps)| warp.checked_mul(warps)),
            blocks_per_sm: row.small(7),
            threads_per_block: row.small(8),
            registers_per_sm: row.small(9),
            registers_per_block: row.small(10),
            shared_memory_per_sm: row.small(11),
            shared_memory_per_block: row.small(12),
            memory_bytes: row.unsigned(13),
            copy_engines: row.small(14),
            clock_hz: row.unsigned(15),
            memory_bytes_per_s: row.unsigned(16),
        };
        builder.gpus.insert(cuda.get(&id).copied().unwrap_or(id), properties);
    })
}
