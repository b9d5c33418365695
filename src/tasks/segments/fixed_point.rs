//! Response times as least fixed points.

use crate::limits::count_turn;
use crate::time::Duration;

/// What jobs of one task can take from another within any window of some length t: ⌈(t + J) / T⌉ W.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "units belong to names")]
pub(super) struct Interference {
    /// T, least distance of their releases \[ns\].
    pub(super) period_ns: u64,
    /// J \[ns\]. R - W if work may come at the end of the response R of one job and at the beginning of the next one's;
    /// 0 if the window starts when no job of the task is pending.
    pub(super) jitter_ns: u128,
    /// W, of one job \[ns\].
    pub(super) work_ns: u128,
}

impl Interference {
    /// Of jobs with period T, response R and work W whose work may lie anywhere in their responses.
    pub(super) fn carried_in(period: Duration, response: Duration, work_ns: u128) -> Self {
        let jitter_ns = u128::from(response.as_ns()).saturating_sub(work_ns);
        Self { period_ns: period.as_ns(), jitter_ns, work_ns }
    }

    /// Of jobs with period T and work W, none of which is pending when the window starts.
    pub(super) fn released_within(period: Duration, work_ns: u128) -> Self {
        Self { period_ns: period.as_ns(), jitter_ns: 0, work_ns }
    }

    /// The work within a window of that length \[ns\].
    pub(super) fn within(&self, window_ns: u128) -> u128 {
        self.jobs_within(window_ns) * self.work_ns
    }

    /// The jobs that have work within a window of that length.
    pub(super) fn jobs_within(&self, window_ns: u128) -> u128 {
        (window_ns + self.jitter_ns).div_ceil(u128::from(self.period_ns))
    }
}

/// The least t with t = `base_ns` + all interference within t, if it is at most `limit`.
pub(super) fn least_response(base_ns: u128, interference: &[Interference], limit: Duration) -> Option<Duration> {
    least_fixed_point(base_ns, limit, |window| {
        base_ns + interference.iter().map(|one| one.within(window)).sum::<u128>()
    })
}

/// The least t of at least `from_ns` with t = `demand_ns(t)`, if it is at most `limit`; the demand grows with t.
pub(super) fn least_fixed_point(from_ns: u128, limit: Duration, demand_ns: impl Fn(u128) -> u128) -> Option<Duration> {
    let mut window = from_ns;
    loop {
        count_turn();
        if window > u128::from(limit.as_ns()) {
            return None;
        }
        let next = demand_ns(window);
        if next == window {
            return u64::try_from(window).ok().map(Duration::from_ns);
        }
        window = next;
    }
}
