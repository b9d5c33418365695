//! `gpusched warps` from outside.

use std::fs;
use std::process::Output;

use crate::common::{self, directory, gpusched};

fn warps(arguments: &[&str]) -> Output {
    gpusched(&[&["warps"], arguments].concat())
}

fn json(arguments: &[&str]) -> serde_json::Value {
    common::json(&[&["warps"], arguments, &["--format", "json"]].concat())
}

fn refused(arguments: &[&str]) -> String {
    let output = warps(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn figure_1_from_a_file_is_lc_with_half_a_warp_per_cycle_from_options() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/witnesses/cister2012/llc-of-four-warps.json");
    let by_file = json(&["--instance", file]);
    // Fig. 1: LC with 16 load/store units for 32 threads is LLC with one warp per cycle.
    assert_eq!(by_file["transformed"], "LLC");
    assert_eq!(by_file, json(&["LC", "--warps", "4", "--sigma-l", "1/2"]));
    assert_eq!(by_file["exact"], json(&["LLC", "--warps", "4"])["exact"]);
}

#[test]
fn instances_that_cannot_be_read_are_refused_with_their_place() {
    let folder = directory("warps-instances");
    let file = folder.join("instance.json");
    let path = file.to_str().expect("plain names");
    let cases = [
        (r#"{"format": "gpusched-warps/1", "string": "LX", "warps": 4}"#, "unknown"),
        (
            r#"{"format": "gpusched-warps/1", "string": "LC", "warps": 4, "units": [{"letter": "L", "count": 5}]}"#,
            "warp size",
        ),
        (
            r#"{"format": "gpusched-warps/1", "string": "LC", "warps": 4, "units": [{"letter": "L"}, {"letter": "L"}]}"#,
            "two units",
        ),
        (
            r#"{"format": "gpusched-warps/1", "string": "LC", "warps": 4, "units": [{"letter": "L", "count": 16, "sigma": 1}]}"#,
            "both",
        ),
        (r#"{"format": "gpusched-warps/2", "string": "LC", "warps": 4}"#, "gpusched-warps/1"),
        (r#"{"format": "gpusched-warps/1", "string": "LC"}"#, "warps"),
    ];
    for (text, said) in cases {
        fs::write(&file, text).expect("it is written");
        let error = refused(&["--instance", path]);
        assert!(error.contains("instance.json:1:") && (said == "unknown" || error.contains(said)), "{text}: {error}");
    }
    assert!(refused(&["LC", "--warps", "4", "--instance", path]).contains("--instance"));
    assert!(refused(&["--instance", path, "--sigma-l", "1/2"]).contains("--sigma-l"));
    assert!(refused(&["LC"]).contains("--warps"));
}

#[test]
fn errata_19_by_the_documented_command() {
    let document = json(&["LCL", "--warps", "4", "--estimate-from", "2"]);
    for (key, cycles) in [("pessimistic", 12), ("exact", 9), ("best", 8), ("bound", 9), ("estimate", 8)] {
        assert_eq!(document[key], cycles, "{key}");
    }
    assert_eq!(document["exact_by"], "search");
    assert_eq!(document["estimate_is_bound"], false);
    assert_eq!(document["schedule"]["L"].as_array().map(Vec::len), Some(9));
    let notes = document["notes"].to_string();
    assert!(notes.contains("below what a schedule takes: 9"), "{notes}");
    let document = json(&["LCLCL", "--warps", "4", "--estimate-from", "2"]);
    assert_eq!((&document["exact"], &document["estimate"]), (&14.into(), &12.into()));
}

#[test]
fn no_warps_take_no_time() {
    let document = json(&["LLC", "--warps", "0"]);
    for key in ["pessimistic", "exact", "best", "bound"] {
        assert_eq!(document[key], 0, "{key}");
    }
}

#[test]
fn six_hundred_warps_are_answered_without_search() {
    let document = json(&["LLCLL", "--warps", "600"]);
    assert_eq!(document["bound"], 2401);
    assert_eq!(document["exact"], 2401);
    assert_eq!(document["exact_by"], "construction");
    let notes = document["notes"].to_string();
    assert!(notes.contains("664353676371 states"), "{notes}");
    // Where there is not even a schedule, the bound is what can be said.
    let document = json(&["LLCLL", "--warps", "4000000000"]);
    assert_eq!(document["bound"], 16_000_000_001_u64);
    assert!(document["exact"].is_null() && document["schedule"].is_null());
}

#[test]
fn fractions_cycles_and_further_units_change_the_string() {
    let document = json(&["LC2S", "--warps", "2", "--sigma-l", "1/2", "--unit", "S=2", "--cycles", "S=3"]);
    assert_eq!(document["transformed"], "LLCCSSS");
    assert_eq!(document["units"][2]["capacity"], 2);
    assert_eq!(document["uninterrupted"], false);
    let document = json(&["L2C", "--warps", "3", "--uninterrupted"]);
    assert_eq!(document["uninterrupted"], true);
    assert_eq!(document["exact"], 7, "loads one after the other, and the last computation");
}

#[test]
fn forty_eight_cores_serve_one_warp_and_what_is_left_over_is_said() {
    let folder = directory("warps-48-cores");
    let file = folder.join("instance.json");
    let units = r#"[{"letter": "L", "count": 16}, {"letter": "C", "count": 48}]"#;
    let text = format!(r#"{{"format": "gpusched-warps/1", "string": "LC", "warps": 4, "units": {units}}}"#);
    fs::write(&file, text).expect("it is written");
    let by_count = json(&["--instance", file.to_str().expect("plain names")]);
    assert_eq!(by_count, json(&["LC", "--warps", "4", "--sigma-l", "1/2", "--sigma-c", "3/2"]));
    assert_eq!(by_count["units"][1]["capacity"], 1);
    let notes = by_count["notes"].to_string();
    assert!(notes.contains("sigma 3/2 of C: one whole warp per cycle"), "{notes}");
    // ceil(4 / (1/2)) for L, ceil(4 / (3/2)) for C.
    assert!(notes.contains("would be 11;"), "{notes}");
    let one = json(&["LC", "--warps", "4", "--sigma-l", "1/2"]);
    for key in ["transformed", "pessimistic", "pessimistic_is_bound", "bound", "exact", "best", "estimate", "schedule"]
    {
        assert_eq!(by_count[key], one[key], "{key}");
    }
}

#[test]
fn bad_input_is_refused_with_what_was_expected() {
    assert!(refused(&["", "--warps", "2"]).contains("empty"));
    assert!(refused(&["LXC", "--warps", "2"]).contains("character 2: found 'X'"));
    for sigma in ["0", "2/3", "0.3", "x"] {
        assert!(refused(&["LC", "--warps", "2", "--sigma-l", sigma]).contains("whole number"), "{sigma}");
    }
    assert!(refused(&["LC", "--warps", "2", "--unit", "L=1", "--sigma-l", "2"]).contains("given twice"));
    assert!(refused(&["LC", "--warps", "2", "--unit", "s=1"]).contains("capital letter"));
    assert!(refused(&["LC", "--warps", "2", "--cycles", "S=2"]).contains("--unit"));
    assert!(refused(&["LC", "--warps", "-1"]).contains("-1"));
    assert!(refused(&["LC", "--warps", "2", "--constraints", "long"]).contains("--export"));
    assert!(refused(&["LC", "--warps", "2", "--estimate-from", "0"]).contains('0'));
    assert!(refused(&["LLCLL", "--warps", "600", "--export", "never.lp"]).contains("coefficients"));
}

#[cfg(not(feature = "ilp"))]
#[test]
fn the_solver_needs_the_feature() {
    assert!(refused(&["LC", "--warps", "2", "--solver", "ilp"]).contains("--features ilp"));
}

#[cfg(feature = "ilp")]
#[test]
fn the_solver_answers() {
    let document = json(&["LCL", "--warps", "3", "--solver", "ilp", "--constraints", "long"]);
    assert_eq!((&document["exact"], &document["exact_by"]), (&7.into(), &"ilp".into()));
    assert_eq!(json(&["LC", "--warps", "0", "--solver", "ilp"])["exact"], 0);
}

#[test]
fn every_build_writes_the_program_and_the_figure() {
    let directory = directory("warps-files");
    let (program, figure) = (directory.join("f.lp"), directory.join("f.svg"));
    let (lp, svg) = (program.display().to_string(), figure.display().to_string());
    let output = warps(&["LLC", "--warps", "4", "--export", &lp, "--figure", &svg]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Clock cycle"));
    let program = fs::read_to_string(program).expect("written");
    assert!(program.starts_with('\\') && program.ends_with("End\n"));
    let figure = fs::read_to_string(figure).expect("written");
    assert_eq!(figure.matches(": L</title>").count(), 8);
    assert!(figure.trim_end().ends_with("</svg>"));
}
