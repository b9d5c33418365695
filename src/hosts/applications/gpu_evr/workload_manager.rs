//! The workload manager: which waiting application is submitted to the GPU (Algorithm 1).

use std::collections::{BTreeSet, VecDeque};

use super::gpu_manager::GpuManager;
use super::rules::{EvrRules, FullGpu, UrgentQueue};
use super::running::RunningApp;
use super::timing::{margin, required_sms};
use crate::applications::Class;
use crate::time::Instant;

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
        let available_sm = gpu.available_sm();
        let Some(queue) = self.next_queue() else { return false };
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
