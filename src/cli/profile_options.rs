//! Options for inputs that are profiles.

use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::profile::{ImportOptions, Launches};

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
}

impl ProfileOptions {
    /// The options as the library has them.
    pub(crate) fn options(&self) -> ImportOptions {
        let launches = self.launches.as_deref().and_then(Launches::from_name).unwrap_or_default();
        ImportOptions { gpu: self.gpu, launches, ..ImportOptions::default() }
    }

    /// One that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let launches = || self.launches.as_ref().map(|_| "--launches");
        self.gpu.map(|_| "--gpu").or_else(launches)
    }
}
