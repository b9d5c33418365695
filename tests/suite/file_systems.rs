//! Disks that are full, cannot be written or go away, on a real file system of 1 MB in a mount namespace of its own.

#![allow(clippy::print_stdout, reason = "what is skipped is to be said")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{command, directory, gpusched, stderr, stdout};

/// A script in whose namespace `$DISK` is an empty file system of 1 MB, run in the project's directory; `$1` is
/// `input`. `None` where nothing may be mounted, which is said.
fn on_small_disk(test: &str, input: &str, script: &str) -> Option<Output> {
    let disk = directory(&format!("file_systems/{test}"));
    let begin = "mount -t tmpfs -o size=1m,mode=755 tmpfs \"$DISK\" || exit 99
        # Leaves so many KiB free.
        fill() { dd if=/dev/zero of=\"$DISK/filler\" bs=1024 count=$((1016 - $1)) 2>/dev/null; sync; }
        others() { (cd \"$DISK\" && find . -type f ! -name filler | sort); }
        set -u\n";
    let run = |namespaces: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args([namespaces, "sh", "-c", &format!("{begin}{script}"), "sh", input]);
        unshare.env("DISK", &disk).env("GPUSCHED", env!("CARGO_BIN_EXE_gpusched")).stdin(Stdio::null());
        unshare.output().ok().filter(|output| output.status.code() != Some(99) && !is_refused(output))
    };
    let output = run("-rm").or_else(|| run("-m"));
    if output.is_none() {
        println!("skipped: nothing may be mounted here");
    }
    output
}

fn is_refused(output: &Output) -> bool {
    stderr(output).contains("unshare: ")
}

/// Asserts that a script said what it has to say, and nothing else.
#[track_caller]
fn says(output: &Output, expected: &str) {
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&stdout(output)), lines(expected.trim()), "{}", stderr(output));
}

/// A run of which every output is larger than 64 KiB.
fn large_run(test: &str) -> String {
    let folder = directory(&format!("file_systems_inputs/{test}"));
    let stream = |name: u32| {
        format!(
            r#"{{"name": "S{name}", "period": "2 us", "jobs": 1000, "deadline": "1 us", "operations": [{{"kernel": "K"}}]}}"#
        )
    };
    let streams: Vec<String> = (0..4).map(stream).collect();
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "many", "kernels": {{"K": {{"blocks": 4, "threads": 512,
            "duration": "1 us"}}}}, "streams": [{}]}}"#,
        streams.join(", ")
    );
    let file = folder.join("run.json");
    fs::write(&file, text).expect("it can be written");
    file.display().to_string()
}

/// Outputs of a run.
const OUTPUTS: &str = "--perfetto trace.json
    --html run.html
    --runnable-times times.csv
    --runnable-times times.json
    --figure run.svg";

#[test]
fn a_full_disk_leaves_old_files_as_they_were_and_nothing_half_written() {
    let file = large_run("full");
    let script = format!(
        "echo '{OUTPUTS}' | while read option name; do
            echo old > \"$DISK/$name\"
            fill 32
            \"$GPUSCHED\" simulate \"$1\" $option \"$DISK/$name\" > /dev/null 2> /tmp/said-$$
            echo \"$option $?\" $(grep -c \"^error: .*cannot write $DISK/$name: No space left on device\" /tmp/said-$$)
            echo $(others) $(cat \"$DISK/$name\")
            rm \"$DISK/filler\" \"$DISK/$name\" /tmp/said-$$
        done"
    );
    let Some(output) = on_small_disk("full", &file, &script) else { return };
    says(
        &output,
        "--perfetto 2 1\n./trace.json old\n--html 2 1\n./run.html old\n--runnable-times 2 1\n./times.csv old\n\
         --runnable-times 2 1\n./times.json old\n--figure 2 1\n./run.svg old",
    );
}

#[test]
fn logs_are_written_all_or_not_at_all_on_a_full_disk() {
    let script = "mkdir \"$DISK/logs\"; \"$GPUSCHED\" simulate \"$1\" --logs \"$DISK/logs\" 2> /dev/null > /dev/null; echo $?
        before=$(cd \"$DISK/logs\" && cat *.json | cksum)
        fill 4; dd if=/dev/zero of=\"$DISK/rest\" 2> /dev/null
        \"$GPUSCHED\" simulate \"$1\" --logs \"$DISK/logs\" --force --launch-latency 5us 2>&1 > /dev/null | grep -c 'error: cannot write'
        [ \"$before\" = \"$(cd \"$DISK/logs\" && cat *.json | cksum)\" ] && echo same; ls -A \"$DISK/logs\" | grep -c tmp";
    let Some(output) = on_small_disk("logs", "tests/data/small/examiner.json", script) else { return };
    says(&output, "0\n1\nsame\n0");
}

#[test]
fn a_file_system_that_cannot_be_written_is_named_and_left_as_it_is() {
    let file = large_run("read_only");
    let script = format!(
        "echo '{OUTPUTS}' | while read option name; do echo old > \"$DISK/$name\"; done
        mount -o remount,ro \"$DISK\"
        echo '{OUTPUTS}' | while read option name; do
            \"$GPUSCHED\" simulate \"$1\" $option \"$DISK/$name\" 2>&1 > /dev/null |
                grep -c \"^error: .*cannot write $DISK/$name: Read-only file system\"
            \"$GPUSCHED\" simulate \"$1\" $option \"$DISK/$name\" > /dev/null 2>&1; echo $? $(cat \"$DISK/$name\")
        done
        \"$GPUSCHED\" simulate tests/data/small/examiner.json --logs \"$DISK/logs\" 2>&1 > /dev/null |
            grep -c 'error: .*Read-only'
        \"$GPUSCHED\" study run \"$1.study\" --results \"$DISK/results\" 2>&1 > /dev/null | grep -c 'error: .*Read-only'
        \"$GPUSCHED\" tasks curve --samples 2 --step 50 --out \"$DISK/curve.csv\" 2>&1 > /dev/null |
            grep -c 'error: .*Read-only'
        others | wc -l"
    );
    fs::write(format!("{file}.study"), STUDY).expect("it can be written");
    let Some(output) = on_small_disk("read_only", &file, &script) else { return };
    says(&output, &format!("{}1\n1\n1\n5", "1\n2 old\n".repeat(5)));
}

/// A study of more rows than 24 KiB.
const STUDY: &str = r#"{"format": "gpusched-study/1", "name": "s", "command": "merged-sm", "seed": 7, "samples": 1000,
    "samples_per_row": 1, "grid": {"family": ["unequal"]}}"#;

#[test]
fn rows_on_a_full_disk_are_whole_and_the_same_command_goes_on_once_there_is_room() {
    let folder = directory("file_systems_inputs/rows");
    let study = folder.join("study.json");
    fs::write(&study, STUDY).expect("it can be written");
    let input = study.display().to_string();
    let done = gpusched(&["study", "run", &input]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let script = "mkdir \"$DISK/results\"; fill 24; alone=$(cksum < \"${1%.json}.results/rows.csv\")
        \"$GPUSCHED\" study run \"$1\" --results \"$DISK/results\" 2>&1 |
            grep -c 'error: cannot write .* after [1-9][0-9]* rows; the same command goes on there.*: No space left'
        [ -z \"$(tail -c 1 \"$DISK/results/rows.csv\")\" ] && echo whole
        rm \"$DISK/filler\"
        \"$GPUSCHED\" study run \"$1\" --results \"$DISK/results\" 2> /dev/null; echo $?
        [ \"$alone\" = \"$(cksum < \"$DISK/results/rows.csv\")\" ] && echo same
        fill 8; \"$GPUSCHED\" study merge \"$1\" --results \"$DISK/results\" --out \"$DISK/merged.csv\" 2>&1 | grep -c 'error: '
        others";
    let Some(output) = on_small_disk("rows", &input, script) else { return };
    says(&output, "1\nwhole\n0\nsame\n1\n./results/rows.csv");
}

#[test]
fn complete_rows_that_cannot_be_written_are_complete_and_others_say_how_many_there_are() {
    let folder = directory("file_systems_inputs/complete");
    let study = folder.join("study.json");
    fs::write(&study, STUDY).expect("it can be written");
    let script = "\"$GPUSCHED\" study run \"$1\" --results \"$DISK/results\" 2> /dev/null; echo $?
        mount -o remount,ro \"$DISK\"
        \"$GPUSCHED\" study run \"$1\" --results \"$DISK/results\" 2>&1; echo $?
        mount -o remount,rw \"$DISK\"; sed -i '$d' \"$DISK/results/rows.csv\"; mount -o remount,ro \"$DISK\"
        \"$GPUSCHED\" study run \"$1\" --results \"$DISK/results\" 2>&1 |
            grep -c 'error: cannot write .* after 999 rows; the same command goes on there .*: Read-only file system'";
    let Some(output) = on_small_disk("complete", &study.display().to_string(), script) else { return };
    let rows = directory("file_systems/complete").join("results/rows.csv");
    says(&output, &format!("0\nnote: {} is complete: 1000 rows\n0\n1", rows.display()));
}

#[test]
fn a_curve_on_a_full_disk_goes_on_once_there_is_room() {
    let curve = "tasks curve --samples 1 --step 2";
    let script = format!(
        "\"$GPUSCHED\" {curve} > /dev/null 2>&1; \"$GPUSCHED\" {curve} --out \"$DISK/whole.csv\" 2> /dev/null
        dd if=/dev/zero of=\"$DISK/filler\" 2> /dev/null; truncate -s -4096 \"$DISK/filler\"
        \"$GPUSCHED\" {curve} --out \"$DISK/curve.csv\" 2>&1 | grep -c 'error: cannot write .*goes on there.*: No space left'
        rm \"$DISK/filler\"; \"$GPUSCHED\" {curve} --out \"$DISK/curve.csv\" 2> /dev/null; echo $?
        cmp \"$DISK/whole.csv\" \"$DISK/curve.csv\" && echo same"
    );
    let Some(output) = on_small_disk("curve", "", &script) else { return };
    says(&output, "1\n0\nsame");
}

#[test]
fn a_directory_that_is_not_there_is_an_error_that_names_the_file() {
    let gone = directory("file_systems/gone").join("no/such/directory");
    let out = |name: &str| gone.join(name).display().to_string();
    let file = large_run("gone");
    for (option, name) in OUTPUTS.lines().filter_map(|line| line.trim().split_once(' ')) {
        let output = gpusched(&["simulate", &file, option, &out(name)]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("cannot write {}: No such file or directory", out(name))), "{said}");
    }
    let output = gpusched(&["tasks", "curve", "--samples", "2", "--step", "50", "--out", &out("curve.csv")]);
    assert!(stderr(&output).contains(&out("curve.csv")) && output.status.code() == Some(2), "{}", stderr(&output));
}

#[test]
fn rows_that_were_removed_while_they_were_written_are_not_called_complete() {
    let folder = directory("file_systems/removed");
    let study = folder.join("study.json");
    fs::write(&study, STUDY.replace("1000", "4000")).expect("it can be written");
    let results = folder.join("study.results");
    let mut run = command();
    run.args(["study", "run", &study.display().to_string()]).stdout(Stdio::null()).stderr(Stdio::piped());
    let run = run.spawn().expect("it starts");
    while !has_rows(&results.join("rows.csv")) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    fs::remove_dir_all(&results).expect("it can be removed");
    let output = run.wait_with_output().expect("it ends");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write") && said.contains("goes on there once the cause is mended"), "{said}");
}

fn has_rows(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.lines().count() > 3)
}

#[test]
fn two_runs_that_write_one_curve_are_told_apart() {
    let folder = directory("file_systems/two_curves");
    let out = folder.join("curve.csv");
    let path = out.display().to_string();
    let held = fs::File::create(&out).expect("it can be made");
    held.lock().expect("nobody else has it");
    let run = ["tasks", "curve", "--samples", "2", "--step", "50", "--out", &path];
    let output = gpusched(&run);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("is being written by another run"), "{}", stderr(&output));
    drop(held);
    assert_eq!(gpusched(&run).status.code(), Some(0));
}

#[test]
fn links_that_lead_to_another_file_system_nowhere_or_in_circles_are_replaced() {
    let script = "echo kept > \"$DISK/target\"; mkdir \"$DISK/dir\"; cd \"$DISK/dir\"; here=$OLDPWD
        ln -s /dev/shm/not-there-$$ dangling.csv; ln -s circle.csv circle.csv; ln -s ../target link.csv; ln -s .. folder.csv
        for name in dangling circle link folder; do
            \"$GPUSCHED\" simulate \"$here/$1\" --runnable-times $name.csv > /dev/null 2>&1
            echo $name $? $([ -L $name.csv ] && echo link || head -c 8 $name.csv)
        done
        cat ../target; ls -A | wc -l";
    let Some(output) = on_small_disk("links", "scenarios/rtss2017/figure-3.json", script) else { return };
    says(&output, "dangling 0 runnable\ncircle 0 runnable\nlink 0 runnable\nfolder 2 link\nkept\n4");
}
