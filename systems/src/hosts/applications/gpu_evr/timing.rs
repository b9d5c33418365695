//! An application on the GPU: how far it is, which SMs it has, and the timing model, Equations 4 to 9 of the paper.
//! (Equations 1 and 2, E(A, P), are [`ExecutionProfile::execution`]; Equation 3 is
//! [`Injection::due`](crate::applications::Injection::due).)
//!
//! Times are rounded up to whole nanoseconds, so that an estimate never becomes optimistic by rounding.

use super::rules::{Late, Remaining};
use crate::applications::{Class, ExecutionProfile};
use crate::device::SmMask;
use crate::proven::Proven;
use crate::time::{Duration, Instant};

/// Equation 4, for a GPU that is not fully occupied: the response time on `sms` SMs.
pub(crate) fn response(profile: &ExecutionProfile, sms: u32) -> Duration {
    profile.execution(sms)
}

/// Equation 5, for a fully occupied GPU: the response time after waiting for the application that ends first, on the
/// SMs of that one. `running` gives the remaining time and the SMs of each running application; if there is none, there
/// is nothing to wait for.
pub(crate) fn response_when_occupied(
    profile: &ExecutionProfile,
    running: impl Iterator<Item = (Duration, u32)>,
) -> Duration {
    match running.min() {
        Some((waiting, sms)) => waiting + profile.execution(sms),
        None => response(profile, profile.sms()),
    }
}

/// Equation 6: what is left of an application on `sms` SMs: the kernel that runs now, those that follow, and the copies
/// that have not been done.
pub(crate) fn remaining(profile: &ExecutionProfile, progress: &Stage, sms: u32, estimate: Remaining) -> Duration {
    match *progress {
        Stage::Submitted | Stage::CopyIn => profile.execution(sms),
        Stage::Kernel { kernel, launch, completed, .. } => {
            let now = remaining_kernel(profile, kernel, completed, sms, estimate);
            let launches_after = u64::from(profile.launches(kernel).saturating_sub(launch + 1));
            // A part of what all launches take, which the profile has.
            let same = profile.launch(kernel, sms).repeated(launches_after);
            now + same + profile.from_kernel(kernel + 1, sms) + profile.copy_out()
        }
        Stage::KernelsDone => profile.copy_out(),
    }
}

/// Equation 7: what is left of the launch of kernel `kernel` of which `completed` blocks have completed, N' in the
/// paper: (N - N') / N * E(K, P). The alternative counts the rounds in which they run, instead.
pub(crate) fn remaining_kernel(
    profile: &ExecutionProfile,
    kernel: usize,
    completed: u32,
    sms: u32,
    estimate: Remaining,
) -> Duration {
    let blocks = u64::from(profile.blocks(kernel).max(1));
    let left = blocks.saturating_sub(u64::from(completed));
    match estimate {
        Remaining::Share => {
            let product = u128::from(left) * u128::from(profile.launch(kernel, sms).as_ns());
            Duration::from_ns(u64::try_from(product.div_ceil(u128::from(blocks))).proven("at most N blocks are left"))
        }
        Remaining::Rounds => {
            let at_once = u64::from(profile.blocks_per_sm(kernel).max(1)) * u64::from(sms.max(1));
            // At most the rounds of a whole launch, whose time the profile has.
            profile.block_time(kernel, sms).repeated(left.div_ceil(at_once))
        }
    }
}

/// Equation 8: whether an application with `remaining` to run meets its requirement.
pub(crate) fn meets(due: Instant, now: Instant, remaining: Duration) -> bool {
    due >= now + remaining
}

/// Equation 9: the instant at which an application must start to meet its requirement, `T_margin = T_resp - E(A)`, with
/// E(A) on the whole GPU. 0 if it should have started before t = 0.
pub(crate) fn margin(due: Instant, profile: &ExecutionProfile) -> Instant {
    Instant::from_ns(due.as_ns().saturating_sub(profile.execution(profile.sms()).as_ns()))
}

/// The fewest SMs with which an application meets its requirement by Equation 8; if no number does, as the rule says.
pub(crate) fn required_sms(app: &RunningApp<'_>, now: Instant, estimate: Remaining, late: Late) -> u32 {
    let on = |sms| remaining(app.profile, &app.progress, sms, estimate);
    let most = app.profile.sms();
    (1..=most).find(|&sms| meets(app.due, now, on(sms))).unwrap_or_else(|| match late {
        Late::Fastest => fastest_sms(app, estimate),
        Late::One => 1,
    })
}

/// The fewest SMs with which an application finishes as early as it can.
pub(crate) fn fastest_sms(app: &RunningApp<'_>, estimate: Remaining) -> u32 {
    let on = |sms: &u32| remaining(app.profile, &app.progress, *sms, estimate);
    (1..=app.profile.sms()).min_by_key(on).unwrap_or(1)
}

/// How far an application has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing has been done for it yet.
    Submitted,
    /// Its input is being copied.
    CopyIn,
    /// A kernel runs, or is about to.
    Kernel {
        /// Which, from 0.
        kernel: usize,
        /// Which of its launches, from 0.
        launch: u32,
        /// Blocks of this launch that were given to the hardware.
        submitted: u32,
        /// Blocks of this launch that have completed, N'.
        completed: u32,
    },
    /// All kernels have completed.
    KernelsDone,
}

/// An application that waits for the GPU or has SMs.
#[derive(Debug, Clone)]
pub(crate) struct RunningApp<'a> {
    /// Number of its injection.
    pub number: u32,
    /// Its class.
    pub class: Class,
    /// `T_resp` (Equation 3).
    pub due: Instant,
    /// Its profile.
    pub profile: &'a ExecutionProfile,
    /// How far it has come.
    pub progress: Stage,
    /// SMs that the GPU manager has allotted to it, `P_i`.
    pub allotted: u32,
    /// SMs lent to it beyond those.
    pub lent: u32,
    /// SMs that belong to it now. More than it should have until its blocks there complete, or fewer until another
    /// application's do.
    pub owned: SmSet,
    /// Those of `owned` on which nothing runs.
    pub idle: SmSet,
}

impl<'a> RunningApp<'a> {
    /// An application that has just arrived.
    pub(crate) fn new(number: u32, class: Class, due: Instant, profile: &'a ExecutionProfile) -> Self {
        Self {
            number,
            class,
            due,
            profile,
            progress: Stage::Submitted,
            allotted: 0,
            lent: 0,
            owned: SmSet::EMPTY,
            idle: SmSet::EMPTY,
        }
    }

    /// SMs that it should have.
    pub(crate) fn target(&self) -> u32 {
        self.allotted + self.lent
    }

    /// Whether any of its blocks was given to the hardware, after which it may not be suspended.
    pub(crate) fn has_started(&self) -> bool {
        match self.progress {
            Stage::Submitted | Stage::CopyIn => false,
            Stage::Kernel { kernel, launch, submitted, .. } => (kernel, launch, submitted) != (0, 0, 0),
            Stage::KernelsDone => true,
        }
    }

    /// How long at least until its kernels have completed, if it keeps the SMs that it has; `None`: without any.
    pub(super) fn kernels_left_at_least(&self) -> Option<Duration> {
        let stage = match self.progress {
            Stage::Submitted | Stage::CopyIn => Stage::Kernel { kernel: 0, launch: 0, submitted: 0, completed: 0 },
            // Blocks that run may end at once.
            Stage::Kernel { kernel, launch, submitted, .. } => {
                Stage::Kernel { kernel, launch, submitted, completed: submitted }
            }
            Stage::KernelsDone => Stage::KernelsDone,
        };
        let sms = Some(self.owned.len()).filter(|&sms| sms > 0)?;
        let left = remaining(self.profile, &stage, sms, Remaining::Rounds);
        Some(Duration::from_ns(left.as_ns() - self.profile.copy_out().as_ns()))
    }

    /// Its first kernel may start.
    pub(super) fn begin_kernels(&mut self) {
        self.progress = Stage::Kernel { kernel: 0, launch: 0, submitted: 0, completed: 0 };
    }

    /// `blocks` more blocks were given to the hardware.
    pub(super) fn count_submitted(&mut self, blocks: u32) {
        if let Stage::Kernel { submitted, .. } = &mut self.progress {
            *submitted += blocks;
        }
    }

    /// `blocks` more blocks have completed; when they are the last of a launch, the next launch or kernel may start.
    pub(super) fn count_completed(&mut self, blocks: u32) {
        let Stage::Kernel { kernel, launch, completed, .. } = &mut self.progress else { return };
        *completed += blocks;
        if *completed < self.profile.blocks(*kernel) {
            return;
        }
        let next = if launch.saturating_add(1) < self.profile.launches(*kernel) {
            (*kernel, *launch + 1)
        } else {
            (*kernel + 1, 0)
        };
        self.progress = if next.0 < self.profile.kernels() {
            Stage::Kernel { kernel: next.0, launch: next.1, submitted: 0, completed: 0 }
        } else {
            Stage::KernelsDone
        };
    }
}

/// SMs with numbers below 128, as many as an SM mask has bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct SmSet(u128);

impl SmSet {
    /// No SM.
    pub(crate) const EMPTY: Self = Self(0);

    /// SMs 0 to `sms` - 1; at most 128.
    pub(crate) fn first(sms: u32) -> Self {
        Self(1_u128.checked_shl(sms).map_or(u128::MAX, |bit| bit - 1))
    }

    /// How many.
    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The lowest number.
    pub(crate) fn lowest(self) -> Option<u32> {
        (self.0 != 0).then(|| self.0.trailing_zeros())
    }

    /// The `count` lowest numbers, or all if there are fewer.
    pub(crate) fn lowest_of(self, count: u32) -> Self {
        let (mut left, mut taken) = (self.0, 0);
        for _ in 0..count.min(self.len()) {
            let bit = left & left.wrapping_neg();
            left ^= bit;
            taken |= bit;
        }
        Self(taken)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Removes those of `other`.
    pub(crate) fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    /// The mask under which blocks run on these SMs only, on a device with one SM per TPC.
    pub(crate) fn mask(self) -> SmMask {
        SmMask::only(self.0)
    }
}
