//! In which calls host threads spend the time between what they submit, as a profile has it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::time::Duration;

/// Calls that host threads are in while they sleep: what a profile recorded of the time for which a step stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostCalls {
    /// Names of functions.
    names: Vec<Arc<str>>,
    /// By thread and step: the function's number, and how long its calls took of the step.
    within: Vec<BTreeMap<u32, Vec<(u32, Duration)>>>,
}

impl HostCalls {
    /// Of functions by their names, and by thread and step their numbers with the time that their calls took of the
    /// step, which together is no longer than that.
    pub fn new(names: Vec<Arc<str>>, within: Vec<BTreeMap<u32, Vec<(u32, Duration)>>>) -> Self {
        Self { names, within }
    }

    /// The functions in whose calls some step is.
    pub(super) fn names_within(&self) -> BTreeSet<&str> {
        let parts = self.within.iter().flat_map(BTreeMap::values).flatten();
        parts.filter_map(|(name, _)| self.names.get(*name as usize).map(|name| &**name)).collect()
    }

    /// The time in calls of some functions: in which step of which thread, at which place there, and how long.
    pub(super) fn parts_of(&self, is_meant: impl Fn(&str) -> bool) -> Vec<((u32, u32), usize, Duration)> {
        let is_meant: Vec<bool> = self.names.iter().map(|name| is_meant(name)).collect();
        let threads = (0..).zip(&self.within);
        let steps = threads.flat_map(|(thread, steps)| steps.iter().map(move |(step, parts)| ((thread, *step), parts)));
        let parts = steps.flat_map(|(at, parts)| parts.iter().enumerate().map(move |(place, part)| (at, place, part)));
        parts
            .filter(|(.., (name, _))| is_meant.get(*name as usize) == Some(&true))
            .map(|(at, place, (_, spent))| (at, place, *spent))
            .collect()
    }

    /// Another time for one of these.
    pub(super) fn set(&mut self, (thread, step): (u32, u32), place: usize, spent: Duration) {
        let parts = self.within.get_mut(thread as usize).and_then(|steps| steps.get_mut(&step));
        if let Some(part) = parts.and_then(|parts| parts.get_mut(place)) {
            part.1 = spent;
        }
    }

    /// Other times for all that is within a step.
    pub(super) fn change(&mut self, (thread, step): (u32, u32), changed: impl Fn(Duration) -> Duration) {
        let parts = self.within.get_mut(thread as usize).and_then(|steps| steps.get_mut(&step));
        parts.into_iter().flatten().for_each(|part| part.1 = changed(part.1));
    }

    /// Where `time`, the last part of a step of a thread that takes `whole`, was spent, as far as it was in calls: in
    /// proportion, if it is not the whole step.
    pub(crate) fn of_step(
        &self,
        (thread, step): (u32, u32),
        (time, whole): (Duration, Duration),
    ) -> impl Iterator<Item = (&str, Duration)> {
        let calls = self.within.get(thread as usize).and_then(|steps| steps.get(&step)).into_iter().flatten();
        calls.filter_map(move |(name, spent)| {
            let part = u128::from(spent.as_ns()) * u128::from(time.as_ns()) / u128::from(whole.as_ns().max(1));
            Some((&**self.names.get(*name as usize)?, Duration::from_ns(u64::try_from(part).ok()?)))
        })
    }
}
