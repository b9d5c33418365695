//! An observer that adds up what each application took, and keeps nothing else: a few bytes for each application, and
//! for each operation as long as one before it has not completed, where a trace takes hundreds.

use std::collections::VecDeque;
use std::convert::Infallible;

use crate::applications::{ApplicationUsage, SmCount, Usage};
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::trace::{Launch, NewStretch, NewWave, Observer, SumOverTime, TraceFull};
use crate::workload::{OperationId, Part};

/// Adds up while a run goes on. Operations name their injection as their origin's thread.
#[derive(Debug, Clone)]
pub(super) struct UsageSums {
    usage: Usage,
    /// The injection of each operation from the first that has not completed on; [`COMPLETED`] for those that have.
    injections: VecDeque<u32>,
    /// Operations before those.
    completed_in_a_row: u32,
    /// Of each injection, the SMs that it has now, where they are counted over time.
    sms_now: Vec<SumOverTime>,
    /// Numbers of SMs that are kept, over all applications.
    sm_counts: usize,
    sms: Vec<SmUsage>,
    /// The waves that are told next repeat so often, each time without a pause; how many of them are to be counted,
    /// and how many not, because they are where the first have been.
    stretch: Stretch,
}

/// Stands for an operation that has completed: so many injections cannot be.
const COMPLETED: u32 = u32::MAX;

/// Which sums are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageDetail {
    /// One number of each kind for an application.
    Totals,
    /// Those, and on how many SMs each of the first so many applications ran over time.
    SmsOverTime(usize),
}

impl UsageDetail {
    /// Of all applications.
    pub const ALL_SMS_OVER_TIME: Self = Self::SmsOverTime(usize::MAX);
}

/// Changes of the number of SMs that are kept at most, over all applications: about 1 GB.
pub(super) const MAX_SM_COUNTS: usize = 40_000_000;

#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    cycles: u32,
    period: Duration,
    /// Waves to come.
    waves: u32,
    /// Waves in all.
    all: u32,
}

/// Up to when one SM had blocks.
#[derive(Debug, Clone, Default)]
struct SmUsage {
    of_any: Instant,
    /// Of those injections that may still have blocks there.
    of_each: Vec<(u32, Instant)>,
}

impl UsageSums {
    /// Nothing has happened to `injections` applications on `sms` SMs.
    pub(super) fn new(sms: u32, injections: usize, detail: UsageDetail) -> Self {
        let applications = vec![ApplicationUsage::default(); injections];
        let counted = match detail {
            UsageDetail::Totals => 0,
            UsageDetail::SmsOverTime(first) => first.min(injections),
        };
        let sms_over_time = vec![Vec::new(); counted];
        Self {
            usage: Usage { end: Instant::ZERO, sms, busy_ns: 0, applications, sms_over_time },
            injections: VecDeque::new(),
            completed_in_a_row: 0,
            sms_now: vec![SumOverTime::default(); counted],
            sm_counts: 0,
            sms: vec![SmUsage::default(); sms as usize],
            stretch: Stretch::default(),
        }
    }

    pub(super) fn into_usage(self) -> Usage {
        self.usage
    }

    /// The injection of an operation that has not completed.
    fn injection(&self, operation: OperationId) -> Option<u32> {
        let index = operation.0.checked_sub(self.completed_in_a_row)?;
        self.injections.get(index as usize).copied()
    }

    fn application(&mut self, operation: OperationId) -> Option<&mut ApplicationUsage> {
        let injection = self.injection(operation)?;
        self.usage.applications.get_mut(injection as usize)
    }

    /// Blocks of an injection are on an SM from `start` to `end`. Starts do not decrease.
    fn add(&mut self, injection: u32, sm: u16, start: Instant, end: Instant) {
        let Some(sm) = self.sms.get_mut(usize::from(sm)) else { return };
        // What was counted up to some instant is not counted again.
        self.usage.busy_ns += u128::from(end.since(start.max(sm.of_any)).as_ns());
        sm.of_any = sm.of_any.max(end);
        let (mut own, mut index) = (None, 0);
        while let Some(&(known, until)) = sm.of_each.get(index) {
            if known == injection {
                own = Some(index);
            } else if until <= start {
                // What comes in its place is looked at next, and what was found stands before it.
                sm.of_each.swap_remove(index);
                continue;
            }
            index += 1;
        }
        let own = own.unwrap_or_else(|| {
            sm.of_each.push((injection, start));
            sm.of_each.len() - 1
        });
        let own = &mut sm.of_each[own].1;
        let until = std::mem::replace(own, end.max(*own));
        let time = end.since(start.max(until));
        let sums = self.sms_now.get_mut(injection as usize).zip(self.usage.sms_over_time.get_mut(injection as usize));
        if let Some((sms, counts)) = sums
            && end > until
        {
            let before = counts.len();
            if until > start {
                sms.prolong(until, end, 1);
            } else {
                let Ok(()) = sms.add(start..end, 1, |at, sms| count(counts, at, sms));
            }
            self.sm_counts += counts.len() - before;
        }
        if let Some(application) = self.usage.applications.get_mut(injection as usize) {
            application.sm_time_ns += u128::from(time.as_ns());
        }
    }
}

/// From `at` on, an injection has so many SMs.
#[allow(clippy::unnecessary_wraps, reason = "sums over time are told to what may fail")]
fn count(counts: &mut Vec<SmCount>, at: Instant, sms: u64) -> Result<(), Infallible> {
    let sms = u32::try_from(sms).proven("no more SMs than the device has, which 32 bits count");
    if counts.last().map_or(0, |last| last.sms) != sms {
        counts.push(SmCount { at_ns: at, sms });
    }
    Ok(())
}

impl Observer for UsageSums {
    fn launched(&mut self, operation: OperationId, launch: &Launch) {
        debug_assert_eq!(operation.index(), self.completed_in_a_row as usize + self.injections.len());
        self.injections.push_back(launch.origin.thread);
        if let Some(application) = self.application(operation) {
            application.unfinished += 1;
        }
    }

    fn dispatched(&mut self, operation: OperationId, at: Instant) {
        if let Some(application) = self.application(operation) {
            // Operations begin in the order of time.
            application.start = application.start.or(Some(at));
        }
    }

    fn finished(&mut self, operation: OperationId, at: Instant) {
        if let Some(application) = self.application(operation) {
            application.end = Some(at);
            application.unfinished -= 1;
        }
        let index = operation.0.checked_sub(self.completed_in_a_row);
        if let Some(injection) = index.and_then(|index| self.injections.get_mut(index as usize)) {
            *injection = COMPLETED;
        }
        while self.injections.front() == Some(&COMPLETED) {
            self.injections.pop_front();
            self.completed_in_a_row += 1;
        }
    }

    fn wave(&mut self, wave: &NewWave, parts: &[Part]) -> Result<(), TraceFull> {
        let mut end = wave.start + wave.duration;
        let Stretch { cycles, period, waves, all } = self.stretch;
        if waves > 0 {
            self.stretch.waves -= 1;
            // A period is several turns, each as long as a block; every turn takes exactly the places of the one
            // before, so the first stands for all.
            let turns = period.as_ns().checked_div(wave.duration.as_ns()).unwrap_or(1).max(1);
            if u64::from(all - waves) * turns >= u64::from(all) {
                return Ok(());
            }
            end = wave.start + period.repeated(u64::from(cycles));
        }
        let Some(injection) = self.injection(wave.operation) else { return Ok(()) };
        for part in parts.iter().filter(|part| part.blocks > 0) {
            self.add(injection, part.sm, wave.start, end);
        }
        if self.sm_counts > MAX_SM_COUNTS { Err(TraceFull) } else { Ok(()) }
    }

    fn stretch(&mut self, stretch: &NewStretch) -> Result<(), TraceFull> {
        let &NewStretch { waves, cycles, period, .. } = stretch;
        self.stretch = Stretch { cycles, period, waves, all: waves };
        Ok(())
    }

    fn ended(&mut self, at: Instant) {
        self.usage.end = at;
        for (sms, counts) in self.sms_now.drain(..).zip(&mut self.usage.sms_over_time) {
            let Ok(()) = sms.finish(|at, sms| count(counts, at, sms));
        }
    }

    fn clear(&mut self) {
        let detail = UsageDetail::SmsOverTime(self.usage.sms_over_time.len());
        *self = Self::new(self.usage.sms, self.usage.applications.len(), detail);
    }
}
