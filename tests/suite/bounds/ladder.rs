//! What would have to be guaranteed for each deadline: no run that uses just the freedom of an assumption is above its
//! bound, and what is proven under a weaker one is under a stronger one.

use std::sync::Arc;

use gpusched::analysis::{Ladder, Rung, Verdict, ladder};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{Deadline, HostThread, Scenario};
use gpusched::time::Duration;
use gpusched::workload::{BlockTime, CopyId, KernelId, Placement};
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::random::{Sample, sample};
use super::{MS, scenario, witness_b};
use crate::campaign::{campaign, config};
use crate::common::tx2;

const KERNELS: &str = r#""A": {"blocks": 4, "threads": 1024, "duration": "1 ms"},
    "B": {"blocks": 4, "threads": 1024, "duration": {"best": "8 ms", "worst": "10 ms"}}"#;

fn found(scenario: &Scenario, search: Option<Duration>) -> Ladder {
    ladder(scenario, search, Progress::NONE).expect("no run is above a bound")
}

fn of(streams: &str) -> Ladder {
    found(&scenario(KERNELS, streams, &tx2()), None)
}

fn stream(name: &str, kernel: &str, more: &str) -> String {
    format!(r#"{{"name": "{name}", "period": "100 ms", "jobs": 2, "operations": [{{"kernel": "{kernel}"}}]{more}}}"#)
}

/// Under each assumption, and the weakest of those under which it is proven.
fn row(ladder: &Ladder, stream: &str) -> (Vec<Verdict>, Option<Rung>) {
    let row = ladder.rows.iter().find(|row| row.stream == stream).expect("it is there");
    (row.under.iter().map(|under| under.verdict).collect(), row.proven_under)
}

/// Missed under all assumptions before `rung`, proven from there on.
fn from(rung: Rung) -> (Vec<Verdict>, Option<Rung>) {
    let verdict = |other: Rung| if (other as usize) < rung as usize { Verdict::Missed } else { Verdict::Proven };
    (Rung::ALL.into_iter().map(verdict).collect(), Some(rung))
}

#[test]
fn a_deadline_that_holds_in_the_declared_order_alone_is_proven_under_that() {
    let streams = [stream("short", "A", r#", "deadline": "2 ms""#), stream("long", "B", "")];
    let found = of(&streams.join(", "));
    assert_eq!(row(&found, "short"), from(Rung::DeclaredOrder));
    assert_eq!(row(&found, "long"), from(Rung::Sporadic));
}

#[test]
fn a_run_is_not_said_to_repeat_where_it_depends_on_what_was_before() {
    let in_run = |scenario: &Scenario| row(&found(scenario, None), "S").0[Rung::Run as usize];
    // Each block to the next SM: first A's to SM 0, those of S to SM 1, the only one that it may use, and C's to SM 0;
    // A's next one to SM 1, where S then has room for one of its two blocks and takes 6 ms in place of 3.
    let kernels = r#""a": {"blocks": 1, "threads": 1024, "duration": "4 ms"},
        "s": {"blocks": 2, "threads": 1024, "duration": "3 ms", "sm_mask": "0x1"}"#;
    let streams = r#"{"name": "A", "period": "20 ms", "operations": [{"kernel": "a"}]},
        {"name": "S", "period": "20 ms", "deadline": "5 ms", "operations": [{"kernel": "s"}]},
        {"name": "C", "period": "20 ms", "operations": [{"memset": 1}, {"kernel": "a"}]}"#;
    let mut placed = scenario(kernels, streams, &tx2());
    assert_eq!(in_run(&placed), Verdict::Proven);
    placed.placement = Placement::RoundRobin;
    assert_eq!(in_run(&placed), Verdict::Open);
    // 9.5 ms, from the second job on after a gap of 1 ms.
    let kernels = r#""s": {"blocks": 4, "threads": 1024, "duration": "9500 us"}"#;
    let stream = r#"{"name": "S", "period": "10 ms", "deadline": "9700 us", "operations": [{"kernel": "s"}]}"#;
    assert_eq!(in_run(&scenario(kernels, stream, &tx2())), Verdict::Proven);
    let with_gap = tx2().with_latencies(Duration::ZERO, Duration::from_ns(MS));
    assert_eq!(in_run(&scenario(kernels, stream, &with_gap)), Verdict::Open);
    // 1 ms, from the second job on after a switch of 0.2 ms from what Q did.
    let kernels = r#""s": {"blocks": 4, "threads": 1024, "duration": "1 ms"}"#;
    let stream = |name: &str, process: &str, deadline: u64| {
        format!(
            r#"{{"name": "{name}"{process}, "period": "20 ms", "deadline": "{deadline} us", "operations": [{{"kernel": "s"}}]}}"#
        )
    };
    let of_two = [stream("S", r#", "process": "p""#, 1_100), stream("Q", r#", "process": "q""#, 20_000)].join(", ");
    assert_eq!(in_run(&scenario(kernels, &of_two, &tx2())), Verdict::Open);
}

#[test]
fn a_release_that_is_given_and_one_that_is_not_differ() {
    // Released 50 ms apart, they never meet.
    let streams = [stream("short", "A", r#", "deadline": "2 ms""#), stream("long", "B", r#", "release": "50 ms""#)];
    assert_eq!(row(&of(&streams.join(", ")), "short"), from(Rung::Jitter));
}

#[test]
fn a_jitter_that_makes_streams_meet_is_told_from_releases_that_are_given() {
    // The second may be released with the first 50 ms after its arrival.
    let streams = |jitter: &str| {
        let late = format!(r#", "release": "50 ms", "jitter": "{jitter}""#);
        [stream("short", "A", r#", "deadline": "2 ms", "release": "100 ms""#), stream("long", "B", &late)].join(", ")
    };
    assert_eq!(row(&of(&streams("50 ms")), "short"), from(Rung::Given));
    // Any phasing makes them meet; 30 ms do not, but no bound says so.
    let (verdicts, under) = row(&of(&streams("30 ms")), "short");
    assert_eq!((&verdicts[..3], under), (&[Verdict::Missed, Verdict::Open, Verdict::Proven][..], Some(Rung::Given)));
}

#[test]
fn block_times_that_are_known_are_told_from_those_that_may_be_shorter() {
    let (verdicts, _) = row(&found(&witness_b(), None), "S2");
    let under = |rung: Rung| verdicts[rung as usize];
    assert_eq!((under(Rung::DeclaredOrder), under(Rung::OrderAndTimes)), (Verdict::Missed, Verdict::Proven));
}

#[test]
fn what_its_own_run_misses_is_missed_under_every_assumption() {
    let streams = [stream("long", "B", ""), stream("short", "A", r#", "deadline": "2 ms""#)];
    assert_eq!(row(&of(&streams.join(", ")), "short"), (vec![Verdict::Missed; 7], None));
}

#[test]
fn nothing_is_open_in_the_run_itself_unless_the_horizon_comes_first() {
    let streams = stream("S", "A", r#", "jitter": "99500 us""#);
    // A job may be released 99.5 ms after it arrives, and then takes 1 ms.
    assert_eq!(row(&of(&streams), "S"), from(Rung::Given));
    // The second job is late, and goes on at the horizon.
    let mut cut = scenario(KERNELS, &stream("S", "B", r#", "deadline": "1 ms""#), &tx2());
    cut.horizon = Some(Duration::from_ns(102 * MS));
    assert_eq!(row(&found(&cut, None), "S"), (vec![Verdict::Missed; 7], None));
    // No bound over all phasings says what becomes of a single job that is not due by then.
    let once = r#"{"name": "S", "deadline": "11 ms", "operations": [{"kernel": "B"}]}"#;
    let mut cut = scenario(KERNELS, once, &tx2());
    cut.horizon = Some(Duration::from_ns(5 * MS));
    assert_eq!(row(&found(&cut, None), "S"), (vec![Verdict::Open; 7], None));
}

#[test]
fn a_host_that_never_comes_to_its_next_job_is_not_proven() {
    let text = r#"{"format": "gpusched-scenario/1", "name": "busy",
        "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "1 ms"}}, "streams": [{"name": "S"}],
        "hosts": [{"name": "H", "period": "10 ms", "iterations": 3, "steps": [
            {"launch": "K", "stream": "S"}, {"sleep": "100 ms"}]}]}"#;
    let mut busy = Scenario::from_json("busy.json", text, &gpusched::scenario::ReadOptions::default()).expect("sound");
    busy.horizon = Some(Duration::from_ns(50 * MS));
    assert_eq!(row(&found(&busy, None), "H"), (vec![Verdict::Missed; 7], None));
}

/// A job of its own thread: its thread in the scenario, and when it arrives.
struct Lone {
    thread: usize,
    arrival: u64,
}

/// The jobs of `whole` as threads, all that `rung` leaves open drawn.
fn drawn(whole: &Scenario, rung: Rung, numbers: &mut ChaCha8Rng) -> (Scenario, Vec<Lone>) {
    let mut run = whole.clone();
    (run.threads, run.horizon) = (Vec::new(), None);
    let mut jobs: Vec<(Lone, HostThread)> = Vec::new();
    for (number, thread) in whole.threads.iter().enumerate() {
        let mut arrival = thread.release.as_ns();
        if rung == Rung::Sporadic {
            arrival = numbers.random_range(0..30) * MS / 2;
        }
        for job in 0..thread.iterations.expect("it is stated") {
            let late = match rung {
                Rung::Sporadic | Rung::Jitter => numbers.random_range(0..=thread.jitter.as_ns()),
                _ => 0,
            };
            let release = Duration::from_ns(arrival + late);
            jobs.push((
                Lone { thread: number, arrival },
                HostThread::once(format!("{number} {job}"), release, thread.steps.clone()),
            ));
            arrival += thread.period.map_or(0, Duration::as_ns);
            if rung == Rung::Sporadic && numbers.random_range(0..4) == 0 {
                arrival += numbers.random_range(0..20) * MS / 2;
            }
        }
    }
    if !matches!(rung, Rung::DeclaredOrder | Rung::OrderAndTimes) {
        // Threads in any order, the jobs of each in theirs.
        let mut ranks: Vec<usize> = (0..whole.threads.len()).collect();
        ranks.shuffle(numbers);
        jobs.sort_by_key(|(job, _)| ranks[job.thread]);
    }
    let is_stated = matches!(rung, Rung::StatedTimes | Rung::OrderAndTimes);
    for (id, kernel) in (0..).map(KernelId).zip(whole.kernels().iter()) {
        let (best, worst) = (kernel.duration.best.as_ns(), kernel.duration.worst.as_ns());
        let shortest = if is_stated { best } else { 0 };
        let time = |numbers: &mut ChaCha8Rng| match numbers.random_range(0..3) {
            0 => worst,
            _ => numbers.random_range(shortest..=worst),
        };
        run.catalogue.set_block_time(id, BlockTime::fixed(Duration::from_ns(time(numbers)))).expect("it is fixed");
        if numbers.random_range(0..2) == 0 {
            let times: Vec<Duration> = (0..kernel.blocks).map(|_| Duration::from_ns(time(numbers))).collect();
            run.block_times.insert(id, Arc::from(times));
        }
    }
    for (id, copy) in (0..).map(CopyId).zip(whole.copies()) {
        let most = copy.time().as_ns();
        if !is_stated && numbers.random_range(0..2) == 0 {
            run.catalogue.set_copy_time(id, Duration::from_ns(numbers.random_range(0..=most)));
        }
    }
    let (known, threads) = jobs.into_iter().unzip();
    run.threads = threads;
    (run, known)
}

/// Bound / worst found under every assumption.
fn climbed(sample: &Sample, jitters: &[u64], deadline_ms: u64, seed: u64) -> Result<Vec<f64>, TestCaseError> {
    let mut whole = sample.scenario();
    for (thread, jitter) in whole.threads.iter_mut().zip(jitters.iter().cycle()) {
        thread.deadline = Deadline::After(Duration::from_ns(deadline_ms * MS));
        if thread.period.is_some() {
            thread.jitter = Duration::from_ns(jitter * MS / 2);
        }
    }
    // As few runs as it does.
    let known = found(&whole, Some(Duration::from_ns(1)));
    let mut ratios = Vec::new();
    for row in &known.rows {
        let proven: Vec<bool> = row.under.iter().map(|under| under.verdict == Verdict::Proven).collect();
        prop_assert_eq!(row.proven_under.map(|rung| rung as usize), proven.iter().position(|proven| *proven));
        for (stronger, weaker) in [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (5, 4), (6, 5)] {
            prop_assert!(proven[stronger] || !proven[weaker], "{:?}", row);
            let missed = |rung: usize| row.under[rung].verdict == Verdict::Missed;
            prop_assert!(missed(weaker) || !missed(stronger), "{:?}", row);
        }
        prop_assert!(row.under(Rung::Run).verdict != Verdict::Open);
        let known = row.under.iter().filter_map(|under| under.worst_found_ns.zip(under.bound_ns));
        ratios.extend(
            known
                .filter(|(found, _)| found.as_ns() > 0)
                .map(|(found, bound)| bound.as_ns() as f64 / found.as_ns() as f64),
        );
    }
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    let own = simulate(&whole).expect("it runs");
    for job in own.jobs().begun {
        let bound = known.rows[job.thread as usize].under(Rung::Run).bound_ns;
        prop_assert!(bound >= job.response(), "{:?} {:?}", job, bound);
    }
    for rung in Rung::ALL.into_iter().filter(|rung| *rung != Rung::Run) {
        for placement in Placement::ALL {
            let (drawn, jobs) = drawn(&whole, rung, &mut numbers);
            let placed = Scenario { placement, seed, ..drawn };
            let run = simulate(&placed).expect("it runs");
            for record in run.trace.operations() {
                let job = &jobs[record.origin.thread as usize];
                let response = record.finish().map(|finish| finish.as_ns() - job.arrival);
                let bound = known.rows[job.thread].under(rung).bound_ns.map(Duration::as_ns);
                prop_assert!(
                    bound.is_none() || response <= bound,
                    "{rung:?} {placement:?}: {} takes {response:?}, and the bound is {bound:?}",
                    known.rows[job.thread].stream
                );
            }
        }
    }
    Ok(ratios)
}

fn climb() -> impl Strategy<Value = (Sample, Vec<u64>, u64, u64)> {
    let jitters = prop_oneof![1 => Just(vec![0]), 2 => prop::collection::vec(0_u64..12, 3)];
    (sample(), jitters, 4_u64..60, any::<u64>())
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn no_run_is_above_the_bound_of_its_assumption((sample, jitters, deadline_ms, seed) in climb()) {
        climbed(&sample, &jitters, deadline_ms, seed)?;
    }
}

/// Each scenario is run 24 times besides what is searched.
#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_ladders() {
    let said = campaign("ladders", 5_000, &climb(), |(sample, jitters, deadline_ms, seed)| {
        climbed(&sample, &jitters, deadline_ms, seed)
    });
    println!("{said}");
}
