//! What the plugins of `cuda_scheduling_examiner` launch, by their sources (`yalue/cuda_scheduling_examiner_mirror`,
//! commit 1c0bd05 of 2024 and its history): grids, defaults, copies, and what they ignore.

use gpusched::scenario::{ReadOptions, Scenario, Step};
use gpusched::time::Duration;

use crate::generate::builtin;

/// A file with one benchmark.
fn file(plugin: &str, fields: &str) -> String {
    format!(
        r#"{{"name": "Single-job test", "max_iterations": 10, "max_time": 0, "cuda_device": 0,
            "benchmarks": [{{"filename": "./bin/{plugin}.so", {fields}}}]}}"#
    )
}

fn options(device: &str) -> ReadOptions {
    ReadOptions {
        device: Some(builtin(device)),
        other_block_duration: Some(Duration::from_ns(1_000)),
        ..ReadOptions::default()
    }
}

fn read(text: &str) -> Scenario {
    Scenario::from_json("in.json", text, &options("a100-80gb")).expect("it is one")
}

/// Blocks and threads of the only kernel.
fn grid(plugin: &str, fields: &str) -> (u32, u32) {
    let scenario = read(&file(plugin, fields));
    assert_eq!(scenario.kernels().len(), 1);
    let kernel = &scenario.kernels()[0];
    (kernel.blocks, kernel.shape.threads)
}

fn notes(plugin: &str, fields: &str) -> String {
    read(&file(plugin, fields)).notes.join("\n")
}

fn refusal(plugin: &str, fields: &str) -> String {
    let read = Scenario::from_json("in.json", &file(plugin, fields), &options("a100-80gb"));
    read.expect_err("it is none").to_string()
}

#[test]
fn mandelbrot_launches_a_thread_for_each_point_of_a_square_and_ignores_block_count() {
    // The first example of the README, `configs/simple.json`.
    let readme = r#""thread_count": 256, "block_count": 256, "data_size": 1000000"#;
    assert_eq!(grid("mandelbrot", readme), (3_907, 256));
    assert!(notes("mandelbrot", readme).contains("mandelbrot.so ignores block_count and launches 3907 blocks"));
    // A competitor of the ECRTS 2025 artefact: 3,162 points a side.
    let fields = r#""thread_count": 512, "block_count": 1, "data_size": 10000000, "additional_info": 50000"#;
    assert_eq!(grid("mandelbrot", fields), (19_528, 512));
    // What makes no whole row does not count.
    assert_eq!(grid("mandelbrot", r#""thread_count": 100, "block_count": 1, "data_size": 120"#), (1, 100));
    let stated = r#""thread_count": 100, "block_count": 1, "data_size": 100"#;
    assert!(!notes("mandelbrot", stated).contains("ignores"), "it states what is launched");
    assert!(refusal("mandelbrot", r#""thread_count": 1, "block_count": 1, "data_size": 0"#).contains("data_size"));
    let huge = r#""thread_count": 1, "block_count": 1, "data_size": 2147488281"#;
    assert!(refusal("mandelbrot", huge).contains("46340 a side at most"));
}

#[test]
fn matrix_multiply_launches_a_thread_for_each_number_of_the_product() {
    let matrix = |threads: &str, width: u32| {
        let fields = format!(
            r#""thread_count": {threads}, "block_count": 1, "data_size": 0,
                "additional_info": {{"matrix_width": {width}, "skip_copy": true}}"#
        );
        grid("matrix_multiply", &fields)
    };
    // The ECRTS 2025 artefact, and `configs/matrix_multiply_test.json` with a width that 16 does not divide.
    assert_eq!(matrix("[32, 32]", 6_144), (36_864, 1_024));
    assert_eq!(matrix("[16, 16]", 100), (49, 256));
    // The numbers as they stand, whatever the examiner's parser makes of them.
    assert_eq!(matrix("[32, 16]", 64), (8, 512));
    // It sets 32 x 32 for a block of one dimension, and then the 1 for its second.
    assert_eq!(matrix("1024", 64), (128, 32));
    let unlike =
        r#""thread_count": [32, 16], "block_count": 8, "data_size": 0, "additional_info": {"matrix_width": 64}"#;
    assert!(notes("matrix_multiply", unlike).contains("as its first, 32"));
    assert!(
        refusal("matrix_multiply", r#""thread_count": 1, "block_count": 1, "data_size": 0"#)
            .contains("additional_info")
    );
}

#[test]
fn results_are_copied_out_in_a_phase_of_their_own_and_matrices_in_unless_that_is_skipped() {
    let steps = |plugin: &str, fields: &str| {
        let scenario = read(&file(plugin, fields));
        let step = |step: &Step| match step {
            Step::Copy(id, _) => format!("copy {}", scenario.copies()[id.index()].bytes.expect("it is stated")),
            Step::Launch(..) => "launch".to_owned(),
            Step::SynchronizeStream(_) => "wait".to_owned(),
            other => panic!("{other:?}"),
        };
        scenario.threads[0].steps.iter().map(step).collect::<Vec<_>>().join(", ")
    };
    let image = r#""thread_count": 256, "block_count": 256, "data_size": 1000999"#;
    assert_eq!(steps("mandelbrot", image), "launch, wait, copy 1000000, wait");
    let matrix = |skip: &str| {
        format!(
            r#""thread_count": [16, 16], "block_count": 1, "data_size": 0,
                "additional_info": {{"matrix_width": 100{skip}}}"#
        )
    };
    let copied = "copy 40000, copy 40000, wait, launch, wait, copy 40000, wait";
    assert_eq!(steps("matrix_multiply", &matrix("")), copied);
    assert_eq!(steps("matrix_multiply", &matrix(r#", "skip_copy": true"#)), "launch, wait");
    let walk = r#""thread_count": 1024, "block_count": 2048, "data_size": 536870912"#;
    assert_eq!(steps("random_walk", walk), "launch, wait");
}

#[test]
fn walks_launch_what_is_stated_and_need_a_place_to_walk() {
    let fields = r#""thread_count": 1024, "block_count": 2048, "data_size": 536870912, "additional_info": "1000""#;
    assert_eq!(grid("random_walk", fields), (2_048, 1_024));
    assert_eq!(grid("inorder_walk", fields), (2_048, 1_024));
    let short = r#""thread_count": 1, "block_count": 1, "data_size": 7"#;
    assert!(refusal("random_walk", short).contains("from 8"));
}

#[test]
fn counter_spin_does_a_million_iterations_where_none_are_stated() {
    let fields = |info: &str| format!(r#""thread_count": 32, "block_count": 1, "data_size": 0{info}"#);
    let duration = |info: &str| read(&file("counter_spin", &fields(info))).kernels()[0].duration;
    assert_eq!(duration(""), duration(r#", "additional_info": 1000000"#));
}

#[test]
fn what_the_examiner_would_refuse_is_told() {
    let spin = |more: &str| format!(r#""thread_count": {more}, "data_size": 0"#);
    assert!(notes("timer_spin", &spin(r#"[32, 2], "block_count": 1"#)).contains("refuses the list of thread_count"));
    assert!(notes("timer_spin", &spin(r#"32, "block_count": [4, 1]"#)).contains("refuses the list of block_count"));
    assert_eq!(notes("timer_spin", &spin(r#"[32], "block_count": [4]"#)), "");
    let words = |words: u32| {
        let info = format!(r#", "additional_info": {{"duration": 1, "shared_memory_size": {words}}}"#);
        notes("sharedmem_timer_spin", &(spin(r#"32, "block_count": 1"#) + &info))
    };
    assert_eq!([4_096, 8_192, 10_240].map(words), ["", "", ""]);
    assert!(words(1_024).contains("refuses a shared_memory_size of 1024"));
}

#[test]
fn masks_have_64_bits_and_take_the_tpcs_behind_those_away() {
    let spin = |mask: &str| {
        file("timer_spin", &format!(r#""thread_count": 32, "block_count": 1, "data_size": 0, "sm_mask": "{mask}""#))
    };
    let sms = |device: &str, mask: &str| {
        let scenario = Scenario::from_json("in.json", &spin(mask), &options(device)).expect("it is one");
        let mask = scenario.streams()[1].sm_mask.expect("it is stated");
        (0..scenario.device().sms).filter(|&sm| mask.enables_sm(sm, scenario.device())).count()
    };
    // `~0x3a74e9d3a74e9` of the ECRTS 2025 artefact leaves 29 of 54 TPCs, and the other 25 without the `~`.
    assert_eq!(sms("a100-80gb", "~0x3a74e9d3a74e9"), 58);
    assert_eq!(sms("a100-80gb", "0x3a74e9d3a74e9"), 50);
    // 71 TPCs, of which libsmctrl's old interface, which the examiner calls, disables the last 7.
    assert_eq!(sms("l40", "0x1"), 126);
    let refused = Scenario::from_json("in.json", &spin("0x10000000000000000"), &options("l40"));
    assert!(refused.expect_err("it has 65 bits").to_string().contains("64 bits"));
}

#[test]
fn from_compute_capability_9_on_a_note_says_that_bits_of_a_mask_are_no_tpcs() {
    let spin = file("timer_spin", r#""thread_count": 32, "block_count": 1, "data_size": 0, "sm_mask": "0x1""#);
    let native = r#"{"format": "gpusched-scenario/1", "name": "n", "kernels": {"K": {"blocks": 1, "threads": 32,
        "duration": "1 ms", "sm_mask": "0x1"}}, "streams": [{"name": "S", "operations": [{"kernel": "K"}]}]}"#;
    for text in [&*spin, native] {
        let told = |device: &str| {
            let scenario = Scenario::from_json("in.json", text, &options(device)).expect("it is one");
            scenario.notes.iter().any(|note| note.contains("units on the chip"))
        };
        assert_eq!(["a100-80gb", "rtx4090", "h100", "b200"].map(told), [false, false, true, true], "{text}");
    }
}

/// `timer_spin_default_stream.cu` makes none.
#[test]
fn timer_spin_default_stream_has_no_stream_but_the_null_one() {
    let fields = r#""block_count": 1, "thread_count": 32, "data_size": 0, "additional_info": 1000"#;
    let streams = |plugin: &str| read(&file(plugin, fields)).streams().len();
    assert_eq!([streams("timer_spin_default_stream"), streams("timer_spin")], [1, 2]);
}
