//! Tier 3: from the text of a file to a report of it, or an audit, as the command does; what is written goes nowhere.

mod workloads;

use std::io::{self, Cursor};

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use gpusched::analysis::analyse;
use gpusched::audit::{ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::formats::{Report, RowsPart, write_json};
use gpusched::hosts::simulate;
use gpusched::logs::{BlockColumns, read_logs_from, sort_into_runs};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::{ExaminerLog, SimulationReport};
use workloads::texts;

fn main() {
    divan::main();
}

fn read(text: &str) -> Option<Scenario> {
    Scenario::from_json("bench", text, &ReadOptions::default()).ok()
}

/// `simulate --format csv`.
fn to_csv(text: &str) -> Option<()> {
    let scenario = read(text)?;
    let run = simulate(&scenario).ok()?;
    SimulationReport::of(Summary::of(&run)).rows(RowsPart::CSV, &mut io::sink()).ok()
}

/// `simulate --format json`.
fn to_json(text: &str) -> Option<()> {
    let scenario = read(text)?;
    let run = simulate(&scenario).ok()?;
    write_json(&SimulationReport::of(Summary::of(&run)), None, &mut io::sink()).ok()
}

/// Kernels of one block in 64 streams, up to a million: as many nanoseconds an item whatever their number.
#[divan::bench(args = [10_000, 100_000, 1_000_000], sample_count = 3, sample_size = 1)]
fn one_block_kernels_to_csv(bencher: Bencher<'_, '_>, kernels: u32) {
    let text = texts::chains(kernels, 64, 1);
    bencher.counter(ItemsCount::new(kernels)).bench_local(|| to_csv(black_box(&text)));
}

/// 20,000 kernels of 8 blocks in 8 streams.
#[divan::bench]
fn kernels_of_eight_blocks_to_csv(bencher: Bencher<'_, '_>) {
    let text = texts::chains(20_000, 8, 8);
    bencher.counter(ItemsCount::new(20_000_u32)).bench_local(|| to_csv(black_box(&text)));
}

/// 200,000 benchmarks of one kernel, a host thread and a stream each.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn benchmarks_to_json(bencher: Bencher<'_, '_>) {
    let text = texts::benchmarks(200_000);
    bencher.counter(ItemsCount::new(200_000_u32)).bench_local(|| to_json(black_box(&text)));
}

/// The same, analysed on the merged SM; without the search for bad runs, which the command adds.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn benchmarks_analysed_to_csv(bencher: Bencher<'_, '_>) {
    let text = texts::benchmarks(200_000);
    let analysed = |text: &str| {
        let scenario = read(text)?;
        analyse(&scenario).ok()?.write_kernels(RowsPart::CSV, &mut io::sink()).ok()
    };
    bencher.counter(ItemsCount::new(200_000_u32)).bench_local(|| analysed(black_box(&text)));
}

/// A log of 100 kernels of 10,000 blocks, 26 MB: read and audited. Items are blocks.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn log_audited(bencher: Bencher<'_, '_>) {
    let log = log();
    let audited = |log: &[u8]| {
        let read = read_logs_from("bench", &mut Cursor::new(log), &BlockColumns::default()).ok()?;
        let run = sort_into_runs(read.logs).pop()?;
        let observation = ObservedRun::of_logs(&run, &workloads::tx2());
        Some(audit(&observation, &Tolerances::default(), Progress::NONE).findings.len())
    };
    let bencher = bencher.counter(ItemsCount::new(1_000_000_u32)).counter(BytesCount::new(log.len()));
    bencher.bench_local(|| audited(black_box(&log)));
}

fn log() -> Vec<u8> {
    let mut log = Vec::new();
    let scenario = read(&texts::chains(100, 1, 10_000));
    let run = scenario.as_ref().and_then(|scenario| simulate(scenario).ok());
    if let Some(run) = &run {
        let logs = ExaminerLog::all_of(&Summary::of(run));
        for one in &logs {
            // Writing to memory cannot fail.
            let _ = one.write(&mut log);
        }
    }
    log
}
