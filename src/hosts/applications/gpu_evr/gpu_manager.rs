//! The GPU manager: how many SMs each application on the GPU has (Algorithm 2).

use super::rules::{EvrRules, Keep, Leftover};
use super::running::RunningApp;
use super::timing::{fastest_sms, meets, remaining, required_sms, response, response_when_occupied};
use crate::applications::Class;
use crate::limits::count_turns;
use crate::time::{Duration, Instant};

/// The applications on the GPU, and the SMs allotted to them.
#[derive(Debug)]
pub(crate) struct GpuManager<'a> {
    rules: EvrRules,
    sms: u32,
    /// S', in order of class; within a class, in order of submission.
    running: Vec<RunningApp<'a>>,
    realloc_flag: bool,
    /// Whether S' or an allotment has changed since blocks were last mapped.
    changed: bool,
}

impl<'a> GpuManager<'a> {
    /// A manager of `sms` SMs, all of them free.
    pub(crate) fn new(sms: u32, rules: EvrRules) -> Self {
        Self { rules, sms, running: Vec::new(), realloc_flag: false, changed: false }
    }

    /// The applications on the GPU, the highest class first.
    pub(crate) fn running(&self) -> &[RunningApp<'a>] {
        &self.running
    }

    pub(super) fn running_mut(&mut self) -> &mut [RunningApp<'a>] {
        &mut self.running
    }

    /// `GPU.availSM()`: SMs that are allotted to nobody.
    pub(crate) fn available_sm(&self) -> u32 {
        self.sms.saturating_sub(self.running.iter().map(|app| app.allotted).sum())
    }

    /// Whether an application of a class below `class` has SMs that it does not keep.
    pub(crate) fn can_reclaim_for(&self, class: Class) -> bool {
        self.running.iter().any(|app| app.class > class && app.allotted > self.kept_by(app))
    }

    /// SMs that a running application keeps whatever happens.
    fn kept_by(&self, app: &RunningApp<'_>) -> u32 {
        u32::from(self.rules.keep == Keep::One && app.has_started())
    }

    /// `GPU.SetReallocFlag(true)`
    pub(crate) fn set_realloc_flag(&mut self) {
        self.realloc_flag = true;
    }

    /// `GPU.SubmitApp()`: an application comes to the GPU with the SMs that were allotted to it.
    pub(crate) fn submit_app(&mut self, app: RunningApp<'a>) {
        let position = self.running.partition_point(|other| other.class <= app.class);
        self.running.insert(position, app);
        self.changed = true;
    }

    /// An application has completed its kernels and gives its SMs back, which is a reason for reallocation.
    pub(super) fn end_app(&mut self, position: usize) -> RunningApp<'a> {
        self.realloc_flag = true;
        self.changed = true;
        self.running.remove(position)
    }

    /// The response time to expect for an application that arrives now: by Equation 4 with the SMs that it would get,
    /// or by Equation 5 if none is available.
    pub(crate) fn expected_response(&self, app: &RunningApp<'_>, now: Instant) -> Duration {
        match self.available_sm() {
            0 => response_when_occupied(
                app.profile,
                self.running.iter().map(|other| (self.remaining(other, other.allotted), other.allotted)),
            ),
            available => {
                let required = required_sms(app, now, self.rules.remaining, self.rules.late);
                response(app.profile, required.min(available))
            }
        }
    }

    /// Lines 9 to 20: if the flag is set, deals out SMs anew. Says whether it was.
    ///
    /// In order of class, applications that meet their requirement keep what they have. From the first that does not,
    /// it and all after it are on the reallocation list, and each gets what it needs, or what is left.
    pub(crate) fn reallocate(&mut self, now: Instant) -> bool {
        if !std::mem::take(&mut self.realloc_flag) {
            return false;
        }
        let (first, mut sm_for_realloc) = self.create_realloc_list(now);
        // Of each, what is left is computed for each number of SMs, which takes as long as several short steps.
        count_turns((self.running.len() - first).saturating_mul(self.sms as usize).saturating_mul(8));
        let mut kept: u32 = self.running[first..].iter().map(|app| self.kept_by(app)).sum();
        for index in first..self.running.len() {
            let app = &self.running[index];
            // What those further down keep is not there to be dealt out.
            kept -= self.kept_by(app);
            // GetNewResource()
            let required_sm = required_sms(app, now, self.rules.remaining, self.rules.late);
            let using_sm = required_sm.min(sm_for_realloc.saturating_sub(kept));
            sm_for_realloc -= using_sm;
            self.running[index].allotted = using_sm;
        }
        self.changed = true;
        true
    }

    /// `CreateReallocList()`: the position of the first application that does not meet its requirement with the SMs
    /// that it has, and the SMs that are free or belong to it and to all after it.
    fn create_realloc_list(&self, now: Instant) -> (usize, u32) {
        let lacks = |app: &RunningApp<'_>| app.allotted == 0 || !meets(app.due, now, self.remaining(app, app.allotted));
        let first = self.running.iter().position(lacks).unwrap_or(self.running.len());
        let kept: u32 = self.running[..first].iter().map(|app| app.allotted).sum();
        (first, self.sms.saturating_sub(kept))
    }

    /// Whether S' or an allotment has changed since this was last asked.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    fn remaining(&self, app: &RunningApp<'_>, sms: u32) -> Duration {
        remaining(app.profile, &app.progress, sms, self.rules.remaining)
    }

    /// Lines 21 and 22, as far as they can be read: what to do with SMs that nobody needs.
    pub(crate) fn lend(&mut self) {
        if self.rules.leftover != Leftover::Lend || !self.changed {
            return;
        }
        let mut available = self.available_sm();
        for app in &mut self.running {
            let useful = fastest_sms(app, self.rules.remaining).saturating_sub(app.allotted);
            app.lent = useful.min(available);
            available -= app.lent;
        }
    }
}
