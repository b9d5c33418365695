//! `gpusched study submit`

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use clap::Args;
use gpusched::experiments::study::{BatchScript, Shard};

use super::super::output::write_whole;
use super::super::{Answer, output};
use super::Files;

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
            let mut out = output::stdout();
            out.write_all(script.text().as_bytes())?;
            out.flush()?;
            return Ok(Answer::Done);
        }
        std::fs::create_dir_all(&results).with_context(|| format!("cannot make {}", results.display()))?;
        let path = results.join("submit.sh");
        write_whole(&path, |out| out.write_all(script.text().as_bytes()))?;
        let status = Command::new("sbatch").arg(&path).status();
        let status = status.with_context(|| format!("cannot run sbatch; the script is {}", path.display()))?;
        if !status.success() {
            bail!("sbatch refused {}: {status}", path.display());
        }
        Ok(Answer::Done)
    }
}
