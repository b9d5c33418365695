//! What commands show on a terminal while they last, and that nothing of it is anywhere else.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{command, directory};
use crate::tasks::TABLE_1;

/// Runs a command whose standard error is a terminal, until it ends or has shown enough there: what it showed.
fn on_terminal(arguments: &[String], is_enough: impl Fn(&str) -> bool) -> String {
    let size = Winsize { ws_row: 24, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).expect("there are terminals");
    let mut child = command()
        .args(arguments)
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(pty.slave)
        .spawn()
        .expect("the command runs");
    // What lasts a second is shown: a pause makes it last, however fast the machine.
    let id = Pid::from_raw(i32::try_from(child.id()).expect("numbers of processes are small"));
    thread::sleep(Duration::from_millis(50));
    kill(id, Signal::SIGSTOP).expect("it is a child of ours");
    thread::sleep(Duration::from_secs(1));
    kill(id, Signal::SIGCONT).expect("it is a child of ours");
    let mut terminal = File::from(pty.master);
    let (mut shown, mut part) = (Vec::new(), [0; 4096]);
    // The other end is closed when the command has ended, which is an error of its own on Linux.
    while let Ok(length @ 1..) = terminal.read(&mut part) {
        shown.extend_from_slice(&part[..length]);
        if is_enough(&String::from_utf8_lossy(&shown)) {
            child.kill().expect("it is a child of ours");
            break;
        }
    }
    child.wait().expect("it ends");
    String::from_utf8_lossy(&shown).into_owned()
}

/// Files for commands that last.
struct Inputs {
    /// A stream of so many jobs that they take minutes.
    jobs: String,
    /// Two of them.
    two: String,
    /// Nine streams that may be released in any order.
    orders: String,
    /// A kernel of millions of blocks.
    blocks: String,
    /// A scenario whose text takes seconds.
    long: String,
    /// A log that is read, audited and replayed for a few tenths of a second each, however fast the machine.
    log: String,
    tasks: String,
    study: String,
    out: String,
}

fn scenario(streams: &str, blocks: u32) -> String {
    format!(
        r#"{{"format": "gpusched-scenario/1", "name": "long", "kernels": {{"K": {{"blocks": {blocks}, "threads": 1024,
        "duration": "1 us"}}}}, "streams": [{streams}]}}"#
    )
}

impl Inputs {
    fn new(directory: &Path) -> Self {
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            fs::write(&path, text).expect("it can be written");
            path.display().to_string()
        };
        let stream = |more: &str| format!(r#"{{"name": "S"{more}, "operations": [{{"kernel": "K"}}]}}"#);
        let jobs = scenario(&stream(r#", "period": "1 us", "jobs": 4000000"#), 1);
        let nine: Vec<String> = (0..9).map(|index| stream("").replace("\"S\"", &format!("\"S{index}\""))).collect();
        let operations = vec![r#"{"kernel": "K"}"#; 1_000_000].join(",");
        let kernel = r#"{"kernel_name": "K", "block_count": 2, "thread_count": 1024, "shared_memory": 0, "cuda_launch_times":
            [5.000001000, 5.000050000, 6.000079000], "block_times": [5.000052000,6.000062000,5.000052000,6.000062000],
            "block_smids": [0,1], "cpu_cores": [0]}"#;
        let log = format!(
            r#"{{"scenario_name": "long", "benchmark_name": "B", "label": "One", "max_resident_threads": 4096,
            "data_size": 0, "release_time": 0.0, "PID": 100, "TID": 101, "times": [{{}},{}]}}"#,
            vec![kernel; 400_000].join(",\n")
        );
        write("two/a.json", &jobs);
        Self {
            jobs: write("jobs.json", &jobs),
            two: write("two/b.json", &jobs).replace("/b.json", ""),
            orders: write("orders.json", &scenario(&nine.join(","), 7)),
            blocks: write("blocks.json", &scenario(&stream(""), 9_000_000)),
            long: write("long.json", &scenario(&format!(r#"{{"name": "S", "operations": [{operations}]}}"#), 1)),
            log: write("log.json", &log),
            tasks: write("tasks.json", TABLE_1),
            study: write(
                "study.json",
                r#"{"format": "gpusched-study/1", "name": "long", "command": "merged-sm", "seed": 7, "samples": 40000000,
                "samples_per_row": 100, "grid": {"family": ["unequal", "priorities"]}}"#,
            ),
            out: directory.join("figures").display().to_string(),
        }
    }
}

/// What is at work, what is counted of it, and whether the end is known.
type Shown = (&'static str, &'static str, bool);

/// Commands that last for minutes, and what they show.
fn lasting(inputs: &Inputs) -> Vec<(Vec<&str>, Shown)> {
    vec![
        (vec!["simulate", &inputs.jobs, "--no-repeat"], ("simulating: ", " operations, ", true)),
        (vec!["simulate", &inputs.two, "--no-repeat", "--jobs", "1"], ("running", "2 scenarios", false)),
        (vec!["simulate", &inputs.blocks, "--blocks", "--format", "csv"], ("writing: ", " MB/s", false)),
        (vec!["convert", &inputs.long], ("parsing: ", " MB/s", true)),
        (vec!["audit", &inputs.log], ("reading: ", " MB/s, ", true)),
        (vec!["audit", &inputs.log], ("auditing: ", " looks at blocks, ", true)),
        (vec!["replay-log", &inputs.log], ("simulating: ", " operations, ", true)),
        (
            vec!["analyze", "scenarios/deadlines/camera-and-lidar.json", "--search", "60s"],
            ("searching bad runs: ", " runs, ", false),
        ),
        (vec!["orders", &inputs.orders, "--samples", "10000000"], ("trying: ", " orders, ", true)),
        (
            vec!["merged-sm", "--samples", "10000000", "--family", "unequal"],
            ("analysing and simulating: ", " scenarios, ", true),
        ),
        (vec!["evr", "rodinia-like-k20m", "--inject", "5", "--samples", "1000000"], ("running: ", " samples, ", true)),
        (
            vec!["tasks", "run", &inputs.tasks, "--strategy", "single-stream", "--horizon", "3000000"],
            ("simulating: ", " time units, ", true),
        ),
        (vec!["tasks", "curve", "--samples", "1000000"], ("drawing: ", " task sets, ", true)),
        (vec!["warps", "LLCLLCLLCLLCLLC", "--warps", "60"], ("searching the worst case", "", false)),
        (vec!["warps", "LLCLLCL", "--warps", "36"], ("searching the worst case: ", " states, ", true)),
        (vec!["study", "run", &inputs.study], ("running: ", " samples, ", true)),
        (vec!["figures", "--out", &inputs.out], ("making", " figures", false)),
    ]
}

/// Runs `check` for each of the commands, some at once.
fn each(commands: Vec<(Vec<&str>, Shown)>, limit: &str, check: impl Fn(&[String], Shown) + Sync) {
    let left = Mutex::new(commands);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("no check panics with it").pop();
                    let Some((arguments, shown)) = next else { return };
                    let limited = [&arguments[..], &["--max-time", limit]].concat();
                    let limited: Vec<String> = limited.into_iter().map(str::to_owned).collect();
                    check(&limited, shown);
                }
            });
        }
    });
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_every_command_that_lasts_shows_on_a_terminal_what_it_is_at_how_fast_and_where_known_the_time_left() {
    let inputs = Inputs::new(&directory("progress_terminal"));
    // Each is ended once it has shown that, which takes a minute at worst on a machine with much else to do.
    each(lasting(&inputs), "300s", |arguments, (what, unit, end_is_known)| {
        let is_it =
            |line: &str| line.contains(what) && line.contains(unit) && (!end_is_known || line.contains(" s left"));
        let is_there = |shown: &str| shown.split(['\r', '\n', '\u{1b}']).any(is_it);
        let shown = on_terminal(arguments, is_there);
        assert!(is_there(&shown), "{arguments:?}: {shown:?}");
    });
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_nothing_of_it_is_shown_where_standard_error_is_no_terminal() {
    let inputs = Inputs::new(&directory("progress_elsewhere"));
    let some = lasting(&inputs).into_iter().step_by(3).collect();
    each(some, "2s", |arguments, (what, ..)| {
        let mut command = command();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let output = command.output().expect("the command runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains(['\r', '\u{1b}']) && !said.contains(" left") && !said.contains(what), "{said}");
        let is_message = |line: &str| ["note: ", "error: ", "stopped"].iter().any(|begin| line.starts_with(begin));
        assert!(said.lines().all(is_message), "{arguments:?}: {said}");
    });
}

#[test]
fn a_command_that_is_done_at_once_shows_nothing_on_a_terminal_but_its_notes() {
    let shown = on_terminal(&["simulate".to_owned(), "scenarios/rtss2017/figure-3.json".to_owned()], |_| false);
    assert!(!shown.contains("simulating") && !shown.contains("reading"), "{shown:?}");
}
