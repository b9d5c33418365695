//! Which requirements of a model are proven, missed, open or not judged. Detect takes 5 ms every 20 ms, Plan 3 ms from
//! 4 ms on every 10 ms, and each fills the GPU: see `stimuli.rs`.

use gpusched::analysis::{
    RequirementVerdict, SearchOptions, Verdict, judge, judge_sporadic, requirements_of_jobs, requirements_of_streams,
};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::Deadline;
use gpusched::time::Duration;

use super::super::published;
use super::*;

/// The shipped model with a periodic Planner, and Plan's limit of 4.5 ms.
fn periodic() -> String {
    let path = published::root().join("amalthea/periodic-with-requirements.amxmi");
    let text = std::fs::read_to_string(path).expect("it is there");
    text.replace("RelativePeriodicStimulus", "PeriodicStimulus")
        .replace(r#"<nextOccurrence xsi:type="am:TimeBoundaries">"#, "")
        .replace(
            r#"<lowerBound value="10" unit="ms"/><upperBound value="25" unit="ms"/>"#,
            r#"<recurrence value="10" unit="ms"/>"#,
        )
        .replace("</nextOccurrence>", "")
        .replace(r#"value="3500""#, r#"value="4500""#)
}

fn watch() -> Progress<'static> {
    Progress::NONE
}

fn judged(text: &str, chosen: &AmaltheaOptions, sporadic: bool) -> Vec<RequirementVerdict> {
    let model = AmaltheaModel::parse("in.amxmi", text).expect("sound");
    let scenario = model.scenario(chosen, &ReadOptions::default()).expect("sound");
    let demands = model.demands(chosen, &scenario).expect("sound");
    let options = SearchOptions { runs: 50, ..SearchOptions::default() };
    if sporadic {
        let jitter: Vec<Duration> = scenario.threads.iter().map(|thread| thread.jitter).collect();
        let verdicts = judge_sporadic(&scenario, &jitter, &options, watch()).expect("it runs");
        return requirements_of_streams(&demands, &verdicts);
    }
    requirements_of_jobs(&demands, &scenario, &judge(&scenario, &options, watch()).expect("it runs"))
}

/// Verdicts by requirement, on given releases.
fn verdicts(text: &str, chosen: &AmaltheaOptions) -> Vec<(String, Option<Verdict>)> {
    judged(text, chosen, false).into_iter().map(|one| (one.requirement, one.verdict)).collect()
}

fn both(camera: Option<Verdict>, plan: Option<Verdict>) -> Vec<(String, Option<Verdict>)> {
    vec![("Camera in time".to_owned(), camera), ("Plan in time".to_owned(), plan)]
}

#[test]
fn requirements_of_exactly_periodic_tasks_are_proven_by_one_hyperperiod() {
    let all = judged(&periodic(), &AmaltheaOptions::default(), false);
    let proven = Some(Verdict::Proven);
    assert_eq!(verdicts(&periodic(), &AmaltheaOptions::default()), both(proven, proven));
    // Plan waits from 4 to 5 ms for Detect.
    assert_eq!(all[1].bound_ns, Some(Duration::from_ns(4_000_000)));
    assert_eq!(RequirementVerdict::notes(&all), Vec::<String>::new());
    // Detect twice as long ends at 10 ms: Plan takes 9 ms.
    let late = periodic().replace("5000000", "10000000");
    assert_eq!(verdicts(&late, &AmaltheaOptions::default()), both(proven, Some(Verdict::Missed)));
}

#[test]
fn releases_that_the_model_allows_and_no_job_has_leave_a_requirement_open() {
    let open = both(Some(Verdict::Open), Some(Verdict::Open));
    let text = periodic();
    let jitter = r#"<jitter xsi:type="am:TimeBoundaries"><upperBound value="1" unit="ms"/></jitter><recurrence"#;
    let unread = r#"<jitter xsi:type="am:TimeGaussDistribution"/><recurrence"#;
    // Detect 1 ms later holds Plan until 6 ms: it takes 5 ms of 4.5.
    let late = text.replacen("<recurrence", jitter, 1);
    let late_plan = both(Some(Verdict::Proven), Some(Verdict::Missed));
    assert_eq!(verdicts(&late, &AmaltheaOptions::default()), late_plan);
    for (what, text, chosen) in [
        ("is not read", text.replacen("<recurrence", unread, 1), AmaltheaOptions::default()),
        ("is not read", text.replace("stimuli=\"Frame", "stimuli=\"Elsewhere"), AmaltheaOptions::default()),
        ("no stimulus", text.replace(" stimuli=\"Frame?type=PeriodicStimulus\"", ""), AmaltheaOptions::default()),
        (
            "once",
            text.replace(r#"value="4500" unit="us""#, r#"value="9" unit="ms""#),
            AmaltheaOptions { one_job: true, ..AmaltheaOptions::default() },
        ),
        (
            "average",
            text.clone(),
            AmaltheaOptions { ticks: gpusched::amalthea::TickBound::Average, ..AmaltheaOptions::default() },
        ),
    ] {
        assert_eq!(verdicts(&text, &chosen), open, "{what}");
        let notes = RequirementVerdict::notes(&judged(&text, &chosen, false));
        assert!(
            notes.iter().any(|note| note.contains(what) && note.contains("Camera in time, Plan in time")),
            "{notes:?}"
        );
    }
    // A second hyperperiod begins while Detect, 18 ms long, and Plan behind it, are not done: what it delays is not
    // known.
    let text = text.replace("5000000", "18000000").replace(r#"value="4500" unit="us""#, r#"value="90" unit="ms""#);
    assert_eq!(verdicts(&text, &AmaltheaOptions::default()), open);
}

/// What is known of the jobs of [`periodic`] with these periods, where Detect is due after so many ms; and the notes.
fn of_jobs(text: &str, options: &ReadOptions, deadline_ms: u64) -> (Vec<Option<Verdict>>, Vec<String>) {
    let mut scenario =
        AmaltheaModel::read_scenario("in.amxmi", text, &AmaltheaOptions::default(), options).expect("sound");
    scenario.threads[0].deadline = Deadline::After(ms(deadline_ms));
    let searched = SearchOptions { runs: 50, ..SearchOptions::default() };
    let judged = judge(&scenario, &searched, watch()).expect("it runs");
    (judged.jobs.iter().map(|job| job.verdict).collect(), judged.notes)
}

fn ms(ms: u64) -> Duration {
    Duration::from_ns(ms * 1_000_000)
}

#[test]
fn no_job_is_proven_by_the_releases_of_a_stimulus_that_is_sporadic_or_not_read() {
    let options = ReadOptions::default();
    let (proven, open) = (Some(Verdict::Proven), Some(Verdict::Open));
    // Detect runs from 0 to 5 ms and from 20 to 25 ms, Plan from 5 to 8 ms and from 14 to 17 ms.
    assert_eq!(of_jobs(&periodic(), &options, 6).0, [proven; 4]);
    let again = r#"<recurrence value="10" unit="ms"/>"#;
    let sporadic = periodic()
        .replace(r#""am:PeriodicStimulus" name="Request""#, r#""am:RelativePeriodicStimulus" name="Request""#);
    let between = r#"<nextOccurrence xsi:type="am:TimeBoundaries"><lowerBound value="10" unit="ms"/><upperBound value="25" unit="ms"/></nextOccurrence>"#;
    let sporadic = sporadic.replace(again, between);
    let (verdicts, notes) = of_jobs(&sporadic, &options, 6);
    assert_eq!(verdicts, [open; 4]);
    assert!(notes.iter().any(|note| note.contains("stimulus \"Request\" is sporadic")), "{notes:?}");
    // As Plan may come at 4 and 19 ms, too: then Detect's job of 20 ms waits until 22 and ends at 27 ms.
    let mut late =
        AmaltheaModel::read_scenario("in.amxmi", &sporadic, &AmaltheaOptions::default(), &options).expect("sound");
    late.threads[1].period = Some(ms(15));
    let run = simulate(&late).expect("it runs");
    let second = run.jobs().get(0, 1).and_then(gpusched::run::Job::response);
    assert_eq!(second, Some(ms(7)));
    // Of a stimulus that is not read Plan is launched once, at 0 as Detect: both end by 8 ms. How often it comes is not
    // known, unless the user says it.
    let unread = periodic().replace(r#""am:PeriodicStimulus" name="Request""#, r#""am:EventStimulus" name="Request""#);
    let (verdicts, notes) = of_jobs(&unread, &ReadOptions { horizon: Some(ms(20)), ..options.clone() }, 9);
    assert!(verdicts.iter().all(|verdict| *verdict != proven), "{verdicts:?}");
    assert!(notes.iter().any(|note| note.contains("stimulus \"Request\" is not read")), "{notes:?}");
    let periods = [("Plan".to_owned(), ms(20))].into();
    assert_eq!(of_jobs(&unread, &ReadOptions { periods, ..options }, 9).0[0], proven);
}

#[test]
fn what_a_task_does_beside_the_gpu_leaves_its_requirement_open_and_no_other() {
    let more = r#"<items xsi:type="am:RunnableCall" runnable="Detect?type=Runnable"/><items xsi:type="am:RunnableCall" runnable="Store?type=Runnable"/></callGraph>"#;
    let store = format!(r#"<runnables name="Store"><callGraph>{}</callGraph></runnables></swModel>"#, ticks_item("5"));
    let text = periodic()
        .replace(r#"<items xsi:type="am:RunnableCall" runnable="Detect?type=Runnable"/></callGraph>"#, more)
        .replace("</swModel>", &store);
    assert_eq!(verdicts(&text, &AmaltheaOptions::default()), both(Some(Verdict::Open), Some(Verdict::Proven)));
    let notes = RequirementVerdict::notes(&judged(&text, &AmaltheaOptions::default(), false));
    assert_eq!(notes, ["open though the bound meets it: Camera in time: its other runnables take no time here: Store"]);
    // Two runnables of one task on the GPU are one job, which is all that the task does.
    let both_launched =
        text.replace(r#"<runnables name="Store">"#, &format!(r#"<runnables name="Store">{}"#, property("GridSize", 1)));
    let all = judged(&both_launched, &AmaltheaOptions::default(), false);
    assert_eq!((all[0].streams.as_slice(), all[0].verdict), (&["Camera".to_owned()][..], Some(Verdict::Proven)));
}

#[test]
fn a_task_without_a_stimulus_is_noted_unless_its_period_is_given() {
    let text = periodic().replace(" stimuli=\"Frame?type=PeriodicStimulus\"", "");
    let notes = |options: &ReadOptions| {
        AmaltheaModel::read_scenario("in.amxmi", &text, &AmaltheaOptions::default(), options).expect("sound").notes
    };
    let is_told = |notes: &[String]| notes.iter().any(|note| note.contains("\"period\": {\"Detect\": \"TIME\"}"));
    assert!(is_told(&notes(&ReadOptions::default())));
    let period = [("Detect".to_owned(), Duration::from_ns(20_000_000))].into();
    assert!(!is_told(&notes(&ReadOptions { periods: period, ..ReadOptions::default() })));
}

#[test]
fn a_requirement_of_which_nothing_is_launched_is_listed_as_such() {
    let chosen = chosen(&["Detect"]);
    assert_eq!(verdicts(&periodic(), &chosen), both(Some(Verdict::Proven), None));
}

#[test]
fn with_any_phasing_jitter_and_sporadic_stimuli_are_no_doubt() {
    // Detect alone, with a jitter: 5 ms after its release, up to 6 ms after its arrival.
    let jitter = r#"<jitter xsi:type="am:TimeBoundaries"><upperBound value="1" unit="ms"/></jitter><recurrence"#;
    let text = periodic().replacen("<recurrence", jitter, 1);
    let all = judged(&text, &chosen(&["Detect"]), true);
    assert_eq!(all[0].verdict, Some(Verdict::Proven));
    assert_eq!(all[0].bound_ns, Some(Duration::from_ns(6_000_000)));
    let text = periodic().replace("<recurrence", "<clock/><recurrence");
    assert_eq!(judged(&text, &chosen(&["Detect"]), true)[0].verdict, Some(Verdict::Open), "a clock is not read");
}

#[test]
fn requirements_do_not_depend_on_where_runnables_stand_in_the_model() {
    // Released together, each before the other in some order: Detect takes up to 5 + 3 ms, Plan up to 3 + 5 ms.
    let together = periodic().replace(r#"<offset value="4" unit="ms"/>"#, r#"<offset value="0" unit="ms"/>"#);
    let (before, rest) = together.split_once(r#"<runnables name="Detect">"#).expect("it is there");
    let (detect, rest) = rest.split_once(r#"<runnables name="Plan">"#).expect("it is there");
    let (plan, after) = rest.split_once("</swModel>").expect("it is there");
    let swapped = format!(r#"{before}<runnables name="Plan">{plan}<runnables name="Detect">{detect}</swModel>{after}"#);
    assert_ne!(together, swapped);
    let answers = [&together, &swapped].map(|text| {
        let all = judged(text, &AmaltheaOptions::default(), false);
        all.into_iter().map(|one| (one.requirement, one.worst_found_ns, one.bound_ns, one.verdict)).collect::<Vec<_>>()
    });
    assert_eq!(answers[0], answers[1]);
    let eight = Some(Duration::from_ns(8_000_000));
    let expected = [("Camera in time", Verdict::Proven), ("Plan in time", Verdict::Missed)]
        .map(|(name, verdict)| (name.to_owned(), eight, eight, Some(verdict)));
    assert_eq!(answers[0], expected);
}
