//! Deadlines in pictures, pages and traces: none that was missed is left out.

use gpusched::analysis::{SearchOptions, Verdict, judge};
use gpusched::effort::Progress;
use gpusched::formats::write_json;
use gpusched::pictures::{HtmlTimeline, PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::{AnalysisReport, BoundedResponses};
use gpusched::time::Duration;
use serde_json::{Value, json};

use crate::figure_samples::{BACKLOG, ONE_OF_TWO, run_of};
use crate::perfetto::validator::validate;

/// The data of the page of a run.
fn page_data(summary: Summary<'_>) -> Value {
    let mut page = Vec::new();
    HtmlTimeline::new(summary).write(&mut page).expect("memory holds it");
    let page = String::from_utf8(page).expect("UTF-8");
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").expect("there is data");
    let mut scenes: Vec<Value> = serde_json::from_str(rest.split_once("</script>").expect("it ends").0).expect("JSON");
    scenes.remove(0)
}

#[test]
fn the_page_has_deadlines_and_response_times() {
    let run = run_of(ONE_OF_TWO);
    let data = page_data(Summary::of(&run));
    let deadlines = &data["runs"][0]["deadlines"];
    assert_eq!(deadlines["due_ns"], json!([6_000_000, 16_000_000]));
    assert_eq!((&deadlines["missed"], &deadlines["left_out"]), (&json!([false, true]), &json!(0)));
    let row = &data["runs"][0]["responses"][0];
    assert_eq!((&row["stream"], &row["jobs"], &row["misses"]), (&json!("S"), &json!(2), &json!(1)));
    assert_eq!((&row["max_ns"], &row["deadline_ns"]), (&json!(7_000_000), &json!(6_000_000)));

    let run = run_of(BACKLOG);
    let deadlines = &page_data(Summary::of(&run))["runs"][0]["deadlines"];
    let listed = deadlines["missed"].as_array().expect("a list").len() as u64;
    // Released by the end are 100,001 jobs.
    assert_eq!(listed + deadlines["left_out"].as_u64().expect("a number"), 100_001);
}

#[test]
fn perfetto_shows_how_late_a_job_was() {
    for (text, name, from, to) in [
        (ONE_OF_TWO, "S, job 1: deadline missed", 16_000_000, 17_000_000),
        (BACKLOG, "and 98999 more like it", 1_001_000, 100_000_000),
    ] {
        let run = run_of(text);
        let mut out = Vec::new();
        let run = PerfettoRun { summary: Summary::of(&run), label: "", known: PerfettoKnown::Everything };
        perfetto_trace(&[run], &mut out).expect("memory takes it");
        let shown = validate(&String::from_utf8(out).expect("UTF-8")).expect("it keeps to the format");
        let slice = shown.asynchronous.iter().find(|slice| slice.name.contains(name)).expect("it is shown");
        assert_eq!((slice.start, slice.end), (from, to));
    }
}

/// README's example, by hand. A TX2 has 2 x 2048 threads and one copy engine, so each kernel of 4 x 1024 threads fills
/// it. Camera at 0 ms: copied by 2, computed by 7, copied back by 8. Lidar at 18 ms: copied by 19, its kernel holds the
/// GPU until 27. Camera at 20 ms: copied by 22, waits until 27, computed by 32, copied back by 33, 13 ms after its
/// release. Lidar copies nothing back, so nothing is in its way: 9 ms. Shorter blocks make none of the three later: the
/// lidar's kernel starts at 19 in any case, and the second frame's is ready at 22.
#[test]
fn the_example_of_readme_has_the_responses_computed_by_hand() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/deadlines/camera-and-lidar.json");
    let text = std::fs::read_to_string(path).expect("it is there");
    let run = run_of(&text);
    let scenario = &*run.scenario;
    let jobs = Summary::of(&run).jobs();
    let ms = |ms: u64| Some(Duration::from_ns(ms * 1_000_000));
    let responses: Vec<_> = jobs.begun.iter().map(|job| (job.thread, job.iteration, job.response())).collect();
    let mut sorted = responses.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [(0, 0, ms(8)), (0, 1, ms(13)), (1, 0, ms(9))]);
    assert_eq!(jobs.misses(), 1);
    let progress = Progress::NONE;
    let verdicts = judge(scenario, &SearchOptions::default(), progress).expect("it runs");
    let known: Vec<_> =
        verdicts.jobs.iter().map(|job| (&*job.stream, job.worst_found_ns, job.bound_ns, job.verdict)).collect();
    let expected = [
        ("camera", ms(8), ms(8), Some(Verdict::Proven)),
        ("camera", ms(13), ms(13), Some(Verdict::Missed)),
        ("lidar", ms(9), ms(9), Some(Verdict::Proven)),
    ];
    assert_eq!(known, expected);
    // The sums: two frames of 8 and 13 ms, one scan of 9 ms, and the bound on all jobs of each.
    let responses = BoundedResponses { scenario, run: &jobs, verdicts: &verdicts.jobs };
    let rows: Vec<_> = responses.rows().collect();
    let sums: Vec<_> = rows.iter().map(|row| (row.jobs, row.min_ns, row.max_ns, row.bound_ns, row.misses)).collect();
    assert_eq!(sums, [(2, ms(8), ms(13), ms(13), Some(1)), (1, ms(9), ms(9), ms(9), Some(0))]);
    let report = AnalysisReport::of(&run, None, None, progress).expect("it runs");
    let mut document = Vec::new();
    write_json(&report, None, &mut document).expect("memory takes all");
    let document: Value = serde_json::from_slice(&document).expect("it is JSON");
    let camera = &document["responses"][0];
    assert_eq!((&camera["mean_ns"], &camera["bound_ns"]), (&json!(10_500_000), &json!(13_000_000)));
    let mut unknown = verdicts.jobs;
    unknown[0].bound_ns = None;
    let responses = BoundedResponses { scenario, run: &jobs, verdicts: &unknown };
    let rows: Vec<_> = responses.rows().collect();
    assert_eq!(rows[0].bound_ns, None, "one job without a bound, and there is none on all");
}

/// A camera that takes 6 ms of every 5 ms.
const LATE: &str = r#"{"format": "gpusched-scenario/1", "name": "late",
    "kernels": {"k": {"blocks": 4, "threads": 1024, "duration": "6 ms"}},
    "streams": [{"name": "camera", "period": "5 ms", "jobs": 2, "operations": [{"kernel": "k"}]}]}"#;

#[test]
fn what_states_no_deadline_has_its_period_as_deadline_in_runs_and_analyses_alike() {
    // The first job finishes at 6 ms, 1 ms late; the second, released at 5 ms, at 12 ms.
    let stated = |deadline: &str| LATE.replace("\"jobs\"", &format!("\"deadline\": {deadline}, \"jobs\""));
    for (text, deadline_ms, misses) in [
        (LATE.to_owned(), Some(5), Some(2)),
        (stated("\"6 ms\""), Some(6), Some(1)),
        (stated("\"7 ms\""), Some(7), Some(0)),
        (stated("\"none\""), None, None),
    ] {
        let run = run_of(&text);
        let scenario = &*run.scenario;
        let deadline = deadline_ms.map(|ms| Duration::from_ns(ms * 1_000_000));
        let summary = Summary::of(&run);
        let rows = summary.responses();
        assert_eq!((rows[0].deadline_ns, rows[0].misses), (deadline, misses), "{text}");
        let search = SearchOptions { runs: 4, ..SearchOptions::default() };
        let verdicts = judge(scenario, &search, Progress::NONE).expect("it is judged");
        let missed = verdicts.jobs.iter().filter(|job| job.verdict == Some(Verdict::Missed)).count() as u64;
        assert!(verdicts.jobs.iter().all(|job| job.deadline_ns == deadline), "{text}");
        assert_eq!(verdicts.jobs.iter().any(|job| job.verdict.is_some()).then_some(missed), misses, "{text}");
        let again = scenario.to_native_json().expect("it can be written");
        let again = Scenario::from_json("again.json", &again, &ReadOptions::default()).expect("it is read again");
        assert_eq!(again.threads[0].deadline(), deadline, "{text}");
    }
}

#[test]
fn a_deadline_that_is_no_time_is_refused() {
    for (deadline, part) in [("\"0 ms\"", "none"), ("\"never\"", "ms"), ("5", "time")] {
        let text = LATE.replace("\"jobs\"", &format!("\"deadline\": {deadline}, \"jobs\""));
        let error = Scenario::from_json("late.json", &text, &ReadOptions::default()).expect_err(deadline).to_string();
        assert!(error.contains("deadline") && error.contains(part), "{error}");
    }
}
