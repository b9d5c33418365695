//! What somebody meets who comes by a link: pages that are complete and lead on, and a project that can be cited, built
//! and taken further.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: impl AsRef<Path>) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All pages in Markdown, by their paths in the project.
fn pages() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ["", ".github/ISSUE_TEMPLATE", "docs", "output", "python"].map(PathBuf::from).to_vec();
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder of the project") {
            let entry = entry.expect("it can be read");
            let path = folder.join(entry.file_name());
            if folder.starts_with("docs") && entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// What matters here of a page.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    /// What a link to one of its headings has behind the `#`.
    anchors: BTreeSet<String>,
    faults: Vec<String>,
}

/// Cells of a row, which signs of tables within code do not divide if a backslash is before them.
fn cells(row: &str) -> usize {
    let row = row.trim().replace("\\|", "");
    row.trim_start_matches('|').trim_end_matches('|').split('|').count()
}

/// A page as a reader of `CommonMark` with tables sees it.
fn seen(text: &str) -> Page {
    let mut page = Page::default();
    let (mut heading, mut columns, mut begins) = (None::<String>, 0, false);
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let mut is_first = false;
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push(dest_url.into_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let title = heading.take().unwrap_or_default().to_lowercase();
                let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
                let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
                let same = (1..).map(|number| format!("{anchor}-{number}"));
                let free = std::iter::once(anchor.clone()).chain(same).find(|name| !page.anchors.contains(name));
                page.anchors.extend(free);
            }
            Event::Start(Tag::Table(alignments)) => columns = alignments.len(),
            Event::Start(Tag::TableRow) if cells(&text[range.clone()]) != columns => {
                page.faults.push(format!("not {columns} cells: {}", &text[range]));
            }
            Event::Start(Tag::Paragraph) | Event::SoftBreak => is_first = true,
            Event::Text(part) | Event::Code(part) => {
                if begins && part.starts_with('|') {
                    page.faults.push(format!("a row outside of a table: {part}"));
                }
                if let Some(heading) = &mut heading {
                    *heading += &part;
                }
            }
            _ => {}
        }
        begins = is_first;
    }
    page
}

#[test]
fn every_link_of_every_page_leads_somewhere_and_every_table_is_one() {
    let pages: BTreeMap<PathBuf, Page> = pages().into_iter().map(|path| (path.clone(), seen(&read(path)))).collect();
    assert!(pages.len() > 25, "only {} pages", pages.len());
    let mut wrong = Vec::new();
    for (path, page) in &pages {
        wrong.extend(page.faults.iter().map(|fault| format!("{}: {fault}", path.display())));
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').map_or((link.as_str(), None), |(file, at)| (file, Some(at)));
            let target = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let target = root().join(target);
            let Ok(target) = fs::canonicalize(&target) else {
                wrong.push(format!("{}: there is no {link}", path.display()));
                continue;
            };
            let root = fs::canonicalize(root()).expect("it is there");
            let known = target.strip_prefix(root).ok().and_then(|inside| pages.get(inside));
            if anchor.is_some_and(|anchor| !known.is_some_and(|known| known.anchors.contains(anchor))) {
                wrong.push(format!("{}: {link} names no heading", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn broken_tables_and_headings_are_seen() {
    let page = seen("## One `a_b`, two\n\n| a | b |\n| --- | --- |\n| 1 | `x\\|y` |\n| 1 | 2 | 3 |\n\n| 4 | 5 |\n");
    assert_eq!(page.anchors.iter().collect::<Vec<_>>(), ["one-a_b-two"]);
    assert_eq!(page.faults, ["not 2 cells: | 1 | 2 | 3 |\n", "a row outside of a table: | 4 | 5 |"]);
}

/// The blocks of a page in this language.
fn blocks<'t>(text: &'t str, language: &str) -> Vec<&'t str> {
    let begin = format!("\n```{language}\n");
    text.split(&begin).skip(1).filter_map(|rest| Some(rest.split_once("\n```")?.0)).collect()
}

#[test]
fn the_readme_is_short_and_uses_no_command_before_it_is_built() {
    let readme = read("README.md");
    assert!(readme.lines().count() <= 150, "{} lines", readme.lines().count());
    let (built, used) = (readme.find("cargo run -- "), readme.find("$ gpusched "));
    assert!(built.expect("it is built") < used.expect("it is used"));
    assert!(!readme.contains("\n? "), "what fails at first reading does not belong here");
    for name in ["PyTorch", "Nsight", "nvprof"] {
        assert!(readme.contains(name), "{name}");
    }
    for page in ["docs/README.md", "docs/profiles.md", "docs/model.md", "CONTRIBUTING.md", "CITATION.cff"] {
        assert!(seen(&readme).links.iter().any(|link| link.split('#').next() == Some(page)), "{page}");
    }
}

#[test]
fn a_release_has_at_most_150_lines_in_the_changelog() {
    let changelog = read("CHANGELOG.md");
    let releases: Vec<&str> = changelog.split("\n## [").skip(1).collect();
    assert!(releases.len() >= 2);
    for release in releases {
        let lines = release.lines().count();
        assert!(lines <= 150, "{}: {lines} lines", release.lines().next().unwrap_or_default());
    }
}

#[test]
fn every_page_of_the_documentation_is_linked_from_its_index() {
    let index = seen(&read("docs/README.md")).links;
    let all = pages().into_iter().filter(|page| page.starts_with("docs") && !page.ends_with("README.md"));
    let all: Vec<String> = all.map(|page| page.display().to_string().replacen("docs/", "", 1)).collect();
    assert!(all.len() > 30, "only {} pages", all.len());
    for page in all.iter().map(String::as_str).chain(["notebook.ipynb"]) {
        assert!(index.iter().any(|link| link.split('#').next() == Some(page)), "{page}");
    }
}

/// What stands between the first `before` and the `after` that follows.
#[track_caller]
fn after<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    found.unwrap_or_else(|| panic!("there is no {before:?}")).0
}

#[test]
fn one_version_stands_wherever_a_version_is_named() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(after(&read("CITATION.cff"), "\nversion: ", "\n"), version);
    assert!(read("CHANGELOG.md").contains(&format!("\n## [{version}]\n")));
    for manifest in ["Cargo.toml", "python/Cargo.toml", "web/Cargo.toml"] {
        assert_eq!(after(&read(manifest), "\nversion = \"", "\""), version, "{manifest}");
    }
    for lock in ["Cargo.lock", "fuzz/Cargo.lock", "python/Cargo.lock", "web/Cargo.lock"] {
        assert_eq!(after(&read(lock), "name = \"gpusched\"\nversion = \"", "\""), version, "{lock}");
    }
}

#[test]
fn hosted_runs_and_the_container_run_what_is_there() {
    let (script, readme) = (read(".ci/run"), read("README.md"));
    let parts: Vec<&str> = script.lines().filter_map(|line| line.strip_prefix("part_")?.strip_suffix("() {")).collect();
    let hosted = read(".github/workflows/ci.yml");
    assert_eq!(after(&hosted, "part: [", "]").split(", ").collect::<Vec<_>>(), parts);
    assert!(hosted.contains("run: .ci/run ${{ matrix.part }}\n"));
    // Its two commands are the README's only blocks of `sh` that begin with cargo.
    let commands: Vec<&str> =
        blocks(&readme, "sh").into_iter().flat_map(str::lines).filter(|line| line.starts_with("cargo ")).collect();
    assert!(matches!(commands[..], [first, "cargo test"] if first.starts_with("cargo run ")), "{commands:?}");
    let recipe = read("Containerfile");
    for command in commands {
        assert!(script.replace(" --locked", "").lines().any(|line| line.trim() == command), "{command}");
        assert!(recipe.contains(command), "{command}");
    }
}

#[test]
fn who_reports_is_asked_for_what_is_needed() {
    for (template, words) in [("send-a-log.md", "gpusched audit"), ("wrong-verdict.md", "gpusched convert")] {
        let text = read(format!(".github/ISSUE_TEMPLATE/{template}"));
        let front = after(&text, "---\n", "\n---\n");
        assert!(front.contains("name: ") && front.contains("about: "), "{template}");
        assert!(text.contains(words) && text.contains("gpusched --version"), "{template}");
    }
}
