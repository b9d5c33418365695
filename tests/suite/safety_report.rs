//! `gpusched analyze --report`: a page that fits into a safety case.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{directory, gpusched, stderr};

const SCENARIO: &str = "scenarios/deadlines/camera-to-brake.json";

/// What is between a heading and the next one.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let (_, rest) = page.split_once(&format!("## {heading}\n")).unwrap_or_else(|| panic!("no {heading}: {page}"));
    rest.split("\n## ").next().expect("it has an end")
}

fn written(folder: &Path, name: &str, options: &[&str]) -> (String, String) {
    let path = folder.join(name);
    let path = path.to_str().expect("text");
    let output = gpusched(&[&["analyze", SCENARIO, "--report", path], options].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (fs::read_to_string(path).expect("it is written"), stderr(&output))
}

#[test]
fn a_page_for_a_safety_case_has_question_assumptions_verdicts_evidence_and_what_is_not_covered() {
    let folder = directory("safety-report");
    let certificate = folder.join("proofs.json");
    let certificate = certificate.to_str().expect("text");
    let (page, notes) = written(&folder, "page.md", &["--certificate", certificate]);
    let question = section(&page, "Question");
    assert!(question.contains("Does every job of 3 streams and hosts"), "{question}");
    // As docs/analysis.md has it: four jobs, and two measures of the chain.
    assert!(question.contains("Yes: all 6 are proven."), "{question}");
    assert!(section(&page, "Assumptions").contains("Blocks, copies and CPU work take any time up to what is stated."));
    assert!(section(&page, "Verdicts").contains("| vision | 4 | 4 | 0 | 0 | 8 ms | 8 ms | 20 ms |"), "{page}");
    // The file that is named is the one that was written.
    let sum = Command::new("sha256sum").arg(certificate).output().expect("it runs");
    let sum = String::from_utf8(sum.stdout).expect("digits");
    let sum = sum.split(' ').next().expect("a first word");
    assert!(section(&page, "Evidence").contains(&format!("SHA-256 is {sum}.")), "{page}");
    // What the command notes of verdicts is said here too.
    for note in notes.lines().filter_map(|line| line.strip_prefix("note: ")).filter(|note| note.contains("assumed")) {
        assert!(page.contains(&note[..40]), "{note}");
    }
    assert!(section(&page, "What is not covered").contains("Whether times are right"), "{page}");
}

#[test]
fn a_page_says_no_where_a_run_misses_a_deadline_and_not_shown_where_nothing_is_known() {
    let folder = directory("safety-report-late");
    let (page, _) = written(&folder, "late.html", &["--deadline", "vision=7ms"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<p>No: "), "{page}");
    assert!(page.contains("No certificates: --certificate FILE"), "{page}");
    let path = folder.join("page.pdf");
    let refused = gpusched(&["analyze", SCENARIO, "--report", path.to_str().expect("text")]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("its name has to end with .html or .md"), "{}", stderr(&refused));
    assert!(!path.exists(), "nothing is written");
}
