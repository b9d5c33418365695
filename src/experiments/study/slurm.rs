//! Slurm job arrays: their batch script, and which shard a task is.

use std::fmt::Write;

use super::error::StudyError;
use super::layout::Shard;

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
