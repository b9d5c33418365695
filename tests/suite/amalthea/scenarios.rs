//! Runnables as kernels.

use gpusched::amalthea::{Frequency, TickBound};
use gpusched::device::CopyDirection;
use gpusched::hosts::simulate;
use gpusched::scenario::Step;
use gpusched::time::Duration;
use gpusched::workload::BlockTime;

use super::*;

fn block_times(scenario: &Scenario) -> Vec<u64> {
    scenario.kernels().iter().map(|kernel| kernel.duration.worst.as_ns()).collect()
}

fn block_time(content: &str, chosen: &AmaltheaOptions) -> BlockTime {
    let scenario = scenario_with(&one_runnable(content), chosen).unwrap_or_else(|error| panic!("{error}"));
    scenario.kernels()[0].duration
}

#[track_caller]
fn refused(text: &str, chosen: &AmaltheaOptions, words: &str) -> AmaltheaError {
    if *chosen == AmaltheaOptions::default() {
        keep_refused("amxmi", text);
    }
    match scenario_with(text, chosen) {
        Ok(_) => panic!("accepted"),
        Err(error) => {
            assert!(error.to_string().contains(words), "{words:?} is not in: {error}");
            error
        }
    }
}

fn graph(items: &str) -> String {
    format!("<activityGraph>{items}</activityGraph>")
}

#[test]
fn ticks_become_time_at_the_frequency_of_the_gpu_and_are_rounded_up() {
    let chosen_at = |frequency: &str| AmaltheaOptions {
        frequency: Some(Frequency::parse(frequency).expect("a frequency")),
        ..chosen(&["R"])
    };
    let content = graph(&ticks_item("1000"));
    for (frequency, ns) in
        [("1GHz", 1_000), ("1.3 GHz", 770), ("3GHz", 334), ("0.5 MHz", 2_000_000), ("1Hz", 1_000_000_000_000)]
    {
        assert_eq!(block_time(&content, &chosen_at(frequency)), BlockTime::fixed(Duration::from_ns(ns)), "{frequency}");
    }
    assert_eq!(block_time(&content, &chosen(&["R"])).worst.as_ns(), 1_000);
    for wrong in ["0GHz", "GHz", "1", "-1Hz", "1 THz", "1e30GHz", "NaNHz"] {
        assert!(Frequency::parse(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn an_entry_for_the_processing_unit_definition_replaces_the_default() {
    let item = r#"<items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueConstant" value="5"/>
        <extended key="G?type=ProcessingUnitDefinition"><value xsi:type="am:DiscreteValueConstant" value="8"/></extended></items>"#;
    assert_eq!(block_time(&graph(item), &chosen(&["R"])).worst.as_ns(), 8);
    let other = item.replace("G?type", "X?type");
    assert_eq!(block_time(&graph(&other), &chosen(&["R"])).worst.as_ns(), 5);
    let only_other = other.replace(r#"<default xsi:type="am:DiscreteValueConstant" value="5"/>"#, "");
    let error = refused(&one_runnable(&graph(&only_other)), &chosen(&["R"]), "states no ticks for \"G\"");
    assert!(error.help.is_some_and(|help| help.contains('X')));
}

#[test]
fn instructions_are_divided_by_the_instructions_per_cycle_of_the_processing_unit() {
    let item = r#"<runnableItems xsi:type="am:RunnableInstructions"><default xsi:type="am:InstructionsConstant" value="9"/></runnableItems>"#;
    // 9 instructions, 2 in each cycle of 1 ns: 4.5 ns.
    assert_eq!(block_time(item, &chosen(&["R"])).worst.as_ns(), 5);
    let need = r#"<activityGraph><items xsi:type="am:ExecutionNeed"><needs key="MAC"><value xsi:type="am:DiscreteValueConstant" value="9"/></needs></items></activityGraph>"#;
    refused(&one_runnable(need), &chosen(&["R"]), "needs MAC, and no feature of processing unit \"gpu\"");
}

#[test]
fn bounds_and_average_are_chosen_with_the_worst_case_by_default() {
    let item = r#"<activityGraph><items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueStatistics" lowerBound="10" upperBound="50" average="20.5"/></items></activityGraph>"#;
    for (ticks, best, worst) in [
        (TickBound::Upper, 50, 50),
        (TickBound::Average, 21, 21),
        (TickBound::Lower, 10, 10),
        (TickBound::Bounds, 10, 50),
    ] {
        let time = block_time(item, &AmaltheaOptions { ticks, ..chosen(&["R"]) });
        assert_eq!((time.best.as_ns(), time.worst.as_ns()), (best, worst), "{}", ticks.name());
        assert_eq!(TickBound::from_name(ticks.name()), Some(ticks));
    }
    assert_eq!(TickBound::default(), TickBound::Upper);
}

#[test]
fn variation_in_percent_applies_to_the_bounds() {
    let text = one_runnable(
        r#"<activityGraph><items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueBoundaries" lowerBound="100" upperBound="200"/></items></activityGraph>"#,
    );
    let options = ReadOptions { vary_percent: Some((50, 110)), ..ReadOptions::default() };
    let bounds = AmaltheaOptions { ticks: TickBound::Bounds, ..chosen(&["R"]) };
    let scenario = AmaltheaModel::read_scenario("in.amxmi", &text, &bounds, &options).expect("sound");
    let time = scenario.kernels()[0].duration;
    assert_eq!((time.best.as_ns(), time.worst.as_ns()), (50, 220));
}

#[test]
fn a_number_that_the_model_lacks_is_replaced_by_the_nearest_with_a_note() {
    let gauss = r#"<activityGraph><items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueGaussDistribution" mean="7" sd="1"/></items></activityGraph>"#;
    let scenario = scenario_with(&one_runnable(gauss), &chosen(&["R"])).expect("sound");
    assert_eq!(block_times(&scenario), [7]);
    assert!(scenario.notes.iter().any(|note| note.contains("states no upper bound")), "{:?}", scenario.notes);
}

#[test]
fn items_in_sequence_add_up_and_of_alternatives_the_worst_counts() {
    let switch = |default: &str| {
        graph(&format!(
            r#"{}<items xsi:type="am:ModeSwitch"><entries>{}</entries><entries>{}</entries>{default}</items>"#,
            ticks_item("100"),
            ticks_item("10"),
            ticks_item("30")
        ))
    };
    let lower = AmaltheaOptions { ticks: TickBound::Lower, ..chosen(&["R"]) };
    let default = format!("<defaultEntry>{}</defaultEntry>", ticks_item("20"));
    assert_eq!(block_time(&switch(&default), &chosen(&["R"])).worst.as_ns(), 130);
    assert_eq!(block_time(&switch(&default), &lower).worst.as_ns(), 110);
    // Without a default none of the entries may be taken.
    assert_eq!(block_time(&switch(""), &lower).worst.as_ns(), 100);
}

/// A model of runnables with this number of ticks each, or with calls of these runnables.
fn calling(pairs: &[(&str, &str)]) -> String {
    let call = |name: &str| format!(r#"<items xsi:type="am:RunnableCall" runnable="{name}?type=Runnable"/>"#);
    let mut content = "<swModel>".to_owned();
    for (name, called) in pairs {
        let items = match called.parse::<u64>() {
            Ok(_) => ticks_item(called),
            Err(_) => called.split(' ').map(call).collect::<Vec<String>>().concat(),
        };
        content += &[r#"<runnables name=""#, name, r#"">"#, &graph(&items), "</runnables>"].concat();
    }
    model_text("0.9.7", &(content + "</swModel>" + GPU))
}

#[test]
fn what_a_runnable_calls_counts_as_its_own_work() {
    let text = calling(&[("A", "B C B"), ("B", "5"), ("C", "B")]);
    let scenario = scenario_with(&text, &chosen(&["A"])).expect("sound");
    assert_eq!(block_times(&scenario), [15]);
}

#[test]
fn calls_in_a_circle_are_refused() {
    for circle in [vec![("A", "A")], vec![("A", "B"), ("B", "C"), ("C", "A")]] {
        let error = refused(&calling(&circle), &chosen(&["A"]), "calls itself");
        assert!(error.place.is_some());
        assert_eq!(list(&listed(&calling(&circle)), "runnables").len(), circle.len(), "it can be listed");
    }
}

#[test]
fn many_paths_through_calls_are_not_walked_one_by_one() {
    let names: Vec<String> = (0..=100).map(|index| format!("R{index}")).collect();
    let twice: Vec<String> = names.iter().skip(1).map(|name| format!("{name} {name}")).collect();
    let mut pairs: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(twice.iter().map(String::as_str)).collect();
    pairs.push(("R100", "0"));
    assert_eq!(block_times(&scenario_with(&calling(&pairs), &chosen(&["R0"])).expect("sound")), [0]);
    pairs.pop();
    pairs.push(("R100", "1"));
    refused(&calling(&pairs), &chosen(&["R0"]), "take longer than 2^63 ns");
}

#[test]
fn calls_nested_too_deep_are_refused() {
    let names: Vec<String> = (0..=1_000).map(|index| format!("R{index}")).collect();
    let pairs: Vec<(&str, &str)> = names.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    refused(&calling(&pairs), &chosen(&["R0"]), "nested more than 128 deep");
}

#[test]
fn a_call_of_a_runnable_that_is_not_there_is_unknown_work() {
    let text = calling(&[("A", "B Nobody"), ("B", "5")]);
    refused(&text, &chosen(&["A"]), "calls \"Nobody\", which is not in this model");
}

#[test]
fn runnables_are_launched_in_the_order_asked_for_each_in_a_stream_of_its_own() {
    let text = calling(&[("A", "1"), ("B", "2"), ("C", "3")]);
    let scenario = scenario_with(&text, &chosen(&["C", "A"])).expect("sound");
    let labels: Vec<&str> = scenario.threads.iter().map(|thread| &*thread.label).collect();
    let streams: Vec<&str> = scenario.streams().iter().map(|stream| &*stream.name).collect();
    assert_eq!((labels, streams), (vec!["C", "A"], vec!["NULL", "C", "A"]));
    assert_eq!(scenario.name, "in");
}

#[test]
fn without_a_choice_runnables_with_a_grid_size_are_launched_in_document_order() {
    let runnable =
        |name: &str, grid: &str| format!(r#"<runnables name="{name}">{grid}{}</runnables>"#, graph(&ticks_item("1")));
    let grid = property("GridSize", 3);
    let content = [runnable("A", &grid), runnable("B", ""), runnable("C", &grid), runnable("C_h2d", &grid)].concat();
    let text = model_text("0.9.7", &format!("<swModel>{content}</swModel>{GPU}"));
    let scenario = scenario_with(&text, &AmaltheaOptions::default()).expect("sound");
    let kernels: Vec<(&str, u32)> = scenario.kernels().iter().map(|kernel| (&*kernel.name, kernel.blocks)).collect();
    assert_eq!(kernels, [("A", 3), ("C", 3)]);
    let sized = AmaltheaOptions { grid_sizes: [("B".to_owned(), 7)].into(), ..AmaltheaOptions::default() };
    assert_eq!(scenario_with(&text, &sized).expect("sound").kernels().len(), 3);
}

#[test]
fn choices_that_make_no_sense_are_refused() {
    let text = calling(&[("A", "1"), ("B", "2"), ("C_h2d", "3")]);
    let without = |names: &[&str]| AmaltheaOptions { grid_sizes: [].into(), ..chosen(names) };
    refused(&text, &AmaltheaOptions::default(), "no runnable of this model has a custom property GridSize");
    assert!(
        refused(&text, &chosen(&["X"]), "no runnable of this model is called \"X\"")
            .help
            .is_some_and(|help| help.contains("A, B"))
    );
    refused(&text, &chosen(&["A", "A"]), "chosen twice");
    refused(&text, &chosen(&["C_h2d"]), "is a copy, not a kernel");
    refused(&text, &without(&["A"]), "\"grid_size\": {\"A\": \"N\"}");
    let stray = AmaltheaOptions { grid_sizes: [("A".to_owned(), 1), ("B".to_owned(), 1)].into(), ..chosen(&["A"]) };
    refused(&text, &stray, "a grid size is given for \"B\", which is not launched");
    let nobody = AmaltheaOptions { block_sizes: [("X".to_owned(), 1)].into(), ..chosen(&["A"]) };
    refused(&text, &nobody, "no runnable of this model is called \"X\"");
    let unit = AmaltheaOptions { processing_unit: Some("npu".to_owned()), ..chosen(&["A"]) };
    refused(&text, &unit, "no processing unit of this model is called \"npu\"");
    let large = AmaltheaOptions { block_sizes: [("A".to_owned(), 2_000)].into(), ..chosen(&["A"]) };
    refused(&text, &large, "at most 1024 per block");
    let ambiguous =
        model_text("0.9.7", &format!(r#"<swModel><runnables name="R"/><runnables name="R"/></swModel>{GPU}"#));
    refused(&ambiguous, &chosen(&["R"]), "more than one runnable is called \"R\"");
    let empty = one_runnable(&(property("GridSize", 0) + &graph(&ticks_item("1"))));
    refused(&empty, &AmaltheaOptions::default(), "at least 1 block");
}

#[test]
fn a_runnable_without_ticks_takes_the_block_duration_that_the_user_gives() {
    let text = one_runnable("");
    let error = refused(&text, &chosen(&["R"]), "runnable \"R\" has no ticks");
    assert!(error.help.is_some_and(|help| help.contains("\"block_duration\": {\"R\": \"TIME\"}")));
    let options =
        ReadOptions { block_durations: [("R".to_owned(), Duration::from_ns(77))].into(), ..ReadOptions::default() };
    let scenario = AmaltheaModel::read_scenario("in.amxmi", &text, &chosen(&["R"]), &options).expect("sound");
    assert_eq!(block_times(&scenario), [77]);
    let with_ticks = one_runnable(&graph(&ticks_item("1")));
    let error =
        AmaltheaModel::read_scenario("in.amxmi", &with_ticks, &chosen(&["R"]), &options).expect_err("it has ticks");
    assert!(error.what.contains("no launched runnable of that name lacks ticks"), "{error}");
}

#[test]
fn where_it_is_unknown_how_long_a_tick_is_the_user_has_to_say() {
    let bare = model_text(
        "0.9.7",
        &format!(r#"<swModel><runnables name="R">{}</runnables></swModel>"#, graph(&ticks_item("6"))),
    );
    refused(&bare, &chosen(&["R"]), "the model has no processing units");
    let stopped = one_runnable(&graph(&ticks_item("6"))).replace("value=\"1.0\" unit", "value=\"0.0\" unit");
    refused(&stopped, &chosen(&["R"]), "no frequency for processing unit \"gpu\"");
    let at = AmaltheaOptions { frequency: Some(Frequency::parse("2GHz").expect("it is one")), ..chosen(&["R"]) };
    for text in [bare, stopped] {
        assert_eq!(block_times(&scenario_with(&text, &at).expect("sound")), [3]);
    }
    let unit = |name: &str, domain: &str| {
        format!(
            r#"<modules xsi:type="am:ProcessingUnit" name="{name}" frequencyDomain="{domain}?type=FrequencyDomain"/>"#
        )
    };
    let domain = |name: &str, value: &str| {
        format!(
            r#"<domains xsi:type="am:FrequencyDomain" name="{name}"><defaultValue value="{value}" unit="MHz"/></domains>"#
        )
    };
    let cpus = |second: &str| {
        let hardware = [unit("c0", "F"), unit("c1", second), domain("F", "500"), domain("H", "250")].concat();
        model_text(
            "0.9.7",
            &format!(
                r#"<swModel><runnables name="R">{}</runnables></swModel><hwModel>{hardware}</hwModel>"#,
                graph(&ticks_item("6"))
            ),
        )
    };
    let alike = scenario_with(&cpus("F"), &chosen(&["R"])).expect("both are alike");
    assert_eq!(block_times(&alike), [12]);
    assert!(alike.notes.iter().any(|note| note.contains("500 MHz")), "{:?}", alike.notes);
    let error = refused(&cpus("H"), &chosen(&["R"]), "different frequencies");
    assert!(error.help.is_some_and(|help| help.contains("c0, c1")));
    let c1 = AmaltheaOptions { processing_unit: Some("c1".to_owned()), ..chosen(&["R"]) };
    assert_eq!(block_times(&scenario_with(&cpus("H"), &c1).expect("sound")), [24]);
}

/// A function between copies, called by a task where `task` says so.
fn with_copies(task: &str) -> String {
    let access = |label: &str, access: &str| {
        format!(r#"<items xsi:type="am:LabelAccess" data="{label}?type=Label" access="{access}"/>"#)
    };
    let runnable = |name: &str, items: &str| format!(r#"<runnables name="{name}">{}</runnables>"#, graph(items));
    let content = [
        r#"<labels name="in put"><size value="3" unit="KiB"/></labels><labels name="out"><size value="9" unit="bit"/></labels>"#.to_owned(),
        task.to_owned(),
        runnable("F_host_to_device", &[access("in+put", "read"), access("in+put", "read"), access("out", "write")].concat()),
        runnable("F", &ticks_item("1")),
        runnable("F device-to-host", &access("out", "write")),
    ]
    .concat();
    model_text("0.9.7", &format!("<swModel>{content}</swModel>{GPU}"))
}

fn copied(scenario: &Scenario) -> Vec<(CopyDirection, u64)> {
    scenario.copies().iter().map(|copy| (copy.direction, copy.bytes.expect("copies of models state a size"))).collect()
}

#[test]
fn copy_runnables_around_a_function_become_copies_before_and_after_its_kernel() {
    let calls: String = ["F_host_to_device", "F", "F+device-to-host"]
        .map(|name| format!(r#"<items xsi:type="am:RunnableCall" runnable="{name}?type=Runnable"/>"#))
        .concat();
    let task = format!(r#"<tasks name="T">{}</tasks>"#, graph(&calls));
    for text in [with_copies(""), with_copies(&task)] {
        let scenario = scenario_with(&text, &chosen(&["F"])).expect("sound");
        // 3 KiB read, counted once; 9 bits are 2 bytes.
        assert_eq!(copied(&scenario), [(CopyDirection::HostToDevice, 3_072), (CopyDirection::DeviceToHost, 2)]);
        let kinds: Vec<&str> = scenario.threads[0]
            .steps
            .iter()
            .map(|step| match step {
                Step::Copy(..) => "copy",
                Step::Launch(..) => "kernel",
                _ => "other",
            })
            .collect();
        assert_eq!(kinds, ["copy", "kernel", "copy"]);
        let run = simulate(&scenario).expect("it runs");
        assert!(run.trace.operations().iter().all(|operation| operation.finish().is_some()));
        let without = AmaltheaOptions { without_copies: true, ..chosen(&["F"]) };
        assert_eq!(copied(&scenario_with(&text, &without).expect("sound")), []);
    }
}

#[test]
fn a_copy_belongs_to_the_function_next_to_which_a_task_calls_it() {
    let runnable = |name: &str, content: &str| format!(r#"<runnables name="{name}">{content}</runnables>"#);
    let copy = |direction: &str, bytes: u64| {
        let direction = format!(
            r#"<customProperties key="Copy"><value xsi:type="am:StringObject" value="{direction}"/></customProperties>"#
        );
        direction + &property("Bytes", bytes)
    };
    let calls: String = ["load", "A", "store", "B"]
        .map(|name| format!(r#"<calls xsi:type="am:TaskRunnableCall" runnable="{name}?type=Runnable"/>"#))
        .concat();
    let content = [
        format!(r#"<tasks name="T"><callGraph><graphEntries xsi:type="am:CallSequence">{calls}</graphEntries></callGraph></tasks>"#),
        runnable("load", &copy("host-to-device", 10)),
        runnable("store", &copy("device-to-host", 20)),
        runnable("A", &graph(&ticks_item("1"))),
        runnable("B", &graph(&ticks_item("1"))),
    ]
    .concat();
    let text = model_text("0.9.0", &format!("<swModel>{content}</swModel>{GPU}"));
    let both = scenario_with(&text, &chosen(&["A"])).expect("sound");
    assert_eq!(copied(&both), [(CopyDirection::HostToDevice, 10), (CopyDirection::DeviceToHost, 20)]);
    assert_eq!(copied(&scenario_with(&text, &chosen(&["B"])).expect("sound")), []);
}

#[test]
fn registers_and_shared_memory_reach_the_kernel() {
    let content = [
        property("Registers", 40),
        property("SharedMemory", 1_000),
        property("BlockSize", 64),
        property("GridSize", 5),
    ]
    .concat();
    let scenario = scenario_with(&one_runnable(&(content + &graph(&ticks_item("1")))), &AmaltheaOptions::default())
        .expect("sound");
    let shape = scenario.kernels()[0].shape;
    assert_eq!((shape.threads, shape.registers_per_thread, shape.shared_memory_bytes), (64, 40, 1_000));
    assert_eq!(scenario.kernels()[0].blocks, 5);
    assert_eq!(scenario.notes, Vec::<String>::new());
}
