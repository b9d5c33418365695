//! What pages say of GPUs: the tests that docs/hardware.md names exist, the built-in devices have what tables say of
//! them, and what has no other test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gpusched::device::{BlockDemand, BlockShape, Device, Preemption, Runlists};
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::workload::OperationId;

use crate::generate::builtin;

mod claims;

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).expect("the page")
}

#[test]
fn every_test_that_the_page_on_hardware_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/hardware.md")).expect("the page");
    let named: BTreeSet<&str> = page
        .lines()
        .filter(|line| line.starts_with('|'))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|code| code.contains("::"))
        .collect();
    assert!(named.len() > 20, "{named:?}");
    for test in named {
        let (module, name) = test.split_once("::").expect("it has both");
        let text = fs::read_to_string(root.join(format!("tests/suite/{module}.rs"))).expect(test);
        assert!(text.contains(&format!("#[test]\nfn {name}()")), "{test} is no test");
    }
}

#[test]
fn a_single_block_of_an_a100_goes_to_sm_0() {
    // Measured 5 of 5 times (slotbench).
    let text = r#"{"format": "gpusched-scenario/1", "name": "one",
        "kernels": {"k": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
        "streams": [{"name": "s", "operations": [{"kernel": "k"}]}]}"#;
    let options = ReadOptions { device: Some(builtin("a100-80gb")), ..ReadOptions::default() };
    let scenario = Scenario::from_json("one", text, &options).expect("it is sound");
    let run = simulate(&scenario).expect("it runs");
    assert_eq!(run.trace.blocks(OperationId(0)).map(|block| block.sm).collect::<Vec<_>>(), [0]);
}

/// The compute capabilities that a heading of docs/hardware.md names: `(V100, Xavier: 7.0, 7.2)`, `(7.5 to 8.9)`.
fn is_of(heading: &str, device: &Device) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let of_device = number(&device.compute_capability).expect("two numbers");
    let Some(within) = heading.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')')) else { return false };
    within.rsplit([':', ',']).any(|part| match part.split_once(" to ") {
        Some((from, to)) => {
            let ends = number(from).zip(number(to)).expect("two compute capabilities");
            (ends.0..=ends.1).contains(&of_device)
        }
        None => number(part) == Some(of_device),
    })
}

/// The devices of which something holds that was found on a board: it itself, or, where it is not built in, those that
/// say that they take it from there.
fn taking_from(board: &str, devices: &[&str], key: &str) -> Vec<Device> {
    let cites = |device: &Device| {
        let cited = ["a", "an"].map(|article| format!("measured on {article} {board}"));
        device.assumptions.get(key).is_some_and(|why| cited.iter().any(|cited| why.contains(cited)))
    };
    if devices.is_empty() {
        claims::devices().into_iter().filter(cites).collect()
    } else {
        devices.iter().map(|name| builtin(name)).collect()
    }
}

#[test]
fn what_tables_say_of_devices_their_files_have() {
    let page = page("hardware.md");
    let rows = claims::rows(&page, &["rule", "known", "measured on", "by", "our test"]);
    let mut checked = 0;
    for (heading, cells) in rows {
        let [rule, known, on, ..] = cells[..] else { panic!("{cells:?}") };
        if known.contains("not modelled") || known.contains("0 unless stated") {
            continue;
        }
        for (words, key, holds) in claims::CLAIMS {
            let Some((_, rest)) = rule.split_once(words) else { continue };
            // Not of a number, but of whatever comes.
            let is_counted = words.ends_with(' ');
            if is_counted && !rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.starts_with("about ") {
                continue;
            }
            let named = claims::named(rule).into_iter().filter(|_| rule.contains("(`"));
            let mut devices: Vec<Device> = named.collect();
            if devices.is_empty() {
                let boards = claims::boards(on);
                assert_eq!(boards.is_empty(), on.is_empty(), "no board is known in {on:?}");
                devices = boards.iter().flat_map(|(board, devices)| taking_from(board, devices, key)).collect();
            }
            if on.is_empty() && devices.is_empty() {
                devices = claims::devices().into_iter().filter(|device| is_of(heading, device)).collect();
            }
            assert!(!devices.is_empty(), "no device has {rule:?} of {on:?}, and the row does not say why");
            for device in devices {
                assert!(holds(rest, &device), "{heading}: {rule:?} is not so of {}", device.name);
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "only {checked} were found");
}

#[test]
fn every_device_is_of_one_family_of_the_page_on_hardware() {
    let page = page("hardware.md");
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    for device in claims::devices() {
        let of = headings.iter().filter(|heading| is_of(heading, &device)).count();
        assert_eq!(of, 1, "{} of compute capability {}", device.name, device.compute_capability);
    }
}

#[test]
fn slices_and_switches_of_the_page_on_processes_are_those_of_the_devices_and_known_as_it_says() {
    let page = page("processes.md");
    let rows = claims::rows(&page, &["family", "devices", "slice", "switch", "preemption", "copies"]);
    let mut of_rows: Vec<String> = Vec::new();
    for (_, cells) in rows {
        let [family, devices, slice, switch, preemption, copies] = cells[..] else { panic!("{cells:?}") };
        for device in claims::named(devices) {
            let of = &device.time_slicing;
            let is = |text: &str, has| claims::time(text).map(|(value, _)| value) == Some(has);
            assert!(is(slice, of.time_slice), "{family}: {slice:?} is not the slice of {}", device.name);
            assert!(is(switch, of.switch_cost), "{family}: {switch:?} is not the switch of {}", device.name);
            let stops = if of.preemption == Preemption::MidBlock { "in mid-block" } else { "at the end of blocks" };
            assert!(preemption.starts_with(stops), "{family}: {preemption:?} of {}", device.name);
            let runlists = if of.runlists == Runlists::Separate { "separate" } else { "shared" };
            assert!(copies.starts_with(runlists), "{family}: {copies:?} of {}", device.name);
            let keys = ["time_slice_ns", "switch_cost_ns", "preemption", "runlists"];
            for (key, cell) in keys.into_iter().zip([slice, switch, preemption, copies]) {
                let known = cell.split_once(", ").map_or("", |(_, known)| known);
                let noted = if known.starts_with("assumed") { &device.assumptions } else { &device.sources };
                assert!(known.starts_with("assumed") || known.starts_with("known"), "{family}: {cell:?}");
                assert!(noted.contains_key(key), "{family}: {key} of {} is not {known}", device.name);
            }
            of_rows.push(device.name.clone());
        }
    }
    of_rows.sort();
    let mut all: Vec<String> = claims::devices().iter().map(|device| device.name.clone()).collect();
    all.sort();
    assert_eq!(of_rows, all, "each device once");
}

#[test]
fn times_that_the_model_gives_for_boards_are_those_of_the_devices() {
    let page = page("model.md");
    let mut checked = 0;
    for (rule, key) in [("T2", "time_slice_ns"), ("T3", "switch_cost_ns")] {
        let row = page.lines().find(|line| line.starts_with(&format!("| {rule} |"))).expect("the rule");
        for part in row.split(')') {
            let Some((before, within)) = part.rsplit_once('(') else { continue };
            let words: Vec<&str> = before.split_whitespace().collect();
            let [.., how, number, unit] = words[..] else { continue };
            let how = if ["about", "above"].contains(&how) { how } else { "" };
            let Some((value, off)) = claims::time(&format!("{how} {number} {unit}")) else { continue };
            for (board, devices) in claims::boards(within) {
                for device in taking_from(board, devices, key) {
                    let of = &device.time_slicing;
                    let has = if rule == "T2" { of.time_slice } else { of.switch_cost };
                    let is_so = has.as_ns().abs_diff(value.as_ns()) <= off.as_ns();
                    assert!(is_so, "{rule}: {how} {value} ({board}) is not so of {}", device.name);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 10, "only {checked} were found");
}

#[test]
fn numbers_of_sms_and_channels_that_pages_give_for_boards_are_those_of_the_devices() {
    let pages = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")).expect("the pages");
    let (mut sms, mut channels) = (0, 0);
    for path in pages.map(|entry| entry.expect("a page").path()).filter(|path| path.extension() == Some("md".as_ref()))
    {
        let page = fs::read_to_string(&path).expect("the page").replace('\n', " ");
        for (at, _) in page.match_indices(" SMs") {
            let before = page[..at].trim_end_matches(|c: char| c.is_ascii_digit());
            let Ok(count) = page[before.len()..at].parse::<u32>() else { continue };
            let before = before.trim_end_matches(['(', ',', ' ']);
            let last = before.char_indices().rev().nth(15).map_or(0, |(at, _)| at);
            let Some((_, devices)) =
                claims::boards(&before[last..]).into_iter().find(|(name, _)| before.ends_with(name))
            else {
                continue;
            };
            for name in devices {
                assert_eq!(builtin(name).sms, count, "{}: {name} ({count} SMs)", path.display());
                sms += 1;
            }
        }
        for board in ["Xavier", "Orin"] {
            for (at, _) in page.match_indices(&format!(" on {board}")) {
                let before = page[..at].trim_end_matches(|c: char| c.is_ascii_digit());
                let Ok(count) = page[before.len()..at].parse::<u32>() else { continue };
                for device in claims::devices().iter().filter(|device| device.title.contains(board)) {
                    let is_so = device.channels.is_none_or(|channels| channels == count);
                    assert!(is_so, "{}: {count} channels on {board}, not so of {}", path.display(), device.name);
                    channels += 1;
                }
            }
        }
    }
    assert!(sms >= 7 && channels >= 5, "{sms} numbers of SMs, {channels} of channels");
}

#[test]
fn boards_that_integrators_have_are_as_published() {
    // Data sheets, deviceQuery and the CUDA Programming Guide, as their files cite them: SMs, threads of an SM, shared
    // memory of a block at most, GPCs, channels.
    for (name, sms, threads, shared, gpcs, channels) in [
        ("thor", 20, 1536, 227 << 10, Some(3), 8),
        ("gb10", 48, 1536, 99 << 10, None, 8),
        ("rtx-pro-6000", 188, 1536, 99 << 10, Some(12), 8),
        ("b300", 148, 2048, 227 << 10, Some(8), 8),
        ("orin-nx", 8, 1536, 163 << 10, None, 4),
        ("orin-nano", 8, 1536, 163 << 10, None, 4),
        ("xavier-nx", 6, 2048, 96 << 10, None, 2),
    ] {
        let device = builtin(name);
        let has = (device.sms, device.per_sm.threads, device.per_block.shared_memory_bytes, device.channels);
        assert_eq!(has, (sms, threads, shared, Some(channels)), "{name}");
        assert_eq!(device.gpcs.as_ref().map(|gpcs| gpcs.tpcs.len()), gpcs, "{name}");
    }
}

#[test]
fn three_blocks_of_512_threads_fit_an_sm_of_a_thor_and_four_that_of_a_b300() {
    let shape = BlockShape { threads: 512, registers_per_thread: 32, shared_memory_bytes: 0 };
    let fit = |name: &str| {
        let device = builtin(name);
        BlockDemand::new(&shape, &device).expect("it fits").blocks_per_sm(&device)
    };
    assert_eq!(["thor", "gb10", "rtx-pro-6000", "orin-nano", "b300"].map(fit), [3, 3, 3, 3, 4]);
}
