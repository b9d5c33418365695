//! `gpusched import`

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use gpusched::experiments::profile_replay::HeldOut;
use gpusched::input::Input;
use gpusched::profile::Import as ImportedProfile;
use gpusched::time::Duration;

use super::needs::{self, Lacking};
use super::output::{Format, note, print_report, write_whole};
use super::run_options::RunOptions;
use super::{Answer, notes, output};

/// Make a scenario of a profile: of PyTorch (Kineto), Nsight Systems (SQLite export) or nvprof (CSV).
///
/// Every command that takes a scenario takes a profile too, and sees the same scenario; this one says what was read,
/// assumed and left out, and writes it for editing.
#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(flatten)]
    run: RunOptions,
    /// Write the scenario, in gpusched's own format; - is standard output, without the report
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave out what starts earlier than this after the GPU's first operation
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    from: Option<Duration>,
    /// Leave out what starts at or after this
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    to: Option<Duration>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Import {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if self.out.as_deref() == Some(Path::new("-")) {
            needs::lacking(Lacking::Report)?;
        }
        let profile = match self.run.input()? {
            Input::Profile(profile) => profile,
            other => {
                bail!("{} is no profile; gpusched convert writes other inputs as scenarios", other.file())
            }
        };
        let mut imported: ImportedProfile = self.run.import(&profile, (self.from, self.to))?;
        let scenario = self.out.as_ref().map(|_| imported.scenario.to_native_json()).transpose()?;
        let options = self.run.options()?;
        let other = options.with_block_times(&profile)?;
        HeldOut::tell_first::<anyhow::Error>(&other, &mut imported, &options.read)?;
        notes::show_abridged(&imported.scenario.notes, note);
        match (&self.out, scenario) {
            (Some(path), Some(text)) if path == Path::new("-") => {
                output::print(text.as_bytes())?;
                return Ok(Answer::Done);
            }
            (Some(path), Some(text)) => write_whole(path, |out| out.write_all(text.as_bytes()))?,
            _ => {}
        }
        print_report(&imported, self.format)?;
        Ok(Answer::Done)
    }
}
