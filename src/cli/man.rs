//! `gpusched man`

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Command};
use clap_mangen::Man as Page;

use super::output::write_whole;
use super::{Answer, command};

/// Write the man pages, one for each command, into a directory; packages put them on the path of man.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The directory, which is made if need be; files there with the pages' names are replaced
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

impl Man {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        fs::create_dir_all(&self.out).with_context(|| format!("cannot make {}", self.out.display()))?;
        let mut command = command();
        // Names of commands within commands, and options that all have.
        command.build();
        self.write(&command)?;
        Ok(Answer::Done)
    }

    /// Writes the page of a command and of those within it.
    fn write(&self, command: &Command) -> anyhow::Result<()> {
        let (page, mut text) = (Page::new(command.clone()), Vec::new());
        page.render(&mut text)?;
        write_whole(&self.out.join(page.get_filename()), |out| out.write_all(&text))?;
        let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
        for inner in inner {
            self.write(inner)?;
        }
        Ok(())
    }
}
