//! What an application is, when it is injected, and its profile on one GPU: how long it takes on P SMs (Equations 1
//! and 2).

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use crate::device::{BlockDemand, BlockShape, CopyDirection, DemandError, Device};
use crate::named::named;
use crate::proven::Proven;
use crate::time::{Duration, Instant};

named! {
    /// Priority of an application, the highest first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Class: ALL, from_name, Display, Serialize {
        /// Served first.
        High = "high",
        /// Served after high.
        Medium = "medium",
        /// Served last; the paper gives it long timing requirements only.
        Low = "low",
    }
}

/// How long one block of a kernel runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelTimes {
    /// The same on any number of SMs; E(K, P) follows.
    Fixed(Duration),
    /// Measured E(K, P) by P, at least one entry. The time of a block on P SMs follows: E(K, P) divided by the number
    /// of rounds in which the blocks run.
    Table(BTreeMap<u32, Duration>),
}

/// One kernel of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationKernel {
    /// Name in reports.
    pub name: Arc<str>,
    /// Thread blocks of one launch, N in the paper, at least 1.
    pub blocks: u32,
    /// What one block needs.
    pub shape: BlockShape,
    /// How long its blocks run.
    pub times: KernelTimes,
    /// How often it is launched, one launch after the other, at least 1.
    pub launches: u32,
}

/// An application as its author describes it; it can be injected any number of times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Name in reports.
    pub name: Arc<str>,
    /// Its priority.
    pub class: Class,
    /// The timing requirements that it may be given, at least one.
    pub requirements: Vec<Duration>,
    /// Copied to the GPU before the first kernel \[bytes\].
    pub copy_in_bytes: u64,
    /// Copied back after the last kernel \[bytes\].
    pub copy_out_bytes: u64,
    /// Its kernels, in the order of execution; at least one.
    pub kernels: Vec<ApplicationKernel>,
}

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

/// Injections that one run may have.
pub const MAX_INJECTIONS: u32 = 1_000_000;

/// One execution of an application: `<A_i, T_i^req>` in the paper, with the instant at which its user starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injection {
    /// Index of the application in its set.
    pub application: u32,
    /// When it is dispatched by its user, `T_i^init`.
    pub arrival: Instant,
    /// Its timing requirement, `T_i^req`.
    pub requirement: Duration,
}

impl Injection {
    /// The response time requirement as an instant, by Equation 3: `T_i^resp = T_i^init + T_i^req`.
    pub fn due(&self) -> Instant {
        self.arrival + self.requirement
    }
}

/// How applications are injected. Which application comes, and which of its requirements it gets, is drawn uniformly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Injections {
    /// `count` applications, the first at t = 0, each later by a delay drawn uniformly from 0 to `gap` (the paper's
    /// Figures 3 to 5: "randomly selected within 0.5 second window").
    Random {
        /// How many.
        count: u32,
        /// The longest delay.
        gap: Duration,
    },
    /// `count` applications in each of `periods` periods, at instants drawn uniformly from the period (the paper's
    /// Figure 6, which does not say where in the period).
    PerPeriod {
        /// How many in each period.
        count: u32,
        /// Length of a period.
        period: Duration,
        /// How many periods.
        periods: u32,
    },
}

impl Injections {
    /// How many injections there will be.
    pub fn total(&self) -> u64 {
        match *self {
            Self::Random { count, .. } => u64::from(count),
            Self::PerPeriod { count, periods, .. } => u64::from(count) * u64::from(periods),
        }
    }

    /// The last possible arrival \[ns\].
    pub(super) fn latest_ns(&self) -> u128 {
        match *self {
            Self::Random { count, gap } => u128::from(count) * u128::from(gap.as_ns()),
            Self::PerPeriod { period, periods, .. } => u128::from(periods) * u128::from(period.as_ns()),
        }
    }
}

/// Why an application has no times, or nothing can be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApplicationError {
    /// One of its blocks can never run.
    #[error(transparent)]
    Demand(#[from] DemandError),
    /// It takes longer than time itself.
    #[error("the application takes longer than 2^63 ns")]
    TooLong,
    /// A change of it has a kernel launched more often than can be counted.
    #[error("a kernel of the application would be launched more than 2^32 - 1 times")]
    TooManyLaunches,
    /// More injections than a run may have.
    #[error("more than {MAX_INJECTIONS} injections")]
    TooManyInjections,
    /// An arrival beyond what inputs may state.
    #[error("the last injection would come after 2^63 ns")]
    InjectedTooLate,
    /// There is nothing to draw from.
    #[error("there are no applications to inject")]
    NoApplications,
}
