//! What shows that printed bounds are exceeded, step by step (`docs/errata.md`, ECRTS 2024).

use std::fs;

use gpusched::figures::catalogue;
use gpusched::tasks::segments::{GpuWait, SegmentTaskSet, SegmentTest};
use gpusched::time::Duration;

use super::plain::{Run, Sharing, longest_responses};

/// One job of each task, released at these instants, each part taking its longest.
struct Once<'r>(&'r [u64]);

impl Run for Once<'_> {
    fn release(&mut self, task: usize, job: usize) -> Option<u64> {
        (job == 0).then(|| self.0[task])
    }

    fn length(&mut self, longest: u64, _least: u64) -> u64 {
        longest
    }
}

pub(crate) fn witness(file: &str) -> SegmentTaskSet {
    let path = format!("{}/witnesses/ecrts2024/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect("the witness is committed");
    SegmentTaskSet::from_json(&path, &text).expect("it is sound")
}

/// By hand: on core 0 the most urgent task comes twice while the other one has its 20 ms, `C_B` + 2 `C_A` <= 20 ms,
/// so A may take 8 ms and B 16 ms; the third has a core and the GPU to itself, and all 20 ms.
#[test]
fn slack_is_what_a_hand_finds() {
    let file = r#"{"format": "gpusched-segments/1", "cpus": 2, "gpu": {"time_slice": "1 ms"}, "tasks": [
        {"name": "A", "cpu": 0, "T": "10 ms", "priority": 1, "segments": [{"cpu": "2 ms"}]},
        {"name": "B", "cpu": 0, "T": "20 ms", "priority": 2, "segments": [{"cpu": "4 ms"}]},
        {"name": "C", "cpu": 1, "T": "20 ms", "priority": 3, "segments": [{"cpu": "1 ms"}, {"misc": "1 ms", "gpu": "3 ms"}]},
        {"name": "rest", "cpu": 1, "T": "20 ms", "best_effort": true, "segments": [{"cpu": "1 ms"}]}]}"#;
    let ms = |time: u64| Some(Duration::from_ns(time * 1_000_000));
    let slack = |file: &str| {
        let set = SegmentTaskSet::from_json("slack.json", file).expect("it is a set");
        SegmentTest::Gcaps(GpuWait::Suspend).slack(&set)
    };
    assert_eq!(slack(file), [ms(6), ms(12), ms(15), None]);
    // What is not proven has none.
    let late = file.replace(r#""cpu": "4 ms""#, r#""cpu": "17 ms""#);
    assert_eq!(slack(&late), [None; 4]);
}

#[test]
fn ecrts_2024_witnesses_exceed_what_is_printed_and_not_what_is_proven() {
    use Sharing::{Gcaps, RoundRobin};
    // File, sharing, releases, task, its response, as printed, proven.
    for (file, sharing, releases, task, response, printed, proven) in [
        ("eq-3-own-switch", RoundRobin, &[0, 0][..], 0, 12, 11, 12),
        ("lemma-13-holder-on-its-cpu", Gcaps, &[0, 0], 1, 7, 2, 7),
        ("lemma-13-holder-preempted", Gcaps, &[1, 0, 0], 2, 14, 2, 14),
        ("lemma-8-two-calls-a-segment", Gcaps, &[1, 0, 6, 16, 26], 0, 39, 38, 43),
    ] {
        let set = witness(file);
        for waiting in [GpuWait::Suspend, GpuWait::Busy] {
            let (as_printed, sound) = match sharing {
                RoundRobin => (SegmentTest::RoundRobinAsPrinted(waiting), SegmentTest::RoundRobin(waiting)),
                _ => (SegmentTest::GcapsAsPrinted(waiting), SegmentTest::Gcaps(waiting)),
            };
            let bound = |test: SegmentTest| test.bounds(&set)[task].bound().map(Duration::as_ns);
            let longest = longest_responses(&set, sharing, waiting, &mut Once(releases), 50);
            assert_eq!(longest[task], response, "{file}, {waiting:?}");
            assert_eq!((bound(as_printed), bound(sound)), (Some(printed), Some(proven)), "{file}, {waiting:?}");
        }
    }
}

#[test]
fn lock_witnesses_exceed_what_is_published_and_not_what_is_proven() {
    use GpuWait::{Busy, Suspend};
    use SegmentTest::{FmlpPlus, FmlpPlusAsPublished, Mpcp, MpcpAsPublished};
    // File, published, proven, releases, task, its response, as published, proven.
    for (file, published, sound, releases, task, response, expected) in [
        ("fmlp-plus-holder-of-the-same-core", FmlpPlusAsPublished(Suspend), FmlpPlus(Suspend), [0, 1], 1, 10, (1, 11)),
        ("fmlp-plus-suspended-holder", FmlpPlusAsPublished(Suspend), FmlpPlus(Suspend), [1, 0], 0, 21, (12, 22)),
        ("mpcp-busy-raised-holder", MpcpAsPublished(Busy), Mpcp(Busy), [1, 0], 0, 10, (1, 11)),
    ] {
        let set = witness(file);
        let (sharing, waiting) = super::soundness::sharing_of(published);
        let longest = longest_responses(&set, sharing, waiting, &mut Once(&releases), 50);
        let bound = |test: SegmentTest| test.bounds(&set)[task].bound().map(Duration::as_ns);
        assert_eq!(longest[task], response, "{file}");
        assert_eq!((bound(published), bound(sound)), (Some(expected.0), Some(expected.1)), "{file}");
    }
}

#[test]
fn ecrts_2024_table_5_comes_out_to_the_digit_with_lengths_that_are_not_those_of_table_4() {
    let figure = catalogue().into_iter().find(|figure| figure.name == "ecrts2024-tables-4-5").expect("it is there");
    let values = figure.printed().expect("it can be computed");
    let (bounds, lengths): (Vec<_>, Vec<_>) = values.iter().partition(|value| value.place.contains("Table 5"));
    assert_eq!((bounds.len(), lengths.len()), (20, 18));
    assert!(bounds.iter().all(|value| value.agrees()), "{bounds:?}");
    let other: Vec<_> = lengths.iter().filter(|value| !value.agrees()).collect();
    let named: Vec<String> = other
        .iter()
        .map(|value| format!("{} of {}", value.what, value.place.rsplit(' ').next().expect("a word")))
        .collect();
    // Erratum 5: of tasks 1 and 2 the printed G is G^e, and 60 - 11 is no multiple of 4.8.
    assert_eq!(named, ["G of 1", "G of 2", "C of 3"]);
}
