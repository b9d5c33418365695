//! Odd names in tables, and addresses that hold too much.

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
