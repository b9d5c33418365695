//! What the README, the guides and `tests/console` show on a console is what comes out.

use std::fs;
use std::path::Path;

use crate::common::directory;

#[test]
fn console_blocks_of_readme_docs_and_tests_are_what_the_command_prints() {
    trycmd::TestCases::new().case("README.md").case("docs/*.md").case("tests/console/*.md");
}

/// A tutorial starts from a file of the reader's own: a block of JSON with a name is what is to be saved under that
/// name. Its console blocks run in a folder with these files and the shipped scenarios.
#[test]
#[cfg(unix)]
fn every_tutorial_goes_as_told_with_the_files_that_it_shows() {
    let (root, folder) = (Path::new(env!("CARGO_MANIFEST_DIR")), directory("tutorials"));
    let mut copies = Vec::new();
    for entry in fs::read_dir(root.join("docs/tutorials")).expect("there are tutorials") {
        let page = entry.expect("it can be read").path();
        let text = fs::read_to_string(&page).expect("a tutorial");
        let copy = folder.join(page.file_name().expect("it has a name"));
        // The folder in which trycmd runs what the page shows.
        let place = copy.with_extension("in");
        fs::create_dir(&place).expect("it can be made");
        std::os::unix::fs::symlink(root.join("scenarios"), place.join("scenarios")).expect("a link can be made");
        let mut files = text.split("\n```json ").skip(1).peekable();
        assert!(files.peek().is_some(), "{} starts from no file", page.display());
        for file in files {
            let (name, rest) = file.split_once('\n').expect("a block has lines");
            let (content, _) = rest.split_once("\n```").expect("a block ends");
            fs::write(place.join(name), content).expect("it can be written");
        }
        assert!(text.contains("\n```console\n$ gpusched "), "{} runs nothing", page.display());
        fs::write(&copy, text).expect("it can be written");
        copies.push((page, copy));
    }
    assert!(copies.len() >= 5, "only {} tutorials", copies.len());
    trycmd::TestCases::new().case(folder.join("*.md")).run();
    // With `TRYCMD=overwrite` the copies tell what comes out now.
    for (page, copy) in copies {
        let told = fs::read(&copy).expect("it is there");
        if told != fs::read(&page).expect("it is there") {
            fs::write(page, told).expect("it can be written");
        }
    }
}
