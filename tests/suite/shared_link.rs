//! Copies that share the link of a copy engine (`copies: shared-link`).

use gpusched::analysis::{BoundOptions, finish_bounds, sporadic_bounds};
use gpusched::audit::{AuditRule, ObservedRun, ObservedWork, Tolerances, audit};
use gpusched::device::{CopyDirection, CopySharing, Device};
use gpusched::effort::Progress;
use gpusched::formats::{TableStyle, text_of};
use gpusched::hosts::simulate;
use gpusched::run::{Run, State, Summary};
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::tables::SimulationReport;
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Rule, blame};
use gpusched::workload::{Copy, OperationId, StreamSpec};
use proptest::prelude::*;

use crate::campaign::config;
use crate::generate::builtin;

const TO_DEVICE: CopyDirection = CopyDirection::HostToDevice;
const TO_HOST: CopyDirection = CopyDirection::DeviceToHost;

/// Two engines.
fn device(sharing: CopySharing) -> Device {
    let changed = builtin("tx2").with(|spec| (spec.copy.engines, spec.copy.sharing) = (2, sharing));
    changed.expect("it is a GPU")
}

/// Copies in streams of their own: when each is submitted, and how long it takes alone \[ns\].
fn scenario(sharing: CopySharing, copies: &[(u64, u64, CopyDirection)]) -> Scenario {
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("copies".to_owned(), device(sharing), &options);
    for (number, &(at, takes, direction)) in copies.iter().enumerate() {
        let stream = builder.add_stream(StreamSpec::new(format!("stream {number}"))).expect("it exists");
        let copy = Copy { direction, bytes: None, duration: Some(Duration::from_ns(takes)) };
        let copy = builder.add_copy(copy).expect("it is short");
        let steps = vec![Step::Copy(copy, stream)];
        let once = HostThread::once(format!("host {number}"), Duration::from_ns(at), steps);
        builder.add_thread(HostThread { period: Some(Duration::from_ns(1_000)), ..once });
    }
    builder.build()
}

fn run(copies: &[(u64, u64, CopyDirection)]) -> Run<'static> {
    simulate(&scenario(CopySharing::SharedLink, copies)).expect("it runs").into_owned()
}

/// Start and end of each, in the order in which they were submitted.
fn times(run: &Run) -> Vec<(u64, u64)> {
    let ns = |at: Option<Instant>| at.expect("it ends").as_ns();
    run.trace.operations().iter().map(|copy| (ns(copy.first_start()), ns(copy.finish()))).collect()
}

fn findings(run: &Run) -> Vec<AuditRule> {
    let observation = ObservedRun::of_run(run).expect("short");
    audit(&observation, &Tolerances::EXACT, Progress::NONE).findings.into_iter().map(|finding| finding.rule).collect()
}

/// Measured on a GTX 950: 1.92 GiB/s each instead of 5.79 GiB/s.
#[test]
fn three_equal_copies_at_once_take_three_times_as_long_each() {
    let copies = [(0, 100, TO_DEVICE); 3];
    assert_eq!(times(&run(&copies)), [(0, 300); 3]);
    let one_by_one = simulate(&scenario(CopySharing::OneAtATime, &copies)).expect("it runs").into_owned();
    assert_eq!(times(&one_by_one), [(0, 100), (100, 200), (200, 300)]);
}

/// By hand. Alone for 4 ns, the first has 6 left; both then have half: it ends after 12, and the second, which has had
/// 6, takes 4 more alone.
#[test]
fn a_copy_that_begins_slows_the_one_that_runs_and_one_that_ends_lets_go_of_its_share() {
    assert_eq!(times(&run(&[(0, 10, TO_DEVICE), (4, 10, TO_DEVICE)])), [(0, 16), (4, 20)]);
}

/// By hand. At 1 ns the first two have had a half each. Then there are three: the first lacks 1/2 and is done at 2.5
/// ns, so at 3 ns, when all have had 2/3 more. The one that came at 1 ns lacks 1/3 then, of two: 3.67 ns, so 4. The
/// last lacks 1/3: 4.33 ns.
#[test]
fn a_copy_ends_at_the_first_whole_nanosecond_at_which_it_is_done() {
    let copies = [(0, 1, TO_DEVICE), (0, 2, TO_DEVICE), (1, 1, TO_DEVICE)];
    assert_eq!(times(&run(&copies)), [(0, 3), (0, 5), (1, 4)]);
}

#[test]
fn the_two_directions_have_links_of_their_own_where_there_are_two_engines() {
    let copies = [(0, 10, TO_DEVICE), (0, 10, TO_HOST), (5, 10, TO_HOST)];
    assert_eq!(times(&run(&copies)), [(0, 10), (0, 15), (5, 20)]);
}

#[test]
fn copies_that_share_do_not_wait_and_nobody_is_blamed() {
    let scenario = scenario(CopySharing::SharedLink, &[(0, 100, TO_DEVICE); 3]);
    let run = simulate(&scenario).expect("it runs");
    for id in (0..3).map(OperationId) {
        assert!(run.trace.waits(id).is_empty());
    }
    assert!(blame(&run.trace, scenario.device()).iter().all(|part| part.rule != Rule::C2));
}

#[test]
fn the_state_lists_all_copies_on_a_link() {
    let scenario = scenario(CopySharing::SharedLink, &[(0, 10, TO_DEVICE), (4, 10, TO_DEVICE)]);
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let state = |at| State::at(&summary, Instant::from_ns(at));
    let (first, second) = ("copy 0 (host-to-device)", "copy 1 (host-to-device)");
    let both = serde_json::to_value(state(4)).expect("it is JSON");
    assert_eq!(both["copy_engines"], serde_json::json!([[first, second], []]));
    assert!(state(15).text().contains(&format!("copy engine 0: {first}, {second}\n")));
    assert!(state(16).text().contains(&format!("copy engine 0: {second}\n")));
    assert!(state(20).text().contains("copy engine 0: idle\n"));
    assert!(text_of(&SimulationReport::of(summary), TableStyle::Plain).contains("copy 1"));
}

#[test]
fn bounds_know_that_copies_share_a_link() {
    let shared = scenario(CopySharing::SharedLink, &[(0, 10, TO_DEVICE), (4, 10, TO_DEVICE)]);
    let bounds = finish_bounds(&shared, BoundOptions::default()).expect("it is sound");
    // 10 ns each, and 2 ns that rounding may lose of each.
    assert_eq!((bounds.refusal, bounds.responses), (None, vec![Some(Duration::from_ns(24)); 2]));
    assert!(bounds.operations.is_empty() && bounds.notes.iter().any(|note| note.contains("share their link")));
    assert_eq!(sporadic_bounds(&shared, &[]).expect("it is sound"), Ok(vec![Duration::from_ns(24); 2]));
    let one = scenario(CopySharing::OneAtATime, &[(0, 10, TO_DEVICE), (4, 10, TO_DEVICE)]);
    assert_eq!(finish_bounds(&one, BoundOptions::default()).expect("it is sound").refusal, None);
}

#[test]
fn the_device_file_says_it_and_says_what_it_may_say() {
    let shared = device(CopySharing::SharedLink);
    let text = shared.to_json();
    assert_eq!(Device::from_json("mine.json", &text).expect("it is sound"), shared);
    assert!(!device(CopySharing::OneAtATime).to_json().contains("\"copies\""), "the default is not written");
    let error =
        Device::from_json("mine.json", &text.replace("shared-link", "both")).expect_err("there is no such thing");
    let error = error.to_string();
    assert!(error.contains("copies") && error.contains("\"one-at-a-time\" or \"shared-link\""), "{error}");
    assert_eq!(builtin("gtx950").copy.sharing, CopySharing::SharedLink);
}

fn copies(most: usize) -> impl Strategy<Value = Vec<(u64, u64, CopyDirection)>> {
    let direction = prop_oneof![3 => Just(TO_DEVICE), 1 => Just(TO_HOST)];
    prop::collection::vec((0_u64..60, 0_u64..40, direction), 1..most)
}

proptest! {
    #![proptest_config(config(64))]

    /// Also with more copies at once than have exact shares.
    #[test]
    fn the_link_does_all_the_work_and_loses_less_than_two_nanoseconds_for_each_copy(copies in copies(70)) {
        let run = run(&copies);
        let (times, mut by_submission) = (times(&run), copies.clone());
        by_submission.sort_by_key(|copy| copy.0);
        for direction in [TO_DEVICE, TO_HOST] {
            let mine = || times.iter().zip(&by_submission).filter(|(_, copy)| copy.2 == direction);
            let work: u64 = mine().map(|(_, copy)| copy.1).sum();
            let busy = (0..10_000).filter(|at| mine().any(|(time, _)| time.0 <= *at && *at < time.1)).count() as u64;
            let most = work + 2 * mine().count() as u64;
            prop_assert!(work <= busy && busy <= most, "{} of work in {} ns", work, busy);
            for (time, copy) in mine() {
                prop_assert_eq!(time.0, copy.0, "it begins at once");
                prop_assert!(time.1 - time.0 >= copy.1, "none is faster than alone");
            }
        }
    }

    #[test]
    fn an_audit_is_clean_and_finds_an_end_that_is_one_nanosecond_off(copies in copies(50), chosen in any::<prop::sample::Index>()) {
        let scenario = scenario(CopySharing::SharedLink, &copies);
        let run = simulate(&scenario).expect("it runs");
        prop_assert!(findings(&run).is_empty());
        let observation = ObservedRun::of_run(&run).expect("short");
        for by in [-1, 1] {
            let mut tampered = observation.clone();
            let operation = chosen.index(tampered.operations.len());
            let ObservedWork::Copy(copy) = &mut tampered.operations[operation].work else { panic!("all are copies") };
            let [start, end] = copy.times_ns.as_mut().expect("it ran");
            *end = end.saturating_add(by);
            let is_sane = end > start;
            let found = audit(&tampered, &Tolerances::EXACT, Progress::NONE).findings;
            prop_assert!(!found.is_empty() || !is_sane, "{by} ns unseen");
        }
    }

    #[test]
    fn the_same_copies_give_the_same_run(copies in copies(50)) {
        prop_assert_eq!(run(&copies).trace, run(&copies).trace);
    }

    #[test]
    fn copies_that_do_not_overlap_are_as_one_at_a_time(gaps in prop::collection::vec((1_u64..40, 0_u64..10), 1..20)) {
        let mut at = 0;
        let mut copies = Vec::new();
        for (takes, gap) in gaps {
            at += gap;
            copies.push((at, takes, TO_DEVICE));
            at += takes;
        }
        let one_by_one = simulate(&scenario(CopySharing::OneAtATime, &copies)).expect("it runs").into_owned();
        prop_assert_eq!(run(&copies).trace, one_by_one.trace);
    }
}
