//! Memory, counted by an allocator of this test's own: reports do not grow with their length, and what is read,
//! simulated and written grows with the number of kernels and no faster, or not at all where it may leave.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test")]

use std::fmt::Write;
use std::io;
use std::sync::{Arc, Mutex};

use gpusched::effort::Effort;
use gpusched::formats::{Report, RowsPart, TableStyle, text_of, write_json, write_json_lines};
use gpusched::hosts::{AnyLength, AnyRun, HeldAtMost, LongRun, SimulateOptions, simulate, simulate_any_length};
use gpusched::run::{Run, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::{ExaminerLog, SimulationReport, simulate_to_rows};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// What is counted is counted of one test at a time.
static COUNTED: Mutex<()> = Mutex::new(());

/// What is allocated while `run` runs.
fn counted(run: impl FnOnce()) -> dhat::HeapStats {
    let profiler = dhat::Profiler::builder().testing().build();
    run();
    let stats = dhat::HeapStats::get();
    drop(profiler);
    stats
}

/// A file of the examiner: `streams` streams of `kernels` kernels of `blocks` blocks each.
fn file(streams: u32, kernels: u32, blocks: u32) -> String {
    let mut text = r#"{"name": "n", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": ["#.to_owned();
    for stream in 0..streams {
        let comma = if stream > 0 { "]}," } else { "" };
        let head =
            format!(r#"{comma}{{"filename": "multikernel.so", "label": "S{stream}", "log_name": "{stream}.json""#);
        text += &head;
        text += r#", "thread_count": 0, "block_count": 0, "data_size": 0, "additional_info": ["#;
        for kernel in 0..kernels {
            let comma = if kernel > 0 { "," } else { "" };
            let duration = 1_000 + 7 * kernel;
            write!(text, r#"{comma}{{"kernel_label": "K{kernel}", "duration": {duration}, "#).unwrap();
            write!(text, r#""block_count": {blocks}, "thread_count": 256}}"#).unwrap();
        }
    }
    text + "]}]}"
}

/// As [`file`], but with a benchmark for each kernel.
fn benchmarks(kernels: u32) -> String {
    let mut text = r#"{"name": "n", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": ["#.to_owned();
    for kernel in 0..kernels {
        let comma = if kernel > 0 { "," } else { "" };
        write!(text, r#"{comma}{{"filename": "timer_spin.so", "label": "B{kernel}", "log_name": "{kernel}.json", "#)
            .unwrap();
        let spin = 1_000 + 7 * kernel;
        write!(text, r#""thread_count": 256, "block_count": 2, "data_size": 0, "additional_info": {spin}}}"#).unwrap();
    }
    text + "]}"
}

fn read(text: &str) -> Scenario {
    Scenario::from_json("test", text, &ReadOptions::default()).expect("sound")
}

/// Writes a run in every form for programs.
fn write(run: &Run, blocks: bool, out: &mut impl io::Write) {
    let report = SimulationReport { blocks, ..SimulationReport::of(Summary::of(run)) };
    report.rows(RowsPart::CSV, &mut *out).unwrap();
    write_json(&report, None, &mut *out).unwrap();
    write_json_lines(&report, None, None, &mut *out).unwrap();
}

/// The most bytes that writing takes.
fn written(text: &str, blocks: bool) -> usize {
    let scenario = read(text);
    let run = simulate(&scenario).unwrap();
    // Several threads hold several parts.
    let alone = Arc::new(Effort::all_or_nothing());
    let bytes = || counted(|| write(&run, blocks, &mut io::sink())).max_bytes;
    alone.on_own_threads(1, 1 << 20, bytes).expect("nobody stops it")
}

#[test]
fn reports_that_several_threads_write_hold_a_few_parts() {
    let _alone = COUNTED.lock();
    let [few, many] = [2_500, 10_000].map(|kernels| {
        let scenario = read(&file(4, kernels, 1));
        let run = simulate(&scenario).unwrap();
        counted(|| write(&run, false, &mut io::sink())).max_bytes
    });
    assert!(many <= few + (1 << 21), "{few} bytes for 10,000 kernels, {many} for 40,000");
}

#[test]
fn reports_of_many_blocks_take_no_more_memory_than_of_few() {
    let _alone = COUNTED.lock();
    let (few, many) = (written(&file(2, 3, 100), true), written(&file(2, 3, 10_000), true));
    assert!(many <= few + 4_096, "{few} bytes for 600 blocks, {many} for 60,000");
}

#[test]
fn reports_of_many_kernels_take_no_more_memory_than_of_few() {
    let _alone = COUNTED.lock();
    let (few, many) = (written(&file(4, 25, 1), false), written(&file(4, 2_500, 1), false));
    assert!(many <= few + 4_096, "{few} bytes for 100 kernels, {many} for 10,000");
}

/// Allocations from a text to reports.
fn allocations(text: &str) -> u64 {
    counted(|| {
        let scenario = read(text);
        let run = simulate(&scenario).unwrap();
        write(&run, false, &mut io::sink());
    })
    .total_blocks
}

#[test]
fn ten_times_the_kernels_take_ten_times_the_allocations() {
    let _alone = COUNTED.lock();
    for (few, many) in [(file(8, 100, 2), file(8, 1_000, 2)), (benchmarks(1_000), benchmarks(10_000))] {
        let (few, many) = (allocations(&few), allocations(&many));
        assert!(many <= 11 * few, "{few} and {many} allocations");
    }
}

/// Two streams with jobs every `period` \[ms\], of `blocks` blocks whose lengths are drawn, and every 5 ms, for so
/// long \[ms\].
fn periodic(blocks: u32, period: u32, lasting: u32) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "n", "horizon": "{lasting} ms",
            "kernels": {{"C": {{"blocks": {blocks}, "threads": 64, "duration": {{"best": "20 us", "worst": "60 us"}}}},
                "L": {{"blocks": 2, "threads": 256, "duration": "1 ms"}}}},
            "streams": [{{"name": "c", "period": "{period} ms", "operations": [{{"kernel": "C"}}]}},
                {{"name": "l", "period": "5 ms", "operations": [{{"kernel": "L"}}]}}]}}"#
    );
    read(&text)
}

fn long<'a>(run: &'a AnyLength<'a>) -> &'a LongRun<'a> {
    match run {
        AnyLength::Long(run) => Some(run),
        AnyLength::Recorded(_) => None,
    }
    .expect("it is long")
}

/// The most bytes that it takes to simulate a scenario and to write all that is told of it.
fn simulated(scenario: &Scenario, held: HeldAtMost) -> usize {
    counted(|| {
        let run = simulate_any_length(scenario, SimulateOptions::of(scenario), held).unwrap();
        let run = AnyRun::Long(long(&run));
        run.write_blocks(&mut io::sink()).unwrap();
        for blocks in [false, true] {
            let report = SimulationReport { blocks, ..SimulationReport::of(run) };
            report.rows(RowsPart::CSV, &mut io::sink()).unwrap();
            write_json(&report, None, &mut io::sink()).unwrap();
            write_json_lines(&report, None, None, &mut io::sink()).unwrap();
        }
        text_of(&SimulationReport::of(run), TableStyle::Plain);
        simulate_to_rows(scenario, SimulateOptions::of(scenario), held, RowsPart::CSV, &mut io::sink())
            .unwrap()
            .unwrap();
    })
    .max_bytes
}

#[test]
fn a_run_takes_no_more_memory_the_longer_it_lasts() {
    let _alone = COUNTED.lock();
    let held = HeldAtMost { whole: 100_000, piece: 50_000, rows: 0 };
    let (short, long) = (simulated(&periodic(8, 1, 1_000), held), simulated(&periodic(8, 1, 3_000), held));
    // Each other response time of 2,400 more jobs is kept with their number; a list that grows stands twice for a
    // moment.
    assert!(long <= short + 3 * 16 * 2_400 + 4_096, "{short} bytes for a second, {long} for three");
}

/// The most bytes that it takes to simulate two benchmarks of the examiner of so many iterations, and to write their
/// logs.
fn logged(iterations: u32) -> usize {
    let benchmark = |number: u32, blocks: u32| {
        format!(
            r#"{{"filename": "timer_spin.so", "log_name": "{number}.json", "thread_count": 64, "block_count": {blocks},
                "data_size": 0, "additional_info": 20000}}"#
        )
    };
    let (one, other) = (benchmark(0, 4), benchmark(1, 9));
    let scenario = read(&format!(
        r#"{{"name": "n", "max_iterations": {iterations}, "max_time": 0, "cuda_device": 0, "benchmarks": [{one}, {other}]}}"#
    ));
    counted(|| {
        let held = HeldAtMost { whole: 100_000, piece: 50_000, rows: 0 };
        let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).unwrap();
        ExaminerLog::write_all(long(&run), &mut [io::sink(), io::sink()]).unwrap();
    })
    .max_bytes
}

#[test]
fn logs_take_no_more_memory_the_longer_a_run_lasts() {
    let _alone = COUNTED.lock();
    let (short, long) = (logged(800), logged(2_000));
    assert!(long <= short + 4_096, "{short} bytes for 800 iterations, {long} for 2,000");
}

/// What is allocated to know what is told in sums of a run of so long \[ms\], in which a kernel of each ms takes
/// `duration` \[us\].
fn summed_up(lasting: u32, duration: u32) -> dhat::HeapStats {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "n", "horizon": "{lasting} ms",
            "kernels": {{"C": {{"blocks": 8, "threads": 64, "duration": "{duration} us"}},
                "L": {{"blocks": 2, "threads": 256, "duration": "1 ms"}}}},
            "streams": [{{"name": "c", "period": "1 ms", "operations": [{{"kernel": "C"}}]}},
                {{"name": "l", "period": "5 ms", "operations": [{{"kernel": "L"}}]}}]}}"#
    );
    let scenario = read(&text);
    counted(|| {
        let held = HeldAtMost { whole: 100_000, piece: 50_000, rows: 0 };
        let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).unwrap();
        text_of(&SimulationReport::of(AnyRun::Long(long(&run))), TableStyle::Plain);
    })
}

#[test]
fn the_length_of_a_run_that_repeats_shows_neither_in_time_nor_in_memory_of_its_summary() {
    let _alone = COUNTED.lock();
    let [(few, short), (many, long)] = [10_000, 3_600_000]
        .map(|lasting| summed_up(lasting, 40))
        .map(|allocated| (allocated.total_blocks, allocated.max_bytes));
    // Numbers of more digits.
    assert!(many <= few + 100 && long <= short + 4_096, "{few} and {many} allocations, {short} and {long} bytes");
}

#[test]
fn a_job_allocates_no_more_the_longer_the_backlog_is() {
    let _alone = COUNTED.lock();
    // Of 1.2 ms each ms a sixth are left over.
    let [few, many] = [2_000, 16_000].map(|lasting| summed_up(lasting, 1_200).total_bytes);
    // Lists that grow are copied now and then; the square would be 64 times as much.
    assert!(many <= 10 * few, "{few} bytes for 2,000 jobs, {many} for 16,000");
}

#[test]
fn a_kernel_takes_no_more_memory_the_more_blocks_it_has() {
    let _alone = COUNTED.lock();
    let held = HeldAtMost { whole: 10_000, piece: 5_000, rows: 0 };
    let sums = |blocks| {
        // No job waits for the one before it: those that wait would be kept.
        let scenario = periodic(blocks, 10, 100);
        counted(|| {
            let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).unwrap();
            SimulationReport::of(AnyRun::Long(long(&run))).rows(RowsPart::CSV, &mut io::sink()).unwrap();
        })
        .max_bytes
    };
    let (few, many) = (sums(2_000), sums(10_000));
    assert!(many <= few + 4_096, "{few} bytes for blocks by 2,000, {many} by 10,000");
}
