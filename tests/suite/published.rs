//! The scenarios in `scenarios/`, one test for each figure, against the published result that the file carries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Instant;
use gpusched::workload::Placement;

/// Every file, by its path below `scenarios/` without `.json`; each has a test of its own below.
const FIGURES: [&str; 26] = [
    "ecrts2018/free",
    "events/double-buffering",
    "ospert2017/figure-4",
    "ospert2017/figure-5",
    "ospert2017/figure-6",
    "ospert2017/figure-7",
    "ospert2017/figure-8",
    "ospert2017/figure-9",
    "rtss2017/figure-3",
    "rtss2017/figure-5-as-printed",
    "rtss2017/figure-5",
    "rtss2017/figure-6",
    "rtss2017/figure-7",
    "rtss2017/figure-8",
    "thesis2019/figure-3-10",
    "thesis2019/figure-3-3-a",
    "thesis2019/figure-3-3-b",
    "thesis2019/figure-3-4",
    "thesis2019/figure-3-5",
    "thesis2019/section-3-5",
    "thesis2019/section-4-2-scenario-1-as-logged",
    "thesis2019/section-4-2-scenario-1",
    "thesis2019/section-4-2-scenario-2",
    "thesis2019/section-4-2-scenario-3",
    "thesis2019/section-4-3-figure-4-7",
    "thesis2019/section-4-3-figure-4-9",
];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

/// Files whose answers are checked elsewhere (`deadlines.rs`, `chains.rs`, `cores.rs`, `tour.rs`, `docs/processes.md`,
/// `docs/validation.md`, `docs/analysis.md`, `docs/hang.md`, `explain.rs`, `green_contexts.rs`, `programmatic.rs`,
/// `clusters.rs`, `graphs.rs`, `persistent.rs`): they come from no publication.
const EXAMPLES: [&str; 46] = [
    "deadlines/camera-and-lidar.json",
    "deadlines/camera-to-brake.json",
    "deadlines/camera-to-tracker.json",
    "deadlines/shared-core.json",
    "deadlines/waters-2019.json",
    "processes/perception-and-control.json",
    "hang/cooperative.json",
    "hang/cub-369.json",
    "hang/deepep-496-fewer.json",
    "hang/deepep-496-same-order.json",
    "hang/deepep-496.json",
    "hang/flashmoe-3.json",
    "hang/megatron-533.json",
    "hang/mirage-761-136.json",
    "hang/mirage-761-packed.json",
    "hang/mirage-761.json",
    "hang/mirage-762.json",
    "hang/mirage-775-packed.json",
    "hang/mirage-775.json",
    "hang/moonep-34-plain.json",
    "hang/moonep-34.json",
    "hang/nccl-592-one-stream.json",
    "hang/nccl-592.json",
    "hang/pytorch-170162.json",
    "hang/transformer-engine-2056.json",
    "hang/two-barriers-cooperative.json",
    "hang/mirage.json",
    "hang/two-barriers.json",
    "hang/vllm-41189.json",
    "hang/vllm-41834.json",
    "rules/clusters.json",
    "rules/copies-of-two-processes.json",
    "rules/graphs.json",
    "rules/green-contexts.json",
    "rules/persistent-grids.json",
    "rules/persistent-kernel.json",
    "rules/placement-by-gpcs.json",
    "rules/programmatic-launch.json",
    "rules/registers.json",
    "tour/one-kernel.json",
    "validation/connections.json",
    "validation/layer-on-sms.json",
    "validation/mps-shares.json",
    "validation/one-connection.json",
    "validation/six-processes.json",
    "validation/tensor-parallel.json",
];

/// All JSON files below `scenarios/`, by their path there.
pub(crate) fn files() -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            // Profiles are JSON of another kind.
            if path.is_dir() && !path.ends_with("profiles") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let relative = path.strip_prefix(root()).expect("it is below the root");
                files.push(relative.to_str().expect("plain names").replace('\\', "/"));
            }
        }
    }
    files.sort();
    files
}

fn read(figure: &str, options: &ReadOptions) -> Scenario {
    let file = format!("{figure}.json");
    let text = std::fs::read_to_string(root().join(&file)).expect("the file is there");
    Scenario::from_json(&file, &text, options).expect("the file is sound")
}

pub(crate) fn figure(figure: &str) -> Scenario {
    read(figure, &ReadOptions::default())
}

/// Runs a figure's scenario under the default placement and compares it with what the file expects of every kernel.
fn meets_its_published_result(name: &str) {
    let scenario = figure(name);
    assert_eq!(scenario.placement, Placement::MostRoom);
    assert_eq!(scenario.notes, Vec::<String>::new(), "{name}");
    let expected = scenario.expected.clone().expect("a shipped scenario carries its published result");
    let stated: BTreeSet<&str> = expected.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let launched: BTreeSet<&str> = scenario.kernels().iter().map(|kernel| &*kernel.name).collect();
    assert_eq!(stated, launched, "{name}: every kernel has an expected result");
    assert!(expected.kernels.iter().all(|kernel| kernel.finish.is_some()), "{name}: finishes are known");
    let is_of_print = !name.starts_with("events/");
    assert!(!is_of_print || expected.kernels.iter().all(|kernel| kernel.place.is_some()), "{name}: places are known");
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(Summary::of(&run).differences(), Ok(Vec::new()), "{name}");
}

#[test]
fn no_file_is_forgotten() {
    let mut listed: Vec<String> = FIGURES.iter().map(|figure| format!("{figure}.json")).collect();
    listed.extend(EXAMPLES.map(str::to_owned));
    listed.sort();
    assert_eq!(files(), listed);
    for figure in FIGURES {
        meets_its_published_result(figure);
    }
}

macro_rules! figures {
    ($($test:ident: $figure:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            meets_its_published_result($figure);
        })*

        #[test]
        fn every_figure_has_a_test_of_its_own() {
            assert_eq!(FIGURES, [$($figure),*]);
        }
    };
}

figures! {
    ecrts_2018_free: "ecrts2018/free",
    events_double_buffering: "events/double-buffering",
    ospert_2017_figure_4: "ospert2017/figure-4",
    ospert_2017_figure_5: "ospert2017/figure-5",
    ospert_2017_figure_6: "ospert2017/figure-6",
    ospert_2017_figure_7: "ospert2017/figure-7",
    ospert_2017_figure_8: "ospert2017/figure-8",
    ospert_2017_figure_9: "ospert2017/figure-9",
    rtss_2017_figure_3: "rtss2017/figure-3",
    rtss_2017_figure_5_as_table_2_prints: "rtss2017/figure-5-as-printed",
    rtss_2017_figure_5: "rtss2017/figure-5",
    rtss_2017_figure_6: "rtss2017/figure-6",
    rtss_2017_figure_7: "rtss2017/figure-7",
    rtss_2017_figure_8: "rtss2017/figure-8",
    thesis_2019_figure_3_10: "thesis2019/figure-3-10",
    thesis_2019_figure_3_3_a: "thesis2019/figure-3-3-a",
    thesis_2019_figure_3_3_b: "thesis2019/figure-3-3-b",
    thesis_2019_figure_3_4: "thesis2019/figure-3-4",
    thesis_2019_figure_3_5: "thesis2019/figure-3-5",
    thesis_2019_section_3_5: "thesis2019/section-3-5",
    thesis_2019_section_4_2_scenario_1_as_logged: "thesis2019/section-4-2-scenario-1-as-logged",
    thesis_2019_section_4_2_scenario_1: "thesis2019/section-4-2-scenario-1",
    thesis_2019_section_4_2_scenario_2: "thesis2019/section-4-2-scenario-2",
    thesis_2019_section_4_2_scenario_3: "thesis2019/section-4-2-scenario-3",
    thesis_2019_section_4_3_figure_4_7: "thesis2019/section-4-3-figure-4-7",
    thesis_2019_section_4_3_figure_4_9: "thesis2019/section-4-3-figure-4-9",
}

#[test]
fn kernels_of_equal_blocks_finish_at_the_same_times_wherever_their_blocks_go() {
    let equal_blocks = |scenario: &Scenario| {
        let kernels = scenario.kernels();
        kernels.iter().zip(kernels.iter().skip(1)).all(|(one, next)| one.shape == next.shape)
    };
    let mut tried = 0;
    for name in FIGURES {
        if !equal_blocks(&figure(name)) {
            continue;
        }
        tried += 1;
        let finishes = |placement, seed| -> Vec<Option<Instant>> {
            let options = ReadOptions { placement: Some(placement), seed: Some(seed), ..ReadOptions::default() };
            let run = simulate(&read(name, &options)).expect("it runs").into_owned();
            run.trace.operations().iter().map(gpusched::trace::OperationRecord::finish).collect()
        };
        let most_room = finishes(Placement::MostRoom, 0);
        for placement in Placement::ALL.into_iter().filter(|placement| !placement.goes_by_gpcs()) {
            for seed in 0..3 {
                assert_eq!(finishes(placement, seed), most_room, "{name} under {}", placement.name());
            }
        }
    }
    // All twelve of the thesis, OSPERT's figures 4 and 5, RTSS' figures 6 and 7, and those with events and cudaFree.
    assert_eq!(tried, 18);
}

#[test]
fn the_published_result_holds_for_the_files_own_conditions_only() {
    let xavier = gpusched::device::Device::builtin("xavier").expect("sound").expect("built in");
    let options = ReadOptions {
        device: Some(xavier),
        vary_percent: Some((50, 100)),
        horizon: Some(gpusched::time::Duration::from_ns(1)),
        ..ReadOptions::default()
    };
    let scenario = read("rtss2017/figure-6", &options);
    let run = simulate(&scenario).expect("it runs");
    let error = Summary::of(&run).differences().expect_err("other conditions");
    assert_eq!(error.replaced, ["the device", "the block durations", "the horizon"]);

    let tx2 = gpusched::device::Device::builtin("tx2").expect("sound");
    let same = ReadOptions { device: tx2, vary_percent: Some((100, 100)), seed: Some(7), ..ReadOptions::default() };
    let scenario = read("rtss2017/figure-6", &same);
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(Summary::of(&run).differences(), Ok(Vec::new()));
}

#[test]
fn a_result_that_differs_is_told_kernel_by_kernel_with_both_values() {
    let options = ReadOptions { placement: Some(Placement::LowestId), ..ReadOptions::default() };
    let scenario = read("ospert2017/figure-8", &options);
    let run = simulate(&scenario).expect("it runs");
    let differences = Summary::of(&run).differences().expect("comparable");
    // Four of K1's six blocks on SM 0 leave room for K2 on SM 1. Blocks per SM are not compared under this placement.
    let told: Vec<String> = differences.iter().map(|one| format!("{}: {}", one.kernel, one.what)).collect();
    assert_eq!(told, ["K2: first start: expected 1 s, simulated 250 ms", "K2: finish: expected 2 s, simulated 1.25 s"]);
}

#[test]
fn a_block_on_another_sm_than_published_is_told_with_its_place_in_print() {
    let mut scenario = figure("rtss2017/figure-3");
    let expected = scenario.expected.as_mut().expect("it has one");
    // Without the block times of the file, K1's fifth and sixth block are on an SM each; a block that is not known
    // counts for nothing.
    scenario.block_times.clear();
    expected.kernels.retain(|kernel| kernel.name == "K1");
    let known = expected.kernels[0].sm_of_block.as_mut().expect("they are published");
    known[0] = None;
    let run = simulate(&scenario).expect("it runs");
    let told = Summary::of(&run).differences().expect("comparable");
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["K1 (Fig. 3): SM of each block: expected [-, 1, 0, 1, 0, 0], simulated [0, 1, 0, 1, 0, 1]"]);
    let elsewhere = Scenario { placement: Placement::RoundRobin, ..scenario };
    let run = simulate(&elsewhere).expect("it runs");
    assert_eq!(Summary::of(&run).differences(), Ok(Vec::new()), "SMs are compared under one placement");
}
