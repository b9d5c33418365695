//! Limits that the pages and the help tell in numbers are those of the sources.

use std::fs;

use super::source_files;

/// The end of a file's path, and the name of a constant in it.
type Constant = (&'static str, &'static str);

/// Of each: a page or a file with help, the words around the number, and the constants whose product it is.
const TOLD: [(&str, &str, &[Constant]); 40] = [
    ("cli/simulate.rs", "of more than {} (--perfetto", &[("cli/simulate.rs", "MANY_BLOCKS")]),
    ("cli/simulate.rs", "--perfetto: {}, above", &[("cli/run_files.rs", "MOST_BLOCKS")]),
    ("cli/simulate.rs", "--html: {}, of which", &[("pictures/html.rs", "MANY_BLOCKS")]),
    ("cli/analyze.rs", "of more than {} operations without", &[("search/affordable.rs", "MOST_UNJUDGED")]),
    ("tasks/curve.rs", "no period from 1 to {}", &[("tasks/task_set.rs", "MAX_TIME")]),
    ("tasks/test.rs", "period is from 1 to {}", &[("tasks/task_set.rs", "MAX_TIME")]),
    ("docs/amalthea.md", "at most {} jobs", &[("scenario/endless.rs", "MOST_JOBS")]),
    ("docs/amalthea.md", "more than {} elements inside each other", &[("amalthea/xml.rs", "MAX_DEPTH")]),
    ("docs/amalthea.md", "more than {} attributes", &[("amalthea/xml.rs", "MAX_ATTRIBUTES")]),
    (
        "docs/analysis.md",
        "At most {} states are explored",
        &[("safe_bound/explore.rs", "MOST_STATES"), ("safe_bound/explore.rs", "MOST_APART")],
    ),
    ("docs/analysis.md", "of more than {} choices", &[("safe_bound/fill.rs", "MOST_CHOICES")]),
    (
        "docs/analysis.md",
        "no more than {} operations are looked at",
        &[("safe_bound/carried_over.rs", "MOST_UNFINISHED")],
    ),
    ("docs/analysis.md", "there are {} classes or fewer", &[("safe_bound/release_orders.rs", "MOST_ORDERS")]),
    ("docs/analysis.md", "no more than {} operations in all of them", &[("analysis/safe_bound.rs", "MOST_TOGETHER")]),
    ("docs/analysis.md", "more than {} such waits", &[("safe_bound/graph.rs", "MOST_WAITS")]),
    ("docs/analysis.md", "more than {} operations, or a", &[("search/affordable.rs", "MOST_UNJUDGED")]),
    ("docs/analysis.md", "or {} blocks, have no deadline", &[("search/affordable.rs", "MOST_UNJUDGED_BLOCKS")]),
    ("docs/analysis.md", "more than {} blocks; a note", &[("search/affordable.rs", "MOST_BLOCKS_OF_A_RUN")]),
    ("docs/analysis.md", "more than {} jobs. Verdicts", &[("scenario/endless.rs", "MOST_JOBS")]),
    ("docs/analysis.md", "more than {} jobs of a thread", &[("chains/bounds.rs", "MOST_JOBS")]),
    ("docs/analysis.md", "up to {} operations);", &[("analysis/jobs.rs", "MOST_TWICE")]),
    ("docs/analysis.md", "more than {} jobs would be there", &[("job_bounds/model.rs", "MOST_QUEUED")]),
    ("docs/analysis.md", "more than {} operations or 4", &[("safe_bound/windows.rs", "MOST_BESIDE")]),
    ("docs/analysis.md", "or {} states, nor", &[("safe_bound/windows.rs", "MOST_STATES_OF_A_JOB")]),
    ("docs/analysis.md", "up to {} operations and pauses", &[("job_bounds/program.rs", "MOST_STEPS")]),
    ("docs/analysis.md", "more than {} threads together", &[("analysis/job_bounds.rs", "MOST_THREADS")]),
    ("docs/analysis.md", "up to {} runs; with too", &[("analysis/job_set.rs", "MOST_RUNS")]),
    ("docs/analysis.md", "all orders up to {} (8", &[("analysis/launch_orders.rs", "MOST_ORDERS")]),
    ("docs/examiner.md", "Up to {} deep", &[("scenario/examiner.rs", "MAX_NESTING")]),
    ("docs/examiner.md", "of more than {} a", &[("examiner/one_kernel.rs", "MOST_SIDE")]),
    ("docs/explain.md", "together, up to {}.", &[("job_bounds/program.rs", "MOST_STEPS")]),
    ("docs/gpu-evr.md", "more than {} SMs", &[("gpu_evr/mapping.rs", "MAX_SMS")]),
    ("docs/model.md", "{} operations at most", &[("gpu/host.rs", "DEFAULT_MAX_OPERATIONS")]),
    ("docs/model.md", "may take {} steps", &[("hosts/program.rs", "MAX_IDLE_STEPS")]),
    ("docs/page.md", "of long ones {} rows", &[("formats/page.rs", "MAX_HTML_ROWS")]),
    ("docs/python.md", "the first {} rows", &[("formats/page.rs", "MAX_HTML_ROWS")]),
    ("docs/scenario-format.md", "up to {} deep", &[("native/threads.rs", "MAX_NESTING")]),
    ("docs/tasks.md", "at most {}, of one unit", &[("tasks/task_set.rs", "MAX_TIME")]),
    ("docs/tasks.md", "more than {} jobs, is an error", &[("hosts/real_time.rs", "MAX_JOBS")]),
    ("docs/timeline.md", "more than {} parts", &[("html/reports.rs", "MOST_PARTS")]),
];

/// The source whose path ends so.
fn source(end: &str) -> String {
    let path = source_files().into_iter().find(|path| path.ends_with(end)).unwrap_or_else(|| panic!("no {end}"));
    fs::read_to_string(path).expect("it is text")
}

/// The number of a constant that is a number, a power of two, or a time or count of one.
fn constant(file: &str, name: &str) -> u64 {
    let text = source(file);
    let line = text.lines().find(|line| line.contains(&format!("const {name}: ")));
    let (_, value) = line.and_then(|line| line.split_once(" = ")).unwrap_or_else(|| panic!("{file} has no {name}"));
    let digits = value.rsplit('(').next().expect("a part").trim_end_matches([')', ';']).replace('_', "");
    let number = |digits: &str| digits.parse::<u64>().unwrap_or_else(|_| panic!("{file}: {name} is {value}"));
    digits.split_once(" << ").map_or_else(|| number(&digits), |(one, places)| number(one) << number(places))
}

/// How pages tell a number.
fn told(number: u64) -> Vec<String> {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    let words = [(1, "a"), (4, "four"), (10, "ten")];
    let of_million = words.iter().filter(|(count, _)| count * 1_000_000 == number);
    let mut all: Vec<String> = of_million.map(|(_, word)| format!("{word} million")).collect();
    let units =
        [(1_000_000, "million"), (1_000, "thousand")].into_iter().filter(|(unit, _)| number.is_multiple_of(*unit));
    all.extend(units.map(|(unit, word)| format!("{} {word}", number / unit)));
    all.extend([groups.join(","), digits.clone()]);
    all.extend(number.is_power_of_two().then(|| format!("2^{}", number.ilog2())));
    all
}

#[test]
fn limits_are_told_as_they_are() {
    for (page, words, constants) in TOLD {
        let text = fs::read_to_string(page).unwrap_or_else(|_| source(page));
        let text = text.split_whitespace().filter(|word| *word != "///").collect::<Vec<_>>().join(" ");
        let number = constants.iter().map(|(file, name)| constant(file, name)).product();
        let ways = told(number);
        assert!(ways.iter().any(|way| text.contains(&words.replace("{}", way))), "{page}: {words}: {ways:?}");
    }
}
