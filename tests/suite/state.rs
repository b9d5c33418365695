//! State snapshots, against the thesis' Tables 2.2 to 2.4: what its Fig. 2.6 (Fig. 4 of RTSS 2017) shows of the
//! experiment of RTSS 2017, Fig. 3. The figure's clock is 0.4 s ahead of ours.
//!
//! Operations by number: 0 to 5 are S1's K1, K2, C2o, C3i, K3, C3o; 6 is K4, 7 K5, 8 C5o, 9 K6 and 10 C6o.

use gpusched::hosts::simulate;
use gpusched::report::{EeQueue, Served, State, Summary};
use gpusched::time::Instant;

use crate::published;

const C2O: &str = "copy 2 (device-to-host)";
const C5O: &str = "copy 8 (device-to-host)";

fn state(at_ms: u64) -> State {
    let scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&scenario, &run);
    State::at(&summary, Instant::from_ns(at_ms * 1_000_000))
}

/// Blocks per kernel on each SM.
fn residents(state: &State) -> Vec<Vec<(&str, u32)>> {
    let on = |sm: &gpusched::report::SmState| -> Vec<u32> { sm.resident.iter().map(|one| one.blocks).collect() };
    state.sms.iter().map(|sm| sm.resident.iter().map(|one| one.kernel.as_str()).zip(on(sm)).collect()).collect()
}

/// The rule that holds an operation, and what it waits for.
fn waits(state: &State, id: u32) -> (&'static str, &str) {
    let waiting = state.waiting.iter().find(|waiting| waiting.id == id).expect("it waits");
    (waiting.rule, waiting.why.as_str())
}

fn low_priority_queue(state: &State) -> &[String] {
    let EeQueue { priority, operations: queue, .. } = state.ee_queues.last().expect("there is a lowest priority");
    assert_eq!(*priority, 0);
    assert!(state.ee_queues.iter().rev().skip(1).all(|queue| queue.operations.is_empty()), "nothing has high priority");
    queue
}

#[test]
fn thesis_tables_2_2_to_2_4_column_a_k1_heads_the_queue_and_k4_and_k5_wait_behind_it() {
    let state = state(600);
    assert_eq!(low_priority_queue(&state), ["K1", "K4", "K5"]);
    assert_eq!(residents(&state), [[("K1", 2)], [("K1", 2)]]);
    assert!(state.sms.iter().all(|sm| sm.free_threads == 512), "room for two blocks of K4, which may not use it");
    assert_eq!(waits(&state, 0).0, "R2");
    assert_eq!(waits(&state, 6), ("X1", "in its EE queue, behind K1"));
    assert_eq!(waits(&state, 7), ("X1", "in its EE queue, behind K1"));
    // "No copy operations at the head of streams"; K6 has not been launched (G1).
    assert!(state.ce_queue.is_empty() && state.copy_engines == [Served::One(None)]);
    assert_eq!(waits(&state, 8), ("C1", "in its stream, behind K5"));
    assert!(state.waiting.iter().all(|waiting| waiting.id < 9));
}

#[test]
fn thesis_tables_2_2_to_2_4_column_b_k5_waits_for_the_shared_memory_that_k4_holds() {
    let state = state(1_700);
    assert_eq!(low_priority_queue(&state), ["K5"]);
    assert_eq!(residents(&state), [[("K1", 1), ("K4", 2)], [("K1", 1), ("K4", 2)]]);
    assert!(state.sms.iter().all(|sm| sm.free_shared_memory == 0 && sm.free_threads == 768));
    let (rule, why) = waits(&state, 7);
    assert_eq!(rule, "R3");
    assert!(why.contains("lacks 32768 bytes of shared memory"), "{why}");
    // K1 and K4 are fully dispatched, so they wait no more.
    assert!(state.waiting.iter().all(|waiting| ![0, 6].contains(&waiting.id)));
    assert_eq!(waits(&state, 1), ("G2", "in its stream, behind K1"));
}

#[test]
fn thesis_tables_2_2_to_2_4_column_c_k5_and_k2_run_and_the_ee_queue_is_empty() {
    let state = state(2_600);
    assert!(low_priority_queue(&state).is_empty());
    assert_eq!(residents(&state), [[("K2", 1), ("K5", 1)], [("K2", 1), ("K5", 1)]]);
    // "No copy operations at the head of the streams": K2 and K5 are still there (G4).
    assert!(state.ce_queue.is_empty() && state.copy_engines == [Served::One(None)]);
    assert_eq!(waits(&state, 2), ("C1", "in its stream, behind K2"));
    assert_eq!(waits(&state, 8), ("C1", "in its stream, behind K5"));
}

#[test]
fn thesis_tables_2_2_to_2_4_column_d_the_copy_of_k5_is_on_the_engine_and_that_of_k2_queued() {
    let state = state(3_000);
    assert_eq!(residents(&state), [[("K6", 1)], [("K6", 1)]]);
    assert!(low_priority_queue(&state).is_empty());
    assert_eq!(state.copy_engines, [Served::One(Some(C5O.to_owned()))]);
    assert_eq!(state.ce_queue, [C2O]);
    assert_eq!(waits(&state, 2).0, "C2");
    assert!(waits(&state, 2).1.ends_with(C5O), "{}", waits(&state, 2).1);
    assert_eq!(waits(&state, 4), ("G2", "in its stream, behind copy 2 (device-to-host)"));
    assert_eq!(waits(&state, 10), ("C1", "in its stream, behind K6"));
}

#[test]
fn the_rule_log_tells_rtss_2017_figure_3_at_two_and_three_seconds_in_order() {
    let scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&scenario, &run);
    let at = |seconds: u64| {
        let firings = gpusched::report::rule_log(&summary).into_iter();
        let then = firings.filter(move |firing| firing.at_ns.as_ns() == seconds * 1_000_000_000);
        then.map(|firing| format!("{} {}", firing.rule, firing.operation)).collect::<Vec<_>>()
    };
    // K5 has waited for shared memory and goes first, K2 behind it; K5, assigned first, completes first.
    assert_eq!(at(2), ["G4 K1", "G4 K4", "G2 K2", "R3 K5", "X1 K5", "G3 K5", "X1 K2", "G3 K2"]);
    let copies = ["C1 copy 8 (device-to-host)", "C1 copy 2 (device-to-host)", "C2 copy 8 (device-to-host)"];
    assert_eq!(at(3), [&["G4 K5", "G4 K2"], &copies[..]].concat());
}
