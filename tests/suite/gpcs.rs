//! Blocks that are dealt by GPCs: the order measured on a B200 (repository memory-of-star/gpu_sheduler_survey, commit
//! 40885e9f, 2026), from there and by hand.

use gpusched::device::{Device, DeviceSpec, Gpcs, SmNumbering};
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::trace::Trace;
use gpusched::workload::{OperationId, Placement};

use crate::generate::builtin;

/// The SMs of blocks 6 to 147 of kernels that fill a B200 once, as its logs have them; before them come 142 to 147.
const MEASURED: &str = "0 1 16 17 32 33 48 49 64 65 2 3 18 19 34 35 50 51 66 67 80 81 94 95 108 109 122 123 \
    4 5 20 21 36 37 52 53 68 69 82 83 96 97 110 111 124 125 6 7 22 23 38 39 54 55 70 71 84 85 98 99 112 113 126 127 \
    8 9 24 25 40 41 56 57 72 73 86 87 100 101 114 115 128 129 \
    10 11 26 27 42 43 58 59 74 75 88 89 102 103 116 117 130 131 136 137 \
    12 13 28 29 44 45 60 61 76 77 90 91 104 105 118 119 132 133 138 139 \
    14 15 30 31 46 47 62 63 78 79 92 93 106 107 120 121 134 135 140 141";

pub(crate) fn measured() -> Vec<u32> {
    (142..148).chain(MEASURED.split_whitespace().map(|sm| sm.parse().expect("a number"))).collect()
}

/// Blocks, threads and bytes of shared memory of a kernel.
type Grid = (u32, u32, u32);

/// Kernels of so many blocks, threads and bytes of shared memory, one after another in a stream of its own each.
fn run(device: Option<Device>, stated: &str, kernels: &[Grid]) -> Trace {
    let list = |one: &dyn Fn(usize, &Grid) -> String| {
        kernels.iter().enumerate().map(|(index, kernel)| one(index, kernel)).collect::<Vec<_>>().join(", ")
    };
    let declared = list(&|index, (blocks, threads, bytes)| {
        format!(
            r#""k{index}": {{"blocks": {blocks}, "threads": {threads}, "shared_memory_bytes": {bytes}, "duration": "1 ms"}}"#
        )
    });
    let streams = list(&|index, _| format!(r#"{{"name": "s{index}", "operations": [{{"kernel": "k{index}"}}]}}"#));
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "blocks", {stated} "kernels": {{{declared}}}, "streams": [{streams}]}}"#
    );
    let options = ReadOptions { device, ..ReadOptions::default() };
    let scenario = Scenario::from_json("blocks", &text, &options).expect("it is sound");
    simulate(&scenario).expect("it runs").trace
}

fn sms(trace: &Trace, operation: u32) -> Vec<u32> {
    trace.blocks(OperationId(operation)).map(|block| u32::from(block.sm)).collect()
}

#[test]
fn kernels_that_fill_a_b200_once_go_where_the_logs_have_them_and_each_begins_anew() {
    let trace = run(Some(builtin("b200")), "", &[(148, 128, 0), (148, 128, 0), (148, 1024, 200_000)]);
    assert_eq!(sms(&trace, 0), measured());
    assert_eq!(sms(&trace, 1), measured(), "whatever others hold");
    let whole = run(Some(builtin("b200")), "", &[(148, 1024, 232_448)]);
    assert_eq!(sms(&whole, 0), measured());
}

#[test]
fn of_1024_blocks_sms_130_to_141_of_a_b200_get_six_and_the_others_seven() {
    let trace = run(Some(builtin("b200")), "", &[(1024, 128, 0)]);
    let order = sms(&trace, 0);
    let count = |sm: u32| order.iter().filter(|&&other| other == sm).count();
    for sm in 0..148 {
        assert_eq!(count(sm), if (130..142).contains(&sm) { 6 } else { 7 }, "SM {sm}");
    }
    // Outside of the lone TPCs, whose return is open: the order of one wave again and again, without those SMs that get
    // no more in the seventh.
    let outside: Vec<u32> = order.into_iter().filter(|&sm| sm < 142).collect();
    let wave: Vec<u32> = measured().into_iter().filter(|&sm| sm < 142).collect();
    let seventh = wave.iter().copied().filter(|&sm| sm < 130);
    let expected: Vec<u32> = std::iter::repeat_n(wave.clone(), 6).flatten().chain(seventh).collect();
    assert_eq!(outside, expected);
    assert_eq!(outside.len(), 982);
}

/// 4 GPCs of 1, 2 and 2 TPCs of one SM each, and one lone TPC: SMs 0 | 1 3 | 2 4 | 5.
fn small(numbering: SmNumbering) -> Device {
    let change = |spec: &mut DeviceSpec| {
        (spec.sms, spec.sms_per_tpc, spec.placement) = (6, 1, Placement::Gpc);
        spec.gpcs = Some(Gpcs { tpcs: vec![1, 2, 2], lone_tpcs: 1, numbering });
    };
    builtin("tx2").with(change).expect("it is a GPU")
}

#[test]
fn sm_numbers_are_striped_over_gpcs_or_run_through_them() {
    assert_eq!(small(SmNumbering::Striped).sms_of_gpcs(), [vec![0], vec![1, 3], vec![2, 4]]);
    assert_eq!(small(SmNumbering::Consecutive).sms_of_gpcs(), [vec![0], vec![1, 2], vec![3, 4]]);
    assert_eq!(small(SmNumbering::Striped).lone_sms(), 5..6);
    assert_eq!(builtin("tx2").lone_sms(), 2..2);
}

#[test]
fn sms_without_room_are_passed_over() {
    // By hand: two kernels fill SMs 5, 0 and 1; the third is dealt to 2, 3, 4 and 2 again, and goes GPC by GPC.
    let trace = run(Some(small(SmNumbering::Striped)), "", &[(3, 2048 / 2, 0), (3, 1024, 0), (4, 1024, 0)]);
    assert_eq!(sms(&trace, 0), [5, 0, 1]);
    assert_eq!(sms(&trace, 1), [5, 0, 1], "each SM has room for two");
    assert_eq!(sms(&trace, 2), [3, 2, 4, 2]);
}

#[test]
fn a_refill_begins_anew_or_goes_where_most_room_is() {
    // By hand. 12 of 15 blocks fill all SMs and end together: for the other three the order begins anew either way.
    for policy in ["gpc", "gpc-most-room"] {
        let stated = format!(r#""placement": "{policy}","#);
        let trace = run(Some(small(SmNumbering::Striped)), &stated, &[(15, 1024, 0)]);
        assert_eq!(sms(&trace, 0)[12..], [5, 0, 1], "{policy}");
    }
    // Z holds half of SM 5. When 11 of 13 blocks have ended, SM 5 has one place and the others have two.
    let text = |policy: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "refill", "placement": "{policy}",
            "kernels": {{"z": {{"blocks": 1, "threads": 1024, "duration": "9 ms"}},
                         "x": {{"blocks": 13, "threads": 1024, "duration": "1 ms"}}}},
            "streams": [{{"name": "z", "operations": [{{"kernel": "z"}}]}}, {{"name": "x", "operations": [{{"kernel": "x"}}]}}]}}"#
        )
    };
    let options = ReadOptions { device: Some(small(SmNumbering::Striped)), ..ReadOptions::default() };
    for (policy, second) in [("gpc", [5, 0]), ("gpc-most-room", [0, 1])] {
        let scenario = Scenario::from_json("refill", &text(policy), &options).expect("it is sound");
        let run = simulate(&scenario).expect("it runs");
        let order = sms(&run.trace, 1);
        assert_eq!(order[..11], [5, 0, 1, 3, 2, 4, 0, 1, 3, 2, 4], "{policy}: SM 5 has one place");
        assert_eq!(order[11..], second, "{policy}");
    }
}

#[test]
fn gpcs_of_another_number_of_tpcs_are_refused_and_a_gpu_without_them_takes_no_policy_by_them() {
    let wrong = builtin("b200").with(|spec| spec.gpcs = small(SmNumbering::Striped).gpcs.clone());
    let error = wrong.expect_err("a B200 has 74 TPCs").to_string();
    assert!(error.contains("6 TPCs") && error.contains("this device has 74"), "{error}");
    let fewer = builtin("b200").with(|spec| spec.sms = 100).expect("it is a GPU");
    assert_eq!((fewer.gpcs.clone(), fewer.placement), (None, Placement::MostRoom), "nothing is known of them");
    assert!(!fewer.sources.keys().any(|key| key.starts_with("gpcs")));

    let text = r#"{"format": "gpusched-scenario/1", "name": "none", "placement": "gpc",
        "kernels": {"k": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
        "streams": [{"name": "s", "operations": [{"kernel": "k"}]}]}"#;
    let error = Scenario::from_json("none", text, &ReadOptions::default()).expect_err("a TX2 states none");
    assert!(error.to_string().contains("does not state"), "{error}");
    let taken = Placement::ALL.into_iter().filter(|one| builtin("tx2").check_placement(*one).is_ok());
    assert_eq!(taken.count() + 2, Placement::ALL.len());
}

#[test]
fn only_the_b200_is_placed_by_gpcs_unless_asked_for() {
    for name in gpusched::device::BUILTIN_NAMES {
        let placement = if name == "b200" { Placement::Gpc } else { Placement::MostRoom };
        assert_eq!(builtin(name).placement, placement, "{name}");
    }
}
