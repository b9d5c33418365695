//! How fast the page is. Limits are wide, for machines that do other things as well; `--nocapture` shows what was
//! measured.

use super::*;

/// Medians of several.
const REPEATS: usize = 9;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// So many kernels of so many blocks, in 8 streams.
fn scenario(kernels: usize, blocks: usize) -> String {
    let streams = (0..8).map(|stream| {
        let operations = vec![r#"{"kernel": "K"}"#; kernels / 8].join(", ");
        format!(r#"{{"name": "S{stream}", "operations": [{operations}]}}"#)
    });
    format!(
        r#"{{"format": "gpusched-scenario/1", "name": "{kernels} kernels", "device": "tx2",
            "kernels": {{"K": {{"blocks": {blocks}, "threads": 256, "duration": "1 ms"}}}},
            "streams": [{}]}}"#,
        streams.collect::<Vec<_>>().join(", ")
    )
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn the_timeline_follows_typing_at_once() {
    let page = Page::open();
    for (what, text) in [("figure 3", FIGURE_3.to_owned()), ("10,000 blocks", scenario(1248, 8) + "\n")] {
        page.write(&text);
        page.wait("!gpusched.page.isBusy && gpusched.page.analysis.since === null");
        let one = |_| {
            let drawn = page.drawn();
            let text = serde_json::to_string(&format!("{text} ")).expect("text");
            let script = format!(
                "const area = document.getElementById('text'); area.value = {text} + ' '.repeat(Math.random() * 9); area.dispatchEvent(new Event('input'))"
            );
            page.run(&script);
            page.wait_until_drawn(&drawn);
            page.run("return gpusched.page.drawnIn").as_f64().expect("a number")
        };
        let all: Vec<f64> = (0..REPEATS).map(one).collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let median = median(all);
        eprintln!("{what}: drawn {median:.0} ms after typing (median; least {least:.0} ms)");
        assert!(least < 1000.0, "{what}: {least} ms");
    }
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn something_is_seen_at_once_and_the_timeline_soon() {
    let page = Page::open();
    let times: Vec<[f64; 2]> = (0..REPEATS)
        .map(|_| {
            page.browser.open(&file());
            page.wait("window.gpusched?.page?.drawn > 0");
            let times = page.run(
                "return [performance.getEntriesByName('first-contentful-paint')[0].startTime,
                     performance.getEntriesByName('timeline')[0].startTime]",
            );
            serde_json::from_value(times).expect("two numbers")
        })
        .collect();
    for (at, what, most) in [(0, "something", 1000.0), (1, "the timeline", 5000.0)] {
        let all: Vec<f64> = times.iter().map(|times| times[at]).collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        eprintln!("{what} is seen after {:.0} ms (median; least {least:.0} ms)", median(all));
        assert!(least < most, "{what}: {least} ms");
    }
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn a_module_in_the_browser_runs_20_000_kernels_of_8_blocks() {
    let page = Page::open();
    let text = scenario(20_000, 8);
    // Reading, simulating and the rows of kernels as JSON, as the command does with --format json.
    let script = format!(
        "const {{Engine, module}} = gpusched; const engine = new Engine(module);
         const times = []; let rest = {REPEATS};
         const next = async () => {{
             const content = new TextEncoder().encode({} + ' '.repeat(rest));
             await engine.ask({{content, settings: {{file: 'x.json'}}, wants: ['simulate']}}, ({{ms}}) => times.push(ms));
             rest -= 1;
             if (rest > 0) next(); else done(times);
         }};
         next();",
        serde_json::to_string(&text).expect("text")
    );
    let times = page.browser.run_until_done(&script);
    let times: Vec<f64> = times.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let file = directory("page_speed").join("20000.json");
    std::fs::write(&file, &text).expect("it can be written");
    eprintln!("{}: {:.0} ms in the browser (median; least {least:.0} ms)", file.display(), median(times));
}
