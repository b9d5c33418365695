//! Input that is wrong: every error names the field and says what is wrong with it.

mod application_format;
mod examiner_format;
mod native_format;

use std::fs::OpenOptions;
use std::io::Write;

use gpusched::json::JsonError;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;

use crate::common::keep_refused;

fn refusal_with(text: &str, options: &ReadOptions) -> JsonError {
    if *options == ReadOptions::default() {
        keep_refused("json", text);
    }
    match Scenario::from_json("in.json", text, options) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => {
            if *options == ReadOptions::default() {
                keep(text, &error);
            }
            error
        }
    }
}

/// Appends what is refused, and how, to the file that `GPUSCHED_BAD_INPUTS` names, one JSON object a line: the Python
/// package and the page are to say the same.
fn keep(text: &str, error: &JsonError) {
    let Some(path) = std::env::var_os("GPUSCHED_BAD_INPUTS") else { return };
    let JsonError { line, column, path: field, what, help, .. } = error;
    let (line, column) = (*line, *column);
    let case = serde_json::json!({
        "text": text, "message": error.to_string(), "line": line, "column": column, "path": field, "what": what, "help": help,
    });
    // One write: other tests append at the same time.
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.expect("it can be written").write_all(format!("{case}\n").as_bytes()).expect("it can be written");
}

/// Asserts that `text` is refused at `path` with a message that has `words` in it.
#[track_caller]
fn refused(text: &str, path: &str, words: &str) {
    refused_with(text, &ReadOptions::default(), path, words);
}

#[track_caller]
fn refused_with(text: &str, options: &ReadOptions, path: &str, words: &str) {
    let error = refusal_with(text, options);
    assert_eq!(error.path, path, "{error}");
    assert!(error.what.contains(words), "{words:?} is not in: {error}");
    assert!(error.line >= 1 && error.column >= 1 && error.file == "in.json", "{error}");
}

#[track_caller]
fn accepted(text: &str) -> Scenario {
    Scenario::from_json("in.json", text, &ReadOptions::default()).expect("it is sound")
}

/// An examiner scenario with these top-level settings and benchmarks.
fn level(settings: &str, benchmarks: &str) -> String {
    format!(r#"{{"name": "x", "cuda_device": 0, {settings}, "benchmarks": [{benchmarks}]}}"#)
}

fn examiner(benchmarks: &str) -> String {
    level(r#""max_iterations": 1, "max_time": 0"#, benchmarks)
}

/// A benchmark with these fields besides the required ones.
fn benchmark(file: &str, fields: &str) -> String {
    let comma = if fields.is_empty() { "" } else { ", " };
    format!(r#"{{"filename": "./bin/{file}.so", "thread_count": 32, "block_count": 1, "data_size": 0{comma}{fields}}}"#)
}

fn spin(fields: &str) -> String {
    examiner(&benchmark("timer_spin", fields))
}

fn info(file: &str, info: &str) -> String {
    examiner(&benchmark(file, &format!(r#""additional_info": {info}"#)))
}

mod json {
    use super::*;

    #[test]
    fn broken_json_is_located() {
        for (text, line) in [("", 1), ("{\"name\": ", 1), ("{\"name\":\n \"x\"\n]", 3), ("[1 2]", 1), ("{} {}", 1)] {
            let error = refusal_with(text, &ReadOptions::default());
            assert_eq!((error.line, error.path.as_str()), (line, ""), "{error}");
            assert!(error.what.contains("not valid JSON"), "{error}");
        }
    }

    #[test]
    fn a_trailing_comma_is_called_so_and_located() {
        for (text, place, end) in [("{\"name\":\n \"x\",\n}", (2, 5), '}'), ("{\"a\": [1, 2, ]}", (1, 12), ']')] {
            let error = refusal_with(text, &ReadOptions::default());
            assert_eq!((error.line, error.column), place, "{error}");
            assert_eq!(error.what, format!("not valid JSON: trailing comma before {end:?}"));
        }
    }

    #[test]
    fn a_key_that_may_be_meant_for_one_that_is_missing_is_named() {
        let misspelt = spin("").replace("block_count", "block");
        refused(&misspelt, "benchmarks[0]", "the key \"block_count\" is missing; is \"block\" meant for it?");
        // Keys that are known otherwise are not meant for it.
        let missing = spin(r#""block_counts": 1"#).replace(r#""block_count": 1, "#, "");
        refused(&missing, "benchmarks[0]", "is \"block_counts\" meant for it?");
        let missing = spin("").replace(r#""block_count": 1, "#, "");
        assert!(refusal_with(&missing, &ReadOptions::default()).what.ends_with("the key \"block_count\" is missing"));
    }

    #[test]
    fn a_line_that_is_cut_says_so_by_ellipses() {
        let filler = "x".repeat(100);
        let text = format!(r#"{{"format": 1, "name": "{filler}"}}"#);
        let error = refusal_with(&text, &ReadOptions::default());
        assert!(error.excerpt.ends_with('…') && error.excerpt.chars().count() < 125, "{error}");
        let text = format!(r#"{{"name": "{filler}", "format": 1, "comment": "{filler}"}}"#);
        let error = refusal_with(&text, &ReadOptions::default());
        assert!(error.excerpt.starts_with('…') && error.excerpt.ends_with('…'), "{error}");
        let at: String = error.excerpt.chars().skip(error.excerpt_column).collect();
        assert!(at.starts_with("1, "), "{error}");
    }

    #[test]
    fn what_is_in_neither_format_is_told_of_both() {
        for text in ["{}", r#"{"name": "x", "kernels": {}, "streams": []}"#, r#"{"name": "x", "comment": "max_time"}"#]
        {
            let error = refusal_with(text, &ReadOptions::default());
            assert!(error.what.contains("neither of the two formats"), "{error}");
            let said = error.to_string();
            assert!(said.contains("\"format\": \"gpusched-scenario/1\"") && said.contains("\"benchmarks\""), "{said}");
        }
        // One key of the examiner's is enough to be told what else it asks for.
        refused(r#"{"name": "x", "benchmarks": []}"#, "", "\"max_iterations\" is missing");
    }

    #[test]
    fn other_values_than_an_object_are_refused() {
        for text in ["[]", "1", "\"x\"", "null", "true"] {
            refused(text, "", "expected an object");
        }
    }

    #[test]
    fn an_unknown_format_is_refused() {
        refused(r#"{"format": "gpusched-scenario/2", "name": "x"}"#, "format", "gpusched-scenario/1");
        refused(r#"{"format": 1, "name": "x"}"#, "format", "expected a string");
    }
}
