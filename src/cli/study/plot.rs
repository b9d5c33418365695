//! `gpusched study plot`

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use gpusched::study::{
    PlotOptions, Shard, Summary, file_name, plot, shard_files, summary_csv, summary_json, summary_table,
};

use super::super::output::{Format, note, write_whole};
use super::super::{Answer, output};
use super::Files;

/// Sum the rows of a study up, with 95 % confidence intervals, and draw them.
#[derive(Debug, Args)]
pub(super) struct Plot {
    #[command(flatten)]
    files: Files,
    /// Write the curves as a figure [.svg]
    #[arg(long, value_name = "F.svg")]
    figure: Option<PathBuf>,
    /// The key of the grid to the right [default: the last one of numbers, or else the last one]
    #[arg(long, value_name = "KEY")]
    x: Option<String>,
    /// A quantity to draw; may be repeated [default: all shares, or else the first mean]
    #[arg(long, value_name = "NAME")]
    y: Vec<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

impl Plot {
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let (study, results) = (self.files.study()?, self.files.results()?);
        if self.figure.as_ref().is_some_and(|path| path.extension().is_none_or(|extension| extension != "svg")) {
            bail!("figures of studies are written as .svg");
        }
        let path = results.join(file_name(Shard::WHOLE));
        if !path.exists() {
            let advice = if shard_files(&results)?.is_empty() { "study run" } else { "study merge" };
            bail!("there is no {}: `gpusched {advice}` makes it", path.display());
        }
        let summary = Summary::read(&study, &path)?;
        if summary.rows < summary.expected {
            note(&format!("{} of {} rows: the study is not complete", summary.rows, summary.expected));
        }
        if let Some(figure) = &self.figure {
            let svg = plot(&study, &summary, &PlotOptions { x: self.x.clone(), y: self.y.clone() })?;
            write_whole(figure, |out| out.write_all(svg.as_bytes()))?;
        }
        let mut out = output::stdout();
        match self.format {
            Format::Table => write!(out, "{}", summary_table(&study, &summary))?,
            Format::Csv => write!(out, "{}", summary_csv(&study, &summary))?,
            Format::Json => writeln!(out, "{}", summary_json(&study, &summary))?,
        }
        out.flush()?;
        Ok(Answer::Done)
    }
}
