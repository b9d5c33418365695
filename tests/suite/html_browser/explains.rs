//! The page explains why something waits.

use std::process::Command;

use gpusched::hosts::simulate;
use gpusched::pictures::HtmlTimeline;
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Instant;
use serde_json::{Value, json};

use super::driver::Browser;
use super::{S, SIZES, directory, figure_3, is_quiet, lines, number, page_of, place, written};
use crate::published;

/// Where the bar of a waiting operation is, in the row of its stream, at a time.
fn wait_bar(browser: &Browser, title: &str, ns: u64) -> (f64, f64) {
    let script = format!(
        "const {{app}} = gpusched; const run = app.runs[0];
         const row = app.layout.rows.find((other) => other.waits?.lanes.some((lane) => lane.some(({{id}}) => run.title(id) === '{title}')));
         const lane = row.waits.lanes.findIndex((times) => times.some(({{id}}) => run.title(id) === '{title}'));
         const box = app.canvas.getBoundingClientRect();
         return [box.left + app.view.xOf({ns}n), box.top + row.top + 10 + (lane + 0.5) * 13 + 28 - app.scroll()];"
    );
    let at = browser.run(&script);
    (at[0].as_f64().expect("a number"), at[1].as_f64().expect("a number"))
}

/// The colour of a pixel of the figure.
fn pixel(browser: &Browser, (x, y): (f64, f64)) -> Value {
    browser.wait_until_idle();
    let script = format!(
        "const box = gpusched.app.canvas.getBoundingClientRect();
         const copy = new OffscreenCanvas(1, 1).getContext('2d', {{willReadFrequently: true}});
         copy.drawImage(gpusched.app.canvas, box.left - {x}, box.top - {y});
         return [...copy.getImageData(0, 0, 1, 1).data];"
    );
    browser.run(&script)
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_click_on_the_bar_of_k5_says_why_it_waits_and_for_whom() {
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&figure_3());
    let (x, y) = wait_bar(&browser, "K5", 15 * S / 10);
    browser.point(x, y, true);
    let why = "K5 waits from 1.000001 s to 2 s: no SM with room for its 256 threads has 32 KiB of shared memory free; K4 holds \
               some of it; rule R3";
    assert_eq!(lines(&browser, "#tip p"), ["K5", why]);
    let told = lines(&browser, "#selected p");
    let first =
        "K5 waits from 400 ms to 1 s: in its EE queue, behind K1, and only blocks of the head are assigned; rule X1";
    // In between, until K1's blocks on SM 1 have ended too, it lacks threads (R2).
    assert_eq!([&told[0], &told[2]], [first, why]);
    let takes = "2 blocks; a block takes of an SM 256 of 2048 threads, 32 KiB of 64 KiB of shared memory";
    assert!(told.iter().any(|line| line == takes), "{told:?}");
    assert_eq!(lines(&browser, "#selected .chips button"), ["K1", "K4"]);
    browser.screenshot(&directory().join("why-k5.png"));
    // The bar has the colour of the rule; in between it was that of X1.
    let colour = |name: &str| browser.run(&format!("return gpusched.app.ruleLook('{name}').fill.background"));
    assert_eq!((colour("R3"), colour("X1")), ("#001f52".into(), "#5c5300".into()));
    browser.keys("\u{E00C}");
    let (x, y) = wait_bar(&browser, "K5", 18 * S / 10);
    assert_eq!(pixel(&browser, (x, y)), Value::from(vec![0x00, 0x1f, 0x52, 255]));
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_name_of_a_rule_shows_its_words_and_the_figure_can_have_all_of_the_width() {
    let browser = Browser::start();
    browser.look((1280, 720), false);
    browser.open(&figure_3());
    let (x, y) = wait_bar(&browser, "K5", 15 * S / 10);
    browser.point(x, y, true);
    assert_eq!(lines(&browser, "#selected .phase .rule"), ["X1", "R2", "R3"]);
    browser.run("[...document.querySelectorAll('#selected .rule')].at(-1).click()");
    let words = "An SM has what a block needs only if as much of its shared memory is free as the block takes.";
    assert_eq!(lines(&browser, "#rule p")[0], words);
    browser.keys("\u{E00C}");
    assert_eq!(browser.run("return document.getElementById('rule').open"), false);
    let width = || number(&browser, "return gpusched.app.canvas.getBoundingClientRect().width");
    let before = width();
    browser.keys("i");
    assert!(width() > before + 200.0, "{before} {}", width());
    browser.keys("o");
    assert!((width() - before).abs() < 1.0, "what is asked for is told beside the figure again");
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn in_a_narrow_window_no_column_of_text_has_a_letter_a_line() {
    let browser = Browser::start();
    browser.look(SIZES[2], false);
    browser.open(&figure_3());
    browser.wait_until_idle();
    browser.run("for (const part of document.querySelectorAll('#report details')) part.open = true");
    browser.wait_until_idle();
    browser.screenshot(&directory().join("narrow-tables.png"));
    // Lines of the highest cell of each table that is open.
    let lines =
        "return Math.max(...[...document.querySelectorAll('#report td')].map((cell) => cell.offsetHeight / 17))";
    assert!(number(&browser, lines) < 15.0, "{}", number(&browser, lines));
    let narrow =
        "return Math.min(...[...document.querySelectorAll('#report td.name')].map((cell) => cell.offsetWidth))";
    assert!(number(&browser, narrow) > 60.0, "{}", number(&browser, narrow));
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn keys_go_from_operation_to_operation_and_tell_screen_readers() {
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&figure_3());
    browser.keys("oo");
    assert_eq!(lines(&browser, "#selected h3"), ["K2"]);
    let behind = "K2 waits from 0 s to 2.000001 s: in its stream, behind K1; rule G2";
    assert_eq!(lines(&browser, "#selected .phase"), [behind]);
    assert_eq!(browser.run("return document.getElementById('selected').ariaLive"), "polite");
    browser.keys("O");
    assert_eq!(lines(&browser, "#selected h3"), ["K1"]);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn what_the_search_shows_begins_with_the_launch() {
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&figure_3());
    browser.keys("/k5\u{E007}");
    let seen = browser.run("const {view} = gpusched.app; return [Number(view.start), Number(view.stop())]");
    assert!(seen[0].as_u64() <= Some(4 * S / 10) && seen[1].as_u64() >= Some(3 * S), "{seen}");
    assert_eq!(lines(&browser, "#selected h3"), ["K5"]);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn queues_occupancy_and_heights_are_those_of_the_run() {
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&figure_3());
    let rows = browser.run("return gpusched.app.layout.rows.map(({label}) => label)");
    assert_eq!(rows, serde_json::json!(["SM 0", "SM 1", "copies", "in use", "EE queue", "CE queue", "S1", "S2", "S3"]));
    // At 700 ms K1 is at the head of the EE queue, then K4, then K5.
    let queue = "const {app} = gpusched; const {lanes} = app.layout.rows.find(({kind}) => kind === 'queue'); const run = app.runs[0];
         const now = run.instants.lastAt(700000000n);
         return lanes.places.map((times) => times.filter(({from, to}) => from <= now && now < to).map(({id}) => run.title(id)));";
    assert_eq!(browser.run(queue), serde_json::json!([["K1"], ["K4"], ["K5"]]));
    // At 1.5 s SM 0 holds 2 * 768 + 2 * 256 of 2048 threads, SM 1 2 * 256, and all shared memory is taken.
    let at = "const {app} = gpusched; const row = app.layout.rows.find(({kind}) => kind === 'occupancy');
         const box = app.canvas.getBoundingClientRect();
         return [box.left + app.view.xOf(1500000000n), box.top + row.top + 20 + 28 - app.scroll()];";
    let at = browser.run(at);
    browser.point(at[0].as_f64().expect("a number"), at[1].as_f64().expect("a number"), false);
    assert_eq!(lines(&browser, "#tip p")[1..], ["threads: 62.5 %", "shared memory: 100.0 %"]);
    browser.keys("h");
    assert_eq!(
        browser.run("return [gpusched.app.resource, gpusched.app.resources().length]"),
        serde_json::json!(["shared_memory", 2])
    );
    assert_eq!(lines(&browser, "[data-act=height]"), ["shared memory"]);
    // K4's four blocks fill the band; K1 takes none of it.
    let parts = "const {app} = gpusched; const run = app.runs[0]; const taken = [];
         run.sms[0].between(0, 1e9, (position) => {
           if (run.title(run.sms[0].operation[position]) === 'K4') taken.push(...run.sms[0].partsOf(run, position, 'shared_memory'));
         });
         return taken;";
    assert_eq!(browser.run(parts), serde_json::json!([[0, 32_768], [32_768, 65_536]]));
    browser.screenshot(&directory().join("shared-memory.png"));
    is_quiet(&browser);
}

/// One launch of one small block, and then as many more as are asked for.
fn launches(count: usize, device: &str) -> Scenario {
    let steps: Vec<Value> = (0..count).map(|_| serde_json::json!({"launch": "K", "stream": "S"})).collect();
    let document = serde_json::json!({
        "format": "gpusched-scenario/1", "name": "small", "device": device,
        "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "1 s"}},
        "streams": [{"name": "S"}],
        "hosts": [{"name": "H", "steps": steps}],
    });
    Scenario::from_json("small.json", &document.to_string(), &ReadOptions::default()).expect("it is sound")
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_block_of_32_threads_on_a_large_sm_is_seen_and_found() {
    let scenario = launches(1, "h100");
    let run = simulate(&scenario).expect("it runs");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&page_of("small", &run));
    let sm = u32::from(run.trace.blocks(gpusched::workload::OperationId(0)).next().expect("a block").sm);
    browser.run(&format!(
        "gpusched.app.scroller.scrollTop = gpusched.app.layout.rows.find((row) => row.sm === {sm}).top - 200"
    ));
    browser.wait_until_idle();
    let (x, y) = place(&browser, 0, sm, 0.5, S / 2);
    let (_, band) = place(&browser, 0, sm, 40.0, S / 2);
    assert_ne!(pixel(&browser, (x, y.floor())), pixel(&browser, (x, band.floor())), "it has a colour of its own");
    browser.point(x, y, false);
    assert_eq!(lines(&browser, "#tip p")[0], format!("K, block 0 of 1, SM {sm}"));
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn launches_and_met_deadlines_too_close_to_be_told_apart_hide_nothing_and_misses_are_seen() {
    // 5,000 jobs in 60 s. Every 3 s another kernel has the GPU for 5 ms first, and one of them misses.
    let document = serde_json::json!({
        "format": "gpusched-scenario/1", "name": "long", "device": "tx2", "horizon": "60 s",
        "kernels": {
            "long": {"blocks": 4, "threads": 1024, "duration": "5 ms"},
            "K": {"blocks": 4, "threads": 1024, "duration": "1 ms"},
        },
        "streams": [
            {"name": "L", "period": "3 s", "operations": [{"kernel": "long"}]},
            {"name": "S", "period": "12 ms", "deadline": "4 ms", "operations": [{"kernel": "K"}]},
        ],
    });
    let scenario =
        Scenario::from_json("long.json", &document.to_string(), &ReadOptions::default()).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&page_of("long", &run));
    let place_in_row = |ns: u64, down: u32| {
        let at = browser.run(&format!(
            "const {{app}} = gpusched; const box = app.canvas.getBoundingClientRect();
             const row = app.layout.rows.filter(({{kind}}) => kind === 'stream').at(-1);
             return [box.left + Math.floor(app.view.xOf({ns}n)), box.top + 28 + row.top + {down} - app.scroll()]"
        ));
        (at[0].as_f64().expect("a number"), at[1].as_f64().expect("a number"))
    };
    browser.screenshot(&directory().join("long.png"));
    // Half way between two misses: strips above, and below them nothing before what ran.
    let strips = [2, 7].map(|down| pixel(&browser, place_in_row(28_500_000_000, down)));
    assert_eq!(strips[0], strips[1]);
    let below = pixel(&browser, place_in_row(28_500_000_000, 13));
    assert_ne!(below, strips[0]);
    let missed = pixel(&browser, place_in_row(27_004_000_000, 2));
    assert!(missed != below && missed != strips[0], "{missed}");
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_state_at_the_cursor_is_seen_without_scrolling_however_many_kernels_there_are() {
    let scenario = launches(1_000, "tx2");
    let run = simulate(&scenario).expect("it runs");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&page_of("thousand", &run));
    browser.keys(".");
    let top = number(&browser, "return document.getElementById('state').getBoundingClientRect().top");
    assert!(top < 500.0, "{top}");
    assert_eq!(lines(&browser, "#state .run p")[0], "state at 1 s");
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn times_count_from_the_origin_of_the_tables() {
    let scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs");
    let path = directory().join("origin.html");
    let mut page = Vec::new();
    let timeline = HtmlTimeline::new(Summary::of(&run)).counted_from(Instant::from_ns(S));
    timeline.write(&mut page).expect("memory holds it");
    std::fs::write(&path, page).expect("the build directory can be written");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&path);
    let (x, y) = place(&browser, 0, 1, 12.0, 25 * S / 10);
    browser.point(x, y, false);
    assert_eq!(lines(&browser, "#tip p")[1..3], ["from 1 s to 2 s (1 s)", "launched at −600 ms in stream S3"]);
    let ticks = browser.run("return gpusched.app.painter.ticks.at.map(([, text]) => text)");
    assert_eq!(ticks[0], "−1", "{ticks}");
    browser.run("const field = document.getElementById('time'); field.focus(); field.select()");
    browser.keys("0.7s");
    assert_eq!(browser.run("return String(gpusched.app.cursor.ns)"), "1700000000");
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn tables_below_the_figure_tell_what_the_command_tells() {
    let scenario = published::root().join("events/double-buffering.json");
    let scenario = scenario.to_str().expect("a plain path");
    let page = written("tables", &["simulate", scenario]);
    let output = Command::new(env!("CARGO_BIN_EXE_gpusched"))
        .args(["simulate", scenario, "--blame", "--format", "json"])
        .output()
        .expect("the command runs");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&page);
    browser.wait_until_idle();
    // Behind a wait for an event, the rule of that stands behind it.
    let rule_of = |row: &Value| match (row["rule"].as_str(), row["through"].as_str()) {
        (Some(rule), Some(through)) => Value::from(format!("{rule} ({through})")),
        _ => row["rule"].clone(),
    };
    for (key, place) in [("blame_by_stream", 0), ("blame", 1)] {
        let rows = browser.run(&format!(
            "return [...document.querySelectorAll('#report details')[{place}].querySelectorAll('tr')].slice(1).map((tr) => [...tr.children].slice(0, 3).map((td) => td.textContent))"
        ));
        let expected = told[key].as_array().expect("a list").iter();
        let expected: Vec<Value> =
            expected.map(|row| serde_json::json!([row["waiting"], row["blocking"], rule_of(row)])).collect();
        assert_eq!(rows, Value::from(expected), "{key}");
    }
    let pictures = "return document.querySelectorAll('#report .picture svg').length";
    assert_eq!(browser.run(pictures), 2, "who made whom wait, and responses");
    // On paper there are no buttons, and the figure is light and whole.
    browser.look(SIZES[0], true);
    browser.paper(true);
    browser.run("gpusched.app.print(true)");
    let seen = "return ['tools', 'figure', 'report'].map((id) => document.getElementById(id).getBoundingClientRect().height > 0)";
    assert_eq!(browser.run(seen), serde_json::json!([false, true, true]));
    assert_eq!(browser.run("return gpusched.app.theme"), "light");
    browser.screenshot(&directory().join("on-paper.png"));
    browser.run("gpusched.app.print(false)");
    browser.paper(false);
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_tour_goes_from_scene_to_scene() {
    let path = directory().join("tour.html");
    let file = path.to_str().expect("a plain path");
    let output = Command::new(env!("CARGO_BIN_EXE_gpusched")).args(["tour", "-o", file]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&path);
    for (number, kernels) in [(1, 1), (2, 4), (3, 3), (4, 3), (5, 6), (6, 1), (7, 2), (8, 6)] {
        browser.run(&format!("document.querySelector('#tour a[href=\"#scene-{number}\"]').click()"));
        std::thread::sleep(std::time::Duration::from_millis(500));
        let seen = "return [...document.querySelectorAll('.scene')].filter((scene) => !scene.hidden).map(({id}) => id)";
        assert_eq!(browser.run(seen), serde_json::json!([format!("scene-{number}")]));
        assert_eq!(browser.run("return gpusched.app.fills.titles().length"), kernels);
        assert_eq!(browser.run("return scrollY"), 0, "scene {number} begins below the top of the page");
        browser.screenshot(&directory().join(format!("tour-{number}.png")));
        is_quiet(&browser);
    }
    // All of the figure is seen beside the scene, also the bar that the question is about.
    for size in [(1280, 720), (1600, 1000)] {
        browser.look(size, false);
        browser.wait_until_idle();
        let (x, y) = wait_bar(&browser, "K5", 15 * S / 10);
        assert!(x > 300.0 && y < f64::from(size.1), "{size:?}: {x}, {y}");
        browser.screenshot(&directory().join(format!("tour-{}.png", size.0)));
    }
    browser.keys("\u{E00E}");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(browser.run("return location.hash"), "#scene-7");
    browser.look(SIZES[2], true);
    browser.wait_until_idle();
    browser.screenshot(&directory().join("tour-narrow-dark.png"));
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_block_that_waits_on_its_sm_is_dark_then_and_says_until_what() {
    let scenario = published::root().join("hang/two-barriers.json");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&written("waiting", &["simulate", scenario.to_str().expect("a plain path")]));
    // SM 1 has a block of the first kernel from 100 us on, which waits from 600 us on.
    let (x, y) = place(&browser, 0, 1, 10.0, 1_200_000);
    browser.point(x, y, false);
    let told = lines(&browser, "#tip p");
    let waits = "waits from 600 us on until all 58 blocks of the grid have come as far";
    assert!(told.iter().any(|line| line == waits), "{told:?}");
    // Light while it runs, and dark, but for dots, while it waits.
    let colours = |ns: u64| -> Vec<Value> {
        let (x, y) = place(&browser, 0, 1, 16.0, ns);
        (0..4).map(|step| pixel(&browser, (x + f64::from(step) * 3.0, y))).collect()
    };
    let (light, dark) = (json!([178, 221, 245, 255]), json!([60, 126, 163, 255]));
    let (runs, waits) = (colours(200_000), colours(700_000));
    assert!(runs.contains(&light) && !runs.contains(&dark), "{runs:?}");
    assert!(waits.contains(&dark) && !waits.contains(&light), "{waits:?}");
    assert_eq!(browser.run("return String(gpusched.app.view.end)"), "2000000", "a third more than the run");
    is_quiet(&browser);
}
