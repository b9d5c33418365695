//! `gpusched study run` computes rows here, `gpusched study submit` has Slurm do it.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use gpusched::experiments::study::{BatchScript, ResultFile, Shard, Study};

use super::super::output::{self, note};
use super::super::progress::{self, Unit};
use super::super::written::write_bytes;
use super::super::{Answer, ending, resources};
use super::Files;

/// Compute the rows of a study, or of one shard of it, on all cores, and append them to its result file as they come.
/// A run that was ended, by whatever, goes on where it stopped. Exit status 130 if it was stopped by
/// Ctrl-C, 3 by --max-time.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    files: Files,
    /// Shard I, from 0, of N [default: of a Slurm job array, its task; else the whole study]
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    jobs: resources::Jobs,
}

impl Run {
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let (study, results) = (self.files.study()?, self.files.results()?);
        let shard = self.shard()?;
        refuse_other_division(&results, shard)?;
        let mut file = ResultFile::claim(&study, shard, &results)?;
        let path = file.path().display().to_string();
        if file.dropped() > 0 {
            note(&format!(
                "{path}: {} bytes behind row {} were torn and are computed again",
                file.dropped(),
                file.rows()
            ));
        }
        let done = file.rows();
        if done == shard.rows(study.layout.rows()) {
            file.sync()?;
            note(&format!("{path} is complete: {done} rows"));
            return Ok(Answer::Done);
        }
        ending::keep_complete_results();
        let progress = Progress::new(&study, shard, done);
        let (started, samples) = (progress.started, Mutex::new(progress));
        self.jobs.share()?;
        let clock = || started.elapsed();
        let computed = |more, left| samples.lock().unwrap_or_else(PoisonError::into_inner).add(more, left);
        let complete = study.work(shard, done).run_watched(&clock, &computed, |rows| file.append(rows));
        ending::stop_working()?;
        progress::end();
        let complete = complete?;
        let samples = samples.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.sync()?;
        if complete {
            note(&format!("{path} is complete: {} rows, {}", file.rows(), samples.rate()));
            return Ok(Answer::Done);
        }
        note(&format!("{path} was stopped after {} rows; the same command goes on there", file.rows()));
        Ok(Answer::No)
    }

    fn shard(&self) -> anyhow::Result<Shard> {
        let variable = |name: &str| std::env::var(name).ok();
        Ok(match (self.shard, variable("SLURM_ARRAY_TASK_ID")) {
            (Some(shard), _) => shard,
            (None, None) => Shard::WHOLE,
            (None, Some(id)) => Shard::from_slurm(
                &id,
                variable("SLURM_ARRAY_TASK_COUNT").as_deref(),
                variable("SLURM_ARRAY_TASK_MIN").as_deref(),
            )?,
        })
    }
}

/// A study that was begun in so many shards is not gone on with in so many others by mistake.
fn refuse_other_division(results: &Path, shard: Shard) -> anyhow::Result<()> {
    if results.join(shard.file_name()).exists() {
        return Ok(());
    }
    let other = Shard::files(results)?.into_iter().find(|(other, _)| other.count() != shard.count());
    if let Some((other, _)) = other {
        bail!(
            "{} has shards of {}, and this is shard {shard}: say --shard I/{}, or choose another --results",
            results.display(),
            other.count(),
            other.count()
        );
    }
    Ok(())
}

/// Samples done, their rate and the time left; where no terminal shows them, a line now and then.
struct Progress {
    all: u64,
    before: u64,
    done: u64,
    started: Instant,
    said: Instant,
}

/// Time between two lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Progress {
    fn new(study: &Study, shard: Shard, rows: u64) -> Self {
        let all = study.layout.samples_of(shard, shard.rows(study.layout.rows()));
        let done = study.layout.samples_of(shard, rows);
        progress::resume("running", Unit::Of("samples"), Some(all), done);
        let now = Instant::now();
        Self { all, before: done, done, started: now, said: now }
    }

    fn add(&mut self, samples: u64, left: Duration) {
        self.done += samples;
        progress::advance(samples);
        progress::expect(left);
        if !progress::is_shown() && self.said.elapsed() >= LINE_EVERY {
            self.said = Instant::now();
            let left = left.as_secs_f64();
            note(&format!("{} of {} samples, {}, {left:.0} s left", self.done, self.all, self.rate()));
        }
    }

    fn per_second(&self) -> f64 {
        (self.done - self.before) as f64 / self.started.elapsed().as_secs_f64().max(1e-9)
    }

    fn rate(&self) -> String {
        format!("{:.1} s, {:.0} samples/s", self.started.elapsed().as_secs_f64(), self.per_second())
    }
}

/// Write a batch script that runs a study as a Slurm job array, one shard a task, and submit it with sbatch.
#[derive(Debug, Args)]
pub(super) struct Submit {
    #[command(flatten)]
    files: Files,
    /// Tasks of the array, one shard each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 16))]
    array: u64,
    /// Cores of a task
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cores: u16,
    /// Print the script, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Submit tasks of fewer than a thousand samples too
    #[arg(long)]
    force: bool,
    /// Options of sbatch, for example -- --time=1:00:00 --partition=short
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<String>,
}

impl Submit {
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let (study, results) = (self.files.study()?, self.files.results()?);
        if self.files.file.as_os_str() == "-" {
            bail!("tasks of an array cannot read the study from standard input: name a file");
        }
        let Some(first) = Shard::new(0, self.array) else { bail!("there is no such array") };
        let samples = study.layout.samples_of(first, first.rows(study.layout.rows()));
        if samples < BatchScript::LEAST_SAMPLES && !self.force {
            let most = (study.layout.points * study.layout.samples / BatchScript::LEAST_SAMPLES).max(1);
            bail!(
                "a task would have {samples} samples, and a scheduler starts only a few tasks a second: --array {most} gives \
                 each {}, --force submits it as it is",
                BatchScript::LEAST_SAMPLES
            );
        }
        let text = |path: &Path| -> anyhow::Result<String> {
            let absolute = std::path::absolute(path)?;
            let text = absolute.to_str().with_context(|| format!("{} is not UTF-8", absolute.display()))?;
            Ok(text.to_owned())
        };
        let script = BatchScript {
            name: &study.name,
            program: &text(&std::env::current_exe()?)?,
            file: &text(&self.files.file)?,
            results: &text(&results)?,
            array: self.array,
            cores: self.cores,
            samples,
            options: &self.options,
        };
        if self.dry_run {
            output::print(script.text().as_bytes())?;
            return Ok(Answer::Done);
        }
        std::fs::create_dir_all(&results).with_context(|| format!("cannot make {}", results.display()))?;
        let path = results.join("submit.sh");
        write_bytes(&path, script.text().as_bytes())?;
        let status = Command::new("sbatch").arg(&path).status();
        let status = status.with_context(|| format!("cannot run sbatch; the script is {}", path.display()))?;
        if !status.success() {
            bail!("sbatch refused {}: {status}", path.display());
        }
        Ok(Answer::Done)
    }
}
