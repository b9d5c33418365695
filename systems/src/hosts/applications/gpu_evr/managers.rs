//! The two levels of GPU-EvR: the workload manager submits waiting applications to the GPU (Algorithm 1), and the GPU
//! manager says how many SMs each has there (Algorithm 2).

use std::collections::{BTreeSet, VecDeque};

use super::rules::{EvrRules, FullGpu, Keep, Leftover, UrgentQueue};
use super::timing::{
    RunningApp, fastest_sms, margin, meets, remaining, required_sms, response, response_when_occupied,
};
use crate::applications::Class;
use crate::limits::count_turns;
use crate::time::{Duration, Instant};

/// Applications that wait for the GPU: one queue for each class, and the urgent queue.
#[derive(Debug)]
pub(crate) struct WorkloadManager<'a> {
    rules: EvrRules,
    /// High, medium, low.
    queues: [VecDeque<RunningApp<'a>>; 3],
    urgent_queue: VecDeque<RunningApp<'a>>,
    /// When the medium and low applications that wait become urgent, with their numbers.
    promotions: BTreeSet<(Instant, u32)>,
}

impl<'a> WorkloadManager<'a> {
    /// A manager for whom nothing waits.
    pub(crate) fn new(rules: EvrRules) -> Self {
        Self { rules, queues: Default::default(), urgent_queue: VecDeque::new(), promotions: BTreeSet::new() }
    }

    /// An application arrives and is pushed into the queue of its class.
    pub(crate) fn enqueue(&mut self, app: RunningApp<'a>) {
        if app.class != Class::High && self.rules.urgent != UrgentQueue::Off {
            self.promotions.insert((self.promotion(&app), app.number));
        }
        self.queues[app.class as usize].push_back(app);
    }

    /// When a waiting application becomes urgent: the rule's tolerance before its `T_margin` (Equation 9).
    fn promotion(&self, app: &RunningApp<'_>) -> Instant {
        let margin = margin(app.due, app.profile);
        Instant::from_ns(margin.as_ns().saturating_sub(self.rules.urgent_within.as_ns()))
    }

    /// The next instant at which an application that waits becomes urgent.
    pub(crate) fn next_promotion(&self) -> Option<Instant> {
        self.promotions.first().map(|&(at, _)| at)
    }

    /// Lines 7 to 9, `CheckAndUpdateAppInfo()`: medium and low applications that are close to their `T_margin`
    /// (Equation 9) go from their class's queue to the urgent queue. Gives their numbers.
    pub(crate) fn check_and_update_app_info(&mut self, now: Instant) -> Vec<u32> {
        let mut promoted = Vec::new();
        while let Some(&(at, number)) = self.promotions.first().filter(|(at, _)| *at <= now) {
            self.promotions.remove(&(at, number));
            let found = self.queues.iter_mut().find_map(|queue| {
                let position = queue.iter().position(|app| app.number == number)?;
                queue.remove(position)
            });
            if let Some(app) = found {
                promoted.push(number);
                self.push_urgent(app);
            }
        }
        promoted
    }

    /// `UrgentQueue.push()`, in the order that the rule says.
    fn push_urgent(&mut self, app: RunningApp<'a>) {
        let goes_before = |other: &RunningApp<'_>| match self.rules.urgent {
            UrgentQueue::Due => app.due < other.due,
            UrgentQueue::Class => app.class < other.class,
            UrgentQueue::Fifo | UrgentQueue::Off => false,
        };
        let position = self.urgent_queue.iter().position(goes_before).unwrap_or(self.urgent_queue.len());
        self.urgent_queue.insert(position, app);
    }

    /// The queue to be served next: urgent, then high, medium, low.
    fn next_queue(&mut self) -> Option<&mut VecDeque<RunningApp<'a>>> {
        std::iter::once(&mut self.urgent_queue).chain(&mut self.queues).find(|queue| !queue.is_empty())
    }

    /// Lines 10 to 21: if an application waits and the GPU has SMs for it, submits it. Says whether it did.
    ///
    /// It gets the fewest SMs with which it meets its requirement, or else what is available, and then the GPU manager
    /// is asked to reallocate. With [`FullGpu::Reclaim`], SMs that lower classes can give up count as there, too.
    pub(crate) fn submit_next(&mut self, now: Instant, gpu: &mut GpuManager<'a>) -> bool {
        let rules = self.rules;
        let Some(queue) = self.next_queue() else { return false };
        let available_sm = gpu.available_sm();
        let may_submit = |app: &RunningApp<'_>| {
            available_sm > 0 || (rules.full_gpu == FullGpu::Reclaim && gpu.can_reclaim_for(app.class))
        };
        // SelectNextApp()
        let Some(mut next_app) = queue.pop_front_if(|app| may_submit(app)) else { return false };
        self.promotions.remove(&(self.promotion(&next_app), next_app.number));
        // GetRequiredResource()
        let required_sm = required_sms(&next_app, now, rules.remaining, rules.late);
        if available_sm >= required_sm {
            next_app.allotted = required_sm;
        } else {
            next_app.allotted = available_sm;
            gpu.set_realloc_flag();
        }
        gpu.submit_app(next_app);
        true
    }
}

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
