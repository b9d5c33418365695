//! How large the numbers of a device may be. The reader of device files and [`Device::new`](super::Device::new) both
//! ask here.
//!
//! No GPU comes near these limits. They keep every product that the engine and the analyses form within 32 or 64 bits:
//! the merged SM of the analysis holds at most `SMS.most * THREADS_PER_SM.most` threads, which fits 32 bits.

use thiserror::Error;

use super::{ComputeCapability, DeviceSpec, PerSmLimits, Placement, TimeSlicing};
use crate::json::{Node, Problem};
use crate::named::named;
use crate::time::Duration;

/// The range of one number of a device.
pub(super) struct Limit {
    /// Its dotted key in the device file.
    field: &'static str,
    least: u64,
    most: u64,
}

impl Limit {
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

/// The first major compute capability with programmatic dependent launch.
const FIRST_WITH_PDL: u32 = 9;
/// The first one with clusters of blocks.
const FIRST_WITH_CLUSTERS: u32 = 9;

/// The first of which masks are not by TPC (libsmctrl's README, known issues).
const FIRST_MASKED_BY_UNITS: u32 = 9;
/// The first whose SM numbers are virtual under MPS (libsmctrl's README, known issues; US patent 11,307,903).
const FIRST_WITH_VIRTUAL_SMS: u32 = 7;

/// The first with cluster launch control, by which a block takes over another (CUDA C++ Programming Guide, NVIDIA).
const FIRST_WITH_LAUNCH_CONTROL: u32 = 10;

/// The limits, and a list of all of them.
macro_rules! limits {
    ($($(#[$note:meta])* $name:ident = $field:literal from $least:literal to $most:expr;)+) => {
        $($(#[$note])* pub(super) const $name: Limit = Limit { field: $field, least: $least, most: $most };)+

        const ALL: &[Limit] = &[$($name),+];
    };
}

limits! {
    /// The largest GPU so far has under 200 SMs.
    SMS = "sms" from 1 to 4_096;
    SMS_PER_TPC = "sms_per_tpc" from 1 to SMS.most;
    WARP_SIZE = "warp_size" from 1 to 1_024;
    THREADS_PER_SM = "per_sm.threads" from 1 to PER_SM;
    WARPS_PER_SM = "per_sm.warps" from 1 to PER_SM;
    BLOCKS_PER_SM = "per_sm.blocks" from 1 to PER_SM;
    REGISTERS_PER_SM = "per_sm.registers" from 0 to MEMORY;
    SHARED_MEMORY_PER_SM = "per_sm.shared_memory_bytes" from 0 to MEMORY;
    THREADS_PER_BLOCK = "per_block.threads" from 1 to PER_SM;
    REGISTERS_PER_BLOCK = "per_block.registers" from 0 to MEMORY;
    SHARED_MEMORY_PER_BLOCK = "per_block.shared_memory_bytes" from 0 to MEMORY;
    REGISTER_UNIT = "register_allocation.unit_per_warp" from 1 to MEMORY;
    SUB_PARTITIONS = "register_allocation.sub_partitions" from 1 to 1_024;
    WARPS_ROUNDED_TO = "register_allocation.warps_rounded_to" from 1 to 1_024;
    SHARED_MEMORY_UNIT = "shared_memory_allocation.unit_bytes" from 1 to MEMORY;
    RESERVED_PER_BLOCK = "shared_memory_allocation.reserved_per_block_bytes" from 0 to MEMORY;
    PRIORITY_LEVELS = "priority_levels" from 1 to 64;
    COPY_ENGINES = "copy_engines" from 1 to 64;
    /// Half of all time, so that a latency and a transfer can be added.
    COPY_LATENCY = "copy.latency_ns" from 0 to u64::MAX >> 1;
    HOST_TO_DEVICE = "copy.host_to_device_bytes_per_s" from 1 to u64::MAX;
    DEVICE_TO_HOST = "copy.device_to_host_bytes_per_s" from 1 to u64::MAX;
    DEVICE_TO_DEVICE = "copy.device_to_device_bytes_per_s" from 1 to u64::MAX;
    TRIGGER_LATENCY = "pdl_trigger_latency_ns" from 0 to u64::MAX >> 1;
    WAIT_LATENCY = "pdl_wait_latency_ns" from 0 to u64::MAX >> 1;
    LAUNCH_LATENCY = "launch_latency_ns" from 0 to u64::MAX >> 1;
    KERNEL_GAP = "kernel_gap_ns" from 0 to u64::MAX >> 1;
    BLOCK_GAP = "block_gap_ns" from 0 to u64::MAX >> 1;
    /// Half of all time, so that a slice and a switch can be added.
    TIME_SLICE = "time_slice_ns" from 1 to u64::MAX >> 1;
    SWITCH_COST = "switch_cost_ns" from 0 to u64::MAX >> 1;
    COPY_TIME_SLICE = "copy_time_slice_ns" from 1 to u64::MAX >> 1;
    CHANNELS = "channels" from 1 to u32::MAX as u64;
    BOOST_CLOCK = "boost_clock_mhz" from 1 to 1_000_000;
    MEMORY_BANDWIDTH = "memory_bytes_per_s" from 1 to u64::MAX;
    GPC_TPCS = "gpcs.tpcs" from 1 to SMS.most;
    LONE_TPCS = "gpcs.lone_tpcs" from 0 to SMS.most;
    /// One of the ids in a list.
    SM_ORDER = "sm_order" from 0 to SMS.most - 1;
    DEVICE_TO_DEVICE_ENGINE = "copy.device_to_device_engine" from 0 to COPY_ENGINES.most - 1;
}

/// The smallest and the largest number that may stand under a dotted key of a device file; in a list, each of its
/// items.
pub fn range(field: &str) -> Option<(u64, u64)> {
    ALL.iter().find(|limit| limit.field == field).map(|limit| (limit.least, limit.most))
}

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
    /// GPCs of another GPU.
    #[error("gpcs have {stated} TPCs with the lone ones, and each at least one; this device has {tpcs}")]
    Gpcs {
        /// TPCs of all GPCs, and the lone ones.
        stated: u32,
        /// TPCs of the device.
        tpcs: u32,
    },
    /// A placement policy that goes by GPCs, on a device that states none.
    #[error("placement {placement:?} goes by GPCs, which this device does not state (gpcs)", placement = placement.name())]
    NoGpcs {
        /// The policy.
        placement: Placement,
    },
}

impl DeviceSpec {
    /// The number before the point of the compute capability; `None` if there is none.
    pub(super) fn major_compute_capability(&self) -> Option<u32> {
        self.compute_capability.split('.').next()?.parse().ok()
    }

    /// Its compute capability, if that is stated as two numbers.
    fn capability(&self) -> Option<ComputeCapability> {
        ComputeCapability::parse(&self.compute_capability)
    }

    /// How many million additions or multiplications of 32-bit floating-point numbers an SM begins in a second, at the
    /// clock that it reaches; `None` where that clock or the compute capability is not known.
    #[doc(hidden)]
    pub fn fp32_mega_per_s(&self) -> Option<u64> {
        let architecture = self.capability()?.architecture()?;
        Some(u64::from(self.boost_clock_mhz?) * u64::from(architecture.fp32_per_clock))
    }

    /// Whether kernels can be launched programmatically (PDL): from compute capability 9.0 on.
    #[doc(hidden)]
    pub fn has_programmatic_launch(&self) -> bool {
        self.major_compute_capability().is_some_and(|major| major >= FIRST_WITH_PDL)
    }

    /// Whether bits of an SM mask are no numbers of TPCs, but of units on the chip: from compute capability 9.0 on.
    #[doc(hidden)]
    pub fn masks_by_units(&self) -> bool {
        self.major_compute_capability().is_some_and(|major| major >= FIRST_MASKED_BY_UNITS)
    }

    /// Whether a client of MPS numbers SMs for itself, so that `%smid` does not tell which one it is: from Volta on.
    #[doc(hidden)]
    pub fn has_virtual_sms(&self) -> bool {
        self.major_compute_capability().is_some_and(|major| major >= FIRST_WITH_VIRTUAL_SMS)
    }

    /// Whether blocks may take over others that have not begun (cluster launch control): from compute capability 10.0.
    pub(crate) fn has_launch_control(&self) -> bool {
        self.major_compute_capability().is_some_and(|major| major >= FIRST_WITH_LAUNCH_CONTROL)
    }

    /// Whether blocks may come in clusters: from compute capability 9.0 on.
    #[doc(hidden)]
    pub fn has_clusters(&self) -> bool {
        self.major_compute_capability().is_some_and(|major| major >= FIRST_WITH_CLUSTERS)
    }

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
        Limit { most: u64::from(copy.engines - 1), ..DEVICE_TO_DEVICE_ENGINE }.check(copy.device_to_device_engine)?;
        LAUNCH_LATENCY.check(self.launch_latency.as_ns())?;
        KERNEL_GAP.check(self.kernel_gap.as_ns())?;
        BLOCK_GAP.check(self.block_gap.as_ns())?;
        TRIGGER_LATENCY.check(self.pdl_trigger_latency.as_ns())?;
        WAIT_LATENCY.check(self.pdl_wait_latency.as_ns())?;
        self.channels.map_or(Ok(()), |channels| CHANNELS.check(channels))?;
        TIME_SLICE.check(self.time_slicing.time_slice.as_ns())?;
        SWITCH_COST.check(self.time_slicing.switch_cost.as_ns())?;
        COPY_TIME_SLICE.check(self.time_slicing.copy_time_slice.as_ns())?;
        self.boost_clock_mhz.map_or(Ok(()), |clock| BOOST_CLOCK.check(clock))?;
        self.memory_bytes_per_s.map_or(Ok(()), |bandwidth| MEMORY_BANDWIDTH.check(bandwidth))?;
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
        if !self.sm_order.names_every_sm_once(self.sms) {
            return Err(DeviceError::SmOrder { last: self.sms - 1 });
        }
        match &self.gpcs {
            Some(gpcs) => {
                let (stated, tpcs) = (gpcs.all_tpcs(), self.sms.div_ceil(self.sms_per_tpc));
                let is_sound = stated == tpcs && !gpcs.tpcs.is_empty() && !gpcs.tpcs.contains(&0);
                if is_sound { Ok(()) } else { Err(DeviceError::Gpcs { stated, tpcs }) }
            }
            None if self.placement.goes_by_gpcs() => Err(DeviceError::NoGpcs { placement: self.placement }),
            None => Ok(()),
        }
    }
}

// How far grids and blocks extend along x, y and z.

named! {
    /// What has three dimensions (`dim3`).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Sided: ALL {
        /// A grid, of blocks.
        Grid = "grid",
        /// A block, of threads.
        Block = "block",
    }
}

/// A grid or block that is too large along a dimension, or in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SidesError {
    /// A side is longer than any GPU takes.
    #[error("{side} {} along {}, where a {} of a CUDA GPU has at most {most}", of.unit(), axis_name(*axis), of.name())]
    Side {
        /// Of what.
        of: Sided,
        /// 0, 1 or 2: x, y or z.
        axis: usize,
        /// How long it is.
        side: u32,
        /// How long it may be.
        most: u32,
    },
    /// More blocks or threads than are counted here.
    #[error("the product of these numbers is more than {MOST}")]
    Product,
    /// More sides than a space has.
    #[error("{0} sides, where x, y and z are three")]
    Axes(usize),
}

const AXES: [&str; 3] = ["x", "y", "z"];

fn axis_name(axis: usize) -> &'static str {
    AXES.get(axis).copied().unwrap_or("a fourth axis")
}

/// Blocks of a grid that are counted here at most.
const MOST: u32 = i32::MAX as u32;

impl Sided {
    /// Where [`Self::most`] is stated.
    pub const SOURCE: &'static str = "CUDA C++ Programming Guide v12.9 (NVIDIA, 2025), table \"Technical \
        Specifications per Compute Capability\": one number for all of them, from 5.0 on; those of 3.0 to 3.7 were the same (v10.2, \
        2019). deviceQuery prints them for a TX2";

    const fn unit(self) -> &'static str {
        match self {
            Self::Grid => "blocks",
            Self::Block => "threads",
        }
    }

    /// The longest sides along x, y and z, the same for every GPU of compute capability 3.0 or later. A device limits
    /// the threads of a block besides.
    pub const fn most(self) -> [u32; 3] {
        match self {
            Self::Grid => [i32::MAX as u32, 65_535, 65_535],
            Self::Block => [1_024, 1_024, 64],
        }
    }

    /// How many blocks or threads something with one to three sides has.
    ///
    /// # Errors
    /// [`SidesError`] if it extends too far.
    pub fn count(self, sides: &[u32]) -> Result<u32, SidesError> {
        if sides.len() > AXES.len() {
            return Err(SidesError::Axes(sides.len()));
        }
        let mut count = 1_u32;
        for (axis, (&side, most)) in sides.iter().zip(self.most()).enumerate() {
            if side > most {
                return Err(SidesError::Side { of: self, axis, side, most });
            }
            count = count.checked_mul(side).filter(|&count| count <= MOST).ok_or(SidesError::Product)?;
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_limited_as_device_query_prints_it() {
        // Section 2.2 of the thesis: (1024, 1024, 64) and (2147483647, 65535, 65535).
        for (of, sides) in [
            (Sided::Block, [1024, 1, 1]),
            (Sided::Block, [1, 1024, 1]),
            (Sided::Block, [16, 1, 64]),
            (Sided::Grid, [2_147_483_647, 1, 1]),
            (Sided::Grid, [1, 65_535, 1]),
            (Sided::Grid, [1, 1, 65_535]),
        ] {
            assert_eq!(of.count(&sides), Ok(sides.iter().product()));
            let axis = sides.iter().rposition(|&side| side > 16).expect("one is long");
            let mut longer = sides;
            longer[axis] += 1;
            let refused = of.count(&longer);
            assert!(matches!(refused, Err(SidesError::Side { axis: at, .. }) if at == axis), "{longer:?}: {refused:?}");
        }
    }

    #[test]
    fn a_product_that_is_too_large_is_refused() {
        assert_eq!(Sided::Grid.count(&[65_536, 32_768]), Err(SidesError::Product));
        assert_eq!(Sided::Grid.count(&[65_535, 65_535, 65_535]), Err(SidesError::Product));
        assert_eq!(Sided::Grid.count(&[1, 1, 1, 1]), Err(SidesError::Axes(4)));
    }
}
