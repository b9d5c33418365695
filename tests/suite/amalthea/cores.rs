//! What tasks do on their cores: allocation, priority, accesses to labels, triggers and events as hosts.

use gpusched::analysis::{
    SearchOptions, Verdict, judge, judge_sporadic, requirements_of_jobs, requirements_of_streams,
};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::Step;
use gpusched::tables::{AnalysisReport, SporadicReport};
use gpusched::time::Duration;

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_ns(ms * 1_000_000)
}

/// Control (1 ms of 5, with its accesses to a label) above Vision (2 ms, 4 ms on the GPU, 1 ms, of 20), which waits so,
/// on Core2; Brake (1 ms of 10) alone on Core5.
fn model(how: &str) -> String {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/amalthea/shared-core.amxmi"));
    let how = format!(r#"waitingBehaviour="{how}""#);
    text.expect("it is shipped").replace(r#"waitingBehaviour="passive""#, &how)
}

/// Name and verdict of each requirement, with the doubts.
fn judged(text: &str, sporadic: bool) -> Vec<(String, Option<Verdict>, Vec<String>)> {
    let options = AmaltheaOptions { cores: true, ..AmaltheaOptions::default() };
    let scenario = scenario_with(text, &options).unwrap_or_else(|error| panic!("{error}"));
    let demands = parsed(text).demands(&options, &scenario).expect("sound");
    let search = SearchOptions { runs: 8, ..SearchOptions::default() };
    let of_model = if sporadic {
        let jitters: Vec<Duration> = scenario.threads.iter().map(|thread| thread.jitter).collect();
        let verdicts = judge_sporadic(&scenario, &jitters, &search, Progress::NONE).expect("it is judged");
        requirements_of_streams(&demands, &verdicts)
    } else {
        requirements_of_jobs(&demands, &scenario, &judge(&scenario, &search, Progress::NONE).expect("it is judged"))
    };
    of_model.into_iter().map(|one| (one.target, one.verdict, one.doubts)).collect()
}

fn verdicts(text: &str) -> Vec<(String, Option<Verdict>)> {
    judged(text, true).into_iter().map(|(name, verdict, _)| (name, verdict)).collect()
}

fn all_but(open: &[&str]) -> Vec<(String, Option<Verdict>)> {
    let names = ["Control", "Vision", "Brake", "Detect"];
    let verdict = |name: &str| if open.contains(&name) { Verdict::Open } else { Verdict::Proven };
    names.iter().map(|&name| (name.to_owned(), Some(verdict(name)))).collect()
}

#[test]
fn tasks_share_cores_by_priority_and_wait_for_the_gpu_as_the_model_says() {
    for (how, spins) in [("passive", false), ("active", true)] {
        let scenario = scenario_with(&model(how), &AmaltheaOptions::default()).expect("sound");
        let hosts: Vec<_> =
            scenario.threads.iter().map(|one| (&*one.label, one.core.map(|core| (core.core, core.spins)))).collect();
        let expected = [("Control", Some((2, false))), ("Vision", Some((2, spins))), ("Brake", Some((5, false)))];
        assert_eq!(hosts, expected);
        let of_vision: Vec<Step> = scenario.threads[1].steps.clone();
        assert!(
            matches!(of_vision[..], [Step::Work(pre), Step::Launch(..), Step::SynchronizeStream(_), Step::Work(post)]
                if (pre, post) == (ms(2), ms(1))),
            "{of_vision:?}"
        );
        // Control until 1, Pre until 3, the kernel until 7, Control from 5 to 6, Post until 8.
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let longest: Vec<_> = summary.responses().iter().map(|row| (row.stream.to_owned(), row.max_ns)).collect();
        let of = |name: &str, time: u64| (name.to_owned(), Some(ms(time)));
        assert_eq!(longest, [of("Control", 1), of("Vision", 8), of("Brake", 1)]);
        // In 9 ms Control comes twice, beside 7 ms of its own.
        assert_eq!(verdicts(&model(how)), all_but(&[]), "{how}");
        let jobs: Vec<_> = judged(&model(how), false).into_iter().map(|(.., doubts)| doubts).collect();
        assert!(jobs.iter().all(Vec::is_empty), "{jobs:?}");
    }
    let late = model("passive").replace(r#"value="12" unit"#, r#"value="7" unit"#);
    assert_eq!(verdicts(&late)[1], ("Vision".to_owned(), Some(Verdict::Missed)));
}

#[test]
fn a_function_runs_where_it_is_launched_or_else_in_the_task_that_waits_for_it() {
    let on_core = model("active").replace(
        r#"task="Detect?type=Task" affinity="GPU?"#,
        r#"task="Detect?type=Task" scheduler="Scheduler?type=TaskScheduler" priority="2" affinity="Core2?"#,
    );
    assert!(scenario_with(&on_core, &AmaltheaOptions::default()).is_err(), "no task is on a GPU");
    let on_cores = AmaltheaOptions { cores: true, ..AmaltheaOptions::default() };
    let scenario = scenario_with(&on_core, &on_cores).expect("sound");
    assert_eq!(scenario.threads[1].steps, [Step::Work(ms(7))]);
    let launched = AmaltheaOptions { cores: true, ..chosen(&["Kernel"]) };
    let scenario = scenario_with(&on_core, &launched).expect("sound");
    assert_eq!((scenario.threads.len(), scenario.threads[1].steps.len()), (3, 4));
    // On another core it is a host of its own, of which nobody knows when it comes.
    let elsewhere = on_core.replace(r#"priority="2" affinity="Core2"#, r#"priority="2" affinity="Core5"#);
    assert_eq!(scenario_with(&elsewhere, &on_cores).expect("sound").threads.len(), 4);
    assert_eq!(verdicts(&elsewhere), all_but(&["Vision", "Brake", "Detect"]));
    // Chosen runnables alone run as ever.
    let alone = AmaltheaOptions { grid_sizes: [("Kernel".to_owned(), 1)].into(), ..chosen(&["Kernel"]) };
    assert_eq!(scenario_with(&on_core, &alone).expect("sound").threads.len(), 1);
}

#[test]
fn what_is_not_read_leaves_open_what_it_may_delay_and_nothing_else() {
    let plain = model("passive");
    let doubtful = |from: &str, to: &str, open: &[&str], words: &str| {
        let text = plain.replacen(from, to, 1);
        assert_ne!(text, plain, "{from}");
        assert_eq!(verdicts(&text), all_but(open), "{words}");
        let all = judged(&text, true);
        let doubts: Vec<&String> = all.iter().flat_map(|(.., doubts)| doubts).collect();
        assert!(open.is_empty() || doubts.iter().any(|doubt| doubt.contains(words)), "{words}: {doubts:?}");
    };
    let of_core = ["Control", "Vision", "Detect"];
    doubtful(r#"priority="9""#, r#"priority="2""#, &of_core, "equally urgent");
    doubtful(r#"<schedulingParameters priority="9"/>"#, "", &of_core, "no priority is read");
    doubtful(
        r#"5+ms?type=PeriodicStimulus" preemption="preemptive""#,
        r#"5+ms?type=PeriodicStimulus" preemption="cooperative""#,
        &of_core,
        "does not let others",
    );
    let everything = ["Control", "Vision", "Brake", "Detect"];
    // The name of the algorithm says it where a task does not; under OSEK there are tasks of both kinds.
    let unstated = plain.replace(r#" preemption="preemptive""#, "");
    assert_eq!(verdicts(&unstated), all_but(&[]));
    let osek = |text: &str| text.replace("FixedPriorityPreemptive", "OSEK");
    assert_eq!(verdicts(&osek(&plain)), all_but(&[]));
    assert_eq!(verdicts(&osek(&unstated)), all_but(&everything));
    let undefined = plain.replace(r#"preemption="preemptive""#, r#"preemption="_undefined_""#);
    assert_eq!(verdicts(&osek(&undefined)), all_but(&everything));
    doubtful("FixedPriorityPreemptive", "EarliestDeadlineFirst", &everything, "scheduled by EarliestDeadlineFirst");
    doubtful(
        "</swModel>",
        r#"<isrs name="Tick"><activityGraph><items xsi:type="am:RunnableCall" runnable="Press?type=Runnable"/>
            </activityGraph></isrs></swModel>"#,
        &everything,
        "interrupt routine \"Tick\"",
    );
    let of_vision = ["Vision", "Detect"];
    let never_set = r#"<items xsi:type="am:WaitEvent"><eventMask events="other?type=OsEvent"/></items>
        <items xsi:type="am:ClearEvent">"#;
    doubtful(r#"<items xsi:type="am:ClearEvent">"#, never_set, &of_vision, "who sets event \"other\"");
    let semaphore = |name: &str| {
        let start = |rest: &str| format!("<runnables name=\"{name}\">\n      <activityGraph>{rest}");
        (start(""), start(r#"<items xsi:type="am:SemaphoreAccess"/>"#))
    };
    // Who waits for a semaphore that others hold is not known.
    for name in ["Post", "Press", "Steer"] {
        let (from, to) = semaphore(name);
        doubtful(&from, &to, &everything, "SemaphoreAccess");
    }
    // Of the most urgent one all below it, too.
    for (name, open) in [("Post", &of_vision[..]), ("Press", &["Brake"]), ("Steer", &of_core), ("Kernel", &of_vision)] {
        let (from, to) = semaphore(name);
        doubtful(&from, &to.replace("SemaphoreAccess", "ModeLabelAccess"), open, "ModeLabelAccess");
    }
    doubtful(
        r#"<readLatency xsi:type="am:DiscreteValueConstant" value="40"/>"#,
        "",
        &of_core,
        "to labels take is not stated",
    );
    doubtful(
        r#"<memoryMapping abstractElement="Status"#,
        r#"<memoryMapping abstractElement="Other"#,
        &of_core,
        "to labels",
    );
}

#[test]
fn what_tasks_do_besides_leaves_verdicts_open_also_on_jobs() {
    let plain = model("passive");
    let everything = ["Control", "Vision", "Brake", "Detect"];
    let of_vision = ["Vision", "Detect"];
    let trigger = r#"<items xsi:type="am:InterProcessTrigger" stimulus="go?type=InterProcessStimulus"/>"#;
    let wait =
        r#"<items xsi:type="am:WaitEvent" waitingBehaviour="passive"><eventMask events="done?type=OsEvent"/></items>"#;
    let clear = r#"<items xsi:type="am:ClearEvent"><eventMask events="done?type=OsEvent"/></items>"#;
    let call = |name: &str| format!(r#"<items xsi:type="am:RunnableCall" runnable="{name}?type=Runnable"/>"#);
    let (pre, kernel) = (call("Pre"), call("Kernel"));
    let isr = r#"<isrs name="Tick"><activityGraph><items xsi:type="am:RunnableCall" runnable="Press?type=Runnable"/>
        </activityGraph></isrs></swModel>"#;
    for (from, to, open, words) in [
        (clear, &*[clear, trigger, wait, clear].concat(), &everything[..], "triggered more than once"),
        // It would wait for what was cleared.
        (wait, &[clear, wait].concat(), &of_vision, "who sets event \"done\""),
        (
            r#"process="Vision?type=Task"><eventMask"#,
            r#"process="Brake?type=Task"><eventMask"#,
            &of_vision,
            "who sets event",
        ),
        (
            &pre,
            &[r#"<items xsi:type="am:LabelAccess" data="Status?type=Label" access="write"/>"#, &*pre].concat(),
            &of_vision,
            "LabelAccess",
        ),
        (
            r#"affinity="Core2?type=ProcessingUnit"><schedulingParameters priority="2""#,
            r#"affinity="Core2?type=ProcessingUnit Core5?type=ProcessingUnit"><schedulingParameters priority="2""#,
            &everything,
            "not allocated to one core",
        ),
        (&pre, &[r#"<items xsi:type="am:EnforcedMigration"/>"#, &*pre].concat(), &everything, "EnforcedMigration"),
        (&kernel, &[&*kernel, &call("Press")].concat(), &everything, "on the GPU and on cores"),
        ("</swModel>", isr, &everything, "interrupt routine"),
    ] {
        let text = plain.replacen(from, to, 1);
        assert_ne!(text, plain, "{from}");
        assert_eq!(verdicts(&text), all_but(open), "{words}");
        let options = AmaltheaOptions { cores: true, ..AmaltheaOptions::default() };
        let scenario = scenario_with(&text, &options).expect("sound");
        let demands = parsed(&text).demands(&options, &scenario).expect("sound");
        let jitters: Vec<Duration> = scenario.threads.iter().map(|thread| thread.jitter).collect();
        let report = SporadicReport::of(&scenario, &jitters, Some(&demands), Some(ms(1)), Progress::NONE);
        let report = report.expect("it is judged");
        let proven = report.verdicts.streams.iter().filter(|stream| stream.verdict == Some(Verdict::Proven));
        let is_open = |name: &str| open.contains(&name);
        assert!(proven.clone().all(|stream| !is_open(&stream.stream)), "{words}: {:?}", report.verdicts.streams);
        assert!(report.notes.iter().any(|note| note.contains(words)), "{words}: {:?}", report.notes);
        let run = simulate(&scenario).expect("it runs");
        let report = AnalysisReport::of(&run, Some(&demands), Some(ms(1)), Progress::NONE).expect("it is judged");
        let mut proven = report.verdicts.jobs.iter().filter(|job| job.verdict == Some(Verdict::Proven));
        assert!(proven.all(|job| !is_open(&job.stream)), "{words}: {:?}", report.verdicts.jobs);
    }
}

#[test]
fn accesses_to_labels_take_lines_at_the_latency_of_the_core_or_as_stated() {
    let text = model("passive");
    let work = |chosen: &AmaltheaOptions| match scenario_with(&text, chosen).expect("sound").threads[0].steps[..] {
        [Step::Work(time)] => time.as_ns(),
        _ => panic!("it works alone"),
    };
    // 16 lines twice, at 40 ns each.
    assert_eq!(work(&AmaltheaOptions::default()), 998_720 + 2 * 16 * 40);
    let stated = |name: &str| AmaltheaOptions {
        access_times: [(name.to_owned(), Duration::from_ns(220))].into(),
        ..AmaltheaOptions::default()
    };
    for name in ["A57", "Core2"] {
        assert_eq!(work(&stated(name)), 998_720 + 2 * 16 * 220, "{name}");
    }
    assert_eq!(verdicts(&text), all_but(&[]));
}

/// Published beside the model of the WATERS Industrial Challenge 2019 (`dse_analysis/results.json` of
/// panorama-research/mobstr-dataset), with 220 ns for each line of 64 bytes: `CANbus_polling` 0.6032 ms, EKF
/// 5.39455 ms.
#[test]
fn waters_2019_has_the_published_responses_with_accesses_to_labels() {
    let status = |access: &str, times: usize| {
        format!(r#"<items xsi:type="am:LabelAccess" data="Status?type=Label" access="{access}"/>"#).repeat(times)
    };
    let runnable = |name: &str, items: &str| {
        format!(r#"<runnables name="{name}"><activityGraph>{items}</activityGraph></runnables>"#)
    };
    let task = |name: &str, ms: u32, runnable: &str| {
        format!(
            r#"<tasks name="{name}" stimuli="every+{ms}+ms?type=PeriodicStimulus"><activityGraph>
            <items xsi:type="am:RunnableCall" runnable="{runnable}?type=Runnable"/></activityGraph></tasks>"#
        )
    };
    let stimulus =
        r#"<stimuli xsi:type="am:PeriodicStimulus" name="every 15 ms"><recurrence value="15" unit="ms"/></stimuli>"#;
    let software = [
        task("CANbus_polling", 10, "CAN"),
        task("EKF", 15, "Filter"),
        runnable("CAN", &format!("{}{}", ticks_item("1199360"), status("write", 1))),
        runnable("Filter", &format!("{}{}{}", status("read", 4), ticks_item("9519340"), status("write", 5))),
    ];
    let shipped = model("passive");
    let from = shipped.find("<labels").expect("there is one");
    let text = shipped.replace(&shipped[shipped.find("<tasks").expect("there is one")..from], &software.concat());
    let text = text
        .replace(r#"value="1.0" unit="GHz""#, r#"value="2.0" unit="GHz""#)
        .replace("<stimuliModel>", &format!("<stimuliModel>{stimulus}"))
        .replace(r#"task="Control?"#, r#"task="CANbus_polling?"#)
        .replace(r#"task="Vision?"#, r#"task="EKF?"#);
    let bounds = |ns: Option<u64>| -> Vec<Option<u64>> {
        let times = ns.map(|ns| ("A57".to_owned(), Duration::from_ns(ns)));
        let access_times = times.into_iter().collect();
        let options = AmaltheaOptions { access_times, cores: true, ..AmaltheaOptions::default() };
        let scenario = scenario_with(&text, &options).expect("sound");
        let search = SearchOptions { runs: 8, ..SearchOptions::default() };
        let all = judge_sporadic(&scenario, &[Duration::ZERO; 2], &search, Progress::NONE).expect("judged");
        all.streams.iter().map(|one| one.bound_ns.map(Duration::as_ns)).collect()
    };
    assert_eq!(bounds(Some(220)), [Some(603_200), Some(5_394_550)]);
    // By the model's latencies alone, 20 ns for a line.
    assert_eq!(bounds(None), [Some(600_000), Some(5_362_550)]);
}
