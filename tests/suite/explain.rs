//! What `gpusched explain` says: the words of the pages and of the sources, and runs that show them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gpusched::explain::{Topic, TopicKind};
use gpusched::trace::{RULES, Rule};

use crate::common::{SOURCES, gpusched, json, stderr, stdout};

const MODEL: &str = include_str!("../../docs/model.md");

/// Markdown without links: their words alone.
fn without_links(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, link)) = rest.split_once('[') {
        let (words, behind) = link.split_once("](").expect("a link has a place");
        plain.extend([before, words]);
        rest = behind.split_once(')').expect("a link ends").1;
    }
    plain + rest
}

#[test]
fn the_tables_of_rules_of_the_model_have_the_words_of_the_rules() {
    let mut seen = BTreeSet::new();
    let mut in_table = false;
    for line in MODEL.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with('|') {
            in_table = false;
        } else if cells[0] == "rule" {
            in_table = true;
        } else if in_table && !cells[0].starts_with("---") {
            let rule = RULES.iter().find(|rule| rule.name == cells[0]);
            let rule = rule.unwrap_or_else(|| panic!("{} is not explained", cells[0]));
            assert_eq!(without_links(cells[1]), rule.says, "{}", rule.name);
            if let Some(source) = cells.get(2) {
                assert_eq!(*source, rule.source, "{}", rule.name);
            }
            seen.insert(rule.name);
        }
    }
    assert_eq!(seen, RULES.iter().map(|rule| rule.name).collect());
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_every_example_runs_and_those_of_rules_show_what_waits_under_them() {
    for topic in Topic::all() {
        let Some(example) = topic.example else { continue };
        let ran = gpusched(&example.split_whitespace().skip(1).collect::<Vec<_>>());
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{example}: {}", stderr(&ran));
        let waits = Rule::ALL.into_iter().any(|rule| rule.name() == topic.name);
        let printed = stdout(&ran);
        let mut words = printed.split(|c: char| !c.is_alphanumeric());
        assert!(!waits || words.any(|word| word == topic.name), "{example} does not show {}", topic.name);
    }
}

#[test]
fn what_waits_for_registers_and_for_another_processs_copy_does_so_as_by_hand() {
    let of = |file: &str, list: &str, key: &str| -> Vec<Option<u64>> {
        let run = json(&["simulate", &format!("scenarios/rules/{file}.json"), "--format", "json"]);
        run[list].as_array().expect("a list").iter().map(|row| row[key].as_u64()).collect()
    };
    // Two blocks of 512 threads with 64 registers each are all 65536 registers of an SM, until 2 ms.
    assert_eq!(of("registers", "kernels", "first_start_ns"), [Some(0), Some(2_000_000)]);
    assert_eq!(of("registers", "kernels", "finish_ns"), [Some(2_000_000), Some(3_000_000)]);
    // Turns of 1 ms on the copy engine, of a and b alternately: a has those from 0, 2 and 4 ms, b from 1, 3 and 5 ms.
    assert_eq!(of("copies-of-two-processes", "copies", "start_ns"), [Some(0), Some(1_000_000)]);
    assert_eq!(of("copies-of-two-processes", "copies", "end_ns"), [Some(5_000_000), Some(6_000_000)]);
}

/// The end of a link to a heading.
fn place(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim_start_matches(['#', ' ']).chars().filter(kept).collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_leads_to_a_heading() {
    for topic in Topic::all() {
        let (page, heading) = topic.more.split_once('#').map_or((&*topic.more, None), |(page, at)| (page, Some(at)));
        let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", topic.more));
        let mut headings = text.lines().filter(|line| line.starts_with('#'));
        assert!(heading.is_none_or(|at| headings.any(|line| place(line) == at)), "{} leads nowhere", topic.more);
    }
}

fn sources(folder: &Path, text: &mut String) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    for path in entries.iter().filter(|path| !path.ends_with("src/explain")) {
        if path.is_dir() {
            sources(path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(path).expect("it is text"));
        }
    }
}

#[test]
fn every_message_that_is_explained_is_one() {
    let mut text = String::new();
    for root in SOURCES {
        sources(Path::new(root), &mut text);
    }
    for topic in Topic::all().iter().filter(|topic| topic.kind == TopicKind::Message) {
        assert!(text.contains(topic.name), "nothing says {:?}", topic.name);
    }
}

/// Titles of columns that mean what they say to everybody, or whose table says what they are.
const PLAIN: [&str; 55] = [
    "",
    "+-",
    "SMs at most",
    "all",
    "answer",
    "at",
    "at most",
    "blocks there",
    "board",
    "board power",
    "by",
    "class",
    "counts",
    "cycles",
    "definition",
    "device",
    "does so",
    "end",
    "energy",
    "equal",
    "every",
    "family",
    "file",
    "first elsewhere",
    "for",
    "frequency",
    "from",
    "gpu-evr against",
    "gpusched",
    "in runs",
    "launches",
    "limit",
    "lower",
    "max",
    "mean",
    "min",
    "name",
    "of",
    "on",
    "order of SMs",
    "preemptions",
    "question",
    "scheduler",
    "task",
    "this",
    "to take it",
    "total time",
    "type",
    "upper",
    "value",
    "what",
    "what would help",
    "while this runs",
    "why",
    "why not",
];

/// The titles of the columns that `text` declares, where they are literals.
fn titles(text: &str) -> impl Iterator<Item = &str> {
    let parts = |call: &'static str| text.split(call).skip(1).map(|rest| rest.split('"').take(4).collect::<Vec<_>>());
    let behind_key = parts("Column::new(").filter_map(|parts| match parts[..] {
        [before, _, between, title] if before.trim().is_empty() && between.trim() == "," => Some(title),
        _ => None,
    });
    behind_key.chain(parts("Column::table(").filter_map(|parts| match parts[..] {
        [before, title, ..] if before.trim().is_empty() => Some(title),
        _ => None,
    }))
}

#[test]
fn every_term_of_the_glossary_and_every_title_of_a_column_is_explained_or_plain() {
    let is_explained = |word: &str| {
        Topic::find(&[word.to_owned()]).is_ok_and(|found| found.iter().any(|topic| topic.kind != TopicKind::Message))
    };
    let page = fs::read_to_string("docs/architecture.md").expect("a page");
    let (_, glossary) = page.split_once("## Words").expect("a part of the page");
    let (glossary, _) = glossary.split_once("\n## ").expect("it ends");
    let rows = glossary.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |")).skip(1);
    let terms: Vec<&str> =
        rows.flat_map(|(terms, _)| terms.split(", ")).filter(|term| !term.starts_with("---")).collect();
    assert!(terms.len() > 35 && terms.contains(&"merged SM") && terms.contains(&"grid"), "{terms:?}");
    let unknown: Vec<&&str> = terms.iter().filter(|term| !is_explained(term)).collect();
    assert!(unknown.is_empty(), "of the glossary are not explained: {unknown:?}");

    let mut text = String::new();
    for tables in SOURCES.map(|root| Path::new(root).join("tables")).iter().filter(|tables| tables.exists()) {
        sources(tables, &mut text);
    }
    let titles: BTreeSet<&str> = titles(&text).collect();
    assert!(titles.len() > 100 && titles.contains("waited") && titles.contains("merged SM in time"), "{titles:?}");
    let unknown: Vec<&&str> = titles.iter().filter(|title| !is_explained(title) && !PLAIN.contains(title)).collect();
    assert!(unknown.is_empty(), "columns are neither explained nor plain: {unknown:?}");
    let stale: Vec<&&str> = PLAIN.iter().filter(|plain| is_explained(plain) || !titles.contains(**plain)).collect();
    assert!(stale.is_empty(), "not plain, or no column: {stale:?}");
    // Words of tutorials and tables that new users asked for.
    for word in [
        "verdict",
        "proven",
        "missed",
        "open",
        "sporadic",
        "jitter",
        "wave",
        "blame",
        "alone",
        "upper bound",
        "merged SM",
        "response time",
        "witness",
        "overlapped",
        "bound",
        "worst found",
    ] {
        assert!(is_explained(word), "{word}");
    }
}

#[test]
fn several_names_are_explained_at_once() {
    let printed = stdout(&gpusched(&["explain", "X1", "R2", "merged", "SM"]));
    for heading in ["X1 (rule)\n", "\nR2 (rule)\n", "\nmerged SM (term)\n"] {
        assert!(printed.contains(heading), "{heading:?}: {printed}");
    }
    let unknown = gpusched(&["explain", "X1", "verdcit"]);
    assert_eq!((unknown.status.code(), stdout(&unknown).as_str()), (Some(2), ""));
    assert!(stderr(&unknown).contains("\"verdcit\" (did you mean \"verdict\"?)"), "{}", stderr(&unknown));
}

#[test]
fn the_command_lists_explains_and_suggests() {
    let list = gpusched(&["explain"]);
    let named = stdout(&list);
    for topic in Topic::all() {
        assert!(named.contains(topic.name), "{} is not listed", topic.name);
    }
    let whole = json(&["explain", "--format", "json"]);
    assert_eq!(whole["topics"].as_array().map(Vec::len), Some(Topic::all().len()));
    let one = json(&["explain", "r3", "--format", "json"]);
    let rule = RULES.iter().find(|rule| rule.name == "R3").expect("it is a rule");
    assert_eq!((&one["topics"][0]["says"], &one["topics"][0]["source"]), (&rule.says.into(), &rule.source.into()));
    let unknown = gpusched(&["explain", "r-3"]);
    assert_eq!((unknown.status.code(), stdout(&unknown).as_str()), (Some(2), ""));
    assert!(stderr(&unknown).contains("did you mean \"R3\"?"), "{}", stderr(&unknown));
}

#[test]
fn codes_in_a_table_are_explained_below_it_once_and_not_for_programs() {
    let simulate = ["simulate", "scenarios/rtss2017/figure-3.json", "--blame", "--own-waits"];
    let table = stdout(&gpusched(&simulate));
    for rule in [Rule::G2, Rule::X1, Rule::R3, Rule::C1, Rule::C2, Rule::R2] {
        assert_eq!(table.matches(&format!("{rule}: {}", rule.meaning())).count(), 1, "{rule}: {table}");
    }
    for format in ["json", "csv"] {
        // Both are about the table.
        let csv = if format == "csv" { &simulate[..2] } else { &simulate[..3] };
        let printed = stdout(&gpusched(&[csv, &["--format", format]].concat()));
        assert!(!printed.contains(Rule::X1.meaning()), "{printed}");
    }
}
