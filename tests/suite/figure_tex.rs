//! What LaTeX would say of a figure: a checker in the test's own words of the part of TikZ that figures use, since
//! compiling needs a TeX distribution. It holds in a column of `\documentclass{IEEEtran}` with `\usepackage{tikz}` and
//! `\usetikzlibrary{patterns}`, and with nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gpusched::draw::PictureOptions;
use gpusched::hosts::simulate;
use gpusched::pictures::timeline::{Lanes, Panels, Timeline, TimelineOptions};
use gpusched::run::Summary;

use crate::common::gpusched;
use crate::figure_command::directory;
use crate::figure_samples::{launches, measured, sizes};
use crate::published;

/// Points (1/72.27 inch) in a millimetre.
const POINTS: f64 = 72.27 / 25.4;
/// `\columnwidth` and `\textwidth` of `IEEEtran` \[points\].
pub(crate) const COLUMN: f64 = 252.0;
const TEXT: f64 = 516.0;
/// By how much a box may be wider before TeX says `Overfull \hbox` (`\hfuzz`) \[points\].
const FUZZ: f64 = 0.1;
/// What is left of `\textheight` (9.25 inch at least) beside a caption of three lines \[points\].
const HEIGHT: f64 = 9.25 * 72.27 - 3.0 * 12.0;
/// Shapes that TeX's main memory surely holds; of more, the command says that it may not.
const MOST_SHAPES: usize = 10_000;

/// What the text of a node may contain besides letters and digits: of LaTeX itself, in any font encoding.
const IN_TEXT: [&str; 12] =
    ["fontsize", "sffamily", "bfseries", "selectfont", "dots", "ss", "i", "aa", "ae", "o", "c", "v"];
/// And between dollars. At 10 points there are fonts of all of it.
const IN_MATH: [&str; 20] = [
    "leftarrow",
    "neq",
    "infty",
    "circ",
    "delta",
    "lambda",
    "tau",
    "backslash",
    "sim",
    "pm",
    "times",
    "cdot",
    "rightarrow",
    "leq",
    "geq",
    "alpha",
    "beta",
    "mu",
    "pi",
    "sigma",
];
const PATTERNS: [&str; 7] =
    ["north east lines", "north west lines", "dots", "horizontal lines", "crosshatch", "vertical lines", "grid"];

/// Panics with what LaTeX would complain about.
pub(crate) fn latex_takes_it(tex: &str, width: f64, what: &str) {
    assert!(tex.is_ascii(), "{what}: {:?}", tex.lines().find(|line| !line.is_ascii()));
    let lines: Vec<&str> = tex.lines().collect();
    let begin = "\\begin{tikzpicture}[x=1mm,y=-1mm,inner sep=0pt,outer sep=0pt]";
    assert_eq!((lines[0], lines[2]), ("% \\usepackage{tikz} \\usetikzlibrary{patterns}", begin), "{what}");
    assert!(lines[1].starts_with("% "));
    // No space after it, which would count as width.
    assert_eq!(lines.last(), Some(&"\\end{tikzpicture}%"), "{what}");
    let mut colours = BTreeSet::new();
    let mut bounds = None;
    for line in &lines[3..lines.len() - 1] {
        balanced(line, what);
        if let Some(colour) = line.strip_prefix("\\definecolor{") {
            let (name, parts) = colour.split_once("}{RGB}{").expect("red, green and blue");
            let parts: Vec<u8> =
                parts.trim_end_matches('}').split(',').map(|part| part.parse().expect("a byte")).collect();
            assert!(parts.len() == 3 && bounds.is_none(), "{what}: {line}");
            colours.insert(name);
        } else if let Some(paper) = line.strip_prefix("\\useasboundingbox (0.00,0.00)rectangle(") {
            let (right, bottom) = paper.trim_end_matches(");").split_once(',').expect("a place");
            bounds = Some((millimetres(right), millimetres(bottom)));
        } else {
            assert!(bounds.is_some(), "{what}: the size stands before all shapes");
            shape(line, &colours, what);
        }
    }
    let (right, bottom) = bounds.expect("a size");
    assert!(right * POINTS <= width + FUZZ, "{what}: Overfull \\hbox ({:.3}pt too wide)", right * POINTS - width);
    assert!(bottom * POINTS <= HEIGHT, "{what}: Float too large for page by {:.1}pt", bottom * POINTS - HEIGHT);
}

/// Braces pair up, dollars too, and nothing after the shape makes a space.
fn balanced(line: &str, what: &str) {
    let (mut depth, mut dollars, mut escaped) = (0_i32, 0, false);
    for character in line.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' => {
                escaped = true;
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            '$' => dollars += 1,
            '%' | '#' | '&' => panic!("{what}: {line}"),
            _ => {}
        }
        assert!(depth >= 0, "{what}: {line}");
    }
    assert!(depth == 0 && dollars % 2 == 0 && !line.ends_with(' '), "{what}: {line}");
}

fn shape(line: &str, colours: &BTreeSet<&str>, what: &str) {
    let (command, rest) = line.split_once('[').unwrap_or_else(|| panic!("{what}: {line}"));
    let (options, rest) = rest.split_once(']').expect("options end");
    for option in options.split(',') {
        let (key, value) = option.split_once('=').unwrap_or((option, ""));
        let known = match (command, key) {
            ("\\fill" | "\\draw", colour) if colour.starts_with("gpusched") => colours.contains(colour),
            ("\\fill", "pattern") => PATTERNS.contains(&value),
            ("\\fill", "pattern color") | ("\\node", "text") => colours.contains(value),
            ("\\draw", "line width") => millimetres(value.trim_end_matches("mm")) > 0.0,
            ("\\draw", "line join") => value == "round",
            ("\\draw", "dash pattern") => value.starts_with("on "),
            ("\\node", "anchor") => ["base west", "base", "base east"].contains(&value),
            ("\\node", "rotate") => value == "90",
            ("\\node", "scale") => (0.4..1.2).contains(&value.parse::<f64>().expect("a number")),
            _ => false,
        };
        assert!(known, "{what}: {option} in {line}");
    }
    if command == "\\node" {
        let (_, text) = rest.split_once(" {").expect("a text");
        assert!(text.starts_with("\\fontsize{10}{12}\\sffamily"), "{what}: a size without fonts in {line}");
        for (number, part) in unescaped(text).split('$').enumerate() {
            // A tie, ~, is the space at which no line breaks; the sign of a name is set in math.
            assert!(number % 2 == 1 || !part.contains(['_', '^']), "{what}: outside of math in {line}");
            for word in words(part) {
                let allowed: &[&str] = if number % 2 == 0 { &IN_TEXT } else { &IN_MATH };
                assert!(allowed.contains(&word), "{what}: \\{word} in {line}");
            }
        }
    } else {
        let path = rest.trim_end_matches(';').replace("rectangle", "--").replace("--cycle", "");
        for place in path.split("--") {
            let place = place.strip_prefix('(').and_then(|place| place.strip_suffix(')')).expect("a place");
            let (x, y) = place.split_once(',').expect("two numbers");
            // TeX's lengths end at 16384 points.
            assert!(millimetres(x).abs() < 5_000.0 && millimetres(y).abs() < 5_000.0, "{what}: {line}");
        }
    }
}

/// Without characters that a backslash makes harmless.
fn unescaped(text: &str) -> String {
    text.replace("\\$", "")
        .replace("\\{", "")
        .replace("\\}", "")
        .replace("\\_", "")
        .replace("\\%", "")
        .replace("\\^", "")
}

/// The commands of more than one sign.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let after = |part: &'_ str| part.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(part.len());
    text.split('\\').skip(1).map(move |part| &part[..after(part)]).filter(|word| !word.is_empty())
}

fn millimetres(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

#[test]
fn the_checker_refuses_what_latex_would_complain_about() {
    let scenario = published::figure("rtss2017/figure-3");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let options = TimelineOptions::default();
    let tex = Timeline::new(&summary, &options).expect("it can be drawn").draw(&summary, &options).to_tex();
    latex_takes_it(&tex, COLUMN, "sound");
    for (what, by) in [
        ("rectangle(88.57,", "rectangle(88.70,"),
        ("K1:0", "K_1"),
        ("K1:0", "µ"),
        ("K1:0", "50 %"),
        ("K1:0", "\\texttimes"),
        ("\\fontsize{10}", "\\fontsize{6.5}"),
        ("\\end{tikzpicture}%", "\\end{tikzpicture}"),
        ("north east lines", "bricks"),
    ] {
        let broken = tex.replace(what, by);
        assert!(broken != tex, "{what} is not there");
        let refused = std::panic::catch_unwind(|| latex_takes_it(&broken, COLUMN, "broken"));
        assert!(refused.is_err(), "{what} by {by}");
    }
}

#[test]
fn latex_takes_published_timelines_in_a_column_and_across_a_page() {
    for file in published::files() {
        let scenario = published::figure(file.trim_end_matches(".json"));
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let column = TimelineOptions { queues: true, occupancy: true, ..TimelineOptions::default() };
        let page = TimelineOptions { width: PictureOptions::width_named("page").expect("a name"), ..column.clone() };
        for (options, width) in [(column, COLUMN), (page, TEXT)] {
            let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
            let tex = timeline.draw(&summary, &options).to_tex();
            latex_takes_it(&tex, width, &file);
            assert!(tex.lines().count() < MOST_SHAPES, "{file}");
        }
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_latex_takes_figures_of_every_size_and_of_two_runs() {
    for (what, scenario) in sizes() {
        let run = simulate(&scenario).expect("it runs");
        let summary = Summary::of(&run);
        let options = TimelineOptions::default();
        let timeline = Timeline::new(&summary, &options).expect("it can be drawn");
        latex_takes_it(&timeline.draw(&summary, &options).to_tex(), COLUMN, what);
        if what == "a million blocks" {
            continue;
        }
        let observed = measured(&run.trace);
        let upper = Summary::of_trace(&scenario, &observed);
        let panels = Panels { upper: &upper, lower: &summary, marks: &[], notes: vec!["µ < 3 %".to_owned()] };
        for lanes in [Lanes::Sms, Lanes::Streams] {
            let options = TimelineOptions { lanes, ..TimelineOptions::default() };
            latex_takes_it(&panels.draw(&options).expect("it can be drawn").to_tex(), COLUMN, what);
        }
    }
}

#[test]
fn latex_takes_names_of_any_characters() {
    let names =
        ["核函数 <T>", "x_1^2 & y", "100 % \\input{a}", "~`'\"-- #$", "größer µ ≥ …", "a|b ∀ 🚀", "[U] {,} ?! "];
    let kernels: Vec<_> = names.iter().map(|name| ((*name).to_owned(), (*name).to_owned(), 2, 256, 1_000)).collect();
    let scenario = launches("tx2", &kernels);
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let options = TimelineOptions::default();
    let tex = Timeline::new(&summary, &options).expect("it can be drawn").draw(&summary, &options).to_tex();
    latex_takes_it(&tex, COLUMN, "names");
    assert!(tex.contains("[U+6838]") && tex.contains("x\\_1\\^{}2 \\& y") && tex.contains("gr\\\"o\\ss{}er"));
}

/// Folders with logs below a folder.
fn logs_below(folder: &Path) -> Vec<PathBuf> {
    let entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("it can be read").map(|entry| entry.expect("it is there").path()).collect();
    let own = entries.iter().any(|path| path.extension().is_some_and(|extension| extension == "json"));
    let below = entries.iter().filter(|path| path.is_dir()).flat_map(|path| logs_below(path));
    own.then(|| folder.to_owned()).into_iter().chain(below).collect()
}

/// The logs that are shipped, and all below the folder that `GPUSCHED_MEASURED` names, if it does.
#[test]
fn latex_takes_a_column_figure_of_each_measured_log() {
    let directory = directory("figure-tex-logs");
    let file = directory.join("a.tex").display().to_string();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/logs");
    let more = std::env::var_os("GPUSCHED_MEASURED").map(PathBuf::from);
    let mut drawn = 0;
    for logs in [Some(shipped), more].iter().flatten().flat_map(|folder| logs_below(folder)) {
        let name = logs.display().to_string();
        let output = gpusched(&["replay-log", &name, "--width", "column", "--figure", &file]);
        if output.status.code() == Some(2) {
            // Logs that break a rule of the device cannot be simulated.
            println!("{name}: {}", String::from_utf8_lossy(&output.stderr));
            continue;
        }
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let tex = fs::read_to_string(&file).expect("it was written");
        latex_takes_it(&tex, COLUMN, &name);
        assert!(tex.lines().count() < MOST_SHAPES, "{name}");
        drawn += 1;
    }
    println!("{drawn} runs drawn");
    assert!(drawn > 0);
}
