//! `gpusched amalthea`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use gpusched::formats::{write_json, write_json_lines};
use gpusched::scenario::amalthea::AmaltheaModel;
use gpusched::tables::amalthea_table;

use super::output::{Format, note};
use super::{Answer, input, notes, output};

/// List what is read of an AMALTHEA model: runnables with their ticks and GPU properties, copies, processing units,
/// stimuli, response-time requirements, and what was skipped.
#[derive(Debug, Args)]
pub(crate) struct Amalthea {
    /// Model file of Eclipse APP4MC; - reads standard input
    #[arg(value_name = "MODEL.amxmi")]
    model: PathBuf,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Amalthea {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let (file, text) = input::read(&self.model)?;
        let model = AmaltheaModel::parse(&file, &text)?;
        notes::tell(&model.notes, note);
        let mut out = output::stdout();
        match self.format {
            Format::Table | Format::Markdown => write!(out, "{}", amalthea_table::text(&model, self.format.style()))?,
            Format::Json => {
                write_json(&amalthea_table::ModelDocument::new(&model), &mut out)?;
            }
            Format::Jsonl => {
                write_json_lines(&amalthea_table::ModelLinesDocument::new(&model), None, &mut out)?;
            }
            Format::Csv | Format::Arrow => amalthea_table::runnable_rows(&model, self.format.rows(), &mut out)?,
        }
        out.flush()?;
        Ok(Answer::Done)
    }
}
