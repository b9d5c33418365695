//! The table of docs/proofs.md: every lemma is where it says, rests on nothing unproven, and Coq agrees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::directory;

/// Lemmas of the table, with the modules that they are in.
fn table() -> Vec<(String, String)> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/proofs.md")).expect("the page");
    let rows = page.lines().filter(|line| line.contains("| `proofs/"));
    let cells = rows.map(|row| row.split('|').find(|cell| cell.contains("`proofs/")).expect("the row was found by it"));
    let names = cells.flat_map(|cell| {
        let mut names = cell.split('`').skip(1).step_by(2);
        let file = names.next().expect("a cell begins with its file");
        let module = file.strip_prefix("proofs/").and_then(|file| file.strip_suffix(".v")).expect("a file of Coq");
        names.map(move |name| (module.to_owned(), name.to_owned()))
    });
    names.collect()
}

/// All files of Coq, with what is in them.
fn sources() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs");
    let paths = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("readable").path());
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "v"));
    files.map(|path| (path.clone(), fs::read_to_string(path).expect("text"))).collect()
}

#[test]
fn every_lemma_of_the_page_on_proofs_is_where_it_says() {
    let (table, sources) = (table(), sources());
    assert!(table.len() >= 10, "only {} lemmas", table.len());
    for (module, name) in table {
        let file = sources.iter().find(|(path, _)| path.ends_with(format!("proofs/{module}.v")));
        let (_, text) = file.unwrap_or_else(|| panic!("there is no proofs/{module}.v"));
        let is_there = ["Theorem", "Lemma"].iter().any(|kind| {
            let beginning = format!("{kind} {name}");
            let mut found = text.split(&beginning).skip(1);
            found.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
        });
        assert!(is_there, "proofs/{module}.v has no {name}");
    }
}

#[test]
fn no_proof_is_left_out_and_nothing_is_assumed() {
    for (path, text) in sources() {
        for word in ["Admitted", "admit", "give_up", "Axiom", "Parameter", "Conjecture", "Abort", "bypass_check"] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}

#[test]
fn coq_checks_every_proof_and_finds_no_axiom_behind_the_lemmas_of_the_page() {
    if Command::new("coqc").arg("--version").output().is_err() {
        println!("skipped: there is no coqc here");
        return;
    }
    let folder = directory("proofs");
    for (path, text) in sources() {
        fs::write(folder.join(path.file_name().expect("a file")), text).expect("it can be written");
    }
    let makefile = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs/Makefile");
    fs::copy(makefile, folder.join("Makefile")).expect("it can be copied");
    let made = Command::new("make").current_dir(&folder).output().expect("there is a make");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let table = table();
    let asked = table.iter().map(|(module, name)| {
        format!("From gpusched Require {module}.\nPrint Assumptions gpusched.{module}.{name}.\n")
    });
    fs::write(folder.join("asked.v"), asked.collect::<String>()).expect("it can be written");
    let coqc = Command::new("coqc").args(["-Q", ".", "gpusched", "asked.v"]).current_dir(&folder).output();
    let coqc = coqc.expect("it ran before");
    assert!(coqc.status.success(), "{}", String::from_utf8_lossy(&coqc.stderr));
    let answers = String::from_utf8(coqc.stdout).expect("text");
    assert_eq!(answers, "Closed under the global context\n".repeat(table.len()));
}
