//! `gpusched audit`

use clap::Args;
use gpusched::audit::{audit, audit_logs};
use gpusched::profile::GpuProfile;
use gpusched::tables::ProfileAuditReport;

use super::log_input::LogOptions;
use super::option_arguments::{OptionArguments, Priorities};
use super::output::{Format, note, print_report};
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
        let report = audit_logs(input, |observation| {
            progress::counted("auditing", Unit::Of("looks at blocks"), Some(observation.looks()), |looked| {
                audit(observation, &tolerances, looked)
            })
        });
        notes::show_abridged(&report.notes, note);
        print_report(&report, self.format)?;
        Ok(if report.violations.is_empty() { Answer::Done } else { Answer::No })
    }

    fn of_profile(&self, mut profile: GpuProfile) -> anyhow::Result<Answer> {
        profile.set_priorities(&self.priorities.options()?.changes.priorities)?;
        progress::begin("auditing", Unit::None, None);
        let report = ProfileAuditReport::of(&profile, self.gpu, self.logs.device()?)?;
        notes::show_abridged(&report.notes, note);
        print_report(&report, self.format)?;
        Ok(if report.audit.unexplained == 0 { Answer::Done } else { Answer::No })
    }
}
