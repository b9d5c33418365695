//! Threads that wait for everything that their process has submitted to the GPU.

use std::collections::VecDeque;

use crate::canonical::Canonical;
use crate::gpu::GpuInterface;
use crate::scenario::HostThread;
use crate::workload::{OperationId, ProcessId};

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

    /// A thread of a process has submitted an operation.
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
