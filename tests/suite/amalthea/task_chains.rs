//! Event chains from task to task, on a model of a brake-by-wire system whose periods, ticks and priorities are those
//! of Becker and Bucaioni's case study (github.com/matthiasthomasbecker/AmaltheaToRCM, `CaseStudy/BBW`), without its
//! labels.
//!
//! Beside that model are the response times that Rubus-ICE computed for it. They are those of 200 MHz (18,000 ticks of
//! the most urgent task take 90 us), while the file has 300 MHz.

use serde_json::Value;

use super::*;
use crate::common::gpusched_with;

/// Task, period [ms], ticks, priority (a larger number is more urgent), response time that is published [us].
const TASKS: [(&str, u64, u64, u32, u64); 11] = [
    ("pBrakePedalLDM", 2, 6_000, 1, 795),
    ("pBrakeTorqueMap", 3, 9_000, 2, 765),
    ("pGlobalBrakeController", 4, 12_000, 3, 720),
    ("ABS_FL", 5, 15_000, 4, 660),
    ("ABS_FR", 5, 15_000, 5, 585),
    ("ABS_RL", 5, 15_000, 6, 510),
    ("ABS_RR", 5, 15_000, 7, 435),
    ("LDM_FL", 6, 18_000, 8, 360),
    ("LDM_FR", 6, 18_000, 9, 270),
    ("LDM_RL", 6, 18_000, 10, 180),
    ("LDM_RR", 6, 18_000, 11, 90),
];

const WHEELS: [&str; 4] = ["FL", "FR", "RL", "RR"];

/// A model of `tasks` on one core of 200 MHz, with an event `TASK.MOMENT` for each moment of each and `S.TASK` for its
/// stimulus, and with these constraints.
fn model(tasks: &[(&str, u64, u64, u32, u64)], constraints: &str) -> String {
    let mut parts = [const { Vec::new() }; 4];
    for (name, period, ticks, priority, _) in tasks {
        let item = ticks_item(&ticks.to_string());
        parts[0].push(format!(
            r#"<tasks name="{name}" stimuli="P{name}?type=PeriodicStimulus" preemption="preemptive"><activityGraph><items xsi:type="am:RunnableCall" runnable="R{name}?type=Runnable"/></activityGraph></tasks>
<runnables name="R{name}"><activityGraph>{item}</activityGraph></runnables>"#
        ));
        parts[1].push(format!(
            r#"<stimuli xsi:type="am:PeriodicStimulus" name="P{name}"><recurrence value="{period}" unit="ms"/></stimuli>"#
        ));
        for moment in ["activate", "start", "terminate", "resume"] {
            parts[2].push(format!(
                r#"<events xsi:type="am:ProcessEvent" name="{name}.{moment}" eventType="{moment}" entity="{name}?type=Task"/>"#
            ));
        }
        parts[2].push(format!(
            r#"<events xsi:type="am:StimulusEvent" name="S.{name}" entity="P{name}?type=PeriodicStimulus"/>"#
        ));
        parts[3].push(format!(
            r#"<taskAllocation task="{name}?type=Task" scheduler="S?type=TaskScheduler" affinity="core?type=ProcessingUnit"><schedulingParameters priority="{priority}"/></taskAllocation>"#
        ));
    }
    let [software, stimuli, events, mapping] = parts.map(|parts| parts.concat());
    let hardware = GPU.replace("\"GPU\"", "\"CPU\"").replace("2.0", "1.0").replace("name=\"gpu\"", "name=\"core\"");
    let hardware = hardware.replace("value=\"1.0\" unit=\"GHz\"", "value=\"200\" unit=\"MHz\"");
    let system = r#"<operatingSystems><taskSchedulers name="S"><schedulingAlgorithm xsi:type="am:OSEK"/></taskSchedulers></operatingSystems>"#;
    let content = format!(
        "<swModel>{software}</swModel>{hardware}<osModel>{system}</osModel><stimuliModel>{stimuli}</stimuliModel>\
         <eventModel>{events}</eventModel><constraintsModel>{constraints}</constraintsModel><mappingModel>{mapping}</mappingModel>"
    );
    model_text("0.9.7", &content)
}

/// An event chain along these events, and a limit of it, with a minimum above zero as in the case study.
fn chain(name: &str, events: &[&str], measure: &str, (least, most): (u64, u64)) -> String {
    let (first, last) = (events[0], events[events.len() - 1]);
    let segments = events.windows(2).map(|two| {
        format!(
            r#"<items xsi:type="am:EventChainContainer"><eventChain name="{0} {1}" stimulus="{0}?type=ProcessEvent" response="{1}?type=ProcessEvent"/></items>"#,
            two[0], two[1]
        )
    });
    let segments: String = segments.collect();
    format!(
        r#"<eventChains name="C{name}" stimulus="{first}?type=ProcessEvent" response="{last}?type=ProcessEvent" itemType="sequence">{segments}</eventChains>
<timingConstraints xsi:type="am:EventChainLatencyConstraint" name="{name}" scope="C{name}?type=EventChain" type="{measure}"><minimum value="{least}" unit="ms"/><maximum value="{most}" unit="ms"/></timingConstraints>"#
    )
}

/// The same chain without what lies between its stimulus and its response.
fn without_segments(chain: &str) -> String {
    let (before, rest) = chain.split_once("<items").expect("it has segments");
    format!("{before}{}", rest.rsplit_once("</items>").expect("they end").1)
}

/// The four chains from the pedal to a wheel, with their limits.
fn wheels(limits: (u64, u64)) -> String {
    let one = |wheel: &&str| {
        let [abs, ldm] = [format!("ABS_{wheel}.activate"), format!("LDM_{wheel}.terminate")];
        let before = ["pBrakePedalLDM.activate", "pBrakeTorqueMap.activate", "pGlobalBrakeController.activate"];
        chain(wheel, &[&before[..], &[&abs, &ldm]].concat(), "Reaction", limits)
    };
    WHEELS.iter().map(one).collect()
}

/// What the analysis says as JSON, whether all is proven, and what it notes.
fn analysed(text: &str, options: &[&str]) -> (Value, Option<i32>, String) {
    let output = gpusched_with(text, &[&["analyze", "-", "--format", "json", "--check"], options].concat());
    let document = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (document, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The chains that have a limit: name, longest that was found [us], bound [us] and verdict.
fn limited(document: &Value) -> Vec<(&str, u64, u64, &str)> {
    let rows = document["chains"].as_array().map_or(&[][..], Vec::as_slice).iter();
    let of = |row: &Value, key: &str| row[key].as_u64().unwrap_or_default() / 1_000;
    rows.filter(|row| !row["limit_ns"].is_null())
        .map(|row| {
            let (found, bound) = (of(row, "worst_found_ns"), of(row, "bound_ns"));
            (row["chain"].as_str().unwrap_or_default(), found, bound, row["verdict"].as_str().unwrap_or_default())
        })
        .collect()
}

#[test]
fn response_times_of_the_brakes_are_those_that_are_published() {
    let (document, status, said) = analysed(&model(&TASKS, ""), &["--sporadic"]);
    assert_eq!(status, Some(0), "{said}");
    let bounds = list(&document, "streams").iter().map(|row| row["bound_ns"].as_u64());
    assert_eq!(bounds.collect::<Vec<_>>(), TASKS.map(|(.., published)| Some(published * 1_000)));
}

/// By hand, with all tasks first released at 0: what happens just after the pedal was read at 14 ms is read at 16 ms,
/// there at 16.09 ms, read by the torque map at 18 ms and there by 18.405 ms, read by the controller at 20 ms and there
/// by 20.36 ms, read by ABS at 25 ms, and by the actuator at 30 ms, which is the latest of all such ways: its response
/// time later, 16 ms and that of LDM have passed. What is published does not count the offsets: 20 ms, which are all
/// periods together, and that response time, less up to 3 us.
#[test]
fn a_chain_of_tasks_is_judged_by_its_maximum() {
    let (document, status, said) = analysed(&model(&TASKS, &wheels((0, 20))), &[]);
    let expected = [("FL", 16_360), ("FR", 16_270), ("RL", 16_180), ("RR", 16_090)];
    assert_eq!(limited(&document), expected.map(|(wheel, us)| (wheel, us, us, "proven")), "{said}");
    assert_eq!(status, Some(0), "{said}");
    for published in [20_359_u64, 20_267, 20_177, 20_087].into_iter().zip(expected) {
        let (published, (_, us)) = published;
        assert!((4_000 - 3..4_000).contains(&(published - us)));
    }
    let (document, status, _) = analysed(&model(&TASKS, &wheels((0, 16))), &[]);
    assert_eq!(limited(&document).into_iter().map(|row| row.3).collect::<Vec<_>>(), ["missed"; 4]);
    assert_eq!(status, Some(1));
    // One note for all four, and one for what else is not that of the constraint.
    let counts = r#"the reaction time of "FL", "FR", "RL", "RR" counts from"#;
    assert!(said.contains(counts) && said.matches("reaction time of").count() == 1, "{said}");
    assert!(said.contains(r#""FL", "FR", "RL", "RR" is about the activation of a task"#), "{said}");
}

#[test]
fn a_minimum_is_said_and_fails_the_check() {
    let three = ["one", "other", "third"].map(|name| chain(name, &["A.start", "H.terminate"], "Age", (13, 13)));
    let text = model(&TWO, &three.concat());
    let (document, status, said) = analysed(&text, &[]);
    assert_eq!(limited(&document).len(), 3, "the maximum is judged");
    assert_eq!(status, Some(1));
    assert!(said.contains("latency constraints of event chains are not checked (3)"), "{said}");
    let note = r#"the minimum of EventChainLatencyConstraint "one", "other", "third" is not judged: 13 ms"#;
    assert!(said.contains(note), "{said}");
    assert_eq!(analysed(&text, &["--allow-unchecked"]).1, Some(0));
}

/// A works for 2 ms every 10 ms, and H, which is more urgent, for 3 ms: A starts at 3 ms and ends at 5 ms.
const TWO: [(&str, u64, u64, u32, u64); 2] = [("A", 10, 400_000, 1, 0), ("H", 10, 600_000, 2, 0)];

#[test]
fn what_counts_from_an_activation_is_bounded_from_there() {
    // Of one task, no segments are needed. From the activation on, 15 ms pass until the next job has ended.
    for (measure, found, bound) in [("Reaction", 12_000, 15_000), ("Age", 2_000, 5_000)] {
        for (most, verdict) in [(bound, "proven"), (bound - 1_000, "open"), (found - 1_000, "missed")] {
            for event in ["A.activate", "S.A"] {
                let one = chain("one", &[event, "A.terminate"], measure, (0, most / 1_000));
                let alone = without_segments(&one);
                for text in [one, alone] {
                    let (document, _, said) = analysed(&model(&TWO, &text), &[]);
                    assert_eq!(limited(&document), [("one", found, bound, verdict)], "{event} {said}");
                    assert!(said.contains("\"one\" is about the activation of a task"), "{said}");
                }
            }
        }
    }
    let (document, _, said) = analysed(&model(&TWO, &chain("one", &["A.start", "A.terminate"], "Age", (0, 2))), &[]);
    assert_eq!(limited(&document), [("one", 2_000, 5_000, "open")]);
    assert!(!said.contains("activation"), "{said}");
}

#[test]
fn events_of_a_chain_may_be_of_any_moment_on_its_way() {
    // H reads at 10 ms what A has written at 5 ms and read at 0 ms, and ends at 13 ms.
    let ways: [&[&str]; 4] = [
        &["A.activate", "A.start", "A.terminate", "H.activate", "H.start", "H.terminate"],
        &["A.activate", "H.terminate"],
        &["S.A", "A.terminate", "S.H", "H.terminate"],
        &["A.activate", "A.terminate", "H.terminate"],
    ];
    for way in ways {
        let (document, status, said) = analysed(&model(&TWO, &chain("two", way, "Age", (0, 13))), &[]);
        assert_eq!(limited(&document), [("two", 10_000, 13_000, "proven")], "{way:?} {said}");
        assert_eq!(status, Some(0), "{said}");
    }
}

#[test]
fn what_is_no_chain_of_tasks_is_named_with_the_reason() {
    let way = ["A.activate", "H.activate", "H.terminate"];
    let whole = model(&TWO, &chain("two", &way, "Age", (0, 13)));
    let with = |events: &[&str]| model(&TWO, &chain("two", events, "Age", (0, 13)));
    let without_segments = without_segments(&chain("two", &["A.activate", "H.terminate"], "Age", (0, 13)));
    let event = |from: &str, to: &str| whole.replacen(from, to, 1);
    let isr = whole.replace("<tasks name=\"A\"", "<isrs name=\"A\"").replacen("</tasks>", "</isrs>", 1);
    for (text, why) in [
        (with(&["A.terminate", "H.terminate"]), "it counts from the end of \"A\", and chains count from where a job"),
        (with(&["A.activate", "H.start"]), "it counts to the start of \"H\", and chains count to where a job ends"),
        (with(&["A.activate", "A.resume", "H.terminate"]), "event \"A.resume\" is of eventType \"resume\""),
        (with(&["A.start", "A.activate", "A.terminate"]), "it goes from the start of \"A\" to the activation of \"A\""),
        (model(&TWO, &without_segments), "its event chain has no segments, which say who hands data on to whom"),
        (event("\"sequence\"", "\"parallel\""), "items of its event chain are parallel"),
        (event("type=\"Age\"", ""), "its type is neither Reaction nor Age"),
        (
            event("ProcessEvent\" name=\"H.act", "CustomEvent\" name=\"H.act"),
            "event \"H.activate\" is of type CustomEvent",
        ),
        (event("ProcessEvent\" name=\"A.act", "RunnableEvent\" name=\"A.act"), "event \"A.activate\" is of eventType"),
        (event("name=\"H.activate\"", "name=\"other\""), "event \"H.activate\" is not in this model once"),
        (
            event("eventType=\"activate\" entity=\"A", "eventType=\"activate\" entity=\"B"),
            "nothing is read of what task",
        ),
        (isr, "task \"A\" is not simulated"),
    ] {
        let (document, status, said) = analysed(&text, &["--deadline", "H=9ms"]);
        assert_eq!((limited(&document).len(), status), (0, Some(1)), "{why}: {said}");
        let note = format!("note: EventChainLatencyConstraint \"two\" is not judged: {why}");
        assert!(said.contains(&note), "{note}\n{said}");
        assert!(said.contains("latency constraints of event chains are not checked (1)"), "{said}");
    }
    let twice = with(&way).replace(
        "</constraintsModel>",
        &format!("{}</constraintsModel>", {
            let own = chain("two", &way, "Reaction", (0, 40));
            own[own.find("<timing").unwrap()..].to_owned()
        }),
    );
    assert!(analysed(&twice, &[]).2.contains("\"two\" is not judged: another one has its name"));
}

#[test]
fn accesses_whose_lines_are_not_known_are_of_a_byte_each_at_most() {
    let access = r#"<items xsi:type="am:LabelAccess" data="L?type=Label" access="read"/>"#;
    let label = r#"<labels name="L"><size value="2" unit="B"/></labels>"#;
    let text = model(&TWO, "").replacen("RH\"><activityGraph>", &format!("RH\"><activityGraph>{access}"), 1);
    let text = text.replacen("<swModel>", &format!("<swModel>{label}"), 1);
    let bounds = |options: &[&str]| {
        let (document, status, said) = analysed(&text, &[&["--sporadic"], options].concat());
        let bounds = list(&document, "streams").iter().map(|row| row["bound_ns"].as_u64().unwrap_or(0));
        (bounds.collect::<Vec<_>>(), status, said)
    };
    let (_, status, said) = bounds(&[]);
    assert!(status == Some(1) && said.contains("accesses of runnable \"RH\" to labels take is not stated"), "{said}");
    let (bounds, status, _) = bounds(&["--access-time", "core=50ns"]);
    assert_eq!((bounds, status), (vec![5_000_100, 3_000_100], Some(0)));
}
