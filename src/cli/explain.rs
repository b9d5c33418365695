//! `gpusched explain`

use anyhow::{anyhow, bail};
use clap::Args;
use gpusched::explain::{explain, topics};
use gpusched::tables::ExplainReport;

use super::Answer;
use super::output::{Format, print_report};

/// What a rule, a verdict, a finding, or a note means; without a name, what there is.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A rule (R3), a word of a report (proven, merged SM, work conservation), or a part of a note or an error
    #[arg(value_name = "RULE|WORD|MESSAGE")]
    about: Vec<String>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Explain {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let is_list = self.about.is_empty();
        let about = self.about.join(" ");
        if !is_list && about.trim().is_empty() {
            bail!("nothing is asked for; gpusched explain lists what is explained");
        }
        let found = if is_list { Ok(topics()) } else { explain(&about) };
        let topics = found.map_err(|what| anyhow!("{what}; gpusched explain lists what there is"))?;
        print_report(&ExplainReport { topics, is_list }, self.format)?;
        Ok(Answer::Done)
    }
}
