//! What host threads wait for: their first release, operations, all work of their process, one another at barriers, and
//! calls that free memory.

use std::collections::{BTreeSet, VecDeque};

use super::{Position, ProgramHost, to_u32};
use crate::canonical::Canonical;
use crate::gpu::GpuInterface;
use crate::run::HeldCall;
use crate::scenario::{BarrierId, HostThread};
use crate::time::Instant;
use crate::trace::{NEVER, Rule};
use crate::workload::{OperationId, ProcessId};

/// The token of the wake-up for them; those of threads are their numbers.
const TOKEN: u64 = u64::MAX;

/// First releases that have not come, the next one last, and the thread of each. They are sorted here once, and the
/// calendar has the next one only: a keyed queue of hundreds of thousands of them would be most of a run.
#[derive(Debug, Default)]
pub(super) struct Releases(Vec<(Instant, u32)>);

impl Releases {
    /// Waits for them.
    pub(super) fn begin(releases: impl Iterator<Item = (Instant, u32)>, gpu: &mut impl GpuInterface) -> Self {
        let mut releases = Self(releases.collect());
        releases.0.sort_unstable_by(|one, other| other.cmp(one));
        releases.wait(gpu);
        releases
    }

    /// Adds to `ready` the threads whose first release has come.
    pub(super) fn come(&mut self, ready: &mut Vec<usize>, gpu: &mut impl GpuInterface) {
        let before = self.0.len();
        while let Some((_, thread)) = self.0.pop_if(|(at, _)| *at <= gpu.now()) {
            ready.push(thread as usize);
        }
        if self.0.len() < before {
            self.wait(gpu);
        }
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self(releases) = self;
        to.list(releases, |to, &(at, thread)| {
            to.instant(at);
            to.number(thread);
        });
    }

    fn wait(&self, gpu: &mut impl GpuInterface) {
        if let Some(&(at, _)) = self.0.last() {
            gpu.wake_at(at, TOKEN);
        }
    }
}

/// For each operation that threads wait for, the last of them. Numbers of operations ascend and most complete in about
/// that order, so a window over them does what a map would, without hashing.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The operation of the first entry; all before it have completed.
    first: u32,
    threads: VecDeque<u32>,
}

/// Stands for no thread.
const NOBODY: u32 = u32::MAX;

impl Waiting {
    /// `thread` waits for an operation that has not completed. Gives the thread that waited for it last, until now.
    pub(super) fn insert(&mut self, operation: OperationId, thread: u32) -> Option<u32> {
        debug_assert!(operation.0 >= self.first, "who waits for a completed operation is never told");
        let index = operation.0.saturating_sub(self.first) as usize;
        if index >= self.threads.len() {
            self.threads.resize(index + 1, NOBODY);
        }
        let before = std::mem::replace(&mut self.threads[index], thread);
        (before != NOBODY).then_some(before)
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self { first, threads } = self;
        let waiting = (*first..).zip(threads).filter(|(_, thread)| **thread != NOBODY);
        to.list(waiting, |to, (operation, &thread)| {
            to.operation(operation);
            to.number(thread);
        });
    }

    /// An operation has completed, and with it all before number `completed_in_a_row`. Gives the thread that waited for
    /// it last.
    pub(super) fn remove(&mut self, operation: OperationId, completed_in_a_row: usize) -> Option<u32> {
        let index = operation.0.checked_sub(self.first);
        let entry = index.and_then(|index| self.threads.get_mut(index as usize));
        let last = entry.map_or(NOBODY, |entry| std::mem::replace(entry, NOBODY));
        // Several operations complete at one instant before the host is told of the first of them.
        while (self.first as usize) < completed_in_a_row && self.threads.front().is_some_and(|&first| first == NOBODY) {
            self.threads.pop_front();
            self.first += 1;
        }
        if self.threads.is_empty() {
            self.first = self.first.max(u32::try_from(completed_in_a_row).unwrap_or(self.first));
        }
        (last != NOBODY).then_some(last)
    }
}

/// Who waits for what, by process.
#[derive(Debug)]
pub(super) struct DeviceWaits {
    processes: Vec<Process>,
    /// Whether each process keeps account of its operations. The GPU does for all of one process.
    several: bool,
}

/// The threads of one process that wait.
#[derive(Debug, Default)]
struct Process {
    /// Operations submitted so far.
    submitted: usize,
    /// Those from the first on that had not completed when it was looked at last.
    open: VecDeque<OperationId>,
    /// Threads, and how many operations had been submitted when each began to wait.
    waiting: VecDeque<(usize, usize)>,
}

impl DeviceWaits {
    /// Nobody waits.
    pub(super) fn new(threads: &[HostThread]) -> Self {
        let several = threads.iter().any(|thread| thread.process != ProcessId::FIRST);
        let last = threads.iter().map(|thread| thread.process).max().unwrap_or_default();
        Self { processes: (0..=last.0).map(|_| Process::default()).collect(), several }
    }

    /// Of several GPUs each has work of its own, whosever host submits it.
    pub(super) fn know_gpus(&mut self, gpus: u32) {
        let gpus = gpus as usize;
        self.several |= gpus > 1;
        self.processes.resize_with(self.processes.len().max(gpus), Process::default);
    }

    /// An operation has been submitted to a stream of a process.
    pub(super) fn submitted(&mut self, process: ProcessId, operation: OperationId) {
        if self.several {
            let process = &mut self.processes[process.index()];
            process.submitted += 1;
            process.open.push_back(operation);
        }
    }

    /// Writes the state.
    pub(super) fn write_state(&self, gpu: &impl GpuInterface, to: &mut Canonical) {
        let Self { processes, several } = self;
        to.list(processes, |to, Process { submitted, open, waiting }| {
            let open: Vec<_> = open.iter().skip_while(|&&operation| gpu.is_complete(operation)).collect();
            let submitted = if *several { *submitted } else { gpu.submitted() };
            to.list(open, |to, operation| to.operation(operation.0));
            to.list(waiting, |to, (thread, before)| {
                to.length(*thread);
                to.length(submitted - before);
            });
        });
    }

    /// Whether everything that a process has submitted has completed.
    pub(super) fn is_done(&self, process: ProcessId, gpu: &impl GpuInterface) -> bool {
        if self.several {
            self.processes[process.index()].open.iter().all(|&operation| gpu.is_complete(operation))
        } else {
            gpu.completed_in_a_row() >= gpu.submitted()
        }
    }

    pub(super) fn wait(&mut self, thread: usize, process: ProcessId, gpu: &impl GpuInterface) {
        let process = &mut self.processes[process.index()];
        let submitted = if self.several { process.submitted } else { gpu.submitted() };
        process.waiting.push_back((thread, submitted));
    }

    /// An operation has completed: threads that need not wait any longer are ready.
    pub(super) fn completed(&mut self, gpu: &impl GpuInterface, ready: &mut Vec<usize>) {
        for process in &mut self.processes {
            if process.waiting.is_empty() {
                continue;
            }
            let completed = if self.several {
                while process.open.front().is_some_and(|&first| gpu.is_complete(first)) {
                    process.open.pop_front();
                }
                process.submitted - process.open.len()
            } else {
                gpu.completed_in_a_row()
            };
            while let Some((thread, _)) = process.waiting.pop_front_if(|&mut (_, before)| completed >= before) {
                ready.push(thread);
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Barrier {
    /// Threads that have not ended.
    pub(super) members: usize,
    pub(super) arrived: BTreeSet<usize>,
}

impl ProgramHost<'_> {
    /// A thread reaches a barrier. Says whether it can go on at once, because no other takes part any more.
    pub(super) fn arrive(&mut self, index: usize, id: BarrierId) -> bool {
        let Some(barrier) = self.barriers.get_mut(&id).filter(|barrier| barrier.members > 1) else { return true };
        barrier.arrived.insert(index);
        if barrier.arrived.len() >= barrier.members {
            self.ready.extend(std::mem::take(&mut barrier.arrived));
        }
        // Even the last one goes on in its turn, after the others that were declared before it.
        false
    }

    /// A thread ends and no longer counts, which may open a barrier for the others; unless only the jobs of one
    /// hyperperiod of it are looked at: it would come to its barriers again, so who waits there does so beyond the run.
    pub(super) fn end(&mut self, index: usize) {
        self.threads[index].position = Position::Ended;
        self.triggers.ends(index);
        if self.barriers.is_empty() || self.threads[index].program.is_cut {
            return;
        }
        for id in self.threads[index].program.barriers().collect::<BTreeSet<_>>() {
            let Some(barrier) = self.barriers.get_mut(&id) else { continue };
            barrier.members -= 1;
            if barrier.members > 0 && barrier.arrived.len() >= barrier.members {
                self.ready.extend(std::mem::take(&mut barrier.arrived));
            }
        }
    }
}

/// Who frees memory, by process; nobody can where no thread ever does.
#[derive(Debug, Default)]
pub(super) struct Frees {
    open: Vec<Option<Free>>,
    /// What was held until now, in the order in which the calls began.
    calls: Vec<HeldCall>,
    /// By thread: which of these has not returned.
    unreturned: Vec<Option<usize>>,
    forgets: bool,
}

/// A call that has not returned.
#[derive(Debug)]
struct Free {
    thread: usize,
    /// Whose calls it holds, in the order in which they came.
    held: Vec<usize>,
}

impl Frees {
    pub(super) fn new(threads: &[HostThread]) -> Self {
        let last = threads.iter().filter(|thread| thread.frees()).map(|thread| thread.process).max();
        let Some(last) = last else { return Self::default() };
        let open = (0..=last.index()).map(|_| None).collect();
        Self { open, unreturned: vec![None; threads.len()], ..Self::default() }
    }

    /// H2: a call of `thread`, in this step, waits if another thread of its process frees memory. Says whether it does.
    pub(super) fn hold(
        &mut self,
        process: ProcessId,
        (thread, iteration, step): (usize, u64, u32),
        now: Instant,
    ) -> bool {
        let Some(free) = self.open.get_mut(process.index()).and_then(Option::as_mut) else { return false };
        if free.thread == thread {
            return false;
        }
        free.held.push(thread);
        let by = free.thread;
        // Another may free memory before the call that was held comes to its turn.
        if self.unreturned[thread].is_none() {
            self.note(Rule::H2, (thread, iteration, step), by, now);
        }
        true
    }

    /// H1: a call that frees memory waits for the GPU.
    pub(super) fn begin(&mut self, process: ProcessId, call: (usize, u64, u32), now: Instant) {
        if let Some(open) = self.open.get_mut(process.index()) {
            *open = Some(Free { thread: call.0, held: Vec::new() });
            self.note(Rule::H1, call, call.0, now);
        }
    }

    /// A thread goes on: if it has freed memory, that call has returned, and those that it held may go on.
    pub(super) fn goes_on(&mut self, thread: usize, process: ProcessId, now: Instant, ready: &mut Vec<usize>) {
        let Some(open) = self.open.get_mut(process.index()) else { return };
        if let Some(free) = open.take_if(|free| free.thread == thread) {
            ready.extend(free.held);
            self.returned(thread, None, now);
        }
    }

    /// A call that was held, if it was, is made at last, and submits this.
    pub(super) fn returned(&mut self, thread: usize, operation: Option<OperationId>, now: Instant) {
        let unreturned = self.unreturned.get_mut(thread).and_then(Option::take);
        if let Some(call) = unreturned.and_then(|call| self.calls.get_mut(call)) {
            (call.to, call.operation) = (now, operation);
        }
    }

    fn note(&mut self, rule: Rule, (thread, iteration, step): (usize, u64, u32), by: usize, from: Instant) {
        if !self.forgets {
            self.unreturned[thread] = Some(self.calls.len());
            let (thread, iteration, by) = (to_u32(thread), to_u32(iteration), to_u32(by));
            self.calls.push(HeldCall { thread, iteration, step, rule, by, from, to: NEVER, operation: None });
        }
    }

    /// Forgets what was held, also from now on.
    pub(super) fn forget_calls(&mut self) {
        self.forgets = true;
        self.calls = Vec::new();
        self.unreturned.fill(None);
    }

    /// How many bytes it takes to know what was held.
    pub(super) fn held_bytes(&self) -> usize {
        size_of_val(&*self.calls)
    }

    /// Writes who frees memory and holds whom.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        // What was observed.
        let Self { open, calls: _, unreturned: _, forgets: _ } = self;
        to.list(open, |to, free| {
            to.optional(free.as_ref(), |to, Free { thread, held }| {
                to.length(*thread);
                to.list(held, |to, &thread| to.length(thread));
            });
        });
    }

    /// What was held.
    pub(super) fn into_calls(self) -> Vec<HeldCall> {
        self.calls
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_window_over_operations_does_what_a_map_does(steps in prop::collection::vec((0_u32..12, 0_u32..5), 0..60)) {
            let (mut window, mut map) = (Waiting::default(), BTreeMap::new());
            let mut completed = Vec::new();
            let mut submitted = 0;
            for (choice, thread) in steps {
                let open: Vec<u32> = (0..submitted).filter(|operation| !completed.contains(operation)).collect();
                let one = open.get(choice as usize % open.len().max(1)).copied();
                match one {
                    Some(operation) if choice % 3 == 0 => {
                        completed.push(operation);
                        let in_a_row = (0..=submitted).find(|next| !completed.contains(next)).unwrap_or(submitted);
                        let last = window.remove(OperationId(operation), in_a_row as usize);
                        prop_assert_eq!(last, map.remove(&operation));
                    }
                    Some(operation) if choice % 3 == 1 => {
                        prop_assert_eq!(window.insert(OperationId(operation), thread), map.insert(operation, thread));
                    }
                    _ => submitted += 1,
                }
            }
        }
    }
}
