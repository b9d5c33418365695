//! The logs that a simulation writes, read again.

pub(crate) mod made;

use gpusched::audit::{Audit, ObservedRun, Tolerances, audit};
use gpusched::device::ChannelOrder;
use gpusched::effort::Progress;
use gpusched::logs::Pairing;
use gpusched::scenario::ReadOptions;
use gpusched::time::Duration;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::campaign::config;
use crate::generate::builtin;
use made::{OwnLogs, benchmark, logs_until, own_logs};

/// The first example: B's second launch is at the instant of A's only one.
fn at_one_instant() -> OwnLogs {
    let spin = |keys: Value| {
        let mut all = Map::from_iter([
            ("block_count".to_owned(), json!(4)),
            ("thread_count".to_owned(), json!(1024)),
            ("additional_info".to_owned(), json!(1_000_000_000)),
        ]);
        all.extend(keys.as_object().expect("keys").clone());
        Value::Object(all)
    };
    let a = benchmark("timer_spin", "A", spin(json!({"release_time": 1, "max_iterations": 1})));
    let b = benchmark("timer_spin", "B", spin(json!({"max_iterations": 2})));
    OwnLogs::of(&[a, b], json!({})).expect("there are kernels")
}

#[test]
fn a_replay_keeps_the_order_of_declaration_where_launches_returned_at_one_instant() {
    let replay = at_one_instant().replay();
    assert_eq!((replay.max_start_error_ns, replay.sm_equal), (0, replay.sm_decidable));
}

#[test]
fn a_replay_launches_in_the_order_in_which_the_calls_returned_instant_by_instant() {
    const EARLIER_NS: i64 = 25_000;
    let mut own = at_one_instant();
    let launch = &mut own.run.logs[0].kernels[0];
    for time in [&mut launch.launch_start_ns, &mut launch.launch_return_ns] {
        *time = time.saturating_sub(EARLIER_NS);
    }
    assert_eq!(own.replay().max_start_error_ns, 0);
    // The other way round B's second kernel comes first.
    let launch = &mut own.run.logs[0].kernels[0];
    launch.launch_return_ns = launch.launch_return_ns.saturating_add(2 * EARLIER_NS);
    let replay = own.replay();
    let starts: Vec<_> = replay.kernels.iter().map(|kernel| (&*kernel.label, kernel.simulated_start_ns)).collect();
    assert_eq!(starts, [("B", Some(0)), ("B", Some(1_000_000_000)), ("A", Some(2_000_000_000))]);
}

#[test]
fn an_audit_knows_that_another_thread_may_have_put_a_memset_on_the_null_stream() {
    let spin = |label| benchmark("timer_spin", label, json!({"additional_info": 10_000_000}));
    let memset = json!({"actions": [{"type": "memset", "parameters": {"size": 4, "async": false}}]});
    let own = OwnLogs::of(
        &[spin("A"), benchmark("stream_action", "M", json!({"additional_info": memset})), spin("B")],
        json!({}),
    );
    let own = own.expect("there are kernels");
    assert_eq!(own.audit(&Tolerances::default()).findings, []);
    assert_eq!(own.replay().max_start_error_ns, 0);
    // Without the memset nothing explains the wait.
    let alone = OwnLogs::of(&[spin("A"), spin("B")], json!({})).expect("there are kernels");
    let observation = {
        let pairing = Pairing::new(&own.run, &alone.scenario).expect("it launches the same kernels");
        ObservedRun::of_logs_with(&own.run, &alone.scenario, &pairing)
    };
    let findings = audit(&observation, &Tolerances::default(), Progress::NONE).findings;
    assert_eq!(findings.iter().map(|found| (&*found.kernel, found.by)).collect::<Vec<_>>(), [("B", 10_000_000)]);
}

#[test]
fn an_audit_knows_that_another_threads_copy_may_be_ahead_on_the_null_stream() {
    let kernel = json!({"type": "kernel", "parameters": {"duration": 0.01}});
    let copy = json!({"type": "memcpy",
        "parameters": {"size": 1_000_000_000, "direction": "hostToDevice", "async": true}});
    let on_null = |label, actions: &[&Value]| {
        let info = json!({"use_null_stream": true, "actions": actions});
        benchmark("stream_action", label, json!({"additional_info": info}))
    };
    let own = OwnLogs::of(&[on_null("A", &[&kernel, &copy]), on_null("B", &[&kernel])], json!({}));
    let findings = own.expect("there are kernels").audit(&Tolerances::default()).findings;
    assert_eq!(findings, []);
}

#[test]
fn placement_is_judged_only_of_blocks_beside_which_no_other_kernel_starts() {
    // With one channel A is placed before B, whose priority is higher, at the same instant: five blocks of B one after
    // another, of which the first alone is beside a start of A in any list of starts.
    let spin = |label, keys: (u32, u32, i32)| {
        let (blocks, threads, priority) = keys;
        let keys = json!({
            "block_count": blocks, "thread_count": threads, "additional_info": 10_000_000, "stream_priority": priority,
        });
        benchmark("timer_spin", label, keys)
    };
    let device = builtin("tx2").with(|spec| (spec.channels, spec.channel_order) = (Some(1), ChannelOrder::Fifo));
    let device = device.expect("it is a GPU");
    let options = ReadOptions { device: Some(device), ..ReadOptions::default() };
    let own = OwnLogs::read(&[spin("A", (3, 1024, 0)), spin("B", (5, 64, -1))], json!({}), options);
    let audit = own.expect("there are kernels").audit(&Tolerances::default());
    assert_eq!((audit.checked.blocks, audit.placement.decidable), (8, 0), "all start at one instant");
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn own_logs_replay_without_a_difference(own in own_logs()) {
        let Some(own) = own else { return Ok(()) };
        let replay = own.replay();
        prop_assert_eq!(replay.max_start_error_ns, 0, "{:#?}", replay.kernels);
        prop_assert_eq!(replay.sm_equal, replay.sm_decidable);
        prop_assert!(replay.kernels.iter().all(|kernel| kernel.difference_ns == Some(0)));
    }
    #[test]
    fn own_logs_audit_clean(own in own_logs(), exact in any::<bool>()) {
        let Some(own) = own else { return Ok(()) };
        let tolerances = if exact { Tolerances::EXACT } else { Tolerances::default() };
        let Audit { findings, placement, .. } = own.audit(&tolerances);
        prop_assert!(findings.is_empty(), "{:#?}", findings);
        prop_assert_eq!(placement.followed, placement.decidable);
    }
    #[test]
    fn own_logs_of_several_processes_audit_clean(own in logs_until((1_u64..40).prop_map(|at| (at < 20).then_some(at)), true)) {
        let Some(own) = own else { return Ok(()) };
        let findings = own.audit(&Tolerances::EXACT).findings;
        prop_assert!(findings.is_empty(), "{:#?}", findings);
    }
    #[test]
    fn own_logs_of_a_run_that_was_ended_audit_clean(own in logs_until((1_u64..12).prop_map(Some), false)) {
        let Some(own) = own else { return Ok(()) };
        let findings = own.audit(&Tolerances::EXACT).findings;
        prop_assert!(findings.is_empty(), "{:#?}", findings);
    }
}

#[test]
fn logs_of_a_run_that_was_ended_say_what_they_leave_out() {
    // A's second iteration runs when the run ends, and makes B wait.
    let spin = |ns: u64| json!({"block_count": 4, "thread_count": 1024, "additional_info": ns});
    let benchmarks = [benchmark("timer_spin", "A", spin(20_000_000)), benchmark("timer_spin", "B", spin(30_000_000))];
    let own = OwnLogs::until(&benchmarks, json!({"max_iterations": 2}), Some(Duration::from_ns(60_000_000)));
    let own = own.expect("there are kernels");
    assert_eq!(own.run.logs.iter().map(|log| log.kernels.len()).collect::<Vec<_>>(), [1, 1]);
    assert!(own.run.incomplete());
    let audit = own.audit(&Tolerances::EXACT);
    assert!(audit.findings.is_empty(), "{:#?}", audit.findings);
    assert!(audit.notes.iter().any(|note| note.starts_with("work conservation was not checked")), "{:?}", audit.notes);
}
