//! What commands that run a scenario are asked about its waits.

use std::cell::OnceCell;

use anyhow::Context;
use clap::Args;
use gpusched::run::{CriticalPath, Overlap, Summary};
use gpusched::scenario::Scenario;
use gpusched::tables::{AskedWaits, BlameTables};

use super::progress::{self, Unit};

/// Who made whom wait, what took the time, and why streams did not run side by side.
#[derive(Debug, Args)]
pub(crate) struct AskedOptions {
    /// List who made whom wait, under which rule and how long: each kernel and copy from its launch until it began
    /// (table and JSON)
    #[arg(long)]
    blame: bool,
    /// List there also what waited for earlier work of its own stream, or for its launch to reach the GPU; JSON has it
    /// always
    #[arg(long, requires = "blame")]
    own_waits: bool,
    /// Say what took the time of the run, or with a name that of the job of STREAM (or a host) with the longest
    /// response: kernels, copies, waits and host work, each of which began when the one before it ended (table and
    /// JSON)
    #[arg(long, value_name = "STREAM", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "an empty name is no name that is left out")]
    critical_path: Option<Option<String>>,
    /// Say why streams do not run side by side: what each did while another one ran, of the two streams A and B, of A
    /// and each other one, or of all (table and JSON)
    #[arg(long, value_name = "A,B", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "an empty name is no name that is left out")]
    overlap: Option<Option<String>>,
}

/// The answers.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// Filled when it is first needed.
    pub(crate) blame: OnceCell<BlameTables>,
    is_blame_asked: bool,
    lists_own: bool,
    critical_path: Option<CriticalPath>,
    overlap: Option<Overlap>,
}

impl Waits {
    /// What of it is told.
    pub(crate) fn asked(&self) -> AskedWaits<'_> {
        AskedWaits {
            blame: self.is_blame_asked.then_some(&self.blame),
            own_waits: self.lists_own,
            critical_path: self.critical_path.as_ref(),
            overlap: self.overlap.as_ref(),
        }
    }
}

impl AskedOptions {
    /// The options, and whether they are given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("--blame", self.blame),
            ("--critical-path", self.critical_path.is_some()),
            ("--overlap", self.overlap.is_some()),
        ]
    }

    /// Refuses names that the scenario does not have.
    pub(crate) fn refuse_unknown(&self, scenario: &Scenario) -> anyhow::Result<()> {
        if let Some(Some(name)) = &self.critical_path {
            scenario.thread_named(name).context("--critical-path")?;
        }
        Ok(())
    }

    /// Nothing but what is found out without a record.
    pub(crate) fn none(&self) -> Waits {
        Waits { is_blame_asked: self.blame, lists_own: self.own_waits, ..Waits::default() }
    }

    /// Finds the answers in a run; who made whom wait also where something else `needs_blame`.
    pub(crate) fn answers(&self, summary: &Summary<'_>, needs_blame: bool) -> anyhow::Result<Waits> {
        let mut waits = self.none();
        if self.blame || needs_blame {
            progress::begin("summing up waits", Unit::None, None);
            waits.blame.get_or_init(|| BlameTables::new(summary));
        }
        if let Some(names) = &self.overlap {
            waits.overlap = Some(Overlap::of(summary, names.as_deref().unwrap_or_default())?);
        }
        if let Some(name) = &self.critical_path {
            progress::begin("following the critical path", Unit::None, None);
            let path = CriticalPath::named(summary, name.as_deref().unwrap_or_default()).context("--critical-path")?;
            let none = "--critical-path: nothing of what is asked for has ended in this run";
            waits.critical_path = Some(path.context(none)?);
        }
        Ok(waits)
    }
}
