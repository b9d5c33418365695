//! The band of turns, and blocks and copies that stand still in those of others.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::driver::Browser;
use super::{SIZES, directory, is_quiet, lines, number, place, written};
use crate::figure_samples::two_halves;

const MS: u64 = 1_000_000;

/// The page of two processes with a kernel each on half of a TX2, for so many ms, in slices of 1 ms with switches of
/// 500 us, and a copy of the first.
fn two(name: &str, run_ms: u64) -> PathBuf {
    let mut file = two_halves(run_ms);
    file["name"] = name.into();
    let copy = json!({"name": "P2", "process": "P", "operations": [{"copy": "host-to-device", "duration": "1500 us"}]});
    file["streams"].as_array_mut().expect("a list").insert(1, copy);
    let path = directory().join(format!("{name}.json"));
    std::fs::write(&path, file.to_string()).expect("the build directory can be written");
    written(name, &["simulate", path.to_str().expect("a plain path")])
}

/// Where a time is in the middle of the first row of a kind.
fn in_row(browser: &Browser, kind: &str, ns: u64) -> (f64, f64) {
    let at = browser.run(&format!(
        "const {{app}} = gpusched; const row = app.layout.rows.find((other) => other.kind === '{kind}');
         const box = app.canvas.getBoundingClientRect();
         return [box.left + app.view.xOf({ns}n), box.top + row.top + row.height / 2 + 28 - app.scroll()];"
    ));
    (at[0].as_f64().expect("a number"), at[1].as_f64().expect("a number"))
}

/// What is said under the pointer.
fn tip(browser: &Browser, (x, y): (f64, f64)) -> Vec<String> {
    browser.point(x, y, false);
    lines(browser, "#tip p")
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_band_tells_whose_turn_it_is_and_blocks_and_copies_how_long_they_paused() {
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    // P 0-1, switch, Q 1.5-2.5, switch, P 3-4, switch, Q 4.5-5.5.
    browser.open(&two("turns", 2));
    let band = |us: u64| tip(&browser, in_row(&browser, "turns", us * 1_000));
    assert_eq!(band(500), ["turn of P", "from 0 s to 1 ms (1 ms)", "ended by: time slice"]);
    assert_eq!(band(1_250), ["switch of contexts", "from 1 ms to 1.5 ms (500 us)"]);
    assert_eq!(band(5_000), ["turn of Q", "from 4.5 ms to 5.5 ms (1 ms)", "ended by: no work"]);
    // In the middle of Q's turn its block is there, and that of P pauses.
    let block = |at: u64| tip(&browser, place(&browser, 0, 0, 5.0, at));
    let ran = |process: &str| format!("ran for 2 ms in turns of {process}, paused once for 2 ms in all");
    assert_eq!(block(2 * MS)[..3], ["B, block 0 of 2, SM 0", "from 1.5 ms to 5.5 ms (4 ms)", ran("Q").as_str()]);
    assert_eq!(block(7 * MS / 2)[..3], ["A, block 0 of 2, SM 0", "from 0 s to 4 ms (4 ms)", ran("P").as_str()]);
    // The copies of the TX2 run in turns, too (T5).
    let copy = tip(&browser, in_row(&browser, "copy", MS / 2));
    assert_eq!(copy[1], "from 0 s to 3.5 ms (3.5 ms)");
    assert_eq!(copy[2], "ran for 1.5 ms in turns of P, paused once for 2 ms in all");
    browser.run("document.querySelector('#processes button[data-name=Q]').click()");
    let faded = browser.run("return [...gpusched.app.highlight.faded(gpusched.app.runs[0])]");
    assert_eq!(faded, Value::from([1, 1, 0].to_vec()));
    browser.wait_until_idle();
    browser.screenshot(&directory().join("turns-highlighted.png"));
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn turns_too_narrow_to_see_are_shares_that_do_not_depend_on_where_one_looks() {
    let browser = Browser::start();
    let page = two("many-turns", 1_000);
    for (size, dark) in [(SIZES[0], false), (SIZES[2], true)] {
        browser.look(size, dark);
        browser.open(&page);
        let told = tip(&browser, in_row(&browser, "turns", 1_500 * MS));
        assert!(told[0].starts_with("shares of time around"), "{told:?}");
        assert_eq!(told[1..], ["turn of P: 33.3 %", "turn of Q: 33.3 %", "switch of contexts: 33.3 %"]);
        // But for the edges every column has the same: a third each, as the whole time has.
        let spread = number(
            &browser,
            "return Math.max(...gpusched.turnShares().map((shares) => {
               const inside = [...shares].slice(60, -60);
               return Math.max(...inside) - Math.min(...inside);
             }));",
        );
        assert!(spread < 0.02, "{spread} at {size:?}");
        let name = format!("many-turns-{}{}.png", size.0, if dark { "-dark" } else { "" });
        browser.screenshot(&directory().join(name));
        // Near enough they are seen one by one.
        browser.run("gpusched.app.view.show(1500000000n, 1505000000n); gpusched.app.resize();");
        let told = tip(&browser, in_row(&browser, "turns", 1_500 * MS + 500_000));
        assert!(told[0].starts_with("turn of") || told[0].starts_with("switch"), "{told:?}");
        is_quiet(&browser);
    }
}
