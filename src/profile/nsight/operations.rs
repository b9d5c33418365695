//! What ran on the GPUs, and the calls of the host.

use rusqlite::Connection;
use rustc_hash::FxHashMap;

use super::table::{Columns, TableError, for_each};
use crate::device::{BlockShape, CopyDirection, Sided};
use crate::profile::builder::{ProfileBuilder, RawSync, TOO_LARGE};
use crate::profile::call::CallKind;
use crate::profile::model::{HostCall, ProfiledKernel, ProfiledKind, SyncKind};

pub(super) const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

/// Launches of which the kernels are not in the file, as it is by default.
const WHOLE_GRAPHS: &str =
    "launches of CUDA graphs without what they ran, which nsys profile --cuda-graph-trace=node records";

/// What all tables of operations begin with.
const PLACE: [&str; 5] = ["start", "end", "deviceId", "contextId", "streamId"];

/// `ENUM_CUDA_MEM_KIND`: host memory that is not page-locked.
const PAGEABLE: i64 = 0;

/// The process of a `globalPid` or `globalTid`.
fn process(global: Option<i64>) -> u64 {
    global.map_or(0, |global| (global.cast_unsigned() >> 24) & 0xFF_FFFF)
}

/// Reads kernels, copies, memsets, calls and waits.
pub(super) fn read(database: &Connection, builder: &mut ProfileBuilder<'_>) -> Result<(), TableError> {
    let mut strings: FxHashMap<i64, String> = FxHashMap::default();
    for_each(database, "StringIds", &["id", "value"], &[], |row| {
        if let (Some(id), Some(text)) = (row.whole(0), row.text(1)) {
            strings.insert(id, text.to_owned());
        }
    })?;
    kernels(database, &strings, builder)?;
    copies(database, builder)?;
    for_each(database, "CUPTI_ACTIVITY_KIND_MEMSET", &PLACE, &["correlationId", "globalPid"], |row| {
        operation(row, 5, ProfiledKind::Memset, builder);
    })?;
    for_each(database, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", &[], &["graphId"], |_| {
        builder.leave_out(WHOLE_GRAPHS);
    })?;
    calls(database, &strings, builder)?;
    syncs(database, builder)
}

/// Times and place of the operation in a row, whose correlation and process stand in the columns from `more` on.
fn operation(row: &Columns<'_, '_>, more: usize, kind: ProfiledKind, builder: &mut ProfileBuilder<'_>) {
    let (Some(start), Some(end)) = (row.unsigned(0), row.unsigned(1)) else {
        return builder.leave_out("operations with a negative time");
    };
    let Some(duration) = end.checked_sub(start) else {
        return builder.leave_out("operations that end before they start");
    };
    let (Some(gpu), Some(context), Some(number)) = (row.small(2), row.small(3), row.whole(4)) else {
        return builder.leave_out("operations of the GPU without a GPU or a stream");
    };
    let stream = builder.stream(process(row.whole(more + 1)), gpu, context, number);
    builder.operation((start, duration), stream, row.unsigned(more), kind);
}

fn kernels(
    database: &Connection,
    strings: &FxHashMap<i64, String>,
    builder: &mut ProfileBuilder<'_>,
) -> Result<(), TableError> {
    let needed: Vec<&str> = PLACE
        .into_iter()
        .chain(["registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"])
        .chain(["staticSharedMemory", "dynamicSharedMemory"])
        .collect();
    let optional = ["correlationId", "globalPid", "demangledName", "shortName"];
    let mut known: FxHashMap<i64, u32> = FxHashMap::default();
    for_each(database, KERNELS, &needed, &optional, |row| {
        let stated = || {
            let sides = |[x, y, z]: [usize; 3]| Some([row.small(x)?, row.small(y)?, row.small(z)?]);
            let grid = sides([6, 7, 8]).filter(|grid| !grid.contains(&0))?;
            let shared = row.small(12)?.checked_add(row.small(13)?)?;
            Some((grid, sides([9, 10, 11])?, row.small(5)?, shared))
        };
        let Some((grid, block, registers_per_thread, shared_memory_bytes)) = stated() else {
            return builder.leave_out("kernels whose grid, block, registers or shared memory cannot be read");
        };
        let (Ok(blocks), Ok(threads)) = (Sided::Grid.count(&grid), Sided::Block.count(&block)) else {
            return builder.leave_out(TOO_LARGE);
        };
        let shape = BlockShape { threads, registers_per_thread, shared_memory_bytes };
        let name = row.whole(16).or(row.whole(17)).unwrap_or(-1);
        let text = || strings.get(&name).map_or("unnamed kernel", String::as_str);
        let function = *known.entry(name).or_insert_with(|| builder.function_named(text()));
        let kernel = ProfiledKernel { function, blocks, shape, recorded_occupancy: None };
        operation(row, 14, ProfiledKind::Kernel(kernel), builder);
    })
}

fn copies(database: &Connection, builder: &mut ProfileBuilder<'_>) -> Result<(), TableError> {
    let needed: Vec<&str> = PLACE.into_iter().chain(["bytes", "copyKind"]).collect();
    let optional = ["correlationId", "globalPid", "srcKind", "dstKind"];
    for_each(database, "CUPTI_ACTIVITY_KIND_MEMCPY", &needed, &optional, |row| {
        // ENUM_CUDA_MEMCPY_OPER; arrays and copies between GPUs count as within the GPU.
        let direction = match row.whole(6) {
            Some(1 | 3) => CopyDirection::HostToDevice,
            Some(2 | 4) => CopyDirection::DeviceToHost,
            Some(5..=8 | 10) => CopyDirection::DeviceToDevice,
            _ => return builder.leave_out("copies within the host or without a direction"),
        };
        let pageable = row.whole(9) == Some(PAGEABLE) || row.whole(10) == Some(PAGEABLE);
        let kind = ProfiledKind::Copy { direction, bytes: row.unsigned(5), pageable };
        operation(row, 7, kind, builder);
    })
}

fn calls(
    database: &Connection,
    strings: &FxHashMap<i64, String>,
    builder: &mut ProfileBuilder<'_>,
) -> Result<(), TableError> {
    let mut threads: FxHashMap<i64, u32> = FxHashMap::default();
    let needed = ["start", "end", "nameId", "globalTid", "correlationId"];
    for_each(database, "CUPTI_ACTIVITY_KIND_RUNTIME", &needed, &[], |row| {
        let (Some(start_ns), Some(end_ns)) = (row.unsigned(0), row.unsigned(1)) else {
            return builder.leave_out("host calls with a negative time");
        };
        let (Some(global), Some(correlation)) = (row.whole(3), row.unsigned(4)) else {
            return builder.leave_out("host calls without a thread or a correlation");
        };
        let process = process(Some(global));
        let named = || builder.thread_numbered(process, global.cast_unsigned() & 0xFF_FFFF);
        let thread = *threads.entry(global).or_insert_with(named);
        let name = row.whole(2).and_then(|id| strings.get(&id)).map_or("", String::as_str);
        builder.call(process, HostCall { thread, start_ns, end_ns, correlation, kind: CallKind::of(name) });
    })
}

fn syncs(database: &Connection, builder: &mut ProfileBuilder<'_>) -> Result<(), TableError> {
    // Handles of events are used again; the number of a record is not.
    let mut recorded: FxHashMap<(u64, i64), (u32, Option<u64>)> = FxHashMap::default();
    let needed = ["deviceId", "contextId", "streamId"];
    let optional = ["eventSyncId", "correlationId", "globalPid"];
    for_each(database, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", &needed, &optional, |row| {
        let place = (row.small(0), row.small(1), row.whole(2), row.whole(3));
        let (Some(gpu), Some(context), Some(number), Some(record)) = place else { return };
        let process = process(row.whole(5));
        let stream = builder.stream(process, gpu, context, number);
        recorded.insert((process, record), (stream, row.unsigned(4)));
    })?;
    let needed = ["start", "deviceId", "contextId", "streamId", "syncType"];
    for_each(database, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", &needed, &optional, |row| {
        let kind = match row.whole(4) {
            Some(1) => SyncKind::Event,
            Some(2) => SyncKind::StreamWait,
            Some(3) => SyncKind::Stream,
            Some(4) => SyncKind::Context,
            _ => return builder.leave_out("waits of an unknown kind"),
        };
        let Some(at_ns) = row.unsigned(0) else { return builder.leave_out("waits with a negative time") };
        let process = process(row.whole(7));
        let place = (row.small(1), row.small(2), row.whole(3).filter(|&number| (0..0xFFFF_FFFF).contains(&number)));
        let stream = match place {
            (Some(gpu), Some(context), Some(number)) => Some(builder.stream(process, gpu, context, number)),
            _ => None,
        };
        let event = row.whole(5).and_then(|record| recorded.get(&(process, record)));
        builder.sync(RawSync {
            process,
            correlation: row.unsigned(6),
            kind,
            stream,
            of_stream: event.map(|(stream, _)| *stream),
            record_correlation: event.and_then(|(_, correlation)| *correlation),
            at_ns,
        });
    })
}
