//! The shards of a study: how far each is, what the rows of a file add up to, shards put together to what one machine
//! would have written, and shards as tasks of a Slurm job array.

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::compute::{RowSamples, Shard, Tally, compute_all};
use super::result_file::{CHUNK, ResultFile};
use super::rows::{self, Found, Rows};
use super::{Study, StudyError};
use crate::effort::{self, Progress};
use crate::limits::count_turn;
use crate::statistics::Measure;

/// How far one shard is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardStatus {
    /// Where its rows are, or would be.
    pub path: PathBuf,
    /// Which.
    pub shard: Shard,
    /// Sound rows.
    pub rows: u64,
    /// Rows that it will have.
    pub expected: u64,
    /// What stands behind the last sound row: a torn one, or something that is none \[bytes\].
    pub behind_bytes: u64,
    /// Whether it was started.
    pub started: bool,
    /// Whether a process is at it now.
    pub running: bool,
}

impl ShardStatus {
    /// How far the rows in a directory are: the whole study's file, if there is one, and every shard of each division
    /// that was begun.
    ///
    /// # Errors
    /// [`StudyError`] if files cannot be read or belong to something else.
    pub fn of_all(study: &Study, directory: &Path) -> Result<Vec<Self>, StudyError> {
        let files = Shard::files(directory)?;
        let mut counts: Vec<u64> = files.iter().map(|(shard, _)| shard.count()).collect();
        counts.dedup();
        let shards = counts.into_iter().flat_map(|count| (0..count).filter_map(move |index| Shard::new(index, count)));
        let whole = (files.is_empty() || directory.join(Shard::WHOLE.file_name()).exists()).then_some(Shard::WHOLE);
        whole.into_iter().chain(shards).map(|shard| one(study, directory, shard)).collect()
    }

    /// Whether all rows are there, and nothing else.
    pub fn is_complete(&self) -> bool {
        self.started && self.rows == self.expected && self.behind_bytes == 0
    }

    /// In one word.
    pub fn state(&self) -> &'static str {
        match (self.is_complete(), self.running, self.started) {
            (true, ..) => "complete",
            (_, true, _) => "running",
            // Going on with it cuts off what is behind the rows.
            (_, _, true) if self.rows == self.expected => "damaged",
            (_, _, true) => "stopped",
            _ => "missing",
        }
    }
}

fn one(study: &Study, directory: &Path, shard: Shard) -> Result<ShardStatus, StudyError> {
    let path = directory.join(shard.file_name());
    let (started, running) = (path.exists(), ResultFile::is_claimed(&path));
    let (mut rows, mut behind_bytes) = (0, 0);
    if started && let Some(mut found) = Rows::open(study, &path, CHUNK)? {
        let sound = found.skip_all()?;
        rows = found.given;
        let length = fs::metadata(&path).map_err(|source| StudyError::Read { path: path.clone(), source })?.len();
        behind_bytes = length.saturating_sub(sound);
    }
    Ok(ShardStatus { path, shard, rows, expected: shard.rows(study.layout.rows()), behind_bytes, started, running })
}

impl Shard {
    /// The files of shards in a directory, without the whole study's, with the shard that their names state, in order.
    ///
    /// # Errors
    /// [`StudyError::Read`]
    pub fn files(directory: &Path) -> Result<Vec<(Self, PathBuf)>, StudyError> {
        let cannot = |source| StudyError::Read { path: directory.to_owned(), source };
        if !directory.exists() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in fs::read_dir(directory).map_err(cannot)? {
            let path = entry.map_err(cannot)?.path();
            let shard = path.file_name().and_then(|name| name.to_str()).and_then(|name| {
                let (index, count) = name.strip_prefix("rows-")?.strip_suffix(".csv")?.split_once("-of-")?;
                Shard::new(index.parse().ok()?, count.parse().ok()?)
            });
            found.extend(shard.filter(|shard| *shard != Shard::WHOLE).map(|shard| (shard, path)));
        }
        found.sort();
        Ok(found)
    }
}

/// What rows say so far.
#[derive(Debug, Clone, PartialEq)]
pub struct StudySummary {
    /// Rows read.
    pub rows: u64,
    /// Rows that the file will have.
    pub expected: u64,
    /// Points that have rows, in order.
    pub points: Vec<PointSummary>,
}

/// What the rows of one point say.
#[derive(Debug, Clone, PartialEq)]
pub struct PointSummary {
    /// Number of the point.
    pub point: u64,
    /// Samples.
    pub samples: u64,
    /// Quantities by name.
    pub measures: Vec<(&'static str, Measure)>,
}

impl StudySummary {
    /// Of the rows of a file; memory does not grow with their number.
    ///
    /// # Errors
    /// [`StudyError`] if the file cannot be read, or belongs to something else.
    pub fn read(study: &Study, path: &Path) -> Result<Self, StudyError> {
        let Some(mut rows) = Rows::open(study, path, CHUNK)? else {
            return Ok(Self { rows: 0, expected: study.layout.rows(), points: Vec::new() });
        };
        let mut sums = Sums { study, tallies: Vec::new() };
        while let Some(Found { place, values, .. }) = rows.next()? {
            count_turn();
            if sums.add(place, values).is_none() {
                return Err(StudyError::Values { row: rows.given - 1, command: study.command.name() });
            }
        }
        Ok(Self { rows: rows.given, expected: rows.expected(), points: sums.points() })
    }

    /// Of the whole study, computed here and now on rayon's current threads, without a file.
    ///
    /// # Errors
    /// [`StudyError::Sample`] if a sample cannot be computed.
    pub fn compute(study: &Study) -> Result<Self, StudyError> {
        let mut sums = Sums { study, tallies: Vec::new() };
        let mut count = 0;
        compute_all(&*study.experiment, (study.layout, study.command), |row| {
            sums.add(row.place, &row.values)?;
            count += 1;
            Some(())
        })?;
        effort::check()?;
        Ok(Self { rows: count, expected: study.layout.rows(), points: sums.points() })
    }
}

/// Points as their rows come, in order.
struct Sums<'a> {
    study: &'a Study,
    /// Number and samples of a point, and the sums over its rows.
    tallies: Vec<(u64, u64, Box<dyn Tally>)>,
}

impl Sums<'_> {
    /// Adds a row; `None` if its values are not what the study's command writes.
    fn add(&mut self, place: RowSamples, values: &str) -> Option<()> {
        if self.tallies.last().is_none_or(|(point, ..)| *point != place.point) {
            self.tallies.push((place.point, 0, self.study.experiment.tally(place.point)?));
        }
        let (_, samples, tally) = self.tallies.last_mut()?;
        *samples += place.samples;
        tally.add(place.samples, values)
    }

    fn points(self) -> Vec<PointSummary> {
        let of = |(point, samples, tally): (u64, u64, Box<dyn Tally>)| PointSummary {
            point,
            samples,
            measures: tally.measures(),
        };
        self.tallies.into_iter().map(of).collect()
    }
}

/// Bytes of all shards together that are in memory at once, and of one of them.
const MEMORY: usize = 1 << 26;
const PER_SHARD: (usize, usize) = (1 << 10, 1 << 20);

/// Writes the rows of all shards in the order of the study: the bytes of a run on one machine. Returns how many.
///
/// Only a part of each file is in memory, 64 MB of all together. Every row's checksum and place are checked again.
/// How many rows are written is in `progress`.
///
/// # Errors
/// [`StudyError::Incomplete`] if a shard is missing or has not all rows, [`StudyError::Foreign`] if files belong to
/// different studies, versions or numbers of shards, or two to one shard.
pub fn merge(study: &Study, paths: &[PathBuf], out: &mut dyn Write, progress: Progress<'_>) -> Result<u64, StudyError> {
    let mut shards = in_order(study, paths)?;
    out.write_all(rows::header_text(study, Shard::WHOLE).as_bytes()).map_err(StudyError::Merged)?;
    let (rows, count) = (study.layout.rows(), shards.len());
    let mut number = 0;
    while number < rows {
        count_turn();
        let before = number;
        for shard in shards.iter_mut().take(usize::try_from(rows - number).unwrap_or(count)) {
            let Some(Found { line, .. }) = shard.next()? else { return Err(incomplete(shards)) };
            out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(StudyError::Merged)?;
            number += 1;
        }
        progress.advance(number - before);
    }
    Ok(rows)
}

/// One file for each shard, by number.
fn in_order<'a>(study: &'a Study, paths: &[PathBuf]) -> Result<Vec<Rows<'a>>, StudyError> {
    let chunk = (MEMORY / paths.len().max(1)).clamp(PER_SHARD.0, PER_SHARD.1);
    let mut what = Vec::new();
    let mut found: Vec<Rows<'_>> = Vec::new();
    for path in paths {
        match Rows::open(study, path, chunk)? {
            Some(rows) => found.push(rows),
            None => what.push(format!("{} has no rows yet", path.display())),
        }
    }
    crate::sorted::sort_by_key(&mut found, |rows| rows.shard);
    let foreign = |path: &Path, what: String| Err(StudyError::Foreign { path: path.to_owned(), what });
    for pair in found.windows(2) {
        let (one, other) = (pair[0].shard, pair[1].shard);
        if one.count() != other.count() {
            let first = pair[0].path().display();
            return foreign(
                pair[1].path(),
                format!("it is shard {other}, and {first} is shard {one}: name those to merge"),
            );
        }
        if one == other {
            return foreign(pair[1].path(), format!("{} is shard {one} too", pair[0].path().display()));
        }
    }
    let count = found.first().map_or(0, |rows| rows.shard.count());
    let missing: Vec<String> = (0..count)
        .filter(|index| found.binary_search_by_key(index, |rows| rows.shard.index()).is_err())
        .map(|index| format!("{index}/{count}"))
        .collect();
    if !missing.is_empty() {
        what.push(format!("no file has shard {}", missing.join(", ")));
    }
    if found.is_empty() && what.is_empty() {
        what.push("there are no shards".to_owned());
    }
    if what.is_empty() { Ok(found) } else { Err(StudyError::Incomplete { what }) }
}

fn incomplete(shards: Vec<Rows<'_>>) -> StudyError {
    let mut what = Vec::new();
    for mut rows in shards {
        match rows.skip_all() {
            Ok(_) if rows.given < rows.expected() => what.push(format!(
                "{} has {} of {} rows: run shard {} again",
                rows.path().display(),
                rows.given,
                rows.expected(),
                rows.shard
            )),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
    StudyError::Incomplete { what }
}

/// A job array whose task I runs shard I of N.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchScript<'a> {
    /// Name of the study.
    pub name: &'a str,
    /// The program, as an absolute path.
    pub program: &'a str,
    /// The study file, as an absolute path.
    pub file: &'a str,
    /// The directory of its rows, as an absolute path.
    pub results: &'a str,
    /// Tasks of the array, one shard each.
    pub array: u64,
    /// Cores of a task.
    pub cores: u16,
    /// Samples of a task, at most.
    pub samples: u64,
    /// More options of sbatch, such as `--time=1:00:00`.
    pub options: &'a [String],
}

impl Shard {
    /// The shard of a task of a Slurm job array, from the values of `SLURM_ARRAY_TASK_ID`, `SLURM_ARRAY_TASK_COUNT` and
    /// `SLURM_ARRAY_TASK_MIN`.
    ///
    /// Arrays must count from 0 without gaps. A single task that is submitted again has a count of 1 whatever its
    /// number is, and is refused: only the user knows how many shards there are.
    ///
    /// # Errors
    /// [`StudyError::SlurmArray`] says what to do.
    pub fn from_slurm(id: &str, count: Option<&str>, least: Option<&str>) -> Result<Self, StudyError> {
        let refuse = || StudyError::SlurmArray { id: id.to_owned(), count: count.unwrap_or("not set").to_owned() };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| refuse());
        if least.is_some_and(|least| least.trim() != "0") {
            return Err(refuse());
        }
        Self::new(number(id)?, number(count.ok_or_else(refuse)?)?).ok_or_else(refuse)
    }
}

impl BatchScript<'_> {
    /// Fewest samples of a task: a scheduler starts a few tasks a second, so shorter ones only wait.
    pub const LEAST_SAMPLES: u64 = 1_000;

    /// The script. Its tasks say `--shard I/N` themselves, so that `sbatch --array=I` runs one of them again.
    pub fn text(&self) -> String {
        let Self { name, program, file, results, array, cores, samples, options } = *self;
        let job: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let mut text = format!(
            "#!/bin/sh\n\
             #SBATCH --job-name={job}\n\
             #SBATCH --array=0-{}\n\
             #SBATCH --ntasks=1\n\
             #SBATCH --cpus-per-task={cores}\n\
             #SBATCH --requeue\n\
             #SBATCH --open-mode=append\n\
             #SBATCH --output={}\n",
            array.saturating_sub(1),
            quoted(&format!("{}/slurm-%a.txt", results.replace('%', "%%")), '"'),
        );
        for option in options {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "#SBATCH {option}");
        }
        let [program, file, results] = [program, file, results].map(|path| quoted(path, '\''));
        let _ = write!(
            text,
            "# {array} shards of at most {samples} samples. A task that was killed goes on where it stopped: sbatch --array=I\n\
             exec {program} study run {file} \\\n    --results {results} \\\n    --shard \"$SLURM_ARRAY_TASK_ID/{array}\" \
             --jobs \"${{SLURM_CPUS_PER_TASK:-{cores}}}\"\n"
        );
        text
    }
}

/// A path as the shell, or sbatch, takes it: in quotes unless it is plain.
fn quoted(path: &str, quote: char) -> String {
    if path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+%".contains(c)) {
        return path.to_owned();
    }
    let inner = if quote == '\'' { path.replace('\'', "'\\''") } else { path.replace(['"', '\\'], "") };
    format!("{quote}{inner}{quote}")
}
