//! Shards, Slurm's environment, merging.

use std::sync::atomic::AtomicU64;

use gpusched::effort::Progress;
use gpusched::experiments::study::merge;

use super::*;

/// Runs all shards of a study in `results`, the last first.
fn run_shards(file: &str, results: &Path, count: u64) {
    for index in (0..count).rev() {
        done(&[
            "study",
            "run",
            file,
            "--shard",
            &format!("{index}/{count}"),
            "--results",
            &results.display().to_string(),
        ]);
    }
}

#[test]
fn merged_shards_are_the_bytes_of_one_machine() {
    let (directory, file) = with_study("merged", SMALL);
    done(&["study", "run", &file]);
    let whole = read(directory.join("study.results/rows.csv"));
    // More shards than rows leave some with none.
    for count in [2, 3, 4, 13] {
        let results = directory.join(count.to_string());
        run_shards(&file, &results, count);
        let results = results.display().to_string();
        done(&["study", "merge", &file, "--results", &results]);
        assert_eq!(read(format!("{results}/rows.csv")), whole, "{count} shards");
        let status = gpusched(&["study", "status", &file, "--results", &results, "--check"]);
        assert_eq!(status.status.code(), Some(0));
        let text = String::from_utf8(status.stdout).expect("it is text");
        assert_eq!(text.matches("complete").count() as u64, 2 + count, "{text}");
        assert!(refused(&["study", "merge", &file, "--results", &results]).contains("--force"));
        done(&["study", "merge", &file, "--results", &results, "--force"]);
    }
}

#[test]
fn merging_tells_of_every_row_once() {
    let (directory, file) = with_study("merge_progress", SMALL);
    let results = directory.join("study.results");
    run_shards(&file, &results, 3);
    let study = study(SMALL);
    let paths: Vec<_> = Shard::files(&results).expect("they are there").into_iter().map(|(_, path)| path).collect();
    let (told, mut merged) = (AtomicU64::new(0), Vec::new());
    let rows = merge(&study, &paths, &mut merged, Progress::counted_in(&told)).expect("they are complete");
    assert_eq!((told.into_inner(), rows), (rows, study.layout.rows()));
}

#[test]
fn an_empty_shard_is_complete_and_merges() {
    let (directory, file) = with_study("empty_shard", SMALL);
    run_shards(&file, &directory.join("study.results"), 11);
    let empty = read(directory.join("study.results/rows-10-of-11.csv"));
    assert_eq!(empty.lines().count(), 2, "a header, and no rows");
    done(&["study", "merge", &file]);
    assert_eq!(read(directory.join("study.results/rows.csv")).lines().count(), 12);
}

#[test]
fn a_file_without_header_counts_as_not_begun() {
    let (directory, file) = with_study("empty_file", SMALL);
    let results = directory.join("study.results");
    run_shards(&file, &results, 2);
    let path = results.join("rows-1-of-2.csv");
    let whole = read(&path);
    for left in [0, 1, 10, 100] {
        fs::write(&path, &whole[..left]).expect("it can be written");
        let text = refused(&["study", "merge", &file]);
        assert!(text.contains("rows-1-of-2.csv has no rows yet"), "{text}");
        done(&["study", "run", &file, "--shard", "1/2"]);
        assert_eq!(read(&path), whole);
    }
}

#[test]
fn shards_that_lack_rows_or_are_missing_are_named_and_nothing_is_written() {
    let (directory, file) = with_study("incomplete", SMALL);
    let results = directory.join("study.results");
    run_shards(&file, &results, 4);
    let path = results.join("rows-2-of-4.csv");
    let whole = read(&path);
    let rows = whole.trim_end().rfind('\n').expect("there are lines") + 1;
    fs::write(&path, &whole[..rows]).expect("it can be written");
    let text = refused(&["study", "merge", &file]);
    assert!(text.contains("rows-2-of-4.csv has 1 of 2 rows: run shard 2/4 again"), "{text}");
    fs::remove_file(&path).expect("it is there");
    let text = refused(&["study", "merge", &file]);
    assert!(text.contains("no file has shard 2/4"), "{text}");
    assert!(!results.join("rows.csv").exists());
    assert!(
        !fs::read_dir(&results)
            .expect("it is there")
            .any(|entry| { entry.expect("it is readable").file_name().to_string_lossy().ends_with("tmp") })
    );
}

#[test]
fn a_damaged_row_is_found_when_merging_and_mended_by_running_again() {
    let (directory, file) = with_study("damaged", SMALL);
    let results = directory.join("study.results");
    run_shards(&file, &results, 2);
    let path = results.join("rows-0-of-2.csv");
    let whole = read(&path);
    let place = whole.lines().take(3).map(|line| line.len() + 1).sum::<usize>() + 6;
    let mut damaged = whole.clone().into_bytes();
    damaged[place] ^= 1;
    fs::write(&path, damaged).expect("it can be written");
    let text = refused(&["study", "merge", &file]);
    assert!(text.contains("rows-0-of-2.csv has 1 of 5 rows"), "{text}");
    let said = done(&["study", "run", &file, "--shard", "0/2"]);
    assert!(said.contains("behind row 1 were torn"), "{said}");
    assert_eq!(read(&path), whole);
}

#[test]
fn mixed_studies_and_divisions_are_refused() {
    let (directory, file) = with_study("mixed", SMALL);
    let other = directory.join("other.json").display().to_string();
    fs::write(&other, SMALL.replace("\"small\"", "\"other\"")).expect("it can be written");
    let results = directory.join("study.results");
    run_shards(&file, &results, 2);
    let (one, two) = (results.join("rows-0-of-2.csv"), results.join("rows-1-of-2.csv"));
    let text = refused(&["study", "merge", &other, one.to_str().expect("UTF-8"), two.to_str().expect("UTF-8")]);
    assert!(text.contains("its rows are of study \"small\", not \"other\""), "{text}");
    let text = refused(&["study", "run", &file, "--shard", "0/4"]);
    assert!(text.contains("has shards of 2, and this is shard 0/4"), "{text}");
    let elsewhere = directory.join("three");
    run_shards(&file, &elsewhere, 3);
    fs::copy(elsewhere.join("rows-1-of-3.csv"), results.join("rows-1-of-3.csv")).expect("it can be copied");
    let text = refused(&["study", "merge", &file]);
    assert!(text.contains("it is shard 1/3, and"), "{text}");
}

#[test]
fn shards_are_taken_from_the_environment_of_a_slurm_array() {
    let from = |id, count, least| Shard::from_slurm(id, count, least).map(|shard| shard.to_string());
    assert_eq!(from("3", Some("8"), Some("0")).expect("a shard"), "3/8");
    assert_eq!(from("0", Some("1"), None).expect("a shard"), "0/1");
    // Task 2, submitted alone: nobody says of how many.
    let text = from("2", Some("1"), Some("2")).expect_err("it is refused").to_string();
    assert!(text.contains(r#"say "shard": "2/N""#), "{text}");
    for (id, count, least) in
        [("1", Some("4"), Some("1")), ("4", Some("4"), Some("0")), ("1", None, None), ("x", Some("4"), None)]
    {
        assert!(from(id, count, least).is_err());
    }
    let (directory, file) = with_study("slurm", SMALL);
    let output = command()
        .args(["study", "run", &file])
        .envs([("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "2"), ("SLURM_ARRAY_TASK_MIN", "0")])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(directory.join("study.results/rows-1-of-2.csv").exists());
    // Task 0 submitted alone would be the whole study; the shards that are there tell otherwise.
    let output = command()
        .args(["study", "run", &file])
        .envs([("SLURM_ARRAY_TASK_ID", "0"), ("SLURM_ARRAY_TASK_COUNT", "1"), ("SLURM_ARRAY_TASK_MIN", "0")])
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("has shards of 2, and this is shard 0/1"));
}

#[test]
fn a_batch_script_names_every_shard_itself_and_quotes_its_paths() {
    let (directory, file) = with_study("batch script, 'quoted'", &SMALL.replace("45", "100000"));
    let script = |arguments: &[&str]| {
        let output = gpusched(&[&["study", "submit", &file, "--dry-run"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).expect("it is text")
    };
    let text = script(&["--array", "64", "--cores", "2", "--", "--time=10:00"]);
    for line in ["#SBATCH --array=0-63", "#SBATCH --cpus-per-task=2", "#SBATCH --time=10:00", "#SBATCH --requeue"] {
        assert!(text.lines().any(|other| other == line), "{line} is missing in {text}");
    }
    assert!(text.contains("--shard \"$SLURM_ARRAY_TASK_ID/64\""), "{text}");
    assert!(!directory.join("study.results").exists(), "--dry-run leaves nothing");
    // The script does what it says, here without a scheduler.
    let status = Command::new("sh")
        .args(["-c", &script(&["--array", "50"])])
        .envs([("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_CPUS_PER_TASK", "1")])
        .status();
    assert!(status.expect("there is a shell").success());
    assert!(directory.join("study.results/rows-7-of-50.csv").exists());
    let text = refused(&["study", "submit", &file, "--array", "1000", "--dry-run"]);
    assert!(text.contains("--array 200 gives"), "{text}");
}
