//! Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed", RTSS 2017.

use std::borrow::Cow;

use gpusched::audit::{AuditRule, ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::run::{Run, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use gpusched::workload::{KernelId, OperationId, OperationKind, Placement};

use crate::published;

/// The boxes of Fig. 3: kernel and block, SM, left and right edge on the picture's own axis \[ms\]. Edges were measured
/// in pixels of 5.5 ms.
const BOXES: [(&str, u32, u16, u64, u64); 18] = [
    ("K1", 0, 0, 308, 1305),
    ("K1", 1, 1, 308, 1305),
    ("K1", 2, 0, 308, 1305),
    ("K1", 3, 1, 308, 1305),
    ("K1", 4, 0, 1305, 2307),
    ("K1", 5, 0, 1305, 2307),
    ("K2", 0, 0, 2307, 3305),
    ("K2", 1, 0, 2307, 3305),
    ("K3", 0, 0, 3336, 4333),
    ("K3", 1, 1, 3336, 4333),
    ("K4", 0, 0, 1305, 2307),
    ("K4", 1, 1, 1305, 2307),
    ("K4", 2, 0, 1305, 2307),
    ("K4", 3, 1, 1305, 2307),
    ("K5", 0, 1, 2307, 3305),
    ("K5", 1, 1, 2307, 3305),
    ("K6", 0, 1, 3109, 4106),
    ("K6", 1, 0, 3109, 4106),
];
/// The picture's axis is so far ahead of Table 1, on which K1 starts at 0 \[ms\].
const AHEAD: u64 = 308;
const TOLERANCE: u64 = 6;

#[test]
fn figure_3_all_18_blocks_are_on_the_sms_of_the_picture_at_its_times() {
    let trace = simulate(&published::figure("rtss2017/figure-3")).expect("it runs").trace;
    let operations = (0_u32..).map(OperationId).take(trace.operations().len());
    let kernels = operations.filter_map(|id| Some((id, trace.kernel_of(id)?.title.to_string())));
    let mut blocks: Vec<_> = kernels
        .flat_map(|(id, title)| trace.blocks(id).map(move |block| (title.clone(), block)).collect::<Vec<_>>())
        .collect();
    blocks.sort_by(|one, other| (&one.0, one.1.index).cmp(&(&other.0, other.1.index)));
    assert_eq!(blocks.len(), BOXES.len());
    for ((title, block), (kernel, index, sm, left, right)) in blocks.iter().zip(BOXES) {
        assert_eq!((&**title, block.index, block.sm), (kernel, index, sm));
        for (simulated, published) in [(block.start, left), (block.end, right)] {
            let far = (simulated.as_ns() / 1_000_000 + AHEAD).abs_diff(published);
            assert!(far <= TOLERANCE, "{kernel}:{index}: {simulated} is {far} ms from {published} ms in the picture");
        }
    }
}

/// "K5 completes before K2", so its copy out is first in the CE queue (Sec. 3.2); and what the copies of K5, K2 and K3
/// take together is what the picture has between K2's end and K3's start, 31 ms.
#[test]
fn figure_3_the_copies_between_k2_and_k3_are_c5o_c2o_and_c3i() {
    let trace = simulate(&published::figure("rtss2017/figure-3")).expect("it runs").trace;
    let mut copies: Vec<_> = trace
        .operations()
        .iter()
        .filter(|record| !matches!(record.kind, OperationKind::Kernel(_)))
        .map(|record| (record.first_start().expect("it started"), &*trace.streams()[record.stream.index()].name))
        .collect();
    copies.sort_unstable();
    let streams: Vec<&str> = copies.iter().map(|copy| copy.1).collect();
    assert_eq!(streams, ["S3", "S1", "S1", "S2", "S1"]);
}

/// The file states block times that differ. Without them K1's blocks end on both SMs in one nanosecond, and no
/// placement gives the picture; random ones would once in 65,536 runs.
#[test]
fn figure_3_with_blocks_that_end_together_is_on_other_sms() {
    let text = std::fs::read_to_string(published::root().join("rtss2017/figure-3.json")).expect("it is shipped");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    for kernel in ["K1", "K4"] {
        let kernel = document["kernels"][kernel].as_object_mut().expect("an object");
        assert!(kernel.remove("block_times").is_some());
    }
    for placement in Placement::ALL.into_iter().filter(|placement| !placement.goes_by_gpcs()) {
        document["placement"] = placement.name().into();
        for seed in 0..if placement == Placement::Random { 100 } else { 1 } {
            let options = ReadOptions { seed: Some(seed), ..ReadOptions::default() };
            let mut scenario = Scenario::from_json("together.json", &document.to_string(), &options).expect("sound");
            scenario.expected.as_mut().expect("it has one").replaced.clear();
            let run = simulate(&scenario).expect("it runs");
            let told = Summary::of(&run).differences().expect("comparable");
            assert!(told.iter().any(|one| one.what.starts_with("SM of each block")), "{} {seed}", placement.name());
        }
    }
}

#[test]
fn an_audit_takes_each_block_by_its_own_stated_time() {
    let mut scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs").into_owned();
    let found = |scenario: &Scenario| {
        let run = Run { scenario: Cow::Borrowed(scenario), ..run.clone() };
        let observation = ObservedRun::of_run(&run).expect("it is seen");
        let findings = audit(&observation, &Tolerances::EXACT, Progress::NONE).findings;
        findings
            .into_iter()
            .map(|finding| (finding.rule, finding.kernel.to_string(), finding.block, finding.by))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&scenario), []);
    // Block 3 of K4 ran for 1 s, and 3 ns more are stated now.
    let k4 = scenario.kernels().iter().position(|kernel| &*kernel.name == "K4").expect("it is there");
    let times = scenario.block_times.get_mut(&KernelId(u32::try_from(k4).expect("few"))).expect("it has some");
    let mut changed = times.to_vec();
    changed[3] = Duration::from_ns(1_000_000_003);
    *times = changed.into();
    assert_eq!(found(&scenario), [(AuditRule::Duration, "K4".to_owned(), Some(3), 3)]);
}
