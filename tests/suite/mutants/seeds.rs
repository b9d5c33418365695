//! Small sound files of every kind that is read, of which mutants are made.

use std::fs;
use std::path::Path;

use gpusched::device::Device;
use serde_json::Value;

use super::readers::{APPLICATIONS, DEVICE, FOREIGN, LOG, Reader, SCENARIO, STUDY, TASKS, WARPS};
use crate::all_keys;

/// A sound file.
pub(crate) struct Seed {
    pub(crate) reader: Reader,
    /// Its name, without folder.
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

/// Files of this repository.
const FILES: &[(Reader, &[&str])] = &[
    (
        SCENARIO,
        &[
            "tests/data/small/native.json",
            "tests/data/small/hosts.json",
            "tests/data/small/examiner.json",
            "scenarios/processes/perception-and-control.json",
            "scenarios/deadlines/camera-and-lidar.json",
        ],
    ),
    (
        FOREIGN,
        &[
            "tests/data/small/model.amxmi",
            "scenarios/amalthea/periodic-with-requirements.amxmi",
            "scenarios/amalthea/thesis-kernels-0.9.5.amxmi",
            "scenarios/amalthea/tx2-like-waters2019.amxmi",
            "tests/data/small/kineto.json",
            "scenarios/profiles/synthetic.json",
            "tests/data/small/nvprof.csv",
            "scenarios/profiles/synthetic.csv",
        ],
    ),
    (
        LOG,
        &["tests/data/small/log.json", "tests/data/logs/two-streams/two.json", "tests/data/logs/broken/defects.json"],
    ),
    (DEVICE, &["tests/data/small/device.json", "engine/src/device/data/h100.json"]),
    (APPLICATIONS, &["tests/data/small/applications.json", "systems/src/applications/data/gpu-evr-figure-1.json"]),
    (TASKS, &["tests/data/small/tasks.json", "tests/data/small/segments.json", "witnesses/ecrts2024/case-study.json"]),
    (WARPS, &["tests/data/small/warps.json", "witnesses/cister2012/llc-of-four-warps.json"]),
    (STUDY, &["tests/data/small/study.json", "studies/rtns2020-parameters.json"]),
];

/// All of them.
pub(crate) fn seeds() -> Vec<Seed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = |reader: &Reader, path: &str| {
        let name = Path::new(path).file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned();
        Seed { reader: *reader, name, content: fs::read(root.join(path)).expect("it is there") }
    };
    let mut seeds: Vec<Seed> =
        FILES.iter().flat_map(|(reader, paths)| paths.iter().map(|path| file(reader, path))).collect();
    let mut text = |reader: Reader, name: &str, text: &str| {
        seeds.push(Seed { reader, name: name.to_owned(), content: text.as_bytes().to_vec() });
    };
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("it is JSON");
    let mut own_device = parse(all_keys::NATIVE);
    own_device["device"] = parse(Device::builtin_json("tx2").expect("it is built in"));
    let mut examiner = parse(all_keys::EXAMINER);
    // These need a block time from elsewhere.
    let lacks_time = |benchmark: &Value| {
        ["mandelbrot.so", "matrix_multiply.so", "random_walk.so", "inorder_walk.so"]
            .iter()
            .any(|name| benchmark["filename"] == **name)
    };
    examiner["benchmarks"].as_array_mut().expect("a list").retain(|benchmark| !lacks_time(benchmark));
    text(SCENARIO, "all-native.json", all_keys::NATIVE);
    text(SCENARIO, "other-native.json", all_keys::OTHER_NATIVE);
    text(SCENARIO, "waiting-native.json", all_keys::WAITING_NATIVE);
    text(SCENARIO, "own-device.json", &own_device.to_string());
    text(SCENARIO, "all-examiner.json", &format!("{examiner:#}"));
    text(TASKS, "all-tasks.json", all_keys::TASKS);
    text(TASKS, "all-segments.json", all_keys::SEGMENTS);
    text(WARPS, "all-warps.json", all_keys::WARPS);
    for (number, applications) in all_keys::APPLICATIONS.iter().enumerate() {
        text(APPLICATIONS, &format!("all-applications-{number}.json"), applications);
    }
    // The last one names a file.
    for (number, study) in all_keys::STUDIES[..3].iter().enumerate() {
        text(STUDY, &format!("all-study-{number}.json"), study);
    }
    #[cfg(feature = "nsight")]
    seeds.push(Seed { reader: FOREIGN, name: "export.sqlite".to_owned(), content: super::nsight::export() });
    seeds
}
