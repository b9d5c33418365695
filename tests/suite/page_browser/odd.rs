//! Odd names in tables and addresses, and addresses that hold too much or what they should not.

use std::io::Write;
use std::process::Command;

use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use flate2::write::DeflateEncoder;
use flate2::{Compress, Compression, FlushCompress};

use super::*;
use crate::odd_names::{ODD_NAMES, scenario};

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
    // The tables follow the timeline.
    let first = serde_json::to_string(ODD_NAMES[0]).expect("text");
    for part in ["simulated", "analysed"] {
        page.wait(&format!("document.querySelectorAll('#{part} table').length === 2"));
        page.wait(&format!("document.querySelector('#{part} table').rows[1].cells[0].textContent === {first}"));
    }
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
    assert_eq!(page.run("return window.broken === undefined"), true);
    page.screenshot("odd");
    page.is_quiet();
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
        page.is_quiet();
    }
}

/// The part of an address behind # that holds a state.
fn address_of(state: &Value) -> String {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::best());
    packer.write_all(state.to_string().as_bytes()).expect("memory takes it");
    format!("v1={}", BASE64_URL_SAFE_NO_PAD.encode(packer.finish().expect("memory takes it")))
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn an_address_with_odd_names_shows_them_on_its_sliders_and_in_its_command() {
    let page = Page::open();
    let file = "-O2 <script>'\"|\\ 👩\u{200d}💻 \u{202e}abc\u{1b}[31m\\.json";
    // As many as have sliders.
    for names in ODD_NAMES.chunks(40) {
        let settings = |value: Value| Value::Object(names.iter().map(|name| ((*name).into(), value.clone())).collect());
        let state = json!({"file": file, "text": scenario(names), "set_priority": settings((-1).into()),
            "set_block_time": settings("2000000 ns".into())});
        let drawn = page.drawn();
        page.run(&format!("location.hash = '{}'", address_of(&state)));
        page.wait_until_drawn(&drawn);
        assert_eq!(page.text("message"), "");
        let sliders = page.run(
            "return [...document.querySelectorAll('#sliders label')].map((label) =>
                 [label.querySelector('input').ariaLabel, label.querySelector('output').textContent])",
        );
        let time = |name: &&str| json!([format!("{name}: block time"), "2 ms"]);
        let priority = |name: &&str| json!([format!("{name}: priority"), "-1 (highest)"]);
        assert_eq!(sliders, Value::Array(names.iter().map(time).chain(names.iter().map(priority)).collect()));
        // The command is one that a shell takes apart into the same names.
        let command = page.text("command").replacen("gpusched", "printf '%s\\0'", 1);
        let words = Command::new("sh").args(["-c", &command]).output().expect("sh is there").stdout;
        let words: Vec<&str> = str::from_utf8(&words).expect("text").split_terminator('\0').collect();
        assert_eq!(words[..2], ["simulate", &format!("./{file}")]);
        for (name, (option, value)) in names
            .iter()
            .flat_map(|name| [("--set-priority", "-1"), ("--set-block-time", "2000000ns")].map(|set| (name, set)))
        {
            let (apart, together) = (format!("{name}={value}"), format!("{option}={name}={value}"));
            let is_there = words.contains(&&*together) || words.windows(2).any(|two| two == [option, &*apart]);
            assert!(is_there, "{together:?} is not in {words:?}");
        }
    }
    assert_eq!(page.run("return window.broken === undefined"), true);
    page.is_quiet();
}

#[test]
#[ignore = "needs chromium, chromedriver and the page"]
fn what_is_wrong_with_an_address_is_said_once() {
    let page = Page::open();
    page.run("const {page} = gpusched; const restore = page.restore; window.restored = 0; page.restore = function () { restored += 1; return restore.call(page); }");
    let unknown = |key: &str| format!("the address holds {key:?}, which this page sets otherwise or not at all");
    let unread = "the address holds nothing that can be read; was it cut off?".to_owned();
    let wrong = [
        ("v1=%00<script>".to_owned(), unread.clone()),
        ("v2=abc".to_owned(), unread.clone()),
        ("v1=".to_owned() + &"A".repeat(60), unread),
        (address_of(&json!([1])), "the address names no file".to_owned()),
        (address_of(&json!({"text": "{}"})), "the address names no file".to_owned()),
        (address_of(&json!({"file": "x", "text": "{}", "<b>": 1})), unknown("<b>")),
        (address_of(&json!({"file": "x", "text": 1})), unknown("text")),
        (address_of(&json!({"file": "x", "text": "{}", "set_priority": {"S": "1"}})), unknown("set_priority")),
        (address_of(&json!({"file": "x", "text": "{}", "set_block_time": {"K": 2}})), unknown("set_block_time")),
        (address_of(&json!({"file": "x"})), "the address names no scenario".to_owned()),
        (
            address_of(&json!({"file": "x", "shipped": "<i>"})),
            "the address names a scenario that this page does not have: <i>".to_owned(),
        ),
    ];
    for (hash, message) in &wrong {
        page.run(&format!("location.hash = {}", json!(hash)));
        page.wait(&format!(
            "document.getElementById('message').textContent === {}",
            json!(format!("error: {message}"))
        ));
        let drawn = page.drawn();
        for blanks in 1..4 {
            page.write(&format!("{FIGURE_3}{}", " ".repeat(blanks)));
        }
        page.wait_until_drawn(&drawn);
        assert_eq!(page.text("message"), "", "it was said");
        // What is shown takes the place of what was refused, also where it is what it was before.
        page.wait(&format!("location.hash.startsWith('#v1=') && location.hash.slice(1) !== {}", json!(hash)));
    }
    assert_eq!(page.run("return restored"), wrong.len());
    // What the library refuses is said in its words.
    for (setting, message) in [
        ("device", "no built-in device and no file is called \"<b>\"; built in are "),
        ("placement", "placement: expected one of most-room, "),
    ] {
        page.run(&format!(
            "location.hash = '{}'",
            address_of(&json!({"file": "x", "text": FIGURE_3, (setting): "<b>"}))
        ));
        let said = format!("error: {message}");
        page.wait(&format!("document.getElementById('message').textContent.startsWith({})", json!(said)));
    }
    page.is_quiet();
}
