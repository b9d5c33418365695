//! Commands that print what is known without any input: devices, explanations, schemas, completions and man pages.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man as Page;
use gpusched::device::{BUILTIN_NAMES, Device};
use gpusched::explain::Topic;
use gpusched::schema;
use gpusched::tables::{DeviceReport, DevicesReport, ExplainReport};

use super::output::{self, Format, print_report};
use super::written::write_bytes;
use super::{Answer, command, input};

/// List the built-in devices, or show one with the source of every number and what is an assumption.
#[derive(Debug, Args)]
pub(crate) struct Devices {
    /// A built-in name or a device file
    name: Option<String>,
    /// What to print; JSON of one device is a device file, a model for your own
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Devices {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if let Some(name) = &self.name {
            return print_report(&DeviceReport(&input::device(name)?), self.format);
        }
        let mut devices = Vec::new();
        for name in BUILTIN_NAMES {
            devices.extend(Device::builtin(name)?);
        }
        print_report(&DevicesReport(&devices), self.format)
    }
}

/// What rules, verdicts, words, columns, findings or notes mean; without a name, what there is.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Rules (R3), words of reports and columns of tables (proven, merged SM, waited), or a part of a note or an error
    #[arg(value_name = "RULE|WORD|MESSAGE")]
    about: Vec<String>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Explain {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let is_list = self.about.is_empty();
        if !is_list && self.about.iter().all(|word| word.trim().is_empty()) {
            bail!("nothing is asked for; gpusched explain lists what is explained");
        }
        let found = if is_list { Ok(Topic::all()) } else { Topic::find(&self.about) };
        let topics = found.map_err(|what| anyhow!("{what}; gpusched explain lists what there is"))?;
        print_report(&ExplainReport { topics, is_list }, self.format)
    }
}

/// Print the JSON Schema of an input file, for editors and validators.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which input file
    #[arg(value_parser = PossibleValuesParser::new(schema::NAMES))]
    name: String,
}

impl Schema {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let text = schema::json_schema(&self.name).context("there is no such schema")?;
        output::print(text.as_bytes())?;
        Ok(Answer::Done)
    }
}

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
        write_bytes(&self.out.join(page.get_filename()), &text)?;
        let inner = command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help");
        for inner in inner {
            self.write(inner)?;
        }
        Ok(())
    }
}
