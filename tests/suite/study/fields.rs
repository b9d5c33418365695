//! Grids over any field of a scenario, and over scenarios that are drawn.

use gpusched::experiments::study::Shard;
use serde_json::Value;

use super::simulate::{refused_study, with_scenario};
use super::*;
use crate::common::document;

/// Camera and lidar with other kernels, deadlines and grids.
const FIELDS: &str = r#"{"format": "gpusched-study/1", "name": "fields", "command": "simulate", "seed": 0, "samples": 1,
    "parameters": {"scenario": "scenario.json", "responses_of": "camera"},
    "grid": {"kernels.register.duration": ["8 ms", "2 ms"], "set": [
        {"streams[camera].deadline": "10 ms"}, {"streams[0].deadline": "7 ms"},
        {"streams[0].deadline": "none", "kernels.detect.blocks": 8}]}}"#;

/// A measure of a point of a study that was run.
fn value(summary: &Value, point: usize, name: &str) -> Option<f64> {
    summary["points"][point]["measures"][name]["value"].as_f64()
}

fn summary(file: &str) -> Value {
    done(&["study", "run", file]);
    document(&gpusched(&["study", "plot", file, "--format", "json"]))
}

#[test]
fn fields_of_a_scenario_by_path_give_the_responses_that_were_worked_out_by_hand() {
    let (_, file) = with_scenario("fields", FIELDS);
    let summary = summary(&file);
    let missed: Vec<Option<f64>> = (0..6).map(|point| value(&summary, point, "missed")).collect();
    // Jobs take 8 and 13 ms with a lidar of 8 ms, and 8 and 8 with one of 2, which is done before the camera's copy.
    assert_eq!(missed, [Some(0.5), Some(1.0), None, Some(0.0), Some(1.0), None]);
    // Two waves of 5 ms; the second job's begin once the lidar is done at 27 ms, or with its own copy at 22 ms.
    let longest: Vec<Option<f64>> = (0..6).map(|point| value(&summary, point, "response_max_s")).collect();
    assert_eq!(longest, [13, 13, 18, 8, 8, 13].map(|ms| Some(f64::from(ms) / 1e3)));
}

#[test]
fn verdicts_at_every_point_are_those_of_the_fields() {
    let study = FIELDS.replace("\"simulate\"", "\"analyze\"").replace(
        "\"responses_of\": \"camera\"",
        "\"responses_of\": \"camera\", \"tests\": [\"given\", \"run\"], \"search_runs\": 16",
    );
    let (_, file) = with_scenario("fields-verdicts", &study.replace("\"streams[0].deadline\": \"none\", ", ""));
    let summary = summary(&file);
    let values = |name: &str| (0..6).map(|point| value(&summary, point, name)).collect::<Vec<_>>();
    let [half, all, none] = [0.5, 1.0, 0.0].map(Some);
    // Deadlines of 10 and 7 ms, then of 10 with two waves: 13 ms at least.
    assert_eq!(values("jobs_missed"), [half, all, all, none, all, all]);
    assert_eq!(values("jobs_proven"), [half, none, none, all, none, none]);
    for name in ["given", "run"] {
        assert_eq!(values(name), [none, none, none, all, none, none], "{name}");
    }
    assert_eq!(values("given_no_miss"), values("given"), "nothing is open here");
    assert_eq!(value(&summary, 0, "sporadic"), None, "it was not asked for");
}

#[test]
fn a_field_that_is_not_there_or_a_value_that_is_refused_is_told_with_its_place() {
    let kernel = "\"kernels.register.duration\": [\"8 ms\", \"2 ms\"]";
    for (old, new, message) in [
        (
            "kernels.register.duration",
            "kernels.registre.duration",
            "grid.kernels.registre.duration[0]: scenario.json: there is no \"registre\" in kernels (did you mean \"register\"?)",
        ),
        (
            "\"2 ms\"",
            "\"2 parsecs\"",
            "study.json:3:52: grid.kernels.register.duration[1]: scenario.json: kernels.register.duration: ",
        ),
        ("kernels.register.duration", "kernels.register.durations", "unknown key \"durations\""),
        ("streams[camera]", "streams[radar]", "none of streams is called \"radar\"; there are camera, lidar"),
        ("streams[camera]", "streams[7]", "there is no streams[7]: the last is streams[1]"),
        (
            "\"kernels.detect.blocks\": 8",
            "\"kernels.detect\": 8, \"kernels.detect.blocks\": 8",
            "kernels.detect is no object",
        ),
        ("\"kernels.detect.blocks\"", "\"streams[camera].deadline\"", "streams[0].deadline is set twice"),
        ("kernels.register.duration", "expected.tolerance", "changes nothing of how a scenario runs"),
        ("kernels.register.duration", "kernels.register.comment", "changes nothing of how a scenario runs"),
        ("\"kernels.detect.blocks\": 8", "\"horizon\": \"1 s\"", "\"horizon\" is a key of studies"),
        ("\"responses_of\"", "\"device\": \"tx2\", \"device.sms\": 4, \"responses_of\"", "device is no object"),
        (
            kernel,
            "\"streams[1].period\": [\"40 ms\", \"50 ms\"], \"period\": [{\"lidar\": \"60 ms\"}]",
            "\"streams[1].period\" makes no difference at any point",
        ),
        (
            "\"responses_of\"",
            "\"load_percent\": 40, \"responses_of\"",
            "\"load_percent\" is for scenarios that are drawn, and \"scenario\" names a file",
        ),
        ("\"scenario\": \"scenario.json\", ", "", "add \"scenario\": a file, or \"load_percent\" to draw some"),
        ("\"scenario\": \"scenario.json\", ", "\"streams\": 3, ", "3 streams have 4 periods"),
        ("\"simulate\"", "\"analyze\"", "no job has a deadline to judge"),
        (
            "\"simulate\", \"seed\": 0, \"samples\": 1",
            "\"analyze\", \"seed\": 0, \"samples\": 2",
            "point 2: no job has a deadline",
        ),
    ] {
        assert!(FIELDS.contains(old), "{old}");
        let error = refused_study(&FIELDS.replace(old, new));
        assert!(error.contains(message), "{new}: {error}");
    }
}

/// Three streams, one point at 30 % and one at 90 %.
const DRAWN: &str = r#"{"format": "gpusched-study/1", "name": "drawn", "command": "analyze", "seed": 5, "samples": 3,
    "parameters": {"streams": 3, "periods": ["10 ms", "20 ms", "40 ms"], "releases_until": "40 ms",
        "kernels_per_job": [1, 3], "tests": ["sporadic", "given", "run"], "search_runs": 8},
    "grid": {"load_percent": [20, 120]}}"#;

#[test]
fn drawn_scenarios_are_judged_one_by_one_and_alike_in_shards() {
    let study = study(DRAWN);
    let whole = rows(&study, Shard::WHOLE);
    assert_eq!(whole.len(), 6);
    for row in &whole {
        // 4 + 2 + 1 jobs until 40 ms.
        assert!(row.values.starts_with("7,"), "{}", row.values);
        assert_eq!(row.values.split(',').count(), 13, "{}", row.values);
    }
    let mut shards: Vec<_> = (0..2).flat_map(|index| rows(&study, Shard::new(index, 2).expect("it is one"))).collect();
    shards.sort_by_key(|row| row.number);
    assert_eq!(whole, shards);
    // More than there is: no bound holds, and the run shows a miss, as 40 ms of jobs need 48.
    assert!(whole[3..].iter().all(|row| !row.values.ends_with("proven")), "{whole:?}");
}

#[test]
fn a_point_of_drawn_scenarios_has_intervals_over_the_scenarios() {
    let (_, file) = with_study("fields-drawn", DRAWN);
    let summary = summary(&file);
    for name in ["sporadic", "given", "given_no_miss", "run", "jobs_proven", "jobs_open"] {
        for point in 0..2 {
            let measure = &summary["points"][point]["measures"][name];
            assert_eq!(measure["runs"], 3, "{name}: {measure}");
            let [low, value, high] = ["low", "value", "high"].map(|end| measure[end].as_f64().expect("a number"));
            assert!(low <= value && value <= high, "{name}: {measure}");
        }
    }
}

/// The example of docs/studies.md with fewer samples and loads: from the file to a table and a figure.
#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_acceptance_of_four_streams_over_load_comes_with_a_figure_and_an_interval_for_every_share() {
    let text = read(crate::published::root().with_file_name("studies/four-streams.json"));
    let page = read(crate::published::root().with_file_name("docs/studies.md"));
    let grid = "[30, 40, 50, 60, 70, 80, 90, 100]";
    for part in [grid, "\"waves_percent\": [30, 100]", "\"search_runs\": 64", "\"samples\": 25"] {
        assert!(text.contains(part) && page.contains(part), "{part}");
    }
    let small = text.replace(grid, "[30, 50]").replace("\"samples\": 25", "\"samples\": 3").replace("64", "8");
    let (directory, file) = with_study("four-streams", &small);
    done(&["study", "run", &file]);
    let figure = directory.join("four-streams.svg");
    let plot = ["study", "plot", &file, "--format", "csv", "--figure", &figure.display().to_string()];
    let output = gpusched(&plot);
    assert!(output.status.success(), "{}", stderr(&output));
    let drawn = read(&figure);
    let tests = ["sporadic", "given", "stated-times", "declared-order", "order-and-times", "run"];
    assert!(tests.iter().all(|test| drawn.contains(test)), "the legend has each test");
    assert!(drawn.contains("95 % confidence"), "the title says what the bars are");
    let table = String::from_utf8(output.stdout).expect("it is text");
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("there is one");
    let rows: Vec<Vec<&str>> = lines.collect();
    assert_eq!(rows.len(), 2);
    for row in rows {
        for test in tests {
            let at = header.iter().position(|name| *name == test).expect("it has a column");
            assert_eq!(header[at + 1..at + 3], [format!("{test}_low"), format!("{test}_high")]);
            let [share, low, high] = [at, at + 1, at + 2].map(|column| row[column].parse::<f64>().expect("a number"));
            assert!(low <= share && share <= high && low < high, "{test}: {row:?}");
        }
    }
}
