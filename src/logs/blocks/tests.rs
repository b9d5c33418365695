use std::io::Cursor;

use super::columns::BlockColumns;
use crate::logs::{Defect, Log, LogsReading, read_logs_from};

fn read(text: &str, columns: &str) -> LogsReading {
    let columns =
        if columns.is_empty() { BlockColumns::default() } else { BlockColumns::parse(columns).expect("pairs") };
    read_logs_from("blocks.csv", &mut Cursor::new(text.as_bytes()), &columns).expect("memory can be read")
}

/// Start, end and SM of every block of a log, kernel by kernel.
fn blocks(log: &Log) -> Vec<Vec<(i64, i64, u32)>> {
    let of = |kernel: &crate::logs::LoggedKernel| {
        kernel.blocks.iter().map(|block| (block.start_ns.as_ns(), block.end_ns.as_ns(), block.sm)).collect()
    };
    log.kernels.iter().map(of).collect()
}

#[test]
fn times_of_clocks_that_count_from_1970_are_read_to_the_nanosecond() {
    let text = "sm,block,start_ns,end_ns\n3,0,1785763600237593728,1785763600237697376\n";
    let reading = read(text, "");
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
        let reading = read(&format!("{name},end_s,smid,block_id\n{text},1,0,0\n"), "");
        assert_eq!(blocks(&reading.logs[0]), [[(ns, 1_000_000_000, 0)]], "{name} {text}");
    }
    // 705 cycles of 1,410 MHz are half a microsecond.
    let cycles = "task,block,smid,start_cyc,end_cyc\nA,0,2,705,1410\n";
    let reading = read(cycles, "clock_mhz=1410");
    assert_eq!(blocks(&reading.logs[0]), [[(500, 1_000, 2)]]);
    let in_vain = read("sm,start_ns,end_ns\n0,0,10\n", "clock_mhz=1410");
    assert!(in_vain.logs.is_empty() && in_vain.dropped[0].to_string().contains("no column has such times"));
    let untold = read(cycles, "");
    assert!(
        untold.logs.is_empty()
            && matches!(&untold.dropped[0].defect, Defect::Columns { what } if what.contains("clock_mhz"))
    );
}

#[test]
fn numbers_of_blocks_that_come_again_are_of_the_next_launch() {
    let text = "kernel,block,sm,start_ns,end_ns\nk,1,1,10,20\nk,0,0,11,21\nk,0,1,30,40\nj,0,5,25,26\nk,1,0,31,41\n";
    let reading = read(text, "");
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
    let reading = read(&format!("block_idx_x,block_idx_y,block_idx_z,sm_id,time_start,time_end\n{rows}"), "");
    let sms: Vec<u32> = reading.logs[0].kernels[0].blocks.sms.clone();
    assert_eq!(sms, [0, 1, 10, 11, 100, 101, 110, 111]);
    assert!(!reading.logs[0].incomplete);
}

#[test]
fn streams_processes_runs_and_gpus_are_told_apart() {
    let text = "tag,gpu,pid,stream,sm,block,start_ns,end_ns\n\
        a,0,7,1,0,0,0,9\na,0,7,2,1,0,0,9\na,0,8,1,0,0,0,9\na,1,7,1,0,0,0,9\nb,0,7,1,0,0,0,9\n";
    let reading = read(text, "");
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
    let reading = read(text, "sm=where,start_us=t0,end_us=t1,block=n,threads=128,stream=main,shared_memory_bytes=48");
    let log = &reading.logs[0];
    assert_eq!(blocks(log), [[(5_000, 6_000, 1)]]);
    assert_eq!((log.kernels[0].threads, log.kernels[0].shared_memory_bytes), (128, 48));
    assert_eq!((log.label.as_deref(), &*log.untold), (Some("main"), "registers_per_thread"));
    assert!(reading.notes.iter().any(|note| note.contains("not read: sm")), "{:?}", reading.notes);
}

#[test]
fn rows_that_are_none_are_left_out_and_told() {
    let text = "sm,block,start_ns,end_ns\n0,0,0,9\n0,one,0,9\n1,1,0,\n1,2,0,9\n1,";
    let reading = read(text, "");
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
        let reading = read(text, columns);
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
    let notes = |text: &str| read(text, "").notes.join("\n");
    assert!(notes("sm,block,start_ns,end_ns\n0,0,7,39\n0,1,71,103\n").contains("in steps of 32 ns"));
    assert!(!notes("sm,block,start_ns,end_ns\n0,0,7,39\n0,1,72,103\n").contains("in steps"));
}

#[test]
fn a_table_without_rows_is_told() {
    let reading = read("sm,block,start_ns,end_ns\n", "");
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
        let reading = read(&text, "");
        assert_eq!(reading.logs[0].kernels[0].blocks.sms.len(), 1);
        let told = reading.dropped.iter().map(ToString::to_string).collect::<String>();
        assert!(told.contains("left out 1 row") && told.contains(why), "{told}");
    }
}
