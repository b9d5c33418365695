//! `gpusched completions`

use clap::Args;
use clap_complete::Shell;

use super::{Answer, command, output};

/// Print a script that completes gpusched's arguments in a shell.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command(), "gpusched", &mut script);
        output::print(&script)?;
        Ok(Answer::Done)
    }
}
