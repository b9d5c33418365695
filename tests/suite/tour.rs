//! `gpusched tour`: what it tells is so.

use std::fs;

use serde_json::Value;

use super::common::{directory, gpusched, stderr};

#[test]
fn the_tour_is_one_page_of_scenes_in_two_parts_that_loads_nothing() {
    let path = directory("tour").join("tour.html");
    let file = path.display().to_string();
    let output = gpusched(&["tour", "-o", &file]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{file}: open it in a browser\n"));
    let page = fs::read_to_string(&path).expect("it is written");
    assert_eq!(page.matches("<section class=\"scene\"").count(), 8 + 6);
    assert_eq!(page.matches("<p class=\"question\">").count(), 8 + 6);
    assert_eq!(page.matches(". Newer GPUs: ").count(), 6);
    for loads in ["http:", "https:", "src=\"", "@import", "fetch(", "import("] {
        assert!(!page.contains(loads), "{loads}");
    }
    // Each command of a scene names a scenario that is shipped.
    for command in page.split("<code>gpusched simulate scenarios/").skip(1) {
        let scenario = format!("scenarios/{}", command.split(' ').next().expect("it goes on"));
        assert!(fs::metadata(&scenario).is_ok(), "{scenario}");
    }
    let refused = gpusched(&["tour", "-o", "tour.pdf"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains(".html"), "{}", stderr(&refused));
}

/// The launches of a kernel, in order.
fn kernels(arguments: &[&str], name: &str) -> Vec<Value> {
    let output = gpusched(&[&["simulate"], arguments, &["--format", "json", "--blocks"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut kernels = report["kernels"].as_array().expect("a list").clone();
    kernels.retain(|kernel| kernel["name"] == *name);
    kernels
}

fn kernel(arguments: &[&str], name: &str) -> Value {
    kernels(arguments, name).swap_remove(0)
}

#[test]
fn answers_of_the_tour_are_what_the_simulation_says() {
    let starts = |arguments: &[&str], name: &str| {
        let kernel = kernel(arguments, name);
        let blocks = kernel["placements"].as_array().expect("a list").clone();
        blocks.iter().map(|block| block["start_ns"].as_u64().expect("a number") / 1_000_000).collect::<Vec<u64>>()
    };
    assert_eq!(starts(&["scenarios/tour/one-kernel.json"], "K1"), [0; 6]);
    let no_room = "scenarios/ospert2017/figure-4.json";
    assert_eq!(starts(&[no_room], "K4"), [500, 500]);
    let one_queue = "scenarios/ospert2017/figure-5.json";
    assert!(starts(&[one_queue], "K2").contains(&1_000), "K2's next block takes the room");
    assert_eq!(starts(&[one_queue], "K3"), [2_250]);
    let priorities = "scenarios/rtss2017/figure-6.json";
    assert_eq!(starts(&[priorities], "K1")[4..], [4_500; 4]);
    let equal = [priorities, "--set-priority", "S2=0", "--set-priority", "S3=0"];
    assert_eq!(starts(&equal, "K1")[4..], [500; 4]);
    let null = "scenarios/rtss2017/figure-5.json";
    assert_eq!(kernel(&[null], "K5")["launched_ns"], 600_000_000);
    assert_eq!((starts(&[null], "K5")[0], starts(&[null], "K6")), (5_000, vec![6_000, 6_000]));
    let late = "scenarios/deadlines/camera-and-lidar.json";
    for arguments in [&[late][..], &[late, "--set-priority", "camera=-1"]] {
        assert_eq!(starts(arguments, "register"), [19; 4]);
        let detect = kernels(arguments, "detect");
        let starts = |job: usize| detect[job]["placements"][0]["start_ns"].as_u64();
        assert_eq!((starts(0), starts(1)), (Some(2_000_000), Some(27_000_000)), "{arguments:?}");
    }
    let why = "scenarios/rtss2017/figure-3.json";
    assert_eq!(starts(&[why], "K5"), [2_000, 2_000]);
    let on_sm_1 = |name: &str| {
        let blocks = kernel(&[why], name)["placements"].as_array().expect("a list").clone();
        let here = |block: &&Value| block["sm"] == 1 && block["start_ns"] == 1_000_000_000;
        blocks.iter().filter(here).count()
    };
    assert_eq!((on_sm_1("K1"), on_sm_1("K4")), (0, 2), "1536 threads of SM 1 are free after 1 s");
}

/// As [`answers_of_the_tour_are_what_the_simulation_says`], of the second part. That of persistent kernels is in
/// `persistent.rs`.
#[test]
fn answers_of_the_tour_on_newer_gpus_are_what_the_simulation_says() {
    let read = |file: &str| fs::read_to_string(file).expect("it is shipped");
    let folder = directory("tour-newer-gpus");
    let changed = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).expect("it can be written");
        file.display().to_string()
    };
    let gpcs = read("scenarios/rules/placement-by-gpcs.json").replace("\"blocks\": 160", "\"blocks\": 1024");
    let first = kernel(&[&changed("gpcs.json", &gpcs)], "first");
    let blocks = first["placements"].as_array().expect("a list");
    let on = |sm: u32| blocks.iter().filter(|block| block["sm"] == sm).count();
    assert_eq!([on(142), on(147), on(0), on(129), on(130), on(141)], [7, 7, 7, 7, 6, 6]);
    let chain = "scenarios/rules/programmatic-launch.json";
    let end = |file: &str| kernels(&[file], "stage").last().expect("six")["finish_ns"].as_u64();
    assert_eq!(end(chain), Some(3_574_250));
    let plain = read(chain).replace(", \"programmatic\": true", "");
    assert_eq!(end(&changed("plain.json", &plain)), Some(6_134_000));
    let clusters = "scenarios/rules/clusters.json";
    assert_eq!(kernel(&[clusters], "gemm")["first_start_ns"], 3_000_000);
    assert_eq!(kernel(&[clusters, "--set-cluster", "gemm=8"], "gemm")["last_start_ns"], 0);
    let steps = kernels(&["scenarios/rules/graphs.json"], "norm");
    assert_eq!((&steps[1]["launched_ns"], &steps[1]["first_start_ns"]), (&0.into(), &6_000_000.into()));
    let green = "scenarios/rules/green-contexts.json";
    assert_eq!(kernel(&[green], "decode")["first_start_ns"], 1_000_000);
    let mut without: Value = serde_json::from_str(&read(green)).expect("JSON");
    without.as_object_mut().expect("an object").remove("green_contexts");
    for stream in without["streams"].as_array_mut().expect("a list") {
        stream.as_object_mut().expect("an object").remove("green_context");
    }
    assert_eq!(kernel(&[&changed("without.json", &without.to_string())], "decode")["first_start_ns"], 9_000_000);
}

#[test]
fn in_one_stream_the_frames_of_the_tour_take_14_ms_and_in_three_11() {
    let end = |file: &str| {
        let output = gpusched(&["simulate", file, "--format", "json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["end_ns"].as_u64()
    };
    let three = "scenarios/events/double-buffering.json";
    assert_eq!(end(three), Some(11_000_000));
    let mut scenario: Value = serde_json::from_str(&fs::read_to_string(three).expect("it is shipped")).expect("JSON");
    for step in scenario["hosts"][0]["steps"].as_array_mut().expect("a list") {
        step["stream"] = "in".into();
    }
    scenario.as_object_mut().expect("an object").remove("expected");
    let one = directory("tour-frames").join("one-stream.json");
    fs::write(&one, scenario.to_string()).expect("it can be written");
    assert_eq!(end(one.to_str().expect("text")), Some(14_000_000));
}
