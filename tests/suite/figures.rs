//! `gpusched figures`: what it writes, replaces and refuses.

use std::fs;
use std::path::{Path, PathBuf};

use gpusched::figures::{FigureKind, File, Made, catalogue, gallery};

use super::picture::assert_as_committed;
use crate::common::{absent, gpusched};

fn committed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("output").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn is_as_committed(made: &Made) {
    for file in &made.files {
        assert_as_committed(file, &committed(&file.name));
    }
}

#[test]
#[ignore = "compares a folder that `gpusched figures --out` wrote, named by GPUSCHED_FIGURES: see .ci/run"]
fn a_folder_of_figures_is_as_committed() {
    let folder = PathBuf::from(std::env::var_os("GPUSCHED_FIGURES").expect("the variable names the folder"));
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is there");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    let all = names(&folder);
    assert_eq!(all, names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("output")));
    for name in all {
        let text = fs::read_to_string(folder.join(&name)).expect("it is text");
        assert_as_committed(&File { name: name.clone(), text }, &committed(&name));
    }
}

#[test]
fn published_timelines_come_out_as_their_papers_say_and_as_committed() {
    for figure in catalogue().iter().filter(|figure| figure.commands().len() > 1) {
        let made = figure.make().expect("what is shipped can be run");
        let good =
            made.finding.starts_with("All ") || made.finding.starts_with("The kernel is analysed to finish when");
        assert!(good && !made.finding.contains("kernels differ"), "{}: {}", figure.name, made.finding);
        is_as_committed(&made);
    }
}

#[test]
fn the_tables_of_the_thesis_and_the_figures_of_the_warps_come_out_as_committed() {
    // By hand, see docs/errata.md and docs/warps.md: what each finding must say.
    let expected = [
        ("thesis2019-figures-3-6-to-3-9", "All 5 printed steps, and f = {4, 10, 12, 11}, are as printed."),
        (
            "thesis2019-figure-3-10",
            "| K3 | 3 | 4 s | 4 s | 4 s | 4 s | 4.5 s |\n| K4 | 16 | 6 s | 6 s | 6 s | 7 s | 6.5 s |",
        ),
        ("thesis2019-section-3-7", "The factor n shows: 2, 26, 93, 305 turns for n = 1, 5, 10, 20"),
        (
            "thesis2019-chapter-4",
            "26 of 26 measured finish times are simulated and analysed alike, and 26 of 26 measured",
        ),
        (
            "cister2012-figure-2",
            "takes 9 cycles; in the first 5 the CUDA cores are idle. By exact search the worst case is 9",
        ),
        ("cister2012-equation-42", "takes 9 cycles; the estimate from two warps, 8, is below it"),
        ("cister2012-figure-6", "The exact worst case is 2401 cycles"),
        ("cister2012-figure-7", "The exact worst case is 2522 cycles"),
    ];
    for (name, words) in expected {
        let figure = catalogue().into_iter().find(|figure| figure.name == name).expect("it is in the catalogue");
        let made = figure.make().expect("what is shipped can be run");
        assert!(made.finding.contains(words), "{name}: {}", made.finding);
        is_as_committed(&made);
    }
}

#[test]
fn every_file_of_the_catalogue_is_committed_and_shown_in_the_gallery() {
    let page = committed("README.md");
    for figure in catalogue() {
        assert!(page.contains(&format!("`gpusched figures --only {}`", figure.name)), "{}", figure.name);
        if let FigureKind::Timed { files, .. } = figure.kind {
            for name in files {
                assert!(!committed(name).is_empty());
            }
        }
    }
    let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    for link in links.filter(|link| !link.contains('/')) {
        assert!(!committed(link).is_empty());
    }
}

#[test]
fn one_figure_is_made_alone_and_says_what_was_found() {
    let out = absent("figures_only");
    let folder = out.display().to_string();
    let output = gpusched(&["figures", "--only", "rtss2017-figure-8", "--out", &folder]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("All 9 kernels as expected"));
    let mut names: Vec<String> = fs::read_dir(&out)
        .expect("it was made")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["rtss2017-figure-8.csv", "rtss2017-figure-8.svg"]);
    let csv = fs::read_to_string(out.join("rtss2017-figure-8.csv")).expect("it was written");
    // By hand from Table 5 and rule A2: K9 starts when K2 ends.
    assert!(csv.lines().any(|line| line.ends_with(",1100000000,2100000000") && line.contains(",K9,")), "{csv}");
}

#[test]
fn worked_examples_of_rtns_2020_come_out_as_the_paper_says() {
    let make = |name: &str| {
        let figure = *catalogue().iter().find(|figure| figure.name == name).expect("it is in the catalogue");
        let made = figure.make().expect("it can be made");
        for file in &made.files {
            assert_as_committed(file, &committed(&file.name));
        }
        made
    };
    // What print has of Figs. 2 to 5 in values is compared in `reproduction.rs`.
    let finding = make("rtns2020-figure-2").finding;
    assert!(
        finding.contains("1 of 21 jobs") && finding.contains("job 6 of tau1, released at 50, deadline 60"),
        "{finding}"
    );
    let made = make("rtns2020-figures-3-4");
    assert_eq!(made.files.last().expect("its data come last").text.lines().count(), 1 + 8);
    assert!(make("rtns2020-figure-5").finding.contains("with its first set the other way round than printed"));
    // Fig. 10: nothing to preempt at 64 blocks.
    assert!(make("rtns2020-figure-10").finding.starts_with("Longer by 0 ms at 64, 1 ms at 128"));
}

#[test]
fn an_unknown_figure_is_refused_with_the_names_there_are() {
    let output = gpusched(&["figures", "--only", "rtss2017-figure-9"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no such figure") && text.contains("rtss2017-figure-8"), "{text}");
}

#[test]
fn somebody_elses_page_is_not_replaced() {
    let out = absent("figures_foreign");
    fs::create_dir_all(&out).expect("it can be made");
    fs::write(out.join("README.md"), "mine").expect("it can be written");
    let output = gpusched(&["figures", "--out", &out.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not a gallery"));
    assert_eq!(fs::read_dir(&out).expect("it is there").count(), 1);
}

#[test]
fn the_gallery_says_what_was_published_beside_what_came_out() {
    let figure = catalogue()[0];
    let made = figure.make().expect("what is shipped can be run");
    let page = gallery(&[(figure, Some(made.clone()))]);
    for text in [figure.published, &made.finding, figure.paper.citation(), "](rtss2017-figure-3.svg)"] {
        assert!(page.contains(text), "{text}");
    }
}
