//! Gang scheduling by two time-triggered reservations (RTNS 2020, section 6.3): `R_L` serves the tasks bound to one SM,
//! each SM for itself, and `R_B` those that take all SMs; "within the same reservation, tasks are scheduled according
//! to EDF", or by fixed priority.
//!
//! The GPU knows no reservations and does not stop what it runs. So a job is submitted wave by wave, as many blocks as
//! its SMs hold at once, and only if the wave ends before the budget does; if the most urgent job's next wave does not
//! fit, its SMs stay idle until the next instance. With blocks of one time unit this is preemptive scheduling in the
//! reservation exactly as `exact` has it; longer blocks delay more urgent jobs and waste the
//! ends of budgets, which none of the paper's tests accounts for.

use super::grid::{Grid, GridError};
use super::jobs::{Activations, JobId, JobPriority, ReadyQueue};
use super::strategies::Dispatch;
use crate::gpu::{GpuInterface, SubmitError};
use crate::tasks::{Allocation, Reservation, Reservations, Task, TaskTime};
use crate::workload::{KernelId, OperationId, StreamId, StreamSpec};

/// Runs tasks in their reservations.
#[derive(Debug)]
pub(super) struct Gang {
    /// One for each SM, and last the one of tasks for all SMs.
    partitions: Vec<Partition>,
    work: Vec<Work>,
}

#[derive(Debug)]
struct Partition {
    reservation: Reservation,
    stream: StreamId,
    queue: ReadyQueue,
    is_busy: bool,
    /// The job whose wave ran last, if it was not its last wave.
    last: Option<JobId>,
}

/// What a task launches: whole waves and a last one that may be smaller.
#[derive(Debug)]
struct Work {
    partition: usize,
    block_time: TaskTime,
    waves: u32,
    whole: KernelId,
    last: KernelId,
    /// Waves that its oldest job has completed.
    completed: u32,
}

impl Gang {
    /// Makes streams and kernels known to `gpu`.
    pub(super) fn new(
        tasks: &[Task],
        reservations: Reservations,
        gpu: &mut impl GpuInterface,
    ) -> Result<Self, GridError> {
        let sms = gpu.device().sms as usize;
        let mut partitions = Vec::new();
        for index in 0..=sms {
            let reservation = if index == sms { reservations.all } else { reservations.single };
            let name = if index == sms { "R_B".to_owned() } else { format!("R_L on SM {index}") };
            let stream = gpu.add_stream(StreamSpec { blocking: false, ..StreamSpec::new(name) })?;
            let queue = ReadyQueue::new(tasks.len());
            partitions.push(Partition { reservation, stream, queue, is_busy: false, last: None });
        }
        let mut work = Vec::new();
        for task in tasks {
            let grid = Grid::new(task, gpu.device())?;
            let partition = match task.allocation {
                Allocation::Sm(sm) => (sm as usize).min(sms),
                Allocation::All => sms,
            };
            let (block_time, budget) = (grid.block_time, partitions[partition].reservation.budget);
            if block_time > budget {
                return Err(GridError::BlockExceedsBudget { task: task.name.to_string(), block_time, budget });
            }
            let waves = grid.waves();
            let whole = grid.add_kernel(task, grid.at_once.min(grid.blocks), gpu)?;
            let last = grid.add_kernel(task, grid.blocks - (waves - 1) * grid.at_once, gpu)?;
            work.push(Work { partition, block_time, waves, whole, last, completed: 0 });
        }
        Ok(Self { partitions, work })
    }

    /// Submits the next wave of partition `index`, or asks to be woken when its budget comes.
    fn dispatch_in(
        &mut self,
        index: usize,
        activations: &mut Activations,
        gpu: &mut impl GpuInterface,
    ) -> Result<(), SubmitError> {
        let partition = &mut self.partitions[index];
        let Some((job, key)) = partition.queue.first().filter(|_| !partition.is_busy) else { return Ok(()) };
        let work = &self.work[key.task as usize];
        let Reservation { offset, budget, period } = partition.reservation;
        let phase = (TaskTime::from(gpu.now()) + period - offset) % period;
        if phase + work.block_time > budget {
            let next = TaskTime::from(gpu.now()) + period - phase;
            // Token 0 belongs to the activations.
            gpu.wake_at(next.instant(), 1 + index as u64);
            return Ok(());
        }
        if let Some(last) = partition.last.filter(|&last| last != job) {
            activations.preempt(last);
        }
        let kernel = if work.completed + 1 == work.waves { work.last } else { work.whole };
        activations.submit(job, partition.stream, kernel, gpu)?;
        partition.is_busy = true;
        Ok(())
    }
}

impl Dispatch for Gang {
    fn released(&mut self, job: JobId, key: JobPriority) {
        self.partitions[self.work[key.task as usize].partition].queue.activate(job, key);
    }

    fn completed(&mut self, _operation: OperationId, (job, task): (JobId, u32)) -> bool {
        let work = &mut self.work[task as usize];
        let partition = &mut self.partitions[work.partition];
        partition.is_busy = false;
        work.completed += 1;
        let is_done = work.completed == work.waves;
        partition.last = Some(job).filter(|_| !is_done);
        if is_done {
            work.completed = 0;
            partition.queue.take(task);
        }
        is_done
    }

    fn dispatch(&mut self, activations: &mut Activations, gpu: &mut impl GpuInterface) -> Result<(), SubmitError> {
        (0..self.partitions.len()).try_for_each(|index| self.dispatch_in(index, activations, gpu))
    }
}
