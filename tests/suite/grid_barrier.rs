//! `--grid-barrier`, what if blocks of kernels wait for one another, and `--largest-grid`: on files that say nothing of
//! waiting. Figures by hand from the numbers of SMs.

use gpusched::analysis::{LargestGrid, ProgressCondition, ProgressVerdict, largest_grid};
use gpusched::device::Device;
use gpusched::scenario::{ReadOptions, Scenario, WhatIf};

use crate::common::{gpusched, stderr, stdout};
use crate::hang::judge_with_witness;

fn read(device: &str, kernels: &str, streams: &str) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "grids", "device": "{device}", "horizon": "1 s",
        "kernels": {{{kernels}}}, "streams": [{streams}]}}"#
    );
    Scenario::from_json("grids.json", &text, &ReadOptions::default()).expect("it is sound")
}

fn stream(kernel: &str, keys: &str) -> String {
    format!(r#"{{"name": "of {kernel}", "blocking": false, {keys} "operations": [{{"kernel": "{kernel}"}}]}}"#)
}

/// mirage 775: schedulers and workers that run until the end of the program.
fn mirage(schedulers: u32) -> Scenario {
    let kernels = format!(
        r#""scheduler": {{"blocks": {schedulers}, "threads": 32, "registers_per_thread": 40, "duration": "3600 s"}},
        "worker": {{"blocks": 128, "threads": 256, "registers_per_thread": 255, "shared_memory_bytes": 218112,
            "duration": "3600 s"}}"#
    );
    read("b200", &kernels, &[stream("scheduler", ""), stream("worker", "")].join(", "))
}

fn together(groups: &[&str]) -> WhatIf {
    WhatIf { grid_barriers: groups.iter().map(|group| (*group).to_owned()).collect(), ..WhatIf::default() }
}

fn verdicts(scenario: Scenario, groups: &[&str]) -> Vec<ProgressVerdict> {
    let judged = judge_with_witness(&scenario.what_if(&together(groups)).expect("there are such kernels"));
    judged.groups.iter().map(|group| group.verdict).collect()
}

#[test]
fn a_file_without_any_words_for_waiting_is_judged() {
    assert_eq!(verdicts(mirage(80), &[]), []);
    let changed = mirage(80).what_if(&together(&["scheduler, worker"])).expect("there are such kernels");
    let judged = judge_with_witness(&changed);
    // 80 of the 148 SMs have a scheduler, whichever order of launches.
    let needed: Vec<_> = judged.groups[0].kernels.iter().map(|row| (&*row.kernel, row.needed, row.sure)).collect();
    assert_eq!(needed[1], ("worker", 128, 68));
    assert_eq!(judged.groups[0].verdict, ProgressVerdict::Hangs);
    assert_eq!(judged.hanging.expect("it hangs").changed, ["how long it goes on"]);
    assert_eq!(verdicts(mirage(20), &["scheduler,worker"]), [ProgressVerdict::CannotHang]);
}

#[test]
fn one_name_is_a_barrier_of_each_launch_and_more_of_one_launch_are_noted() {
    let block = r#""threads": 1024, "registers_per_thread": 64, "duration": "3600 s""#;
    let grids = |priority: i32| {
        let kernels = format!(
            r#""other": {{"blocks": 20, "threads": 1024, "registers_per_thread": 64, "duration": "1 ms"}},
            "A": {{"blocks": 58, {block}}}, "B": {{"blocks": 58, {block}}}"#
        );
        let urgent = format!(r#""release": "200 us", "priority": {priority},"#);
        read(
            "l4",
            &kernels,
            &[stream("other", ""), stream("A", r#""release": "100 us","#), stream("B", &urgent)].join(", "),
        )
    };
    assert_eq!(verdicts(grids(-1), &["A", "B"]), [ProgressVerdict::Hangs; 2]);
    assert_eq!(verdicts(grids(0), &["A", "B"]), [ProgressVerdict::CannotHang; 2]);
    let twice = read(
        "l4",
        r#""A": {"blocks": 4, "threads": 32, "duration": "1 us"}, "B": {"blocks": 2, "threads": 32, "duration": "1 us"}"#,
        &[stream("A", r#""period": "1 ms", "jobs": 2,"#), stream("B", "")].join(", "),
    );
    let changed = twice.what_if(&together(&["A,B"])).expect("there are such kernels");
    let note = "\"grid_barrier\": \"A,B\": launched more than once: A; the first 6 blocks of these kernels count";
    assert!(changed.notes.iter().any(|own| own == note), "{:?}", changed.notes);
    let error = mirage(4).what_if(&together(&["scheduler,wroker"])).expect_err("there is no such kernel").to_string();
    assert!(
        error.starts_with("\"grid_barrier\": no kernel is called \"wroker\" (did you mean \"worker\"?)"),
        "{error}"
    );
}

fn found(blocks: u32, alone: u32) -> LargestGrid {
    let beyond = Some((blocks + 1, ProgressVerdict::Hangs));
    LargestGrid { blocks: Some(blocks), condition: Some(ProgressCondition::SureRoom), alone, beyond, waits: true }
}

#[test]
fn the_largest_grid_is_what_the_others_leave_of_the_sms() {
    let of = |schedulers: u32, device: &str| {
        let device = Device::builtin(device).expect("it is sound").expect("it is built in");
        let on = mirage(schedulers).on_device(device).expect("it takes the kernels");
        largest_grid(&on, &together(&["scheduler,worker"]), "worker").expect("there is such a kernel")
    };
    // A worker has an SM for itself.
    assert_eq!(of(80, "b200"), found(148 - 80, 148));
    assert_eq!(of(20, "b200"), found(148 - 20, 148));
    assert_eq!(of(20, "h100"), found(132 - 20, 132));
    // 78 SMs are not enough for any worker beside 80 schedulers that are kept apart.
    assert_eq!(of(80, "h20").blocks, None);
}

#[test]
fn alone_the_largest_grid_is_what_fits_and_nothing_is_said_where_nothing_waits() {
    let grid = || {
        let block = r#""threads": 128, "shared_memory_bytes": 120000, "duration": "3600 s""#;
        read("h20", &format!(r#""moe": {{"blocks": 132, {block}}}"#), &stream("moe", ""))
    };
    let alone = largest_grid(&grid(), &together(&["moe"]), "moe").expect("there is such a kernel");
    assert_eq!(alone, LargestGrid { condition: Some(ProgressCondition::OneQueue), ..found(78, 78) });
    let nothing = largest_grid(&grid(), &WhatIf::default(), "moe").expect("there is such a kernel");
    assert_eq!((nothing.blocks, nothing.waits), (None, false));
}

#[test]
fn a_stated_value_is_kept_so_that_smaller_grids_hang_as_well() {
    // 8 blocks have to begin, of 4 + 4, and never do of 4 + 3. On 2 SMs 8 blocks of 512 threads fit.
    let kernel = |blocks: u32| {
        format!(
            r#"{{"blocks": {blocks}, "threads": 512, "duration": "1 ms", "signal": [{{"at": "start", "counter": "C"}}],
            "wait": [{{"at": 1, "counter": "C", "value": 8}}]}}"#
        )
    };
    let kernels = format!(r#""A": {}, "B": {}"#, kernel(4), kernel(4));
    let of = read("tx2", &kernels, &[stream("A", ""), stream("B", "")].join(", "));
    assert_eq!(verdicts(of.clone(), &[]), [ProgressVerdict::CannotHang]);
    let fewer = WhatIf { blocks: vec![("B".to_owned(), 3)], ..WhatIf::default() };
    let fewer = judge_with_witness(&of.what_if(&fewer).expect("there is such a kernel"));
    assert_eq!(fewer.groups[0].verdict, ProgressVerdict::Hangs);
}

#[test]
fn the_command_lists_devices_and_says_why_one_cannot_run_it() {
    let file = "scenarios/hang/two-barriers.json";
    let needs = gpusched(&["analyze", file, "--largest-grid", "A"]);
    assert!(stderr(&needs).contains("--largest-grid needs --progress"), "{}", stderr(&needs));
    let fit = "tests/data/small/native.json";
    let none = gpusched(&["analyze", fit, "--progress"]);
    assert!(stdout(&none).contains("--grid-barrier KERNEL asks what if"), "{}", stdout(&none));
    // Four blocks, and two, on two SMs.
    let like = gpusched(&["analyze", "scenarios/rules/registers.json", "--progress"]);
    assert!(stdout(&like).contains("as persistent kernels have"), "{}", stdout(&like));
    let grids = "scenarios/rules/persistent-grids.json";
    let list = gpusched(
        &[
            &["analyze", grids, "--progress", "--grid-barrier", "scheduler,worker", "--largest-grid", "worker"][..],
            &["--largest-grid-on", "h100,l4", "--format", "csv"],
        ]
        .concat(),
    );
    let rows = stdout(&list);
    let begins = |number: usize, with: &str| rows.lines().nth(number).is_some_and(|row| row.starts_with(with));
    assert!(begins(1, "b200,148,68,148,69,hangs") && begins(2, "h100,132,52,132,53,hangs"), "{rows}");
    assert!(begins(3, "l4,58,,,,,") && rows.contains("a block asks for 218112 bytes"), "{rows}");
}
