//! Records and waits of events (E1, E2), launch latencies (L1) and gaps between kernels (L2), by hand.

use gpusched::device::ChannelOrder;
use gpusched::hosts::simulate;
use gpusched::run::{Run, State, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Cause, Rule, reasons};
use gpusched::workload::OperationId;

/// Kernels A and B fill a quarter of the TX2 for 10 and 4 ms.
fn text(fields: &str) -> String {
    format!(
        r#"{{"format": "gpusched-scenario/1", "name": "events", {fields}, "kernels": {{
            "A": {{"blocks": 1, "threads": 1024, "duration": "10 ms"}},
            "B": {{"blocks": 1, "threads": 1024, "duration": "4 ms"}}}}}}"#
    )
}

fn read(fields: &str) -> Scenario {
    match Scenario::from_json("events.json", &text(fields), &ReadOptions::default()) {
        Ok(scenario) => scenario,
        Err(error) => panic!("{error}"),
    }
}

/// Streams S and T without priorities of their own, which the NULL stream does not hold, and one host.
fn host(steps: &str) -> Scenario {
    read(&format!(
        r#""streams": [{{"name": "S", "blocking": false}}, {{"name": "T", "blocking": false}}],
           "hosts": [{{"name": "H", "steps": [{steps}]}}]"#
    ))
}

fn ms(instant: Option<Instant>) -> Option<u64> {
    instant.map(|instant| instant.as_ns() / 1_000_000)
}

fn run(scenario: &Scenario) -> Run<'_> {
    simulate(scenario).expect("it runs")
}

/// Finish of each operation \[ms\].
fn finishes(scenario: &Scenario) -> Vec<u64> {
    run(scenario).trace.operations().iter().map(|record| ms(record.finish()).expect("it finished")).collect()
}

/// Rules that held an operation, from when to when \[ms\].
fn waits(run: &Run, operation: u32) -> Vec<(Rule, u64, u64)> {
    let waits = run.trace.waits(OperationId(operation));
    let in_ms = |instant: Instant| instant.as_ns() / 1_000_000;
    waits.iter().map(|wait| (wait.rule, in_ms(wait.from), in_ms(wait.to))).collect()
}

#[test]
fn what_is_behind_a_wait_starts_when_what_is_before_the_record_has_completed() {
    let scenario = host(
        r#"{"launch": "A", "stream": "S"}, {"record": "E", "stream": "S"}, {"launch": "B", "stream": "S"},
           {"wait": "E", "stream": "T"}, {"launch": "B", "stream": "T"}"#,
    );
    // The record does not wait for what comes after it.
    assert_eq!(finishes(&scenario), [10, 10, 14, 10, 14]);
    let run = run(&scenario);
    assert_eq!(waits(&run, 3), [(Rule::E2, 0, 10)]);
    assert_eq!(waits(&run, 4), [(Rule::G2, 0, 10)]);
    assert_eq!(run.trace.awaited_by(OperationId(3)), Some(OperationId(1)));

    let why = reasons(&run.trace, scenario.device());
    let cause = why.iter().find(|reason| reason.rule == Rule::E2).and_then(|reason| reason.cause.as_ref());
    let Some(Cause::Record { event, stream, .. }) = cause else { panic!("{cause:?}") };
    assert_eq!((&**event, &**stream), ("E", "S"));
    let waiting = State::at(&Summary::of(&run), Instant::from_ns(5_000_000)).waiting;
    let told: Vec<_> = waiting.iter().map(|one| (&*one.operation, one.rule, &*one.why)).collect();
    assert!(told.contains(&("wait 0 (E)", Rule::E2, "until event E is recorded in stream S, behind A")), "{told:?}");
}

#[test]
fn a_wait_is_for_the_last_record_submitted_before_it_and_for_no_later_one() {
    let scenario = host(
        r#"{"launch": "B", "stream": "S"}, {"record": "E", "stream": "S"},
           {"wait": "E", "stream": "T"}, {"launch": "B", "stream": "T"},
           {"launch": "A", "stream": "S"}, {"record": "E", "stream": "S"},
           {"wait": "E", "stream": "T"}, {"launch": "B", "stream": "T"}"#,
    );
    assert_eq!(finishes(&scenario), [4, 4, 4, 8, 14, 14, 14, 18]);
}

#[test]
fn a_wait_for_an_event_that_nothing_has_recorded_before_is_no_wait() {
    let scenario = host(
        r#"{"wait": "E", "stream": "T"}, {"launch": "B", "stream": "T"},
           {"launch": "A", "stream": "S"}, {"record": "E", "stream": "S"}"#,
    );
    assert_eq!(finishes(&scenario), [0, 4, 10, 10]);
    let run = run(&scenario);
    assert_eq!(run.trace.awaited_by(OperationId(0)), None);
    // That is rarely what was meant, and so it is said.
    let notes = Summary::of(&run).notes();
    assert!(notes.iter().any(|note| note.contains("1 wait for an event")), "{notes:?}");
}

#[test]
fn streams_that_wait_for_each_other_both_ends_never_stand_still() {
    // Each wait comes before the other stream's record, so the first one is none.
    let scenario = host(
        r#"{"wait": "F", "stream": "S"}, {"launch": "A", "stream": "S"}, {"record": "E", "stream": "S"},
           {"wait": "E", "stream": "T"}, {"launch": "B", "stream": "T"}, {"record": "F", "stream": "T"}"#,
    );
    assert_eq!(finishes(&scenario), [0, 10, 10, 10, 14, 14]);
}

#[test]
fn a_host_that_synchronizes_an_event_waits_for_its_record_only() {
    let scenario = host(
        r#"{"synchronize_event": "E"},
           {"launch": "B", "stream": "S"}, {"record": "E", "stream": "S"}, {"launch": "A", "stream": "S"},
           {"synchronize_event": "E"}, {"launch": "B", "stream": "T"}, {"synchronize_event": "E"}"#,
    );
    let run = run(&scenario);
    let launched: Vec<_> = run.trace.operations().iter().map(|record| ms(Some(record.launched()))).collect();
    assert_eq!(launched, [Some(0), Some(0), Some(0), Some(4)]);
    assert_eq!(ms(run.iterations[0].end()), Some(4));
}

#[test]
fn the_null_stream_waits_for_records_and_waits_as_for_everything_else() {
    let scenario = read(
        r#""streams": [{"name": "S", "blocking": false}, {"name": "T"}],
           "hosts": [{"name": "H", "steps": [
               {"launch": "A", "stream": "S"}, {"record": "E", "stream": "S"}, {"wait": "E", "stream": "T"},
               {"launch": "B", "stream": "NULL"}, {"wait": "E", "stream": "T"}, {"launch": "B", "stream": "T"}]}]"#,
    );
    // The wait in T holds the NULL stream by N1, and the NULL stream then holds the second wait by N2.
    assert_eq!(finishes(&scenario), [10, 10, 10, 14, 14, 18]);
    let run = run(&scenario);
    assert_eq!(waits(&run, 3), [(Rule::N1, 0, 10)]);
    assert_eq!(waits(&run, 4), [(Rule::G2, 0, 10), (Rule::N2, 10, 14)]);
}

#[test]
fn a_stream_that_waits_for_an_event_gives_its_channel_back() {
    let scenario = host(
        r#"{"launch": "B", "stream": "T"}, {"launch": "A", "stream": "S"}, {"record": "E", "stream": "S"},
           {"wait": "E", "stream": "T"}, {"launch": "B", "stream": "T"}"#,
    );
    let device = scenario.device().with(|spec| (spec.channels, spec.channel_order) = (Some(1), ChannelOrder::Fifo));
    let device = device.expect("it is a GPU");
    let scenario = Scenario { catalogue: scenario.catalogue.on(device).expect("it fits"), ..scenario };
    // T has a kernel left when S needs the only channel: it would keep it, and both would wait for ever.
    assert_eq!(finishes(&scenario), [4, 14, 14, 14, 18]);
    assert_eq!(waits(&run(&scenario), 1), [(Rule::Channel, 0, 4)]);
}

/// On a TX2 with a launch latency of 3 ms and a gap of 2 ms.
fn with_latencies(scenario: Scenario) -> Scenario {
    let ms = |number: u64| Duration::from_ns(number * 1_000_000);
    let device = scenario.device().with(|spec| (spec.launch_latency, spec.kernel_gap) = (ms(3), ms(2)));
    Scenario { catalogue: scenario.catalogue.on(device.expect("it is a GPU")).expect("it fits"), ..scenario }
}

#[test]
fn a_kernel_starts_a_launch_latency_after_its_launch_and_a_gap_after_the_kernel_before_it() {
    let scenario = with_latencies(host(
        r#"{"launch": "B", "stream": "S"}, {"launch": "B", "stream": "S"}, {"sleep": "8 ms"},
           {"launch": "B", "stream": "S"}, {"sleep": "12 ms"}, {"launch": "B", "stream": "S"}"#,
    ));
    let run = run(&scenario);
    let starts: Vec<_> = run.trace.operations().iter().map(|record| ms(record.first_start())).collect();
    // 0 + 3; 7 + 2; 13 + 2, since 8 + 3 is over by then; 20 + 3, since 19 + 2 is over by then.
    assert_eq!(starts, [Some(3), Some(9), Some(15), Some(23)]);
    assert_eq!(waits(&run, 0), [(Rule::L1, 0, 3)]);
    assert_eq!(waits(&run, 1), [(Rule::G2, 0, 7), (Rule::L2, 7, 9)]);
    assert_eq!(waits(&run, 2), [(Rule::G2, 8, 13), (Rule::L2, 13, 15)]);
    assert_eq!(waits(&run, 3), [(Rule::L1, 20, 23)]);
}

#[test]
fn a_gap_that_outlasts_the_launch_latency_is_named_after_it() {
    let scenario =
        with_latencies(host(r#"{"launch": "B", "stream": "S"}, {"synchronize": "S"}, {"launch": "B", "stream": "S"}"#));
    let ms = |number: u64| Duration::from_ns(number * 1_000_000);
    let device = scenario.device().with(|spec| spec.kernel_gap = ms(5)).expect("it is a GPU");
    let scenario = Scenario { catalogue: scenario.catalogue.on(device).expect("it fits"), ..scenario };
    assert_eq!(waits(&run(&scenario), 1), [(Rule::L1, 7, 10), (Rule::L2, 10, 12)]);
}

#[test]
fn copies_have_the_launch_latency_but_no_gap_and_what_needs_no_engine_has_neither() {
    let scenario = with_latencies(host(
        r#"{"record": "E", "stream": "T"}, {"launch": "B", "stream": "S"},
           {"copy": "host-to-device", "duration": "1 ms", "stream": "S"}, {"memset": 1, "stream": "S"},
           {"launch": "B", "stream": "S"}, {"copy": "host-to-device", "duration": "1 ms", "stream": "T"}"#,
    ));
    // The copy comes right behind its kernel; the next kernel 2 ms behind that kernel, 1 ms behind the copy.
    assert_eq!(finishes(&scenario), [0, 7, 8, 8, 13, 4]);
}

#[test]
fn a_run_that_ends_within_a_latency_says_so() {
    let scenario = with_latencies(host(r#"{"launch": "B", "stream": "S"}"#));
    let scenario = Scenario { horizon: Some(Duration::from_ns(2_000_000)), ..scenario };
    let run = run(&scenario);
    assert_eq!(waits(&run, 0), [(Rule::L1, 0, 2)]);
    let why = reasons(&run.trace, scenario.device());
    assert_eq!((why[0].rule, why[0].to, why[0].cause.as_ref()), (Rule::L1, None, Some(&Cause::Time)));
}

#[test]
fn an_event_that_nothing_records_is_said_to_be_one() {
    let scenario = host(r#"{"record": "E", "stream": "S"}, {"wait": "F", "stream": "T"}"#);
    assert!(scenario.notes.contains(&"nothing records the event \"F\", so nothing waits for it".to_owned()));
}

#[test]
fn events_are_written_in_the_native_format_and_read_again() {
    let text = std::fs::read_to_string(crate::published::root().join("events/double-buffering.json")).expect("there");
    let scenario = Scenario::from_json("in.json", &text, &ReadOptions::default()).expect("it is sound");
    let written = scenario.to_native_json().expect("it is native");
    let again = Scenario::from_json("out.json", &written, &ReadOptions::default()).expect("it is sound");
    assert_eq!(again.events().len(), 2);
    assert_eq!(again.threads, scenario.threads);
    let (one, other) = (run(&again), run(&scenario));
    assert_eq!((one.trace, one.ended, one.iterations), (other.trace, other.ended, other.iterations));
}
