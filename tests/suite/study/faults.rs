//! Faults that a study survives.

use std::io::{self, BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use gpusched::experiments::study::{Disk, ResultFile, StudyError};

use super::*;

/// The whole result file of a study, from a run that nothing disturbs.
fn undisturbed(study: &Study, directory: &Path) -> String {
    let results = directory.join("undisturbed");
    let mut file = ResultFile::claim(study, Shard::WHOLE, &results).expect("nobody else has it");
    file.append(&rows(study, Shard::WHOLE)).expect("there is room");
    read(results.join("rows.csv"))
}

/// The rows that a file lacks.
fn after<'a>(all: &'a [StudyRow], file: &ResultFile) -> &'a [StudyRow] {
    &all[usize::try_from(file.rows()).expect("it is small")..]
}

#[test]
fn a_file_cut_at_any_byte_is_gone_on_with_to_the_same_bytes() {
    let study = study(SMALL);
    let directory = directory("cut");
    let whole = undisturbed(&study, &directory);
    let path = directory.join("rows.csv");
    let all = rows(&study, Shard::WHOLE);
    for end in 0..=whole.len() {
        fs::write(&path, &whole[..end]).expect("it can be written");
        let mut file = ResultFile::claim(&study, Shard::WHOLE, &directory).expect("what is left is sound");
        let sound = whole[..end].lines().count() - usize::from(!whole[..end].ends_with('\n') && end > 0);
        assert_eq!(file.rows(), sound.saturating_sub(2) as u64, "cut at {end}");
        file.append(after(&all, &file)).expect("there is room");
        drop(file);
        assert!(read(&path) == whole, "cut at {end}");
    }
}

#[test]
fn a_file_with_any_byte_changed_is_refused_or_mended() {
    let study = study(SMALL);
    let directory = directory("changed");
    let whole = undisturbed(&study, &directory);
    let path = directory.join("rows.csv");
    let all = rows(&study, Shard::WHOLE);
    for place in 0..whole.len() {
        let mut changed = whole.clone().into_bytes();
        changed[place] ^= 1;
        fs::write(&path, &changed).expect("it can be written");
        match ResultFile::claim(&study, Shard::WHOLE, &directory) {
            Ok(mut file) => {
                file.append(after(&all, &file)).expect("there is room");
                drop(file);
                assert!(read(&path) == whole, "byte {place}");
            }
            Err(StudyError::NotRows { .. } | StudyError::Foreign { .. }) => {
                assert!(fs::read(&path).expect("it is there") == changed, "what is refused is left alone");
            }
            Err(error) => panic!("byte {place}: {error}"),
        }
    }
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_a_run_killed_at_any_moment_loses_nothing_and_has_nothing_twice() {
    // Rows of a few milliseconds, so that most kills hit a run at work.
    let text = SMALL.replace("45", "6000").replace("10", "40");
    let (directory, file) = with_study("killed", &text);
    let alone = directory.join("alone").display().to_string();
    done(&["study", "run", &file, "--results", &alone]);
    let whole = read(format!("{alone}/rows.csv"));
    let path = directory.join("study.results/rows.csv");
    let mut kills = 0;
    loop {
        let before = fs::metadata(&path).map_or(0, |found| found.len());
        let mut run =
            command().args(["study", "run", &file, "--jobs", "2"]).stderr(Stdio::null()).spawn().expect("it starts");
        let began = Instant::now();
        // Not before something came, and then at a moment that differs from kill to kill.
        while fs::metadata(&path).map_or(0, |found| found.len()) <= before && began.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(7 * kills % 100));
        run.kill().expect("SIGKILL can be sent");
        if run.wait().expect("it ended").success() || kills == 20 {
            break;
        }
        kills += 1;
        // A kill rarely hits the middle of a write: tear the last row as one would have.
        let found = fs::read(&path).expect("it is there");
        let torn = found.len().saturating_sub(usize::try_from(3 * (kills % 2)).expect("it is small"));
        fs::write(&path, &found[..torn]).expect("it can be written");
        assert!(whole.as_bytes().starts_with(&found[..torn]), "only whole rows, in order, and a torn one");
    }
    assert!(kills > 0);
    done(&["study", "run", &file]);
    assert_eq!(read(&path), whole);
}

#[test]
fn ctrl_c_ends_with_whole_rows_and_status_130() {
    let (directory, file) = with_study("ctrl_c", &SMALL.replace("45", "40000000").replace("10", "100"));
    let mut run =
        command().args(["study", "run", &file, "--jobs", "2"]).stderr(Stdio::piped()).spawn().expect("it starts");
    let path = directory.join("study.results/rows.csv");
    while fs::metadata(&path).map_or(0, |found| found.len()) < 1_000 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let kill = Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("there is a kill");
    assert!(kill.success());
    assert_eq!(run.wait().expect("it ended").code(), Some(130));
    let said = BufReader::new(run.stderr.take().expect("it is piped")).lines().next().expect("a line").expect("text");
    assert!(said.contains("was stopped after") && said.contains("goes on there"), "{said}");
    assert!(read(&path).ends_with('\n'));
}

/// A disk with room for so many bytes.
#[derive(Default)]
struct SmallDisk {
    bytes: Vec<u8>,
    room: usize,
    cannot_cut: bool,
}

impl Write for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.room - self.bytes.len());
        if fits == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(&bytes[..fits]);
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for SmallDisk {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        if self.cannot_cut {
            return Err(io::ErrorKind::Other.into());
        }
        self.bytes.truncate(usize::try_from(bytes).expect("it is small"));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn is_named(&self, _: &Path) -> io::Result<bool> {
        Ok(true)
    }
}

#[test]
fn a_disk_that_is_full_after_any_byte_leaves_whole_rows_only() {
    let study = study(SMALL);
    let directory = directory("small_disk");
    let whole = undisturbed(&study, &directory);
    let all = rows(&study, Shard::WHOLE);
    for (room, cannot_cut) in (0..whole.len()).flat_map(|room| [(room, false), (room, true)]) {
        let disk = SmallDisk { room, cannot_cut, ..SmallDisk::default() };
        let Ok(mut file) = ResultFile::on(disk, &study, Shard::WHOLE) else { continue };
        let failed = all.iter().find_map(|row| file.append(std::slice::from_ref(row)).err());
        let text = failed.expect("there is no room for all").to_string();
        let told = match file.rows() {
            0 => "cannot write rows.csv;".to_owned(),
            rows => format!("cannot write rows.csv after {rows} rows"),
        };
        assert!(text.contains(&told), "{text}");
        let left = &file.disk().bytes;
        assert!(whole.as_bytes().starts_with(left));
        if !cannot_cut {
            assert!(left.ends_with(b"\n") && left.split(|byte| *byte == b'\n').count() as u64 == 3 + file.rows());
        }
        fs::write(directory.join("rows.csv"), left).expect("it can be written");
        let again = ResultFile::claim(&study, Shard::WHOLE, &directory).expect("it is sound");
        assert_eq!(again.rows(), file.rows());
    }
}

#[test]
fn a_run_on_a_full_disk_says_so_and_goes_on_once_there_is_room() {
    let (directory, file) = with_study("full_disk", &SMALL.replace("45", "2000"));
    let alone = directory.join("alone").display().to_string();
    done(&["study", "run", &file, "--results", &alone]);
    // A limit of the process, which any user can set, in place of a disk that only root can make small.
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" study run \"$1\"";
    let mut bash = Command::new("bash");
    let output = bash.args(["-c", limited, env!("CARGO_BIN_EXE_gpusched"), &file]).output().expect("there is a bash");
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cannot write") && text.contains("after") && text.contains("goes on there"), "{text}");
    let path = directory.join("study.results/rows.csv");
    let left = read(&path);
    assert!(left.len() > 4_000 && left.len() <= 8_192 && left.ends_with('\n'), "{} bytes", left.len());
    done(&["study", "run", &file]);
    assert_eq!(read(&path), read(format!("{alone}/rows.csv")));
}

#[test]
fn two_runs_of_one_shard_are_told_apart_and_so_are_two_files_of_one() {
    let (directory, file) = with_study("twice", SMALL);
    let results = directory.join("study.results");
    let shard = Shard::new(1, 2).expect("there is one");
    let held = ResultFile::claim(&study(SMALL), shard, &results).expect("nobody else has it");
    let text = refused(&["study", "run", &file, "--shard", "1/2"]);
    assert!(text.contains("rows-1-of-2.csv is being written by another run: two runs of shard 1/2"), "{text}");
    let status = gpusched(&["study", "status", &file]);
    assert!(String::from_utf8_lossy(&status.stdout).contains("running"));
    drop(held);
    done(&["study", "run", &file, "--shard", "1/2"]);
    done(&["study", "run", &file, "--shard", "0/2"]);
    let (one, copy) = (results.join("rows-1-of-2.csv"), directory.join("copy.csv"));
    fs::copy(&one, &copy).expect("it can be copied");
    let zero = results.join("rows-0-of-2.csv");
    let [zero, one, copy] = [&zero, &one, &copy].map(|path| path.to_str().expect("UTF-8"));
    let text = refused(&["study", "merge", &file, zero, one, copy]);
    assert!(text.contains("is shard 1/2 too"), "{text}");
    // A file under another shard's name.
    fs::copy(one, zero).expect("it can be copied");
    let text = refused(&["study", "run", &file, "--shard", "0/2"]);
    assert!(text.contains("its rows are of shard 1/2, not 0/2"), "{text}");
}

#[test]
fn a_study_edited_between_runs_is_refused_by_every_command() {
    let (directory, file) = with_study("edited", SMALL);
    done(&["study", "run", &file, "--shard", "0/2"]);
    done(&["study", "run", &file, "--shard", "1/2"]);
    done(&["study", "merge", &file]);
    let path = directory.join("study.results/rows.csv");
    let before = read(&path);
    fs::write(&file, SMALL.replace("\"seed\": 7", "\"seed\": 8")).expect("it can be written");
    for arguments in [
        &["study", "run", &file][..],
        &["study", "run", &file, "--shard", "0/2"],
        &["study", "merge", &file, "--force"],
        &["study", "plot", &file],
        &["study", "status", &file],
    ] {
        let text = refused(arguments);
        assert!(text.contains("was changed since its rows were computed"), "{text}");
    }
    assert_eq!(read(&path), before);
    // Comments and white space change no result.
    fs::write(&file, SMALL.replace("{\"format\"", "{ \"comment\": \"why\", \"format\"")).expect("it can be written");
    done(&["study", "plot", &file]);
}

#[test]
fn rows_of_another_version_are_refused() {
    let (directory, file) = with_study("version", SMALL);
    done(&["study", "run", &file]);
    let path = directory.join("study.results/rows.csv");
    let version = format!("\"gpusched\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let other = read(&path).replace(&version, "\"gpusched\":\"0.0.9\"");
    fs::write(&path, &other).expect("it can be written");
    for command in ["run", "plot", "status"] {
        let text = refused(&["study", command, &file]);
        assert!(text.contains("computed by gpusched 0.0.9") && text.contains("two versions are not mixed"), "{text}");
    }
    let shard = path.display().to_string();
    assert!(refused(&["study", "merge", &file, &shard, "--force"]).contains("computed by gpusched 0.0.9"));
    assert_eq!(read(&path), other);
    fs::write(&path, "family,samples\nunequal,45\n").expect("it can be written");
    assert!(refused(&["study", "run", &file]).contains("is no result file"));
}

#[test]
fn changes_of_the_clock_change_nothing() {
    let (directory, file) = with_study("clock", SMALL);
    done(&["study", "run", &file]);
    let path = directory.join("study.results/rows.csv");
    let whole = read(&path);
    let century = Duration::from_hours(100 * 365 * 24);
    for (time, left) in [(SystemTime::UNIX_EPOCH, whole.len() / 2), (SystemTime::now() + century, whole.len() / 3)] {
        fs::write(&path, &whole[..left]).expect("it can be written");
        let opened = fs::OpenOptions::new().write(true).open(&path).expect("it is there");
        opened.set_modified(time).expect("times can be set");
        drop(opened);
        done(&["study", "run", &file]);
        assert_eq!(read(&path), whole, "rows carry no time");
    }
}

#[test]
#[cfg(unix)]
fn rows_are_written_through_no_link() {
    use std::os::unix::fs::symlink;

    let (folder, file) = with_study("links", SMALL);
    let results = folder.join("study.results");
    fs::create_dir(&results).expect("it can be made");
    // To nowhere yet, and to a file that is empty, which rows would be put into.
    let empty = folder.join("empty");
    fs::write(&empty, "").expect("it can be written");
    for (name, shard, target) in
        [("rows-0-of-2.csv", "0/2", folder.join("nowhere")), ("rows.csv", "0/1", empty.clone())]
    {
        let link = results.join(name);
        symlink(&target, &link).expect("it can be made");
        let said = refused(&["study", "run", &file, "--shard", shard]);
        assert!(said.contains(&format!("cannot write {}; ", link.display())), "{said}");
        assert!(said.contains("it is a link, and rows go to no other file"), "{said}");
        fs::remove_file(link).expect("the link is still there");
    }
    assert!(!folder.join("nowhere").exists(), "nothing was made where a link leads");
    assert_eq!(fs::read(&empty).expect("it is there"), b"");
    done(&["study", "run", &file, "--shard", "0/2"]);
}
