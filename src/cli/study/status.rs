//! `gpusched study status`

use std::io::Write;

use clap::Args;
use gpusched::experiments::study::{ShardStatus, Study, status};
use gpusched::tables::{ShardsDocument, shards_rows, shards_table};

use super::super::output::{Format, write_document};
use super::super::progress::{self, Unit};
use super::super::{Answer, output};
use super::Files;

/// Say how far the shards of a study are: missing, running, stopped or complete.
#[derive(Debug, Args)]
pub(super) struct Status {
    #[command(flatten)]
    files: Files,
    /// Exit with status 1 unless all rows are there
    #[arg(long)]
    check: bool,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Status {
    pub(super) fn run(&self) -> anyhow::Result<Answer> {
        let study = self.files.study()?;
        progress::begin("checking shards", Unit::None, None);
        let shards = status(&study, &self.files.results()?)?;
        // Complete is a whole file, or all shards of one division.
        let counts = shards.iter().map(|one| one.shard.count());
        let is_complete = counts
            .into_iter()
            .any(|count| shards.iter().filter(|one| one.shard.count() == count).all(ShardStatus::is_complete));
        let mut out = output::stdout();
        match self.format {
            Format::Json | Format::Jsonl => {
                let document = ShardsDocument { study: &study, shards: &shards, complete: is_complete };
                write_document(&document, self.format, &mut out)?;
            }
            Format::Csv | Format::Arrow => shards_rows(&shards, self.format.rows(), &mut out)?,
            Format::Markdown => {
                writeln!(out, "{}", shards_table(&shards, self.format.style()))?;
                write_total(&study, is_complete, &mut out)?;
            }
            Format::Table => {
                for one in &shards {
                    let percent = 100.0 * one.rows as f64 / one.expected.max(1) as f64;
                    let percent = if one.is_complete() { 100.0 } else { percent };
                    let (shard, state, rows, expected) = (one.shard.to_string(), one.state(), one.rows, one.expected);
                    writeln!(out, "shard {shard:>9}  {state:<8}  {rows:>9} of {expected} rows  {percent:5.1} %")?;
                }
                write_total(&study, is_complete, &mut out)?;
            }
        }
        out.flush()?;
        Ok(if self.check && !is_complete { Answer::No } else { Answer::Done })
    }
}

fn write_total(study: &Study, is_complete: bool, out: &mut impl Write) -> std::io::Result<()> {
    let (points, samples, rows) = (study.layout.points, study.layout.samples, study.layout.rows());
    let state = if is_complete { "complete" } else { "not complete" };
    writeln!(out, "{}: {points} points of {samples} samples, {rows} rows: {state}", study.name)
}
