//! `gpusched residents`: how many blocks of each launch are there, and how many fit.

use serde_json::{Value, json};

use crate::common::{gpusched, json as document, stderr};
use crate::never_started::{endless, mirage, two_barriers, written};

/// The rows of the command, by the values of some columns.
fn rows(arguments: &[&str], keys: &[&str]) -> Vec<Vec<Value>> {
    let told = document(&[&["residents"], arguments, &["--format", "json"]].concat());
    let rows = told["residents"].as_array().expect("a list").iter();
    rows.map(|row| keys.iter().map(|key| row[*key].clone()).collect()).collect()
}

#[test]
fn of_each_launch_it_is_told_how_many_blocks_are_there_and_how_many_fit() {
    const KEYS: &[&str] = &[
        "kernel",
        "blocks",
        "started",
        "most_resident",
        "most_since_ns",
        "resident",
        "never_started",
        "alone",
        "sure",
    ];
    let of = |test: &str, file: &Value| {
        let keys = [&["name"], &KEYS[1..]].concat();
        rows(&[&written(test, file)], &keys).into_iter().map(Value::from).collect::<Vec<_>>()
    };
    let us = 1_000_u64;
    assert_eq!(
        of("residents_mirage", &mirage()),
        [json!(["scheduler", 80, 80, 80, 0, 80, 0, 80, 80]), json!(["worker", 128, 68, 68, 0, 68, 60, 128, 68])]
    );
    assert_eq!(
        of("residents_barriers", &two_barriers()),
        [
            json!(["other", 20, 20, 20, 0, 0, 0, 20, 0]),
            json!(["redA", 58, 38, 38, 100 * us, 38, 20, 58, 0]),
            json!(["redB", 58, 20, 20, 1_000 * us, 20, 38, 58, 0]),
        ]
    );
}

#[test]
fn at_an_instant_blocks_are_resident_have_ended_or_have_not_started() {
    let path = written("residents_at", &two_barriers());
    let keys = ["at_ns", "name", "resident", "ended", "not_started"];
    let at = |at: &str| rows(&[&path, "--at", at], &keys).into_iter().map(Value::from).collect::<Vec<_>>();
    let ms = 1_000_000_u64;
    let at_500_us =
        [json!([ms / 2, "other", 20, 0, 0]), json!([ms / 2, "redA", 38, 0, 20]), json!([ms / 2, "redB", 0, 0, 58])];
    assert_eq!(at("500us"), at_500_us);
    // The end of a block is before what happens at that instant.
    assert_eq!(at("1ms")[0], json!([ms, "other", 0, 20, 0]));
    assert_eq!(at("1ms")[2], json!([ms, "redB", 20, 0, 38]));
    let both = rows(&[&path, "--at", "1ms", "--at", "500us"], &keys);
    assert_eq!(both.len(), 6);
    assert_eq!(Value::from(both[4].clone()), at_500_us[1]);
    let late = gpusched(&["residents", &path, "--at", "2s"]);
    assert_eq!(late.status.code(), Some(2));
    assert!(stderr(&late).contains("--at 2 s is after the horizon"), "{}", stderr(&late));
}

#[test]
fn contexts_that_take_turns_do_not_meet_and_suspended_blocks_have_not_ended() {
    let mut file = endless("tx2", &[("K", 4, 1024, 0, "0 s"), ("L", 4, 1024, 0, "0 s")]);
    file["processes"] = json!({"a": {}, "b": {}});
    (file["streams"][0]["process"], file["streams"][1]["process"]) = ("a".into(), "b".into());
    let path = written("residents_turns", &file);
    for row in rows(&[&path], &["resident", "never_started", "alone", "sure"]) {
        assert_eq!(Value::from(row), json!([4, 0, 4, 4]));
    }
}
