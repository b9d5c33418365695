//! Hosts whose jobs are released by the ends of those of others: runs, bounds and chains by hand, and what is refused.

use gpusched::analysis::{
    JobVerdicts, SearchOptions, SporadicVerdicts, Verdict, chain_verdicts, judge, judge_sporadic,
};
use gpusched::audit::{AuditRule, ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::hosts::{AnyLength, HeldAtMost, SimulateOptions, simulate, simulate_any_length};
use gpusched::logs::LogTime;
use gpusched::run::{CriticalPath, PathEnd, Responses, Run, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use serde_json::{Value, json};

use crate::agreement::agreed;
use crate::common::{directory, gpusched, stderr};

const MS: u64 = 1_000_000;

/// Hosts beside a kernel K that fills a TX2 for 5 ms, and the streams G and H.
fn file(hosts: &Value) -> Value {
    json!({
        "format": "gpusched-scenario/1", "name": "triggers",
        "kernels": {"K": {"blocks": 4, "threads": 1024, "duration": "5 ms"}},
        "streams": [{"name": "G"}, {"name": "H"}], "hosts": hosts,
    })
}

fn read(file: &Value) -> Scenario {
    let options = ReadOptions::default();
    Scenario::from_json("triggers.json", &file.to_string(), &options)
        .unwrap_or_else(|error| panic!("{error}\n{file:#}"))
}

fn refused(file: &Value) -> String {
    let read = Scenario::from_json("wrong.json", &file.to_string(), &ReadOptions::default());
    read.expect_err("it is refused").to_string()
}

/// Of a thread: when each job was released, began and had finished \[ms\].
fn jobs_ms(run: &Run<'_>, thread: u32) -> Vec<(u64, u64, Option<u64>)> {
    let jobs = Summary::of(run).jobs();
    let own = jobs.begun.iter().filter(|job| job.thread == thread);
    let ms = |at: gpusched::time::Instant| at.as_ns() / MS;
    own.map(|job| (ms(job.released), ms(job.began), job.finished.map(ms))).collect()
}

fn ms(time: Duration) -> u64 {
    time.as_ns() / MS
}

fn judged(scenario: &Scenario) -> JobVerdicts<'_> {
    let options = SearchOptions { runs: 64, ..SearchOptions::default() };
    judge(scenario, &options, Progress::NONE).expect("no run is above a bound")
}

fn over_all_phasings(scenario: &Scenario) -> SporadicVerdicts {
    let options = SearchOptions { runs: 64, ..SearchOptions::default() };
    judge_sporadic(scenario, &[], &options, Progress::NONE).expect("no run is above a bound")
}

/// By thread: the largest bound of its jobs \[ms\]; `None`: some has none.
fn bounds_ms(judged: &JobVerdicts<'_>, threads: u32) -> Vec<Option<u64>> {
    let of_thread = |thread| {
        let own = judged.jobs.iter().filter(|job| job.thread == thread);
        let bounds: Option<Vec<u64>> = own.map(|job| job.bound_ns.map(Duration::as_ns)).collect();
        bounds?.into_iter().max().map(|bound| bound / MS)
    };
    (0..threads).map(of_thread).collect()
}

/// A camera that works for 2 ms every 20 ms, a detector on the GPU, and a tracker that works for 3 ms.
fn pipeline() -> Value {
    json!([
        {"name": "tracker", "triggered_by": "detector", "deadline": "3 ms", "steps": [{"work": "3 ms"}]},
        {"name": "detector", "triggered_by": "camera", "deadline": "6 ms", "steps": [
            {"work": "1 ms"}, {"launch": "K", "stream": "G"}, {"synchronize": "last"}]},
        {"name": "camera", "period": "20 ms", "iterations": 3, "steps": [{"work": "2 ms"}]},
    ])
}

#[test]
fn each_end_of_a_job_releases_one_and_responses_count_from_there() {
    let scenario = read(&file(&pipeline()));
    let run = agreed(&scenario).expect("reference and audit agree");
    assert_eq!(jobs_ms(&run, 2), [(0, 0, Some(2)), (20, 20, Some(22)), (40, 40, Some(42))]);
    assert_eq!(jobs_ms(&run, 1), [(2, 2, Some(8)), (22, 22, Some(28)), (42, 42, Some(48))]);
    assert_eq!(jobs_ms(&run, 0), [(8, 8, Some(11)), (28, 28, Some(31)), (48, 48, Some(51))]);
    // Nobody is in the way, so that each takes what it takes alone, whenever the camera comes.
    let judged = judged(&scenario);
    assert_eq!(bounds_ms(&judged, 3), [Some(3), Some(6), Some(2)]);
    assert!(judged.all_proven() && over_all_phasings(&scenario).all_proven());
    let periods =
        over_all_phasings(&scenario).streams.iter().map(|stream| stream.period_ns.as_ns() / MS).collect::<Vec<_>>();
    assert_eq!(periods, [20, 20, 20], "their jobs are a period of the camera apart");
    let text = scenario.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again.json", &text, &ReadOptions::default()).expect("it can be read");
    assert_eq!(again.threads, scenario.threads);
}

#[test]
fn outputs_queue_while_who_takes_them_is_busy_and_none_is_lost() {
    // b takes 6 ms for what comes at 1, 5 and 9 ms.
    let hosts = json!([
        {"name": "a", "period": "4 ms", "iterations": 3, "steps": [{"work": "1 ms"}]},
        {"name": "b", "triggered_by": "a", "deadline": "7 ms", "steps": [{"work": "6 ms"}]},
    ]);
    let scenario = read(&file(&hosts));
    let run = agreed(&scenario).expect("reference and audit agree");
    assert_eq!(jobs_ms(&run, 1), [(1, 1, Some(7)), (5, 7, Some(13)), (9, 13, Some(19))]);
    let misses = Summary::of(&run).responses().iter().map(|row| row.misses).collect::<Vec<_>>();
    assert_eq!(misses, [Some(0), Some(2)]);
    // At 8 ms the second is under way, and at 10 ms the third has not begun.
    let mut cut = file(&hosts);
    cut["horizon"] = "10 ms".into();
    let scenario = read(&cut);
    let run = agreed(&scenario).expect("reference and audit agree");
    let jobs = Summary::of(&run).jobs();
    assert_eq!(
        jobs.backlog.iter().map(|late| (late.thread, late.releases, late.missed)).collect::<Vec<_>>(),
        [(1, 1, 0)]
    );
    // More comes than b can take: nothing bounds it, and a is not concerned.
    let judged = judged(&scenario);
    assert_eq!(bounds_ms(&judged, 2), [Some(1), None]);
    assert!(
        judged.notes.iter().any(|note| note.contains("\"b\" may not be done when the next one comes")),
        "{:?}",
        judged.notes
    );
}

#[test]
fn a_long_run_of_which_pieces_leave_counts_the_same_jobs() {
    // Of each four ends of a, b takes three.
    let mut file = file(&json!([
        {"name": "a", "period": "4 ms", "steps": [{"launch": "K", "stream": "H"}, {"synchronize": "H"}]},
        {"name": "b", "triggered_by": "a", "deadline": "9 ms", "steps": [{"launch": "L", "stream": "G"}, {"sleep": "5 ms"}]},
    ]));
    file["horizon"] = "2 s".into();
    file["kernels"] = json!({"K": {"blocks": 1, "threads": 32, "duration": "1 ms"},
                             "L": {"blocks": 1, "threads": 32, "duration": "2 ms"}});
    let scenario = read(&file);
    let whole = simulate(&scenario).expect("it runs");
    let held = HeldAtMost { whole: 10_000, piece: 10_000, rows: 0 };
    let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).expect("it runs");
    let AnyLength::Long(run) = &run else { panic!("it is long") };
    let row = |row: &Responses<'_>| (row.jobs, row.unfinished, row.misses, row.times.clone());
    let rows: Vec<_> = run.sums().responses().iter().map(row).collect();
    assert_eq!(rows, Summary::of(&whole).responses().iter().map(row).collect::<Vec<_>>());
    let jobs: Vec<_> = rows.iter().map(|(jobs, unfinished, misses, _)| (*jobs, *unfinished, *misses)).collect();
    // Job n of b is released at 4 n + 1 ms and ends at 5 n + 6 ms: late from job 5 on. Job 398 is the last that ends;
    // of those after it, up to job 497 the deadline of 9 ms has passed.
    assert_eq!(jobs, [(501, 1, Some(0)), (500, 101, Some(493))]);
}

#[test]
fn a_critical_path_goes_from_a_job_to_the_one_whose_end_released_it() {
    let mut file = file(&json!([
        {"name": "h", "triggered_by": "S", "steps": [{"sleep": "1 ms"}, {"launch": "K", "stream": "G"}]},
        {"name": "i", "triggered_by": "h", "steps": [{"launch": "K", "stream": "H"}]},
    ]));
    file["streams"].as_array_mut().expect("it is one").insert(0, json!({"name": "S", "operations": [{"kernel": "K"}]}));
    let run = agreed(&read(&file)).expect("reference and audit agree");
    let path = CriticalPath::of_run(&Summary::of(&run)).expect("it ended");
    let parts: Vec<_> = path.parts.iter().map(|part| (part.from.as_ns() / MS, part.to.as_ns() / MS)).collect();
    assert_eq!(parts, [(0, 5), (5, 6), (6, 11), (11, 16)], "{:?}", path.end);
    assert_eq!(path.end, PathEnd::Begin);
}

#[test]
fn a_pipeline_may_be_longer_than_a_period_if_each_of_its_hosts_keeps_up() {
    // b is done 8 ms after a arrives and c 11 ms, as jobs wait in order before each: of b one is there when the next
    // one arrives, so that all that is known of how long they take is that. From a's arrival to c's end it is no sum.
    let mut file = file(&json!([
        {"name": "a", "period": "6 ms", "steps": [{"work": "3 ms"}]},
        {"name": "b", "triggered_by": "a", "deadline": "8 ms", "steps": [{"work": "5 ms"}]},
        {"name": "c", "triggered_by": "b", "deadline": "11 ms", "steps": [{"work": "3 ms"}]},
    ]));
    file["horizon"] = "29 ms".into();
    file["chains"] = json!([{"name": "all", "path": ["a", "b", "c"], "reaction_time": "17 ms", "data_age": "11 ms"}]);
    let scenario = read(&file);
    let run = agreed(&scenario).expect("reference and audit agree");
    assert_eq!(jobs_ms(&run, 2), [(8, 8, Some(11)), (14, 14, Some(17)), (20, 20, Some(23)), (26, 26, Some(29))]);
    let judged = judged(&scenario);
    let chains = chain_verdicts(&scenario, &run, &judged, &[]).expect("no run is above a bound");
    let of_any = judged.jobs.iter().filter(|job| job.bound_ns.is_some()).map(|job| (job.thread, job.bound_ns));
    let of_any: std::collections::BTreeSet<_> = of_any.map(|(thread, bound)| (thread, bound.map(ms))).collect();
    assert_eq!(of_any.into_iter().collect::<Vec<_>>(), [(0, Some(3)), (1, Some(8)), (2, Some(11))]);
    assert_eq!(chains.rows.iter().map(|row| row.bound_ns.map(ms)).collect::<Vec<_>>(), [Some(17), Some(11)]);
}

#[test]
fn jobs_of_streams_release_hosts_when_their_last_operation_has_ended() {
    let mut file = file(&json!([{"name": "h", "triggered_by": "S", "steps": [{"work": "1 ms"}]}]));
    file["streams"] = json!([{"name": "S", "period": "20 ms", "jobs": 2, "operations": [
        {"kernel": "K"}, {"copy": "device-to-host", "duration": "1 ms"}]}]);
    let run = agreed(&read(&file)).expect("reference and audit agree").into_owned();
    assert_eq!(jobs_ms(&run, 1), [(6, 6, Some(7)), (26, 26, Some(27))]);
}

#[test]
fn a_job_that_releases_another_at_an_instant_goes_before_it_and_hosts_declared_earlier_do_not() {
    // At 2 ms a ends; b, declared before it, is released then and launches after c, whose period is over just then.
    let hosts = json!([
        {"name": "b", "triggered_by": "a", "steps": [{"launch": "K", "stream": "G"}]},
        {"name": "a", "iterations": 1, "steps": [{"sleep": "2 ms"}, {"work": "0 s"}]},
        {"name": "c", "release": "2 ms", "steps": [{"launch": "K", "stream": "H"}]},
    ]);
    let run = agreed(&read(&file(&hosts))).expect("reference and audit agree").into_owned();
    let launched: Vec<u32> = run.trace.operations().iter().map(|record| record.origin.thread).collect();
    assert_eq!(launched, [2, 0]);
}

#[test]
fn a_hop_to_who_is_released_adds_no_period_and_a_register_does() {
    // By hand, from the camera's read at 0 s: the frame of 20 ms is with the tracker from 28 to 31 ms. The planner
    // reads at 33 ms and ends at 34 ms; with registers all the way the tracker would have to be sampled.
    let mut hosts = pipeline();
    hosts
        .as_array_mut()
        .expect("it is one")
        .push(json!({"name": "planner", "release": "3 ms", "period": "10 ms", "steps": [{"work": "1 ms"}]}));
    hosts[2].as_object_mut().expect("it is one").remove("iterations");
    let mut file = file(&hosts);
    file["horizon"] = "200 ms".into();
    file["chains"] = json!([
        {"name": "released", "path": ["camera", "detector", "tracker"], "reaction_time": "31 ms", "data_age": "11 ms"},
        {"name": "and a register", "path": ["camera", "detector", "tracker", "planner"]},
        {"name": "registers alone", "path": ["camera", "tracker"]},
        {"name": "from the middle", "path": ["detector", "tracker"]},
    ]);
    let scenario = read(&file);
    let run = simulate(&scenario).expect("it runs");
    let worst = |run: &Run<'_>| -> Vec<Option<u64>> {
        let chains = Summary::of(run).chains();
        chains.iter().map(|chain| Some(chain.worst.as_ref()?.length().as_ns() / MS)).collect()
    };
    // What the camera has written at 22 ms the tracker reads at 28 ms, also where it is sampled.
    assert_eq!(worst(&run), [31, 11, 34, 24, 31, 11, 29, 9].map(Some));
    let chains = chain_verdicts(&scenario, &run, &judged(&scenario), &[]).expect("no run is above a bound");
    let bounds = |unphased: bool| -> Vec<Option<u64>> {
        let bound =
            |row: &gpusched::analysis::ChainVerdict| if unphased { row.unphased_bound_ns } else { row.bound_ns };
        chains.rows.iter().map(|row| Some(bound(row)?.as_ns() / MS)).collect()
    };
    // Any phases: 20 + 11; 20 + 11 + 10 + 1, the age without the last period; a register 20 + 2 + 20 + 11; and from
    // when the detector's jobs arrive, which is when those of the camera do.
    assert_eq!(bounds(true), [31, 11, 42, 32, 53, 33, 31, 11].map(Some));
    // Phased, the tracker's output of 31 ms is read at 33 ms; sampled, what the camera has by 22 ms is taken by a
    // tracker's job that arrives at 40 ms at the latest.
    assert_eq!(bounds(false), [31, 11, 34, 24, 51, 31, 31, 11].map(Some));
    let verdicts: Vec<_> = chains.rows[..2].iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [Some(Verdict::Proven); 2]);
}

#[test]
fn triggers_that_cannot_be_are_refused_with_their_place() {
    let with = |key: &str, value: Value| {
        let mut hosts = pipeline();
        hosts[0][key] = value;
        refused(&file(&hosts))
    };
    let circle = json!([
        {"name": "a", "triggered_by": "b", "steps": [{"work": "1 ms"}]},
        {"name": "b", "triggered_by": "a", "steps": [{"work": "1 ms"}]},
    ]);
    let itself = json!([{"name": "a", "triggered_by": "a", "steps": [{"work": "1 ms"}]}]);
    let sleeper = json!([
        {"name": "a", "steps": [{"sleep": "1 ms"}]}, {"name": "b", "triggered_by": "a", "steps": [{"work": "1 ms"}]},
    ]);
    let cases = [
        (with("triggered_by", "detektor".into()), "hosts[0].triggered_by: no stream with operations or host of this"),
        (with("triggered_by", "G".into()), "is called \"G\""),
        (with("period", "1 ms".into()), "hosts[0].period: \"period\" has no place beside \"triggered_by\""),
        (with("release", "1 ms".into()), "hosts[0].release"),
        (with("jitter", "1 ms".into()), "hosts[0].jitter"),
        (with("iterations", 3.into()), "hosts[0].iterations"),
        (with("time_limit", "1 ms".into()), "hosts[0].time_limit"),
        (with("barrier", "b".into()), "hosts[0].barrier"),
        (refused(&file(&circle)), "hosts[0].triggered_by: hosts that trigger one another in a circle never begin"),
        (refused(&file(&itself)), "in a circle"),
        (refused(&file(&sleeper)), "hosts[1].triggered_by: \"a\" does no jobs"),
    ];
    for (message, expected) in cases {
        assert!(message.contains(expected), "{message} lacks {expected}");
    }
    let directory = directory("triggers");
    let path = directory.join("pipeline.json");
    std::fs::write(&path, file(&pipeline()).to_string()).expect("it can be written");
    let path = path.display().to_string();
    let said = |arguments: &[&str]| stderr(&gpusched(arguments));
    assert!(said(&["analyze", &path, "--period", "tracker=3ms"]).contains("has no place beside"));
    assert!(said(&["analyze", &path, "--sporadic", "--jitter", "tracker=1ms"]).contains("it has no jitter of its own"));
    let certificate = directory.join("certificate.json").display().to_string();
    for how in [&["--certificate", &certificate][..], &["--sporadic", "--certificate", &certificate]] {
        let told = said(&[&["analyze", &path], how].concat());
        assert!(told.contains("the proven rules leave out jobs that others release"), "{told}");
    }
}

#[test]
fn whether_blocks_hang_that_wait_for_a_host_which_is_released_when_they_end_is_not_known_beforehand() {
    let mut file = file(&json!([
        {"name": "a", "steps": [{"launch": "K", "stream": "G"}]},
        {"name": "b", "triggered_by": "a", "steps": [{"write_value": "c", "value": 1}]},
    ]));
    file["kernels"]["K"]["wait"] = json!([{"at": 0.5, "counter": "c", "value": 1}]);
    let path = directory("triggers_hang").join("hangs.json");
    std::fs::write(&path, file.to_string()).expect("it can be written");
    let output = gpusched(&["analyze", &path.display().to_string(), "--progress", "--check"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(!told.contains("cannot hang"), "{told}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn without_a_pace_or_at_a_barrier_there_is_no_bound_and_the_note_says_why() {
    let paced = json!({"name": "b", "triggered_by": "a", "deadline": "9 ms", "steps": [{"work": "1 ms"}]});
    let again = json!([{"name": "a", "iterations": 3, "steps": [{"work": "1 ms"}]}, paced]);
    let meets = json!([
        {"name": "a", "period": "9 ms", "iterations": 3, "steps": [{"work": "1 ms"}, {"barrier": "x"}]},
        {"name": "c", "period": "9 ms", "iterations": 3, "steps": [{"work": "1 ms"}, {"barrier": "x"}]},
        paced,
    ]);
    for (hosts, why) in [(again, "\"a\" has no period"), (meets, "\"a\" meets others at a barrier")] {
        let scenario = read(&file(&hosts));
        agreed(&scenario).expect("reference and audit agree");
        let judged = judged(&scenario);
        assert!(judged.notes.iter().any(|note| note.contains(why)), "{:?}", judged.notes);
        assert!(judged.jobs.iter().all(|job| job.bound_ns.is_none()));
    }
    // What comes once releases what comes once.
    let once = json!([{"name": "a", "release": "3 ms", "steps": [{"work": "1 ms"}]}, paced]);
    assert_eq!(bounds_ms(&judged(&read(&file(&once))), 2), [Some(1), Some(1)]);
}

#[test]
fn the_audit_refuses_a_release_that_is_forged_and_a_job_that_begins_too_early_or_late() {
    let scenario = read(&file(&pipeline()));
    let run = simulate(&scenario).expect("it runs");
    let found = |change: &dyn Fn(&mut ObservedRun)| -> Vec<AuditRule> {
        let mut seen = ObservedRun::of_run(&run).expect("it is within the clock of logs");
        change(&mut seen);
        audit(&seen, &Tolerances::EXACT, Progress::NONE).findings.iter().map(|finding| finding.rule).collect()
    };
    assert_eq!(found(&|_| {}), []);
    let job = |seen: &ObservedRun, thread: usize| {
        seen.jobs.iter().position(|job| job.thread == thread && job.number == 1).expect("it is there")
    };
    let at = |ms: i64| LogTime::from_ns(ms * 1_000_000);
    for (released, began) in [(27, 27), (29, 29), (28, 27), (28, 30)] {
        let forged = found(&|seen| {
            let place = job(seen, 0);
            (seen.jobs[place].released_ns, seen.jobs[place].began_ns) = (at(released), at(began));
        });
        assert_eq!(forged, [AuditRule::Trigger], "released at {released}, began at {began}");
    }
    let never_ended = found(&|seen| {
        let place = job(seen, 1);
        seen.jobs[place].end_ns = None;
    });
    assert!(!never_ended.is_empty() && never_ended.iter().all(|rule| *rule == AuditRule::Trigger));
    let left_out = found(&|seen| seen.jobs.retain(|job| job.thread != 0 || job.number < 2));
    assert_eq!(left_out, [AuditRule::Trigger]);
}

#[test]
fn a_search_over_all_phasings_has_runs_in_which_jobs_release_others() {
    // On one core, b is delayed by the more urgent c, which it meets in some phasings only.
    let hosts = json!([
        {"name": "c", "core": 0, "cpu_priority": 0, "period": "50 ms", "release": "25 ms", "steps": [{"work": "4 ms"}]},
        {"name": "a", "period": "50 ms", "steps": [{"work": "2 ms"}]},
        {"name": "b", "core": 0, "cpu_priority": 1, "triggered_by": "a", "deadline": "6 ms", "steps": [{"work": "3 ms"}]},
    ]);
    let scenario = read(&file(&hosts));
    let verdicts = over_all_phasings(&scenario);
    let b = &verdicts.streams[2];
    assert_eq!(b.bound_ns.map(|bound| bound.as_ns() / MS), Some(7));
    assert_eq!(b.verdict, Some(Verdict::Missed), "{:?}", b.worst_found_ns);
    let witness = verdicts.witness(2).expect("there is one");
    let run = simulate(&witness).expect("it runs");
    let longest = Summary::of(&run).jobs().begun.iter().filter_map(gpusched::run::Job::response).max();
    assert!(longest >= b.worst_found_ns);
}

/// A deadline of a host of which no job begins by the horizon: one that is released has missed it already, of one that
/// is not nothing is known. Neither is passed over.
#[test]
fn a_deadline_of_a_host_whose_jobs_do_not_begin_by_the_horizon_is_not_passed_over() {
    let verdict = |hosts: &Value| {
        let mut file = file(hosts);
        file["horizon"] = json!("90 ms");
        let scenario = read(&file);
        let judged = judged(&scenario);
        assert!(!judged.all_proven() && judged.notes.iter().any(|note| note.contains("no job of \"b\" has begun")));
        let of_b = judged.jobs.iter().find(|job| &*job.stream == "b").expect("it has a row");
        (of_b.verdict, of_b.worst_found_ns.map(Duration::as_ns))
    };
    let bulk = json!({"name": "a", "period": "200 ms", "core": 0, "steps": [{"work": "100 ms"}]});
    let b = |key: &str, value: &str| json!({"name": "b", key: value, "deadline": "10 ms", "core": 0, "cpu_priority": 1, "steps": [{"work": "5 ms"}]});
    let t = json!({"name": "t", "period": "200 ms", "deadline": "20 ms", "steps": [{"work": "1 ms"}]});
    assert_eq!(verdict(&json!([t, bulk, b("triggered_by", "t")])), (Some(Verdict::Missed), None));
    assert_eq!(verdict(&json!([t, bulk, b("triggered_by", "a")])), (Some(Verdict::Open), None));
    assert_eq!(verdict(&json!([t, bulk, b("period", "200 ms")])), (Some(Verdict::Missed), Some(90 * MS + 1)));
}
