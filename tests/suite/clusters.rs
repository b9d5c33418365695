//! Clusters of blocks (rule cluster): how many fit a B200 and in which order they begin, as measured; what cannot run;
//! how many clusters a small GPC holds, by trying all; engine, reference simulator and audit on random scenarios.

use std::collections::BTreeSet;

use gpusched::audit::{AuditRule, ObservedRun, Tolerances, audit};
use gpusched::device::{Device, Gpcs, SmNumbering, SmOrder};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::run::{Run, State, Summary};
use gpusched::scenario::{ReadOptions, Scenario, WhatIf};
use gpusched::time::Instant;
use gpusched::trace::Rule;
use gpusched::workload::{Clusters, KernelId, OperationId, StreamId};
use proptest::prelude::*;

use crate::agreement::agreed;
use crate::campaign::config;
use crate::generate::{Case, Limits, builtin, scenario};
use crate::green_contexts::with_splits;
use crate::programmatic::with_programmatic_launches;

fn read(device: &str, kernels: &str, streams: &str) -> Result<Scenario, String> {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "clusters", "kernels": {{{kernels}}}, "streams": [{streams}]}}"#
    );
    let options = ReadOptions { device: Some(builtin(device)), ..ReadOptions::default() };
    Scenario::from_json("clusters", &text, &options).map_err(|error| error.to_string())
}

/// A kernel of which an SM holds one block.
fn alone(device: &str, blocks: u32, cluster: &str) -> Result<Scenario, String> {
    let kernel = format!(
        r#""k": {{"blocks": {blocks}, "threads": 1024, "shared_memory_bytes": 120000, "duration": "1 ms"{cluster}}}"#
    );
    read(device, &kernel, r#"{"name": "s", "operations": [{"kernel": "k"}]}"#)
}

/// SMs of the blocks that begin at once.
fn first_wave(scenario: &Scenario) -> Vec<u32> {
    let run = simulate(scenario).expect("it runs");
    let blocks = run.trace.blocks(OperationId(0)).filter(|block| block.start == Instant::ZERO);
    blocks.map(|block| block.sm.into()).collect()
}

/// Measured on a B200 (StuartSul/gpu-experiments, `blackwell/107`): at one block an SM, and all SMs with a fallback.
#[test]
fn as_many_sms_of_a_b200_are_used_as_were_measured_and_all_with_a_fallback() {
    for (size, used) in [(1, 148), (2, 148), (4, 132), (8, 120), (16, 112)] {
        let scenario = alone("b200", 160, &format!(r#", "cluster": {size}"#)).expect("it is sound");
        assert_eq!(first_wave(&scenario).len(), used, "clusters of {size}");
    }
    for (size, fallback) in [(16, 2), (16, 1), (8, 2), (4, 1), (4, 2)] {
        let cluster = format!(r#", "cluster": {size}, "cluster_fallback": {fallback}"#);
        let sms: BTreeSet<u32> = first_wave(&alone("b200", 160, &cluster).expect("it is sound")).into_iter().collect();
        assert_eq!(sms.len(), 148, "clusters of {size} that fall back to {fallback}");
    }
}

/// The GPCs of the B200 whose blocks were logged, as the order of its blocks shows them.
const GPCS: [&[u32]; 8] = [
    &[0, 1, 16, 17, 32, 33, 48, 49, 64, 65],
    &[2, 3, 18, 19, 34, 35, 50, 51, 66, 67, 80, 81, 94, 95, 108, 109, 122, 123],
    &[4, 5, 20, 21, 36, 37, 52, 53, 68, 69, 82, 83, 96, 97, 110, 111, 124, 125],
    &[6, 7, 22, 23, 38, 39, 54, 55, 70, 71, 84, 85, 98, 99, 112, 113, 126, 127],
    &[8, 9, 24, 25, 40, 41, 56, 57, 72, 73, 86, 87, 100, 101, 114, 115, 128, 129],
    &[10, 11, 26, 27, 42, 43, 58, 59, 74, 75, 88, 89, 102, 103, 116, 117, 130, 131, 136, 137],
    &[12, 13, 28, 29, 44, 45, 60, 61, 76, 77, 90, 91, 104, 105, 118, 119, 132, 133, 138, 139],
    &[14, 15, 30, 31, 46, 47, 62, 63, 78, 79, 92, 93, 106, 107, 120, 121, 134, 135, 140, 141],
];

/// Measured on a B200 (StuartSul/gpu-experiments, `blackwell/097-threadblock-allocation.csv`): the lone TPCs first if
/// the size is 1 or 2; then each GPC whole, or one cluster a GPC a turn, from its lowest free SMs.
#[test]
fn clusters_of_a_b200_begin_in_the_order_that_was_measured() {
    let lone: Vec<u32> = (142..148).collect();
    for size in [1, 2, 4, 8, 16] {
        let mut expected = if size <= 2 { lone.clone() } else { Vec::new() };
        if size == 1 {
            expected.extend(GPCS.concat());
        } else {
            let turns = (0..10).flat_map(|turn| GPCS.iter().filter_map(move |gpc| gpc.chunks_exact(size).nth(turn)));
            expected.extend(turns.flatten());
        }
        let scenario = alone("b200", 160, &format!(r#", "cluster": {size}"#)).expect("it is sound");
        assert_eq!(first_wave(&scenario), expected, "clusters of {size}");
    }
}

#[test]
fn a_cluster_that_finds_no_gpc_says_so_and_one_with_a_fallback_begins_in_parts() {
    // Of two GPCs of 4 SMs, one block runs on each.
    let gpcs = Gpcs { tpcs: vec![2, 2], lone_tpcs: 0, numbering: SmNumbering::Consecutive };
    let device =
        builtin("h100").with(|spec| (spec.sms, spec.gpcs, spec.sm_order) = (8, Some(gpcs), SmOrder::Ascending));
    let device = device.expect("it is a GPU");
    let text = |fallback: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "clusters", "kernels": {{
            "one": {{"blocks": 1, "threads": 1024, "shared_memory_bytes": 120000, "duration": "2 ms", "sm_mask": "~0x1"}},
            "two": {{"blocks": 1, "threads": 1024, "shared_memory_bytes": 120000, "duration": "3 ms", "sm_mask": "~0x4"}},
            "k": {{"blocks": 4, "threads": 1024, "shared_memory_bytes": 120000, "duration": "1 ms", "cluster": 4{fallback}}}}},
            "streams": [{{"name": "a", "operations": [{{"kernel": "one"}}]}}, {{"name": "b", "operations": [{{"kernel": "two"}}]}},
            {{"name": "c", "operations": [{{"kernel": "k"}}]}}]}}"#
        )
    };
    let options = ReadOptions { device: Some(device), ..ReadOptions::default() };
    let scenario = Scenario::from_json("clusters", &text(""), &options).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let waits: Vec<_> = run.trace.waits(OperationId(2)).iter().map(|wait| (wait.rule, wait.to.as_ns())).collect();
    assert_eq!(waits, [(Rule::Cluster, 2_000_000)], "until the first GPC is free");
    assert_eq!(run.trace.blocks(OperationId(2)).map(|block| block.sm).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let state = State::at(&Summary::of(&run), Instant::from_ns(1_000_000));
    let why = &state.waiting[0].why;
    assert!(why.contains("no GPC has 4 SMs free for a cluster of its blocks; GPC 0 comes nearest with 3"), "{why}");

    let scenario = Scenario::from_json("clusters", &text(r#", "cluster_fallback": 2"#), &options).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    assert!(run.trace.waits(OperationId(2)).is_empty());
    // "one" is on SM 0 and "two" on SM 4.
    assert_eq!(run.trace.blocks(OperationId(2)).map(|block| block.sm).collect::<Vec<_>>(), [1, 2, 5, 6]);
}

#[test]
fn clusters_that_can_never_run_are_refused_and_no_analysis_knows_them() {
    for (device, blocks, cluster, expected) in [
        ("a100-80gb", 4, r#", "cluster": 2"#, "compute capability 9.0"),
        ("b200", 148, r#", "cluster": 16"#, "a grid of 148 blocks cannot be divided into clusters of 16"),
        ("b200", 32, r#", "cluster": 32"#, "clusters of 1 to 16"),
        ("h100", 16, r#", "cluster": 8, "cluster_fallback": 3"#, "cannot fall back to 3"),
        ("h100", 16, r#", "cluster": 8, "cluster_fallback": 8"#, "cannot fall back to 8"),
        ("h100", 16, r#", "cluster_fallback": 8"#, "needs \"cluster\""),
        ("h100", 16, r#", "cluster": 0"#, "cluster"),
        ("h100", 16, r#", "cluster": 4, "sm_mask": "~0x1""#, "no GPC has 4 SMs that the kernel may use"),
    ] {
        let error = alone(device, blocks, cluster).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
    let without = builtin("h100").with(|spec| spec.gpcs = None).expect("it is a GPU");
    let scenario = alone("h100", 16, r#", "cluster": 4"#).expect("it is sound");
    let error = scenario.catalogue.on(without).expect_err("its GPCs are not known").to_string();
    assert!(error.contains("does not state its GPCs"), "{error}");
    let error = gpusched::analysis::analyse(&scenario).expect_err("no bound is known").to_string();
    assert!(error.contains("no analysis knows clusters"), "{error}");
    let error = gpusched::analysis::sporadic_bounds(&scenario, &[]).expect_err("no bound is known").to_string();
    assert!(error.contains("no analysis knows clusters"), "{error}");
}

#[test]
fn a_what_if_on_grid_and_cluster_takes_both_or_says_what_does_not_go_together() {
    let with = |blocks: u32, size: u32| {
        let changes = WhatIf {
            blocks: vec![("k".to_owned(), blocks)],
            clusters: vec![("k".to_owned(), size)],
            ..WhatIf::default()
        };
        let scenario = alone("b200", 160, r#", "cluster": 16, "cluster_fallback": 4"#).expect("it is sound");
        scenario.what_if(&changes).map_err(|error| error.to_string())
    };
    // Of 264 blocks in clusters of 8 that fall back to 4, 132 begin at once; without clusters 148.
    assert_eq!(first_wave(&with(264, 8).expect("it fits")).len(), 132);
    assert_eq!(first_wave(&with(263, 1).expect("it fits")).len(), 148);
    let error = with(263, 8).expect_err("it is no multiple");
    assert!(error.contains("\"set_cluster\": a grid of 263 blocks cannot be divided into clusters of 8"), "{error}");
}

/// The file's own clusters are of no use on a GPU without any, or where a GPC is smaller.
#[test]
fn clusters_of_another_size_are_read_where_the_file_has_some_that_the_device_cannot_have() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/rules/clusters.json");
    let text = std::fs::read_to_string(scenario).expect("it is shipped");
    // An RTX 3090 has less shared memory.
    let text = text.replace("200000", "60000").replace("120000", "60000");
    for (device, size) in [("rtx3090", 1), ("b200", 8)] {
        let mut options = ReadOptions { device: Some(builtin(device)), ..ReadOptions::default() };
        let is_refused = Scenario::from_json("clusters", &text, &options).is_err();
        assert_eq!(is_refused, device == "rtx3090");
        options.other_clusters.insert("gemm".to_owned());
        let changes = WhatIf { clusters: vec![("gemm".to_owned(), size)], ..WhatIf::default() };
        let read = Scenario::from_json("clusters", &text, &options).expect("its clusters are replaced");
        let changed = read.what_if(&changes).expect("it has such clusters");
        let sizes: Vec<u32> =
            changed.kernels().iter().map(|kernel| kernel.clusters().map_or(1, |clusters| clusters.size)).collect();
        assert_eq!(sizes, [1, size]);
    }
}

#[test]
fn what_is_written_reads_the_same() {
    let scenario = alone("b200", 160, r#", "cluster": 16, "cluster_fallback": 2"#).expect("it is sound");
    let written = scenario.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again", &written, &ReadOptions::default()).expect("it is sound");
    assert_eq!(again.catalogue, scenario.catalogue);
    assert_eq!(scenario.kernels()[0].clusters(), Some(Clusters { size: 16, fallback: Some(2) }));
}

#[test]
fn an_audit_finds_clusters_that_are_apart_in_time_or_place() {
    let scenario = alone("b200", 160, r#", "cluster": 4"#).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let rules = |change: &dyn Fn(&mut gpusched::logs::BlockList)| {
        let mut observation = ObservedRun::of_run(&run).expect("it is short");
        let gpusched::audit::ObservedWork::Kernel(kernel) = &mut observation.operations[0].work else { unreachable!() };
        change(std::sync::Arc::make_mut(&mut kernel.blocks));
        let findings = audit(&observation, &Tolerances::EXACT, Progress::NONE).findings;
        findings.into_iter().map(|finding| finding.rule).collect::<BTreeSet<AuditRule>>()
    };
    assert_eq!(rules(&|_| ()), BTreeSet::new());
    assert!(
        rules(&|blocks| blocks.times[5]
            .iter_mut()
            .for_each(|time| *time = time.after(gpusched::time::Duration::from_ns(1))))
        .contains(&AuditRule::Cluster)
    );
    // SM 0 is of another GPC than SMs 2 and 3.
    assert!(rules(&|blocks| blocks.sms.swap(0, 4)).contains(&AuditRule::Cluster));
    // Within a GPC: they are together, and elsewhere than where the order has them.
    assert_eq!(rules(&|blocks| blocks.sms.swap(0, 1)), BTreeSet::from([AuditRule::Placement]));
}

/// How many clusters of `size` blocks SMs with so much room hold at most, each block on an SM of its own: all ways.
fn most_clusters(rooms: &mut [u32], size: usize, from: usize, taken: usize) -> u32 {
    if taken == size {
        return 1 + most_clusters(rooms, size, 0, 0);
    }
    let mut most = 0;
    for sm in from..rooms.len() {
        if rooms[sm] > 0 {
            rooms[sm] -= 1;
            most = most.max(most_clusters(rooms, size, sm + 1, taken + 1));
            rooms[sm] += 1;
        }
    }
    most
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn a_gpc_takes_as_many_clusters_as_there_is_any_way_to_place(
        rooms in proptest::collection::vec(0_u32..=3, 2..6), size in 2_usize..=4,
    ) {
        prop_assume!(size <= rooms.len());
        let sms = u32::try_from(rooms.len()).expect("few");
        let gpcs = Gpcs { tpcs: vec![sms], lone_tpcs: 0, numbering: SmNumbering::Striped };
        let device = builtin("h100").with(|spec| {
            (spec.sms, spec.sms_per_tpc, spec.per_sm.blocks) = (sms, 1, 3);
            (spec.gpcs, spec.sm_order) = (Some(gpcs), SmOrder::Ascending);
        });
        // On each SM blocks of others leave that much room.
        let fillers: Vec<(usize, u32)> = rooms.iter().map(|room| 3 - room).enumerate().filter(|(_, blocks)| *blocks > 0).collect();
        let mut kernels: Vec<String> = fillers
            .iter()
            .map(|(sm, blocks)| format!(r#""f{sm}": {{"blocks": {blocks}, "threads": 32, "duration": "1 s", "sm_mask": "~0x{:x}"}}"#, 1 << sm))
            .collect();
        kernels.push(format!(r#""k": {{"blocks": {}, "threads": 32, "duration": "2 s", "cluster": {size}}}"#, size * 20));
        let mut streams: Vec<String> = fillers
            .iter()
            .map(|(sm, _)| format!(r#"{{"name": "f{sm}", "operations": [{{"kernel": "f{sm}"}}]}}"#))
            .collect();
        streams.push(r#"{"name": "s", "operations": [{"kernel": "k"}]}"#.to_owned());
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "gpc", "kernels": {{{}}}, "streams": [{}]}}"#,
            kernels.join(", "),
            streams.join(", ")
        );
        let options = ReadOptions { device: Some(device.expect("it is a GPU")), ..ReadOptions::default() };
        let scenario = Scenario::from_json("gpc", &text, &options).expect("it is sound");
        let run = simulate(&scenario).expect("it runs");
        let last = OperationId(u32::try_from(fillers.len()).expect("few"));
        let begun = run.trace.blocks(last).filter(|block| block.start == Instant::ZERO).count();
        let most = most_clusters(&mut rooms.clone(), size, 0, 0);
        prop_assert_eq!(begun, most as usize * size);
    }
}

/// A random scenario with some of its kernels in clusters, on a GPU with a few GPCs.
pub(crate) fn with_clusters(scenario: Scenario, seed: u64) -> Scenario {
    let part = |shift: u32, of: u64| u32::try_from(seed.rotate_right(shift) % of).expect("few");
    let device = scenario.device().with(|spec| {
        "9.0".clone_into(&mut spec.compute_capability);
        spec.sms_per_tpc = 1 + part(3, 2);
        let tpcs = vec![1 + part(5, 4), 1 + part(7, 6), 1 + part(11, 4)];
        let lone_tpcs = part(13, 3);
        spec.sms = (tpcs.iter().sum::<u32>() + lone_tpcs) * spec.sms_per_tpc;
        spec.gpcs = Some(Gpcs { tpcs, lone_tpcs, numbering: SmNumbering::ALL[part(17, 2) as usize] });
        spec.sm_order = if part(19, 2) == 0 { SmOrder::Ascending } else { SmOrder::EvenThenOdd };
    });
    let device: Device = device.expect("it is a GPU");
    // Masks of the scenario may leave none of these SMs.
    let Ok(mut catalogue) = scenario.catalogue.on(device) else { return scenario };
    let streams: Vec<StreamId> = (0..).map(StreamId).take(catalogue.streams().len()).collect();
    for kernel in (0..).map(KernelId).take(catalogue.kernels().len()) {
        let bits = seed.rotate_right(kernel.0 * 5 + 23);
        let blocks = catalogue.kernels()[kernel.index()].blocks;
        let sizes: Vec<u32> = (2..=8).filter(|size| blocks.is_multiple_of(*size)).collect();
        if sizes.is_empty() {
            continue;
        }
        let size = sizes[usize::try_from(bits % sizes.len() as u64).expect("few")];
        let fallback = (1..size).rfind(|fallback| size.is_multiple_of(*fallback) && bits & 0x8 != 0);
        if catalogue.set_clusters(kernel, Some(Clusters { size, fallback })).is_ok()
            && streams.iter().any(|stream| catalogue.check_launch(kernel, *stream).is_err())
        {
            catalogue.set_clusters(kernel, None).expect("it had none");
        }
    }
    Scenario { catalogue, ..scenario }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn engine_reference_and_audit_agree_on_clusters(Case(scenario) in scenario(Limits::ALL), seed in any::<u64>()) {
        agreed(&with_clusters(scenario, seed))?;
    }

    #[test]
    fn engine_reference_and_audit_agree_on_clusters_with_programmatic_launches_in_green_contexts(
        Case(scenario) in scenario(Limits::ALL), seed in any::<u64>(),
    ) {
        let scenario = if seed & 1 == 0 { with_programmatic_launches(scenario, seed) } else { scenario };
        let scenario = with_splits(with_clusters(scenario, seed), seed);
        agreed(&scenario)?;
    }
}

#[test]
fn the_shipped_scenario_waits_for_a_gpc() {
    let file = crate::published::root().join("rules/clusters.json");
    let text = std::fs::read_to_string(file).expect("it is shipped");
    let scenario = Scenario::from_json("shipped", &text, &ReadOptions::default()).expect("it is sound");
    let run: Run<'_> = simulate(&scenario).expect("it runs");
    let waits = run.trace.waits(OperationId(1));
    assert_eq!(waits.iter().map(|wait| wait.rule).collect::<Vec<_>>(), [Rule::Cluster]);
}

#[test]
fn clusters_of_one_block_are_none_on_every_gpu() {
    for device in ["tx2", "h20", "b200"] {
        let scenario = read(
            device,
            r#""k": {"blocks": 4, "threads": 64, "duration": "1 ms", "cluster": 1}"#,
            r#"{"name": "s", "operations": [{"kernel": "k"}]}"#,
        )
        .unwrap_or_else(|error| panic!("{device}: {error}"));
        assert!(scenario.kernels().iter().all(|kernel| kernel.clusters().is_none()), "{device}");
    }
}
