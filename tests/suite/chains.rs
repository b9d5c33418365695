//! Chains: reaction times and data ages of runs against a simulation of the registers themselves, and bounds against
//! many runs.

use gpusched::analysis::{ChainVerdict, ChainVerdicts, JobVerdicts, SearchOptions, Verdict, chain_verdicts, judge};
use gpusched::effort::Progress;
use gpusched::gpu::Ended;
use gpusched::hosts::simulate;
use gpusched::run::{ChainDelay, ChainRun, IterationSpan, Run, Summary};
use gpusched::scenario::{ChainMeasure, LinkOperation, ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::workload::{OperationKind, Origin};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::campaign::{campaign, config};
use crate::common::gpusched;

mod phasings;
mod short_runs;

const MS: u64 = 1_000_000;

fn read(file: &Value) -> Scenario {
    let options = ReadOptions::default();
    Scenario::from_json("chains.json", &file.to_string(), &options).unwrap_or_else(|error| panic!("{error}\n{file:#}"))
}

/// A thread that takes so many ms of every period, from its release on.
fn task(name: &str, release_ms: u64, period_ms: u64, ms: u64) -> Value {
    let (release, period) = (format!("{release_ms} ms"), format!("{period_ms} ms"));
    json!({"name": name, "release": release, "period": period, "steps": [{"sleep": format!("{ms} ms")}]})
}

fn file(hosts: &[Value], horizon_ms: u64, chain: &Value) -> Value {
    json!({
        "format": "gpusched-scenario/1", "name": "chains", "horizon": format!("{horizon_ms} ms"), "hosts": hosts,
        "chains": [chain],
    })
}

fn runs(run: &Run<'_>) -> Vec<ChainRun> {
    Summary::of(run).chains()
}

fn worst_ms(run: &ChainRun) -> Option<f64> {
    run.worst.as_ref().map(|worst| ms(worst.length()))
}

fn ms(time: Duration) -> f64 {
    time.as_ns() as f64 / MS as f64
}

/// Reaction time and data age: the longest in the run, and the bound \[ms\].
fn known(scenario: &Scenario) -> [(Option<f64>, Option<f64>); 2] {
    let (found, verdicts) = judged(scenario, 64);
    let row = |(run, verdict): (&ChainRun, &ChainVerdict)| (worst_ms(run), verdict.bound_ns.map(ms));
    let rows: Vec<_> = found.iter().zip(&verdicts.rows).map(row).collect();
    [rows[0], rows[1]]
}

fn judged(scenario: &Scenario, runs_searched: u64) -> (Vec<ChainRun>, ChainVerdicts) {
    let run = simulate(scenario).expect("it runs");
    let verdicts = of_jobs(scenario, runs_searched);
    let chains = chain_verdicts(scenario, &run, &verdicts, &[]).expect("no run is above a bound");
    (runs(&run), chains)
}

fn of_jobs(scenario: &Scenario, runs: u64) -> JobVerdicts<'_> {
    let options = SearchOptions { runs, ..SearchOptions::default() };
    judge(scenario, &options, Progress::NONE).expect("no run is above a bound")
}

fn example() -> Scenario {
    let text = std::fs::read_to_string("scenarios/deadlines/camera-to-brake.json").expect("it is there");
    Scenario::from_json("camera-to-brake.json", &text, &ReadOptions::default()).expect("it is a scenario")
}

#[test]
fn from_camera_to_brake_it_takes_what_a_hand_finds() {
    // Just after the camera's read at 0 s something happens. The next frame is of 40 ms and there at 44 ms; vision
    // reads it at 45 ms and is done at 53 ms; the brake reads that at 60 ms and acts at 61 ms.
    // What the brake does at 51 ms it has read at 50 ms: vision's result of 33 ms, which is from the frame of 0 s.
    assert_eq!(known(&example()), [(Some(61.0), Some(61.0)), (Some(51.0), Some(51.0))]);
    let scenario = example();
    let run = simulate(&scenario).expect("it runs");
    let jobs = |chain: &ChainRun| chain.worst.clone().map(|ChainDelay { jobs, .. }| jobs);
    assert_eq!(runs(&run).iter().map(jobs).collect::<Vec<_>>(), [Some(vec![1, 2, 6]), Some(vec![0, 1, 5])]);
}

#[test]
fn what_is_read_less_often_than_it_is_written_has_long_reactions_and_what_is_read_oftener_old_data() {
    let path = json!({"name": "chain", "path": ["a", "b"]});
    // Events just after 20 ms are read at 30 ms and written at 32 ms, when b has read already; it reads them at 60 ms.
    // What b reads at 30 ms was read at 20 ms.
    let undersampled = file(&[task("a", 0, 10, 2), task("b", 0, 30, 5)], 120, &path);
    assert_eq!(known(&read(&undersampled)), [(Some(45.0), Some(45.0)), (Some(15.0), Some(15.0))]);
    // Events just after 0 s are read at 30 ms, written at 35 ms, and read by b at 40 ms. At 30 ms b reads what a has
    // read at 0 s.
    let oversampled = file(&[task("a", 0, 30, 5), task("b", 0, 10, 2)], 120, &path);
    assert_eq!(known(&read(&oversampled)), [(Some(42.0), Some(42.0)), (Some(32.0), Some(32.0))]);
}

#[test]
fn jobs_that_overlap_the_next_ones_write_in_their_order() {
    // Jobs of S come every 10 ms and take the GPU for 15 ms each: they end at 15, 30 and 45 ms. Events just after 10 ms
    // are read at 20 ms and acted upon at 51 ms; at 60 ms, the last brake still reads what was read at 20 ms.
    let scenario = json!({
        "format": "gpusched-scenario/1", "name": "overlap",
        "kernels": {"K": {"blocks": 4, "threads": 1024, "duration": "15 ms"}},
        "streams": [{"name": "S", "period": "10 ms", "jobs": 3, "operations": [{"kernel": "K"}]}],
        "hosts": [{"name": "brake", "period": "10 ms", "iterations": 7, "steps": [{"sleep": "1 ms"}]}],
        "chains": [{"name": "chain", "path": ["S", "brake"]}],
    });
    assert_eq!(known(&read(&scenario)), [(Some(41.0), Some(41.0)), (Some(41.0), Some(41.0))]);
}

#[test]
fn copies_and_kernels_of_one_job_hand_data_on_within_it() {
    // The copy reads at 0, 20, ... ms; the kernel has it from 2 to 7 ms, and the job goes on copying until 8 ms.
    let operations = json!([{"copy": "host-to-device", "duration": "2 ms"}, {"kernel": "K"},
                            {"copy": "device-to-host", "duration": "1 ms"}]);
    let scenario = |path: &Value| {
        read(&json!({
            "format": "gpusched-scenario/1", "name": "one job", "horizon": "100 ms",
            "kernels": {"K": {"blocks": 4, "threads": 1024, "duration": "5 ms"}},
            "streams": [{"name": "S", "period": "20 ms", "operations": operations}],
            "chains": [{"name": "chain", "path": path}],
        }))
    };
    let copy = json!({"job": "S", "writes": {"copy": "host-to-device"}});
    let kernel = json!({"job": "S", "reads": {"kernel": "K"}, "writes": {"kernel": "K"}});
    // Bounds are those of jobs: 1 ms longer.
    let both = known(&scenario(&json!([copy, kernel])));
    assert_eq!(both, [(Some(27.0), Some(28.0)), (Some(7.0), Some(8.0))]);
    // A job that reads when it begins reads what the job before it has written.
    let loops = known(&scenario(&json!(["S", "S"])));
    assert_eq!(loops, [(Some(48.0), Some(48.0)), (Some(28.0), Some(28.0))]);
}

#[test]
fn what_has_no_output_when_the_run_ends_has_lasted_until_then() {
    // b reads first at 50 ms, after the end: what happened just after 0 s is not answered for 44 ms.
    let chain = json!({"name": "chain", "path": ["a", "b"], "reaction_time": "43 ms", "data_age": "1 ms"});
    let scenario = read(&file(&[task("a", 0, 10, 2), task("b", 50, 60, 5)], 44, &chain));
    let (found, verdicts) = judged(&scenario, 16);
    assert_eq!((worst_ms(&found[0]), found[0].unfinished, found[0].misses), (Some(44.0), 5, 1));
    assert_eq!((found[1].measured, worst_ms(&found[1])), (0, None));
    assert_eq!(verdicts.rows[0].verdict, Some(Verdict::Missed));
    // No output is too old in a run that has none, and nothing shows that none will be.
    assert_eq!(verdicts.rows[1].verdict, Some(Verdict::Open));
}

#[test]
fn a_chain_of_which_a_job_has_no_bound_is_open_and_the_note_says_why() {
    let chain = json!({"name": "chain", "path": ["a", "b"], "reaction_time": "1 s"});
    let late = file(&[task("a", 0, 10, 2), task("b", 0, 10, 11)], 100, &chain);
    let again = json!({"name": "b", "iterations": 9, "steps": [{"sleep": "10 ms"}]});
    let again = file(&[task("a", 0, 10, 2), again], 100, &chain);
    let why = ["jobs of \"b\" have no bound", "when jobs of \"b\" are released is not known"];
    for (file, why) in [late, again].iter().zip(why) {
        let (_, verdicts) = judged(&read(file), 16);
        assert_eq!(verdicts.rows[0].verdict, Some(Verdict::Open), "{file}");
        assert_eq!(verdicts.notes, [format!("chain \"chain\" has no bound: {why}")]);
    }
}

#[test]
fn a_chain_whose_threads_end_early_is_proven_only_if_they_would_go_on_as_they_began() {
    // By hand: events just after 0 s are read at 10 ms, written at 12 ms, read at 20 ms and answered at 21 ms.
    let chain = json!({"name": "chain", "path": ["a", "b"], "reaction_time": "21 ms"});
    let with = |iterations: [u32; 2], release_ms: u64| {
        let mut hosts = [task("a", 0, 10, 2), task("b", release_ms, 10, 1)];
        for (host, iterations) in hosts.iter_mut().zip(iterations) {
            host["iterations"] = iterations.into();
        }
        let mut file = file(&hosts, 1, &chain);
        file.as_object_mut().expect("it is one").remove("horizon");
        judged(&read(&file), 16).1.rows[0].clone()
    };
    for iterations in [[1, 1], [5, 5], [5, 2]] {
        let row = with(iterations, 0);
        assert_eq!((row.bound_ns.map(ms), row.verdict), (Some(21.0), Some(Verdict::Proven)), "{iterations:?}");
    }
    // b begins after a whole period, so that it is not known from the first one how it goes on.
    assert_eq!(with([5, 2], 10).verdict, Some(Verdict::Open));
    assert_eq!(with([3, 5], 10).verdict, Some(Verdict::Proven));
}

#[test]
fn data_of_a_job_that_comes_once_gets_older_for_ever() {
    // What a has read at 0 s is in all outputs of b, at 11 ms, 21 ms and so on, of which those before 50 ms are run.
    let chain = |limit: &str| json!({"name": "chain", "path": ["a", "b"], "data_age": limit});
    let mut hosts = [task("a", 0, 10, 2), task("b", 0, 10, 1)];
    hosts[0]["iterations"] = 1.into();
    for (limit, verdict) in [("40 ms", Verdict::Missed), ("60 ms", Verdict::Open)] {
        let mut file = file(&hosts, 1, &chain(limit));
        file.as_object_mut().expect("it is one").remove("horizon");
        let row = judged(&read(&file), 16).1.rows[1].clone();
        assert_eq!((row.bound_ns, row.verdict), (None, Some(verdict)));
    }
}

#[test]
fn a_chain_that_is_too_long_has_a_witness() {
    // The copy of T, if it goes first, makes S late by 3 ms, which the declared order does not have.
    let copies = |ms: u32| json!([{"copy": "host-to-device", "duration": format!("{ms} ms")}]);
    let scenario = |wait: bool| {
        let mut file = json!({
            "format": "gpusched-scenario/1", "name": "two copies", "horizon": "100 ms",
            "streams": [{"name": "S", "period": "20 ms", "operations": copies(2)},
                        {"name": "T", "period": "20 ms", "operations": copies(3)}],
            "hosts": [task("brake", 4, 20, 1)],
            "chains": [{"name": "chain", "path": ["S", "brake"], "reaction_time": "30 ms"}],
        });
        if wait {
            // What comes after a wait depends on the run, so jobs are no threads of their own in the search.
            let steps = json!([{"sleep": "10 ms"}, {"copy": "device-to-host", "duration": "1 ms", "stream": "U"},
                               {"synchronize": "U"}, {"copy": "device-to-host", "duration": "1 ms", "stream": "U"}]);
            file["streams"].as_array_mut().expect("it is one").push(json!({"name": "U"}));
            let hosts = file["hosts"].as_array_mut().expect("it is one");
            hosts.push(json!({"name": "other", "period": "20 ms", "steps": steps}));
        }
        read(&file)
    };
    for wait in [false, true] {
        let scenario = scenario(wait);
        let run = simulate(&scenario).expect("it runs");
        // Read at 20 ms, written at 22 ms, read at 24 ms, and answered at 25 ms; else at 25 ms, 44 ms and 45 ms.
        assert_eq!(runs(&run).first().and_then(worst_ms), Some(25.0));
        let jobs = of_jobs(&scenario, 64);
        let chains = chain_verdicts(&scenario, &run, &jobs, &[]).expect("no run is above a bound");
        let row = &chains.rows[0];
        let found = (row.worst_found_ns.map(ms), row.bound_ns.map(ms), row.verdict);
        // With U, jobs of S have no bound.
        assert_eq!(found, (Some(45.0), (!wait).then_some(45.0), Some(Verdict::Missed)));
        assert_eq!(row.jobs.as_deref(), Some("S 1 > brake 2"));
        let witness = chains.witness(0, &scenario, &jobs).expect("there is one");
        let again = simulate(&witness).expect("it runs");
        if wait {
            assert_eq!(runs(&again).first().and_then(worst_ms), Some(45.0));
            let text = witness.to_native_json().expect("it can be written");
            let again = Scenario::from_json("witness.json", &text, &ReadOptions::default()).expect("it can be read");
            assert_eq!(again.chains.len(), 1);
            assert_eq!(runs(&simulate(&again).expect("it runs")).first().and_then(worst_ms), Some(45.0));
        }
    }
}

#[test]
fn chains_stay_when_a_scenario_is_written_and_read() {
    let path = json!([{"job": "S", "reads": {"copy": "host-to-device"}, "writes": {"kernel": "K"}}, "h"]);
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "written", "horizon": "10 ms",
        "kernels": {"K": {"blocks": 4, "threads": 1024, "duration": "5 ms"}},
        "streams": [{"name": "S", "period": "20 ms",
                     "operations": [{"copy": "host-to-device", "bytes": 4}, {"kernel": "K"}]}],
        "hosts": [task("h", 0, 10, 1)],
        "chains": [{"name": "chain", "path": path, "reaction_time": "3 ms", "data_age": "4 ms"}],
    }));
    let text = scenario.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again.json", &text, &ReadOptions::default()).expect("it can be read");
    assert_eq!(again.chains, scenario.chains);
}

#[test]
fn chains_that_cannot_be_are_refused_with_their_place() {
    let with = |chain: Value| {
        let file = json!({
            "format": "gpusched-scenario/1", "name": "wrong",
            "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "5 ms"},
                        "L": {"blocks": 1, "threads": 32, "duration": "5 ms"}},
            "streams": [{"name": "S", "operations": [{"copy": "host-to-device", "bytes": 4}, {"kernel": "K"}]},
                        {"name": "T"}],
            "hosts": [{"name": "H", "steps": [{"launch": "K", "stream": "S"}, {"launch": "K", "stream": "T"}]}],
            "chains": [chain],
        });
        let read = Scenario::from_json("wrong.json", &file.to_string(), &ReadOptions::default());
        read.expect_err("it is refused").to_string()
    };
    let of = |link: Value| with(json!({"name": "C", "path": [link]}));
    let cases = [
        (of(json!("s")), "no stream with operations or host of this scenario is called \"s\""),
        (of(json!("T")), "there are: S, H"),
        (of(json!({"job": "S", "writes": {"kernel": "L"}})), "this job has no such kernel or copy"),
        (of(json!({"job": "S", "writes": {"kernel": "M"}})), "no kernel of this scenario is called \"M\""),
        (of(json!({"job": "S", "reads": {"copy": "device-to-host"}})), "this job has no such kernel or copy"),
        (of(json!({"job": "H", "reads": {"kernel": "K"}})), "in several streams"),
        (
            of(json!({"job": "S", "reads": {"kernel": "K"}, "writes": {"copy": "host-to-device"}})),
            "must come behind what \"reads\" says",
        ),
        (with(json!({"name": "C", "path": []})), "path"),
        (with(json!({"name": "C", "path": ["S"], "age": "1 ms"})), "age"),
    ];
    for (message, expected) in cases {
        assert!(message.contains(expected), "{message} lacks {expected}");
    }
}

/// Of each link, in order: when its jobs read and wrote, as the records say.
fn times(run: &Run<'_>) -> Vec<Vec<(Option<u64>, Option<u64>)>> {
    let scenario: &Scenario = &run.scenario;
    let is = |operation: &LinkOperation, kind: OperationKind| match (operation, kind) {
        (LinkOperation::Kernel(name), OperationKind::Kernel(id)) => *scenario.kernels()[id.index()].name == **name,
        (LinkOperation::Copy(direction), OperationKind::Copy(id)) => {
            scenario.copies()[id.index()].direction == *direction
        }
        _ => false,
    };
    let links = scenario.chains[0].links.iter().map(|link| {
        let spans = run.iterations.iter().filter(|span| span.thread == link.thread);
        let job = |span: &IterationSpan| {
            let origin = Origin { thread: span.thread, iteration: span.iteration };
            let own: Vec<_> = run.trace.operations().iter().filter(|record| record.origin == origin).collect();
            // Random jobs have each of their operations once.
            let of = |operation| own.iter().find(|one| is(operation, one.kind));
            let all_done =
                || own.iter().map(|one| one.finish()).try_fold(span.end()?, |last, finish| Some(last.max(finish?)));
            let read = link.reads.as_ref().map_or(Some(span.start), |reads| of(reads)?.first_start());
            let written = link.writes.as_ref().map_or_else(all_done, |writes| of(writes)?.finish());
            (read.map(Instant::as_ns), written.map(Instant::as_ns))
        };
        spans.map(job).collect()
    });
    links.collect()
}

/// The registers themselves, instant by instant: the longest reaction time and data age. Who is released takes what the
/// job has written that releases it.
fn simulated_registers(run: &Run<'_>) -> [Option<u64>; 2] {
    let times = times(run);
    let links = &run.scenario.chains[0].links;
    let is_released_by_the_one_before =
        |link: usize| run.scenario.threads[links[link].thread as usize].triggered_by == Some(links[link - 1].thread);
    let mut events = Vec::new();
    for (link, jobs) in times.iter().enumerate() {
        for (job, &(read, write)) in jobs.iter().enumerate() {
            // What is written at an instant is there for who reads at it.
            events.extend(write.map(|at| (at, 0, link, job)));
            events.extend(read.map(|at| (at, 1, link, job)));
        }
    }
    events.sort_unstable();
    let mut registers: Vec<Option<u64>> = vec![None; times.len()];
    let mut held: Vec<Vec<Option<u64>>> = times.iter().map(|jobs| vec![None; jobs.len()]).collect();
    let mut outputs = Vec::new();
    for (at, is_read, link, job) in events {
        if is_read == 1 {
            held[link][job] = match link {
                0 => Some(at),
                link if is_released_by_the_one_before(link) => held[link - 1][job],
                link => registers[link - 1],
            };
        } else {
            registers[link] = held[link][job];
            outputs.extend(held[link][job].filter(|_| link + 1 == times.len()).map(|data| (at, data)));
        }
    }
    let age = outputs.iter().map(|(at, data)| at - data).max();
    let reads: Vec<u64> = times[0].iter().map_while(|(read, _)| *read).collect();
    let cut = (run.ended == Ended::Horizon).then(|| run.trace.end().as_ns());
    let reaction = reads.iter().enumerate().filter_map(|(number, &from)| {
        let next = reads.get(number + 1);
        let answer = next.and_then(|next| outputs.iter().find(|(_, data)| data >= next));
        answer.map(|(at, _)| *at).or(cut).map(|to| to - from)
    });
    [reaction.max(), age]
}

/// A random thread: a stream, a host that waits for what it launches, or one that only takes time.
#[derive(Debug, Clone)]
struct Thread {
    kind: u8,
    period_ms: u64,
    release_ms: u64,
    ms: [u64; 3],
    /// Whether it reads and writes by operations.
    points: (bool, bool),
    /// Which of those before it releases it, if it is a host and one of them launches anything.
    trigger: Option<prop::sample::Index>,
}

#[derive(Debug, Clone)]
struct Sample {
    threads: Vec<Thread>,
    path: Vec<usize>,
    horizon_ms: Option<u64>,
    jobs: u64,
    limits_ms: (u64, u64),
}

fn thread() -> impl Strategy<Value = Thread> {
    let periods = select(vec![10_u64, 20, 20, 40, 40, 80, 15, 30, 7]);
    let times = (1_u64..6, 1_u64..5, 1_u64..4);
    let trigger = prop::option::weighted(0.4, any::<prop::sample::Index>());
    let parts = (0_u8..4, periods, 0_u64..80, times, any::<(bool, bool)>(), trigger);
    parts.prop_map(|(kind, period_ms, phase, ms, points, trigger)| {
        Thread {
            trigger,
            kind,
            period_ms,
            // Some begin later than after a period.
            release_ms: if phase % 8 == 0 { phase } else { phase % period_ms },
            ms: [ms.0, ms.1, ms.2],
            points,
        }
    })
}

fn samples() -> impl Strategy<Value = Sample> {
    let threads = prop::collection::vec(thread(), 1..5);
    let path = prop::collection::vec(any::<prop::sample::Index>(), 1..5);
    let horizon = prop::option::weighted(0.7, 60_u64..400);
    (threads, path, horizon, 2_u64..12, (20_u64..200, 20_u64..200), any::<bool>()).prop_map(
        |(threads, path, horizon_ms, jobs, limits_ms, follows)| {
            let path = path.into_iter().map(|at| at.index(threads.len())).collect();
            let mut sample = Sample { threads, path, horizon_ms, jobs, limits_ms };
            // Half of the paths go to who is released by the one before, where there is one.
            for at in 1..sample.path.len() {
                let released = (0..sample.threads.len()).find(|&one| sample.trigger(one) == Some(sample.path[at - 1]));
                sample.path[at] = released.filter(|_| follows).unwrap_or(sample.path[at]);
            }
            sample
        },
    )
}

impl Sample {
    /// Who releases a thread.
    fn trigger(&self, number: usize) -> Option<usize> {
        let own = self.threads[number].trigger.filter(|_| self.threads[number].kind > 0)?;
        let before: Vec<usize> = (0..number).filter(|&one| self.threads[one].kind < 3).collect();
        (!before.is_empty()).then(|| *own.get(&before))
    }

    fn scenario(&self) -> Scenario {
        let (mut kernels, mut streams, mut hosts) = (serde_json::Map::new(), Vec::new(), Vec::new());
        for (number, thread) in self.threads.iter().enumerate() {
            let Thread { kind, period_ms, release_ms, ms, .. } = thread;
            let (name, kernel) = (format!("T{number}"), format!("K{number}"));
            let best = format!("{} ms", ms[0].div_ceil(2));
            kernels.insert(
                kernel.clone(),
                json!({"blocks": 1 + number, "threads": 1024, "duration": {"best": best, "worst": format!("{} ms", ms[0])}}),
            );
            let copy = json!({"copy": "host-to-device", "duration": format!("{} ms", ms[1])});
            let mut entry = json!({
                "name": name, "release": format!("{release_ms} ms"), "period": format!("{period_ms} ms"),
            });
            if self.horizon_ms.is_none() {
                // All of them last about as long as the longest.
                let longest = self.threads.iter().map(|thread| thread.period_ms).max().unwrap_or(1);
                entry[if *kind == 0 { "jobs" } else { "iterations" }] = (self.jobs * longest / period_ms).into();
            }
            if *kind == 0 {
                entry["operations"] = json!([copy, {"kernel": kernel}]);
                streams.push(entry);
                continue;
            }
            let stream = format!("S{number}");
            let sleep = json!({"sleep": format!("{} ms", ms[2])});
            let mut in_stream = copy;
            in_stream["stream"] = stream.clone().into();
            let launch = json!({"launch": kernel, "stream": stream});
            let wait = json!({"synchronize": stream});
            entry["steps"] = match kind {
                1 => json!([sleep, in_stream, launch, wait, sleep]),
                2 => json!([in_stream, wait, launch]),
                _ => json!([sleep]),
            };
            if let Some(trigger) = self.trigger(number) {
                entry = json!({"name": name, "triggered_by": format!("T{trigger}"), "steps": entry["steps"]});
            }
            streams.push(json!({"name": stream, "priority": if number % 2 == 0 { 0 } else { -1 }}));
            hosts.push(entry);
        }
        let link = |&number: &usize| {
            let thread = &self.threads[number];
            let mut link = json!({"job": format!("T{number}")});
            if thread.kind < 3 && thread.points.0 {
                link["reads"] = json!({"copy": "host-to-device"});
            }
            if thread.kind < 3 && thread.points.1 {
                link["writes"] = json!({"kernel": format!("K{number}")});
            }
            link
        };
        let path: Vec<Value> = self.path.iter().map(link).collect();
        let mut file = json!({
            "format": "gpusched-scenario/1", "name": "random", "kernels": kernels,
            "chains": [{"name": "chain", "path": path, "reaction_time": format!("{} ms", self.limits_ms.0),
                        "data_age": format!("{} ms", self.limits_ms.1)}],
        });
        for (key, list) in [("streams", streams), ("hosts", hosts)] {
            if !list.is_empty() {
                file[key] = list.into();
            }
        }
        if let Some(horizon) = self.horizon_ms {
            file["horizon"] = format!("{horizon} ms").into();
        }
        read(&file)
    }
}

/// The longest of both measures in the scenario's own run, as it is told and as registers have it.
fn of_run(scenario: &Scenario) -> Result<[Option<u64>; 2], TestCaseError> {
    let run = simulate(scenario).expect("it runs");
    let told = runs(&run);
    let told = [0, 1].map(|number: usize| told[number].worst.as_ref().map(|worst| worst.length().as_ns()));
    prop_assert_eq!(told, simulated_registers(&run));
    Ok(told)
}

/// No run is longer than a bound, nor is one that is proven too long; bound / worst of each.
fn ratios(sample: &Sample, seeds: u64) -> Result<Vec<f64>, TestCaseError> {
    let mut scenario = sample.scenario();
    let rows = judged(&scenario, 24).1.rows;
    let mut worst: Vec<Option<u64>> = rows.iter().map(|row| row.worst_found_ns.map(Duration::as_ns)).collect();
    for seed in 0..seeds {
        scenario.seed = seed;
        let in_run = of_run(&scenario)?;
        for ((row, worst), found) in rows.iter().zip(&mut worst).zip(in_run) {
            let is_within = |limit: Option<Duration>| limit.is_none_or(|limit| found <= Some(limit.as_ns()));
            prop_assert!(is_within(row.bound_ns), "seed {}: {:?} is above {:?}", seed, found, row);
            let is_proven = row.verdict == Some(Verdict::Proven);
            prop_assert!(!is_proven || is_within(row.limit_ns), "seed {}: {:?} is proven: {:?}", seed, found, row);
            *worst = (*worst).max(found);
        }
    }
    let sum_of_periods_and_responses = || {
        let jobs = of_jobs(&scenario, 1).jobs;
        sample.path.iter().try_fold(0, |sum, &number| {
            let thread = scenario.threads.iter().position(|thread| *thread.label == format!("T{number}"))?;
            let period = sample.threads[number].period_ms * MS;
            let own = jobs.iter().filter(|job| job.thread as usize == thread);
            let responses: Option<Vec<u64>> = own.map(|job| job.bound_ns.map(Duration::as_ns)).collect();
            Some(sum + period + responses?.into_iter().max().unwrap_or(sample.threads[number].ms[2] * MS))
        })
    };
    // Davare, Zhu, Di Natale, Pinello, Kanajan and Sangiovanni-Vincentelli, "Period Optimization for Hard Real-time
    // Distributed Automotive Systems", DAC 2007: no longer than all periods and responses, of jobs in all their phases.
    let fits = |one: &Thread| one.release_ms < one.period_ms && 80_u64.is_multiple_of(one.period_ms);
    let has_triggers = (0..sample.threads.len()).any(|number| sample.trigger(number).is_some());
    let is_known = sample.horizon_ms >= Some(240) && sample.threads.iter().all(fits) && !has_triggers;
    let sum = is_known.then(sum_of_periods_and_responses).flatten();
    if let (Some(bound), Some(sum)) = (rows[0].bound_ns, sum) {
        prop_assert!(bound.as_ns() <= sum, "{} is above {}", bound.as_ns(), sum);
    }
    let ratio = |(row, worst): (&ChainVerdict, &Option<u64>)| {
        Some(row.bound_ns?.as_ns() as f64 / worst.filter(|worst| *worst > 0)? as f64)
    };
    Ok(rows.iter().zip(&worst).filter_map(ratio).collect())
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn chains_of_a_run_are_what_its_registers_do_and_no_run_is_above_a_bound(sample in samples()) {
        ratios(&sample, 4)?;
    }
}

#[test]
#[ignore = "a long campaign"]
fn long_campaign_no_run_of_a_chain_is_above_its_bound() {
    println!("{}", campaign("chains", 25_000, &samples(), |sample| ratios(&sample, 4)));
}

#[test]
fn both_commands_tell_of_chains_and_check_them() {
    let path = "scenarios/deadlines/camera-to-brake.json";
    for command in ["simulate", "analyze"] {
        let document = crate::common::json(&[command, path, "--format", "json"]);
        let chains = document["chains"].as_array().expect("there are chains");
        let named: Vec<_> = chains.iter().map(|chain| chain["measure"].as_str().expect("it has one")).collect();
        assert_eq!(named, ChainMeasure::ALL.map(ChainMeasure::name));
        assert_eq!(chains[0]["jobs"], "camera 1 > vision 2 > brake 6");
        assert!(gpusched(&[command, path, "--check"]).status.success());
    }
    let text = std::fs::read_to_string(path).expect("it is there").replace("\"80 ms\", \"data", "\"60 ms\", \"data");
    let directory = crate::common::directory("chains");
    let (late, witness) = (directory.join("late.json"), directory.join("witness.json"));
    std::fs::write(&late, text).expect("it can be written");
    let (late, witness) = (late.display().to_string(), witness.display().to_string());
    for command in ["simulate", "analyze"] {
        assert_eq!(gpusched(&[command, &late, "--check"]).status.code(), Some(1));
    }
    let output = gpusched(&["analyze", &late, "--witness", &witness]);
    let said = crate::common::stderr(&output);
    assert!(
        said.contains("the reaction time of camera to brake is too long, by camera 1 > vision 2 > brake 6"),
        "{said}"
    );
    assert_eq!(gpusched(&["simulate", &witness, "--check"]).status.code(), Some(1));
    // Jobs that may come any time later make any chain longer.
    assert_eq!(gpusched(&["analyze", path, "--sporadic", "--check"]).status.code(), Some(1));
}
