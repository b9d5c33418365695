//! Markdown as a reader of `CommonMark` with tables sees it: names are text, whatever they consist of.

use std::fs;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::common::{directory, gpusched, gpusched_in, json, stderr, stdout};
use crate::odd_names::{ODD_NAMES, scenario};

/// What a reader sees.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Cells of each row of each table, titles first.
    pub(crate) tables: Vec<Vec<Vec<String>>>,
    /// Lines of headings, paragraphs, lists and code.
    pub(crate) lines: Vec<String>,
}

/// Reads Markdown, in which there is to be nothing but text, tables, lists, headings and blocks of code.
#[track_caller]
pub(crate) fn seen(markdown: &str) -> Seen {
    let (mut seen, mut text) = (Seen::default(), String::new());
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Text(part) => text += &part,
            Event::SoftBreak => text += "\n",
            Event::Start(Tag::Table(_)) => seen.tables.push(Vec::new()),
            Event::Start(Tag::TableHead | Tag::TableRow) => {
                seen.tables.last_mut().expect("it is in a table").push(Vec::new());
            }
            Event::End(TagEnd::TableCell) => {
                let row = seen.tables.last_mut().and_then(|table| table.last_mut()).expect("it is in a row");
                row.push(std::mem::take(&mut text));
            }
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::CodeBlock) => {
                seen.lines.extend(std::mem::take(&mut text).lines().map(str::to_owned));
            }
            Event::Start(
                Tag::Paragraph | Tag::Heading { .. } | Tag::List(None) | Tag::Item | Tag::CodeBlock(_) | Tag::TableCell,
            )
            | Event::End(TagEnd::Table | TagEnd::TableHead | TagEnd::TableRow | TagEnd::List(false)) => {}
            other => panic!("{other:?} in {markdown}"),
        }
    }
    seen
}

/// The cells of a column.
pub(crate) fn column<'s>(table: &'s [Vec<String>], title: &str) -> Vec<&'s str> {
    let at = table[0].iter().position(|found| found == title).expect("there is such a column");
    table[1..].iter().map(|row| row[at].as_str()).collect()
}

#[test]
fn every_odd_name_is_one_cell_of_markdown_with_the_same_text() {
    let file = directory("markdown_names").join("names.json");
    fs::write(&file, scenario(ODD_NAMES)).expect("it can be written");
    let file = file.display().to_string();
    let document = json(&["simulate", &file, "--format", "json"]);
    let kernels = document["kernels"].as_array().expect("a list");
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel["title"].as_str().expect("text")).collect();
    assert_eq!(names, ODD_NAMES, "a kernel of each name was run");
    for (command, tables) in [
        (&["simulate"][..], &[("kernel", "stream"), ("jobs of", "jobs of")][..]),
        (&["analyze"], &[("jobs of", "jobs of"), ("kernel", "kernel")]),
        (&["compare"], &[("kernel", "kernel")]),
        (&["orders", "--samples", "1"], &[("kernel", "kernel")]),
    ] {
        let output = gpusched(&[command, &[file.as_str(), "--format", "markdown"]].concat());
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", stderr(&output));
        let markdown = stdout(&output);
        let seen = seen(&markdown);
        assert_eq!(seen.tables.len(), tables.len(), "{command:?}: {markdown}");
        for (table, columns) in seen.tables.iter().zip(tables) {
            for title in [columns.0, columns.1] {
                assert_eq!(column(table, title), names, "{command:?}, {title}");
            }
            assert!(
                table.iter().all(|row| row.len() == table[0].len()),
                "{command:?}: cells are neither cut nor merged"
            );
        }
    }
}

#[test]
fn names_in_lines_of_markdown_are_the_same_text() {
    let folder = directory("markdown_lines");
    // As headings above several scenarios.
    let names: Vec<String> = ODD_NAMES
        .iter()
        .filter(|name| !name.contains('/') && name.trim() == **name && !name.starts_with('-'))
        .filter(|name| !name.contains(['\u{9b}', '\u{2028}']))
        .map(|name| (*name).to_owned())
        .collect();
    for name in &names {
        fs::write(folder.join(name), scenario(&["K"])).expect("it can be written");
    }
    let arguments: Vec<&str> =
        ["simulate", "--format", "markdown"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let output = gpusched_in(&folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = seen(&stdout(&output)).lines;
    assert_eq!(lines, names.iter().flat_map(|name| name.lines()).collect::<Vec<_>>());
    // As paragraphs and entries of lists: a device's title, and where its numbers are from.
    for name in ODD_NAMES.iter().filter(|name| name.trim() == **name && !name.is_empty()) {
        let device = gpusched(&["devices", "tx2", "--format", "json"]);
        let mut device: serde_json::Value = serde_json::from_slice(&device.stdout).expect("JSON");
        device["title"] = (*name).into();
        device["assumptions"] = serde_json::json!({"sms": name});
        let file = folder.join("device.json");
        fs::write(&file, device.to_string()).expect("it can be written");
        let output = gpusched(&["devices", &file.display().to_string(), "--format", "markdown"]);
        assert_eq!(output.status.code(), Some(0), "{name:?}: {}", stderr(&output));
        let lines = seen(&stdout(&output)).lines.join("\n");
        let name = name.lines().collect::<Vec<_>>().join("\n");
        assert!(lines.contains(&format!("tx2: {name}")), "{name:?} is not in {lines}");
        assert!(lines.contains(&format!("sms: {name}")), "{name:?} is not in {lines}");
    }
}
