//! `gpusched audit`

use std::io::Write;

use anyhow::bail;
use clap::Args;
use gpusched::audit::{AuditReport, Observation, audit, audit_profile};
use gpusched::profile::GpuProfile;
use gpusched::report::{finding_csv, finding_table, profile_audit_csv, profile_audit_table};

use super::log_input::LogOptions;
use super::output::{Format, note};
use super::what_if_options::PriorityOptions;
use super::{Answer, output};

/// Check measured logs, or the order of kernels in a profile, against the published scheduling rules; exit status 1 if
/// something breaks one.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    logs: LogOptions,
    /// Which GPU of a profile [default: the one that runs most kernels]
    #[arg(long, value_name = "N")]
    gpu: Option<u32>,
    #[command(flatten)]
    priorities: PriorityOptions,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

impl Audit {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if let Some(profile) = self.logs.profile()? {
            return self.of_profile(profile);
        }
        if let Some(option) = self.priorities.given() {
            bail!("{option} is for profiles, and these are logs: --scenario tells their priorities");
        }
        if self.gpu.is_some() {
            bail!("--gpu is for profiles, and these are logs");
        }
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
            Format::Table | Format::Markdown => {
                write!(out, "{}", finding_table(&report, self.format.style()))?;
            }
        }
        out.flush()?;
        Ok(if report.violations.is_empty() { Answer::Done } else { Answer::No })
    }

    fn of_profile(&self, mut profile: GpuProfile) -> anyhow::Result<Answer> {
        profile.set_priorities(&self.priorities.set_priority)?;
        let (gpu, choice) = profile.choose_gpu(self.gpu)?;
        let mut notes: Vec<String> = choice.into_iter().collect();
        notes.extend(profile.left_out_notes());
        let device = match self.logs.device()? {
            Some(device) => device,
            None => profile.device(gpu)?,
        };
        let audit = audit_profile(&profile, gpu, &device);
        for text in &notes {
            note(text);
        }
        let mut out = output::stdout();
        match self.format {
            Format::Json => {
                let mut document = serde_json::to_value(&audit)?;
                document["device"] = device.name.as_str().into();
                document["notes"] = serde_json::to_value(&notes)?;
                writeln!(out, "{document:#}")?;
            }
            Format::Csv => profile_audit_csv(&audit, &mut out)?,
            Format::Table | Format::Markdown => {
                write!(out, "{}", profile_audit_table(&audit, self.format.style()))?;
            }
        }
        out.flush()?;
        Ok(if audit.unexplained == 0 { Answer::Done } else { Answer::No })
    }
}
