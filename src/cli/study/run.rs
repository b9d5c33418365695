//! `gpusched study run`

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::Args;
use gpusched::experiments::study::{ResultFile, Shard, Study, file_name, shard_files};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::super::output::note;
use super::super::{Answer, ending, jobs};
use super::Files;

/// Compute the rows of a study, or of one shard of it, on all cores, and append them to its result file as they come.
/// A run that was ended, by whatever, goes on where it stopped. Exit status 1 if it was stopped by Ctrl-C.
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    files: Files,
    /// Shard I, from 0, of N [default: of a Slurm job array, its task; else the whole study]
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    jobs: jobs::Jobs,
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
        let stop = ending::stop_flag();
        let mut progress = Progress::new(&study, shard, done);
        let complete = self.jobs.pool()?.install(|| {
            study.work(shard, done).run(&stop, |rows| {
                file.append(rows)?;
                progress.add(rows.iter().map(|row| row.place.samples).sum());
                Ok(())
            })
        });
        ending::finishing();
        progress.end();
        let complete = complete?;
        file.sync()?;
        if complete {
            note(&format!("{path} is complete: {} rows, {}", file.rows(), progress.rate()));
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
    if results.join(file_name(shard)).exists() {
        return Ok(());
    }
    let other = shard_files(results)?.into_iter().find(|(other, _)| other.count() != shard.count());
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

/// Samples done, their rate and the time left: a bar on a terminal, elsewhere a line now and then.
struct Progress {
    bar: Option<ProgressBar>,
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
        let bar = std::io::stderr().is_terminal().then(|| {
            let template = "{bar:30} {human_pos}/{human_len} samples, {rate}, {eta} left";
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                // Nothing is lost if it cannot be shown.
                let _ = write!(out, "{:.0}/s", state.per_sec());
            };
            let bar = ProgressBar::new(all).with_style(style.with_key("rate", rate)).with_position(done);
            bar.reset_eta();
            bar
        });
        let now = Instant::now();
        Self { bar, all, before: done, done, started: now, said: now }
    }

    fn add(&mut self, samples: u64) {
        self.done += samples;
        if let Some(bar) = &self.bar {
            bar.inc(samples);
        } else if self.said.elapsed() >= LINE_EVERY {
            self.said = Instant::now();
            let left = (self.all - self.done) as f64 / self.per_second().max(1e-9);
            note(&format!("{} of {} samples, {}, {left:.0} s left", self.done, self.all, self.rate()));
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn per_second(&self) -> f64 {
        (self.done - self.before) as f64 / self.started.elapsed().as_secs_f64().max(1e-9)
    }

    fn rate(&self) -> String {
        format!("{:.1} s, {:.0} samples/s", self.started.elapsed().as_secs_f64(), self.per_second())
    }
}
