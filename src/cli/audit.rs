//! `gpusched audit`

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use gpusched::audit::{AuditReport, audit, audit_logs, learn_placement};
use gpusched::profile::GpuProfile;
use gpusched::tables::ProfileAuditReport;

use super::log_input::LogOptions;
use super::option_arguments::{OptionArguments, Priorities};
use super::output::{Format, note, print_report, write_whole};
use super::progress::{self, Unit};
use super::{Answer, notes};

/// Check measured logs, or the order of kernels in a profile, against the published scheduling rules; exit status 1 if
/// something breaks one.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(flatten)]
    logs: LogOptions,
    /// Which GPU of a profile [default: the one that runs most kernels]
    #[arg(long, value_name = "N")]
    gpu: Option<u32>,
    /// Say which placement policy, or which order of SMs, explains best where the blocks went
    #[arg(long)]
    learn_placement: bool,
    /// Write the GPU with the placement that explains most as a device file
    #[arg(long, value_name = "FILE", requires = "learn_placement")]
    write_device: Option<PathBuf>,
    #[command(flatten)]
    priorities: OptionArguments<Priorities>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Audit {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if let Some(profile) = self.logs.profile()? {
            return self.of_profile(profile);
        }
        let input = self.logs.read()?;
        let tolerances = self.logs.tolerances();
        let mut learned = Vec::new();
        let mut report = audit_logs(input, |observation| {
            if self.learn_placement {
                progress::begin("learning", Unit::None, None);
                learned.push(learn_placement(observation, &tolerances));
            }
            progress::counted("auditing", Unit::Of("looks at blocks"), Some(observation.looks()), |looked| {
                audit(observation, &tolerances, looked)
            })
        });
        report.learned = learned;
        self.write_device(&report)?;
        notes::show_abridged(&report.notes, note);
        print_report(&report, self.format)?;
        Ok(if report.violations.is_empty() { Answer::Done } else { Answer::No })
    }

    fn write_device(&self, report: &AuditReport) -> anyhow::Result<()> {
        let Some(path) = &self.write_device else { return Ok(()) };
        let [learned] = &*report.learned else {
            bail!("--write-device: these are logs of {} runs; give those of one", report.learned.len());
        };
        let best = learned.best().context("--write-device: nothing that was tried explains a block")?;
        write_whole(path, |out| writeln!(out, "{}", best.to_json()))
    }

    fn of_profile(&self, mut profile: GpuProfile) -> anyhow::Result<Answer> {
        profile.set_priorities(&self.priorities.options()?.changes.priorities)?;
        progress::begin("auditing", Unit::None, None);
        let report = ProfileAuditReport::of(&profile, self.gpu, self.logs.device()?)?;
        notes::show_abridged(&report.notes, note);
        print_report(&report, self.format)?;
        Ok(if report.is_explained() { Answer::Done } else { Answer::No })
    }
}
