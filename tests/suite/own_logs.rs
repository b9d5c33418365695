//! The logs that a simulation writes, read again.

use gpusched::audit::{Audit, Observation, Tolerances, audit};
use gpusched::experiments::replay::{Replay, replay};
use gpusched::hosts::simulate;
use gpusched::logs::{Defect, Dropped, LogRun, Pairing, read_log, sort_into_runs};
use gpusched::report::{Summary, examiner_logs};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// A scenario of the examiner with these benchmarks, and the logs of its run.
#[derive(Debug)]
struct OwnLogs {
    scenario: Scenario,
    run: LogRun,
}

impl OwnLogs {
    /// `None`: no log holds a kernel.
    fn of(benchmarks: &[Value], globally: Value) -> Option<Self> {
        Self::until(benchmarks, globally, None)
    }

    /// The same of a run that is ended at a horizon.
    fn until(benchmarks: &[Value], globally: Value, horizon: Option<Duration>) -> Option<Self> {
        let mut file = json!({
            "name": "own", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "base_result_directory": "results",
            "benchmarks": benchmarks,
        });
        let Value::Object(globally) = globally else { panic!("keys of the file") };
        file.as_object_mut().expect("it is an object").extend(globally);
        // In turns of 10 ms, if there are several processes.
        let options =
            ReadOptions { horizon, time_slice: Some(Duration::from_ns(10_000_000)), ..ReadOptions::default() };
        let scenario = Scenario::from_json("own.json", &file.to_string(), &options);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{file}"));
        let simulated = simulate(&scenario).expect("it runs");
        let mut logs = Vec::new();
        for own in examiner_logs(&Summary::of_trace(&scenario, &simulated.trace), &simulated.iterations) {
            let mut text = Vec::new();
            own.write(&mut text).expect("there is room");
            let reading = read_log(own.file_name(), text);
            let is_cut =
                |dropped: &Dropped| matches!(dropped.defect, Defect::LeftOutAtHorizon { .. } | Defect::NothingLogged);
            assert!(
                reading.dropped.iter().all(|dropped| horizon.is_some() && is_cut(dropped)),
                "{:?}",
                reading.dropped
            );
            logs.push(reading.log.expect("it is a log"));
        }
        let mut runs = sort_into_runs(logs);
        assert_eq!(runs.len(), 1);
        let run = runs.pop().filter(|run| run.kernels() > 0)?;
        Some(Self { scenario, run })
    }

    fn pairing(&self) -> Pairing {
        Pairing::new(&self.run, &self.scenario).expect("the logs are its own")
    }

    fn replay(&self) -> Replay {
        let known = (&self.scenario, &self.pairing());
        replay(&self.run, self.scenario.device(), Some(known), &ReadOptions::default(), &Tolerances::EXACT)
            .expect("it can be replayed")
    }

    fn audit(&self, tolerances: &Tolerances) -> Audit {
        audit(&Observation::of_logs_with(&self.run, &self.scenario, &self.pairing()), tolerances)
    }
}

/// A benchmark without copies; `keys` are further ones, or replace these.
fn benchmark(plugin: &str, label: &str, keys: Value) -> Value {
    let mut benchmark = json!({
        "filename": format!("./bin/{plugin}.so"), "log_name": format!("{label}.json"), "label": label,
        "thread_count": 256, "block_count": 1, "data_size": 0,
    });
    let Value::Object(keys) = keys else { panic!("keys of a benchmark") };
    benchmark.as_object_mut().expect("it is an object").extend(keys);
    benchmark
}

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
        Observation::of_logs_with(&own.run, &alone.scenario, &pairing)
    };
    let findings = audit(&observation, &Tolerances::default()).findings;
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

/// An action of `stream_action`.
fn action() -> impl Strategy<Value = Value> {
    let delay = || select(vec![0.0, 0.0, 0.01]);
    let duration = select(vec![0.01, 0.02]);
    prop_oneof![
        3 => (duration, 1_u32..=8, delay()).prop_map(|(duration, blocks, delay)| {
            json!({"type": "kernel", "delay": delay, "parameters": {"duration": duration, "block_count": blocks}})
        }),
        1 => (any::<bool>(), delay()).prop_map(|(asynchronous, delay)| {
            json!({"type": "memset", "delay": delay, "parameters": {"size": 4, "async": asynchronous}})
        }),
        1 => (any::<bool>(), select(vec!["deviceToHost", "hostToDevice"])).prop_map(|(asynchronous, direction)| {
            json!({"type": "memcpy", "parameters": {"size": 100_000_000, "direction": direction, "async": asynchronous}})
        }),
        1 => any::<bool>().prop_map(|device| json!({"type": "synchronize", "parameters": {"device": device}})),
    ]
}

/// What a benchmark of a random run does.
fn plugin() -> impl Strategy<Value = (&'static str, Value)> {
    let spin = (select(vec!["timer_spin", "timer_spin_default_stream"]), select(vec![10_000_000, 20_000_000]));
    let actions = (vec(action(), 1..5), any::<bool>());
    prop_oneof![
        spin.prop_map(|(plugin, duration)| (plugin, json!(duration))),
        actions.prop_map(|(actions, on_null)| {
            ("stream_action", json!({"use_null_stream": on_null, "actions": actions}))
        }),
    ]
}

/// Benchmarks whose times are multiples of 10 ms, so that many things happen at one instant.
fn own_logs() -> impl Strategy<Value = Option<OwnLogs>> {
    logs_until(Just(None), false)
}

/// The same, ended at some horizon, and each a process of its own if so asked.
fn logs_until(
    horizon_10ms: impl Strategy<Value = Option<u64>>,
    processes: bool,
) -> impl Strategy<Value = Option<OwnLogs>> {
    let shape = (1_u32..=8, select(vec![256, 1024]), select(vec![0.0, 0.01, 0.02]), 1_u32..=3, 0_i32..=1);
    let one = (plugin(), shape);
    (vec(one, 2..5), any::<bool>(), horizon_10ms).prop_map(move |(benchmarks, sync, horizon)| {
        let numbered = ["A", "B", "C", "D"].into_iter().zip(benchmarks);
        let benchmarks = numbered.map(|(label, ((plugin, info), (blocks, threads, release, iterations, priority)))| {
            let mut keys = json!({
                "block_count": blocks, "thread_count": threads, "release_time": release,
                "stream_priority": -priority, "additional_info": info,
            });
            if !sync {
                keys["max_iterations"] = json!(iterations);
            }
            benchmark(plugin, label, keys)
        });
        let globally = json!({"sync_every_iteration": sync, "max_iterations": 2, "use_processes": processes});
        let horizon = horizon.map(|number| Duration::from_ns(number * 10_000_000));
        OwnLogs::until(&benchmarks.collect::<Vec<_>>(), globally, horizon)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

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
        let findings = own.audit(&tolerances).findings;
        prop_assert!(findings.is_empty(), "{:#?}", findings);
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
