//! What GPUs of one compute capability have in common.

use super::{PerBlockLimits, PerSmLimits, RegisterAllocation, RegisterDealing, SharedMemoryAllocation};

/// NVIDIA's number for what a GPU can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    /// The generation.
    pub major: u32,
    /// The variant.
    pub minor: u32,
}

impl std::fmt::Display for ComputeCapability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The limits of an SM and how it hands out memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SmArchitecture {
    /// What one SM holds at once.
    pub per_sm: PerSmLimits,
    /// What one block may ask for, with opt-in to more than 48 KiB of shared memory.
    pub per_block: PerBlockLimits,
    /// How registers are handed out.
    pub register_allocation: RegisterAllocation,
    /// How shared memory is handed out.
    pub shared_memory_allocation: SharedMemoryAllocation,
    /// SMs per TPC of the full chip.
    pub sms_per_tpc: u32,
    /// Additions, multiplications or both in one, of 32-bit floating-point numbers, that an SM begins in a clock.
    pub fp32_per_clock: u32,
}

/// One row: compute capability; threads and blocks of an SM; shared memory of an SM, of a block at most, reserved per
/// block, and its unit \[bytes\]; SMs per TPC; 32-bit floating-point operations of an SM in a clock.
struct Row(u32, u32, [u32; 2], [u32; 4], u32, u32);

/// Threads, blocks and shared memory: up to 7.2, CUDA C++ Programming Guide v12.9 (NVIDIA, 2025), table "Technical
/// Specifications per Compute Capability"; from 7.5 on, the same of v13.0, table 27; of 10.3 and 12.1, CUDA Programming
/// Guide (NVIDIA, 2025), tables 30 and 31, columns 10.3, 10.x and 12.x. Reserved shared memory and units:
/// `cuda_occupancy.h` (NVIDIA CUDA Toolkit 12.8, 2025), `cudaOccSMemAllocationGranularity`, cases 8, 9, 10 and 12, and
/// `reservedSharedMemPerBlock`; of 11.0, those of 10.0. Of 7.5, 8.0 and 9.0, occupancy computed from this
/// table is what PyTorch's profiler stated for each of 15,304 kernels of public profiles. Floating-point operations:
/// CUDA C++ Programming Guide v12.9, table "Throughput of Native Arithmetic Instructions"; of 8.7, NVIDIA's data sheet
/// (2048 cores on 16 SMs); of 10.3, 11.0 and 12.1, those of their
/// generation.
const TABLE: [Row; 17] = [
    Row(5, 0, [2048, 32], [65_536, 49_152, 0, 256], 1, 128),
    Row(5, 2, [2048, 32], [98_304, 49_152, 0, 256], 1, 128),
    Row(6, 0, [2048, 32], [65_536, 49_152, 0, 256], 2, 64),
    Row(6, 1, [2048, 32], [98_304, 49_152, 0, 256], 1, 128),
    Row(7, 0, [2048, 32], [98_304, 98_304, 0, 256], 2, 64),
    Row(7, 2, [2048, 32], [98_304, 98_304, 0, 256], 2, 64),
    Row(7, 5, [1024, 16], [65_536, 65_536, 0, 256], 2, 64),
    Row(8, 0, [2048, 32], [167_936, 166_912, 1024, 128], 2, 64),
    Row(8, 6, [1536, 16], [102_400, 101_376, 1024, 128], 2, 128),
    Row(8, 7, [1536, 16], [167_936, 166_912, 1024, 128], 2, 128),
    Row(8, 9, [1536, 24], [102_400, 101_376, 1024, 128], 2, 128),
    Row(9, 0, [2048, 32], [233_472, 232_448, 1024, 128], 2, 128),
    Row(10, 0, [2048, 32], [233_472, 232_448, 1024, 128], 2, 128),
    Row(10, 3, [2048, 32], [233_472, 232_448, 1024, 128], 2, 128),
    Row(11, 0, [1536, 24], [233_472, 232_448, 1024, 128], 2, 128),
    Row(12, 0, [1536, 24], [102_400, 101_376, 1024, 128], 2, 128),
    Row(12, 1, [1536, 24], [102_400, 101_376, 1024, 128], 2, 128),
];

/// Registers of an SM and of a block at most, all of them in four sub-partitions from which warps get multiples of 256
/// (`cudaOccRegAllocationGranularity`, `cudaOccSubPartitionsPerMultiprocessor`).
const REGISTERS: u32 = 65_536;

impl ComputeCapability {
    /// Of two numbers with a point between; `None`: it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// All that are known, in ascending order.
    pub fn known() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|&Row(major, minor, ..)| Self { major, minor })
    }

    /// The SM of this compute capability, or `None` if it is not known here.
    pub(super) fn architecture(self) -> Option<SmArchitecture> {
        let row = TABLE.iter().find(|row| (row.0, row.1) == (self.major, self.minor))?;
        let &Row(_, _, [threads, blocks], [shared, shared_per_block, reserved, unit], sms_per_tpc, fp32_per_clock) =
            row;
        Some(SmArchitecture {
            per_sm: PerSmLimits {
                threads,
                warps: threads / 32,
                blocks,
                registers: REGISTERS,
                shared_memory_bytes: shared,
            },
            per_block: PerBlockLimits { threads: 1024, registers: REGISTERS, shared_memory_bytes: shared_per_block },
            register_allocation: RegisterAllocation {
                unit_per_warp: 256,
                sub_partitions: 4,
                warps_rounded_to: 4,
                dealing: RegisterDealing::default(),
            },
            shared_memory_allocation: SharedMemoryAllocation { unit_bytes: unit, reserved_per_block_bytes: reserved },
            sms_per_tpc,
            fp32_per_clock,
        })
    }
}
