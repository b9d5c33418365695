//! The SQLite export of Nsight Systems (`nsys export --type sqlite`).
//!
//! The file is read into memory and opened there, read-only, so that nothing of it is ever written and no lock is
//! waited for. Tables are made as they are needed by the exporter, and their columns differ between versions: a missing
//! table is an empty one, a missing column is null unless nothing can be said without it.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use rustc_hash::FxHashMap;

use super::builder::{ProfileBuilder, RawSync, TOO_LARGE};
use super::gpu_profile::{
    CallKind, GpuProfile, GpuProfileError, HostCall, LaunchType, ProfileFormat, ProfiledKernel, ProfiledKind, SyncKind,
};
use crate::device::{BlockShape, ComputeCapability, CopyDirection, GpuProperties, Sided};
use crate::limits::count_turn;

pub(super) fn read(file: &str, content: &[u8]) -> Result<GpuProfile, GpuProfileError> {
    let refuse = |error: rusqlite::Error| {
        GpuProfileError::new(file, format!("the SQLite database is damaged: {error}")).with_help("is it cut off?")
    };
    let mut builder = ProfileBuilder::new(file, ProfileFormat::NsightSystems);
    let database = open(content, &mut builder).map_err(refuse)?;
    let kernels = exists(&database, KERNELS).map_err(refuse)?;
    if !kernels && !exists(&database, "META_DATA_EXPORT").map_err(refuse)? {
        return Err(GpuProfileError::new(file, "this SQLite database is no export of Nsight Systems")
            .with_help("nsys export --type sqlite writes one"));
    }
    let refusal = |error: TableError| match error {
        TableError::Database(error) => refuse(error),
        TableError::Column { table, column } => {
            GpuProfileError::new(file, format!("the table {table} lacks the column {column}"))
        }
    };
    read_operations(&database, &mut builder).map_err(refusal)?;
    read_targets(&database, &mut builder).map_err(refusal)?;
    builder.finish()
}

/// Opens the content of a file, in memory.
fn open(content: &[u8], builder: &mut ProfileBuilder<'_>) -> rusqlite::Result<Connection> {
    /// Where the header says whether a write-ahead log belongs to the file: 1 no, 2 yes.
    const JOURNAL: std::ops::Range<usize> = 18..20;
    let mut content = content.to_vec();
    if let Some(journal) = content.get_mut(JOURNAL)
        && *journal != [1, 1]
    {
        // A database in memory has no such log.
        journal.fill(1);
        builder.leave_out("write-ahead log (-wal) of the database, should there be one");
    }
    let mut database = Connection::open_in_memory()?;
    database.deserialize_read_exact("main", &*content, content.len(), true)?;
    // Nothing that the file defines is run, and damaged pages are found.
    database.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON;")?;
    Ok(database)
}

const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

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
fn read_operations(database: &Connection, builder: &mut ProfileBuilder<'_>) -> Result<(), TableError> {
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
    let optional = ["correlationId", "globalPid", "demangledName", "shortName", "launchType"];
    // CUPTI's own numbers are others, so that only names tell.
    let mut launch_types: FxHashMap<i64, LaunchType> = FxHashMap::default();
    for_each(database, "ENUM_CUDA_KERNEL_LAUNCH_TYPE", &["id", "name"], &[], |row| {
        let known = match row.text(1) {
            Some(name) if name.contains("COOPERATIVE") => LaunchType::Cooperative,
            Some(name) if name.contains("REGULAR") => LaunchType::Regular,
            _ => return,
        };
        launch_types.extend(row.whole(0).map(|number| (number, known)));
    })?;
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
        let launch = row
            .whole(18)
            .map_or(LaunchType::Regular, |number| launch_types.get(&number).copied().unwrap_or(LaunchType::Unknown));
        let name = row.whole(16).or(row.whole(17)).unwrap_or(-1);
        let text = || strings.get(&name).map_or("unnamed kernel", String::as_str);
        let function = *known.entry(name).or_insert_with(|| builder.function_named(text()));
        let kernel = ProfiledKernel { function, blocks, shape, recorded_occupancy: None, launch };
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
        builder.call(process, name, HostCall { thread, start_ns, end_ns, correlation, kind: CallKind::of(name) });
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

#[derive(Debug)]
enum TableError {
    Database(rusqlite::Error),
    Column { table: &'static str, column: &'static str },
}

impl From<rusqlite::Error> for TableError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Whether there is a table, not a view, of this name.
fn exists(database: &Connection, table: &str) -> rusqlite::Result<bool> {
    let mut found = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1")?;
    found.exists([table])
}

/// Calls `each` with the columns that are needed, then those that may be missing, of every row.
fn for_each(
    database: &Connection,
    table: &'static str,
    needed: &[&'static str],
    optional: &[&'static str],
    mut each: impl FnMut(&Columns<'_, '_>),
) -> Result<(), TableError> {
    if !exists(database, table)? {
        return Ok(());
    }
    let mut names = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names: Vec<String> = names.query_map([table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let known = |column: &str| names.iter().any(|name| name.eq_ignore_ascii_case(column));
    if let Some(column) = needed.iter().find(|column| !known(column)) {
        return Err(TableError::Column { table, column });
    }
    let column = |column: &&str| if known(column) { format!("\"{column}\"") } else { "NULL".to_owned() };
    let columns: Vec<String> = needed.iter().chain(optional).map(column).collect();
    let mut rows = database.prepare(&format!("SELECT {} FROM \"{table}\"", columns.join(", ")))?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        count_turn();
        each(&Columns(row));
    }
    Ok(())
}

/// The columns of one row, in the order in which they were asked for.
struct Columns<'r, 's>(&'r Row<'s>);

impl Columns<'_, '_> {
    /// A whole number, if that is what stands there.
    fn whole(&self, column: usize) -> Option<i64> {
        match self.0.get_ref(column) {
            Ok(ValueRef::Integer(number)) => Some(number),
            _ => None,
        }
    }

    /// A whole number that is not negative.
    fn unsigned(&self, column: usize) -> Option<u64> {
        u64::try_from(self.whole(column)?).ok()
    }

    /// As [`Columns::unsigned`], of 32 bits.
    fn small(&self, column: usize) -> Option<u32> {
        u32::try_from(self.whole(column)?).ok()
    }

    fn text(&self, column: usize) -> Option<&str> {
        self.0.get_ref(column).ok()?.as_str().ok()
    }
}

/// Reads properties of GPUs and of the streams that something ran in.
fn read_targets(database: &Connection, builder: &mut ProfileBuilder<'_>) -> Result<(), TableError> {
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
        builder.profile.gpus.insert(cuda.get(&id).copied().unwrap_or(id), properties);
    })
}
