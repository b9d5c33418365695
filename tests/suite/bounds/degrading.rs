//! Verdicts that degrade, not vanish: numbers past a period, with a jitter, without phases, for what goes on, and runs
//! that are as bad as the bounds. All values are by hand.

use gpusched::analysis::{JobVerdicts, SearchOptions, Verdict, chain_verdicts};
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use serde_json::{Value, json};

use super::{MS, judged};

fn read(file: &Value) -> Scenario {
    Scenario::from_json("degrading.json", &file.to_string(), &ReadOptions::default()).expect("it is sound")
}

fn searched(scenario: &Scenario, runs: u64) -> JobVerdicts<'static> {
    judged(scenario, &SearchOptions { runs, ..SearchOptions::default() })
}

/// Longest worst found and bound of any job of a thread \[ns\], and whether all are proven.
fn of_thread(verdicts: &JobVerdicts<'_>, stream: &str) -> (u64, Option<u64>, bool) {
    let jobs = || verdicts.jobs.iter().filter(|job| &*job.stream == stream);
    let found = jobs().filter_map(|job| job.worst_found_ns).max().expect("some job ends").as_ns();
    let bounds: Option<Vec<u64>> = jobs().map(|job| job.bound_ns.map(Duration::as_ns)).collect();
    let proven = jobs().all(|job| job.verdict == Some(Verdict::Proven));
    (found, bounds.and_then(|bounds| bounds.into_iter().max()), proven)
}

/// Bound, bound for any phases \[ms\], and verdict of each measure of the only chain.
fn of_chain(scenario: &Scenario, verdicts: &JobVerdicts<'_>) -> Vec<(Option<u64>, Option<u64>, Option<Verdict>)> {
    let run = simulate(scenario).expect("it runs");
    let chains = chain_verdicts(scenario, &run, verdicts, &[]).expect("no run is above a bound");
    let ms = |time: Option<Duration>| time.map(|time| time.as_ns() / MS);
    chains.rows.iter().map(|row| (ms(row.bound_ns), ms(row.unphased_bound_ns), row.verdict)).collect()
}

#[test]
fn a_host_past_its_period_has_a_number_and_so_have_those_beside_it() {
    // B, of 14 ms, holds A's kernel: A is done after 14 + 2 + 1 ms, though its next job comes after 10.
    let host = |name: &str, period: &str, steps: Value| json!({"name": name, "period": period, "steps": steps});
    let mut a = host("A", "10 ms", json!([{"launch": "short", "stream": "a"}, {"synchronize": "a"}, {"work": "1 ms"}]));
    a["deadline"] = json!("30 ms");
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "past its period", "device": "tx2",
        "kernels": {"short": {"blocks": 4, "threads": 1024, "duration": "2 ms"},
                    "long": {"blocks": 4, "threads": 1024, "duration": "14 ms"}},
        "streams": [{"name": "a"}, {"name": "b"}],
        "hosts": [a, host("B", "40 ms", json!([{"launch": "long", "stream": "b"}, {"synchronize": "b"}]))],
        "chains": [{"name": "A to B", "path": ["A", "B"], "reaction_time": "150 ms"}],
    }));
    let verdicts = searched(&scenario, 64);
    let (found, bound, proven) = of_thread(&verdicts, "A");
    assert_eq!((found, proven), (17 * MS, true), "{bound:?}");
    assert!(bound.is_some_and(|bound| (17 * MS..=30 * MS).contains(&bound)), "{bound:?}");
    // Jobs of A queue: how many there are beside B counts with all of that bound.
    let (found, bound, proven) = of_thread(&verdicts, "B");
    assert!(found == 16 * MS && proven && bound.is_some(), "{found} {bound:?}");
    assert!(of_chain(&scenario, &verdicts).iter().all(|(bound, unphased, _)| bound.is_some() && unphased.is_some()));
}

#[test]
fn of_a_context_that_seldom_has_work_few_turns_are_lost_to_switches() {
    // A kernel of 10 ms meets one job of the other context, of 0.1 ms: a switch there and one back, and one at first.
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "turns", "device": "tx2", "switch_cost": "200 us",
        "processes": {"P": {}, "Q": {}},
        "kernels": {"long": {"blocks": 1, "threads": 1024, "duration": "10 ms"},
                    "short": {"blocks": 1, "threads": 1024, "duration": "100 us"}},
        "streams": [{"name": "long", "process": "P", "period": "50 ms", "operations": [{"kernel": "long"}]},
                    {"name": "short", "process": "Q", "period": "100 ms", "operations": [{"kernel": "short"}]}],
    }));
    let (found, bound, _) = of_thread(&searched(&scenario, 64), "long");
    assert!(found <= 10_500_000, "{found}");
    // 10.1 ms and three switches; with as many as slices, ten of them, 14 ms.
    assert_eq!(bound, Some(10_700_000));
}

#[test]
fn a_jitter_is_counted_and_a_chain_has_bounds_with_and_without_phases() {
    let scenario = |jitter: &str| {
        read(&json!({
            "format": "gpusched-scenario/1", "name": "late", "device": "tx2",
            "kernels": {"k": {"blocks": 1, "threads": 32, "duration": "1 us"}},
            "streams": [{"name": "s", "operations": [{"kernel": "k"}]}],
            "hosts": [{"name": "A", "period": "10 ms", "jitter": jitter, "core": 0, "steps": [{"work": "1 ms"}]},
                      {"name": "B", "period": "20 ms", "core": 1, "steps": [{"work": "3 ms"}]}],
            "chains": [{"name": "A to B", "path": ["A", "B"], "reaction_time": "33 ms", "data_age": "12 ms"}],
        }))
    };
    let late = scenario("2 ms");
    let verdicts = searched(&late, 64);
    assert_eq!(of_thread(&verdicts, "A").1, Some(3 * MS));
    // Just after A has read at 10 ms: it reads by 22 ms, B at 40 ms, and is done at 43 ms. Without phases 10 + 3 + 20 +
    // 3 ms. An output of B at 23 ms is made of what A has read at 10 ms; without phases 10 + 3 + 3 ms.
    let proven = (Some(33), Some(36), Some(Verdict::Proven));
    assert_eq!(of_chain(&late, &verdicts), [proven, (Some(13), Some(16), Some(Verdict::Missed))]);
    // With 9 ms A may be done only after the next B has read.
    let later = scenario("9 ms");
    let verdicts = searched(&later, 64);
    assert_eq!(of_thread(&verdicts, "A").1, Some(10 * MS));
    assert_eq!(of_chain(&later, &verdicts)[0].0, Some(33));
    // What is first released after its period lets events wait for longer at first.
    let mut file = serde_json::from_str::<Value>(&late.to_native_json().expect("it is written")).expect("JSON");
    file["hosts"][1]["release"] = json!("50 ms");
    let first_late = read(&file);
    assert!(of_chain(&first_late, &searched(&first_late, 64)).iter().all(|(_, unphased, _)| unphased.is_none()));
    // A job of A that comes at 10 ms may then be done at 20.5 ms, half a period late.
    let latest = scenario("9.5 ms");
    assert_eq!(of_chain(&latest, &searched(&latest, 64))[0].0, Some(43));
}

#[test]
fn blocks_that_end_just_before_a_job_comes_give_it_the_worst_run_there_is() {
    // Of eight blocks of `camera`, which fill both SMs from 3 ms on, four end just before 12 ms, and the last four take
    // their room until 32 ms. `brake` needs half an SM for each of its three blocks. If three of those that go on until
    // 23 ms are on one SM, its blocks begin at 23, 28 and just before 32 ms: it takes 25 ms less 1 ns.
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "early ends", "device": "tx2",
        "kernels": {"camera": {"blocks": 12, "threads": 512, "duration": "20 ms"},
                    "brake": {"blocks": 3, "threads": 1024, "duration": "5 ms"}},
        "streams": [{"name": "camera", "release": "3 ms", "operations": [{"kernel": "camera"}]},
                    {"name": "brake", "release": "12 ms", "priority": -1, "deadline": "20 ms",
                     "operations": [{"kernel": "brake"}]}],
    }));
    let verdicts = judged(&scenario, &SearchOptions::default());
    assert_eq!(of_thread(&verdicts, "brake"), (25 * MS - 1, Some(25 * MS - 1), false));
    assert_eq!(verdicts.jobs[1].verdict, Some(Verdict::Missed));
}

#[test]
fn green_contexts_that_both_copy_are_bounded_beside_the_copies_of_the_other() {
    // One engine: a copy of 2 ms waits for one of 3 ms, and then a kernel of 5 ms has its SM for itself.
    let stream = |name: &str, copy: &str, kernel: &str| {
        json!({"name": name, "green_context": name, "period": "20 ms",
               "operations": [{"copy": "host-to-device", "duration": copy}, {"kernel": kernel}]})
    };
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "green", "device": "tx2",
        "kernels": {"five": {"blocks": 2, "threads": 1024, "duration": "5 ms"},
                    "seven": {"blocks": 2, "threads": 1024, "duration": "7 ms"}},
        "green_contexts": [{"sms": 1, "names": ["x"], "remaining": "y"}],
        "streams": [stream("x", "2 ms", "five"), stream("y", "3 ms", "seven")],
    }));
    let verdicts = searched(&scenario, 64);
    assert_eq!(of_thread(&verdicts, "x"), (10 * MS, Some(10 * MS), true));
    assert_eq!(of_thread(&verdicts, "y"), (12 * MS, Some(12 * MS), true));
}

#[test]
fn nothing_is_proven_of_what_is_late_after_its_first_hyperperiods_alone() {
    // Every kernel fills the GPU. The job of B at 115 ms, which had none 20 ms before, holds D (116 ms), and with it B
    // at 120 ms and A at 121 ms: that one and each later one takes 7 ms, and none before 120 ms more than 5.
    let stream = |name: &str, release: &str, period: &str, deadline: &str, kernel: &str| {
        json!({"name": name, "release": release, "period": period, "deadline": deadline,
               "operations": [{"kernel": kernel}]})
    };
    let file = json!({
        "format": "gpusched-scenario/1", "name": "late later", "device": "tx2",
        "kernels": {"three": {"blocks": 4, "threads": 1024, "duration": "3 ms"},
                    "four": {"blocks": 4, "threads": 1024, "duration": "4 ms"}},
        "streams": [stream("A", "1 ms", "20 ms", "6 ms", "three"), stream("B", "100 ms", "5 ms", "20 ms", "three"),
                    stream("D", "16 ms", "20 ms", "20 ms", "four")],
    });
    let verdicts = searched(&read(&file), 64);
    let of_a = verdicts.jobs.iter().filter(|job| &*job.stream == "A").map(|job| job.verdict);
    assert_eq!(of_a.collect::<Vec<_>>(), [Some(Verdict::Open); 6]);
    let mut longer = file;
    longer["horizon"] = json!("200 ms");
    let missed = searched(&read(&longer), 64);
    let missed = missed.jobs.iter().filter(|job| job.verdict == Some(Verdict::Missed)).map(|job| job.job);
    assert_eq!(missed.collect::<Vec<_>>(), [6, 7, 8, 9]);
}

#[test]
fn a_lower_priority_keeps_the_turns_of_a_context_that_the_job_needs_too() {
    // The job needs a turn of P after one of Q, where ten waves of `low` are at work: 100 ms, in a slice of 200 ms.
    let stream = |name: &str, process: &str, operations: Value| {
        json!({"name": name, "process": process, "priority": -1, "period": "1 s", "release": "1 ms",
               "operations": operations})
    };
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "two contexts", "device": "tx2", "switch_cost": "0 s", "horizon": "2 s",
        "processes": {"P": {"time_slice": "200 ms"}, "Q": {"time_slice": "200 ms"}},
        "kernels": {"short": {"blocks": 1, "threads": 32, "duration": "1 ms"},
                    "low": {"blocks": 20, "threads": 32, "duration": "10 ms", "shared_memory_bytes": 40960}},
        "streams": [stream("p", "P", json!([{"wait": "e"}, {"kernel": "short"}])),
                    stream("q", "Q", json!([{"kernel": "short"}, {"record": "e"}])),
                    {"name": "low", "process": "Q", "priority": 0, "period": "1 s", "operations": [{"kernel": "low"}]}],
    }));
    // A bound below what is found would end this with an error.
    let (found, bound, _) = of_thread(&searched(&scenario, 64), "p");
    assert!(found >= 90 * MS && bound.is_none_or(|bound| bound >= 100 * MS), "{found} {bound:?}");
}

#[test]
fn a_host_that_sleeps_beyond_its_period_is_missed_in_its_own_run() {
    // Jobs of 15 ms come every 10 ms: the second one ends at 30 ms, 20 after it came, and the third 25 after that.
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "asleep", "device": "tx2", "horizon": "46 ms",
        "hosts": [{"name": "h", "period": "10 ms", "deadline": "18 ms", "steps": [{"sleep": "15 ms"}]}],
    }));
    let verdicts = searched(&scenario, 64);
    let known = verdicts.jobs.iter().take(3).map(|job| (job.worst_found_ns.map(Duration::as_ns), job.verdict));
    let known: Vec<_> = known.collect();
    let (proven, missed) = (Some(Verdict::Proven), Some(Verdict::Missed));
    assert_eq!(known, [(Some(15 * MS), proven), (Some(20 * MS), missed), (Some(25 * MS), missed)]);
}

#[test]
fn jobs_of_a_stream_do_not_overtake_one_another_however_late_they_are() {
    // Each is released up to 30 ms late, in its turn, and takes 5 ms: 35 ms, and never more.
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "very late", "device": "tx2",
        "kernels": {"k": {"blocks": 4, "threads": 1024, "duration": "5 ms"}},
        "streams": [{"name": "s", "period": "20 ms", "jitter": "30 ms", "deadline": "36 ms", "jobs": 4,
                     "operations": [{"kernel": "k"}]}],
    }));
    let verdicts = searched(&scenario, 512);
    assert!(of_thread(&verdicts, "s").0 <= 35 * MS, "{:?}", verdicts.jobs);
}

#[test]
fn what_goes_on_past_one_hyperperiod_has_a_number() {
    // The job of 100 ms ends after 113 ms, when the last stream comes again.
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "goes on", "device": "tx2",
        "kernels": {"k": {"blocks": 8, "threads": 1024, "duration": "10 ms"}},
        "streams": [{"name": "first", "period": "100 ms", "operations": [{"kernel": "k"}]},
                    {"name": "again", "release": "13 ms", "period": "100 ms", "operations": [{"kernel": "k"}]}],
    }));
    let verdicts = searched(&scenario, 64);
    assert!(verdicts.jobs.iter().all(|job| job.bound_ns.is_some()), "{:?}", verdicts.jobs);
}
