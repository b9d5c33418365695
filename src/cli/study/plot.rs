//! `gpusched study plot`

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use gpusched::experiments::study::{Shard, StudySummary, file_name, shard_files};
use gpusched::pictures::study_plot::{PlotOptions, plot};
use gpusched::tables::{SummaryDocument, summary_rows, summary_table};

use super::super::output::{Format, note, write_document};
use super::super::picture::Look;
use super::super::progress::{self, Unit};
use super::super::{Answer, output, picture};
use super::Files;

/// Sum the rows of a study up, with 95 % confidence intervals, and draw them.
#[derive(Debug, Args)]
pub(super) struct Plot {
    #[command(flatten)]
    files: Files,
    /// Draw them into this file [.svg, .png, .pdf, .tex]
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    look: Look,
    /// The key of the grid to draw over [default: the last one of numbers, or else the last one]
    #[arg(long, value_name = "KEY")]
    x: Option<String>,
    /// A quantity to draw; may be repeated [default: all shares, or else the first mean]
    #[arg(long, value_name = "NAME")]
    y: Vec<String>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Plot {
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let (study, results) = (self.files.study()?, self.files.results()?);
        picture::check(self.figure.as_deref())?;
        let path = results.join(file_name(Shard::WHOLE));
        if !path.exists() {
            let advice = if shard_files(&results)?.is_empty() { "study run" } else { "study merge" };
            bail!("there is no {}: `gpusched {advice}` makes it", path.display());
        }
        progress::begin("summing rows up", Unit::None, None);
        let summary = StudySummary::read(&study, &path)?;
        if summary.rows < summary.expected {
            note(&format!("{} of {} rows: the study is not complete", summary.rows, summary.expected));
        }
        if let Some(figure) = &self.figure {
            let drawing = plot(
                &study,
                &summary,
                &PlotOptions { x: self.x.clone(), y: self.y.clone(), picture: self.look.options() },
            )?;
            picture::write(figure, &drawing)?;
        }
        let mut out = output::stdout();
        match self.format {
            Format::Table | Format::Markdown => {
                write!(out, "{}", summary_table(&study, &summary, self.format.style()))?;
            }
            Format::Csv | Format::Arrow => summary_rows(&study, &summary, self.format.rows(), &mut out)?,
            Format::Json | Format::Jsonl => {
                let document = SummaryDocument { study: &study, summary: &summary };
                write_document(&document, self.format, &mut out)?;
            }
        }
        out.flush()?;
        Ok(Answer::Done)
    }
}
