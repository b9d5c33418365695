//! Odd names, and addresses that somebody else made: all of it is text, and none of it ends the page.

use std::io::Write;

use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use flate2::write::DeflateEncoder;
use flate2::{Compress, Compression, FlushCompress};

use super::*;
use crate::odd_names::{ODD_NAMES, scenario};

/// Kernels and streams that have sliders.
const SLIDERS: usize = 40;

/// Cells of each row, without titles, of each table below an element.
fn tables(page: &Page, below: &str) -> Vec<Vec<Vec<String>>> {
    let script = format!(
        "return [...document.querySelectorAll('#{below} table')].map((table) => [...table.rows].slice(1).map((row) =>
             [...row.cells].map((cell) => cell.textContent)))"
    );
    serde_json::from_value(page.run(&script)).expect("lists of text")
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn every_odd_name_is_on_the_page_as_it_is() {
    let page = Page::open();
    let drawn = page.drawn();
    page.write(&scenario(ODD_NAMES));
    page.wait_until_drawn(&drawn);
    page.wait("document.querySelectorAll('#analysed table').length === 2");
    let (simulated, analysed) = (tables(&page, "simulated"), tables(&page, "analysed"));
    assert_eq!((simulated.len(), analysed.len()), (2, 2));
    let firsts = [(&simulated[0], 0..2), (&simulated[1], 0..1), (&analysed[0], 0..1), (&analysed[1], 0..1)];
    for (table, columns) in firsts {
        for column in columns {
            let cells: Vec<&str> = table.iter().map(|row| row[column].as_str()).collect();
            assert_eq!(cells, ODD_NAMES, "column {column}");
        }
        assert!(table.iter().all(|row| row.len() == table[0].len()), "cells are neither cut nor merged");
    }
    let frame = page.run(&format!("{FRAME} return frame.app.runs[0].scenario"));
    assert_eq!(frame, crate::odd_names::SCRIPT);
    for names in ODD_NAMES.chunks(SLIDERS) {
        let drawn = page.drawn();
        page.write(&scenario(names));
        page.wait_until_drawn(&drawn);
        for kind in ["kernel", "stream"] {
            let sliders = page.run(&format!(
                "return [...document.querySelectorAll('[data-{kind}]')].map((slider) => slider.dataset.{kind})"
            ));
            assert_eq!(sliders, json!(names), "a slider of each {kind}");
        }
        let drawn = page.drawn();
        page.run(
            "for (const [selector, value] of [['[data-kernel]', 50], ['[data-stream]', 1]])
                 for (const slider of document.querySelectorAll(selector)) {
                     slider.value = value;
                     slider.dispatchEvent(new Event('input'));
                 }",
        );
        page.wait_until_drawn(&drawn);
        page.wait("!gpusched.page.isBusy");
        let made = "gpusched.page.made('json').then(({blob}) => blob.text()).then(done)";
        let document = page.browser.run_until_done(made);
        let run: Value = serde_json::from_str(document.as_str().expect("text")).expect("JSON");
        let kernels = run["kernels"].as_array().expect("a list");
        assert_eq!(kernels.len(), names.len());
        for (kernel, name) in kernels.iter().zip(names) {
            assert_eq!(kernel["title"], *name);
            let took =
                kernel["finish_ns"].as_u64().zip(kernel["first_start_ns"].as_u64()).map(|(end, begin)| end - begin);
            assert_eq!(took, Some(3_160_000), "{name:?} has the block time of its slider");
        }
        // And the address has it all.
        page.run("document.getElementById('share').click()");
        page.wait("/copied|address/.test(document.getElementById('share').textContent)");
        let address = page.run("return location.href");
        let other = Page { browser: Browser::start() };
        other.browser.go(address.as_str().expect("text"));
        other.wait("window.gpusched?.page?.drawn > 0 && !gpusched.page.isBusy");
        assert_eq!(other.browser.run_until_done(made), document);
        other.is_quiet();
    }
    assert_eq!(page.run("return window.broken === undefined"), true);
    page.screenshot("odd");
    page.is_quiet();
}

/// The address of a state.
fn address(state: &Value) -> String {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(state.to_string().as_bytes()).expect("memory takes it");
    format!("v1={}", BASE64_URL_SAFE_NO_PAD.encode(packed.finish().expect("memory takes it")))
}

/// An address that holds so many MB of blanks.
fn of_blanks(megabytes: usize) -> String {
    let mut packer = Compress::new(Compression::best(), false);
    let mut one = Vec::with_capacity(1 << 16);
    // What ends with a flush can be repeated.
    packer.compress_vec(&vec![b' '; 1_000_000], &mut one, FlushCompress::Full).expect("it can be packed");
    assert_eq!(packer.total_in(), 1_000_000);
    let mut packed = one.repeat(megabytes);
    packed.extend(DeflateEncoder::new(Vec::new(), Compression::best()).finish().expect("it is empty"));
    format!("v1={}", BASE64_URL_SAFE_NO_PAD.encode(packed))
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn an_address_that_holds_too_much_is_refused_at_once() {
    let long = of_blanks(1_500);
    assert!((1_500_000..2_000_000).contains(&long.len()), "{}", long.len());
    let dense = of_blanks(140);
    assert!(dense.len() < 200_000, "{}", dense.len());
    let characters = format!("the address has {} characters, and this page makes none of more than 200000", long.len());
    for (hash, message) in
        [(&long, characters.as_str()), (&dense, "the address holds more than 16 MB, and this page makes none such")]
    {
        let page = Page::open();
        let begin = Instant::now();
        page.run(&format!("location.hash = '{hash}'"));
        page.wait(&format!("document.getElementById('message').textContent === 'error: {message}'"));
        // 1.5 GB take far longer than that to inflate.
        assert!(begin.elapsed() < Duration::from_mins(1), "{:?}", begin.elapsed());
        // Also where the page begins with it: the first scenario is shown then.
        page.run("location.reload()");
        page.wait("window.gpusched?.page?.drawn > 0 && !gpusched.page.isBusy");
        page.wait(&format!(
            "document.getElementById('status').textContent.startsWith('{message}; RTSS 2017, figure 3')"
        ));
        page.is_quiet();
    }
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn an_address_sets_what_the_page_sets_and_nothing_else() {
    let page = Page::open();
    for state in [
        json!(null),
        json!([]),
        json!({"text": "{}"}),
        json!({"file": 5, "text": "{}"}),
        json!({"file": "a", "text": 5}),
        json!({"file": "a", "text": "{}", "changed": "x"}),
        json!({"file": "a", "text": "{}", "priorities": "x"}),
        json!({"file": "a", "text": "{}", "priorities": {"S": "1"}}),
        json!({"file": "a", "text": "{}", "block_times": {"K": 5}}),
        json!({"file": "a", "text": "{}", "device": {}}),
    ] {
        page.run(&format!("location.hash = '{}'", address(&json!({"file": "figure-3.json", "text": FIGURE_3}))));
        page.wait("document.getElementById('message').hidden && !gpusched.page.isBusy");
        page.run(&format!("location.hash = '{}'", address(&state)));
        page.wait("document.getElementById('message').textContent.startsWith('error: the address holds nothing that can be read')");
    }
    let drawn = page.drawn();
    page.write(&FIGURE_3.replace("RTSS 2017, figure 3", "after it"));
    page.wait_until_drawn(&drawn);
    page.is_quiet();
}
