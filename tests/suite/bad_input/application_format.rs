//! Application files.

use gpusched::applications::ApplicationSet;

/// A file with this application and these settings beside it.
fn file(settings: &str, application: &str) -> String {
    format!(r#"{{"format": "gpusched-applications/1", "name": "x"{settings}, "applications": [{{{application}}}]}}"#)
}

const SOUND: &str = r#""name": "A", "class": "high", "requirement": "1 s",
    "kernels": [{"blocks": 2, "threads": 32, "block_time": "1 ms"}]"#;

#[track_caller]
fn refused(text: &str, path: &str, words: &str) {
    let error = ApplicationSet::from_json("in.json", text, None).expect_err("it is refused");
    assert_eq!(error.path, path, "{error}");
    assert!(error.what.contains(words), "{words:?} is not in: {error}");
}

#[track_caller]
fn notes(text: &str) -> Vec<String> {
    ApplicationSet::from_json("in.json", text, None).expect("it is sound").notes
}

#[test]
fn a_fourth_class_is_refused_with_the_three_there_are() {
    let text = file("", &SOUND.replace("high", "realtime"));
    refused(&text, "applications[0].class", "expected \"high\", \"medium\" or \"low\", found \"realtime\"");
}

#[test]
fn empty_kernels_and_applications_are_refused() {
    refused(&file("", &SOUND.replace("\"blocks\": 2", "\"blocks\": 0")), "applications[0].kernels[0].blocks", "from 1");
    refused(
        &file("", &SOUND.replace("\"1 ms\"", "\"0 ms\"")),
        "applications[0].kernels[0].block_time",
        "at least 1 ns",
    );
    let none = r#""name": "A", "class": "high", "requirement": "1 s", "kernels": []"#;
    refused(&file("", none), "applications[0].kernels", "empty list");
    refused(r#"{"format": "gpusched-applications/1", "name": "x", "applications": []}"#, "applications", "empty list");
}

#[test]
fn a_block_that_can_never_run_is_refused_with_both_numbers() {
    let text = file("", &SOUND.replace("\"threads\": 32", "\"threads\": 2048"));
    refused(&text, "applications[0]", "2048 threads, and this device allows at most 1024");
}

#[test]
fn a_requirement_that_can_never_be_met_is_accepted_with_a_note() {
    let found = notes(&file("", &SOUND.replace("\"1 s\"", "\"999 us\"")));
    assert_eq!(found, ["A: can never meet its requirement of 999 us: alone on the whole GPU it takes 1 ms"]);
}

#[test]
fn tables_with_gaps_or_growing_in_p_are_accepted_with_a_note_and_wrong_ones_refused() {
    let table =
        |table: &str| file("", &SOUND.replace("\"block_time\": \"1 ms\"", &format!("\"execution_time\": {table}")));
    let found = notes(&table(r#"{"1": "2 ms", "2": "1 ms", "13": "3 ms"}"#));
    assert!(found[0].contains("no entry for 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 SMs: interpolated"), "{found:?}");
    assert!(found[1].contains("slower on 3 SMs than on 2"), "{found:?}");
    let path = "applications[0].kernels[0].execution_time";
    refused(&table("{}"), path, "found none");
    refused(&table(r#"{"14": "1 ms"}"#), &format!("{path}.14"), "a number of SMs from 1 to 13");
    refused(&table(r#"{"1": "1 ms", "01": "1 ms"}"#), &format!("{path}.01"), "stand twice");
    let both = SOUND.replace("\"block_time\"", "\"execution_time\": {\"1\": \"1 ms\"}, \"block_time\"");
    refused(&file("", &both), "applications[0].kernels[0]", "either \"block_time\" or \"execution_time\"");
}

#[test]
fn arrivals_and_generators_exclude_each_other() {
    let generator = r#", "injection": {"random": {"count": 3, "gap": "500 ms"}}"#;
    let arrivals = format!("{SOUND}, \"arrivals\": [\"0 s\"]");
    refused(&file(generator, &arrivals), "applications[0].arrivals", "generates injections");
    let list = arrivals.replace("\"1 s\"", "[\"1 s\", \"2 s\"]");
    refused(&file("", &list), "applications[0].requirement", "expected one requirement");
    refused(&file(r#", "injection": {}"#, SOUND), "injection", "either \"random\" or \"per_period\"");
}

#[test]
fn a_scenario_is_no_application_file() {
    refused(r#"{"format": "gpusched-scenario/1"}"#, "format", "expected \"gpusched-applications/1\"");
    refused(&file(r#", "device": "tx9""#, SOUND), "device", "no built-in device \"tx9\"");
}

#[test]
fn times_that_do_not_fit_are_refused() {
    let text = file("", &SOUND.replace("\"blocks\": 2", "\"launches\": 4294967295, \"blocks\": 4294967295"));
    refused(&text, "applications[0]", "longer than 2^63 ns");
}
