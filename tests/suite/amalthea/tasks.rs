//! Tasks: runnables that one of them calls, tasks that trigger others, processes and time slices.

use std::collections::BTreeMap;

use gpusched::analysis::{SearchOptions, Verdict, judge, judge_sporadic, requirements_of_jobs};
use gpusched::effort::Progress;
use gpusched::formats::{TableStyle, csv_of, text_of};
use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::HostThread;
use gpusched::tables::SporadicReport;
use gpusched::time::Duration;

use super::*;

/// A GPU at 1 GHz, periodic stimuli and whatever else.
fn model(tasks: &str, runnables: &[(&str, u32)], stimuli: &str, rest: &str) -> String {
    let runnable = |&(name, ms): &(&str, u32)| {
        let (grid, ticks) = (property("GridSize", 4), ticks_item(&(u64::from(ms) * 1_000_000).to_string()));
        format!(r#"<runnables name="{name}">{grid}<callGraph>{ticks}</callGraph></runnables>"#)
    };
    let runnables: String = runnables.iter().map(runnable).collect();
    let hardware = r#"<hwModel><definitions xsi:type="am:ProcessingUnitDefinition" name="GP10B" puType="GPU"/>
        <definitions xsi:type="am:ProcessingUnitDefinition" name="A57" puType="CPU"/>
        <structures name="TX2">
        <modules xsi:type="am:ProcessingUnit" name="GPU" frequencyDomain="Clock?type=FrequencyDomain" definition="GP10B?type=ProcessingUnitDefinition"/>
        <modules xsi:type="am:ProcessingUnit" name="Core0" frequencyDomain="Clock?type=FrequencyDomain" definition="A57?type=ProcessingUnitDefinition"/>
        </structures>
        <domains xsi:type="am:FrequencyDomain" name="Clock"><defaultValue value="1.0" unit="GHz"/></domains></hwModel>"#;
    model_text(
        "0.9.5",
        &format!("<swModel>{tasks}{runnables}</swModel>{hardware}<stimuliModel>{stimuli}</stimuliModel>{rest}"),
    )
}

fn periodic(name: &str, ms: u32) -> String {
    format!(r#"<stimuli xsi:type="am:PeriodicStimulus" name="{name}"><recurrence value="{ms}" unit="ms"/></stimuli>"#)
}

fn call(name: &str) -> String {
    format!(r#"<items xsi:type="am:RunnableCall" runnable="{name}?type=Runnable"/>"#)
}

fn task(name: &str, stimulus: &str, items: &str) -> String {
    format!(
        r#"<tasks name="{name}" stimuli="{stimulus}?type=Stimulus"><callGraph><items xsi:type="am:Group" ordered="true">{items}</items></callGraph></tasks>"#
    )
}

fn limit(name: &str, of: &str, key: &str, ms: u32) -> String {
    format!(
        r#"<requirements xsi:type="am:{of}Requirement" name="{name} in time" {key}="{name}?type={of}">
        <limit xsi:type="am:TimeRequirementLimit" limitType="UpperLimit" metric="ResponseTime"><limitValue value="{ms}" unit="ms"/></limit>
        </requirements>"#
    )
}

fn ms(ms: u64) -> Duration {
    Duration::from_ns(ms * 1_000_000)
}

/// Release, period and deadline \[ms\] of a host thread, with its name.
fn timing(thread: &HostThread) -> (&str, u64, Option<u64>, Option<u64>) {
    let whole = |time: Duration| time.as_ns() / 1_000_000;
    (&thread.label, whole(thread.release), thread.period.map(whole), thread.deadline().map(whole))
}

#[test]
fn runnables_that_a_task_calls_run_one_after_the_other_whatever_their_order_in_the_model() {
    let calls = format!("{}{}", call("7_1"), call("7_2"));
    let requirements = format!(
        "<constraintsModel>{}{}</constraintsModel>",
        limit("Task_7", "Process", "process", 90),
        limit("7_1", "Runnable", "runnable", 70)
    );
    let text = model(&task("Task_7", "S", &calls), &[("7_2", 20), ("7_1", 60)], &periodic("S", 100), &requirements);
    let scenario = scenario_with(&text, &AmaltheaOptions::default()).expect("sound");
    assert_eq!(scenario.threads.iter().map(timing).collect::<Vec<_>>(), [("Task_7", 0, Some(100), Some(90))]);
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let ends: Vec<_> = summary.kernels().map(|kernel| (kernel.launch.title().to_owned(), kernel.finish_ns)).collect();
    // Half of the GPU would be free for 7_2 from the beginning on.
    let at = |time: u64| Some(gpusched::time::Instant::from_ns(time * 1_000_000));
    assert_eq!(ends, [("7_1".to_owned(), at(60)), ("7_2".to_owned(), at(80))]);
    let search = SearchOptions { runs: 8, ..SearchOptions::default() };
    let verdicts = judge(&scenario, &search, Progress::NONE).expect("it is judged");
    assert_eq!(verdicts.jobs.len(), 1);
    assert_eq!((verdicts.jobs[0].bound_ns, verdicts.jobs[0].verdict), (Some(ms(80)), Some(Verdict::Proven)));
    // 7_1 ends no later than the job of the task, at 80 ms; that does not show that it ends after 70 ms.
    let demands = parsed(&text).demands(&AmaltheaOptions::default(), &scenario).expect("sound");
    let of_model: Vec<_> =
        requirements_of_jobs(&demands, &scenario, &verdicts).into_iter().map(|one| one.verdict).collect();
    assert_eq!(of_model, [Some(Verdict::Proven), Some(Verdict::Open)]);
}

/// A task of 50 ms with a limit of 40 ms that triggers a kernel of 10 ms and waits for it.
fn triggered() -> String {
    let wait = r#"<items xsi:type="am:WaitEvent"><eventMask events="done?type=OsEvent"/></items>"#;
    let trigger = r#"<items xsi:type="am:InterProcessTrigger" stimulus="go?type=InterProcessStimulus"/>"#;
    let set = r#"<items xsi:type="am:SetEvent"><eventMask events="done?type=OsEvent"/></items>"#;
    let tasks = format!(
        "{}{}",
        task("Pre", "tick", &format!("{trigger}{wait}")),
        task("Gpu", "go", &format!("{}{set}", call("Kernel")))
    );
    let stimuli = format!(r#"{}<stimuli xsi:type="am:InterProcessStimulus" name="go"/>"#, periodic("tick", 50));
    let requirement = format!("<constraintsModel>{}</constraintsModel>", limit("Pre", "Process", "process", 40));
    model(&tasks, &[("Kernel", 10)], &stimuli, &requirement)
}

#[test]
fn a_triggered_task_has_the_period_and_the_deadline_of_the_task_that_triggers_it() {
    let text = triggered();
    let scenario = scenario_with(&text, &AmaltheaOptions::default()).expect("sound");
    assert_eq!(scenario.threads.iter().map(timing).collect::<Vec<_>>(), [("Kernel", 0, Some(50), Some(40))]);
    // How long after its release Pre triggers is not known, so nothing is proven unless the user says it.
    let search = SearchOptions { runs: 8, ..SearchOptions::default() };
    let verdicts = judge(&scenario, &search, Progress::NONE).expect("it is judged");
    assert_eq!((verdicts.jobs[0].bound_ns, verdicts.jobs[0].verdict), (Some(ms(10)), Some(Verdict::Open)));
    assert!(verdicts.notes.iter().any(|note| note.contains("how much later")), "{:?}", verdicts.notes);
    let demands = parsed(&text).demands(&AmaltheaOptions::default(), &scenario).expect("sound");
    let of_model = &requirements_of_jobs(&demands, &scenario, &verdicts)[0];
    assert_eq!((of_model.streams.as_slice(), of_model.verdict), (&["Kernel".to_owned()][..], Some(Verdict::Open)));
    for (jitter, expected) in [(30, Verdict::Proven), (31, Verdict::Missed)] {
        let judged = judge_sporadic(&scenario, &[ms(jitter)], &search, Progress::NONE).expect("it is judged");
        assert_eq!(judged.streams[0].verdict, Some(expected), "{jitter}");
    }
    let unknown = judge_sporadic(&scenario, &[HostThread::UNKNOWN_JITTER], &search, Progress::NONE).expect("judged");
    assert_eq!((unknown.streams[0].bound_ns, unknown.streams[0].verdict), (None, Some(Verdict::Open)));
    // A table says so, and programs are told of none.
    let jitter = SporadicReport::jitter_of_threads(&scenario, BTreeMap::new()).expect("no stream is named");
    let report = SporadicReport::of(&scenario, &jitter, Some(&demands), None, Progress::NONE).expect("it is judged");
    let text = text_of(&report, TableStyle::Plain);
    assert!(text.contains(" unknown ") && csv_of(&report).contains("Kernel,50000000,,"), "{text}");
    let stated = [("Kernel".to_owned(), Duration::ZERO)].into();
    assert_eq!(SporadicReport::jitter_of_threads(&scenario, stated).expect("it is there"), [Duration::ZERO]);
}

#[test]
fn tasks_that_trigger_each_other_or_are_not_triggered_have_no_releases() {
    let round =
        triggered().replace(r#"name="Pre" stimuli="tick?type=Stimulus""#, r#"name="Pre" stimuli="go?type=Stimulus""#);
    let error = scenario_with(&round, &AmaltheaOptions::default()).expect_err("it has no beginning").to_string();
    assert!(error.contains("activated by several stimuli"), "{error}");
    let nobody = triggered().replace("InterProcessTrigger", "CustomItem");
    let scenario = scenario_with(&nobody, &AmaltheaOptions::default()).expect("sound");
    assert_eq!(scenario.threads.iter().map(timing).collect::<Vec<_>>(), [("Kernel", 0, None, None)]);
    assert!(scenario.notes.iter().any(|note| note.contains("\"go\" is triggered by no task")), "{:?}", scenario.notes);
    // A period that the user states is no single launch.
    let periods = [("Kernel".to_owned(), ms(50))].into();
    let options = ReadOptions { periods, ..ReadOptions::default() };
    let scenario =
        AmaltheaModel::read_scenario("in.amxmi", &nobody, &AmaltheaOptions::default(), &options).expect("sound");
    assert!(!scenario.notes.iter().any(|note| note.contains("launched once")), "{:?}", scenario.notes);
}

/// Two tasks of one kernel each, with what the mapping says of the first.
fn two_tasks(allocation: &str) -> String {
    let tasks = format!("{}{}", task("A", "S", &call("KA")), task("B", "S", &call("KB")));
    model(&tasks, &[("KA", 5), ("KB", 5)], &periodic("S", 100), &format!("<mappingModel>{allocation}</mappingModel>"))
}

#[test]
fn processes_are_those_of_the_option_or_those_of_the_models_time_slices() {
    let names = |text: &str, chosen: &AmaltheaOptions| -> Vec<(String, Option<u64>)> {
        let scenario = scenario_with(text, chosen).expect("sound");
        let processes = scenario.catalogue.processes();
        let of = |thread: &HostThread| {
            let process = &processes[thread.process.index()];
            (process.name.to_string(), process.time_slice.map(|slice| slice.as_ns() / 1_000))
        };
        scenario.threads.iter().map(of).collect()
    };
    let plain = two_tasks("");
    assert_eq!(scenario_with(&plain, &AmaltheaOptions::default()).expect("sound").catalogue.processes().len(), 1);
    let by_option = |pairs: &[(&str, &str)]| AmaltheaOptions {
        processes: pairs.iter().map(|(task, name)| ((*task).to_owned(), (*name).to_owned())).collect(),
        ..AmaltheaOptions::default()
    };
    let named = |name: &str| (name.to_owned(), None);
    assert_eq!(names(&plain, &by_option(&[("A", "vision")])), [named("vision"), named("KB")]);
    assert_eq!(names(&plain, &by_option(&[("A", "p"), ("KB", "p")])), [named("p"), named("p")]);
    let error = scenario_with(&plain, &by_option(&[("C", "p")])).expect_err("unknown").to_string();
    assert!(error.contains("\"C\" is launched"), "{error}");

    let sliced = two_tasks(
        r#"<taskAllocation task="A?type=Task" affinity="GPU?type=ProcessingUnit"><schedulingParameters priority="1"/>
           <parameterExtensions key="TimeSlice_A" value="7200µs"/></taskAllocation>"#,
    );
    let expected = [("KA".to_owned(), Some(7_200)), named("KB")];
    assert_eq!(names(&sliced, &AmaltheaOptions::default()), expected);
    let model = parsed(&sliced);
    for (what, count) in [("taskAllocation", 1), ("affinity of taskAllocation", 1), ("priority of taskAllocation", 1)] {
        assert_eq!(model.skipped.get(what), Some(&count), "{what}: {:?}", model.skipped);
    }
}

#[test]
fn what_tasks_do_beside_calls_is_counted() {
    let model_text = triggered();
    let model = parsed(&model_text);
    for what in ["WaitEvent in a task", "SetEvent in a task"] {
        assert_eq!(model.skipped.get(what), Some(&1), "{what}: {:?}", model.skipped);
    }
    assert!(!model.skipped.keys().any(|kind| kind.contains("InterProcess")), "{:?}", model.skipped);
}

#[test]
fn a_core_that_is_no_gpu_is_noted_and_unknown_names_have_near_ones() {
    let text = two_tasks("");
    let on = |unit: &str| {
        let chosen = AmaltheaOptions { processing_unit: Some(unit.to_owned()), ..AmaltheaOptions::default() };
        scenario_with(&text, &chosen).expect("sound").notes
    };
    assert!(on("Core0").iter().any(|note| note.contains("\"Core0\" is no GPU (CPU)")), "{:?}", on("Core0"));
    assert!(!on("GPU").iter().any(|note| note.contains("is no GPU")));
    let error = scenario_with(&text, &chosen(&["K-A"])).expect_err("unknown").to_string();
    assert!(error.contains("(did you mean \"KA\"?)"), "{error}");
}

/// The GPU's part of the WATERS Industrial Challenge 2019 as its model maps it, with the facts of the model: upper
/// bounds of ticks at 1.5 GHz, sizes of labels, and time slices.
#[test]
fn with_the_time_slices_of_waters_2019_sfm_misses_124_of_200_deadlines_and_with_1_024_ms_none() {
    let stream = |name: &str, period: &str, to: u32, from: u32| {
        serde_json::json!({"name": name, "process": name, "period": period, "operations": [
            {"copy": "host-to-device", "bytes": to}, {"kernel": name}, {"copy": "device-to-host", "bytes": from}]})
    };
    let text = serde_json::json!({
        "format": "gpusched-scenario/1", "name": "WATERS 2019 on the GPU", "device": "tx2", "horizon": "6.6 s",
        "processes": {"SFM": {"time_slice": "7200 us"}, "Detection": {"time_slice": "50 ms"}},
        "kernels": {
            "SFM": {"blocks": 1, "threads": 512, "duration": "7.9 ms"},
            "Detection": {"blocks": 1, "threads": 512, "duration": "116 ms"},
        },
        "streams": [stream("SFM", "33 ms", 2_000_256, 24_000), stream("Detection", "200 ms", 2_000_000, 750_000)],
    });
    let misses = |time_slice: Option<u64>| -> Vec<Option<u64>> {
        let options = ReadOptions { time_slice: time_slice.map(Duration::from_ns), ..ReadOptions::default() };
        let scenario = Scenario::from_json("waters.json", &text.to_string(), &options).expect("sound");
        let run = simulate(&scenario).expect("it runs");
        Summary::of(&run).responses().iter().map(|row| row.misses).collect()
    };
    assert_eq!(misses(None), [Some(124), Some(0)]);
    assert_eq!(misses(Some(1_024_000)), [Some(0), Some(0)]);
}
