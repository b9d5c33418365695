//! Random runs of benchmarks, and the logs that they write.

use gpusched::audit::{Audit, ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::hosts::{AnyLength, HeldAtMost, SimulateOptions, simulate, simulate_any_length};
use gpusched::logs::{Defect, Dropped, LogRun, Pairing, read_log, sort_into_runs};
use gpusched::replay::{Replay, replay};
use gpusched::run::Summary;
use gpusched::scenario::{HostThread, ReadOptions, Scenario};
use gpusched::tables::ExaminerLog;
use gpusched::time::Duration;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// A scenario of the examiner with these benchmarks, and the logs of its run.
#[derive(Debug)]
pub(crate) struct OwnLogs {
    pub(crate) scenario: Scenario,
    pub(crate) run: LogRun,
}

impl OwnLogs {
    /// `None`: no log holds a kernel.
    pub(crate) fn of(benchmarks: &[Value], globally: Value) -> Option<Self> {
        Self::until(benchmarks, globally, None)
    }

    /// The same of a run that is ended at a horizon.
    pub(crate) fn until(benchmarks: &[Value], globally: Value, horizon: Option<Duration>) -> Option<Self> {
        Self::read(benchmarks, globally, ReadOptions { horizon, ..ReadOptions::default() })
    }

    /// The same, of a scenario that is read so.
    pub(crate) fn read(benchmarks: &[Value], globally: Value, options: ReadOptions) -> Option<Self> {
        let horizon = options.horizon;
        let mut file = json!({
            "name": "own", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "base_result_directory": "results",
            "benchmarks": benchmarks,
        });
        let Value::Object(globally) = globally else { panic!("keys of the file") };
        file.as_object_mut().expect("it is an object").extend(globally);
        // In turns of 10 ms, if there are several processes.
        let options = ReadOptions { time_slice: Some(Duration::from_ns(10_000_000)), ..options };
        let scenario = Scenario::from_json("own.json", &file.to_string(), &options);
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{file}"));
        let simulated = simulate(&scenario).expect("it runs");
        let streamed = streamed(&scenario);
        let mut logs = Vec::new();
        for own in ExaminerLog::all_of(&Summary::of(&simulated)) {
            let mut text = Vec::new();
            own.write(&mut text).expect("there is room");
            if let Some(streamed) = streamed.as_ref().and_then(|all| all.get(logs.len())) {
                assert_eq!(str::from_utf8(&text), str::from_utf8(streamed), "logs are the same without a record");
            }
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

    pub(crate) fn pairing(&self) -> Pairing {
        Pairing::new(&self.run, &self.scenario).expect("the logs are its own")
    }

    pub(crate) fn replay(&self) -> Replay {
        let known = (&self.scenario, &self.pairing());
        replay(
            &self.run,
            self.scenario.device(),
            Some(known),
            &ReadOptions::default(),
            &Tolerances::EXACT,
            Progress::NONE,
        )
        .expect("it can be replayed")
    }

    pub(crate) fn audit(&self, tolerances: &Tolerances) -> Audit {
        audit(&ObservedRun::of_logs_with(&self.run, &self.scenario, &self.pairing()), tolerances, Progress::NONE)
    }
}

/// The logs of a run that is forgotten piece by piece, if it can be, and if iterations of all benchmarks are known
/// then.
fn streamed(scenario: &Scenario) -> Option<Vec<Vec<u8>>> {
    let held = HeldAtMost { whole: 1, piece: 500, rows: 0 };
    let run = simulate_any_length(scenario, SimulateOptions::of(scenario), held).expect("it runs");
    let AnyLength::Long(run) = &run else { return None };
    let mut logs = vec![Vec::new(); scenario.threads.len()];
    ExaminerLog::write_all(run, &mut logs).expect("there is room");
    scenario.threads.iter().all(HostThread::submits).then_some(logs)
}

/// A benchmark without copies; `keys` are further ones, or replace these.
pub(crate) fn benchmark(plugin: &str, label: &str, keys: Value) -> Value {
    let mut benchmark = json!({
        "filename": format!("./bin/{plugin}.so"), "log_name": format!("{label}.json"), "label": label,
        "thread_count": 256, "block_count": 1, "data_size": 0,
    });
    let Value::Object(keys) = keys else { panic!("keys of a benchmark") };
    benchmark.as_object_mut().expect("it is an object").extend(keys);
    benchmark
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
pub(crate) fn own_logs() -> impl Strategy<Value = Option<OwnLogs>> {
    logs_until(Just(None), false)
}

/// The same, ended at some horizon, and each a process of its own if so asked.
pub(crate) fn logs_until(
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
