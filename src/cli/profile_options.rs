//! Options for inputs that are profiles.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::device::Device;
use gpusched::input::Input;
use gpusched::profile::{GpuProfile, ImportOptions, Launches};

use super::input;

/// Where help lists them; a heading for the whole struct would go on to the options after it.
const HEADING: &str = "Profiles";

/// Which part of a profile to use, and how.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ProfileOptions {
    /// Which GPU of the profile [default: the one that runs most kernels]
    #[arg(long, help_heading = HEADING, value_name = "N")]
    pub(crate) gpu: Option<u32>,
    /// When operations are submitted: by host threads that take the recorded time between calls and wait for the GPU
    /// where they did, or at the recorded times [default: host]
    #[arg(long, help_heading = HEADING, value_name = "HOW",
        value_parser = PossibleValuesParser::new(Launches::ALL.map(Launches::name)))]
    launches: Option<String>,
    /// Take the block times of kernels that ran alone in PROFILE for the same kernels here
    #[arg(long, help_heading = HEADING, value_name = "PROFILE")]
    block_times: Option<PathBuf>,
}

impl ProfileOptions {
    /// The options as the library has them.
    pub(crate) fn options(&self) -> ImportOptions {
        let launches = self.launches.as_deref().and_then(Launches::from_name).unwrap_or_default();
        ImportOptions { gpu: self.gpu, launches, ..ImportOptions::default() }
    }

    /// Gives a profile the block times of another one; `device` is the one that the user names.
    pub(crate) fn set_block_times(&self, profile: &mut GpuProfile, device: Option<&Device>) -> anyhow::Result<()> {
        let Some(path) = &self.block_times else { return Ok(()) };
        let Input::Profile(other) = input::scenario(path)? else {
            bail!("--block-times: {} is no profile", path.display());
        };
        Ok(profile.take_block_times_of(&other, device)?)
    }
}
