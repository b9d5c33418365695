//! `gpusched amalthea`

use std::path::PathBuf;

use clap::Args;
use gpusched::scenario::amalthea::AmaltheaModel;

use super::output::{Format, note, print_report};
use super::{Answer, input, notes};

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
        notes::show_abridged(&model.notes, note);
        print_report(&model, self.format)?;
        Ok(Answer::Done)
    }
}
