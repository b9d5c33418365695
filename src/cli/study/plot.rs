//! `gpusched study plot`

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use gpusched::experiments::study::{Shard, StudySummary};
use gpusched::pictures::study_plot::{PlotOptions, plot};
use gpusched::tables::SummaryDocument;

use super::super::output::{Format, note, print_report};
use super::super::picture::Look;
use super::super::progress::{self, Unit};
use super::super::{Answer, picture};
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
        let path = results.join(Shard::WHOLE.file_name());
        if !path.exists() {
            let advice = if Shard::files(&results)?.is_empty() { "study run" } else { "study merge" };
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
        print_report(&SummaryDocument { study: &study, summary: &summary }, self.format)?;
        Ok(Answer::Done)
    }
}
