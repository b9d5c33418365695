//! Blocks that never started: what `simulate` says of them, of published grids that hang because some of their blocks
//! have no room.

use std::fs;

use gpusched::hosts::{AnyLength, AnyRun, HeldAtMost, SimulateOptions, simulate, simulate_any_length};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Instant;
use gpusched::trace::OperationRecord;
use serde_json::{Value, json};

use crate::common::{directory, gpusched, stdout};

/// A kernel in a stream of its own: its name, its blocks, their threads and shared memory, and when it is released.
pub(crate) type Grid<'a> = (&'a str, u32, u32, u32, &'a str);

/// Grids without end for 1 s.
pub(crate) fn endless(device: &str, grids: &[Grid<'_>]) -> Value {
    let mut kernels = json!({});
    let stream = |&(name, blocks, threads, shared, release): &Grid<'_>| {
        kernels[name] =
            json!({"blocks": blocks, "threads": threads, "shared_memory_bytes": shared, "duration": "3600 s"});
        json!({"name": format!("of {name}"), "release": release, "operations": [{"kernel": name}]})
    };
    let streams: Vec<Value> = grids.iter().map(stream).collect();
    json!({"format": "gpusched-scenario/1", "name": "grids", "device": device, "horizon": "1 s", "kernels": kernels,
        "streams": streams})
}

/// Mirage's scheduler and its workers on a B200, in that order (mirage-project/mirage, issue 775).
pub(crate) fn mirage() -> Value {
    let file = crate::published::root().join("rules/persistent-grids.json");
    serde_json::from_str(&fs::read_to_string(file).expect("it is there")).expect("it is JSON")
}

/// Two grids with a barrier each as large as an L4, the second at a higher priority, behind a kernel of 20 blocks.
pub(crate) fn two_barriers() -> Value {
    let mut file = endless(
        "l4",
        &[("other", 20, 1024, 0, "0 s"), ("redA", 58, 1024, 0, "100 us"), ("redB", 58, 1024, 0, "200 us")],
    );
    file["kernels"]["other"]["duration"] = "1 ms".into();
    file["streams"][2]["priority"] = (-1).into();
    file
}

pub(crate) fn written(test: &str, file: &Value) -> String {
    let path = directory(test).join("grids.json");
    fs::write(&path, file.to_string()).expect("it can be written");
    path.display().to_string()
}

fn read(file: &Value) -> Scenario {
    Scenario::from_json("grids.json", &file.to_string(), &ReadOptions::default()).expect("it is sound")
}

fn last_note(scenario: &Scenario) -> String {
    Summary::of(&simulate(scenario).expect("it runs")).notes().pop().expect("it ends at the horizon")
}

#[test]
fn a_run_that_is_cut_says_how_many_blocks_never_started() {
    let cut = |unfinished: &str| format!("the run ends at the horizon, 1 s; {unfinished} operations had not finished");
    // 68 of the workers start, as published.
    let never = ", and 60 of 128 blocks of worker had never started";
    assert_eq!(last_note(&read(&mirage())), cut("2 of 2") + never);
    // 144 workers before 16 schedulers leave the schedulers four SMs, which hold 52.
    let first = endless("b200", &[("worker", 144, 256, 218_112, "0 s"), ("scheduler", 16, 32, 16_384, "0 s")]);
    assert_eq!(last_note(&read(&first)), cut("2 of 2"));
    // FlashMoE on an H20, whose 78 SMs hold one block each.
    let moe = endless("h20", &[("moe", 132, 128, 120_000, "0 s")]);
    assert_eq!(last_note(&read(&moe)), cut("1 of 1") + ", and 54 of 132 blocks of moe had never started");
    let never = ", and 38 of 58 blocks of redB and 20 of 58 blocks of redA had never started";
    assert_eq!(last_note(&read(&two_barriers())), cut("2 of 3") + never);
}

#[test]
fn three_kernels_are_named_those_with_most_blocks_left() {
    let grids: Vec<Grid<'_>> =
        [("A", 3), ("B", 9), ("C", 5), ("D", 7), ("E", 1)].map(|(name, blocks)| (name, blocks, 1024, 0, "1 ms")).into();
    let grids = [&[("first", 4, 1024, 0, "0 s")], &*grids].concat();
    let never = "and 9 of 9 blocks of B, 7 of 7 blocks of D, 5 of 5 blocks of C and 2 more kernels had never started";
    assert!(last_note(&read(&endless("tx2", &grids))).ends_with(never));
}

#[test]
fn a_long_run_without_its_record_says_the_same() {
    let mut file = endless("tx2", &[("short", 1, 32, 0, "0 s"), ("K", 1_000_000, 1024, 0, "0 s")]);
    (file["kernels"]["short"]["duration"], file["streams"][0]["period"]) = ("1 us".into(), "10 us".into());
    file["kernels"]["K"]["duration"] = "1 ms".into();
    let scenario = read(&file);
    let run = simulate_any_length(
        &scenario,
        SimulateOptions::of(&scenario),
        HeldAtMost { whole: 1 << 16, ..Default::default() },
    );
    let run = run.expect("it runs");
    assert!(matches!(run, AnyLength::Long(_)));
    let told = |notes: Vec<String>| notes.into_iter().find(|note| note.contains("never started")).expect("it is told");
    assert_eq!(told(AnyRun::from(&run).notes()), told(Summary::of(&simulate(&scenario).expect("it runs")).notes()));
}

#[test]
fn what_waits_with_blocks_that_never_started_has_waited_to_the_end() {
    let path = written("waits_to_the_end", &two_barriers());
    let table = stdout(&gpusched(&["simulate", &path]));
    let row = |name: &str| -> Vec<String> {
        let row = table.lines().find(|line| line.trim_start().starts_with(name)).expect("it has a row");
        row.split_whitespace().map(str::to_owned).collect()
    };
    // redA since its last block began, held by R2 until redB became ready and by A2 since then; redB from its release.
    assert!(row("redA").join(" ").contains("999.9 ms A2 (999.8 ms) 100 us - -"), "{table}");
    assert!(row("redB").join(" ").contains("999.8 ms R2 (999.8 ms) 1 ms - -"), "{table}");
    assert!(row("other").join(" ").contains("0 s - 0 s 1 ms 1 ms"), "{table}");
}

#[test]
fn a_grid_that_fills_the_gpu_again_and_again_is_counted_without_its_blocks() {
    // Four blocks of 1024 threads at once on a TX2, each for 1 ms.
    let mut file = endless("tx2", &[("K", 1_000_000, 1024, 0, "0 s")]);
    file["kernels"]["K"]["duration"] = "1 ms".into();
    let scenario = read(&file);
    let run = simulate(&scenario).expect("it runs");
    let (id, _) = run.trace.numbered().next().expect("one launch");
    for (us, begun) in [(0, 4), (999, 4), (1_000, 8), (1_500, 8), (999_999, 4_000), (1_000_000, 4_004)] {
        let at = Instant::from_ns(us * 1_000);
        assert_eq!(run.trace.begun_by(id, at), begun, "{us} us");
        assert_eq!(run.trace.blocks(id).filter(|block| block.start <= at).count(), begun as usize, "{us} us");
    }
    assert_eq!(run.trace.record(id).and_then(OperationRecord::last_start), None);
}
