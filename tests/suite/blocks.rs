//! docs/blocks.md: every block of the published figures, print beside the simulation.

use std::collections::BTreeMap;
use std::path::Path;

use gpusched::hosts::simulate;
use gpusched::workload::{OperationId, OperationKind};

use crate::published::figure;

/// A block by its kernel and number, and on which SM it is, and when it starts, as the page writes it.
type Places = BTreeMap<(String, u32), (String, String)>;

/// One figure of the page.
struct Section<'p> {
    heading: &'p str,
    scenario: &'p str,
    rows: Vec<[&'p str; 6]>,
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/blocks.md");
    std::fs::read_to_string(path).expect("it is there")
}

fn sections(page: &str) -> Vec<Section<'_>> {
    let read = |section| {
        let (heading, text): (&str, &str) = str::split_once(section, '\n').expect("there is text below the heading");
        let command = text.split('`').nth(1).expect("the command stands first");
        let scenario = command.strip_prefix("gpusched simulate ").and_then(|rest| rest.strip_suffix(" --blocks"));
        let rows = text.lines().filter(|line| line.starts_with("| K")).map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            cells.try_into().unwrap_or_else(|cells| panic!("six columns: {cells:?}"))
        });
        Section { heading, scenario: scenario.expect("it lists blocks"), rows: rows.collect() }
    };
    page.split("\n## ").skip(1).map(read).collect()
}

fn simulated(file: &str) -> Places {
    let name = file.strip_prefix("scenarios/").and_then(|name| name.strip_suffix(".json"));
    let scenario = figure(name.expect("a shipped scenario"));
    let trace = simulate(&scenario).expect("it runs").trace;
    let mut places = Places::new();
    for (id, operation) in (0..).map(OperationId).zip(trace.operations()) {
        let OperationKind::Kernel(kernel) = operation.kind else { continue };
        let title = &scenario.kernels()[kernel.index()].title;
        for block in trace.blocks(id) {
            let before =
                places.insert((title.to_string(), block.index), (block.sm.to_string(), block.start.to_string()));
            assert!(before.is_none(), "{file}: {title} is launched twice");
        }
    }
    places
}

fn stated(section: &Section<'_>) -> Places {
    let mut places = Places::new();
    for [blocks, _, sm, _, start, _] in &section.rows {
        let (kernel, numbers) = blocks.split_once(": ").expect("a kernel and its blocks");
        for number in numbers.split(", ") {
            let key = (kernel.to_owned(), number.parse().expect("a number"));
            let before = places.insert(key, ((*sm).to_owned(), (*start).to_owned()));
            assert!(before.is_none(), "{}: {blocks} stands there twice", section.heading);
        }
    }
    places
}

#[test]
fn every_block_is_where_and_when_the_page_says_ours_is() {
    let page = page();
    let sections = sections(&page);
    assert!(sections.len() >= 20);
    for section in &sections {
        assert_eq!(stated(section), simulated(section.scenario), "{}", section.heading);
    }
}

#[test]
fn every_row_has_what_is_published_and_a_reason_where_ours_differs() {
    let page = page();
    for section in sections(&page) {
        assert!(!section.rows.is_empty(), "{}", section.heading);
        for row in section.rows {
            let [blocks, published_sm, sm, published_start, start, reason] = row;
            assert!(row.iter().all(|cell| !cell.is_empty()), "{}: {blocks}", section.heading);
            let differs = published_sm != sm || published_start != start;
            assert_eq!(differs, reason != "-", "{}: {blocks}", section.heading);
        }
    }
}
