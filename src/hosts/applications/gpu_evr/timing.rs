//! The timing model: Equations 4 to 9 of the paper. (Equations 1 and 2, E(A, P), are [`ExecutionProfile::execution`];
//! Equation 3 is [`Injection::due`](crate::applications::Injection::due).)
//!
//! Times are rounded up to whole nanoseconds, so that an estimate never becomes optimistic by rounding.

use super::rules::{Late, Remaining};
use super::running::{RunningApp, Stage};
use crate::applications::ExecutionProfile;
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
