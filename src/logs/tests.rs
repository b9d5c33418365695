use crate::effort::Progress;
use std::sync::Arc;

use proptest::prelude::*;

use super::log::Iteration;
use super::*;

const fn at(ns: i64) -> LogTime {
    LogTime::from_ns(ns)
}

const SOUND: &str = include_str!("../../tests/data/logs/two-streams/two.json");
const DEFECTS: &str = include_str!("../../tests/data/logs/broken/defects.json");

fn read(text: &str) -> LogReading {
    read_log("log.json", text.as_bytes().to_vec())
}

fn log(text: &str) -> Log {
    read(text).log.expect("it has a list of times")
}

#[test]
fn a_sound_log_is_read_as_it_is_written() {
    let reading = read(SOUND);
    assert_eq!(reading.dropped, []);
    let log = reading.log.expect("it is one");
    assert_eq!((&*log.scenario_name, log.label.as_deref()), ("two streams", Some("Two")));
    assert_eq!((log.max_resident_threads, log.pid, log.tid), (Some(4096), Some(100), Some(102)));
    assert_eq!(log.iterations, [Iteration { start_ns: at(5_500_000_200), end_ns: at(6_750_120_000) }]);
    let [first, second] = &log.kernels[..] else { panic!("two kernels") };
    assert_eq!((&*first.name, first.block_count, first.threads, first.iteration), ("K2", 2, 512, 0));
    assert_eq!((first.launch_start_ns, first.launch_return_ns), (at(5_500_003_000), at(5_500_040_000)));
    assert_eq!(first.synchronized_ns, None, "the examiner writes 0 where it does not wait");
    let block = LoggedBlock { sm: 1, start_ns: at(6_000_064_000), end_ns: at(6_500_070_000) };
    assert_eq!(first.blocks.iter().nth(1), Some(block));
    assert_eq!(second.blocks.first_start_ns(), Some(at(6_500_074_000)));
}

#[test]
fn every_defect_is_kept_out_and_told() {
    let reading = read(DEFECTS);
    let kept = reading.log.expect("it is one");
    let names: Vec<&str> = kept.kernels.iter().map(|kernel| &*kernel.name).collect();
    assert_eq!(names, ["sound", "odd", "fewer", "nan", "negative SM"]);
    let blocks: Vec<usize> = kept.kernels.iter().map(|kernel| kernel.blocks.len()).collect();
    assert_eq!(blocks, [1, 1, 2, 1, 1]);
    assert!(kept.incomplete);
    let told: Vec<(Option<&str>, &str, usize)> = reading
        .dropped
        .iter()
        .map(|dropped| (dropped.kernel.as_deref(), dropped.defect.name(), dropped.defect.blocks()))
        .collect();
    let expected = [
        (None, "no-empty-first-object", 0),
        (Some("kernel 1 (no threads)"), "missing-key", 1),
        (Some("kernel 2 (no SMs)"), "missing-key", 2),
        (Some("kernel 3 (odd)"), "unequal-lists", 1),
        (Some("kernel 4 (fewer)"), "block-count", 3),
        (Some("kernel 5 (nan)"), "not-a-number", 2),
        (Some("kernel 6 (words)"), "missing-key", 0),
        (Some("kernel 7 (negative SM)"), "not-a-number", 1),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_truncated_log_keeps_whole_kernels_and_says_where_it_ends() {
    let cut = SOUND.find("\"K3\"").expect("it is there") + 40;
    let reading = read(&SOUND[..cut]);
    assert_eq!(reading.log.expect("the rest is sound").kernels.len(), 1);
    let [Dropped { defect: Defect::Truncated { line, kept_kernels, .. }, .. }] = &reading.dropped[..] else {
        panic!("{:?}", reading.dropped)
    };
    assert_eq!((*line, *kept_kernels), (13, 1));
}

#[test]
fn broken_json_is_located() {
    let reading = read(&SOUND.replace("\"block_count\": 1,", "\"block_count\": one,"));
    let told = reading.dropped[0].to_string();
    assert!(told.contains("log.json: not valid JSON at line 13, column 38: expected"), "{told}");
    assert_eq!(read("no JSON at all").log, None);
    assert_eq!(read("").dropped[0].defect.name(), "truncated");
}

#[test]
fn json_without_times_is_no_log() {
    assert_eq!(read("{\"name\": \"scenario\", \"benchmarks\": []}"), LogReading { log: None, dropped: Vec::new() });
}

#[test]
fn copies_of_a_log_and_logs_of_other_runs_are_dropped() {
    let named = |name: &str, text: &str| Log { file: Arc::from(name), ..log(text) };
    let later = SOUND.replace("\"PID\": 100", "\"PID\": 200").replace("6.500074000", "6.500080000");
    let alone = SOUND.replace("\"PID\": 100", "\"PID\": 200").replace("\"Two\"", "\"Three\"");
    let logs = vec![
        named("other-run.json", &later),
        named("one.json", include_str!("../../tests/data/logs/two-streams/one.json")),
        named("two.json", SOUND),
        named("copy-of-two.json", SOUND),
        named("other-run-too.json", &alone),
        named("three.json", &alone.replace("\"PID\": 200", "\"PID\": 100")),
        named("elsewhere.json", &SOUND.replace("two streams", "another scenario")),
    ];
    let runs = sort_into_runs(logs);
    assert_eq!(runs.len(), 2);
    let files: Vec<&str> = runs[0].logs.iter().map(|log| &*log.file).collect();
    assert_eq!(files, ["one.json", "two.json", "three.json"]);
    let dropped: Vec<(&str, &str)> =
        runs[0].dropped.iter().map(|dropped| (dropped.file.as_str(), dropped.defect.name())).collect();
    let expected =
        [("copy-of-two.json", "duplicate"), ("other-run.json", "other-run"), ("other-run-too.json", "other-run")];
    assert_eq!(dropped, expected);
}

#[test]
fn devices_are_recognized_by_size_and_by_the_order_of_their_sms() {
    let with = |threads: &str, sms: &str| {
        let text = SOUND.replace("4096", threads).replace("\"block_smids\": [0,1]", &format!("\"block_smids\": {sms}"));
        recognize_device(&[log(&text)]).expect("built-in devices can be read").device.name.clone()
    };
    assert_eq!(with("4096", "[0,1]"), "tx2");
    assert_eq!(with("16384", "[7,6]"), "k5000");
    assert_eq!(with("16384", "[0,2]"), "xavier");
    assert_eq!(with("163840", "[0,2]"), "titan-v");
    assert_eq!(with("61440", "[0,1]"), "unknown-30-sm");
    // Without the number, the smallest device that has all the SMs used.
    assert_eq!(with("0", "[0,79]"), "titan-v");
    assert_eq!(recognize_device(&[]).map(|found| found.device.name.clone()), Some("tx2".to_owned()));
}

/// JSON of the shape of a log, with anything in it.
fn any_log() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        4 => (0.0..20.0).prop_map(|number: f64| format!("{number:.9}")),
        1 => any::<f64>().prop_map(|number| format!("{number:?}")),
        1 => (-4.7e9..4.7e9).prop_map(|number: f64| number.to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => prop::sample::select(vec!["nan", "-inf", "null", "\"1\"", "[]", "{\"a\": [1]}", "true", "1e999", "-0"])
            .prop_map(str::to_owned),
    ]
    .boxed();
    let list = |number: BoxedStrategy<String>| {
        prop::collection::vec(number, 0..7).prop_map(|numbers| format!("[{}]", numbers.join(",")))
    };
    let key = prop::sample::select(vec![
        "kernel_name",
        "block_count",
        "thread_count",
        "shared_memory",
        "cuda_launch_times",
        "block_times",
        "block_smids",
        "execute_times",
        "comment",
    ]);
    let value = prop_oneof![3 => list(number.clone()), 2 => number.clone()];
    let entry = prop::collection::vec((key, value), 0..9).prop_map(|fields| {
        let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
        format!("{{{}}}", fields.join(", "))
    });
    let top = prop::sample::select(vec!["scenario_name", "label", "max_resident_threads", "PID", "TID", "times"]);
    let fields = prop::collection::vec((top, number), 0..4);
    (fields, prop::collection::vec(entry, 0..6), any::<Option<prop::sample::Index>>()).prop_map(
        |(fields, entries, cut)| {
            let head: Vec<String> = fields.into_iter().map(|(key, value)| format!("\"{key}\": {value},\n")).collect();
            let mut text = format!("{{{}\"times\": [{}]}}", head.concat(), entries.join(",\n"));
            if let Some(cut) = cut {
                text.truncate(cut.index(text.len()));
            }
            text
        },
    )
}

proptest! {
    #[test]
    fn no_log_makes_the_reader_or_whatever_follows_it_panic(texts in prop::collection::vec(any_log(), 1..4)) {
        let logs: Vec<Log> = texts.iter().filter_map(|text| read(text).log).collect();
        for log in &logs {
            for kernel in &log.kernels {
                prop_assert_eq!(kernel.blocks.times.len(), kernel.blocks.sms.len());
                prop_assert!(!kernel.blocks.is_empty());
            }
        }
        for run in sort_into_runs(logs) {
            let device = recognize_device(&run.logs).expect("built-in devices can be read").device;
            let tolerances = crate::audit::Tolerances::default();
            let observation = crate::audit::Observation::of_logs(&run, &device);
            let found = crate::audit::audit(&observation, &tolerances, Progress::NONE);
            prop_assert_eq!(found.checked.blocks, run.blocks());
            // Whatever cannot be replayed is refused, not a panic.
            let _ = crate::experiments::replay::replay(&run, &device, None, &crate::scenario::ReadOptions::default(), &tolerances, Progress::NONE);
        }
    }
}

#[test]
fn a_log_read_in_pieces_of_any_size_is_the_log() {
    // Commas between braces that are not between two entries, keys in any order and twice, and texts that end early.
    let names = SOUND.replace("K2", "a}, {\\\"b\\\": [}");
    let behind = SOUND.replacen("\n]}", "\n], \"more\": [{}, {\"a\": 1},\n{}, {}], \"PID\": 3}", 1);
    let before = SOUND.replacen('{', "{\"more\": [{\"kernel_name\": \"none\"}, {}, {}, {}],", 1);
    let inside = SOUND.replace("\"cpu_core\"", "\"more\": [{}, {}, {\"a\": [{}, {}]}], \"cpu_core\"");
    let twice = SOUND.replacen("\n]}", "\n], \"label\": \"last\", \"times\": [{}, {}, {}]}", 1);
    let cut = SOUND[..SOUND.len() - 30].to_owned();
    assert_ne!([&behind, &before, &inside, &twice], [SOUND; 4]);
    for text in [SOUND, DEFECTS, &names, &behind, &before, &inside, &twice, &cut, "", "[1]", "{}"] {
        let whole = read(text);
        for size in 1..=text.len().min(400) {
            let pieces = pieces::in_pieces("log.json", &mut std::io::Cursor::new(text), size);
            assert_eq!(pieces.expect("memory can be read"), whole, "pieces of {size} bytes of {text}");
        }
    }
}

#[test]
fn a_log_is_known_by_its_beginning() {
    assert!(begins_a_log(SOUND.as_bytes()));
    assert!(begins_a_log(&SOUND.as_bytes()[..SOUND.len() / 2]));
    for other in ["", "{}", "{\"times\": [{}]}", "{\"benchmark_name\": \"a\", \"benchmarks\": []}", "[]"] {
        assert!(!begins_a_log(other.as_bytes()), "{other}");
    }
}
