//! Why two streams do not run side by side, by hand, and what must hold of it in every run.

use gpusched::hosts::simulate;
use gpusched::run::{Meanwhile, Overlap, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use gpusched::trace::Rule;
use proptest::prelude::*;
use serde_json::json;

use crate::campaign::config;
use crate::common::{self, directory, gpusched, stderr, stdout};
use crate::generate::{Case, Limits, scenario};

/// A fills the GPU for 2 ms, B waits for it and runs for 1 ms, and a host launches 1 ms into D after 2.5 ms.
const TEXT: &str = r#"{"format": "gpusched-scenario/1", "name": "overlap", "device": "tx2",
    "kernels": {"fills": {"blocks": 4, "threads": 1024, "duration": "2 ms"},
                "small": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
    "streams": [{"name": "A", "operations": [{"kernel": "fills"}]}, {"name": "B", "operations": [{"kernel": "small"}]},
                {"name": "D"}],
    "hosts": [{"name": "H", "steps": [{"sleep": "2500 us"}, {"launch": "small", "stream": "D"}]}]}"#;

const fn us(time: u64) -> Duration {
    Duration::from_ns(time * 1_000)
}

#[test]
fn while_one_stream_runs_another_waits_for_room_or_has_nothing_or_runs_too() {
    let scenario = Scenario::from_json("overlap.json", TEXT, &ReadOptions::default()).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let of = |names: &str| {
        let pairs = Overlap::of(&Summary::of(&run), names).expect("there are such streams").pairs;
        let [pair] = &pairs[..] else { panic!("one pair of {names}") };
        let parts: Vec<(&str, Meanwhile, Duration)> =
            pair.parts.iter().map(|part| (run.trace.stream_name(part.running), part.meanwhile, part.time)).collect();
        (pair.both, pair.alone, parts)
    };
    // H is the third thread.
    let (none, by_host) = (Meanwhile::HadNothing(None), Meanwhile::HadNothing(Some(2)));
    let of_a_and_b = vec![("A", Meanwhile::Waited(Rule::R2), us(2_000)), ("B", none, us(1_000))];
    assert_eq!(of("B,A"), (us(0), [us(2_000), us(1_000)], of_a_and_b));
    let of_b_and_d = vec![
        ("B", Meanwhile::Ran, us(500)),
        ("B", by_host, us(500)),
        ("D", Meanwhile::Ran, us(500)),
        ("D", none, us(500)),
    ];
    assert_eq!(of("B, D"), (us(500), [us(500), us(500)], of_b_and_d));
    let all = Overlap::of(&Summary::of(&run), "").expect("none is named");
    assert_eq!((all.pairs.len(), all.left_out), (3, 0));
    assert_eq!(Overlap::of(&Summary::of(&run), "A").expect("it is there").pairs.len(), 2);
}

#[test]
fn the_first_line_is_why_they_do_not_overlap_and_what_would_help() {
    let folder = directory("overlap");
    let written = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).expect("it can be written");
        file.to_string_lossy().into_owned()
    };
    let file = written("three.json", TEXT);
    let text = stdout(&gpusched(&["simulate", &file, "--overlap=A,B"]));
    assert_eq!(
        text.lines().next(),
        Some(
            "as simulated, A and B run side by side for 0 s, and could do so for 1 ms more. While A runs, B for 2 ms of \
             2 ms (100.0 %) waits, R2: no SM has enough free threads and a free block slot; what would help: leave it \
             room: --set-blocks or --sm-mask"
        )
    );
    let report = common::json(&["simulate", &file, "--overlap", "--format", "json"]);
    assert_eq!(
        report["overlap"][0],
        json!({"running": "A", "other": "B", "meanwhile": "waits", "rule": "R2", "host": null, "time_ns": 2_000_000})
    );
    let one = written(
        "one.json",
        &TEXT
            .replace(r#", {"name": "B", "operations": [{"kernel": "small"}]}"#, "")
            .replace(r#""stream": "D""#, r#""stream": "A""#),
    );
    let alone = stdout(&gpusched(&["simulate", &one, "--overlap"]));
    assert!(alone.starts_with("only one stream runs anything"), "{alone}");
    let unknown = gpusched(&["simulate", &file, "--overlap=A,E"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("--overlap: no stream is called \"E\""), "{}", stderr(&unknown));
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn what_others_did_adds_up_to_what_a_stream_ran(Case(scenario) in scenario(Limits::ALL)) {
        let run = simulate(&scenario)?;
        for pair in Overlap::of(&Summary::of(&run), "").expect("none is named").pairs {
            for (side, alone) in pair.alone.into_iter().enumerate() {
                let of_side = pair.parts.iter().filter(|part| part.running == pair.streams[side]);
                let all: u64 = of_side.map(|part| part.time.as_ns()).sum();
                prop_assert_eq!(all, (alone.saturating_add(pair.both)).as_ns());
                // The naive count: instants at which a kernel or copy of the stream runs.
                let ran = |at: u64| run.trace.numbered().any(|(_, record)| {
                    let starts = record.first_start().is_some_and(|start| start.as_ns() <= at);
                    let goes_on = record.finish().is_none_or(|finish| at < finish.as_ns());
                    record.stream == pair.streams[side] && !record.kind.is_instant() && starts && goes_on
                });
                prop_assert_eq!(all, (0..run.trace.end().as_ns()).filter(|&at| ran(at)).count() as u64);
            }
        }
    }
}
