//! All fuzz targets in one program, which is built and linked once: `GPUSCHED_FUZZ` says which of them it runs.

#![no_main]

mod amalthea;
mod applications;
mod device;
mod engine;
mod kineto;
mod log;
mod nsight;
mod nvprof;
mod profile;
mod rows;
mod scenario;
mod study;
mod tasks;
mod warps;

use std::sync::LazyLock;

use libfuzzer_sys::{Corpus, fuzz_target};

/// What a target takes.
#[derive(Clone, Copy)]
enum Target {
    Bytes(fn(&[u8])),
    /// Bytes that are no UTF-8 are not kept.
    Text(fn(&str)),
}

const TARGETS: [(&str, Target); 13] = [
    ("amalthea", Target::Text(amalthea::run)),
    ("applications", Target::Text(applications::run)),
    ("device", Target::Text(device::run)),
    ("engine", Target::Bytes(engine::run)),
    ("kineto", Target::Bytes(kineto::run)),
    ("log", Target::Bytes(log::run)),
    ("nsight", Target::Bytes(nsight::run)),
    ("nvprof", Target::Bytes(nvprof::run)),
    ("rows", Target::Bytes(rows::run)),
    ("scenario", Target::Text(scenario::run)),
    ("study", Target::Text(study::run)),
    ("tasks", Target::Text(tasks::run)),
    ("warps", Target::Text(warps::run)),
];

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let asked = std::env::var("GPUSCHED_FUZZ").unwrap_or_default();
    let found = TARGETS.iter().find(|(name, _)| *name == asked);
    found.unwrap_or_else(|| panic!("GPUSCHED_FUZZ is {asked:?}, one of {:?}", TARGETS.map(|(name, _)| name))).1
});

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match *TARGET {
        Target::Bytes(run) => run(bytes),
        Target::Text(run) => match std::str::from_utf8(bytes) {
            Ok(text) => run(text),
            Err(_) => return Corpus::Reject,
        },
    }
    Corpus::Keep
});
