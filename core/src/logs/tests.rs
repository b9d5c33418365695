use std::io::Cursor;
use std::sync::Arc;

use proptest::prelude::*;

use super::log::Iteration;
use super::*;
use crate::effort::Progress;

const fn at(ns: i64) -> LogTime {
    LogTime::from_ns(ns)
}

const SOUND: &str = include_str!("../../../tests/data/logs/two-streams/two.json");
const DEFECTS: &str = include_str!("../../../tests/data/logs/broken/defects.json");

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
        named("one.json", include_str!("../../../tests/data/logs/two-streams/one.json")),
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
            let observation = crate::audit::ObservedRun::of_logs(&run, &device);
            let found = crate::audit::audit(&observation, &tolerances, Progress::NONE);
            prop_assert_eq!(found.checked.blocks, run.blocks());
            // Whatever cannot be replayed is refused, not a panic.
            let _ = crate::replay::replay(&run, &device, None, &crate::scenario::ReadOptions::default(), &tolerances, Progress::NONE);
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
            let pieces = read::in_pieces("log.json", &mut Cursor::new(text), size);
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

fn read_table(text: &str, columns: &str) -> LogsReading {
    let columns =
        if columns.is_empty() { BlockColumns::default() } else { BlockColumns::parse(columns).expect("pairs") };
    read_logs_from("blocks.csv", &mut Cursor::new(text.as_bytes()), &columns).expect("memory can be read")
}

/// Start, end and SM of every block of a log, kernel by kernel.
fn blocks(log: &Log) -> Vec<Vec<(i64, i64, u32)>> {
    let of = |kernel: &LoggedKernel| {
        kernel.blocks.iter().map(|block| (block.start_ns.as_ns(), block.end_ns.as_ns(), block.sm)).collect()
    };
    log.kernels.iter().map(of).collect()
}

#[test]
fn times_of_clocks_that_count_from_1970_are_read_to_the_nanosecond() {
    let text = "sm,block,start_ns,end_ns\n3,0,1785763600237593728,1785763600237697376\n";
    let reading = read_table(text, "");
    assert_eq!(blocks(&reading.logs[0]), [[(1_785_763_600_237_593_728, 1_785_763_600_237_697_376, 3)]]);
}

#[test]
fn times_have_the_unit_that_their_column_ends_in() {
    for (name, text, ns) in [
        ("start_ns", "1500", 1_500),
        ("start_us", "1.5", 1_500),
        ("start_ms", "0.0015", 1_500),
        ("start_s", "0.0000015009", 1_500),
        ("start_s", "1.5e-6", 1_500),
        ("start_us", "-1.5", -1_500),
        ("start", "1500", 1_500),
    ] {
        let reading = read_table(&format!("{name},end_s,smid,block_id\n{text},1,0,0\n"), "");
        assert_eq!(blocks(&reading.logs[0]), [[(ns, 1_000_000_000, 0)]], "{name} {text}");
    }
    // 705 cycles of 1,410 MHz are half a microsecond.
    let cycles = "task,block,smid,start_cyc,end_cyc\nA,0,2,705,1410\n";
    let reading = read_table(cycles, "clock_mhz=1410");
    assert_eq!(blocks(&reading.logs[0]), [[(500, 1_000, 2)]]);
    let in_vain = read_table("sm,start_ns,end_ns\n0,0,10\n", "clock_mhz=1410");
    assert!(in_vain.logs.is_empty() && in_vain.dropped[0].to_string().contains("no column has such times"));
    let untold = read_table(cycles, "");
    assert!(
        untold.logs.is_empty()
            && matches!(&untold.dropped[0].defect, Defect::Columns { what } if what.contains("clock_mhz"))
    );
}

#[test]
fn numbers_of_blocks_that_come_again_are_of_the_next_launch() {
    let text = "kernel,block,sm,start_ns,end_ns\nk,1,1,10,20\nk,0,0,11,21\nk,0,1,30,40\nj,0,5,25,26\nk,1,0,31,41\n";
    let reading = read_table(text, "");
    let [log] = &reading.logs[..] else { panic!("one stream") };
    assert_eq!(blocks(log), [vec![(11, 21, 0), (10, 20, 1)], vec![(25, 26, 5)], vec![(30, 40, 1), (31, 41, 0)]]);
    let launches: Vec<_> = log.kernels.iter().map(|kernel| (&*kernel.name, kernel.iteration)).collect();
    assert_eq!(launches, [("k", 0), ("j", 0), ("k", 1)]);
}

#[test]
fn blocks_of_a_grid_of_three_axes_are_numbered_x_first() {
    let row = |x: u32, y: u32, z: u32| format!("{x},{y},{z},{},{x},9\n", 100 * z + 10 * y + x);
    let rows: String = [(1, 1, 1), (0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)]
        .map(|(x, y, z)| row(x, y, z))
        .concat();
    let reading = read_table(&format!("block_idx_x,block_idx_y,block_idx_z,sm_id,time_start,time_end\n{rows}"), "");
    let sms: Vec<u32> = reading.logs[0].kernels[0].blocks.sms.clone();
    assert_eq!(sms, [0, 1, 10, 11, 100, 101, 110, 111]);
    assert!(!reading.logs[0].incomplete);
}

#[test]
fn streams_processes_runs_and_gpus_are_told_apart() {
    let text = "tag,gpu,pid,stream,sm,block,start_ns,end_ns\n\
        a,0,7,1,0,0,0,9\na,0,7,2,1,0,0,9\na,0,8,1,0,0,0,9\na,1,7,1,0,0,0,9\nb,0,7,1,0,0,0,9\n";
    let reading = read_table(text, "");
    let logs: Vec<_> =
        reading.logs.iter().map(|log| (&*log.scenario_name, log.pid, log.label.as_deref().unwrap_or(""))).collect();
    assert_eq!(
        logs,
        [
            ("blocks.csv: a, GPU 0", Some(7), "stream 1 of process 7"),
            ("blocks.csv: a, GPU 0", Some(7), "stream 2 of process 7"),
            ("blocks.csv: a, GPU 0", Some(8), "stream 1 of process 8"),
            ("blocks.csv: a, GPU 1", Some(7), "stream 1 of process 7"),
            ("blocks.csv: b, GPU 0", Some(7), "stream 1 of process 7"),
        ]
    );
}

#[test]
fn what_is_said_of_columns_counts_before_their_names() {
    let text = "sm;where;t0;t1;n\n9;1;5;6;0\n";
    let reading =
        read_table(text, "sm=where,start_us=t0,end_us=t1,block=n,threads=128,stream=main,shared_memory_bytes=48");
    let log = &reading.logs[0];
    assert_eq!(blocks(log), [[(5_000, 6_000, 1)]]);
    assert_eq!((log.kernels[0].threads, log.kernels[0].shared_memory_bytes), (128, 48));
    assert_eq!((log.label.as_deref(), &*log.untold), (Some("main"), "registers_per_thread"));
    assert!(reading.notes.iter().any(|note| note.contains("not read: sm")), "{:?}", reading.notes);
}

#[test]
fn rows_that_are_none_are_left_out_and_told() {
    let text = "sm,block,start_ns,end_ns\n0,0,0,9\n0,one,0,9\n1,1,0,\n1,2,0,9\n1,";
    let reading = read_table(text, "");
    let told: Vec<String> = reading.dropped.iter().map(|dropped| dropped.defect.to_string()).collect();
    assert_eq!(
        told,
        [
            "left out 3 rows, the first of them line 3: block is \"one\", which is no such number",
            "1 blocks of lower numbers than others have no row"
        ]
    );
    assert!(reading.logs[0].incomplete);
    assert_eq!(reading.logs[0].kernels[0].block_count, 3);
}

#[test]
fn a_table_without_sms_or_times_says_which_column_it_lacks() {
    for (text, columns, expected) in [
        ("block,start,end\n0,1,2\n", "block=block", "no column is known to say sm among block, start, end"),
        ("sm,start,end\n0,1,2\n", "end=stop", "no column is called \"stop\", as is said of end"),
        ("sm,start,end\n0,1,2\n", "threads=many", "no column is called \"many\", as is said of threads"),
        ("", "sm=smid", "it does not begin with the names of columns"),
        // Nothing is said of columns, and the file is a table all the same.
        ("block,start,stop\n0,1,2\n", "", "no column is known to say sm among block, start, stop"),
        ("smid;t0;t1\n0;1;2\n", "", "no column is known to say start among smid, t0, t1"),
        ("first,second\n1,2\n", "", "no column is known to say sm among first, second"),
    ] {
        let reading = read_table(text, columns);
        let told = reading.dropped.first().map(ToString::to_string).unwrap_or_default();
        assert!(reading.logs.is_empty() && told.contains(expected), "{columns}: {told}");
    }
}

#[test]
fn what_is_said_of_columns_is_refused_where_it_says_nothing() {
    for (text, expected) in [
        ("smid", "expected COLUMN=NAME"),
        ("smm=x", "there is no column \"smm\""),
        ("start_h=x", "there is no column \"start_h\""),
        ("sm=a,sm=b", "\"sm\" is said twice"),
        ("start_ns=a,start_us=b", "\"start_us\" is said twice"),
    ] {
        let error = BlockColumns::parse(text).expect_err("it is wrong").to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn the_clock_of_blocks_is_told_by_its_steps() {
    let notes = |text: &str| read_table(text, "").notes.join("\n");
    assert!(notes("sm,block,start_ns,end_ns\n0,0,7,39\n0,1,71,103\n").contains("in steps of 32 ns"));
    assert!(!notes("sm,block,start_ns,end_ns\n0,0,7,39\n0,1,72,103\n").contains("in steps"));
}

#[test]
fn a_table_without_rows_is_told() {
    let reading = read_table("sm,block,start_ns,end_ns\n", "");
    assert_eq!((reading.logs.len(), reading.dropped.len()), (0, 1));
    assert_eq!(reading.dropped[0].defect, Defect::NothingLogged);
}

#[test]
fn a_row_that_does_not_say_what_its_block_takes_is_left_out_and_told() {
    for (row, why) in [
        ("0,0,10,,0", "threads is missing"),
        ("0,0,10,0,0", "threads is 0"),
        ("0,0,10,1024,", "shared_memory_bytes is missing"),
    ] {
        let text = format!("sm,start_ns,end_ns,threads,shared_memory_bytes\n0,0,10,1024,0\n{row}\n");
        let reading = read_table(&text, "");
        assert_eq!(reading.logs[0].kernels[0].blocks.sms.len(), 1);
        let told = reading.dropped.iter().map(ToString::to_string).collect::<String>();
        assert!(told.contains("left out 1 row") && told.contains(why), "{told}");
    }
}
