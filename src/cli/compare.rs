//! `gpusched compare`

use std::io::Write;

use clap::Args;
use gpusched::analysis::compare;
use gpusched::report::{comparison_csv, comparison_table};

use super::output::{Format, note};
use super::run_options::RunOptions;
use super::{Answer, output};

/// Simulated beside analysed finish times: where the analysis is optimistic (unsafe), where pessimistic.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    run: RunOptions,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Exit status 1 if any finish time differs
    #[arg(long)]
    check: bool,
}

impl Compare {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let scenario = self.run.read(false)?;
        let comparison = compare(&scenario)?;
        for text in &comparison.notes {
            note(text);
        }
        let mut out = output::stdout();
        match self.format {
            Format::Json => {
                serde_json::to_writer(&mut out, &comparison)?;
                writeln!(out)?;
            }
            Format::Csv => comparison_csv(&comparison, &mut out)?,
            Format::Table => write!(out, "{}", comparison_table(&comparison))?,
        }
        out.flush()?;
        Ok(if self.check && !comparison.equal { Answer::No } else { Answer::Done })
    }
}
