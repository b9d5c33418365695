//! Every command that can last is ended by Ctrl-C and SIGTERM, whatever it is at, and leaves nothing half-written.

#![allow(clippy::print_stdout, reason = "how long each took is to be read")]

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::{command, directory, stderr};

/// Commands that would last for minutes at least. `LONG` is a run of 20 million jobs, `TASKS` a set with a long
/// hyperperiod, `STUDY` a study of many samples, `MISSES` two streams that
/// miss their deadlines, `OUT` a directory; `-` waits for input that does not come.
const COMMANDS: &[&str] = &[
    "simulate LONG --no-repeat --max-memory 8G",
    "simulate LONG --max-memory 8G --html OUT/run.html",
    "simulate LONG --max-memory 8G --perfetto OUT/trace.json --blame",
    "simulate -",
    "analyze LONG --max-memory 8G",
    "compare LONG --max-memory 8G",
    "orders LONG --max-memory 8G",
    "residents LONG --max-memory 8G",
    "occupancy -",
    "convert - --out OUT/scenario.json",
    "import -",
    "amalthea -",
    "audit -",
    "replay-log -",
    "tasks -",
    "tasks run TASKS --strategy single-stream --horizon 190000000 --max-memory 8G",
    "tasks curve --samples 10000000",
    "warps LCCLCLLCLCLLCCLLLCCLLLCLCLCLC --warps 64 --time-limit 3600s --memory-limit 8000 --max-memory 8G",
    "evr rodinia-like-k20m --inject 100 --samples 1000000",
    "evr narrow-k20m --inject 1000000",
    "figures --out OUT/figures",
    "study status -",
    "study plot - --results OUT --figure OUT/study.svg",
];

/// Those that tell what they had done by then, or keep it.
const KEEPING: &[&str] = &[
    "merged-sm --samples 1000000000",
    "analyze MISSES --search 3600s --witness OUT/witness.json",
    "study run STUDY --results OUT/results",
    "simulate LONG --no-repeat --max-memory 8G",
];

fn inputs(test: &str) -> [(&'static str, String); 4] {
    let folder = directory(&format!("ending_signals/{test}"));
    let written = |name: &str, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text).expect("it can be written");
        file.display().to_string()
    };
    [
        (
            "LONG",
            written(
                "long.json",
                r#"{"format": "gpusched-scenario/1", "name": "l", "kernels": {"K": {"blocks": 4, "threads": 512, "duration": "1 us"}},
                "streams": [{"name": "S", "period": "2 us", "jobs": 20000000, "operations": [{"kernel": "K"}]}]}"#,
            ),
        ),
        (
            "MISSES",
            written(
                "misses.json",
                r#"{"format": "gpusched-scenario/1", "name": "m", "kernels": {"K": {"blocks": 8, "threads": 512, "duration": "1 us"}},
                    "streams": [{"name": "S", "period": "4 us", "jobs": 500, "deadline": "1 us", "operations": [{"kernel": "K"}]},
                    {"name": "T", "period": "4 us", "jobs": 500, "deadline": "1 us", "operations": [{"kernel": "K"}]}]}"#,
            ),
        ),
        ("TASKS", written("tasks.json", r#"{"sms": 2, "tasks": [{"C": 1, "T": 10, "sm": 0}]}"#)),
        (
            "STUDY",
            written(
                "study.json",
                r#"{"format": "gpusched-study/1", "name": "s", "command": "merged-sm", "seed": 7, "samples": 100000000,
                "samples_per_row": 10, "grid": {"family": ["unequal"]}}"#,
            ),
        ),
    ]
}

/// Most commands are at their work by then.
const BEGUN: Duration = Duration::from_millis(150);

/// Waits until a process has a handler of its own for SIGTERM.
fn watches(child: &mut Child) {
    loop {
        assert!(child.try_wait().expect("it is a child").is_none(), "it has not ended yet");
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("there is a /proc");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("it is told");
        if u64::from_str_radix(caught.trim(), 16).expect("it is a number") >> (Signal::SIGTERM as u32 - 1) & 1 == 1 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// All that is left behind below a directory that may be half-written.
fn unfinished(out: &Path) -> Vec<String> {
    let entries = fs::read_dir(out).expect("it is there").map(|entry| entry.expect("it is readable").path());
    let names =
        entries.flat_map(|path| if path.is_dir() { unfinished(&path) } else { vec![path.display().to_string()] });
    // A figure is written whole, and a study's rows are whole lines.
    names
        .filter(|name| !name.contains("/figures/") || name.contains(".tmp"))
        .filter(|name| !name.ends_with("/rows.csv"))
        .collect()
}

/// Ends a command in the middle of its work, and gives its exit status and what it said.
fn ended(line: &str, signal: Signal, after: Duration, inputs: &[(&str, String)]) -> (Option<i32>, String) {
    let out = directory(&format!("ending_signals/{}", line.replace([' ', '/'], "-")));
    let mut arguments: Vec<String> =
        line.split(' ').map(|word| word.replace("OUT", &out.display().to_string())).collect();
    for argument in &mut arguments {
        if let Some((_, file)) = inputs.iter().find(|(name, _)| argument == name) {
            argument.clone_from(file);
        }
    }
    let mut started = command();
    started.args(&arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = started.spawn().expect("it starts");
    // Which stays open meanwhile.
    let input = child.stdin.take();
    watches(&mut child);
    std::thread::sleep(after);
    let began = Instant::now();
    kill(Pid::from_raw(i32::try_from(child.id()).expect("it fits")), signal).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    drop(input);
    println!("{:4} ms: {line}", began.elapsed().as_millis());
    assert!(unfinished(&out).is_empty() || line.contains("--witness"), "{line}: {:?}", unfinished(&out));
    (output.status.code(), stderr(&output))
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_every_command_that_can_last_is_ended_by_a_signal() {
    let inputs = inputs("ended");
    for (number, line) in COMMANDS.iter().enumerate() {
        let signal = if number % 2 == 0 { Signal::SIGTERM } else { Signal::SIGINT };
        let (status, said) = ended(line, signal, BEGUN, &inputs);
        assert_eq!(status, Some(130), "{line}: {said}");
        assert!(said.contains("stopped"), "{line}: {said}");
    }
}

#[test]
fn commands_that_keep_what_they_have_say_so_when_they_are_ended() {
    let inputs = inputs("keeping");
    for line in KEEPING {
        // Before it has something to keep, it ends as others do.
        let moments = (0..5).map(|power| BEGUN * 4_u32.pow(power));
        let mut kept = moments.map(|after| ended(line, Signal::SIGTERM, after, &inputs)).filter(|(status, said)| {
            assert_eq!(*status, Some(130), "{line}: {said}");
            said.contains("what is told is what was complete by then")
        });
        assert!(kept.next().is_some(), "{line} begins at last");
    }
}
