//! Names that a file may give to kernels, streams and itself, and that some format or reader would take for more than
//! text.

use std::collections::BTreeSet;

use gpusched::hosts::simulate;
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};

use crate::common::{gpusched_with, stdout};
use crate::figure_tex::{COLUMN, latex_takes_it};

/// What would end a page's title and begin a script.
pub(crate) const SCRIPT: &str = "</title></script><script>alert(1)</script>";
/// What would run a script without the word.
pub(crate) const IMAGE: &str = "</script><img src=x onerror=\"window.broken=1\"><b>&amp;";
/// What a terminal would take for commands, and ends of lines.
pub(crate) const COMMANDS: &str = "one\u{1b}[31mred\u{7}\r\ntwo\tπ\u{9b}2Jé";

/// All of them.
pub(crate) const ODD_NAMES: &[&str] = &[
    SCRIPT,
    IMAGE,
    COMMANDS,
    // Markdown and its tables.
    "-O2 gemm",
    "- a",
    "+ a",
    "* a *",
    "1. a",
    "2) a",
    "12345",
    "# a",
    "> a",
    ">",
    "-",
    "---",
    "===",
    ":---:",
    "a|b",
    "|",
    "| --- |",
    "a\\|b",
    "ends in \\",
    "\\",
    "\\\\",
    "\\\\|\\|",
    "\\n",
    "\\*a\\*",
    "*a* and **b**",
    "_a_ and __b__",
    "vector_add_x86_64",
    "_",
    "snake_",
    "~~a~~ ~b~",
    "`a`",
    "``a`",
    "`",
    "```",
    "~~~",
    "[l](javascript:alert(1))",
    "![i](data:image/svg+xml,x)",
    "[a]: http://b",
    "[^1]",
    "<javascript:alert(1)>",
    "<a@b.c>",
    "<b",
    "a<b>(c)",
    "void gemm<float, 16>(float*, int&)",
    "<!-- a",
    "<?php",
    "<![CDATA[",
    "&lt;script&gt;",
    "&#60;b",
    "&#x3c;",
    "&copy",
    "a & b",
    "&",
    "$a$ and $$b$$",
    "$(touch broken)",
    "http://a.b/c",
    "{% a %}{{b}}",
    "!",
    "\"",
    "'",
    "''; \"",
    // TeX.
    "核函数 <T>",
    "x_1^2 & y",
    "100 % \\input{a}",
    "~`'\"-- #$",
    "größer µ ≥ …",
    "a|b ∀ 🚀",
    "[U] {,} ?! ",
    // Blanks and ends of lines.
    " ",
    " a ",
    "  a  b  ",
    "\t",
    "\ta",
    "a\n",
    "a\nb",
    "\n\n# a",
    "a\r\nb",
    "a  \nb",
    "\u{a0}a\u{a0}",
    "\u{2028}",
    "\u{feff}a",
    "\u{7f}",
    // Names of something else in a script.
    "__proto__",
    "constructor",
    "toString",
    "0",
    "null",
    "undefined",
    // CSV, spreadsheets and options.
    "a,b",
    "=1+1",
    "--help",
    "a=b",
    // Letters of several code points, from right to left, and outside of the first plane.
    "e\u{301}",
    "\u{202e}abc",
    "עברית",
    "👩‍💻",
    "𝕂",
];

/// A scenario with a kernel and a stream of each of these names.
pub(crate) fn scenario(names: &[&str]) -> String {
    let kernels: serde_json::Map<String, serde_json::Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), serde_json::json!({"blocks": 1, "threads": 32, "duration": "1 ms"})))
        .collect();
    let stream = |name: &&str| serde_json::json!({"name": name, "period": "1 s", "jobs": 1, "deadline": "900 ms", "operations": [{"kernel": name}]});
    let streams: Vec<_> = names.iter().map(stream).collect();
    let document = serde_json::json!({"format": "gpusched-scenario/1", "name": SCRIPT, "device": "tx2",
        "kernels": kernels, "streams": streams});
    document.to_string()
}

#[test]
fn names_are_text_in_pictures_as_svg_and_tex() {
    // As many as have a row each.
    for names in ODD_NAMES.chunks(6) {
        let scenario = Scenario::from_json("odd.json", &scenario(names), &ReadOptions::default()).expect("it is sound");
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let options = TimelineOptions::default();
        let drawing = Timeline::new(&summary, &options).expect("it can be drawn").draw(&summary, &options);
        latex_takes_it(&drawing.to_tex(), COLUMN, &format!("{names:?}"));
        let svg = drawing.to_svg();
        let document = roxmltree::Document::parse(&svg).expect("valid XML");
        let elements = [
            "svg", "defs", "desc", "pattern", "circle", "g", "title", "rect", "path", "polygon", "polyline", "line",
            "text", "tspan",
        ];
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            assert!(elements.contains(&node.tag_name().name()), "{names:?}: {node:?}");
            assert!(node.attributes().all(|one| !one.name().starts_with("on") && one.name() != "href"), "{node:?}");
        }
        let texts: String = document.descendants().filter_map(|node| node.text()).collect();
        let shown = |letter: char| letter.is_alphanumeric() || letter.is_ascii_punctuation();
        for name in names {
            let first: String =
                name.chars().skip_while(|letter| !shown(*letter)).take_while(|letter| shown(*letter)).take(4).collect();
            assert!(texts.contains(&first), "{name:?} is not in {texts}");
        }
    }
}

/// Of these the two that differ in the second place alone are told apart by it, and those that differ in the first only
/// by a number: no table is as wide as a name may be.
#[test]
fn names_that_no_short_form_tells_apart_are_numbered_in_tables_for_people() {
    let middle = "y".repeat(120);
    let name = |first: u32, second: u32| format!("{}{first}{middle}{second}z", "x".repeat(150));
    let names = [name(1, 1), name(1, 2), name(2, 1), name(2, 2)];
    let given: Vec<&str> = names.iter().map(String::as_str).collect();
    let output = gpusched_with(&scenario(&given), &["occupancy", "-"]);
    let text = stdout(&output);
    assert!(text.lines().all(|line| line.chars().count() < 250), "{text}");
    let shown: BTreeSet<&str> =
        text.lines().skip(1).filter_map(|line| line.split("  ").find(|cell| cell.contains('…'))).collect();
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert!(shown.iter().any(|name| name.ends_with("(2)")), "{shown:?}");
}
