//! Examiner scenarios that are wrong.

use gpusched::device::Device;
use gpusched::scenario::LogUse;

use super::*;

#[test]
fn every_required_key_is_missed() {
    let text = spin("");
    for (key, path) in [
        (r#""cuda_device": 0, "#, ""),
        (r#""max_iterations": 1, "#, ""),
        (r#""max_time": 0, "#, ""),
        (r#""filename": "./bin/timer_spin.so", "#, "benchmarks[0]"),
        (r#""thread_count": 32, "#, "benchmarks[0]"),
        (r#""block_count": 1, "#, "benchmarks[0]"),
        (r#", "data_size": 0"#, "benchmarks[0]"),
    ] {
        let less = text.replacen(key, "", 1);
        assert_ne!(less, text, "{key}");
        let name = key.split('"').nth(1).expect("a key");
        refused(&less, path, &format!("the key {name:?} is missing"));
    }
    refused(r#"{"name": "x", "cuda_device": 0, "max_iterations": 1, "max_time": 0}"#, "", "\"benchmarks\" is missing");
}

#[test]
fn unknown_keys_are_named_at_every_level_and_comments_are_not() {
    refused(&level(r#""max_iterations": 1, "max_time": 0, "banana": 1"#, ""), "benchmarks", "empty");
    let settings = r#""max_iterations": 1, "max_time": 0, "banana": 1"#;
    refused(&level(settings, &benchmark("timer_spin", "")), "banana", "unknown key \"banana\"");
    refused(&spin(r#""banana": 1"#), "benchmarks[0].banana", "unknown key");
    for (file, inner, path) in [
        ("sharedmem_timer_spin", r#"{"duration": 1, "banana": 1}"#, "banana"),
        (
            "multikernel",
            r#"[{"kernel_label": "K", "duration": 1, "block_count": 1, "thread_count": 1, "banana": 1}]"#,
            "[0].banana",
        ),
        ("stream_action", r#"{"actions": [{"type": "free"}], "banana": 1}"#, "banana"),
        ("stream_action", r#"{"actions": [{"type": "free", "banana": 1}]}"#, "actions[0].banana"),
        (
            "stream_action",
            r#"{"actions": [{"type": "free", "parameters": {"banana": 1}}]}"#,
            "actions[0].parameters.banana",
        ),
        (
            "stream_action",
            r#"{"actions": [{"type": "kernel", "parameters": {"duration": 1, "banana": 1}}]}"#,
            "actions[0].parameters.banana",
        ),
    ] {
        let dot = if path.starts_with('[') { "" } else { "." };
        refused(&info(file, inner), &format!("benchmarks[0].additional_info{dot}{path}"), "unknown key \"banana\"");
    }
    accepted(&spin(r#""comment": 1, "comment": 2, "comment_more": [3]"#));
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    refused(&spin(r#""label": "A", "label": "B""#), "benchmarks[0].label", "stands twice");
}

#[test]
fn wrong_types_are_named() {
    for (fields, key, words) in [
        (r#""label": 5"#, "label", "expected a string, found 5"),
        (r#""log_name": []"#, "log_name", "expected a string, found a list"),
        (r#""release_time": "1""#, "release_time", "expected a number"),
        (r#""cpu_core": 1.5"#, "cpu_core", "expected a whole number"),
        (r#""max_iterations": true"#, "max_iterations", "expected a whole number"),
        (r#""stream_priority": "high""#, "stream_priority", "expected a whole number"),
        (r#""sm_mask": "banana""#, "sm_mask", "no SM mask"),
        (r#""additional_info": {}"#, "additional_info", "expected a number"),
        (r#""additional_info": "soon""#, "additional_info", "nanoseconds"),
    ] {
        refused(&spin(fields), &format!("benchmarks[0].{key}"), words);
    }
    refused(&level(r#""max_iterations": "1", "max_time": 0"#, "1"), "max_iterations", "expected a whole number");
    refused(&examiner("1"), "benchmarks[0]", "expected an object");
    let settings = r#""max_iterations": 1, "max_time": 0, "pin_cpus": 1"#;
    refused(&level(settings, &benchmark("timer_spin", "")), "pin_cpus", "true or false");
}

#[test]
fn numbers_out_of_range_are_named() {
    for (fields, key, words) in [
        (r#""release_time": -1"#, "release_time", "not negative"),
        (r#""release_time": 1e300"#, "release_time", "2^63 ns"),
        (r#""release_time": 9223372037"#, "release_time", "2^63 ns"),
        (r#""max_time": -0.5"#, "max_time", "not negative"),
        (r#""max_iterations": -1"#, "max_iterations", "whole number"),
        (r#""additional_info": -5"#, "additional_info", "not negative"),
        (r#""additional_info": 1e300"#, "additional_info", "nanoseconds"),
    ] {
        refused(&spin(fields), &format!("benchmarks[0].{key}"), words);
    }
    for (number, words) in [
        ("0", "from 1"),
        ("-1", "from 1"),
        ("2147483648", "to 2147483647"),
        ("0.5", "whole"),
        ("[]", "empty"),
        ("[1, 1, 1, 1]", "at most three"),
        ("[1, 0]", "from 1"),
        ("[65536, 65535]", "product"),
        ("[1, 65536]", "65536 blocks along y"),
        ("[1, 1, 65536]", "65536 blocks along z"),
    ] {
        let text = spin("").replace(r#""block_count": 1"#, &format!(r#""block_count": {number}"#));
        let path = match number {
            "[1, 0]" | "[1, 65536]" => "benchmarks[0].block_count[1]",
            "[1, 1, 65536]" => "benchmarks[0].block_count[2]",
            _ => "benchmarks[0].block_count",
        };
        refused(&text, path, words);
    }
}

#[test]
fn release_times_of_nested_benchmarks_add_up_to_2_to_the_63_ns_at_most() {
    let inner = examiner(&benchmark("timer_spin", r#""release_time": 5e9"#));
    let outer = |release: &str| {
        examiner(&benchmark("task_host", &format!(r#""release_time": {release}, "additional_info": {inner}"#)))
    };
    refused(&outer("5e9"), "benchmarks[0].additional_info.benchmarks[0]", "past 2^63 ns");
    accepted(&outer("4e9"));
}

#[test]
fn blocks_that_can_never_fit_are_refused_with_kernel_limit_and_both_numbers() {
    let text = spin(r#""label": "Big""#).replace("32", "1025");
    refused(&text, "benchmarks[0].thread_count", "kernel \"Big\": a block asks for 1025 threads");
    refused(&text, "benchmarks[0].thread_count", "at most 1024 per block");
    let thick = spin("").replace(r#""thread_count": 32"#, r#""thread_count": [1, 1, 65]"#);
    refused(&thick, "benchmarks[0].thread_count[2]", "65 threads along z, where a block of a CUDA GPU has at most 64");
    let shared = r#"{"duration": 1, "shared_memory_size": 12289}"#;
    refused(&info("sharedmem_timer_spin", shared), "benchmarks[0]", "49156 bytes of shared memory");
    refused(&info("sharedmem_timer_spin", shared), "benchmarks[0]", "at most 49152");
}

#[test]
fn a_mask_that_leaves_no_sm_is_refused() {
    refused(&spin(r#""sm_mask": "0x3""#), "benchmarks[0].sm_mask", "leaves none of the 2 SMs");
    let kernel = r#"[{"kernel_label": "K", "duration": 1, "block_count": 1, "thread_count": 1, "sm_mask": "~0x0"}]"#;
    refused(&info("multikernel", kernel), "benchmarks[0].additional_info[0].sm_mask", "leaves none");
}

#[test]
fn empty_lists_are_refused() {
    refused(&examiner(""), "benchmarks", "empty list");
    refused(&info("multikernel", "[]"), "benchmarks[0].additional_info", "empty list");
    refused(&info("stream_action", r#"{"actions": []}"#), "benchmarks[0].additional_info.actions", "empty list");
}

#[test]
fn missing_additional_info_is_refused_where_it_is_needed() {
    for file in ["sharedmem_timer_spin", "matrix_multiply", "multikernel", "stream_action", "task_host"] {
        refused(&examiner(&benchmark(file, "")), "benchmarks[0]", "additional_info");
    }
}

#[test]
fn stream_actions_are_checked() {
    let action = |action: &str| info("stream_action", &format!(r#"{{"actions": [{action}]}}"#));
    let at = |path: &str| format!("benchmarks[0].additional_info.actions[0]{path}");
    refused(&action(r#"{"type": "dance"}"#), &at(".type"), "\"synchronize\"");
    refused(&action(r#"{"type": "kernel"}"#), &at(""), "\"parameters\" is missing");
    refused(&action(r#"{"type": "kernel", "parameters": {}}"#), &at(".parameters"), "\"duration\" is missing");
    refused(&action(r#"{"type": "memset", "parameters": {}}"#), &at(".parameters"), "\"size\" is missing");
    refused(
        &action(r#"{"type": "memcpy", "parameters": {"size": 1}}"#),
        &at(".parameters"),
        "\"direction\" is missing",
    );
    let sideways = r#"{"type": "memcpy", "parameters": {"size": 1, "direction": "sideways"}}"#;
    refused(&action(sideways), &at(".parameters.direction"), "\"hostToDevice\"");
    refused(&action(r#"{"type": "free", "delay": -1}"#), &at(".delay"), "not negative");
    let kind = r#"{"type": "kernel", "parameters": {"type": "mandelbrot", "duration": 1}}"#;
    refused(&action(kind), &at(".parameters.type"), "\"counter_spin\"");
    let huge = r#"{"type": "memcpy", "parameters": {"size": 18446744073709551615, "direction": "hostToDevice"}}"#;
    accepted(&action(huge));
}

#[test]
fn an_unknown_duration_says_how_to_supply_it_and_an_unneeded_one_is_refused() {
    let text = examiner(&benchmark("mandelbrot", r#""label": "M""#)).replace(r#""data_size": 0"#, r#""data_size": 64"#);
    let error = refusal_with(&text, &ReadOptions::default());
    assert_eq!(error.path, "benchmarks[0]");
    assert!(error.what.contains("block duration") && error.what.contains("mandelbrot"), "{error}");
    assert!(error.help.expect("advice").contains("\"block_duration\": {\"mandelbrot\": \"TIME\"}"));
    for name in ["M", "mandelbrot"] {
        let block_durations = [(name.to_owned(), Duration::from_ns(7))].into();
        let options = ReadOptions { block_durations, ..ReadOptions::default() };
        let scenario = Scenario::from_json("in.json", &text, &options).expect("now it is known");
        assert_eq!(scenario.kernels()[0].duration.worst, Duration::from_ns(7));
        refused_with(&spin(""), &options, "", &format!("{name:?} was given a block duration"));
    }
}

#[test]
fn loop_iterations_that_take_longer_than_a_scenario_may_say_are_refused() {
    // At 10 ns each: 2^63 ns are 922,337,203,685,477,580.8 of them.
    accepted(&info("counter_spin", "922337203685477580"));
    refused(&info("counter_spin", "922337203685477581"), "benchmarks[0].additional_info", "longer than 2^63 ns");
}

#[test]
fn a_share_of_the_gpu_is_refused_of_what_is_no_process() {
    let share = |percentage: &str| spin(&format!(r#""mps_thread_percentage": {percentage}"#));
    refused(&share("50"), "benchmarks[0].mps_thread_percentage", "use_processes is false");
    let help = refusal_with(&share("50"), &ReadOptions::default()).help.expect("advice");
    assert!(help.contains("\"as_threads\""), "{help}");
    for none in ["0", "-1", "100.5", "\"all\""] {
        refused(&share(none), "benchmarks[0].mps_thread_percentage", "");
    }
    accepted(&share("100.0"));
    let as_threads = ReadOptions { as_threads: true, ..ReadOptions::default() };
    let processes = r#""max_iterations": 1, "max_time": 0, "use_processes": true"#;
    for text in [level(processes, &benchmark("timer_spin", "")), share("50")] {
        let scenario = Scenario::from_json("in.json", &text, &as_threads).expect("as threads");
        assert!(scenario.notes.iter().any(|note| note.contains("as asked for")), "{:?}", scenario.notes);
    }
}

#[test]
fn synchronized_iterations_go_with_one_limit_for_all() {
    let synced = r#""max_iterations": 1, "max_time": 0, "sync_every_iteration": true"#;
    let own = benchmark("timer_spin", r#""max_iterations": 2"#);
    refused(&level(synced, &own), "benchmarks[0].max_iterations", "sync_every_iteration");
    accepted(&level(synced, &benchmark("timer_spin", "")));
}

#[test]
fn two_logs_of_one_name_are_refused_however_it_is_spelt() {
    let two = |first: &str, second: &str| {
        let log = |name: &str| benchmark("timer_spin", &format!(r#""log_name": {name:?}"#));
        examiner(&format!("{}, {}", log(first), log(second)))
    };
    for (first, second) in
        [("a.json", "a.json"), ("a.json", "./a.json"), ("b/./a.json", "b//a.json"), ("a.json", "b/../a.json")]
    {
        refused(&two(first, second), "benchmarks[1].log_name", "two benchmarks write their logs");
    }
    let default = examiner(&format!(
        "{}, {}",
        benchmark("timer_spin", r#""log_name": "timer_spin_1.json""#),
        benchmark("timer_spin", "")
    ));
    refused(&default, "benchmarks[1]", "timer_spin_1.json");
    for name in ["", ".", "a/"] {
        refused(&two("ok.json", name), "benchmarks[1].log_name", "not the name of a file");
    }
    accepted(&two("a.json", "b/a.json"));
}

#[test]
fn log_names_that_lead_out_of_the_result_directory_are_refused_where_logs_are_written() {
    let options = ReadOptions { logs: LogUse::KeptInside, ..ReadOptions::default() };
    for name in ["../../evil.json", "/tmp/evil.json", "a/../../evil.json"] {
        let text = spin(&format!(r#""log_name": {name:?}"#));
        refused_with(&text, &options, "benchmarks[0].log_name", "out of the result directory");
        accepted(&text);
    }
}

#[test]
fn endless_scenarios_need_a_horizon() {
    let endless = level(r#""max_iterations": 0, "max_time": 0"#, &benchmark("timer_spin", r#""label": "E""#));
    refused(&endless, "benchmarks[0]", "\"E\"");
    refused(&endless, "benchmarks[0]", "never ends");
    let options = ReadOptions { horizon: Some(Duration::from_ns(50_000_000)), ..ReadOptions::default() };
    assert!(Scenario::from_json("in.json", &endless, &options).is_ok());
    // With a horizon, time must go on all the same.
    let zero = benchmark("timer_spin", r#""additional_info": 0"#);
    refused_with(&level(r#""max_iterations": 0, "max_time": 0"#, &zero), &options, "benchmarks[0]", "stand still");
    // 0 of its own lifts the scenario's limit.
    refused(&spin(r#""max_iterations": 0"#), "benchmarks[0]", "never ends");
}

#[test]
fn task_hosts_are_checked_and_nested_to_a_limit() {
    let inner = |device: u32| {
        let text = examiner(&benchmark("timer_spin", ""));
        text.replace(r#""cuda_device": 0"#, &format!(r#""cuda_device": {device}"#))
    };
    refused(&info("task_host", &inner(1)), "benchmarks[0].additional_info.cuda_device", "expected 0");
    refused(&info("task_host", "[]"), "benchmarks[0].additional_info", "expected an object");
    refused(&info("task_host", "{}"), "benchmarks[0].additional_info", "\"max_iterations\" is missing");
    let nested = |depth: usize| (0..depth).fold(inner(0), |inner, _| info("task_host", &inner));
    accepted(&nested(16));
    let error = refusal_with(&nested(17), &ReadOptions::default());
    assert!(error.what.contains("more than 16 deep"), "{error}");
    let error = refusal_with(&nested(2_000), &ReadOptions::default());
    assert_eq!(error.line, 1, "{error}");
}

#[test]
fn ten_thousand_benchmarks_are_read_in_no_time() {
    let many: Vec<String> = (0..10_000).map(|_| benchmark("timer_spin", "")).collect();
    assert_eq!(accepted(&examiner(&many.join(", "))).threads.len(), 10_000);
}

#[test]
fn masks_that_have_no_effect_are_noted_and_not_applied() {
    let actions = r#""additional_info": {"actions": [{"type": "kernel", "parameters": {"duration": 1000}}]}"#;
    for (kind, fields, masked) in [
        ("stream_action", actions, false),
        ("timer_spin_default_stream", r#""additional_info": 1000"#, false),
        ("timer_spin", r#""additional_info": 1000"#, true),
    ] {
        // The first TPC of a Titan V's forty.
        let text = examiner(&benchmark(kind, &format!(r#"{fields}, "sm_mask": "~0x1""#)));
        let titan_v = Device::builtin("titan-v").expect("sound");
        let options = ReadOptions { device: titan_v, ..ReadOptions::default() };
        let scenario = Scenario::from_json("in.json", &text, &options).expect("it is sound");
        let notes = scenario.notes.iter().filter(|note| note.contains("has no effect")).count();
        assert_eq!(
            (scenario.streams().iter().any(|stream| stream.sm_mask.is_some()), notes == 0),
            (masked, masked),
            "{kind}: {:?}",
            scenario.notes
        );
    }
}
