//! Blocks that wait for others on their SMs, in everything that shows a run; times by hand.

use std::fs;
use std::path::Path;

use gpusched::hosts::simulate;
use gpusched::pictures::{PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::run::{State, Summary};
use gpusched::time::Instant;
use serde_json::{Value, json};

use crate::common::{directory, gpusched, overwritten};
use crate::perfetto::validator::validate;
use crate::published;

const MIRAGE: &str = "scenarios/hang/mirage.json";

fn printed(arguments: &[&str]) -> String {
    let output = gpusched(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is text")
}

fn document(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[&["simulate"], arguments, &["--format", "json"]].concat())).expect("it is JSON")
}

#[test]
fn the_committed_picture_of_the_mirage_case_is_what_its_command_draws() {
    let made = directory("waiting-pictures").join("mirage.svg");
    let path = made.to_str().expect("a plain path");
    printed(&["simulate", MIRAGE, "--queues", "--height", "registers", "--figure", path]);
    let made = fs::read_to_string(path).expect("it was written");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/hang-mirage.svg");
    if !overwritten("PICTURES", &committed, &made) {
        assert!(made == fs::read_to_string(committed).expect("it is there"), "PICTURES=overwrite writes it anew");
    }
}

#[test]
fn the_state_tells_which_residents_wait_for_what_and_at_the_end_of_the_run_how_far_that_is() {
    let state = |at: &str| printed(&["simulate", MIRAGE, "--state-at", at]);
    let (running, still) = (state("4us"), state("5us"));
    assert!(running.contains("SM 0: 1 x scheduler; free:"), "{running}");
    assert!(still.contains("SM 0: 1 x scheduler (waits for counter entered, 148 of 208); free:"), "{still}");
    assert!(still.contains("SM 74: 1 x worker (waits for counter entered, 148 of 208); free:"), "{still}");
    let states = document(&[MIRAGE, "--state-at", "4us", "--state-at", "5us"])["states"].clone();
    let resident = |state: usize| states[state]["sms"][0]["resident"][0].clone();
    assert_eq!(resident(0), json!({"kernel": "scheduler", "id": 0, "blocks": 1}));
    let waits = json!([{"blocks": 1, "counter": "entered", "value": 208, "is": 148}]);
    assert_eq!(resident(1), json!({"kernel": "scheduler", "id": 0, "blocks": 1, "waits": waits}));
    // While it goes on, what the counter holds is not told: nobody recorded it.
    let scenario = published::figure("hang/two-barriers");
    let run = simulate(&scenario).expect("it runs");
    let text = State::at(&Summary::of(&run), Instant::from_ns(700_000)).text();
    assert!(text.contains("1 x first (waits for all 58 blocks of its grid); free:"), "{text}");
}

#[test]
fn json_has_the_standstill_and_the_waits_of_blocks_only_where_there_are_any() {
    let found = document(&[MIRAGE]);
    let row = |id: u32, kernel: &str, blocks: u32| {
        json!({"id": id, "kernel": kernel, "first_block": 0, "blocks": blocks, "from_ns": 5_000, "to_ns": null,
            "counter": "entered", "value": 208, "grid": null})
    };
    assert_eq!(found["block_waits"], json!([row(0, "scheduler", 80), row(1, "worker", 68)]));
    let standstill = &found["standstill"];
    assert_eq!((&standstill["at_ns"], &standstill["is_final"]), (&json!(5_000), &json!(true)));
    let waits: Vec<_> = standstill["waits"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|wait| (&wait["operation"], &wait["blocks"]))
        .collect();
    assert_eq!(
        waits,
        [(&json!("scheduler"), &json!(80)), (&json!("worker"), &json!(68)), (&json!("worker"), &json!(60))]
    );
    let ends = document(&["scenarios/hang/cooperative.json"]);
    assert!(ends.get("standstill").is_none() && ends.get("block_waits").is_none(), "all come to the barrier at once");
    let plain = document(&["scenarios/rtss2017/figure-3.json"]);
    assert!(plain.get("standstill").is_none() && plain.get("block_waits").is_none());
}

#[test]
fn perfetto_has_a_slice_within_each_block_that_waits() {
    let scenario = published::figure("hang/two-barriers");
    let run = simulate(&scenario).expect("it runs");
    let mut out = Vec::new();
    let one = PerfettoRun { summary: Summary::of(&run), label: "", known: PerfettoKnown::Everything };
    perfetto_trace(&[one], &mut out).expect("memory takes it");
    let shown = validate(&String::from_utf8(out).expect("JSON is UTF-8")).expect("it keeps to the format");
    let waits: Vec<_> = shown.slices.iter().filter(|slice| slice.category == "wait").collect();
    assert!(waits.iter().all(|slice| slice.name == "waits for its grid" && slice.end == 1_500_000));
    // 38 blocks of the first kernel wait from 0.6 ms on, 20 of the second from the end of the run on.
    let from = |ns: u64| waits.iter().filter(|slice| slice.start == ns).count();
    assert_eq!((from(600_000), from(1_500_000), waits.len()), (38, 20, 58));
}
