//! What `--html` writes: the data in it, and that the file needs nothing else.

use std::fs;
use std::ops::Range;
use std::path::Path;

use gpusched::hosts::simulate;
use gpusched::pictures::timeline::FinishMark;
use gpusched::pictures::{HtmlRun, HtmlTimeline};
use gpusched::run::{Run, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Instant;
use gpusched::trace::{Block, Cause, Stay, queue_contents, reasons};
use gpusched::workload::OperationId;
use proptest::prelude::*;
use serde_json::Value;

use crate::campaign::config;
use crate::common::{directory, gpusched_in};
use crate::generate::{self, Case, Limits};
use crate::published;

fn page(run: &Run) -> String {
    let mut out = Vec::new();
    let summary = Summary::of(run);
    HtmlTimeline::new(summary).write(&mut out).expect("memory holds it");
    String::from_utf8(out).expect("UTF-8")
}

/// The data in a page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").expect("there is data");
    let (data, _) = rest.split_once("</script>").expect("it ends");
    let mut scenes: Vec<Value> = serde_json::from_str(data).expect("JSON");
    scenes.remove(0)
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().expect("a list").iter().map(|number| number.as_u64().expect("a number")).collect()
}

/// The instants of a run, which are written as steps.
fn instants(run: &Value) -> Vec<Instant> {
    let mut sum = 0;
    let steps = run["instants"].as_array().expect("a list").iter();
    let exact = |step: &Value| step.as_u64().or_else(|| step.as_str()?.parse().ok()).expect("a number or text");
    steps
        .map(|step| {
            sum += exact(step);
            Instant::from_ns(sum)
        })
        .collect()
}

/// By hand, as in `chains.rs`: the camera has read at 40 ms and written at 44, vision reads at 45 and has written at
/// 53, and the brake at 60 and 61.
#[test]
fn the_page_has_the_longest_way_through_a_chain() {
    let text = fs::read_to_string("scenarios/deadlines/camera-to-brake.json").expect("it is there");
    let scenario = Scenario::from_json("a.json", &text, &ReadOptions::default()).expect("it is a scenario");
    let run = simulate(&scenario).expect("it runs");
    let data = data(&page(&run));
    let (run, chain) = (&data["runs"][0], &data["runs"][0]["chain"]);
    assert_eq!(chain["said"], "longest reaction time of camera to brake: 61 ms, by camera 1 > vision 2 > brake 6");
    let instants = instants(run);
    let at = |job: &Value, key: &str| {
        let number = job[key].as_u64().and_then(|number| usize::try_from(number).ok()).expect("a number");
        instants[number].as_ns() / 1_000_000
    };
    let jobs = chain["jobs"].as_array().expect("a list");
    let times: Vec<(u64, u64)> = jobs.iter().map(|job| (at(job, "read"), at(job, "written"))).collect();
    assert_eq!(times, [(40, 44), (45, 53), (60, 61)]);
    // Only vision has a row.
    let streams: Vec<bool> = jobs.iter().map(|job| job["stream"].is_u64()).collect();
    assert_eq!(streams, [false, true, false]);
}

/// The blocks of a run by operation.
fn blocks(run: &Value) -> Vec<(u64, Block)> {
    let instants = instants(run);
    let mut blocks = Vec::new();
    let groups = groups(run);
    for (sm, columns) in (0..).zip(run["sms"].as_array().expect("a list")) {
        for (group, index) in summed(&columns["group"]).into_iter().zip(numbers(&columns["index"])) {
            let (operation, time) = &groups[usize::try_from(group).expect("it is one")];
            let index = u32::try_from(index).expect("it fits");
            blocks.push((*operation, Block { index, sm, start: instants[time.start], end: instants[time.end] }));
        }
    }
    blocks.sort_by_key(|(operation, block)| (*operation, block.index));
    blocks
}

/// The launch of each group of blocks, and the numbers of the instants from and to which it runs.
fn groups(run: &Value) -> Vec<(u64, Range<usize>)> {
    let groups = &run["groups"];
    let starts = summed(&groups["start"]).into_iter().map(|start| usize::try_from(start).expect("a number"));
    let lengths = numbers(&groups["length"]).into_iter().map(|length| usize::try_from(length).expect("a number"));
    let times = starts.zip(lengths).map(|(start, length)| start..start + length);
    numbers(&groups["operation"]).into_iter().zip(times).collect()
}

/// Numbers that are written as steps.
fn summed(steps: &Value) -> Vec<i64> {
    let steps = steps.as_array().expect("a list").iter().map(|step| step.as_i64().expect("a number"));
    steps
        .scan(0, |sum, step| {
            *sum += step;
            Some(*sum)
        })
        .collect()
}

fn instant(instants: &[Instant], number: i64) -> Instant {
    instants[usize::try_from(number).expect("it is reached")]
}

/// An operation in a queue, from when, and until when.
type Entry = (u64, Instant, Option<Instant>);

/// Who is in each queue when; and when they leave, by queue, in order of entry, but for copies that share a link.
fn queues(run: &Value, instants: &[Instant]) -> (Vec<Vec<Entry>>, Vec<(usize, Instant)>) {
    let (mut queues, mut ends) = (Vec::new(), Vec::new());
    for (number, columns) in run["queues"].as_array().expect("a list").iter().enumerate() {
        let entries = summed(&columns["operation"]).into_iter().zip(summed(&columns["entered"]));
        let lengths = columns["length"].as_array().expect("a list").iter();
        let mut queue = Vec::new();
        let shares = columns["kind"] == "copy-engine" && run["device"]["shares_link"] == true;
        for ((operation, entered), length) in entries.zip(lengths) {
            let length = length.as_i64().expect("a number");
            let left = (length >= 0).then(|| instant(instants, entered + length));
            queue.push((u64::try_from(operation).expect("a number"), instant(instants, entered), left));
            if !shares {
                ends.push((number, left.unwrap_or(Instant::MAX)));
            }
        }
        queues.push(queue);
    }
    (queues, ends)
}

/// A wait: of which operation, its rule, what is said, of which queue the head is named, from when, and until when.
type Said = (u64, String, String, Option<usize>, Instant, Option<Instant>);

/// The waits of a run, whose beginnings are written as steps from where the page expects them.
fn waits(run: &Value, instants: &[Instant]) -> Vec<Said> {
    let waits = &run["waits"];
    let number = |column: &str, index: usize| waits[column][index].as_i64().expect("a number");
    let (mut all, mut last) = (Vec::new(), 0);
    for (index, operation) in summed(&waits["operation"]).into_iter().enumerate() {
        let operation = usize::try_from(operation).expect("a number");
        if index == 0 || number("operation", index) > 0 {
            last = run["operations"]["launched"][operation].as_i64().expect("a number");
        }
        let (from, length) = (last + number("from", index), number("length", index));
        let said = &waits["said"][usize::try_from(number("reason", index)).expect("it is said")];
        let text = |key: &str| said[key].as_str().expect("text").to_owned();
        let queue = usize::try_from(number("queue", index)).ok();
        let to = (length >= 0).then(|| instant(instants, from + length));
        all.push((operation as u64, text("rule"), text("why"), queue, instant(instants, from), to));
        last = from + length.max(0);
    }
    all
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn the_page_holds_the_blocks_the_instants_the_queues_and_the_waits_of_the_run(
        Case(scenario) in generate::scenario(Limits { varying: true, ..Limits::ALL }),
    ) {
        let run = simulate(&scenario)?;
        let text = page(&run);
        prop_assert_eq!(&text, &page(&run), "the same bytes");
        let data = data(&text);
        let written = &data["runs"][0];
        let ids = || (0..).map(OperationId).zip(run.trace.operations());
        let expected: Vec<(u64, Block)> =
            ids().flat_map(|(id, _)| run.trace.blocks(id).map(move |block| (u64::from(id.0), block))).collect();
        prop_assert_eq!(blocks(written), expected);

        let instants = instants(written);
        prop_assert!(instants.is_sorted_by(|one, next| one < next));
        let at = |number: &Value| usize::try_from(number.as_i64().expect("a number")).ok().map(|number| instants[number]);
        let operations = &written["operations"];
        for (index, (_, record)) in ids().enumerate() {
            let found = ["launched", "first_start", "finish"].map(|name| at(&operations[name][index]));
            prop_assert_eq!(found, [Some(record.launched()), record.first_start(), record.finish()]);
        }

        let contents = queue_contents(&run.trace, scenario.device());
        let (queues, ends) = queues(written, &instants);
        let expected = |stay: &Stay| (stay.operation.0.into(), stay.entered, stay.left);
        let expected: Vec<Vec<_>> =
            contents.iter().map(|contents| contents.stays.iter().map(expected).collect()).collect();
        prop_assert_eq!(queues, expected);
        prop_assert!(ends.is_sorted(), "the page looks for the head by the ends");

        let expected: Vec<Said> = reasons(&run.trace, scenario.device())
            .into_iter()
            .map(|reason| {
                let cause = reason.cause.expect("a simulated run tells all causes");
                let queue = match cause {
                    Cause::Behind(queue) | Cause::Record { queue, .. } => {
                        contents.iter().position(|contents| contents.queue == queue)
                    }
                    _ => None,
                };
                let why = cause.sentence(reason.rule).into_owned();
                (reason.operation.0.into(), reason.rule.name().to_owned(), why, queue, reason.from, reason.to)
            })
            .collect();
        prop_assert_eq!(waits(written, &instants), expected);
    }

    #[test]
    fn blocks_that_overlap_in_time_are_drawn_apart(Case(scenario) in generate::scenario(Limits::ALL)) {
        let run = simulate(&scenario)?;
        let data = data(&page(&run));
        let written = &data["runs"][0];
        let warps = written["device"]["resources"][0]["capacity"].as_u64().expect("a number");
        let groups = groups(written);
        for columns in written["sms"].as_array().expect("a list") {
            let column = |name: &str| numbers(&columns[name]);
            let mut drawn = Vec::new();
            let split = columns["split"].as_array().expect("a list");
            for (position, group) in summed(&columns["group"]).into_iter().enumerate() {
                let (operation, time) = groups[usize::try_from(group).expect("it is one")].clone();
                let kernel = &written["operations"]["what"][usize::try_from(operation).expect("it fits")];
                let kernel = usize::try_from(kernel.as_u64().expect("a number")).expect("it fits");
                let shape = written["kernels"][kernel]["shape"].as_u64().expect("a number");
                let shape = &written["shapes"][usize::try_from(shape).expect("it fits")];
                let takes = shape["demand"][0].as_u64().expect("it fits the device");
                let low = column("low")[position];
                let parts = split.iter().find(|entry| entry[0] == position);
                let parts = parts.map_or_else(
                    || vec![vec![low, low + takes]],
                    |entry| entry[1].as_array().expect("a list").iter().map(numbers).collect(),
                );
                prop_assert_eq!(parts.iter().map(|part| part[1] - part[0]).sum::<u64>(), takes);
                drawn.extend(parts.into_iter().map(|part| (time.clone(), part[0]..part[1])));
            }
            for (index, (time, part)) in drawn.iter().enumerate() {
                prop_assert!(part.end <= warps);
                for (other_time, other) in &drawn[..index] {
                    let at_once = time.start.max(other_time.start) < time.end.min(other_time.end);
                    prop_assert!(!at_once || part.start.max(other.start) >= part.end.min(other.end));
                }
            }
        }
    }
}

#[test]
fn the_page_loads_nothing_and_holds_no_text_that_ends_its_scripts() {
    let mut scenario = published::figure("rtss2017/figure-3");
    scenario.name = crate::odd_names::SCRIPT.to_owned();
    let run = simulate(&scenario).expect("it runs");
    let page = page(&run);
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    assert!(page.contains("default-src 'none'"));
    for loads in ["http:", "https:", "src=\"", "@import", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(loads), "{loads}");
    }
    assert!(!page.contains("{{"), "every place of the template is filled");
    assert_eq!(data(&page)["runs"][0]["scenario"], *scenario.name);
}

/// A colour stands for a title, whatever the order of the launches: by hand, K2 comes before K10.
#[test]
fn kernels_have_the_colours_of_their_titles_as_in_figures() {
    let directory = directory("html-colours");
    let one = |label: &str, release: f64| {
        format!(
            r#"{{"filename": "timer_spin.so", "label": "{label}", "thread_count": 32, "block_count": 1, "data_size": 0,
               "additional_info": 1000, "release_time": {release}}}"#
        )
    };
    let scenario = format!(
        r#"{{"name": "colours", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [{}, {}, {}]}}"#,
        one("K10", 0.0),
        one("K2", 0.1),
        one("K1", 0.2)
    );
    fs::write(directory.join("colours.json"), scenario).expect("it can be written");
    let output =
        gpusched_in(&directory, &["simulate", "colours.json", "--html", "page.html", "--figure", "figure.svg"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let data = data(&fs::read_to_string(directory.join("page.html")).expect("it was written"));
    let kernels = data["runs"][0]["kernels"].as_array().expect("a list");
    let told: Vec<_> = kernels.iter().map(|kernel| (kernel["title"].as_str(), kernel["series"].as_u64())).collect();
    assert_eq!(told, [(Some("K10"), Some(2)), (Some("K2"), Some(1)), (Some("K1"), Some(0))]);
    let figure = fs::read_to_string(directory.join("figure.svg")).expect("it was written");
    for series in 0..3 {
        let colour = data["palette"]["light"][series]["background"].as_str().expect("a colour");
        assert!(figure.contains(colour), "{colour} of title {series} is in the figure");
    }
}

#[test]
fn a_comparison_holds_both_runs_and_their_finish_times() {
    let scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let (upper, lower) = (Instant::from_ns(1), Instant::from_ns(u64::MAX));
    let marks = [FinishMark { name: "K1".to_owned(), upper, lower }];
    let one = |name, blocks_only| HtmlRun { name, summary, blocks_only };
    let timeline = HtmlTimeline::comparison(one("measured", true), one("simulated", false), &marks);
    assert_eq!(timeline.blocks(), 36);
    let mut out = Vec::new();
    timeline.write(&mut out).expect("memory holds it");
    let data = data(&String::from_utf8(out).expect("UTF-8"));
    assert_eq!(data["finishes"], serde_json::json!([{"name": "K1", "upper_ns": 1, "lower_ns": u64::MAX.to_string()}]));
    assert_eq!((&data["runs"][0]["blocks_only"], &data["runs"][1]["blocks_only"]), (&true.into(), &false.into()));
    assert_eq!(data["runs"][0]["waits"]["operation"], serde_json::json!([]), "of a measured run none are known");
    assert_eq!(data["runs"][0]["queues"], serde_json::json!([]));
}

#[test]
fn a_profile_is_shown_as_recorded_above_as_simulated_by_stream() {
    let page = directory("html-profile").join("page.html");
    let file = page.to_str().expect("a plain path");
    let file = ["replay-log", "scenarios/profiles/synthetic.json", "--html", file];
    let arguments = [&file[..], &["--set-stream", "all_reduce=7", "--kernel-times", "sharing"]].concat();
    let output = gpusched_in(Path::new(env!("CARGO_MANIFEST_DIR")), &arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let data = data(&fs::read_to_string(page).expect("it was written"));
    let [recorded, simulated] = [&data["runs"][0], &data["runs"][1]];
    assert_eq!((&recorded["name"], &recorded["blocks_only"]), (&"recorded".into(), &true.into()));
    assert_eq!((&simulated["name"], &simulated["blocks_only"]), (&"simulated".into(), &false.into()));
    assert!(blocks(recorded).is_empty() && !blocks(simulated).is_empty(), "on which SMs blocks ran is not recorded");
    assert_eq!(recorded["phases"]["operation"], serde_json::json!([]), "nor why they waited");
    // The memset and the first kernel in the file: call, beginning and end, from the first call on.
    let operations = &recorded["operations"];
    let kinds = operations["kinds"].as_array().expect("a list");
    let kernel = kinds.iter().zip(0..).find(|(kind, _)| *kind == "kernel").expect("there are kernels").1;
    let kinds = numbers(&operations["kind"]);
    let kernels: Vec<usize> = (0..kinds.len()).filter(|number| kinds[*number] == kernel).collect();
    let at = |kernel: usize, column: &str| {
        let number = operations[column][kernels[kernel]].as_u64().and_then(|number| usize::try_from(number).ok());
        instants(recorded)[number.expect("it is known")].as_ns()
    };
    let times = |kernel| ["launched", "first_start", "finish"].map(|column| at(kernel, column));
    assert_eq!([times(0), times(1)], [[8_000, 52_000, 53_000], [14_000, 54_250, 144_250]]);
    assert_eq!(data["finishes"].as_array().map(Vec::len), Some(11), "of each kernel and the memset");
    assert_eq!(data["notes"], serde_json::json!(["only the simulation has the changes that were asked for"]));
}

#[test]
fn a_page_that_cannot_be_is_refused_before_anything_is_printed() {
    let directory = directory("html-refused");
    let scenario = published::root().join("rtss2017/figure-3.json");
    let scenario = scenario.to_str().expect("a plain path");
    let logs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/logs/two-streams");
    fs::create_dir(directory.join("folder.html")).expect("it can be made");
    for command in [["simulate", scenario], ["compare", scenario], ["replay-log", logs]] {
        for (file, with) in [
            ("a.svg", "ends in .html"),
            ("html", "ends in .html"),
            ("missing/a.html", "missing/a.html"),
            ("folder.html", "it is a directory"),
        ] {
            let output = gpusched_in(&directory, &[&command[..], &["--html", file]].concat());
            let message = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert!(message.contains(with), "{message}");
            assert!(output.stdout.is_empty());
        }
    }
    assert_eq!(fs::read_dir(&directory).expect("it is there").count(), 1, "nothing is half-written");
}

#[test]
fn of_more_than_200_000_blocks_those_that_do_the_same_are_merged_unless_forced() {
    let directory = directory("html-many");
    let scenario = r#"{"name": "many", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [
        {"filename": "timer_spin.so", "label": "K", "thread_count": 32, "block_count": 1000001, "data_size": 0,
         "additional_info": 1000}]}"#;
    fs::write(directory.join("many.json"), scenario).expect("it can be written");
    let output = gpusched_in(&directory, &["simulate", "many.json", "--html", "a.html"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(directory.join("a.html")).expect("it is written");
    assert!(page.len() < 300_000, "{} bytes", page.len());
    let run = &data(&page)["runs"][0];
    assert_eq!(run["merged"], true);
    let times = numbers(&run["groups"]["times"]);
    let mut blocks = 0;
    for sm in run["sms"].as_array().expect("a list") {
        let groups = summed(&sm["group"]).into_iter().map(|group| times[usize::try_from(group).expect("it is one")]);
        blocks += groups.zip(numbers(&sm["blocks"])).map(|(times, blocks)| times * blocks).sum::<u64>();
    }
    assert_eq!(blocks, 1_000_001, "none is left out");
}
