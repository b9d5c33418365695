//! The models in `scenarios/amalthea/`.

use gpusched::amalthea::TickBound;
use gpusched::analysis::analyse;
use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::tables::RunnableTimes;
use gpusched::time::{Duration, Instant};

use super::super::published;
use super::*;

const MODELS: [&str; 5] =
    ["tx2-like-waters2019", "thesis-appendix", "thesis-kernels-0.9.0", "thesis-kernels-0.9.2", "thesis-kernels-0.9.5"];

fn text(name: &str) -> String {
    let path = published::root().join(format!("amalthea/{name}.amxmi"));
    std::fs::read_to_string(path).expect("the file is there")
}

/// The finish times of the kernels in ns, in launch order.
fn finishes(scenario: &Scenario) -> Vec<(String, u64)> {
    let run = simulate(scenario).expect("it runs");
    let summary = Summary::of(&run);
    let finish = |kernel: gpusched::run::KernelSummary<'_>| kernel.finish_ns.expect("it finishes").as_ns();
    summary.kernels().map(|kernel| (kernel.launch.name().to_owned(), finish(kernel))).collect()
}

fn launched(name: &str, order: &[&str], chosen: &AmaltheaOptions) -> Vec<(String, u64)> {
    let runnables = order.iter().map(|&name| name.to_owned()).collect();
    let text = text(name);
    finishes(&scenario_with(&text, &AmaltheaOptions { runnables, ..chosen.clone() }).expect("sound"))
}

#[test]
fn no_model_is_forgotten_and_all_are_read_whole() {
    let mut found: Vec<String> = std::fs::read_dir(published::root().join("amalthea"))
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable entry").file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    // Those with stimuli and with cores, which also have what is not read: `stimuli.rs`, `cores.rs`.
    let mut listed = vec!["periodic-with-requirements.amxmi".to_owned(), "shared-core.amxmi".to_owned()];
    listed.extend(MODELS.map(|name| format!("{name}.amxmi")));
    listed.sort();
    assert_eq!(found, listed);
    for name in MODELS {
        let text = text(name);
        let model = parsed(&text);
        assert!(model.skipped.is_empty() && model.notes.is_empty(), "{name}: {:?} {:?}", model.skipped, model.notes);
    }
}

#[test]
fn thesis_kernels_finish_as_measured_in_every_order_and_schema_version() {
    const SECOND: u64 = 1_000_000_000;
    // Sec. 3.5 and 4.2 of the thesis, measured on a TX2 and found by Algorithm 2.
    let published: [(&[&str], [u64; 4]); 4] = [
        (&["K1", "K2", "K3", "K4"], [4, 10, 12, 11]),
        (&["K2", "K3", "K4", "K1"], [6, 12, 11, 10]),
        (&["K2", "K4", "K1", "K3"], [6, 11, 10, 12]),
        (&["K2", "K1", "K3", "K4"], [6, 8, 12, 11]),
    ];
    for version in ["0.9.0", "0.9.2", "0.9.5"] {
        for (order, seconds) in published {
            let expected: Vec<(String, u64)> =
                order.iter().zip(seconds).map(|(name, finish)| ((*name).to_owned(), finish * SECOND)).collect();
            let found = launched(&format!("thesis-kernels-{version}"), order, &AmaltheaOptions::default());
            assert_eq!(found, expected, "{version}");
        }
    }
}

#[test]
fn the_forms_of_ticks_differ_from_version_to_version() {
    for (name, version, unit) in [
        ("thesis-kernels-0.9.0", "0.9.0", "Instructions"),
        ("thesis-kernels-0.9.2", "0.9.2", "Instructions"),
        ("thesis-appendix", "0.9.3", "ticks"),
        ("thesis-kernels-0.9.5", "0.9.5", "ticks"),
        ("tx2-like-waters2019", "0.9.7", "ticks"),
    ] {
        let model = listed(&text(name));
        assert_eq!(model["version"], version);
        let mut ticks = list(&model, "runnables").iter().flat_map(|runnable| list(runnable, "ticks"));
        assert!(ticks.all(|entry| entry["unit"] == unit), "{name}");
    }
}

#[test]
fn the_appendix_example_finishes_as_algorithm_2_has_it() {
    // By hand, eight blocks at once, in ticks of 1 ms. R1: 5 blocks at 0. R2: 3 at 0, 3 at 10, 5 at 14, 1 at 20.
    // R3: 2 at 20. R4: 5 at 24, 1 at 30, 5 at 35, 2 at 39, 1 at 41, 3 at 46. R5: 2 at 46, 2 at 50, 1 at 52, 3 at 57.
    let found = finishes(&scenario_with(&text("thesis-appendix"), &AmaltheaOptions::default()).expect("sound"));
    let expected = [("R1", 14), ("R2", 30), ("R3", 39), ("R4", 57), ("R5", 73)];
    assert_eq!(found, expected.map(|(name, finish)| (name.to_owned(), finish * 1_000_000)));
}

#[test]
fn the_tx2_model_has_the_published_ticks_of_the_waters_challenge_2019() {
    let model = listed(&text("tx2-like-waters2019"));
    let thousands = |ticks: u128| Some(ticks * 1_000_000_000);
    let expected = [
        ("Localization", 175_500, 180_000, 186_000),
        ("Detection", 162_000, 165_000, 174_000),
        ("Lane detection", 36_750, 39_750, 41_000),
        ("SFM", 10_575, 10_800, 11_850),
    ];
    let kernels: Vec<&Value> =
        list(&model, "runnables").iter().filter(|runnable| !list(runnable, "ticks").is_empty()).collect();
    assert_eq!(kernels.len(), expected.len());
    for (runnable, (name, lower, value, upper)) in kernels.into_iter().zip(expected) {
        assert_eq!(runnable["name"], name);
        let [(_, range)] = numbers(runnable, "ticks")[..] else { panic!("{name} has one amount") };
        assert_eq!(range, (thousands(lower), thousands(value), thousands(upper)), "{name}");
    }
}

#[test]
fn the_tx2_model_finishes_as_by_hand_with_and_without_copies() {
    // Worst cases at 1.25 GHz: 148.8, 139.2, 32.8 and 9.48 ms; eight blocks of 512 threads at once; 10 GB/s.
    // Localization: two waves of 8 from 0.8 ms, when its copy ends. Detection: 8 at 298.4, 4 at 437.6. Lane detection:
    // 4 at 437.6, 2 at 470.4. SFM: 2 at 470.4, 2 at 479.88.
    let all = ["Localization", "Detection", "Lane detection", "SFM"];
    let us = |times: [u64; 4]| -> Vec<(String, u64)> {
        all.into_iter().zip(times).map(|(name, time)| (name.to_owned(), time * 1_000)).collect()
    };
    assert_eq!(
        launched("tx2-like-waters2019", &[], &AmaltheaOptions::default()),
        us([298_400, 576_800, 503_200, 489_360])
    );
    // Without the first copy everything is 0.8 ms earlier.
    let without = AmaltheaOptions { without_copies: true, ..AmaltheaOptions::default() };
    assert_eq!(launched("tx2-like-waters2019", &all, &without), us([297_600, 576_000, 502_400, 488_560]));
    // Averages: 144, 132, 31.8 and 8.64 ms.
    let average = AmaltheaOptions { ticks: TickBound::Average, ..without };
    assert_eq!(launched("tx2-like-waters2019", &all, &average), us([288_000, 552_000, 483_600, 469_080]));
}

#[test]
fn times_are_exported_by_runnable_with_their_copies() {
    let text = text("tx2-like-waters2019");
    let scenario = scenario_with(&text, &AmaltheaOptions::default()).expect("sound");
    let run = simulate(&scenario).expect("it runs");
    let summary = Summary::of(&run);
    let times = RunnableTimes::of_run(&summary, None);
    let mut csv = Vec::new();
    RunnableTimes::write_csv(&times, &mut csv).expect("it can be written");
    let csv = String::from_utf8(csv).expect("text");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(
        lines[1],
        "Localization,16,512,148800000,148800000,8000000,1000000,0,800000,298400000,298500000,298500000,,,,,0,1,298500000"
    );
    assert_eq!(
        lines[4],
        "SFM,4,512,9480000,9480000,4000000,2000000,0,470400000,489360000,489560000,489560000,,,,,0,1,489560000"
    );
    assert!(lines.iter().all(|line| line.split(',').count() == lines[0].split(',').count()));
    let mut json = Vec::new();
    RunnableTimes::write_json(&times, &mut json).expect("it can be written");
    let document: serde_json::Value = serde_json::from_slice(&json).expect("one document");
    assert_eq!(document["runnables"][3]["runnable"], "SFM");
    assert_eq!(document["runnables"][3]["finish_ns"], 489_560_000);
    assert_eq!(document["runnables"][0]["analysed_kernel_finish_ns"], serde_json::Value::Null);
}

#[test]
fn analysed_times_are_exported_beside_the_simulated_ones_with_the_copies() {
    let text = text("tx2-like-waters2019");
    let scenario = scenario_with(&text, &AmaltheaOptions::default()).expect("sound");
    let (run, analysis) = (simulate(&scenario).expect("it runs"), analyse(&scenario).expect("it can be analysed"));
    let summary = Summary::of(&run);
    let times = RunnableTimes::of_run(&summary, Some(&analysis));
    // By hand as above: the kernel's end, and 10 GB/s for 1, 1, 1 and 2 MB after it.
    let ms = |times: [u64; 4]| times.map(|hundredths| Some(hundredths * 10_000));
    let column = |of: fn(&RunnableTimes<'_>) -> Option<Instant>| {
        times.iter().map(|one| of(one).map(Instant::as_ns)).collect::<Vec<_>>()
    };
    assert_eq!(column(|one| one.analysed_kernel_finish_ns), ms([29_840, 57_680, 50_320, 48_936]));
    assert_eq!(column(|one| one.analysed_finish_ns), ms([29_850, 57_690, 50_330, 48_956]));
    assert!(
        times
            .iter()
            .all(|one| one.analysed_response_ns.map(Duration::as_ns) == one.analysed_finish_ns.map(Instant::as_ns))
    );
    assert!(times.iter().all(|one| one.safe_kernel_finish_ns >= one.kernel_finish_ns));
}
