//! Periods and deadlines that the user gives beside the file.

use std::collections::{BTreeMap, BTreeSet};

use super::deadline::Deadline;
use super::model::HostThread;
use super::options::ReadOptions;
use crate::time::Duration;

/// The user's periods and deadlines, and which streams and hosts took one.
#[derive(Debug)]
pub(super) struct Timing<'a> {
    periods: &'a BTreeMap<String, Duration>,
    deadlines: &'a BTreeMap<String, Deadline>,
    used: BTreeSet<(&'static str, &'a str)>,
}

impl<'a> Timing<'a> {
    pub(super) fn new(options: &'a ReadOptions) -> Self {
        Self { periods: &options.periods, deadlines: &options.deadlines, used: BTreeSet::new() }
    }

    /// Gives a thread the period and the deadline that the user wants for it. What has a single job and gets a period
    /// repeats without limit: otherwise the period would mean nothing.
    pub(super) fn apply(&mut self, thread: &mut HostThread) {
        if let Some((name, &period)) = self.periods.get_key_value(&*thread.label) {
            self.used.insert(("period", name));
            if thread.period.is_none() && thread.iterations == Some(1) {
                thread.iterations = None;
            }
            thread.period = Some(period);
        }
        if let Some((name, &deadline)) = self.deadlines.get_key_value(&*thread.label) {
            self.used.insert(("deadline", name));
            thread.deadline = deadline;
        }
    }

    /// An option and its name that no thread has.
    pub(super) fn unused(&self) -> Option<(&'static str, &'a str)> {
        let periods = self.periods.keys().map(|name| ("period", name.as_str()));
        let deadlines = self.deadlines.keys().map(|name| ("deadline", name.as_str()));
        periods.chain(deadlines).find(|option| !self.used.contains(option))
    }
}
