//! Several scenarios as programs that share one GPU: beside the same written by hand, and what must hold of all.

use gpusched::device::Device;
use gpusched::hosts::simulate;
use gpusched::run::Run;
use gpusched::scenario::{JoinError, JoinedScenario, ReadOptions, Scenario, Together};
use gpusched::time::Instant;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agreement;
use crate::campaign::config;
use crate::common::{self, directory, gpusched, stderr, stdout};
use crate::generate::{Case, Limits, scenario};

const BOTH: &str = include_str!("../../scenarios/processes/perception-and-control.json");

/// One of the two programs of [`BOTH`], as the scenario of a single program.
fn part(name: &str, kernel: &str, stream: usize) -> Value {
    let both: Value = serde_json::from_str(BOTH).expect("it is JSON");
    let mut own = both["streams"][stream].clone();
    own.as_object_mut().expect("it is an object").remove("process");
    let kernels = json!({kernel: both["kernels"][kernel]});
    json!({"format": both["format"], "name": name, "device": "orin", "horizon": both["horizon"], "kernels": kernels,
        "streams": [own]})
}

fn parts() -> [Value; 2] {
    [part("perception", "detect", 0), part("control", "steer", 1)]
}

fn read(text: &str, options: &ReadOptions) -> Scenario {
    Scenario::from_json("part.json", text, options).expect("it is sound")
}

fn joined(parts: &[Value], how: &str) -> Result<JoinedScenario, JoinError> {
    let options = ReadOptions::default();
    let scenarios: Vec<Scenario> = parts.iter().map(|part| read(&part.to_string(), &options)).collect();
    JoinedScenario::new(&scenarios, &Together::parse(how).expect("it is a way"), &options)
}

/// When what ran began and ended.
fn times(run: &Run<'_>) -> Vec<(u32, Option<Instant>, Option<Instant>)> {
    let of_records = run.trace.operations().iter();
    of_records.map(|record| (record.origin.iteration, record.first_start(), record.finish())).collect()
}

#[test]
fn joined_programs_run_as_in_the_scenario_that_was_written_by_hand() {
    let mps = ReadOptions { mps: true, ..ReadOptions::default() };
    let threads = ReadOptions { as_threads: true, ..ReadOptions::default() };
    for (how, options) in [("processes", &ReadOptions::default()), ("mps=50,100", &mps), ("threads", &threads)] {
        let by_hand = read(BOTH, options);
        let joined = joined(&parts(), how).expect("they go together").scenario;
        let (by_hand, joined) = (simulate(&by_hand).expect("it runs"), simulate(&joined).expect("it runs"));
        assert_eq!(times(&joined), times(&by_hand), "{how}");
    }
}

/// By hand, as in docs/processes.md: the camera fills the GPU for 6 ms, or half of it for 12.
#[test]
fn the_table_sets_what_each_takes_alone_beside_what_it_takes_together() {
    let folder = directory("together-ways");
    let files = parts().map(|part| {
        let file = folder.join(format!("{}.json", part["name"].as_str().expect("it has a name")));
        std::fs::write(&file, part.to_string()).expect("it can be written");
        file.to_string_lossy().into_owned()
    });
    let report = common::json(&["simulate", &files[0], &files[1], "--as", "mps=50,100", "--format", "json"]);
    let row = |program: &str, job: &str, alone: u64, together: u64, factor: f64| {
        json!({"as": "mps=50,100", "program": program, "longest_response_of": format!("{program}: {job}"),
            "alone_ns": alone, "together_ns": together, "factor": factor})
    };
    let (camera, steering) = ("camera", "steering");
    assert_eq!(
        report["together"],
        json!([
            row("perception", camera, 6_000_000, 12_000_000, 2.0),
            row("control", steering, 1_500_000, 1_500_000, 1.0)
        ])
    );
    let text = stdout(&gpusched(&["simulate", &files[0], &files[1], "--as", "processes"]));
    let first = "processes delays least: control: steering takes x2.23 of what it takes alone, the others no more";
    assert_eq!(text.lines().next(), Some(first), "{text}");

    let all = common::json(&["simulate", &files[0], &files[1], "--as", "all", "--format", "json"]);
    let ways: Vec<&Value> = all["together"].as_array().expect("rows").iter().map(|row| &row["as"]).collect();
    let in_pairs: Vec<&Value> = ways.iter().step_by(2).copied().collect();
    assert_eq!(in_pairs, ["processes", "mps", "mps=50,50", "green=8,8", "threads"]);

    // Names of a program go before those of what is its own, so that one of them can be changed.
    let changed = ["simulate", &files[0], &files[1], "--as", "mps", "--set-block-time", "perception: *=50%"];
    let changed = stdout(&gpusched(&changed));
    let idle = gpusched(&["simulate", &files[0], &files[1], "--as", "mps", "--seed", "4", "--time-slice", "1ms"]);
    let told = stderr(&idle);
    assert!(told.contains("perception, control: --seed has no effect"), "{told}");
    assert!(told.contains("--time-slice has no effect: clients of MPS share one context"), "{told}");
    assert!(changed.contains("perception: camera") && changed.contains(" 3 ms "), "{changed}");
    for (arguments, error) in [
        (vec![&*files[0], "--as", "mps"], "--as: programs share a GPU, and this is one"),
        (vec![&*files[0], &files[1], "--as", "mps=50"], "mps=50: there are 2 programs, and it states a number for 1"),
        (vec![&*files[0], &files[1], "--as", "mig"], "expected processes, mps, mps=50,50"),
        (vec![&*files[0], &files[1], "--as", "all", "--blame"], "--blame is about one run"),
        (vec![&*files[0], &files[1], "--as", "mps", "--logs", "logs"], "--logs has no effect with --as\n"),
        (vec![&*files[0], &files[1], "--as", "processes", "--mps"], "--mps has no effect with --as\n"),
    ] {
        let output = gpusched(&[&["simulate"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(error), "{}", stderr(&output));
    }
}

#[test]
fn what_does_not_go_together_is_refused_and_what_differs_is_told() {
    let [perception, control] = parts();
    let elsewhere = {
        let mut elsewhere = control.clone();
        elsewhere["device"] = json!("xavier");
        elsewhere
    };
    let error = joined(&[perception.clone(), elsewhere], "mps").expect_err("they are for two GPUs");
    assert_eq!(
        error.to_string(),
        "\"perception\" and \"control\" differ in their GPU, and run on one GPU together; they are for orin and xavier"
    );
    let both: Value = serde_json::from_str(BOTH).expect("it is JSON");
    let error = joined(&[both, control.clone()], "mps").expect_err("it has processes");
    assert!(error.to_string().contains("says itself how the GPU is shared (\"processes\")"), "{error}");

    let slower = {
        let mut slower = control.clone();
        let mut device: Value =
            serde_json::from_str(&Device::builtin("orin").expect("it is sound").expect("it is there").to_json())
                .expect("it is JSON");
        device["kernel_gap_ns"] = json!(2_000);
        (slower["device"], slower["name"]) = (device, json!("perception"));
        slower.as_object_mut().expect("it is an object").remove("horizon");
        slower
    };
    let joined = joined(&[perception, slower], "processes").expect("they go together");
    assert_eq!(joined.programs[1].name, "perception 2");
    let note = "kernel gap 0 s, as perception has it: perception 2 has 2 us";
    assert!(joined.scenario.notes.iter().any(|told| told == note), "{:?}", joined.scenario.notes);
    let ends = "ends the run of all: perception has 40 ms, perception 2 has none";
    assert!(joined.scenario.notes.iter().any(|told| told.ends_with(ends)), "{:?}", joined.scenario.notes);
}

/// CUDA Driver API (NVIDIA), on `cuCtxSynchronize`: where a green context is current, it waits for that one.
#[test]
fn a_program_in_a_green_context_waits_for_its_own_streams_and_a_thread_for_all() {
    let program = |name: &str, time: &str| {
        json!({"format": "gpusched-scenario/1", "name": name, "device": "orin",
            "kernels": {"K": {"blocks": 4, "threads": 256, "duration": time}},
            "streams": [{"name": "s"}],
            "hosts": [{"name": "h", "iterations": 1, "steps": [
                {"repeat": 2, "steps": [{"launch": "K", "stream": "s"}, {"synchronize": "device"}]}]}]})
    };
    let programs = [program("long", "5 ms"), program("short", "1 ms")];
    let done = |how: &str| {
        let joined = joined(&programs, how).expect("they go together");
        let run = simulate(&joined.scenario).expect("it runs");
        run.iterations.iter().map(|span| span.end().map(Instant::as_ns)).collect::<Vec<_>>()
    };
    assert_eq!(done("green=8,8"), [Some(10_000_000), Some(2_000_000)]);
    // The second kernels of both are launched when the first are done.
    assert_eq!(done("threads"), [Some(10_000_000), Some(10_000_000)]);
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn a_program_whose_others_never_begin_runs_as_by_itself(Case(scenario) in scenario(Limits::ALL)) {
        let options = ReadOptions::default();
        let Ok(joined) = JoinedScenario::new(&[scenario.clone(), scenario.clone()], &Together::Mps(Vec::new()), &options) else {
            // What says itself how the GPU is shared.
            return Ok(());
        };
        let own = simulate(&scenario)?;
        for program in 0..2 {
            let alone = joined.alone(program);
            let run = simulate(&alone)?;
            prop_assert_eq!(times(&run), times(&own));
        }
        for how in [Together::Processes, Together::Threads] {
            if let Ok(joined) = JoinedScenario::new(&[scenario.clone(), scenario.clone()], &how, &options) {
                agreement::agreed(&joined.scenario)?;
            }
        }
    }
}
