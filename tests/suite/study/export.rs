//! What a study draws, as files that other commands read.

use super::*;
use crate::common::document;

/// The file of a sample.
fn sample(directory: &Path, point: u64, sample: u64) -> String {
    directory.join(format!("sets/point-{point}-sample-{sample}.json")).display().to_string()
}

fn exported(test: &str, text: &str) -> PathBuf {
    let (directory, file) = with_study(test, text);
    let to = directory.join("sets").display().to_string();
    done(&["study", "export", &file, "--to", &to]);
    directory
}

#[test]
fn a_drawn_scenario_is_simulated_and_judged_as_in_the_row() {
    let text = r#"{"format": "gpusched-study/1", "name": "drawn", "command": "simulate", "seed": 5, "samples": 2,
        "parameters": {"streams": 2, "periods": ["10 ms", "20 ms"], "releases_until": "20 ms", "device": "orin",
            "streams[S1].deadline": "4 ms", "vary": "50..100"},
        "grid": {"load_percent": [20, 90]}}"#;
    let directory = exported("export", text);
    let rows = rows(&study(text), Shard::WHOLE);
    for row in rows {
        let file = sample(&directory, row.place.point, row.place.first);
        let run = document(&gpusched(&["simulate", &file, "--format", "json"]));
        // Behind jobs, unfinished ones, those with a deadline and those that missed it.
        let makespan = row.values.split(',').nth(4).expect("it has one");
        assert_eq!(run["makespan_ns"].to_string(), makespan, "{file}");
        assert_eq!(run["device"], "orin");
    }
}

#[test]
fn a_drawn_set_of_tasks_is_tested_as_in_the_row() {
    for (command, keys, test) in [
        ("tasks segments", "\"tests\": [\"mpcp-suspend\"], \"utilization_permille\": 100", "mpcp-suspend"),
        ("tasks curve", "\"tests\": [\"sbf\"], \"utilization_permille\": 300, \"samples_per_row\": 1", "sbf"),
    ] {
        let keys = keys.replace(", \"samples_per_row\": 1", "");
        let text = format!(
            r#"{{"format": "gpusched-study/1", "name": "sets", "command": "{command}", "seed": 2, "samples": 4,
            "samples_per_row": 1, "parameters": {{{keys}}}}}"#
        );
        let directory = exported(&format!("export-{}", command.replace(' ', "-")), &text);
        let study = study(&text);
        let columns = fs::read_to_string(directory.join("study.results/rows.csv"));
        assert!(columns.is_err(), "nothing was run");
        let summary = gpusched::experiments::study::StudySummary::compute(&study).expect("it is computed");
        let accepted = (0..4).filter(|number| {
            let answer = gpusched(&["tasks", &sample(&directory, 0, *number), "--check", test]);
            assert!(matches!(answer.status.code(), Some(0 | 1)), "{}", stderr(&answer));
            answer.status.success()
        });
        let share = accepted.count() as f64 / 4.0;
        let found = summary.points[0].measures.iter().find(|(name, _)| *name == test).and_then(|(_, it)| it.value());
        assert_eq!(found, Some(share), "{command}");
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let (directory, file) = with_study("export-refused", SMALL);
    let to = directory.join("sets").display().to_string();
    let export = ["study", "export", &file, "--to", &to];
    assert!(refused(&export).contains("merged-sm: what its samples draw is no file"));
    assert!(refused(&[&export[..], &["--point", "2"]].concat()).contains("--point: the study has points 0 to 1"));
    assert!(refused(&[&export[..], &["--samples", "46"]].concat()).contains("--samples: each point has 45"));
}
