//! `gpusched audit`

use std::io::Write;

use clap::Args;
use gpusched::audit::{AuditReport, Observation, audit};
use gpusched::report::{finding_csv, finding_markdown, finding_table};

use super::log_input::LogOptions;
use super::output::{Format, note};
use super::{Answer, output};

/// Check measured logs against the published scheduling rules; exit status 1 if something breaks one.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    logs: LogOptions,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

impl Audit {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let input = self.logs.read()?;
        let mut report = AuditReport::new(input.dropped);
        for run in input.runs {
            let observation = match &run.scenario {
                Some((scenario, pairing)) => Observation::of_logs_with(&run.run, scenario, pairing),
                None => Observation::of_logs(&run.run, &run.device),
            };
            report.notes.extend(run.notes);
            report.add(audit(&observation, &self.logs.tolerances()), &run.device.name);
        }
        report.notes.iter().for_each(|text| note(text));
        let mut out = output::stdout();
        match self.format {
            Format::Json => {
                serde_json::to_writer_pretty(&mut out, &report)?;
                writeln!(out)?;
            }
            Format::Csv => finding_csv(&report.violations, &mut out)?,
            Format::Markdown => finding_markdown(&report.violations, &mut out)?,
            Format::Table => write!(out, "{}", finding_table(&report))?,
        }
        out.flush()?;
        Ok(if report.violations.is_empty() { Answer::Done } else { Answer::No })
    }
}
