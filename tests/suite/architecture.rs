//! The page on how this is built names what there is.

use gpusched::trace::Rule;

const PAGE: &str = include_str!("../../docs/architecture.md");

/// What stands between backquotes.
fn quoted() -> impl Iterator<Item = &'static str> {
    PAGE.split('`').skip(1).step_by(2)
}

#[test]
fn every_file_named_on_the_page_on_architecture_exists() {
    let files: Vec<&str> = quoted()
        .filter(|name| ["src/", "tests/", "docs/", "examples/"].iter().any(|room| name.starts_with(room)))
        .collect();
    assert!(files.len() > 30, "only {} files found", files.len());
    for file in files {
        assert!(std::path::Path::new(file).exists(), "{file} does not exist");
    }
}

#[test]
fn the_page_on_architecture_says_where_every_rule_lives() {
    // The first column of the table of rules.
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let named: Vec<&str> = rows.flat_map(|cell| cell.split(", ")).collect();
    for rule in Rule::ALL {
        assert!(named.contains(&rule.name()), "rule {rule} is not on the page");
    }
}

#[test]
fn a_rule_takes_at_most_three_files() {
    let (_, after) = PAGE.split_once("**A rule**").expect("the page says what a new rule takes");
    let (steps, _) = after.split_once("\n\n").expect("a paragraph ends");
    assert_eq!(steps.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())).count(), 3);
}
