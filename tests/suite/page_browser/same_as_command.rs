//! The page says what the command says: the same bytes, the same messages.

use gpusched::input::options::OPTIONS;
use std::fs;
use std::process::Command;

use super::*;
use crate::common::{REFUSED, gpusched_in, stderr};
use crate::mutants::{Mutant, Outcome, mutants};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");

/// All shipped scenarios, by folder and name.
fn shipped() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in fs::read_dir(ROOT).expect("it is there") {
        let folder = folder.expect("it can be read").path();
        for file in fs::read_dir(&folder).expect("it is a folder") {
            let name = file.expect("it can be read").file_name().into_string().expect("a plain name");
            found.push((folder.clone(), name));
        }
    }
    found.sort();
    found
}

/// A text in which every option is called by its flag: the page calls it by its key.
fn with_flags(text: &str) -> String {
    OPTIONS.iter().fold(text.to_owned(), |text, option| {
        let (flag, key) = (format!("--{}", option.key.replace('_', "-")), format!("{:?}", option.key));
        let mut parts = text.split(&key);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, rest| {
            let value = |begin, end| rest.strip_prefix(begin).and_then(|rest: &str| rest.split_once(end));
            let rest = match (value(": {\"", "\"}"), value(": \"", "\"")) {
                (Some((named, rest)), _) => format!(" {}{rest}", named.replace("\": \"", "=")),
                (None, Some((value, rest))) => format!(" {value}{rest}"),
                (None, None) => rest.to_owned(),
            };
            text + &flag + &rest
        })
    })
}

/// A document of the command with the options that its notes call as a reader of the page calls them.
fn as_in_page(document: &str) -> String {
    let horizon = "\\\"horizon\\\": \\\"TIME\\\"";
    document.replace("--horizon TIME", horizon).replace("--connections", "\\\"connections\\\"")
}

#[track_caller]
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = gpusched_in(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    as_in_page(&String::from_utf8(output.stdout).expect("text"))
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn json_of_all_shipped_scenarios_is_that_of_the_command_byte_for_byte() {
    let page = Page::open();
    let all = shipped();
    assert!(all.len() >= 34, "{}", all.len());
    let listed = page.run("return document.querySelectorAll('#scenario option').length");
    assert_eq!(listed, all.len(), "the page lists them all");
    for (folder, name) in all {
        let content = fs::read(folder.join(&name)).expect("it is there");
        let (is_answered, answer) = page.ask(&name, &content, &json!({}), "simulate");
        assert!(is_answered, "{name}: {answer}");
        assert!(answer == printed(&folder, &["simulate", &name, "--format", "json"]), "{name}: simulate");
        let output = gpusched_in(&folder, &["analyze", &name, "--format", "json"]);
        let (is_answered, answer) = page.ask(&name, &content, &json!({}), "analyze");
        assert_eq!(is_answered, output.status.success(), "{name}: {answer}");
        let document = as_in_page(&String::from_utf8(output.stdout).expect("text"));
        if is_answered {
            assert!(answer.starts_with(&document) && !document.is_empty(), "{name}: analyze");
        } else {
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(with_flags(&format!("error: {answer}\n")), with_flags(&told));
        }
    }
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn what_is_set_beside_the_text_is_what_the_options_of_the_command_do() {
    let page = Page::open();
    let settings = json!({"device": "xavier", "placement": "round-robin", "set_priority": {"S2": -1}, "set_block_time": {"K1": "3160 ms"}});
    let (_, answer) = page.ask("figure-3.json", FIGURE_3.as_bytes(), &settings, "simulate");
    let options = ["simulate", "figure-3.json", "--format", "json", "--device", "xavier", "--placement", "round-robin"];
    let what_ifs = ["--set-priority", "S2=-1", "--set-block-time", "K1=3160ms"];
    let folder = Path::new(ROOT).join("rtss2017");
    assert_eq!(answer, printed(&folder, &[&options[..], &what_ifs].concat()));
    let (_, answer) = page.ask("figure-3.json", FIGURE_3.as_bytes(), &json!({"set_priority": {"S9": -1}}), "simulate");
    let output = gpusched_in(&folder, &["simulate", "figure-3.json", "--set-priority", "S9=-1"]);
    // Each calls the option as its own user does.
    let said = format!("error: {answer}\n").replace("\"set_priority\"", "--set-priority");
    assert_eq!(said, String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn downloads_hold_what_the_command_writes() {
    let page = Page::open();
    let folder = directory("page_downloads");
    page.browser.downloads(&folder);
    for kind in ["svg", "png", "json", "analysis", "html", "scenario", "text"] {
        page.run(&format!("document.querySelector('[data-download={kind}]').click()"));
        page.wait("gpusched.page.timeline.since === null && gpusched.page.analysis.since === null");
    }
    let read = |name: &str| {
        let path = folder.join(format!("figure-3.{name}"));
        let begin = Instant::now();
        while !path.exists() {
            assert!(begin.elapsed() < Duration::from_mins(1), "{} does not come", path.display());
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(100));
        fs::read(path).expect("it is there")
    };
    let of_command = |name: &str| fs::read(folder.join(name)).expect("the command wrote it");
    let from = Path::new(ROOT).join("rtss2017/figure-3.json").display().to_string();
    let json = printed(&folder, &["simulate", &from, "--format", "json", "--html", "own.html", "--figure", "own.svg"]);
    assert!(read("json") == FIGURE_3.as_bytes(), "what was in the editor");
    assert!(read("simulation.json") == json.as_bytes());
    assert!(read("html") == of_command("own.html"));
    assert!(read("svg") == of_command("own.svg"));
    assert!(read("analysis.json") == printed(&folder, &["analyze", &from, "--format", "json"]).as_bytes());
    assert!(read("scenario.json") == printed(&folder, &["convert", &from]).as_bytes());
    let png = read("png");
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    // The width of a column, 88.57 mm, at 300 pixels an inch, but for the rounding of the browser's own pixels.
    let width = u32::from_be_bytes(png[16..20].try_into().expect("four bytes"));
    assert!(width.abs_diff(1046) < 8, "{width} pixels");
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn every_refused_input_of_the_readers_has_the_message_of_the_command() {
    let folder = directory("page_refused");
    let tests = std::env::current_exe().expect("this one");
    let ran = Command::new(tests).args(["bad_input", "amalthea"]).env(REFUSED, &folder).output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    // Profiles that were cut off in the middle.
    for name in ["synthetic.json", "synthetic.csv"] {
        let content = fs::read(Path::new(ROOT).join("profiles").join(name)).expect("it is there");
        for part in 1..8 {
            let cut = &content[..content.len() * part / 8];
            fs::write(folder.join(format!("cut-{part}-{name}")), cut).expect("it can be written");
        }
    }
    let page = Page::open();
    let mut refused = 0;
    for file in fs::read_dir(&folder).expect("it is there") {
        let path = file.expect("it can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
        let output = gpusched_in(&folder, &["simulate", name]);
        let (is_answered, said) = page.ask(name, &fs::read(&path).expect("it is there"), &json!({}), "simulate");
        assert_eq!(is_answered, output.status.success(), "{name}: {said}");
        if !is_answered {
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(with_flags(&format!("error: {said}\n")), with_flags(&told), "{name}");
            refused += 1;
        }
    }
    assert!(refused > 200, "only {refused} were refused");
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn mutants_are_answered_or_refused_in_the_words_of_the_readers() {
    let page = Page::open();
    // The page reads no exports of Nsight Systems.
    let of_page =
        |mutant: &Mutant| ["scenario", "foreign"].contains(&mutant.reader.name) && !mutant.file.ends_with(".sqlite");
    let done = mutants().filter(of_page).filter_map(|mutant| match mutant.outcome() {
        Outcome::Answered(bytes) => Some((mutant, (true, String::from_utf8(bytes).expect("text")))),
        Outcome::Refused(refusal) => Some((mutant, (false, refusal.message))),
        Outcome::TooMuch => None,
    });
    for (mutant, expected) in done.take(200) {
        assert_eq!(page.ask(&mutant.file, &mutant.content, &json!({}), "simulate"), expected, "{}", mutant.file);
    }
    page.is_quiet();
}
