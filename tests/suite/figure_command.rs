//! `gpusched simulate --figure` from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common;
use crate::figure_samples::rtss_2017_fig_3;

/// A directory of its own for each test, with RTSS 2017, Fig. 3, in it.
pub(crate) fn directory(test: &str) -> PathBuf {
    let directory = common::directory(test);
    fs::write(directory.join("fig3.json"), rtss_2017_fig_3()).expect("it can be written");
    directory
}

fn simulate(directory: &Path, arguments: &[&str]) -> Output {
    common::gpusched_in(directory, &[&["simulate", "fig3.json"], arguments].concat())
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is a directory");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn refused(output: &Output, with: &str) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains(with), "{message}");
}

#[test]
fn the_extension_of_a_figure_decides_its_format() {
    let directory = directory("figure-formats");
    assert!(simulate(&directory, &["--figure", "a.svg"]).status.success());
    assert!(simulate(&directory, &["--figure", "a.PNG", "--scale", "0.3"]).status.success());
    assert!(fs::read_to_string(directory.join("a.svg")).expect("written").starts_with("<svg "));
    assert!(fs::read(directory.join("a.PNG")).expect("written").starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(files(&directory), ["a.PNG", "a.svg", "fig3.json"]);
}

#[test]
fn a_profile_is_drawn_by_stream_unless_sms_are_asked_for() {
    let directory = directory("figure-of-a-profile");
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/profiles/synthetic.json").display().to_string();
    for (more, has_sms) in [(&[][..], false), (&["--sms", "0-1"], true), (&["--height", "registers"], true)] {
        let arguments = [&["simulate", &profile, "--figure", "a.svg"][..], more].concat();
        assert!(common::gpusched_in(&directory, &arguments).status.success());
        let svg = fs::read_to_string(directory.join("a.svg")).expect("written");
        assert_eq!(svg.contains("SM 0"), has_sms, "{more:?}");
    }
}

#[test]
fn a_figure_that_cannot_be_is_refused_before_anything_is_printed() {
    let directory = directory("figure-refused");
    let cases: [(&[&str], &str); 7] = [
        (&["--figure", "a.gif"], ".svg, .png, .tex or .pdf"),
        (&["--figure", "a.svg", "--sms", "0-2"], "SM 2"),
        (&["--figure", "a.svg", "--only", "K9"], "\"K9\""),
        (&["--figure", "a.svg", "--from", "2s", "--to", "1s"], "not after"),
        (&["--figure", "a.svg", "--width", "10"], "10.00 mm"),
        (&["--figure", "missing/a.svg"], "missing/a.svg"),
        (&["--height", "threads"], "--figure"),
    ];
    for (arguments, with) in cases {
        let output = simulate(&directory, arguments);
        refused(&output, with);
        assert!(output.stdout.is_empty());
    }
    assert_eq!(files(&directory), ["fig3.json"]);
}

#[test]
fn tex_is_a_tikz_picture_of_the_same_shapes() {
    let directory = directory("figure-tex");
    assert!(simulate(&directory, &["--figure", "a.tex"]).status.success());
    let tex = fs::read_to_string(directory.join("a.tex")).expect("written");
    let lines: Vec<&str> = tex.lines().collect();
    assert_eq!(lines[0], "% \\usepackage{tikz} \\usetikzlibrary{patterns}");
    assert!(lines[1].starts_with("% 88.57 x "), "{}", lines[1]);
    assert_eq!((&lines[2][..20], lines[lines.len() - 1]), ("\\begin{tikzpicture}[", "\\end{tikzpicture}%"));
    assert!(tex.contains("K1:0}") && tex.contains("6 $\\times$ 768"));
}

#[test]
#[ignore = "needs pdflatex with pgf"]
fn tex_compiles_with_plain_pgf() {
    let directory = directory("figure-tex-compiled");
    assert!(simulate(&directory, &["--figure", "a.tex"]).status.success());
    let document = "\\documentclass{article}\n\\usepackage{tikz}\n\\usetikzlibrary{patterns}\n\
                    \\begin{document}\n\\input{a}\n\\end{document}\n";
    fs::write(directory.join("document.tex"), document).expect("it can be written");
    let mut latex = Command::new("pdflatex");
    let output =
        latex.args(["-interaction=nonstopmode", "-halt-on-error", "document"]).current_dir(&directory).output();
    let output = output.expect("pdflatex is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(fs::read(directory.join("document.pdf")).expect("written").starts_with(b"%PDF-"));
}

#[cfg(not(feature = "pdf"))]
#[test]
fn pdf_without_its_feature_is_refused() {
    refused(&simulate(&directory("figure-pdf"), &["--figure", "a.pdf"]), "\"pdf\"");
}

#[cfg(feature = "pdf")]
#[test]
fn pdf_is_written() {
    let directory = directory("figure-pdf");
    assert!(simulate(&directory, &["--figure", "a.pdf"]).status.success());
    assert!(fs::read(directory.join("a.pdf")).expect("written").starts_with(b"%PDF-"));
}
