//! `gpusched tour`

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gpusched::figures::write_tour;

use super::output::write_whole;
use super::progress::{self, Unit};
use super::{Answer, html_options, output};

/// Write a tour of how a GPU schedules blocks, to read in a browser: eight scenes on shipped scenarios, from one kernel
/// to why a kernel waits, and six on newer GPUs, each with a figure, a few sentences and a question.
#[derive(Debug, Args)]
pub(crate) struct Tour {
    /// The file to write; one of that name is replaced
    #[arg(short, long, value_name = "FILE", default_value = "tour.html")]
    output: PathBuf,
}

impl Tour {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        html_options::check("--output", &self.output)?;
        progress::begin("making", Unit::Of("scenes"), None);
        let mut page = Vec::new();
        write_tour(&mut page)?;
        write_whole(&self.output, |out| -> io::Result<()> { out.write_all(&page) })?;
        output::print(format!("{}: open it in a browser\n", self.output.display()).as_bytes())?;
        Ok(Answer::Done)
    }
}
