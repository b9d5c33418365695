//! The page before an audience: room for the timeline, edits that stay, scenes, words of rules, and fields for options.

use super::*;
use crate::common::gpusched_in;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn number(page: &Page, script: &str) -> f64 {
    page.run(script).as_f64().expect("a number")
}

/// Chooses a scenario from the list.
fn choose(page: &Page, name: &str) {
    let drawn = page.drawn();
    page.run(&format!(
        "const list = document.getElementById('scenario'); list.value = {}; list.dispatchEvent(new Event('change'))",
        json!(name)
    ));
    page.wait_until_drawn(&drawn);
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn the_timeline_has_two_thirds_of_the_window_and_k5_s_bar_is_in_sight() {
    let page = Page::open();
    for (width, height) in [(1280, 720), (1600, 1000)] {
        page.browser.look((width, height), false);
        page.browser.wait_until_idle();
        let share = number(
            &page,
            &format!(
                "{FRAME} const {{width, height}} = frame.app.canvas.getBoundingClientRect();
                 return width * height / (innerWidth * innerHeight)"
            ),
        );
        assert!(share >= 2.0 / 3.0, "{width} x {height}: {share}");
        // The bar is in the row of S3, the last one.
        let bottom = number(
            &page,
            &format!(
                "{FRAME} const row = frame.app.layout.rows.at(-1);
                 return document.getElementById('timeline').getBoundingClientRect().top
                     + frame.app.canvas.getBoundingClientRect().top + 28 + row.top + row.height"
            ),
        );
        assert!(bottom <= f64::from(height), "{width} x {height}: {bottom}");
        page.screenshot(&format!("first-{width}x{height}"));
    }
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn tables_analysis_and_rules_are_behind_tabs() {
    let page = Page::open();
    page.browser.look((1280, 720), false);
    page.wait("document.querySelector('#analysed table')");
    let shown = "const {left, top, width} = document.getElementById('output').getBoundingClientRect();
         const at = document.elementFromPoint(left + width / 2, top + 20); return at.closest('#output > *').id";
    for (panel, id) in [
        ("simulated", "simulated"),
        ("analysed", "analysed"),
        ("rules", "rules"),
        ("waits", "timeline"),
        ("timeline", "timeline"),
    ] {
        page.run(&format!("document.querySelector('#views [data-panel={panel}]').click()"));
        page.browser.wait_until_idle();
        page.screenshot(&format!("tab-{panel}"));
        assert_eq!(page.run(shown), id, "{panel}");
        let is_report =
            "return document.getElementById('timeline').contentDocument.getElementById('report').offsetWidth > 0";
        assert_eq!(page.run(is_report), panel == "waits", "{panel}");
    }
    // A rule's name in a table leads to its words.
    page.run("document.querySelector('#simulated [data-rule=R3]').click()");
    page.browser.wait_until_idle();
    assert_eq!(page.run(shown), "rules");
    let words = page.run("return document.querySelector('#rules .chosen').textContent");
    assert!(
        words.as_str().expect("text").contains("as much of its shared memory is free as the block takes"),
        "{words}"
    );
    assert!(words.as_str().expect("text").contains("to be seen in gpusched simulate scenarios/rtss2017"), "{words}");
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn the_edge_beside_the_editor_is_moved_by_pointer_and_keys_and_hides_it() {
    let page = Page::open();
    page.browser.look((1280, 720), false);
    page.browser.wait_until_idle();
    let width = || number(&page, "return document.getElementById('input').offsetWidth");
    let edge = || number(&page, "return document.getElementById('splitter').getBoundingClientRect().left + 3");
    page.browser.drag("mouse", (edge(), 400.0), (500.0, 400.0));
    assert!((width() - 500.0).abs() < 2.0, "{}", width());
    page.run("document.getElementById('splitter').focus()");
    page.browser.keys("\u{E012}");
    assert!((width() - 476.0).abs() < 2.0, "{}", width());
    page.browser.keys("\u{E007}");
    assert!(width() == 0.0 && number(&page, "return document.getElementById('timeline').offsetWidth") > 1260.0);
    page.browser.keys("\u{E007}");
    assert!((width() - 476.0).abs() < 2.0, "{}", width());
    page.browser.drag("mouse", (edge(), 400.0), (40.0, 400.0));
    assert!(width() == 0.0, "{}", width());
    page.run("document.activeElement.blur()");
    page.browser.keys("e");
    assert!(width() > 200.0, "{}", width());
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn edits_are_there_again_when_their_scenario_is() {
    let page = Page::open();
    let edited = FIGURE_3.replace("RTSS 2017, figure 3", "edited");
    let drawn = page.drawn();
    page.write(&edited);
    page.run(
        "const list = document.getElementById('placement'); list.value = 'round-robin'; list.dispatchEvent(new Event('change'))",
    );
    page.wait_until_drawn(&drawn);
    choose(&page, "ospert2017/figure-4.json");
    let text = "return document.getElementById('text').value";
    assert_ne!(page.run(text), edited);
    assert!(!page.text("command").contains("round-robin"));
    choose(&page, "rtss2017/figure-3.json");
    assert_eq!(page.run(text), edited);
    assert!(page.text("command").contains("round-robin"));
    page.wait("document.getElementById('status').textContent.startsWith('with your edits')");
    let listed = "return document.getElementById('scenario').selectedOptions[0].textContent";
    assert_eq!(page.run(listed), "rtss2017/figure-3.json (edited)");
    // A file of one's own, and the page closed and opened again.
    page.drop("own.json", FIGURE_3.replace("RTSS 2017, figure 3", "own").as_bytes());
    page.wait("document.getElementById('timeline').contentWindow.gpusched.app.runs[0].scenario === 'own'");
    page.wait("document.getElementById('scenario').value === 'own.json'");
    page.browser.go(&format!("file://{}?again", file().display()));
    page.wait("window.gpusched?.page?.drawn > 0 && !gpusched.page.isBusy");
    assert_eq!(page.run(text), edited);
    // And back to what is shipped, and to the edits again.
    for (button, expected) in [("as shipped", FIGURE_3), ("my edits", &edited)] {
        assert_eq!(page.text("revert"), button);
        let drawn = page.drawn();
        page.run("document.getElementById('revert').click()");
        page.wait_until_drawn(&drawn);
        assert_eq!(page.run(text), expected);
    }
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn without_storage_edits_are_kept_while_the_page_is_open() {
    let page = Page::open();
    page.run("Object.defineProperty(window, 'localStorage', {get() { throw new Error('none'); }})");
    let edited = FIGURE_3.replace("RTSS 2017, figure 3", "edited");
    let drawn = page.drawn();
    page.write(&edited);
    page.wait_until_drawn(&drawn);
    choose(&page, "ospert2017/figure-4.json");
    assert_eq!(
        page.run("return gpusched.page.opened.drafts.isAtRisk"),
        true,
        "so the browser asks before it closes the page"
    );
    choose(&page, "rtss2017/figure-3.json");
    assert_eq!(page.run("return document.getElementById('text').value"), edited);
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn a_presentation_goes_by_keys_from_scene_to_scene() {
    let page = Page::open();
    page.browser.look((1280, 720), false);
    page.browser.keys("f");
    let heading = "return document.querySelector('#scene h2').textContent";
    assert_eq!(page.run(heading), "Why does K5 wait?", "the scene of what is open");
    page.browser.wait_until_idle();
    page.screenshot("presenting");
    assert_eq!(
        page.run("return document.querySelector('header').offsetWidth + document.getElementById('input').offsetWidth"),
        0
    );
    // Larger, and as sharp.
    let large = page.run(&format!(
        "{FRAME} const box = document.getElementById('timeline').getBoundingClientRect();
         return [box.width / frame.app.scroller.ownerDocument.defaultView.innerWidth, frame.app.canvas.width / frame.app.size.width]"
    ));
    assert!(large[0].as_f64() > Some(1.2) && large[1].as_f64() > Some(1.2), "{large}");
    // Also where the timeline has the focus.
    let (mut drawn, seen) =
        (page.drawn(), "return document.getElementById('timeline').contentWindow.gpusched.app.runs[0].scenario");
    page.run("document.getElementById('timeline').contentDocument.getElementById('figure').focus()");
    for (key, title, scenario) in [
        ("\u{E012}", "Deadlines", "camera and lidar"),
        ("\u{E00E}", "Copies", "Two frames, copied and computed at once"),
        ("\u{E00E}", "The NULL stream", "RTSS 2017, figure 5"),
        ("\u{E00F}", "Copies", "Two frames, copied and computed at once"),
    ] {
        page.browser.keys(key);
        page.wait_until_drawn(&drawn);
        drawn = page.drawn();
        assert_eq!((page.run(heading), page.run(seen)), (title.into(), scenario.into()));
    }
    page.browser.keys("a");
    assert_eq!(page.run("return document.querySelector('#scene details').open"), true);
    page.screenshot("presenting-answer");
    page.browser.keys("?");
    assert_eq!(page.run("return document.getElementById('keys').open"), true);
    page.screenshot("keys");
    page.browser.keys("\u{E00C}\u{E00C}");
    assert_eq!(page.run("return document.body.classList.contains('presenting')"), false);
    assert_eq!(page.run("return document.getElementById('scenario').value"), "events/double-buffering.json");
    // What was written over the text of a scene is in front of all scenes, as a file of one's own is.
    choose(&page, "rtss2017/figure-3.json");
    let drawn = page.drawn();
    page.write(&FIGURE_3.replace("RTSS 2017, figure 3", "own question"));
    page.wait_until_drawn(&drawn);
    page.run("document.activeElement.blur()");
    page.browser.keys("f");
    assert_eq!(page.run(heading), "own question");
    let drawn = page.drawn();
    page.browser.keys("\u{E014}");
    page.wait_until_drawn(&drawn);
    assert_eq!(page.run(heading), "One kernel");
    let drawn = page.drawn();
    page.browser.keys("\u{E012}");
    page.wait_until_drawn(&drawn);
    assert_eq!((page.run(heading), page.run(seen)), ("own question".into(), "own question".into()));
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn every_option_has_a_field_and_what_is_missing_can_be_set() {
    let page = Page::open();
    let fields = page.run(
        "return [...document.querySelectorAll('[data-option]')].map(({dataset}) => dataset.option)
             .concat(['device', 'placement', 'set_priority', 'set_block_time']).sort()",
    );
    let mut all: Vec<&str> = gpusched::input::options::OPTIONS.iter().map(|option| option.key).collect();
    all.sort_unstable();
    assert_eq!(fields, json!(all));
    page.write(
        r#"{"format": "gpusched-scenario/1", "name": "no time", "device": "tx2", "kernels": {"K": {"blocks": 1, "threads": 32}},
            "streams": [{"name": "S", "operations": [{"kernel": "K"}]}]}"#,
    );
    page.wait("document.getElementById('message').textContent.includes('block_duration')");
    let drawn = page.drawn();
    page.run("document.querySelector('[data-panel=options]').click()");
    page.screenshot("options");
    page.run(
        "const [name, value] = document.querySelectorAll('[data-option=block_duration] input');
         name.value = 'K'; value.value = '2 ms'; value.dispatchEvent(new Event('change', {bubbles: true}));",
    );
    page.wait_until_drawn(&drawn);
    let drawn = page.drawn();
    page.run(
        "const set = (key, value) => { const field = document.querySelector(`[data-option=${key}] input`); field.value = value;
             field.dispatchEvent(new Event('change', {bubbles: true})); };
         set('vary', '50..100'); set('seed', '7'); set('horizon', '10 s');",
    );
    page.wait_until_drawn(&drawn);
    assert_eq!(page.text("message"), "");
    let command = "gpusched simulate figure-3.json --block-duration K=2ms --vary 50..100 --seed 7 --horizon 10s";
    assert_eq!(page.text("command"), command);
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn the_command_beside_the_text_does_the_same_where_the_project_is() {
    let page = Page::open();
    let drawn = page.drawn();
    page.run(
        "const field = document.querySelector('[data-kernel=K1]'); field.value = '100'; field.dispatchEvent(new Event('input'))",
    );
    page.wait_until_drawn(&drawn);
    let command = page.text("command");
    assert_eq!(command, "gpusched simulate scenarios/rtss2017/figure-3.json --set-block-time K1=10s");
    let arguments: Vec<&str> = command.split(' ').skip(1).chain(["--format", "json"]).collect();
    let output = gpusched_in(Path::new(ROOT), &arguments);
    let made = page.browser.run_until_done("gpusched.made('json').then(({blob}) => blob.text()).then(done)");
    assert_eq!(made, String::from_utf8_lossy(&output.stdout).into_owned());
}
