//! Native scenarios that are wrong.

use super::*;

/// A sound scenario; tests replace a part of it.
const SOUND: &str = r#"{"format": "gpusched-scenario/1", "name": "x",
    "kernels": {"K": {"blocks": 6, "threads": 32, "duration": "1 s"}},
    "streams": [{"name": "S", "operations": [{"kernel": "K"}]}, {"name": "T"}],
    "hosts": [{"name": "H", "steps": [{"launch": "K", "stream": "T"}]}],
    "expected": {"source": "s", "tolerance": "0 s", "kernels": [{"name": "K", "finish": "1 s"}]}}"#;

fn with(from: &str, to: &str) -> String {
    assert_eq!(SOUND.matches(from).count(), 1, "{from}");
    SOUND.replace(from, to)
}

#[track_caller]
fn changed(from: &str, to: &str, path: &str, words: &str) {
    refused(&with(from, to), path, words);
}

fn step(step: &str, path: &str, words: &str) {
    changed(r#"{"launch": "K", "stream": "T"}"#, step, &format!("hosts[0].steps[0]{path}"), words);
}

#[test]
fn the_example_is_sound() {
    accepted(SOUND);
}

#[test]
fn required_keys_are_missed_and_unknown_ones_named() {
    changed(r#", "name": "x""#, "", "", "\"name\" is missing");
    changed(r#""blocks": 6, "#, "", "kernels.K", "\"blocks\" is missing");
    changed(r#""threads": 32, "#, "", "kernels.K", "\"threads\" is missing");
    changed(r#"{"name": "T"}"#, "{}", "streams[1]", "\"name\" is missing");
    changed(r#""name": "H", "#, "", "hosts[0]", "\"name\" is missing");
    changed(r#""tolerance": "0 s", "#, "", "expected", "\"tolerance\" is missing");
    changed(r#", "finish": "1 s""#, "", "expected.kernels[0]", "is missing");
    for (from, to, path) in [
        (r#""name": "x""#, r#""name": "x", "banana": 1"#, "banana"),
        (r#""blocks": 6"#, r#""blocks": 6, "banana": 1"#, "kernels.K.banana"),
        (r#"{"name": "T"}"#, r#"{"name": "T", "banana": 1}"#, "streams[1].banana"),
        (r#"[{"kernel": "K"}]"#, r#"[{"kernel": "K", "banana": 1}]"#, "streams[0].operations[0].banana"),
        (r#""name": "H""#, r#""name": "H", "banana": 1"#, "hosts[0].banana"),
        (r#""stream": "T""#, r#""stream": "T", "banana": 1"#, "hosts[0].steps[0].banana"),
        (r#""source": "s""#, r#""source": "s", "banana": 1"#, "expected.banana"),
        (r#""finish": "1 s""#, r#""finish": "1 s", "banana": 1"#, "expected.kernels[0].banana"),
    ] {
        changed(from, to, path, "unknown key \"banana\"");
    }
}

#[test]
fn names_that_nothing_has_are_refused_with_those_that_there_are() {
    changed(r#"{"kernel": "K"}"#, r#"{"kernel": "L"}"#, "streams[0].operations[0].kernel", "no kernel");
    step(r#"{"launch": "L", "stream": "T"}"#, ".launch", "no kernel of this scenario is called \"L\"");
    step(r#"{"launch": "K", "stream": "U"}"#, ".stream", "no stream of this scenario is called \"U\"");
    step(r#"{"synchronize": "U"}"#, ".synchronize", "no stream");
    changed(r#"[{"name": "K", "finish""#, r#"[{"name": "L", "finish""#, "expected.kernels[0].name", "no kernel");
    let error = refusal_with(&with(r#""stream": "T""#, r#""stream": "U""#), &ReadOptions::default());
    assert_eq!(error.help.as_deref(), Some("there are: NULL, S, T"));
}

#[test]
fn names_that_stand_twice_are_refused() {
    changed(r#"{"name": "T"}"#, r#"{"name": "S"}"#, "streams[1].name", "two streams are called \"S\"");
    let twice = r#"{"name": "NULL"}, {"name": "T"}, {"name": "NULL"}"#;
    changed(r#"{"name": "T"}"#, twice, "streams[3].name", "two streams are called \"NULL\"");
    changed(r#""name": "H""#, r#""name": "S""#, "hosts[0].name", "two host threads are called \"S\"");
    let kernels = r#"{"K": {"blocks": 1, "threads": 1, "duration": "1 s"}, "K""#;
    changed(r#"{"K""#, kernels, "kernels.K", "two kernels are called \"K\"");
    changed(
        r#"{"name": "K", "finish": "1 s"}"#,
        r#"{"name": "K", "finish": "1 s"}, {"name": "K", "finish": "2 s"}"#,
        "expected.kernels[1]",
        "expected twice",
    );
    changed(r#"{"name": "T"}"#, r#"{"name": ""}"#, "streams[1].name", "not empty");
    for word in ["device", "last"] {
        changed(r#"{"name": "T"}"#, &format!(r#"{{"name": "{word}"}}"#), "streams[1].name", "synchronize");
    }
}

#[test]
fn empty_lists_and_objects_are_refused() {
    changed(r#"[{"kernel": "K"}]"#, "[]", "streams[0].operations", "empty list");
    changed(r#"[{"launch": "K", "stream": "T"}]"#, "[]", "hosts[0].steps", "empty list");
    changed(r#"[{"name": "K", "finish": "1 s"}]"#, "[]", "expected.kernels", "empty list");
    step(r#"{"repeat": 2, "steps": []}"#, ".steps", "empty list");
    refused(r#"{"format": "gpusched-scenario/1", "name": "x", "hosts": []}"#, "hosts", "at least one");
    for (key, empty) in [("streams", "[]"), ("kernels", "{}")] {
        let text = format!(r#"{{"format": "gpusched-scenario/1", "name": "x", "{key}": {empty}}}"#);
        refused(&text, "", "launches anything");
    }
    refused(r#"{"format": "gpusched-scenario/1", "name": "x"}"#, "", "launches anything");
    let idle = r#"{"format": "gpusched-scenario/1", "name": "x", "streams": [{"name": "S"}]}"#;
    refused(idle, "", "launches anything");
}

#[test]
fn times_need_a_unit_and_a_range() {
    for (time, words) in [
        ("1", "expected a time as a string"),
        ("\"1\"", "no known unit"),
        ("\"1 h\"", "no known unit"),
        ("\"-1 s\"", "negative"),
        ("\"1e300 s\"", "too large"),
        ("\"9223372037 s\"", "too large"),
        ("\"NaN s\"", "no known unit"),
        ("[]", "expected a time"),
        ("{}", "\"best\" is missing"),
    ] {
        changed(r#""duration": "1 s""#, &format!(r#""duration": {time}"#), "kernels.K.duration", words);
    }
    let bounds = r#""duration": {"best": "2 s", "worst": "1 s"}"#;
    changed(r#""duration": "1 s""#, bounds, "kernels.K.duration", "longer than the worst, 1 s");
    for key in ["time_limit", "period", "deadline"] {
        let fields = format!(r#""name": "H", "{key}": "0 s""#);
        changed(r#""name": "H""#, &fields, &format!("hosts[0].{key}"), "at least 1 ns");
    }
    for key in ["period", "deadline"] {
        let fields = format!(r#""name": "S", "{key}": "0 s""#);
        changed(r#""name": "S""#, &fields, &format!("streams[0].{key}"), "at least 1 ns");
    }
    changed(r#""name": "x""#, r#""name": "x", "horizon": "0 ms""#, "horizon", "at least 1 ns");
}

#[test]
fn numbers_out_of_range_are_named() {
    for (from, to, path) in [
        (r#""blocks": 6"#, r#""blocks": 0"#, "kernels.K.blocks"),
        (r#""blocks": 6"#, r#""blocks": -1"#, "kernels.K.blocks"),
        (r#""blocks": 6"#, r#""blocks": 1.5"#, "kernels.K.blocks"),
        (r#""blocks": 6"#, r#""blocks": [3, 0]"#, "kernels.K.blocks[1]"),
        (r#""threads": 32"#, r#""threads": "32""#, "kernels.K.threads"),
        (r#""threads": 32"#, r#""threads": 32, "shared_memory_bytes": -1"#, "kernels.K.shared_memory_bytes"),
        (r#""threads": 32"#, r#""threads": 32, "registers_per_thread": 1e300"#, "kernels.K.registers_per_thread"),
        (r#""name": "x""#, r#""name": "x", "seed": -1"#, "seed"),
        (r#""name": "H""#, r#""name": "H", "iterations": 0"#, "hosts[0].iterations"),
        (r#""name": "S""#, r#""name": "S", "period": "1 s", "jobs": 0"#, "streams[0].jobs"),
        (
            r#"{"launch": "K", "stream": "T"}"#,
            r#"{"repeat": 0, "steps": [{"sleep": "1 s"}]}"#,
            "hosts[0].steps[0].repeat",
        ),
        (r#"{"launch": "K", "stream": "T"}"#, r#"{"memset": -1, "stream": "T"}"#, "hosts[0].steps[0].memset"),
    ] {
        changed(from, to, path, "expected a whole number");
    }
}

#[test]
fn what_the_device_cannot_do_is_refused() {
    changed(r#""threads": 32"#, r#""threads": [32, 33]"#, "kernels.K.threads", "at most 1024 per block");
    changed(r#""threads": 32"#, r#""threads": [1, 1, 128]"#, "kernels.K.threads[2]", "128 threads along z");
    changed(r#""blocks": 6"#, r#""blocks": [1, 70000]"#, "kernels.K.blocks[1]", "at most 65535");
    let shared = r#""threads": 32, "shared_memory_bytes": 50000"#;
    changed(r#""threads": 32"#, shared, "kernels.K", "50000 bytes of shared memory");
    let registers = r#""threads": 1024, "registers_per_thread": 64"#;
    changed(r#""threads": 32"#, registers, "kernels.K", "registers");
    changed(r#""threads": 32"#, r#""threads": 32, "sm_mask": "0x3""#, "kernels.K.sm_mask", "leaves none of the 2 SMs");
    for priority in [-2, 1] {
        let fields = format!(r#""name": "S", "priority": {priority}"#);
        changed(r#""name": "S""#, &fields, "streams[0].priority", "-1 (highest) to 0 (lowest)");
    }
    changed(r#""name": "T""#, r#""name": "T", "sm_mask": "0xf""#, "streams[1].sm_mask", "leaves none");
    changed(r#""name": "T""#, r#""name": "T", "sm_mask": "banana""#, "streams[1].sm_mask", "no SM mask");
    for (device, path, words) in
        [("\"gtx9999\"", "device", "tx2"), ("5", "device", "device object"), ("{}", "device", "\"name\" is missing")]
    {
        changed(r#""name": "x""#, &format!(r#""name": "x", "device": {device}"#), path, words);
    }
    changed(r#""name": "x""#, r#""name": "x", "placement": "best""#, "placement", "\"most-room\"");
}

#[test]
fn the_null_stream_has_no_properties_of_its_own() {
    for field in [r#""priority": 0"#, r#""blocking": true"#, r#""sm_mask": "0x1""#] {
        let stream = format!(r#""name": "NULL", {field}"#);
        changed(r#""name": "T"}"#, &format!("{stream}}}, {{\"name\": \"T\"}}"), "streams[1]", "NULL stream");
    }
}

#[test]
fn times_of_a_stream_need_operations_and_jobs_a_period() {
    for field in [r#""release": "1 s""#, r#""period": "1 s""#, r#""jobs": 1"#, r#""deadline": "1 s""#] {
        changed(r#""name": "T""#, &format!(r#""name": "T", {field}"#), "streams[1]", "needs \"operations\"");
    }
    changed(r#""name": "S""#, r#""name": "S", "jobs": 2"#, "streams[0]", "needs a \"period\"");
}

#[test]
fn a_step_is_one_thing() {
    step("{}", "", "expected one of the keys");
    step(r#"{"lunch": "K"}"#, "", "expected one of the keys \"launch\"");
    step(r#"{"sleep": "1 s", "barrier": "B"}"#, "", "found \"sleep\" and \"barrier\"");
    step(r#"{"sleep": 1}"#, ".sleep", "a time as a string");
    step(r#"{"launch": "K"}"#, "", "\"stream\" is missing");
    step(r#"{"copy": "host-to-device", "stream": "T"}"#, "", "needs \"bytes\"");
    step(r#"{"copy": "up", "bytes": 1, "stream": "T"}"#, ".copy", "\"device-to-host\"");
    step(r#"{"barrier": ""}"#, ".barrier", "not empty");
    step("1", "", "expected an object");
    changed(
        r#"{"kernel": "K"}"#,
        r#"{"sleep": "1 s"}"#,
        "streams[0].operations[0]",
        "\"kernel\", \"graph\", \"copy\", \"memset\", \"record\", \"wait\", \"wait_value\" or \"write_value\"",
    );
}

#[test]
fn repeats_are_nested_to_a_limit() {
    let nested = |depth: usize| {
        let launch = r#"{"launch": "K", "stream": "T"}"#.to_owned();
        let steps = (0..depth).fold(launch.clone(), |inner, _| format!(r#"{{"repeat": 1, "steps": [{inner}]}}"#));
        with(&launch, &steps)
    };
    accepted(&nested(16));
    let error = refusal_with(&nested(17), &ReadOptions::default());
    assert!(error.what.contains("more than 16 deep"), "{error}");
    assert_eq!(refusal_with(&nested(3_000), &ReadOptions::default()).file, "in.json");
}

#[test]
fn endless_scenarios_need_a_horizon() {
    let beside_counted = with(r#""name": "S""#, r#""name": "S", "period": "1 s""#)
        .replace(r#""name": "H""#, r#""name": "H", "iterations": 2"#);
    refused(&beside_counted, "streams[0]", "never ends");
    accepted(&beside_counted.replace(r#""name": "x""#, r#""name": "x", "horizon": "9 s""#));
    // A launch that nothing waits for takes the host no time.
    changed(r#""name": "H""#, r#""name": "H", "time_limit": "1 s""#, "hosts[0]", "stand still");
    accepted(
        &with(r#""name": "H""#, r#""name": "H", "time_limit": "1 s""#)
            .replace(r#""stream": "T"}"#, r#""stream": "T"}, {"synchronize": "last"}"#),
    );
}

#[test]
fn what_is_periodic_without_end_is_released_for_one_hyperperiod() {
    let periodic = |camera: &str, lidar: &str| {
        with(
            r#"{"name": "S", "operations": [{"kernel": "K"}]}"#,
            &format!(
                r#"{{"name": "camera", "period": "{camera}", "operations": [{{"kernel": "K"}}]}},
                {{"name": "lidar", "release": "5 ms", "period": "{lidar}", "operations": [{{"kernel": "K"}}]}}"#
            ),
        )
    };
    // The last first release is at 5 ms, so nothing is released at 45 ms or later: 0, 10 .. 40 ms, and 5 ms.
    let scenario = accepted(&periodic("10 ms", "40 ms"));
    assert_eq!(
        scenario.threads.iter().map(|thread| thread.iterations).collect::<Vec<_>>(),
        [Some(5), Some(1), Some(1)]
    );
    assert!(scenario.notes.iter().any(|note| note.contains("released before 45 ms, one hyperperiod")), "{scenario:?}");
    refused(&periodic("10 ms", "9999991 ns"), "streams[0]", "more than 10000 jobs come");
}

#[test]
fn an_unknown_duration_says_how_to_supply_it() {
    let text = with(r#", "duration": "1 s""#, "");
    let error = refusal_with(&text, &ReadOptions::default());
    assert_eq!(error.path, "kernels.K");
    assert!(error.help.expect("advice").contains("\"block_duration\": {\"K\": \"TIME\"}"));
    let block_durations = [("K".to_owned(), Duration::from_ns(7))].into();
    let options = ReadOptions { block_durations, ..ReadOptions::default() };
    assert!(Scenario::from_json("in.json", &text, &options).is_ok());
    refused_with(SOUND, &options, "", "\"K\" was given a block duration");
}

#[test]
fn expected_blocks_per_sm_fit_the_device_and_the_kernel() {
    let counts = |counts: &str| format!(r#""finish": "1 s", "blocks_per_sm": {counts}"#);
    let path = "expected.kernels[0].blocks_per_sm";
    changed(r#""finish": "1 s""#, &counts("[6]"), path, "2 SMs");
    changed(r#""finish": "1 s""#, &counts("[3, 4]"), path, "the kernel has 6 blocks, and these are 7");
    changed(r#""finish": "1 s""#, &counts("[3, -1]"), &format!("{path}[1]"), "whole number");
}

#[test]
fn expected_sms_of_blocks_are_one_for_each_block_and_exist() {
    let sms = |sms: &str| format!(r#""sm_of_block": {sms}"#);
    let path = "expected.kernels[0].sm_of_block";
    accepted(&with(r#""finish": "1 s""#, &sms("[0, 1, null, 1, 0, 1]")));
    changed(r#""finish": "1 s""#, &sms("[0, 1]"), path, "the kernel's 6 blocks is needed; there are 2");
    changed(r#""finish": "1 s""#, &sms("[0, 1, 0, 1, 0, 2]"), &format!("{path}[5]"), "whole number from 0 to 1");
    changed(r#""finish": "1 s""#, &sms("[null, null, null, null, null, null]"), path, "leave the key out");
    changed(r#""finish": "1 s""#, r#""finish": "1 s", "place": """#, "expected.kernels[0].place", "not empty");
}
