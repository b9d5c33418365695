//! How long hosts take between what they submit: by their names, or by the calls in which a profile has them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::kernels::is_like;
use super::{NewTime, Scenario, WhatIfError, unknown};
use crate::scenario::host_calls::HostCalls;
use crate::scenario::host_thread::Step;
use crate::spelling::{CalledOption, option};
use crate::time::Duration;

const OPTION: CalledOption<'static> = option("set_host_time");

impl Scenario {
    /// Changes how long hosts of a name sleep and work in each step, or how long they are in calls of a name; `*`
    /// stands for any characters.
    pub(super) fn set_host_time(&mut self, name: &str, new: NewTime) -> Result<(), WhatIfError> {
        let numbered = || (0_u32..).zip(&self.threads);
        let exact = numbered().any(|(_, thread)| *thread.label == *name);
        let is_meant = |label: &str| if exact { label == name } else { is_like(name, label) };
        let meant: Vec<u32> =
            numbered().filter(|(_, thread)| is_meant(&thread.label)).map(|(number, _)| number).collect();
        if !meant.is_empty() {
            let takes_time = |step: &Step| matches!(step, Step::Sleep(_) | Step::Work(_));
            let steps = meant.iter().filter_map(|number| self.threads.get(*number as usize)).flat_map(|own| &own.steps);
            if !steps.into_iter().any(takes_time) {
                self.notes.push(format!("{OPTION}: {name:?} neither sleeps nor works, so that nothing is changed"));
            }
            for number in meant {
                self.set_time_of_host(number, new);
            }
            return Ok(());
        }
        let mut calls = self.calls.take();
        let found = calls.as_mut().is_some_and(|calls| self.set_time_of_calls(Arc::make_mut(calls), name, new));
        self.calls = calls;
        if found {
            return Ok(());
        }
        let mut known: BTreeSet<&str> = self.threads.iter().map(|thread| &*thread.label).collect();
        known.extend(self.calls.iter().flat_map(|calls| calls.names_within()));
        Err(unknown("host or call", OPTION, name, known.iter().copied()))
    }

    fn set_time_of_host(&mut self, number: u32, new: NewTime) {
        let Some(thread) = self.threads.get_mut(number as usize) else { return };
        for (place, step) in (0..).zip(&mut thread.steps) {
            let (Step::Sleep(time) | Step::Work(time)) = step else { continue };
            *time = new.of(*time);
            // In which calls it is within another time nobody knows.
            if let Some(calls) = &mut self.calls {
                Arc::make_mut(calls).change((number, place), |part| match new {
                    NewTime::To(_) => Duration::ZERO,
                    NewTime::Share(_) => new.of(part),
                });
            }
        }
    }

    /// Whether there are such calls.
    fn set_time_of_calls(&mut self, calls: &mut HostCalls, name: &str, new: NewTime) -> bool {
        let parts = calls.parts_of(|called| is_like(name, called));
        for &((thread, step), place, part) in &parts {
            let changed = new.of(part);
            let steps = self.threads.get_mut(thread as usize).map(|thread| &mut thread.steps);
            let Some(Step::Sleep(time)) = steps.and_then(|steps| steps.get_mut(step as usize)) else { continue };
            *time = Duration::from_ns(time.as_ns().saturating_sub(part.as_ns()).saturating_add(changed.as_ns()));
            calls.set((thread, step), place, changed);
        }
        !parts.is_empty()
    }
}
