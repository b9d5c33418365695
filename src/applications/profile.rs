//! The profile of an application on one GPU: how long it takes on P SMs (Equations 1 and 2).

use super::error::ApplicationError;
use super::model::{Application, ApplicationKernel, KernelTimes};
use crate::device::{BlockDemand, CopyDirection, Device};
use crate::proven::Proven;
use crate::time::Duration;

/// Execution times of one application on 1 to `P_tot` SMs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionProfile {
    kernels: Vec<KernelProfile>,
    copy_in: Duration,
    copy_out: Duration,
    sms: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct KernelProfile {
    blocks: u32,
    launches: u32,
    blocks_per_sm: u32,
    /// For P = 1, 2, …: how long one block runs.
    block: Vec<Duration>,
    /// For P = 1, 2, …: E(K, P) of one launch.
    launch: Vec<Duration>,
    /// For P = 1, 2, …: this kernel with all its launches and all later kernels.
    from_here: Vec<Duration>,
}

impl ExecutionProfile {
    /// The profile of `application` on `device`.
    ///
    /// # Errors
    /// [`ApplicationError`] if a block can never run or the execution time cannot be represented.
    pub fn new(application: &Application, device: &Device) -> Result<Self, ApplicationError> {
        let copy = |direction, bytes: u64| match bytes {
            0 => Ok(Duration::ZERO),
            _ => device.copy.duration(direction, bytes).ok_or(ApplicationError::TooLong),
        };
        let mut kernels: Vec<KernelProfile> = Vec::with_capacity(application.kernels.len());
        for kernel in application.kernels.iter().rev() {
            let later = kernels.last().map(|next| next.from_here.as_slice());
            let profile = KernelProfile::new(kernel, device, later)?;
            kernels.push(profile);
        }
        kernels.reverse();
        let profile = Self {
            kernels,
            copy_in: copy(CopyDirection::HostToDevice, application.copy_in_bytes)?,
            copy_out: copy(CopyDirection::DeviceToHost, application.copy_out_bytes)?,
            sms: device.sms,
        };
        let most = (1..=device.sms).map(|sms| profile.execution(sms)).max().proven("a device has an SM");
        if most.as_ns() >> 63 == 0 { Ok(profile) } else { Err(ApplicationError::TooLong) }
    }

    /// Number of kernels.
    pub fn kernels(&self) -> usize {
        self.kernels.len()
    }

    /// SMs of the device, `P_tot`.
    pub fn sms(&self) -> u32 {
        self.sms
    }

    /// N of kernel `k`; 0 if there is none.
    pub fn blocks(&self, k: usize) -> u32 {
        self.kernels.get(k).map_or(0, |kernel| kernel.blocks)
    }

    /// How often kernel `k` is launched; 0 if there is none.
    pub fn launches(&self, k: usize) -> u32 {
        self.kernels.get(k).map_or(0, |kernel| kernel.launches)
    }

    /// Blocks of kernel `k` that one SM holds at once; 0 if there is none.
    pub fn blocks_per_sm(&self, k: usize) -> u32 {
        self.kernels.get(k).map_or(0, |kernel| kernel.blocks_per_sm)
    }

    /// How long a block of kernel `k` runs while its application has `sms` SMs (taken as 1 at least).
    pub fn block_time(&self, k: usize, sms: u32) -> Duration {
        self.kernels.get(k).map_or(Duration::ZERO, |kernel| at(&kernel.block, sms))
    }

    /// E(K, P): one launch of kernel `k` on `sms` SMs.
    pub fn launch(&self, k: usize, sms: u32) -> Duration {
        self.kernels.get(k).map_or(Duration::ZERO, |kernel| at(&kernel.launch, sms))
    }

    /// The sum of E(K, P) over kernel `k` and all later ones, every launch of each.
    pub fn from_kernel(&self, k: usize, sms: u32) -> Duration {
        self.kernels.get(k).map_or(Duration::ZERO, |kernel| at(&kernel.from_here, sms))
    }

    /// Time of the copy to the GPU, if nothing else holds the copy engine.
    pub fn copy_in(&self) -> Duration {
        self.copy_in
    }

    /// Time of the copy back.
    pub fn copy_out(&self) -> Duration {
        self.copy_out
    }

    /// E(A, P) by Equations 1 and 2: all kernels on `sms` SMs, and `D_memcopy`.
    pub fn execution(&self, sms: u32) -> Duration {
        self.from_kernel(0, sms) + self.copy_in + self.copy_out
    }

    /// The smallest E(A, P), which is not E(A, `P_tot`) where E grows in P.
    pub fn shortest_execution(&self) -> Duration {
        (1..=self.sms).map(|sms| self.execution(sms)).min().proven("a device has an SM")
    }

    /// The first P at which one more SM makes the application slower, if there is one.
    pub fn grows_at(&self) -> Option<u32> {
        (2..=self.sms).find(|&sms| self.execution(sms) > self.execution(sms - 1))
    }
}

fn at(times: &[Duration], sms: u32) -> Duration {
    times[(sms.max(1) as usize).min(times.len()) - 1]
}

impl KernelProfile {
    fn new(kernel: &ApplicationKernel, device: &Device, later: Option<&[Duration]>) -> Result<Self, ApplicationError> {
        let blocks_per_sm = BlockDemand::new(&kernel.shape, device)?.blocks_per_sm(device);
        let mut profile = Self {
            blocks: kernel.blocks,
            launches: kernel.launches,
            blocks_per_sm,
            block: Vec::new(),
            launch: Vec::new(),
            from_here: Vec::new(),
        };
        let rounds = |sms: u32| u64::from(kernel.blocks).div_ceil(u64::from(blocks_per_sm) * u64::from(sms));
        for (sms, position) in (1..=device.sms).zip(0..) {
            let block = match &kernel.times {
                KernelTimes::Fixed(block) => *block,
                KernelTimes::Table(table) => interpolated(table, sms, rounds),
            };
            let launch = block.checked_mul(rounds(sms)).ok_or(ApplicationError::TooLong)?;
            let all = launch.checked_mul(u64::from(kernel.launches)).ok_or(ApplicationError::TooLong)?;
            let later = later.and_then(|times: &[Duration]| times.get::<usize>(position)).copied().unwrap_or_default();
            profile.block.push(block);
            profile.launch.push(launch);
            profile.from_here.push(all.checked_add(later).ok_or(ApplicationError::TooLong)?);
        }
        Ok(profile)
    }
}

/// The time of a block on `sms` SMs from a table of E(K, P): E(K, P) divided by the rounds, rounded up; between two
/// entries on the straight line between their block times, beyond them the block time of the nearest. (E itself has
/// steps where the number of rounds changes, block times have not.)
fn interpolated(table: &std::collections::BTreeMap<u32, Duration>, sms: u32, rounds: impl Fn(u32) -> u64) -> Duration {
    let block = |(&entry, time): (&u32, &Duration)| (entry, time.as_ns().div_ceil(rounds(entry)));
    let below = table.range(..=sms).next_back().map(block);
    let above = table.range(sms..).next().map(block);
    let ns = match (below, above) {
        (Some((low, from)), Some((high, to))) if low < high => {
            let (span, offset) = (u128::from(high - low), u128::from(sms - low));
            let sum = u128::from(from) * (span - offset) + u128::from(to) * offset;
            u64::try_from(sum.div_ceil(span)).proven("between two times of 64 bits")
        }
        (Some((_, time)), _) | (None, Some((_, time))) => time,
        (None, None) => 0,
    };
    Duration::from_ns(ns)
}
