//! From rows of blocks to logs: which rows are of one launch, and which launches of one stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::columns::{Places, Role};
use crate::logs::defect::{Defect, Dropped, LogsReading};
use crate::logs::log::{BlockList, Log, LogTime, LoggedBlock, LoggedKernel};
use crate::proven::OrMost;
use crate::spelling::option;
use crate::workload::NULL_STREAM;

/// Makes a log of each stream.
pub(super) fn logs_of(file: &str, kernels: Vec<Rows>, places: &Places) -> LogsReading {
    let mut reading = LogsReading::default();
    let several_runs = kernels.iter().any(|kernel| kernel.shared.run != kernels[0].shared.run);
    let (mut streams, mut launches_are_guessed) = (BTreeMap::<_, Vec<LoggedKernel>>::new(), false);
    let mut step = 0;
    let mut first_start = None;
    for Rows { shared, rows } in kernels {
        for row in &rows {
            let first = *first_start.get_or_insert(row.start_ns);
            step = [row.start_ns, row.end_ns].iter().fold(step, |step, time| divisor(step, time.abs_diff(first)));
        }
        let launches = launches(rows, places);
        launches_are_guessed |= launches.len() > 1;
        let Common { run, gpu, process, stream, priority, non_blocking, .. } = shared.clone();
        let of_stream = streams.entry((run, gpu, process, stream, priority, non_blocking)).or_default();
        for launch in launches {
            let (kernel, missing) = logged(&shared, launch);
            if missing > 0 {
                let (kernel, defect) = (Some(kernel.name.to_string()), Defect::Gaps { blocks: missing });
                reading.dropped.push(Dropped { file: file.to_owned(), kernel, defect });
            }
            of_stream.push(kernel);
        }
    }
    let resources = [Role::Threads, Role::SharedMemory, Role::Registers];
    let untold: Vec<&str> = resources.into_iter().filter(|role| !places.tells(*role)).map(Role::name).collect();
    for ((run, gpu, process, stream, priority, non_blocking), mut kernels) in streams {
        kernels.sort_by_key(|kernel| (kernel.launch_return_ns, kernel.blocks.first_start_ns()));
        number_iterations(&mut kernels);
        let of_run = if several_runs { format!("{file}: {run}") } else { file.to_owned() };
        let scenario_name = if gpu.is_empty() { of_run } else { format!("{of_run}, GPU {gpu}") };
        let is_null = &*stream == NULL_STREAM;
        let stream_name = Arc::clone(&stream);
        let stream = named("stream", &stream);
        let label = if process.is_empty() { stream } else { format!("{stream} of process {process}") };
        let incomplete = kernels.iter().any(|kernel| kernel.blocks.len() < kernel.block_count as usize);
        reading.logs.push(Log {
            file: file.into(),
            scenario_name: scenario_name.into(),
            of_table: Some((Arc::clone(&process), stream_name)),
            benchmark_name: if is_null { "blocks (default stream)".into() } else { "blocks".into() },
            label: Some(label.into()),
            pid: process_number(&process),
            priority,
            non_blocking,
            launches_unseen: !places.tells(Role::Launched),
            untold: untold.join(", ").into(),
            blocks_unnumbered: !places.tells_numbers(),
            kernels,
            incomplete,
            ..Log::default()
        });
    }
    tell(&mut reading, file, places, &untold, launches_are_guessed, step);
    reading
}

/// What is assumed and what is not read.
fn tell(
    reading: &mut LogsReading,
    file: &str,
    places: &Places,
    untold: &[&str],
    launches_are_guessed: bool,
    step: u64,
) {
    let said = |columns: &str| option("columns").with(columns).to_string();
    let mut note = |text: String| reading.notes.push(format!("{file}: {text}"));
    if !places.unused.is_empty() {
        note(format!("columns that are not read: {}", places.unused.join(", ")));
    }
    let times = [Role::Start, Role::End].map(|role| places.unit(role));
    if times.contains(&None) {
        note(format!(
            "times without a unit in the name of their column count as nanoseconds; {} says otherwise",
            said("start_us=NAME")
        ));
    }
    if times.into_iter().flatten().any(super::columns::TimeUnit::is_of_an_sm) {
        note(
            "cycles are counted by each SM for itself: blocks of different SMs may be further apart than they seem"
                .to_owned(),
        );
    } else if step > 1 {
        note(format!("the clock of its blocks goes in steps of {step} ns"));
    }
    if !places.tells(Role::Stream) {
        note(format!("no column tells streams: all kernels count as of one; {} names it", said("stream=NAME")));
    }
    if !places.tells(Role::Launched) {
        note(
            "no column tells when kernels were launched: each counts as launched when its first block began".to_owned(),
        );
    }
    if !places.tells_numbers() {
        note("no column tells the number of a block: they count in the order in which they began".to_owned());
    }
    if launches_are_guessed {
        note("kernels were launched several times, which repeated numbers of blocks tell apart".to_owned());
    }
    if !untold.is_empty() {
        note(format!(
            "no column tells {} of a block: {} {} says it of all",
            untold.join(", "),
            if untold.contains(&"threads") {
                "one without threads counts as one warp, and how many fit on an SM is not checked;"
            } else {
                "it counts as none, and how many fit on an SM is not checked in full;"
            },
            said(&format!("{}=NUMBER", untold[0]))
        ));
    }
}

/// The greatest common divisor.
fn divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// A name, or a number with what it numbers.
fn named(what: &str, name: &str) -> String {
    if name.is_empty() {
        what.to_owned()
    } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{what} {name}")
    } else {
        name.to_owned()
    }
}

/// The number of a process, or one that is made of its name.
fn process_number(name: &str) -> Option<u64> {
    let of_name = || name.bytes().fold(0_u64, |number, byte| number.wrapping_mul(257).wrapping_add(u64::from(byte)));
    (!name.is_empty()).then(|| name.parse().unwrap_or_else(|_| of_name()))
}

/// The rows of each launch, blocks by number. A number that comes again is of another launch, the first of them of the
/// first.
fn launches(mut rows: Vec<Row>, places: &Places) -> Vec<Vec<Row>> {
    if !places.tells(Role::Block) && !places.tells(Role::BlockX) {
        rows.sort_by_key(|row| row.start_ns);
        (0..).zip(&mut rows).for_each(|(number, row)| row.block = number);
        return vec![rows];
    }
    if !places.tells(Role::Block) {
        count_through(&mut rows);
    }
    if rows.windows(2).all(|pair| pair[0].block < pair[1].block) {
        return vec![rows];
    }
    rows.sort_by_key(|row| (row.block, row.start_ns));
    let mut launches: Vec<Vec<Row>> = Vec::new();
    for same in rows.chunk_by(|one, other| one.block == other.block) {
        for (launch, row) in same.iter().enumerate() {
            if launch == launches.len() {
                launches.push(Vec::new());
            }
            launches[launch].push(*row);
        }
    }
    launches
}

/// Numbers of blocks from their places in the grid, x first.
fn count_through(rows: &mut [Row]) {
    let place = |row: &Row| [row.block & 0xffff_ffff, row.block >> 32 & 0xffff, row.block >> 48];
    let size = |axis: usize| rows.iter().map(|row| place(row)[axis]).max().unwrap_or(0) + 1;
    let (width, height) = (size(0), size(1));
    for row in rows {
        let [x, y, z] = place(row);
        row.block = x.saturating_add(width.saturating_mul(y.saturating_add(height.saturating_mul(z))));
    }
}

/// A launch, and how many of its blocks are missing.
fn logged(shared: &Common, rows: Vec<Row>) -> (LoggedKernel, usize) {
    let stated = rows.last().map_or(0, |last| u32::try_from(last.block.saturating_add(1)).or_most());
    let mut blocks = BlockList { times: Vec::with_capacity(rows.len()), sms: Vec::with_capacity(rows.len()) };
    for Row { sm, start_ns, end_ns, .. } in rows {
        blocks.push(LoggedBlock { sm, start_ns: LogTime::from_ns(start_ns), end_ns: LogTime::from_ns(end_ns) });
    }
    let missing = (stated as usize).saturating_sub(blocks.len());
    let first = blocks.first_start_ns().unwrap_or(LogTime::from_ns(0));
    let launched = shared.launched_ns.map_or(first, LogTime::from_ns);
    let kernel = LoggedKernel {
        name: named("kernel", &shared.kernel).into(),
        iteration: 0,
        block_count: stated,
        threads: shared.threads.unwrap_or(1),
        shared_memory_bytes: shared.shared_memory_bytes.unwrap_or(0),
        registers_per_thread: shared.registers_per_thread.unwrap_or(0),
        launch_start_ns: launched,
        launch_return_ns: launched,
        synchronized_ns: None,
        blocks: Arc::new(blocks),
    };
    (kernel, missing)
}

/// Which launch of its kernel each is.
pub(in crate::logs) fn number_iterations(kernels: &mut [LoggedKernel]) {
    let mut seen: BTreeMap<Arc<str>, u32> = BTreeMap::new();
    for kernel in kernels {
        let next = seen.entry(Arc::clone(&kernel.name)).or_insert(0);
        kernel.iteration = *next;
        *next += 1;
    }
}

/// What one row says of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Its number, or its place in the grid: 32 bits of x, 16 of y, 16 of z from below.
    pub(super) block: u64,
    pub(super) sm: u32,
    /// On the GPU's clock \[ns\].
    pub(super) start_ns: i64,
    pub(super) end_ns: i64,
}

/// What rows of one kernel have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Common {
    pub(super) run: Arc<str>,
    pub(super) gpu: Arc<str>,
    pub(super) process: Arc<str>,
    pub(super) stream: Arc<str>,
    pub(super) priority: Option<i32>,
    pub(super) non_blocking: bool,
    pub(super) kernel: Arc<str>,
    pub(super) launch: Arc<str>,
    pub(super) threads: Option<u32>,
    pub(super) shared_memory_bytes: Option<u32>,
    pub(super) registers_per_thread: Option<u32>,
    pub(super) launched_ns: Option<i64>,
}

/// Rows of one kernel, of one launch or of several.
pub(super) struct Rows {
    pub(super) shared: Common,
    pub(super) rows: Vec<Row>,
}
