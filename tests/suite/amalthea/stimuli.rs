//! Stimuli and requirements: when runnables are released, by when they should have responded, and what is not read.

use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::tables::RunnableTimes;
use gpusched::time::Duration;

use super::super::published;
use super::*;

fn periodic() -> String {
    let path = published::root().join("amalthea/periodic-with-requirements.amxmi");
    std::fs::read_to_string(path).expect("it is there")
}

fn read(text: &str, chosen: &AmaltheaOptions, horizon_ms: Option<u64>) -> Result<Scenario, AmaltheaError> {
    let horizon = horizon_ms.map(|ms| Duration::from_ns(ms * 1_000_000));
    AmaltheaModel::read_scenario("in.amxmi", text, chosen, &ReadOptions { horizon, ..ReadOptions::default() })
}

/// Release, period and deadline in microseconds, and jobs.
type Timing = (u64, Option<u64>, Option<u64>, Option<u64>);

fn threads(scenario: &Scenario) -> Vec<Timing> {
    let us = |time: Duration| time.as_ns() / 1_000;
    let of = |thread: &gpusched::scenario::HostThread| {
        (us(thread.release), thread.period.map(us), thread.deadline().map(us), thread.iterations)
    };
    scenario.threads.iter().map(of).collect()
}

#[test]
fn stimuli_become_releases_and_response_time_limits_deadlines() {
    let text = periodic();
    // One hyperperiod, 20 ms, after the last first release, 4 ms: Detect at 0 and 20, Plan at 4 and 14 ms.
    let scenario = read(&text, &AmaltheaOptions::default(), None).expect("sound");
    let expected = [(0, Some(20_000), Some(20_000), Some(2)), (4_000, Some(10_000), Some(3_500), Some(2))];
    assert_eq!(threads(&scenario), expected);
    assert!(scenario.notes.iter().any(|note| note.contains("released before 24 ms")), "{:?}", scenario.notes);
    assert!(scenario.notes.iter().any(|note| note.contains("as often as stimulus \"Request\" may be, every 10 ms")));
    let until = read(&text, &AmaltheaOptions::default(), Some(100)).expect("sound");
    assert!(until.threads.iter().all(|thread| thread.iterations.is_none()));
    let once = AmaltheaOptions { one_job: true, ..AmaltheaOptions::default() };
    let once = read(&text, &once, None).expect("sound");
    assert_eq!(threads(&once), [(0, None, Some(20_000), Some(1)), (0, None, Some(3_500), Some(1))]);
}

#[test]
fn times_of_a_periodic_runnable_are_one_row_for_each_job() {
    let text = periodic();
    let scenario = read(&text, &AmaltheaOptions::default(), None).expect("sound");
    let run = simulate(&scenario).expect("it runs");
    let times = RunnableTimes::of_run(&Summary::of(&run), None);
    let us = |time: Option<Duration>| time.map(|time| time.as_ns() / 1_000);
    let rows: Vec<_> =
        times.iter().map(|row| (row.runnable, row.job, row.launched_ns.as_ns() / 1_000, us(row.response_ns))).collect();
    // Each kernel fills the GPU. Detect: 0 to 5 and 20 to 25 ms. Plan is launched at 4 and waits until 5, so it runs
    // from 5 to 8 ms; then from 14 to 17.
    let expected = [
        ("Detect", 0, 0, Some(5_000)),
        ("Detect", 1, 20_000, Some(5_000)),
        ("Plan", 0, 4_000, Some(4_000)),
        ("Plan", 1, 14_000, Some(3_000)),
    ];
    assert_eq!(rows, expected);
    let of_all: Vec<_> = times.iter().map(|row| (row.jobs, us(row.worst_response_ns))).collect();
    assert_eq!(of_all, [(2, Some(5_000)), (2, Some(5_000)), (2, Some(4_000)), (2, Some(4_000))]);
}

#[test]
fn other_stimuli_and_constraints_are_counted_and_jitter_is_read() {
    let text = periodic()
        .replace("<recurrence", r#"<jitter xsi:type="am:TimeBoundaries"><lowerBound/><upperBound value="2" unit="ms"/></jitter><recurrence"#)
        .replace("RelativePeriodicStimulus\"", "EventStimulus\"");
    let model = parsed(&text);
    let skipped: Vec<(&str, u64)> = model.skipped.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    let expected = [
        ("EventChainLatencyConstraint", 1),
        ("EventStimulus", 1),
        ("ProcessRequirement (UpperLimit CpuLoad CPUPercentageRequirementLimit)", 1),
        ("jitter of PeriodicStimulus", 1),
    ];
    assert_eq!(skipped, expected);
    assert_eq!(listed(&text)["stimuli"][0]["jitter_ns"], 2_000_000);
    let scenario = read(&text, &AmaltheaOptions::default(), None).expect("sound");
    assert_eq!(scenario.threads.iter().map(|thread| thread.jitter).max(), Some(Duration::from_ns(2_000_000)));
    assert!(scenario.notes.iter().any(|note| note.contains("jitter of stimulus \"Frame\", up to 2 ms")));
    assert!(scenario.notes.iter().any(|note| note.contains("stimulus \"Request\" is not read")));
}

#[test]
fn a_jitter_without_an_end_leaves_no_bound_over_all_phasings() {
    let text = periodic().replace("<recurrence", r#"<jitter xsi:type="am:TimeGaussDistribution"/><recurrence"#);
    let scenario = read(&text, &AmaltheaOptions::default(), None).expect("sound");
    let jitter: Vec<Duration> = scenario.threads.iter().map(|thread| thread.jitter).collect();
    let bounds = gpusched::analysis::sporadic_bounds(&scenario, &jitter).expect("it is sound");
    assert_eq!(bounds, Err(gpusched::analysis::SporadicRefusal::TooLong));
}

#[test]
fn single_and_sporadic_stimuli_of_old_versions_are_read() {
    let single = periodic().replace(
        r#""am:PeriodicStimulus" name="Frame">"#,
        r#""am:SingleStimulus" name="Frame"><occurrence value="7" unit="us"/>"#,
    );
    let scenario = read(&single, &AmaltheaOptions::default(), None).expect("sound");
    assert_eq!(threads(&scenario)[0], (7, None, Some(20_000), Some(1)));
    let sporadic = periodic()
        .replace("am:RelativePeriodicStimulus", "am:SporadicStimulus")
        .replace(r#"nextOccurrence xsi:type="am:TimeBoundaries""#, "stimulusDeviation")
        .replace("/nextOccurrence", "/stimulusDeviation");
    let scenario = read(&sporadic, &AmaltheaOptions::default(), None).expect("sound");
    assert_eq!(threads(&scenario)[1].1, Some(10_000));
}

#[test]
fn a_hyperperiod_with_too_many_jobs_needs_a_horizon() {
    let text = periodic().replace(
        r#"value="20" unit="ms"/>
    </stimuli>"#,
        r#"value="19999999" unit="ns"/>
    </stimuli>"#,
    );
    let error = read(&text, &AmaltheaOptions::default(), None).expect_err("too many jobs").to_string();
    assert!(error.contains("\"horizon\": \"TIME\"") && error.contains("\"one_job\""), "{error}");
    assert!(read(&text, &AmaltheaOptions::default(), Some(100)).is_ok());
}

#[test]
fn a_runnable_with_several_callers_is_refused_unless_it_has_one_job() {
    let text = periodic().replace("Plan?type=Runnable\"/></callGraph>", "Detect?type=Runnable\"/></callGraph>");
    let error = read(&text, &AmaltheaOptions::default(), None).expect_err("two tasks").to_string();
    assert!(error.contains("\"Detect\" is called several times") && error.contains("\"one_job\""), "{error}");
    assert!(read(&text, &AmaltheaOptions { one_job: true, ..AmaltheaOptions::default() }, None).is_ok());
}

#[test]
fn ticks_of_a_weibull_distribution_add_to_others() {
    let weibull = r#"<items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueWeibullEstimatorsDistribution" lowerBound="0" upperBound="4000" average="100.0" pRemainPromille="1.0"/></items>"#;
    let text = one_runnable(&format!("<activityGraph>{}{weibull}</activityGraph>", ticks_item("5")));
    let scenario = scenario_with(&text, &chosen(&["R"])).expect("sound");
    assert_eq!(scenario.kernels()[0].duration.worst, Duration::from_ns(4_005));
}

#[test]
fn work_that_is_not_read_is_an_error_for_the_runnable_unless_its_time_is_given() {
    let call = r#"<items xsi:type="am:RunnableCall" runnable="Elsewhere?type=Runnable"/>"#;
    let oracle = r#"<items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueOracle"/></items>"#;
    let extended = r#"<items xsi:type="am:Ticks"><extended key="G?type=ProcessingUnitDefinition"/></items>"#;
    let mystery = format!(r#"<items xsi:type="am:WhileLoop">{}</items>"#, ticks_item("4"));
    for (unread, words) in
        [(call, "Elsewhere"), (oracle, "DiscreteValueOracle"), (extended, "without value"), (&mystery, "WhileLoop")]
    {
        let text = one_runnable(&format!("<activityGraph>{}{unread}</activityGraph>", ticks_item("5")));
        let error = scenario_with(&text, &chosen(&["R"])).expect_err("part of its work is unknown").to_string();
        assert!(error.contains(words) && error.contains("\"block_duration\""), "{error}");
        let given =
            ReadOptions { block_durations: [("R".to_owned(), Duration::from_ns(77))].into(), ..ReadOptions::default() };
        let scenario =
            AmaltheaModel::read_scenario("in.amxmi", &text, &chosen(&["R"]), &given).expect("its time is given");
        assert_eq!(scenario.kernels()[0].duration.worst, Duration::from_ns(77));
    }
}
