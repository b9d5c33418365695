//! Options of scenarios: one list, the same through every door. The page's own door is tested in `web/wasm`, Python's
//! in `python/tests/test_options.py`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use gpusched::input::Input;
use gpusched::input::options::{OPTIONS, OptionGroup, OptionKind, ScenarioOption, ScenarioOptions};

use crate::common::{directory, gpusched_in, overwritten, stderr, stdout};

/// A folder with inputs in which every example of an option means something.
fn inputs(test: &str) -> PathBuf {
    let (folder, root) = (directory(test), Path::new(env!("CARGO_MANIFEST_DIR")));
    fs::create_dir_all(&folder).expect("the build directory can be written");
    for (from, to) in [
        ("tests/data/options/scenario.json", "scenario.json"),
        ("tests/data/options/unstated.json", "unstated.json"),
        ("scenarios/amalthea/tx2-like-waters2019.amxmi", "model.amxmi"),
        ("scenarios/amalthea/periodic-with-requirements.amxmi", "periodic.amxmi"),
        ("scenarios/amalthea/shared-core.amxmi", "cores.amxmi"),
        ("scenarios/profiles/synthetic.json", "profile.json"),
        ("scenarios/rules/clusters.json", "clusters.json"),
    ] {
        fs::copy(root.join(from), folder.join(to)).expect("it can be copied");
    }
    let profile = fs::read_to_string(folder.join("profile.json")).expect("it was copied");
    fs::write(folder.join("alone.json"), profile.replace("\"dur\": 91.5", "\"dur\": 81.5")).expect("it can be written");
    folder
}

/// The input on which an option is tried.
fn input_of(option: &ScenarioOption) -> &'static str {
    match (option.key, option.group) {
        ("block_duration", _) => "unstated.json",
        ("one_job" | "cores", _) => "periodic.amxmi",
        ("set_cluster", _) => "clusters.json",
        ("access_time", _) => "cores.amxmi",
        (_, OptionGroup::Run | OptionGroup::WhatIf) => "scenario.json",
        (_, OptionGroup::Models) => "model.amxmi",
        (_, OptionGroup::Profiles) => "profile.json",
    }
}

/// The scenario that the command makes of an input, as a file.
fn converted(folder: &Path, input: &str, option: Option<&ScenarioOption>) -> String {
    let flag = option.map(|option| match option.kind {
        OptionKind::Flag(_) => format!("--{}", option.key.replace('_', "-")),
        _ => format!("--{}={}", option.key.replace('_', "-"), option.example),
    });
    let words: Vec<&str> = ["convert", input].into_iter().chain(flag.as_deref()).collect();
    let output = gpusched_in(folder, &words);
    assert!(output.status.success(), "{words:?}: {}", stderr(&output));
    stdout(&output)
}

/// The scenario that the library makes with an option told in JSON.
fn made(folder: &Path, input: &str, option: &'static ScenarioOption) -> String {
    let value = option.example_in_json().to_string();
    let read = |path: &Path| Ok::<_, Box<dyn std::error::Error>>((input.to_owned(), fs::read(folder.join(path))?));
    let mut options = ScenarioOptions::default();
    option.read_json("value", &value).unwrap_or_else(|error| panic!("{error}")).apply(&mut options);
    options.open(|path| folder.join(path).exists(), read).expect("its file can be read");
    let (_, bytes) = read(Path::new(input)).expect("it was copied");
    let scenario = Input::of(input, bytes).expect("it is sound").scenario(&options).expect("the option fits");
    scenario.to_native_json().expect("it can be written")
}

/// The rows of a study of one point.
fn rows(folder: &Path, scenario: &str, option: Option<&ScenarioOption>) -> Vec<String> {
    let mut parameters = serde_json::json!({"scenario": scenario});
    if let Some(option) = option {
        parameters[option.key] = option.example_in_json();
    }
    let study = serde_json::json!({"format": "gpusched-study/1", "name": "one", "command": "simulate", "seed": 0,
        "samples": 1, "parameters": parameters});
    fs::write(folder.join("study.json"), study.to_string()).expect("it can be written");
    let _ = fs::remove_dir_all(folder.join("study.results"));
    let output = gpusched_in(folder, &["study", "run", "study.json"]);
    assert!(output.status.success(), "{study}: {}", stderr(&output));
    let rows = fs::read_to_string(folder.join("study.results/rows.csv")).expect("they were written");
    rows.lines().skip(2).map(str::to_owned).collect()
}

#[test]
fn every_option_says_the_same_through_every_door() {
    let folder = inputs("options");
    for option in OPTIONS {
        let (key, input) = (option.key, input_of(option));
        let by_command = converted(&folder, input, Some(option));
        assert!(made(&folder, input, option) == by_command, "{key}");
        // The only GPU of the profile and of the model; without another device nothing is rescaled; and without a time
        // there is no scenario.
        if !["gpu", "processing_unit", "rescale", "block_duration"].contains(&key) {
            assert_ne!(by_command, converted(&folder, input, None), "{key} changes nothing");
        }
        if key != "seed" {
            fs::write(folder.join("converted.json"), by_command).expect("it can be written");
            assert_eq!(rows(&folder, input, Some(option)), rows(&folder, "converted.json", None), "{key}");
        }
    }
}

#[test]
fn an_option_that_means_nothing_to_the_input_is_refused_and_called_by_its_key() {
    let folder = inputs("options-refused");
    let of = |key: &str| ScenarioOption::of(key).expect("there is one");
    for (input, key, kind) in [("scenario.json", "gpu", "profiles"), ("profile.json", "ticks", "AMALTHEA models")] {
        let mut options = ScenarioOptions::default();
        let value = of(key).example_in_json().to_string();
        of(key).read_json("value", &value).expect("it is sound").apply(&mut options);
        let bytes = fs::read(folder.join(input)).expect("it was copied");
        let refused = Input::of(input, bytes).expect("it is sound").scenario(&options).expect_err("it is refused");
        assert_eq!(refused.to_string(), format!("\"{key}\" is for {kind}, and {input} is none"));
    }
    let twice = gpusched_in(&folder, &["simulate", "scenario.json", "--sm-mask", "camera=1", "--sm-mask", "camera=2"]);
    assert_eq!(stderr(&twice), "error: --sm-mask is given twice for \"camera\"\n");
}

/// The type of an option in the stubs of the Python package.
const fn python_type(kind: &OptionKind) -> &'static str {
    match kind {
        OptionKind::Flag(_) => "bool",
        OptionKind::Time(_) | OptionKind::TimeAboveZero(_) => "_Time | None",
        OptionKind::Number(..) => "int | None",
        OptionKind::Percents(_) => "str | tuple[int, int] | None",
        OptionKind::OneOf(..) | OptionKind::Name(_) | OptionKind::Frequency(_) => "str | None",
        OptionKind::Names(_) | OptionKind::Lists(_) => "Sequence[str]",
        OptionKind::File(_) => "_Given | None",
        OptionKind::TimeOf(_)
        | OptionKind::TimeOrShareOf(_)
        | OptionKind::TimeAboveZeroOf(_)
        | OptionKind::DeadlineOf(_) => "Mapping[str, _Time]",
        OptionKind::PriorityOf(_) | OptionKind::SizeOf(_) => "Mapping[str, int]",
        OptionKind::NameOf(_) | OptionKind::MaskOf(_) => "Mapping[str, str]",
    }
}

fn stubs() -> String {
    OPTIONS
        .iter()
        .fold(String::new(), |text, option| text + &format!("    {}: {}\n", option.key, python_type(&option.kind)))
}

fn tables() -> String {
    let mut text = String::new();
    for group in OptionGroup::ALL {
        let _ = write!(
            text,
            "\n## {}\n\n| key | flag | example | what it says |\n| --- | --- | --- | --- |\n",
            group.name()
        );
        for option in OPTIONS.iter().filter(|option| option.group == group) {
            let ScenarioOption { key, value_name, help, .. } = option;
            let (flag, example) = (key.replace('_', "-"), option.example_in_json());
            let flag = format!("--{flag} {value_name}").trim_end().replace('|', "\\|");
            let help = help.replace('|', "\\|");
            let _ = writeln!(text, "| `{key}` | `{flag}` | `{example}` | {help} |");
        }
    }
    text
}

/// `OPTIONS=overwrite cargo test --test suite generated_from_the_options` writes them anew.
#[test]
fn texts_generated_from_the_options_are_those_in_the_files() {
    let wanted = [
        ("docs/options.md", "<!-- made of the list of options -->\n", "<!-- until here -->\n", tables()),
        (
            "python/gpusched/__init__.pyi",
            "    \"\"\"What is said beside a scenario: the options of the command.\"\"\"\n\n",
            "\ndef simulate",
            stubs(),
        ),
    ];
    for (file, before, after, made) in wanted {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = fs::read_to_string(&path).expect("it is there");
        let (head, rest) = text.split_once(before).expect("the beginning is marked");
        let (stands, tail) = rest.split_once(after).expect("the end is marked");
        let whole = format!("{head}{before}{made}{after}{tail}");
        let is_so = stands == made || overwritten("OPTIONS", &path, &whole);
        assert!(is_so, "{file}: OPTIONS=overwrite cargo test --test suite generated_from_the_options");
    }
}
