//! Loading, editing, mistakes, dropped files, sharing, stopping.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::common::{gpusched_in, stderr};

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn the_page_loads_without_errors_at_six_sizes_light_and_dark() {
    let page = Page::open();
    for size in [(1920, 1080), (1600, 1000), (1400, 900), (1280, 720), (800, 600), (390, 844)] {
        for dark in [false, true] {
            page.browser.look(size, dark);
            page.browser.open(&file());
            page.wait("window.gpusched?.page?.drawn > 0 && document.querySelector('#analysed table')");
            let theme = if dark { "dark" } else { "light" };
            page.screenshot(&format!("page-{}x{}-{theme}", size.0, size.1));
            let wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert!(page.run(wide).as_i64().expect("a number") <= 0, "{size:?}");
            let shown = page.run(&format!("{FRAME} return [frame.app.runs[0].scenario, frame.app.theme]"));
            assert_eq!(shown, json!(["RTSS 2017, figure 3", theme]));
            page.is_quiet();
        }
    }
    assert_eq!(page.run("return document.querySelector('#scenario').value"), "rtss2017/figure-3.json");
    let asked = page
        .run("return performance.getEntriesByType('resource').filter(({name}) => !/^(blob|data):/.test(name)).length");
    assert_eq!(asked, 0, "nothing is loaded from elsewhere");
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn what_is_typed_is_drawn_and_what_was_seen_of_the_time_stays() {
    let page = Page::open();
    let end = || page.run(&format!("{FRAME} return String(frame.app.lastEnd())"));
    let before = end();
    page.run(&format!("{FRAME} frame.app.view.show(1000000000n, 1500000000n); frame.app.setCursor(1000000000n, true)"));
    let seen = || {
        page.run(&format!(
            "{FRAME} return [String(frame.app.view.start), frame.app.view.span, String(frame.app.cursor.ns)]"
        ))
    };
    let was = seen();
    let drawn = page.drawn();
    page.write(&FIGURE_3.replace(
        r#""K6": {"blocks": 2, "threads": 512, "registers_per_thread": 0, "duration": "1 s"}"#,
        r#""K6": {"blocks": 2, "threads": 512, "registers_per_thread": 0, "duration": "3 s"}"#,
    ));
    page.wait_until_drawn(&drawn);
    assert_ne!(end(), before);
    assert_eq!(seen(), was);
    // And it is still a timeline that can be used.
    page.run(&format!("{FRAME} frame.app.act('fit'); frame.app.search('K6')"));
    assert_eq!(page.run(&format!("{FRAME} return frame.app.found.length")), 1);
    assert!(page.text("simulated").contains("K6"));
    page.wait("document.getElementById('analysed').textContent.includes('K6')");
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn keys_and_values_are_completed_from_the_schema() {
    let page = Page::open();
    let text =
        "{\n  \"format\": \"gpusched-scenario/1\",\n  \"name\": \"x\",\n  \"kernels\": {\"K\": {\"blocks\": 1, \n}}}";
    page.write(text);
    let at = text.find("1, \n").expect("it is there") + 3;
    let place = |at: usize| {
        format!("const area = document.getElementById('text'); area.focus(); area.setSelectionRange({at}, {at})")
    };
    page.run(&place(at));
    page.browser.keys("\"thr");
    let labels = "return [...document.querySelectorAll('#completions li code')].map((code) => code.textContent)";
    // What begins so first.
    assert_eq!(page.run(labels), json!(["threads", "registers_per_thread"]));
    let about = page.run("return document.querySelector('#completions li span').textContent");
    assert!(!about.as_str().expect("text").is_empty(), "the schema says what it means");
    page.screenshot("completion");
    page.browser.keys("\u{E007}");
    let written = page.run("return document.getElementById('text').value");
    assert!(written.as_str().expect("text").contains("\"blocks\": 1, \"threads\": "), "{written}");
    // Values: the formats' name, devices' placements, and only keys that the format has at this place.
    page.write("{\"format\": \"gpusched-scenario/1\", \"placement\": \"\"}");
    page.run(&place("{\"format\": \"gpusched-scenario/1\", \"placement\": \"".len()));
    page.run("gpusched.page.editor.suggest()");
    let placements = page.run(labels);
    assert!(placements.as_array().expect("a list").contains(&"most-room".into()), "{placements}");
    page.write("{\"format\": \"gpusched-scenario/1\", \"\"}");
    page.run(&place("{\"format\": \"gpusched-scenario/1\", \"".len()));
    page.run("gpusched.page.editor.suggest()");
    let keys = page.run(labels);
    let keys = keys.as_array().expect("a list");
    assert!(keys.contains(&"streams".into()) && !keys.contains(&"benchmarks".into()), "{keys:?}");
    assert!(!keys.contains(&"format".into()), "it is there already");
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn a_mistake_is_told_in_the_library_s_words_at_its_line_and_the_timeline_stays() {
    let page = Page::open();
    page.write(&FIGURE_3.replace("\"threads\": 768", "\"threads\": 5000"));
    page.wait("!document.getElementById('message').hidden && !gpusched.page.isBusy");
    let message = page.text("message");
    let line = FIGURE_3.lines().position(|line| line.contains("\"K1\"")).expect("it is there") + 1;
    assert!(message.starts_with(&format!("error: figure-3.json:{line}:")), "{message}");
    assert!(message.contains("kernels.K1"), "{message}");
    assert_eq!(page.run("return document.getElementById('mark').hidden"), false);
    page.screenshot("mistake");
    let shown = page.run("const mark = document.getElementById('mark').getBoundingClientRect(); const area = document.getElementById('text'); return (mark.top - area.getBoundingClientRect().top - 8) / mark.height");
    assert!((shown.as_f64().expect("a number") - (line as f64 - 1.0)).abs() < 0.1, "{shown}");
    // Clicking the message leads there.
    page.run("document.getElementById('message').click()");
    let at = page.run("return document.getElementById('text').selectionStart").as_u64().expect("a number");
    let written = FIGURE_3.replace("\"threads\": 768", "\"threads\": 5000");
    assert_eq!(written[..usize::try_from(at).expect("small")].lines().count(), line);
    assert_eq!(page.run(&format!("{FRAME} return frame.app.runs[0].scenario")), "RTSS 2017, figure 3");
    let drawn = page.drawn();
    page.write(FIGURE_3);
    page.wait_until_drawn(&drawn);
    assert_eq!(
        page.run("return document.getElementById('message').hidden && document.getElementById('mark').hidden"),
        true
    );
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn dropped_files_of_every_readable_format_are_simulated() {
    let page = Page::open();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let read = |name: &str| fs::read(root.join(name)).expect("it is there");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&read("profiles/synthetic.json")).expect("memory takes it");
    let files = [
        ("examiner.json", read("ospert2017/figure-4.json"), true),
        ("native.json", read("deadlines/camera-and-lidar.json"), true),
        ("model.amxmi", read("amalthea/tx2-like-waters2019.amxmi"), true),
        ("kineto.json", read("profiles/synthetic.json"), true),
        ("kineto.json.gz", packed.finish().expect("memory takes it"), false),
        ("nvprof.csv", read("profiles/synthetic.csv"), true),
    ];
    for (name, content, is_text) in &files {
        let drawn = page.drawn();
        page.drop(name, content);
        page.wait_until_drawn(&drawn);
        assert_eq!(
            page.run("return document.getElementById('message').hidden"),
            true,
            "{name}: {}",
            page.text("message")
        );
        assert!(page.run("return document.querySelectorAll('#simulated tr').length").as_u64() > Some(1), "{name}");
        let read_only = page.run("return document.getElementById('text').readOnly");
        assert_eq!(read_only, !is_text, "{name}");
    }
    // Files of several at once, of which none is opened.
    page.run(
        "const data = new DataTransfer();
         for (const name of ['a.json', 'b.json']) data.items.add(new File(['{}'], name));
         document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}))",
    );
    page.wait(
        "document.getElementById('message').textContent === 'error: these are 2 files; the page takes one at a time'",
    );
    page.drop("nothing.json", b"{}");
    page.wait("document.getElementById('message').textContent.startsWith('error: nothing.json:1:1: ')");
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn of_an_export_of_nsight_systems_it_is_said_which_command_makes_what_the_page_reads() {
    let page = Page::open();
    // As much of a database as tells that it is one.
    page.drop("run 1.sqlite", b"SQLite format 3\0\x10\xff and so on");
    page.wait("!document.getElementById('message').hidden && !gpusched.page.isBusy");
    assert_eq!(
        page.text("message"),
        "error: run 1.sqlite: this is an SQLite database, which this build does not read (the command, which has the \
         feature nsight by default, makes a scenario that is read here of an export of Nsight Systems: gpusched import \
         \"run 1.sqlite\" --out \"run 1.scenario.json\")"
    );
    assert_eq!(page.run("return document.getElementById('text').readOnly"), true);
    // What that command writes of a profile, the page draws.
    let folder = directory("page_imported");
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/profiles/synthetic.json");
    let profile = profile.to_str().expect("text");
    let imported = gpusched_in(&folder, &["import", profile, "--out", "run 1.scenario.json"]);
    assert!(imported.status.success(), "{}", stderr(&imported));
    let drawn = page.drawn();
    page.drop("run 1.scenario.json", &fs::read(folder.join("run 1.scenario.json")).expect("it is there"));
    page.wait_until_drawn(&drawn);
    assert_eq!(page.run("return document.getElementById('message').hidden"), true);
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn an_address_restores_text_device_placement_and_sliders() {
    let page = Page::open();
    let drawn = page.drawn();
    page.write(&FIGURE_3.replace("RTSS 2017, figure 3", "shared"));
    page.wait_until_drawn(&drawn);
    let drawn = page.drawn();
    page.run(
        "const set = (selector, value, kind) => { const field = document.querySelector(selector); field.value = value;
             field.dispatchEvent(new Event(kind)); };
         set('#placement', 'round-robin', 'change'); set('#device', 'xavier', 'change');
         set('[data-kernel=K1]', '50', 'input'); set('[data-stream=S2]', '1', 'input');",
    );
    page.wait_until_drawn(&drawn);
    let command = page.text("command");
    let changed = "gpusched simulate figure-3.json --placement round-robin --device xavier --set-block-time K1=3.16s \
                   --set-priority S2=-1";
    assert_eq!(command, changed);
    page.screenshot("changed");
    page.run("document.getElementById('share').click()");
    page.wait(
        "location.hash.startsWith('#v1=') && /copied|address/.test(document.getElementById('share').textContent)",
    );
    let made = "gpusched.made('json').then(({blob}) => blob.text()).then(done)";
    let (address, document) = (page.run("return location.href"), page.browser.run_until_done(made));
    assert!(document.as_str().expect("text").contains("\"device\":\"xavier\""), "{document}");

    let other = Page { browser: Browser::start() };
    other.browser.go(address.as_str().expect("text"));
    other.wait("window.gpusched?.page?.drawn > 0 && !gpusched.page.isBusy");
    assert_eq!(other.browser.run_until_done(made), document);
    assert_eq!(other.text("command"), command);
    assert_eq!(other.run("return document.querySelector('[data-kernel=K1]').value"), "50");
    // An address that was cut off is told of.
    other.run("location.hash = location.hash.slice(0, 60)");
    other.wait("document.getElementById('message').textContent.includes('the address holds nothing')");
    // Also where the page begins with it: the first scenario is shown then, and why not another one stays beside it.
    for wrong in ["v1=abc", "v2=abc"] {
        other.browser.go(&format!("file://{}#{wrong}", file().display()));
        other.run("location.reload()");
        other.wait("window.gpusched?.page?.drawn > 0 && !gpusched.page.isBusy");
        other.wait(
            "document.getElementById('status').textContent.startsWith('the address holds nothing that can be read')",
        );
        // With the edits that this browser has of it by now.
        other.wait("document.getElementById('status').textContent.includes('shared: ')");
    }
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn a_line_of_a_device_file_is_not_marked_in_the_scenario() {
    let page = Page::open();
    page.run("gpusched.page.settings.setFile('device', 'own.json', '{\\n\"name\": 3}')");
    page.wait("document.getElementById('message').textContent.startsWith('error: own.json:')");
    assert_eq!(page.run("return document.getElementById('mark').hidden"), true);
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn a_long_run_leaves_the_page_free_and_is_stopped() {
    let page = Page::open();
    let endless = r#"{"format": "gpusched-scenario/1", "name": "long", "device": "tx2", "horizon": "100000 s",
        "kernels": {"K": {"blocks": 64, "threads": 512, "duration": "10 us"}},
        "streams": [{"name": "S", "period": "1 ms", "operations": [{"kernel": "K"}]}]}"#;
    page.write(endless);
    page.wait("!document.getElementById('stop').hidden && document.getElementById('status').textContent.startsWith('simulating')");
    // The page answers meanwhile.
    let begin = Instant::now();
    page.run("document.querySelector('[data-panel=changes]').click()");
    page.browser.wait_until_idle();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    page.run("document.getElementById('stop').click()");
    let status = page.text("status");
    assert!(status.starts_with("the simulation was stopped after "), "{status}");
    assert_eq!(page.run("return document.getElementById('again').hidden"), false);
    // Typing on ends a long run by itself.
    page.write(&endless.replace("\"long\"", "\"longer\""));
    page.wait("!document.getElementById('stop').hidden");
    let drawn = page.drawn();
    page.write(FIGURE_3);
    page.wait_until_drawn(&drawn);
    assert_eq!(page.run("return document.getElementById('again').hidden"), true);
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn a_panic_is_told_and_the_page_goes_on() {
    let page = Page::open();
    let (is_answered, said) = page.ask("figure-3.json", FIGURE_3.as_bytes(), &json!({}), "panic");
    assert!(!is_answered && said.starts_with("panicked at ") && said.ends_with("this one was asked for"), "{said}");
    let (is_answered, _) = page.ask("figure-3.json", FIGURE_3.as_bytes(), &json!({}), "simulate");
    assert!(is_answered, "the next question has a new instance");
    // In the page itself.
    page.run(
        "const {page} = gpusched; page.timeline.ask({...page.question, wants: ['panic']}, (answer) => page.hear(answer, 0))",
    );
    page.wait("document.getElementById('message').textContent.startsWith('the run broke: panicked at ')");
    let drawn = page.drawn();
    page.write(&FIGURE_3.replace("RTSS 2017, figure 3", "after it"));
    page.wait_until_drawn(&drawn);
    assert_eq!(page.run(&format!("{FRAME} return frame.app.runs[0].scenario")), "after it");
}
