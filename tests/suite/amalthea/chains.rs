//! Event chains. Sense takes 2 ms every 10 ms from 0 ms on, Act 3 ms every 10 ms from 1 ms on, beside each other on the
//! GPU. Sense writes at 2, 12, 22 ms, and Act reads at 1, 11, 21 ms and writes at 4, 14, 24 ms.
//!
//! Data age: what Act reads at 11 ms was written at 2 ms and read at 0 ms, and comes out at 14 ms: 14 ms. Reaction
//! time: an event just after 0 ms is read at 10 ms, written at 12 ms, read at 21 ms and comes out at 24 ms: 24 ms.

use gpusched::scenario::ChainMeasure;
use serde_json::{Value, json};

use super::*;
use crate::common::gpusched_with;

/// The constraints of the model: an event chain with these segments, and a limit of it.
fn constraints(segments: &str, limit: &str) -> String {
    format!(
        r#"<constraintsModel>
<eventChains name="C" stimulus="S0?type=RunnableEvent" response="A1?type=RunnableEvent">{segments}</eventChains>
<timingConstraints xsi:type="am:EventChainLatencyConstraint" name="In time" scope="C?type=EventChain" {limit}</timingConstraints>
</constraintsModel>"#
    )
}

fn segment(from: &str, to: &str) -> String {
    format!(
        r#"<segments xsi:type="am:EventChainContainer"><eventChain name="{from} {to}" stimulus="{from}?type=RunnableEvent" response="{to}?type=RunnableEvent"/></segments>"#
    )
}

fn segments() -> String {
    [("S0", "S1"), ("S1", "A0"), ("A0", "A1")].map(|(from, to)| segment(from, to)).concat()
}

fn at_most(measure: &str, ms: u64) -> String {
    format!(r#"type="{measure}"><maximum value="{ms}" unit="ms"/>"#)
}

fn model(constraints: &str) -> String {
    let mut software = Vec::new();
    let (mut stimuli, mut events) = (Vec::new(), Vec::new());
    for (name, offset, ms) in [("Sense", 0, 2), ("Act", 1, 3)] {
        let letter = &name[..1];
        software.push(format!(
            r#"<tasks name="T{name}" stimuli="P{name}?type=PeriodicStimulus"><callGraph><items xsi:type="am:RunnableCall" runnable="{name}?type=Runnable"/></callGraph></tasks>
<runnables name="{name}">{}<callGraph>{}</callGraph></runnables>"#,
            property("GridSize", 1),
            ticks_item(&format!("{ms}000000"))
        ));
        stimuli.push(format!(
            r#"<stimuli xsi:type="am:PeriodicStimulus" name="P{name}"><offset value="{offset}" unit="ms"/><recurrence value="10" unit="ms"/></stimuli>"#
        ));
        for (number, kind) in ["start", "terminate"].iter().enumerate() {
            events.push(format!(
                r#"<events xsi:type="am:RunnableEvent" name="{letter}{number}" eventType="{kind}" entity="{name}?type=Runnable"/>"#
            ));
        }
    }
    let [software, stimuli, events] = [software, stimuli, events].map(|parts| parts.concat());
    let content = format!(
        "<swModel>{software}</swModel>{GPU}<stimuliModel>{stimuli}</stimuliModel><eventModel>{events}</eventModel>{constraints}"
    );
    model_text("0.9.5", &content)
}

/// What the analysis says of the chain by the measure that the model limits, whether all is proven, and what it notes.
fn judged(text: &str, options: &[&str]) -> (Value, Option<i32>, String) {
    let arguments = ["analyze", "-", "--horizon", "95ms", "--format", "json", "--check"];
    let output = gpusched_with(text, &[&arguments, options].concat());
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let rows = document["chains"].as_array().cloned().unwrap_or_default();
    let limited = rows.into_iter().find(|row| !row["limit_ns"].is_null()).unwrap_or_default();
    (limited, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn latency_constraints_of_event_chains_are_judged() {
    for (measure, ms, name) in [("Reaction", 24, "reaction time"), ("Age", 14, "data age")] {
        let text = |at_most_ms| model(&constraints(&segments(), &at_most(measure, at_most_ms)));
        let (row, status, said) = judged(&text(ms), &[]);
        let found = [&row["chain"], &row["measure"], &row["path"], &row["worst_found_ns"], &row["bound_ns"]];
        let ns = ms * 1_000_000;
        assert_eq!(
            found,
            [&json!("In time"), &json!(name), &json!(["Sense", "Act"]), &json!(ns), &json!(ns)],
            "{said}"
        );
        assert_eq!((&row["verdict"], status), (&json!("proven"), Some(0)), "{said}");
        assert!(!said.contains("not read") && !said.contains("not judged"), "{said}");
        let (row, status, said) = judged(&text(ms - 1), &[]);
        assert_eq!((&row["verdict"], status), (&json!("missed"), Some(1)), "{said}");
    }
}

#[test]
fn chains_count_a_jitter_that_is_stated_and_are_open_where_one_is_not_read() {
    let text = model(&constraints(&segments(), &at_most("Age", 14)));
    let jitter = r#"<jitter xsi:type="am:TimeBoundaries"><upperBound value="1" unit="ms"/></jitter><recurrence"#;
    let (row, status, said) = judged(&text.replacen("<recurrence", jitter, 1), &[]);
    assert_eq!((&row["verdict"], status), (&json!("proven"), Some(0)), "{said}");
    let unread = r#"<jitter xsi:type="am:TimeGaussDistribution"/><recurrence"#;
    let (row, status, said) = judged(&text.replacen("<recurrence", unread, 1), &[]);
    assert_eq!((&row["verdict"], status), (&json!("open"), Some(1)), "{said}");
    assert!(said.contains("chain \"In time\" has no bound: jobs may be released at other times"), "{said}");
    // A normal distribution without a lower end may be early, which no lateness covers.
    let early = unread.replace("/><rec", "><upperBound value=\"1\" unit=\"ms\"/></jitter><rec");
    let (row, status, said) = judged(&text.replacen("<recurrence", &early, 1), &[]);
    assert_eq!((&row["verdict"], status), (&json!("open"), Some(1)), "{said}");
}

#[test]
fn segments_may_go_from_start_to_start_and_be_items_of_a_sequence() {
    let short = segment("S0", "A0") + &segment("A0", "A1");
    let items = segments().replace("<segments", "<items").replace("</segments>", "</items>");
    let items = model(&constraints(&items, &at_most("Age", 14)));
    let sequence = items.replace("name=\"C\"", "name=\"C\" itemType=\"sequence\"");
    for text in [model(&constraints(&short, &at_most("Age", 14))), sequence.clone()] {
        let scenario = parsed(&text).scenario(&AmaltheaOptions::default(), &ReadOptions::default()).expect("sound");
        let [chain] = &scenario.chains[..] else { panic!("{:?}", scenario.chains) };
        assert_eq!(chain.links.iter().map(|link| link.thread).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(chain.limit(ChainMeasure::DataAge).map(gpusched::time::Duration::as_ns), Some(14_000_000));
        assert_eq!(chain.limit(ChainMeasure::ReactionTime), None);
    }
    assert_eq!(parsed(&sequence.replace("\"sequence\"", "\"parallel\"")).skipped["EventChainLatencyConstraint"], 1);
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_what_cannot_be_told_is_counted_and_fails_the_check() {
    let age = at_most("Age", 14);
    let whole = model(&constraints(&segments(), &age));
    let gap = segment("S0", "S1") + &segment("A0", "A1");
    let end = r#"eventType="terminate" entity="Act"#;
    for (what, text) in [
        ("no maximum", model(&constraints(&segments(), r#"type="Age">"#))),
        ("no type", whole.replace(r#"type="Age""#, r#"type="_undefined_""#)),
        ("another scope", whole.replace("scope=\"C?", "scope=\"D?")),
        ("no segments", model(&constraints("", &age))),
        ("a gap", model(&constraints(&gap, &age))),
        ("no end", model(&constraints(&segment("S0", "S1"), &age))),
        ("strands", whole.replace("</eventChains>", "<strands/></eventChains>")),
        ("an event that is no end", whole.replace(end, r#"eventType="suspend" entity="Act"#)),
        ("an end that is a start", whole.replace(end, r#"eventType="start" entity="Act"#)),
        (
            "events of tasks and runnables",
            whole.replacen("am:RunnableEvent\" name=\"S0", "am:ProcessEvent\" name=\"S0", 1),
        ),
        ("two events of a name", whole.replace("name=\"S1\"", "name=\"S0\"")),
    ] {
        assert_eq!(parsed(&text).skipped.get("EventChainLatencyConstraint"), Some(&1), "{what}");
        let (row, status, said) = judged(&text, &[]);
        assert_eq!((row, status), (Value::Null, Some(1)), "{what}: {said}");
        assert!(said.contains("1 x EventChainLatencyConstraint"), "{what}: {said}");
        assert!(said.contains("latency constraints of event chains are not checked (1)"), "{what}: {said}");
    }
    let text = model(&constraints("", &age));
    assert_eq!(judged(&text, &["--allow-unchecked"]).1, Some(0), "no segments");
}

#[test]
fn chains_through_what_is_not_launched_alone_are_not_judged() {
    let text = model(&constraints(&segments(), &at_most("Age", 14)));
    let (row, status, said) = judged(&text, &["--runnables", "Sense"]);
    assert_eq!((row, status), (Value::Null, Some(1)), "{said}");
    assert!(said.contains("\"In time\" is not judged: \"Act\" is not launched as a job of its own"), "{said}");
    // What the task does before on its core is not simulated.
    let call = r#"<items xsi:type="am:RunnableCall" runnable="Act?type=Runnable"/>"#;
    let before = format!(r#"<items xsi:type="am:RunnableCall" runnable="Prepare?type=Runnable"/>{call}"#);
    let prepare =
        format!(r#"<runnables name="Prepare"><callGraph>{}</callGraph></runnables></swModel>"#, ticks_item("9"));
    let (row, status, said) = judged(&text.replace(call, &before).replace("</swModel>", &prepare), &[]);
    assert_eq!((row, status), (Value::Null, Some(1)), "{said}");
    assert!(said.contains("of the task of \"Act\", its other runnables take no time here: Prepare"), "{said}");
}
