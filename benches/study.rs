//! What a study costs beyond its samples, and merging.

#![allow(clippy::expect_used, reason = "the inputs are known to be sound")]

use std::path::{Path, PathBuf};

use divan::{Bencher, black_box};
use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::experiments::study::{ResultFile, Shard, Study, StudyRow, merge};
use gpusched::experiments::validation::{Campaign, Family};
use gpusched::workload::Placement;

fn main() {
    divan::main();
}

fn study(samples: u64, per_row: u64) -> Study {
    let text = format!(
        r#"{{"format": "gpusched-study/1", "name": "bench", "command": "merged-sm", "seed": 1, "samples": {samples},
            "samples_per_row": {per_row}, "grid": {{"family": ["unequal"]}}}}"#
    );
    Study::from_json("bench.json", &text, &|_| Err(std::io::ErrorKind::NotFound.into())).expect("sound")
}

/// A directory that is empty.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

const SAMPLES: u64 = 20_000;

/// 20,000 scenarios on one thread, without a study.
#[divan::bench(sample_count = 10)]
fn bare_loop() {
    let device = Device::builtin("tx2").expect("sound").expect("built in");
    let families = vec![Family::Unequal];
    let campaign = Campaign { device, placement: Placement::MostRoom, families, samples: SAMPLES, seed: 1 };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    black_box(pool.install(|| campaign.run(&|_| {})).expect("they fit"));
}

/// The same as a study on one thread or two, with its rows on disk.
#[divan::bench(args = [1, 2], sample_count = 10)]
fn as_a_study(bencher: Bencher<'_, '_>, threads: usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let study = study(SAMPLES, 1_000);
    bencher.with_inputs(|| directory("bench-study")).bench_values(|results| {
        let mut file = ResultFile::claim(&study, Shard::WHOLE, &results).expect("it is free");
        pool.install(|| study.work(Shard::WHOLE, 0).run(|rows| file.append(rows))).expect("it runs")
    });
}

const ROWS: u64 = 1_000_000;

/// A million rows in four shards.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn merge_a_million_rows(bencher: Bencher<'_, '_>) {
    let study = study(ROWS, 1);
    let results = directory("bench-merge");
    let shards: Vec<Shard> = (0..4).filter_map(|index| Shard::new(index, 4)).collect();
    for &shard in &shards {
        let mut file = ResultFile::claim(&study, shard, &results).expect("it is free");
        let row = |own| {
            let number = shard.row(own);
            StudyRow { number, place: study.layout.place(number), values: "0,0,1,250000,250000,9,0;1;9,o7".to_owned() }
        };
        let rows: Vec<StudyRow> = (0..shard.rows(ROWS)).map(row).collect();
        file.append(&rows).expect("there is room");
    }
    let paths: Vec<PathBuf> = shards.iter().map(|shard| results.join(shard.file_name())).collect();
    bencher.bench(|| merge(&study, &paths, &mut std::io::sink(), Progress::NONE).expect("complete"));
}
