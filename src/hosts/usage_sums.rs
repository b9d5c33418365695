//! An observer that adds up what each application took, and keeps nothing else: a few bytes for each operation and
//! application, where a trace takes hundreds.

use crate::applications::{ApplicationUsage, Usage};
use crate::gpu::Observer;
use crate::time::{Duration, Instant};
use crate::trace::{Launch, NewStretch, NewWave, TraceFull};
use crate::workload::{OperationId, Part};

/// Adds up while a run goes on. Operations name their injection as their origin's thread.
#[derive(Debug, Clone)]
pub(super) struct UsageSums {
    usage: Usage,
    /// The injection of each operation.
    injections: Vec<u32>,
    sms: Vec<SmUsage>,
    /// The waves that are told next repeat so often, each time without a pause; how many of them are to be counted,
    /// and how many not, because they are where the first have been.
    stretch: Stretch,
}

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
    pub(super) fn new(sms: u32, injections: usize) -> Self {
        let applications = vec![ApplicationUsage::default(); injections];
        Self {
            usage: Usage { end: Instant::ZERO, sms, busy_ns: 0, applications },
            injections: Vec::new(),
            sms: vec![SmUsage::default(); sms as usize],
            stretch: Stretch::default(),
        }
    }

    /// The sums.
    pub(super) fn into_usage(self) -> Usage {
        self.usage
    }

    fn application(&mut self, operation: OperationId) -> Option<&mut ApplicationUsage> {
        let injection = *self.injections.get(operation.0 as usize)?;
        self.usage.applications.get_mut(injection as usize)
    }

    /// Blocks of an injection are on an SM from `start` to `end`. Starts do not decrease.
    fn add(&mut self, injection: u32, sm: u16, start: Instant, end: Instant) {
        let Some(sm) = self.sms.get_mut(usize::from(sm)) else { return };
        // What was counted up to some instant is not counted again.
        self.usage.busy_ns += u128::from(end.since(start.max(sm.of_any)).as_ns());
        sm.of_any = sm.of_any.max(end);
        sm.of_each.retain(|&(known, until)| known == injection || until > start);
        let known = sm.of_each.iter().position(|&(known, _)| known == injection);
        let own = known.unwrap_or_else(|| {
            sm.of_each.push((injection, start));
            sm.of_each.len() - 1
        });
        let until = &mut sm.of_each[own].1;
        let time = end.since(start.max(*until));
        *until = end.max(*until);
        if let Some(application) = self.usage.applications.get_mut(injection as usize) {
            application.sm_time_ns += u128::from(time.as_ns());
        }
    }
}

impl Observer for UsageSums {
    fn launched(&mut self, operation: OperationId, launch: &Launch) {
        debug_assert_eq!(operation.0 as usize, self.injections.len());
        self.injections.push(launch.origin.thread);
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
            end = wave.start + period.checked_mul(u64::from(cycles)).unwrap_or_default();
        }
        let Some(&injection) = self.injections.get(wave.operation.0 as usize) else { return Ok(()) };
        for part in parts.iter().filter(|part| part.blocks > 0) {
            self.add(injection, part.sm, wave.start, end);
        }
        Ok(())
    }

    fn stretch(&mut self, stretch: &NewStretch) -> Result<(), TraceFull> {
        let &NewStretch { waves, cycles, period, .. } = stretch;
        self.stretch = Stretch { cycles, period, waves, all: waves };
        Ok(())
    }

    fn ended(&mut self, at: Instant) {
        self.usage.end = at;
    }

    fn clear(&mut self) {
        *self = Self::new(self.usage.sms, self.usage.applications.len());
    }
}
