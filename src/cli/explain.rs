//! `gpusched explain`

use anyhow::{anyhow, bail};
use clap::Args;
use gpusched::explain::Topic;
use gpusched::tables::ExplainReport;

use super::Answer;
use super::output::{Format, print_report};

/// What rules, verdicts, words, columns, findings or notes mean; without a name, what there is.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Rules (R3), words of reports and columns of tables (proven, merged SM, waited), or a part of a note or an error
    #[arg(value_name = "RULE|WORD|MESSAGE")]
    about: Vec<String>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Explain {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let is_list = self.about.is_empty();
        if !is_list && self.about.iter().all(|word| word.trim().is_empty()) {
            bail!("nothing is asked for; gpusched explain lists what is explained");
        }
        let found = if is_list { Ok(Topic::all()) } else { Topic::find(&self.about) };
        let topics = found.map_err(|what| anyhow!("{what}; gpusched explain lists what there is"))?;
        print_report(&ExplainReport { topics, is_list }, self.format)?;
        Ok(Answer::Done)
    }
}
