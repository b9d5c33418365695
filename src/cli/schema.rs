//! `gpusched schema`

use anyhow::Context;
use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::schema;

use super::{Answer, output};

/// Print the JSON Schema of an input file, for editors and validators.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which input file
    #[arg(value_parser = PossibleValuesParser::new(schema::NAMES))]
    name: String,
}

impl Schema {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let text = schema::json_schema(&self.name).context("there is no such schema")?;
        output::print(text.as_bytes())?;
        Ok(Answer::Done)
    }
}
