//! The kernels that jobs launch.

use thiserror::Error;

use crate::device::{BlockDemand, BlockShape, DemandError, Device, MaskError, SmMask};
use crate::gpu::{GpuInterface, SubmitError};
use crate::tasks::{Allocation, Task, TaskTime};
use crate::workload::{BlockClock, BlockTime, Kernel, KernelId};

/// Why a task cannot be launched.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A block that can never run.
    #[error("task {task}: {error}")]
    Demand {
        /// The task's name.
        task: String,
        /// Why.
        error: DemandError,
    },
    /// More blocks than a grid has.
    #[error("task {task}: C = {wcet} in blocks of {block_time} makes more than 4294967295 blocks; state a larger PC")]
    TooManyBlocks {
        /// The task's name.
        task: String,
        /// C.
        wcet: TaskTime,
        /// Block time chosen.
        block_time: TaskTime,
    },
    /// A block that no instance of its reservation can hold.
    #[error("task {task}: a block runs for {block_time}, and the budget of its reservation is {budget}")]
    BlockExceedsBudget {
        /// The task's name.
        task: String,
        /// Block time.
        block_time: TaskTime,
        /// Q.
        budget: TaskTime,
    },
    /// An SM that no mask can name.
    #[error(transparent)]
    Mask(#[from] MaskError),
    /// The GPU refused it.
    #[error(transparent)]
    Submit(#[from] SubmitError),
}

/// The grid of one task, and how many of its blocks the task's SMs hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    pub blocks: u32,
    /// Blocks of one wave.
    pub at_once: u32,
    /// How long one block runs.
    pub block_time: TaskTime,
    /// What one block needs.
    pub shape: BlockShape,
    /// The only SMs it may use; `None`: all.
    pub sm_mask: Option<SmMask>,
}

impl Grid {
    /// The task's own kernel; or, for a task with C only, blocks that fill its SMs for C, each running for the largest
    /// divisor of C that is at most PC (and at least 1), so that preempting it costs no more than PC.
    ///
    /// # Errors
    /// [`GridError`] if no such grid fits the device.
    pub(super) fn new(task: &Task, device: &Device) -> Result<Self, GridError> {
        let (sms, sm_mask) = match task.allocation {
            Allocation::All => (device.sms, None),
            Allocation::Sm(sm) => (1, Some(SmMask::parse(&format!("~{:#x}", 1_u128.checked_shl(sm).unwrap_or(0)))?)),
        };
        let full = BlockShape { threads: device.per_block.threads, ..BlockShape::default() };
        let shape = task.kernel.map_or(full, |kernel| kernel.shape);
        let demand = BlockDemand::new(&shape, device)
            .map_err(|error| GridError::Demand { task: task.name.to_string(), error })?;
        let at_once = demand.blocks_per_sm(device).saturating_mul(sms);
        let (blocks, block_time) = if let Some(kernel) = task.kernel {
            (kernel.blocks, kernel.block_time)
        } else {
            let wcet = task.timing.wcet;
            let block_time = TaskTime::from_units(largest_divisor(wcet.units(), task.preemption_cost.units().max(1)));
            let blocks = (wcet / block_time).checked_mul(u64::from(at_once)).and_then(|blocks| blocks.try_into().ok());
            let too_many = || GridError::TooManyBlocks { task: task.name.to_string(), wcet, block_time };
            (blocks.ok_or_else(too_many)?, block_time)
        };
        Ok(Self { blocks, at_once, block_time, shape, sm_mask })
    }

    /// Makes the whole grid of each task known to the GPU.
    pub(super) fn add_kernels(tasks: &[Task], gpu: &mut impl GpuInterface) -> Result<Vec<KernelId>, GridError> {
        let kernel = |task| {
            let grid = Self::new(task, gpu.device())?;
            Ok(grid.add_kernel(task, grid.blocks, gpu)?)
        };
        tasks.iter().map(kernel).collect()
    }

    /// Makes a kernel of `blocks` of its blocks known to the GPU.
    ///
    /// # Errors
    /// Whatever the GPU refuses.
    pub(super) fn add_kernel(
        &self,
        task: &Task,
        blocks: u32,
        gpu: &mut impl GpuInterface,
    ) -> Result<KernelId, SubmitError> {
        gpu.add_kernel(Kernel {
            name: task.name.clone(),
            title: task.name.clone(),
            blocks,
            shape: self.shape,
            duration: BlockTime::fixed(self.block_time.duration()),
            clock: BlockClock::RunTime,
            sm_mask: self.sm_mask,
        })
    }

    /// Waves that the whole grid takes, alone on its SMs.
    pub(super) fn waves(&self) -> u32 {
        self.blocks.div_ceil(self.at_once.max(1))
    }
}

/// The largest divisor of `number` that is at most `most`; both at least 1.
fn largest_divisor(number: u64, most: u64) -> u64 {
    if most >= number {
        return number;
    }
    let small = (1..=number.isqrt()).filter(|divisor| number.is_multiple_of(*divisor));
    small.flat_map(|divisor| [divisor, number / divisor]).filter(|&divisor| divisor <= most).max().unwrap_or(1)
}
