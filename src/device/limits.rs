//! How large the numbers of a device may be. The reader of device files and [`Device::new`](super::Device::new) both
//! ask here.
//!
//! No GPU comes near these limits. They keep every product that the engine and the analyses form within 32 or 64 bits:
//! the merged SM of the analysis holds at most `SMS.most * THREADS_PER_SM.most` threads, which fits 32 bits.

use thiserror::Error;

use super::{DeviceSpec, PerSmLimits, TimeSlicing};
use crate::json::{Node, Problem};
use crate::time::Duration;

/// The range of one number of a device.
pub(super) struct Limit {
    /// Its dotted key in the device file.
    field: &'static str,
    least: u64,
    most: u64,
}

impl Limit {
    const fn new(field: &'static str, least: u64, most: u64) -> Self {
        Self { field, least, most }
    }

    pub(super) fn check(&self, value: impl Into<u64>) -> Result<(), DeviceError> {
        let Self { field, least, most } = *self;
        let value = value.into();
        if (least..=most).contains(&value) { Ok(()) } else { Err(DeviceError::Range { field, value, least, most }) }
    }

    pub(super) fn read(&self, node: Node<'_>) -> Result<u64, Problem> {
        node.whole_number(self.least, self.most)
    }

    /// For limits within 32 bits; larger numbers are refused in any case.
    pub(super) fn read_u32(&self, node: Node<'_>) -> Result<u32, Problem> {
        u32::try_from(self.read(node)?).map_err(|_| node.expected("a number of 32 bits"))
    }
}

/// Registers or bytes of shared memory of one SM or block.
const MEMORY: u64 = 1 << 28;
/// Threads, warps and blocks of one SM. The record of a run counts the blocks of an SM in 16 bits.
const PER_SM: u64 = 65_535;

/// The largest GPU so far has under 200 SMs.
pub(super) const SMS: Limit = Limit::new("sms", 1, 4_096);
pub(super) const SMS_PER_TPC: Limit = Limit::new("sms_per_tpc", 1, SMS.most);
pub(super) const WARP_SIZE: Limit = Limit::new("warp_size", 1, 1_024);
pub(super) const THREADS_PER_SM: Limit = Limit::new("per_sm.threads", 1, PER_SM);
pub(super) const WARPS_PER_SM: Limit = Limit::new("per_sm.warps", 1, PER_SM);
pub(super) const BLOCKS_PER_SM: Limit = Limit::new("per_sm.blocks", 1, PER_SM);
pub(super) const REGISTERS_PER_SM: Limit = Limit::new("per_sm.registers", 0, MEMORY);
pub(super) const SHARED_MEMORY_PER_SM: Limit = Limit::new("per_sm.shared_memory_bytes", 0, MEMORY);
pub(super) const THREADS_PER_BLOCK: Limit = Limit::new("per_block.threads", 1, PER_SM);
pub(super) const REGISTERS_PER_BLOCK: Limit = Limit::new("per_block.registers", 0, MEMORY);
pub(super) const SHARED_MEMORY_PER_BLOCK: Limit = Limit::new("per_block.shared_memory_bytes", 0, MEMORY);
pub(super) const REGISTER_UNIT: Limit = Limit::new("register_allocation.unit_per_warp", 1, MEMORY);
pub(super) const SUB_PARTITIONS: Limit = Limit::new("register_allocation.sub_partitions", 1, 1_024);
pub(super) const WARPS_ROUNDED_TO: Limit = Limit::new("register_allocation.warps_rounded_to", 1, 1_024);
pub(super) const SHARED_MEMORY_UNIT: Limit = Limit::new("shared_memory_allocation.unit_bytes", 1, MEMORY);
pub(super) const RESERVED_PER_BLOCK: Limit = Limit::new("shared_memory_allocation.reserved_per_block_bytes", 0, MEMORY);
pub(super) const PRIORITY_LEVELS: Limit = Limit::new("priority_levels", 1, 64);
pub(super) const COPY_ENGINES: Limit = Limit::new("copy_engines", 1, 64);
/// Half of all time, so that a latency and a transfer can be added.
pub(super) const COPY_LATENCY: Limit = Limit::new("copy.latency_ns", 0, u64::MAX >> 1);
pub(super) const HOST_TO_DEVICE: Limit = Limit::new("copy.host_to_device_bytes_per_s", 1, u64::MAX);
pub(super) const DEVICE_TO_HOST: Limit = Limit::new("copy.device_to_host_bytes_per_s", 1, u64::MAX);
pub(super) const DEVICE_TO_DEVICE: Limit = Limit::new("copy.device_to_device_bytes_per_s", 1, u64::MAX);
pub(super) const LAUNCH_LATENCY: Limit = Limit::new("launch_latency_ns", 0, u64::MAX >> 1);
pub(super) const KERNEL_GAP: Limit = Limit::new("kernel_gap_ns", 0, u64::MAX >> 1);
/// Half of all time, so that a slice and a switch can be added.
pub(super) const TIME_SLICE: Limit = Limit::new("time_slice_ns", 1, u64::MAX >> 1);
pub(super) const SWITCH_COST: Limit = Limit::new("switch_cost_ns", 0, u64::MAX >> 1);
pub(super) const COPY_TIME_SLICE: Limit = Limit::new("copy_time_slice_ns", 1, u64::MAX >> 1);
pub(super) const CHANNELS: Limit = Limit::new("channels", 1, u32::MAX as u64);

/// Why a GPU cannot be as stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A number is too small or too large.
    #[error("{field} is {value}, expected a whole number from {least} to {most}")]
    Range {
        /// Its dotted key in the device file.
        field: &'static str,
        /// What was stated.
        value: u64,
        /// The smallest allowed.
        least: u64,
        /// The largest allowed.
        most: u64,
    },
    /// An SM without room for one warp.
    #[error("an SM of this device holds not even one warp")]
    NoWarp,
    /// A register file that cannot be divided.
    #[error("there are more register sub-partitions than registers")]
    SubPartitions,
    /// More of something on all SMs together than 32 bits count, as the merged SM of the analysis needs.
    #[error("all SMs together have {all} {what}, more than 32 bits count")]
    Together {
        /// Of what.
        what: &'static str,
        /// How many.
        all: u64,
    },
    /// A GPU that would switch contexts for longer than it runs them.
    #[error("a switch of contexts costs {switch_cost}, more than a time slice of {time_slice}")]
    SwitchCost {
        /// The cost of a switch.
        switch_cost: Duration,
        /// The time slice.
        time_slice: Duration,
    },
    /// An explicit SM order that leaves out or repeats an SM.
    #[error("sm_order has to name every SM id from 0 to {last} exactly once")]
    SmOrder {
        /// The highest SM id.
        last: u32,
    },
}

impl DeviceSpec {
    /// Whether every number is within its limits, and all of them go together.
    pub(super) fn check(&self) -> Result<(), DeviceError> {
        let Self { per_sm, per_block, register_allocation, shared_memory_allocation, copy, .. } = self;
        SMS.check(self.sms)?;
        Limit { most: u64::from(self.sms), ..SMS_PER_TPC }.check(self.sms_per_tpc)?;
        WARP_SIZE.check(self.warp_size)?;
        THREADS_PER_SM.check(per_sm.threads)?;
        WARPS_PER_SM.check(per_sm.warps)?;
        BLOCKS_PER_SM.check(per_sm.blocks)?;
        REGISTERS_PER_SM.check(per_sm.registers)?;
        SHARED_MEMORY_PER_SM.check(per_sm.shared_memory_bytes)?;
        THREADS_PER_BLOCK.check(per_block.threads)?;
        REGISTERS_PER_BLOCK.check(per_block.registers)?;
        SHARED_MEMORY_PER_BLOCK.check(per_block.shared_memory_bytes)?;
        REGISTER_UNIT.check(register_allocation.unit_per_warp)?;
        SUB_PARTITIONS.check(register_allocation.sub_partitions)?;
        WARPS_ROUNDED_TO.check(register_allocation.warps_rounded_to)?;
        SHARED_MEMORY_UNIT.check(shared_memory_allocation.unit_bytes)?;
        RESERVED_PER_BLOCK.check(shared_memory_allocation.reserved_per_block_bytes)?;
        PRIORITY_LEVELS.check(self.priority_levels)?;
        COPY_ENGINES.check(copy.engines)?;
        COPY_LATENCY.check(copy.latency.as_ns())?;
        HOST_TO_DEVICE.check(copy.host_to_device_bytes_per_s)?;
        DEVICE_TO_HOST.check(copy.device_to_host_bytes_per_s)?;
        DEVICE_TO_DEVICE.check(copy.device_to_device_bytes_per_s)?;
        let d2d_engine = Limit::new("copy.device_to_device_engine", 0, u64::from(copy.engines - 1));
        d2d_engine.check(copy.device_to_device_engine)?;
        LAUNCH_LATENCY.check(self.launch_latency.as_ns())?;
        KERNEL_GAP.check(self.kernel_gap.as_ns())?;
        self.channels.map_or(Ok(()), |channels| CHANNELS.check(channels))?;
        TIME_SLICE.check(self.time_slicing.time_slice.as_ns())?;
        SWITCH_COST.check(self.time_slicing.switch_cost.as_ns())?;
        COPY_TIME_SLICE.check(self.time_slicing.copy_time_slice.as_ns())?;
        self.check_together()
    }

    fn check_together(&self) -> Result<(), DeviceError> {
        let TimeSlicing { time_slice, switch_cost, .. } = self.time_slicing;
        if switch_cost > time_slice {
            return Err(DeviceError::SwitchCost { switch_cost, time_slice });
        }
        if self.per_sm.warps.min(self.per_sm.threads / self.warp_size) == 0 {
            return Err(DeviceError::NoWarp);
        }
        if self.per_sm.registers < self.register_allocation.sub_partitions {
            return Err(DeviceError::SubPartitions);
        }
        let PerSmLimits { registers, shared_memory_bytes, .. } = self.per_sm;
        for (what, per_sm) in [("registers", registers), ("bytes of shared memory", shared_memory_bytes)] {
            let all = u64::from(per_sm) * u64::from(self.sms);
            if all > u64::from(u32::MAX) {
                return Err(DeviceError::Together { what, all });
            }
        }
        if self.sm_order.names_every_sm_once(self.sms) {
            Ok(())
        } else {
            Err(DeviceError::SmOrder { last: self.sms - 1 })
        }
    }
}
