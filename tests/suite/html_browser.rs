//! `--html` in a real browser. Needs chromium and chromedriver (Debian: chromium, chromium-driver), so it runs only
//! when asked for: `cargo test --test suite html_browser -- --ignored --test-threads 1`. Pictures of what it looks like
//! are left in `target/tmp/html`.

pub(crate) mod driver;
mod explains;
mod many_blocks;
mod state;
mod turns;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use driver::Browser;
use gpusched::hosts::simulate;
use gpusched::pictures::HtmlTimeline;
use gpusched::run::{Run, Summary};
use gpusched::scenario::{ReadOptions, Scenario};
use serde_json::Value;

use crate::published;

const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/profiles/synthetic.json");
const PROCESSES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/processes/perception-and-control.json");
const SIZES: [(u32, u32); 4] = [(1400, 900), (800, 600), (390, 844), (1280, 720)];

fn directory() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("html");
    fs::create_dir_all(&directory).expect("the build directory can be written");
    directory
}

/// What `gpusched` writes with `--html`.
fn written(name: &str, arguments: &[&str]) -> PathBuf {
    let path = directory().join(format!("{name}.html"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpusched"));
    let output = command.args(arguments).arg("--html").arg(&path).output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

/// The page of a run.
fn page_of(name: &str, run: &Run) -> PathBuf {
    let path = directory().join(format!("{name}.html"));
    let summary = Summary::of(run);
    let mut page = Vec::new();
    HtmlTimeline::new(summary).write(&mut page).expect("memory holds it");
    fs::write(&path, page).expect("the build directory can be written");
    path
}

fn figure_3() -> PathBuf {
    let scenario = published::root().join("rtss2017/figure-3.json");
    written("figure-3", &["simulate", scenario.to_str().expect("a plain path")])
}

/// Where a time and a warp slot of an SM are in the window.
fn place(browser: &Browser, run: usize, sm: u32, warp: f64, ns: u64) -> (f64, f64) {
    let script = format!(
        "const {{app}} = gpusched; const run = app.runs[{run}];
         const row = app.layout.rows.find((other) => other.run === run && other.kind === 'sm' && other.sm === {sm});
         const box = app.canvas.getBoundingClientRect();
         const y = row.top + row.height * (1 - {warp} / run.resource('threads').capacity) + 28 - app.scroll();
         return [box.left + app.view.xOf({ns}n), box.top + y];"
    );
    let at = browser.run(&script);
    (at[0].as_f64().expect("a number"), at[1].as_f64().expect("a number"))
}

/// The lines of an element.
fn lines(browser: &Browser, selector: &str) -> Vec<String> {
    let paragraphs =
        browser.run(&format!("return [...document.querySelectorAll('{selector}')].map((p) => p.textContent)"));
    let paragraphs = paragraphs.as_array().expect("a list").clone();
    paragraphs.into_iter().map(|text| text.as_str().expect("text").to_owned()).collect()
}

fn number(browser: &Browser, script: &str) -> f64 {
    browser.run(script).as_f64().expect("a number")
}

/// Without an error or a warning on the console.
fn is_quiet(browser: &Browser) {
    assert_eq!(browser.console(), Vec::<String>::new());
}

const S: u64 = 1_000_000_000;

#[test]
#[ignore = "needs chromium and chromedriver"]
fn pages_load_without_errors_at_four_sizes_light_and_dark() {
    let browser = Browser::start();
    let logs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/logs/two-streams");
    let thesis = published::root().join("thesis2019/section-4-3-figure-4-7.json");
    let pages = [
        figure_3(),
        written("replayed", &["replay-log", logs]),
        written("compared", &["compare", thesis.to_str().expect("a plain path")]),
        written("recorded", &["replay-log", PROFILE, "--kernel-times", "sharing"]),
        written("processes", &["simulate", PROCESSES]),
    ];
    for page in pages {
        for size in SIZES {
            for dark in [false, true] {
                browser.look(size, dark);
                browser.open(&page);
                // Of what is recorded no SM is known.
                let below = usize::from(page.ends_with("recorded.html"));
                let (x, y) = place(&browser, below, 0, 5.0, 0);
                browser.point(x + 40.0, y, true);
                let name = page.file_stem().expect("it has a name").to_string_lossy().into_owned();
                let theme = if dark { "dark" } else { "light" };
                browser.screenshot(&directory().join(format!("{name}-{}x{}-{theme}.png", size.0, size.1)));
                assert_eq!(browser.run("return gpusched.app.theme"), theme);
                // Nothing is wider than the window.
                let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
                assert!(number(&browser, wide) <= 0.0, "{name} at {size:?}");
                is_quiet(&browser);
            }
        }
    }
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn pointing_at_a_block_tells_which_it_is_and_which_rule_made_it_wait() {
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&figure_3());
    // At 2.5 s K2's blocks (512 threads: 16 warps) are on SM 0, and K5's (256 threads) on SM 1.
    let (x, y) = place(&browser, 0, 0, 24.0, 25 * S / 10);
    browser.point(x, y, false);
    let expected = [
        "K2, block 1 of 2, SM 0",
        "from 2.000001 s to 3.000001 s (1 s)",
        "launched at 0 s in stream S1",
        "waited 2.000001 s (G2)",
    ];
    assert_eq!(lines(&browser, "#tip p"), expected);
    let (x, y) = place(&browser, 0, 1, 12.0, 25 * S / 10);
    browser.point(x, y, false);
    let expected = [
        "K5, block 1 of 2, SM 1",
        "from 2 s to 3 s (1 s)",
        "launched at 400 ms in stream S3",
        "waited 600 ms (X1), 1 us (R2), 999.999 ms (R3)",
        "last held by R3",
    ];
    assert_eq!(lines(&browser, "#tip p"), expected);
    let (x, y) = place(&browser, 0, 0, 60.0, 25 * S / 10);
    browser.point(x, y, false);
    assert_eq!(browser.run("return document.getElementById('tip').hidden"), true);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_wheel_and_keys_zoom_and_move() {
    let browser = Browser::start();
    browser.look(SIZES[1], false);
    browser.open(&figure_3());
    let span = || number(&browser, "return gpusched.app.view.span");
    let whole = span();
    let (x, y) = place(&browser, 0, 0, 8.0, 2 * S);
    browser.wheel(x, y, -400);
    assert!((span() - whole / std::f64::consts::E).abs() < whole / 100.0, "{} of {whole}", span());
    // What is under the pointer stays there.
    assert!((place(&browser, 0, 0, 8.0, 2 * S).0 - x).abs() < 1.5);
    // The pointer is on the edge at 2 s; one pixel further right is K2.
    browser.point(x + 2.0, y, false);
    assert_eq!(lines(&browser, "#tip p")[0], "K2, block 0 of 2, SM 0");
    let before = span();
    browser.keys("+");
    assert!((before / span() - 1.4).abs() < 0.01);
    let start = || number(&browser, "return Number(gpusched.app.view.start)");
    let left = start();
    browser.keys("\u{E014}");
    assert!((start() - left - 0.15 * span()).abs() < 2.0);
    browser.keys("0");
    assert!((span() - whole).abs() < 1.0 && start() == 0.0);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_finger_or_the_mouse_moves_the_time_and_points() {
    let browser = Browser::start();
    browser.look(SIZES[2], false);
    browser.open(&figure_3());
    browser.keys("++++");
    let start = || number(&browser, "return Number(gpusched.app.view.start)");
    let (before, span) = (start(), number(&browser, "return gpusched.app.view.span"));
    let width = number(&browser, "return gpusched.app.view.width");
    for kind in ["mouse", "touch"] {
        let from = start();
        browser.drag(kind, (200.0, 300.0), (150.0, 300.0));
        assert!((start() - from - 50.0 / width * span).abs() < span / 100.0, "{kind}: {before} to {}", start());
    }
    assert_eq!(browser.run("return gpusched.app.cursor.pinned"), false, "that was no click");
    // A tap is one, and what is said of the block stays when the finger is gone.
    browser.keys("0");
    let at = place(&browser, 0, 0, 8.0, 25 * S / 10);
    browser.drag("touch", at, at);
    assert_eq!(lines(&browser, "#tip p")[0], "K2, block 0 of 2, SM 0");
    assert_eq!(browser.run("return gpusched.app.cursor.pinned"), true);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn kernels_and_streams_are_highlighted_and_found() {
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&figure_3());
    browser.run("document.querySelector('#kernels button[data-name=K5]').click()");
    let faded = || browser.run("return [...gpusched.app.highlight.faded(gpusched.app.runs[0])]");
    // K5 is operation 7 of 11.
    let all_but = |kept: &[usize]| Value::from((0..11).map(|id| u8::from(!kept.contains(&id))).collect::<Vec<_>>());
    assert_eq!(faded(), all_but(&[7]));
    browser.run("document.querySelector('#streams button[data-name=S2]').click()");
    assert_eq!(faded(), all_but(&[6, 7, 9, 10]));
    browser.wait_until_idle();
    browser.screenshot(&directory().join("highlighted.png"));
    browser.keys("\u{E00C}");
    assert_eq!(faded(), all_but(&(0..11).collect::<Vec<_>>()));

    browser.keys("/k6\u{E007}");
    assert_eq!(lines(&browser, "#found p"), ["1 found"]);
    assert_eq!(browser.run("return document.getElementById('time').value"), "2.8000005 s");
    assert_eq!(faded(), all_but(&[9]));
    browser.run("document.getElementById('search').value = ''; document.activeElement.blur()");
    browser.keys("/#8");
    assert_eq!(lines(&browser, "#found button"), ["#8 copy 3 (device-to-host), S3"]);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn text_of_a_scenario_is_never_taken_for_html() {
    let name = crate::odd_names::IMAGE;
    let text = fs::read_to_string(published::root().join("rtss2017/figure-3.json")).expect("it is there");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    document["name"] = name.into();
    let text = document.to_string().replace("\"K1\"", &serde_json::to_string(name).expect("text"));
    let scenario = Scenario::from_json("odd.json", &text, &ReadOptions::default()).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let browser = Browser::start();
    browser.look(SIZES[1], false);
    browser.open(&page_of("odd-names", &run));
    let (x, y) = place(&browser, 0, 0, 8.0, S / 2);
    browser.point(x, y, true);
    assert_eq!(lines(&browser, "#tip p")[0], format!("{name}, block 0 of 6, SM 0"));
    assert_eq!(
        browser.run("return [document.title, document.querySelector('h1').textContent]"),
        Value::from([name, name].to_vec())
    );
    assert_eq!(browser.run("return window.broken === undefined"), true);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn two_runs_share_an_axis_and_list_the_finish_times_that_differ() {
    let scenario = published::root().join("rtss2017/figure-8.json");
    let path = written("compared-figure-8", &["compare", scenario.to_str().expect("a plain path")]);
    let output = Command::new(env!("CARGO_BIN_EXE_gpusched"))
        .args(["compare", scenario.to_str().expect("a plain path"), "--format", "json"])
        .output()
        .expect("the command runs");
    let compared: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let kernels = compared["kernels"].as_array().expect("a list");
    let differing: Vec<&str> = kernels
        .iter()
        .filter(|kernel| kernel["simulated_finish_ns"] != kernel["analysed_finish_ns"])
        .map(|kernel| kernel["title"].as_str().expect("text"))
        .collect();
    assert!(!differing.is_empty());
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&path);
    assert_eq!(lines(&browser, "#differences strong"), differing);
    let (x, y) = place(&browser, 1, 0, 8.0, S / 2);
    browser.point(x, y, true);
    browser.screenshot(&directory().join("compared-figure-8.png"));
    assert!(lines(&browser, "#tip p")[0].starts_with("K1, block 0 of 1, SM 0"));
    assert_eq!(lines(&browser, "#state h3"), ["simulated", "analysed"]);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn of_a_measured_run_blocks_are_told_and_nothing_else() {
    let logs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/logs/two-streams");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&written("replayed", &["replay-log", logs]));
    let (x, y) = place(&browser, 0, 0, 8.0, S / 2);
    browser.point(x, y, true);
    let expected =
        ["One, block 0 of 4, SM 0", "from 2 us to 1.000012 s (1.00001 s)", "measured: launch and waits are not known"];
    assert_eq!(lines(&browser, "#tip p"), expected);
    let measured = lines(&browser, "#state .run:first-child p");
    assert_eq!(measured.len(), 3, "an instant and two SMs: {measured:?}");
    assert!(measured[1].starts_with("SM 0: 2 x One; free: 0 threads"), "{measured:?}");
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn of_a_recorded_run_is_told_what_ran_in_each_stream_and_nothing_else_and_by_medians_no_sm() {
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&written("recorded", &["replay-log", PROFILE]));
    let row = "const {app} = gpusched; const row = app.layout.rows.find((other) => other.run === app.runs[0] && other.kind === 'stream');
         const box = app.canvas.getBoundingClientRect();";
    let place = browser.run(&format!(
        "{row} return [box.left + app.view.xOf(100000n), box.top + row.top + row.height - 5 + 28 - app.scroll()]"
    ));
    browser.point(place[0].as_f64().expect("a number"), place[1].as_f64().expect("a number"), true);
    let expected = [
        "gemm",
        "from 54.25 us to 144.25 us (90 us)",
        "launched at 14 us in stream 7",
        "recorded: SMs and waits are not known",
    ];
    assert_eq!(lines(&browser, "#tip p"), expected);
    let state = lines(&browser, "#state .run:first-child p");
    assert_eq!(state[1..], ["stream 7 runs gemm"]);
    // By medians kernels run as a whole, so that neither side has SMs.
    assert_eq!(browser.run("return gpusched.app.layout.rows.filter((row) => row.kind === 'sm').length"), 0);
    let state = lines(&browser, "#state .run:last-child p");
    assert_eq!(state.last().map(String::as_str), Some("stream 7 runs gemm"), "{state:?}");
    browser.open(&written("shared", &["replay-log", PROFILE, "--kernel-times", "sharing"]));
    assert_eq!(browser.run("return gpusched.app.layout.rows.filter((row) => row.kind === 'sm').length"), 108);
    is_quiet(&browser);
}
