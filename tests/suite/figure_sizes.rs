//! Pictures of applications, task sets, warps and studies on five sizes of data: the least there is, a typical one,
//! many rows, very many marks, long names; as wide as a column and as a page, with and without a title.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gpusched::applications::ApplicationSet;
use gpusched::draw::PictureOptions;
use gpusched::experiments::study::{AxisValue, GridAxis, PointSummary, Study, StudySummary};
use gpusched::pictures::study_plot::{PlotOptions, plot};
use gpusched::statistics::{Measure, Statistic};
use serde_json::{Value, json};

use crate::common::gpusched;
use crate::figure_command::directory;
use crate::figure_tex::latex_takes_it;
use crate::svg_checks::{SvgText, checked, height_mm};

/// A name as PyTorch gives them.
fn long(number: usize) -> String {
    format!("vectorized_elementwise_kernel_number_{number}_of_all_templates")
}

/// Draws with all looks and checks what must hold for each; gives the texts of the last, a page without its title.
fn drawn(command: &[&str], directory: &Path, what: &str) -> Vec<SvgText> {
    let file = directory.join("figure.svg").display().to_string();
    let (mut heights, mut texts) = (Vec::new(), Vec::new());
    for look in [&["--width", "column"][..], &["--width", "page"], &["--width", "page", "--no-title"]] {
        let output = gpusched(&[command, look, &["--figure", &file]].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{what} {look:?}: {told}");
        let svg = fs::read_to_string(&file).expect("it was written");
        texts = checked(&svg, &format!("{what} {look:?}"));
        heights.push(height_mm(&svg));
    }
    assert!(heights[2] < heights[1], "{what}: a title takes room: {heights:?}");
    texts
}

fn written(directory: &Path, name: &str, document: &Value) -> String {
    let path = directory.join(name);
    fs::write(&path, document.to_string()).expect("it can be written");
    path.display().to_string()
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_applications_of_all_sizes_have_a_row_each() {
    let directory = directory("figure-sizes-evr");
    let text = ApplicationSet::builtin_json("narrow-k20m").expect("it is built in");
    let mut named: Value = serde_json::from_str(text).expect("JSON");
    for (number, application) in named["applications"].as_array_mut().expect("a list").iter_mut().enumerate() {
        application["name"] = long(number).into();
    }
    let named = written(&directory, "named.json", &named);
    let one = ["--scheduler", "gpu-evr"];
    let sizes: [(&str, &[&str], usize); 5] = [
        ("the least", &["narrow-k20m", "--inject", "1"], 1),
        ("typical", &["gpu-evr-figure-1"], 2),
        ("many rows", &["rodinia-like-k20m", "--inject", "60"], 60),
        ("many marks", &["narrow-k20m", "--inject", "200", "--gap", "10ms"], 200),
        ("long names", &[&named, "--inject", "20"], 20),
    ];
    for (what, arguments, least) in sizes {
        let texts = drawn(&[&["evr"], arguments, &one].concat(), &directory, what);
        let rows = |text: &&SvgText| {
            text.text.ends_with("(high)") || text.text.ends_with("(medium)") || text.text.ends_with("(low)")
        };
        let names: BTreeSet<&str> = texts.iter().filter(rows).map(|text| text.text.as_str()).collect();
        assert!(names.len() >= least, "{what}: {names:?}");
        // Whatever is cut, the number of the injection is not.
        assert!(names.iter().all(|name| name.contains(" #")), "{what}: {names:?}");
    }
}

#[test]
fn task_sets_of_all_sizes_have_a_row_for_each_task() {
    let directory = directory("figure-sizes-tasks");
    let task = |name: String, time: u32, period: u32| json!({"name": name, "C": time, "T": period, "D": period, "PC": 0, "sm": "all"});
    let set = |sms: u32, tasks: Vec<Value>| json!({"sms": sms, "priority_levels": 2, "tasks": tasks});
    let many = |count: u32, name: fn(usize) -> String| {
        (0..count).map(|n| task(name(n as usize), 1, 2 * count + n % 3 * count)).collect::<Vec<Value>>()
    };
    let short = |number: usize| format!("T{number}");
    let sizes = [
        ("the least", set(1, many(1, short)), "10"),
        ("typical", set(2, many(4, short)), "40"),
        ("many rows", set(40, many(40, short)), "160"),
        ("many marks", set(2, many(3, short)), "3000"),
        ("long names", set(2, many(20, long)), "120"),
    ];
    for (what, set, horizon) in sizes {
        let count = set["tasks"].as_array().expect("a list").len();
        let file = written(&directory, "set.json", &set);
        let command = ["tasks", "run", &file, "--strategy", "stream-per-task", "--horizon", horizon];
        let texts = drawn(&command, &directory, what);
        let names: BTreeSet<&str> =
            texts.iter().filter(|text| text.text.starts_with(['T', 'v'])).map(|text| text.text.as_str()).collect();
        assert!(names.len() >= count, "{what}: {names:?}");
        // From the ninth task on hatches repeat, and the mark beside the name has a number.
        let marks = texts.iter().filter(|text| text.text == "2" && text.area.right < 500.0).count();
        assert_eq!(marks, count.saturating_sub(8).min(8), "{what}: {texts:?}");
    }
}

#[test]
fn warps_of_all_sizes_have_a_row_each() {
    let directory = directory("figure-sizes-warps");
    let kinds: Vec<String> = ('D'..='K').map(|letter| format!("{letter}=1")).collect();
    let units: Vec<&str> = kinds.iter().flat_map(|kind| ["--unit", kind.as_str()]).collect();
    let sizes: [(&str, Vec<&str>, usize); 5] = [
        ("the least", vec!["C", "--warps", "1"], 1),
        ("typical", vec!["LLC", "--warps", "4"], 4),
        ("many rows", vec!["LC", "--warps", "40"], 40),
        ("many marks", vec!["LLCLLCLL", "--warps", "8"], 8),
        ("many kinds", [&["LCDEFGHIJK", "--warps", "2"][..], &units].concat(), 2),
    ];
    for (what, arguments, rows) in sizes {
        let texts = drawn(&[&["warps"][..], &arguments].concat(), &directory, what);
        assert_eq!(texts.iter().filter(|text| text.text.starts_with("Warp ")).count(), rows, "{what}");
        if what == "many kinds" {
            // Every cell names its unit.
            let cells = |letter: &str| texts.iter().filter(|text| text.text == letter).count();
            assert!(('D'..='K').all(|letter| cells(&letter.to_string()) == 2), "{texts:?}");
        }
    }
}

/// A study with these axes, and what its points could say.
fn study(axes: Vec<(&str, Vec<AxisValue>)>, measures: &[&'static str]) -> (Study, StudySummary) {
    let text = json!({
        "format": "gpusched-study/1", "name": "a study", "command": "evr", "seed": 0, "samples": 10,
        "parameters": {"applications": "narrow-k20m", "scheduler": "gpu-evr", "period": "130 ms", "periods": 1},
        "grid": {"per_period": [1, 2]},
    });
    let no_file = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let mut study = Study::from_json("study.json", &text.to_string(), &no_file).expect("it is sound");
    study.axes = axes.into_iter().map(|(key, values)| GridAxis { key: key.to_owned(), values }).collect();
    let count: usize = study.axes.iter().map(|axis| axis.values.len()).product();
    let of = |point: u64, place: usize| {
        let mean = 10.0 + (point * 37 % 101) as f64 + place as f64;
        let statistic = Statistic { mean, deviation: 3.0, least: mean - 9.0, most: mean + 9.0 };
        Measure::Mean { statistic, count: 10 }
    };
    let point = |point: u64| PointSummary {
        point,
        samples: 10,
        measures: measures.iter().enumerate().map(|(place, name)| (*name, of(point, place))).collect(),
    };
    let points: Vec<PointSummary> = (0..count as u64).map(point).collect();
    let rows = points.len() as u64;
    (study, StudySummary { rows, expected: rows, points })
}

fn axis_value(text: String, number: Option<f64>) -> AxisValue {
    AxisValue { words: text.clone(), text, number, is_time: false, of: None }
}

fn numbers(count: u32) -> Vec<AxisValue> {
    (1..=count).map(|number| axis_value(number.to_string(), Some(f64::from(number)))).collect()
}

fn names(count: usize, name: impl Fn(usize) -> String) -> Vec<AxisValue> {
    (0..count).map(|number| axis_value(name(number), None)).collect()
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_studies_of_all_sizes_are_drawn_over_numbers_and_over_names() {
    let short = |number: usize| format!("rule {number}");
    let sizes = [
        ("the least", vec![("per_period", numbers(1))]),
        ("the least over names", vec![("rules", names(1, short))]),
        ("typical", vec![("rules", names(4, short)), ("per_period", numbers(8))]),
        ("many curves", vec![("rules", names(32, short)), ("per_period", numbers(5))]),
        ("many rows", vec![("rules", names(200, short))]),
        ("many rows of several", vec![("saturation_sms", numbers(12)), ("rules", names(60, short))]),
        ("many marks", vec![("rules", names(12, short)), ("per_period", numbers(200))]),
        ("long names", vec![("rules", names(9, long)), ("tightness_percent", numbers(6))]),
        ("long names of rows", vec![("per_period", numbers(3)), ("rules", names(9, long))]),
    ];
    for (what, axes) in sizes {
        let over_names = axes.last().is_some_and(|(key, _)| *key == "rules");
        let rows = axes.last().map_or(0, |(_, values)| values.len());
        let curves: usize = axes[..axes.len() - 1].iter().map(|(_, values)| values.len()).product();
        let (study, summary) = study(axes, &["met"]);
        for (width, points) in [("column", 252.0), ("page", 516.0)] {
            let width = PictureOptions::width_named(width).expect("a name");
            let mut heights = Vec::new();
            for title in [true, false] {
                let picture = PictureOptions { width: Some(width), title };
                let x = over_names.then(|| "rules".to_owned());
                let options = PlotOptions { x, y: Vec::new(), picture };
                let drawing = plot(&study, &summary, &options).expect("it can be drawn");
                let svg = drawing.to_svg();
                let texts = checked(&svg, what);
                latex_takes_it(&drawing.to_tex(), points, what);
                let most = PictureOptions::height_named("page").expect("a name");
                assert!(height_mm(&svg) * 100.0 <= most as f64, "{what}: {} mm", height_mm(&svg));
                heights.push(height_mm(&svg));
                let has = |words: &str| texts.iter().any(|text| text.text == words);
                if over_names && what != "long names of rows" {
                    // Every row is there or counted.
                    let shown = (0..rows).filter(|row| has(&short(*row))).count();
                    assert!(shown == rows || has(&format!("and {} more rows", rows - shown)), "{what}: {shown}");
                }
                let marks = looks_without_colour(&svg);
                assert!(over_names || curves < 2 || marks >= curves.min(8), "{what}: {marks} of {curves}");
            }
            assert!(heights[1] < heights[0] || over_names, "{what}: {heights:?}");
        }
    }
}

/// How many forms of points there are, filled or hollow.
fn looks_without_colour(svg: &str) -> usize {
    let document = roxmltree::Document::parse(svg).expect("valid XML");
    let forms = document.descendants().filter(|node| node.has_tag_name("polygon")).map(|node| {
        let points: Vec<(i64, i64)> = node
            .attribute("points")
            .expect("corners")
            .split(' ')
            .map(|point| point.split_once(',').expect("two numbers"))
            .map(|(x, y)| (x.parse().expect("a number"), y.parse().expect("a number")))
            .collect();
        let first = points[0];
        let form: Vec<(i64, i64)> = points.iter().map(|point| (point.0 - first.0, point.1 - first.1)).collect();
        (form, node.attribute("fill") == Some("#ffffff"))
    });
    forms.collect::<BTreeSet<_>>().len()
}

#[test]
fn more_curves_than_can_be_told_apart_are_refused() {
    let short = |number: usize| format!("rule {number}");
    let (study, summary) = study(vec![("rules", names(33, short)), ("per_period", numbers(2))], &["met"]);
    let error = plot(&study, &summary, &PlotOptions::default()).expect_err("too many");
    assert!(error.to_string().contains("33 curves cannot be told apart, only 32 can"), "{error}");
}

#[test]
fn sensitivity_of_all_sizes_has_a_row_for_each_time() {
    let directory = directory("figure-sizes-sensitivity");
    let scenario = |kernels: usize, name: &dyn Fn(usize) -> String| {
        let kernel = |number| (name(number), json!({"blocks": 1, "threads": 128, "duration": "20 us"}));
        let launches: Vec<Value> = (0..kernels).map(|number| json!({"kernel": name(number)})).collect();
        json!({"format": "gpusched-scenario/1", "name": long(0), "device": "tx2",
            "kernels": (0..kernels).map(kernel).collect::<serde_json::Map<_, _>>(),
            "streams": [{"name": "S", "deadline": "2 ms", "operations": launches}]})
    };
    let one = written(&directory, "one.json", &scenario(1, &|_| "K".to_owned()));
    let many = written(&directory, "many.json", &scenario(45, &|number| format!("K{number}")));
    let named = written(&directory, "named.json", &scenario(5, &long));
    let sizes = [
        ("the least", one.as_str(), 3),
        ("typical", "scenarios/deadlines/camera-to-brake.json", 5),
        ("many rows", &many, 40),
        ("long names", &named, 7),
    ];
    for (what, file, rows) in sizes {
        let texts = drawn(&["analyze", file, "--sensitivity"], &directory, what);
        let count = |text: &dyn Fn(&str) -> bool| texts.iter().filter(|drawn| text(&drawn.text)).count();
        let names = count(&|text| ["kernel ", "task ", "copies ", "all "].iter().any(|kind| text.starts_with(kind)));
        assert_eq!(names, rows, "{what}: {texts:?}");
    }
}
