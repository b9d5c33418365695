//! When an operation may enter its EE or CE queue: rules G1, G4, N1 and N2.

use super::facts::Facts;
use super::observation::{Observation, ObservedWork};
use super::stamp::{Clocks, Stamp, When};

/// When an operation was ready for its EE or CE queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Readiness {
    /// Not before this.
    pub(super) lo: When,
    /// By then at the latest; `None`: nobody saw when what it waits for was complete.
    pub(super) hi: Option<When>,
    /// What was in front of it in its stream, and when that had completed at the earliest.
    pub(super) stream: Option<(usize, When)>,
    /// What it had to wait for under N1 or N2, and when that had completed at the earliest.
    pub(super) null: Option<(usize, When)>,
}

/// When an operation had completed.
#[derive(Debug, Clone, Copy)]
struct Completion {
    lo: When,
    hi: Option<When>,
}

/// Completions of all operations launched so far on one side of N1 and N2: the NULL stream, or the blocking streams.
#[derive(Default)]
struct Side {
    /// Latest launch, and by then: all completed, and which of them was the last.
    launched: Vec<(i64, Completion, usize)>,
    /// Earliest launches of all operations, sorted, later ones too.
    earliest: Vec<i64>,
}

impl Side {
    fn push(&mut self, latest: i64, operation: usize, completion: Completion) {
        let next = match self.launched.last() {
            None => (latest, completion, operation),
            Some((_, before, last)) => {
                let last = if completion.lo.latest() >= before.lo.latest() { operation } else { *last };
                let hi = before.hi.zip(completion.hi).map(|(one, other)| one.and(other));
                (latest, Completion { lo: before.lo.and(completion.lo), hi }, last)
            }
        };
        self.launched.push(next);
    }

    /// What was surely launched before; and whether there is more of which that cannot be told.
    fn before(&self, launched: [i64; 2], clocks: &Clocks) -> (Option<(usize, Completion)>, bool) {
        let tolerance = clocks.tolerances.one_clock_ns;
        let (surely, perhaps) = if clocks.ordered {
            (self.launched.len(), self.launched.len())
        } else {
            let earlier = |(latest, ..): &(i64, Completion, usize)| latest.saturating_add(tolerance) < launched[0];
            let perhaps = |earliest: &i64| *earliest <= launched[1].saturating_add(tolerance);
            (self.launched.partition_point(earlier), self.earliest.partition_point(perhaps))
        };
        let last = surely.checked_sub(1).and_then(|last| self.launched.get(last));
        (last.map(|&(_, completion, operation)| (operation, completion)), perhaps > surely)
    }
}

/// Derives readiness of all operations in launch order; `ranks` order the completions of one instant.
pub(super) fn derive(observation: &Observation, facts: &[Facts], clocks: &Clocks, ranks: &[u64]) -> Vec<Readiness> {
    let simulated = matches!(observation.source, super::observation::Source::Simulated { .. });
    let launch = |at: i64, index: usize| {
        let stamp = Stamp::launch(at, index);
        if simulated { When::on_gpu(stamp) } else { When::on_host(stamp) }
    };
    let blocking = |stream: usize| observation.streams.get(stream).is_some_and(|stream| stream.blocking);
    let mut sides = [Side::default(), Side::default()];
    for operation in &observation.operations {
        if operation.stream == 0 || blocking(operation.stream) {
            sides[usize::from(operation.stream != 0)].earliest.push(operation.launched_ns[0]);
        }
    }
    for side in &mut sides {
        side.earliest.sort_unstable();
    }
    let mut last_in_stream: Vec<Option<(usize, Completion)>> = vec![None; observation.streams.len()];
    let mut all = Vec::with_capacity(facts.len());
    for (index, operation) in observation.operations.iter().enumerate() {
        let [earliest, latest] = operation.launched_ns;
        let mut ready = Completion { lo: launch(earliest, index), hi: Some(launch(latest, index)) };
        let mut wait_for = |completion: &Completion| {
            ready.lo = ready.lo.and(completion.lo);
            ready.hi = ready.hi.zip(completion.hi).map(|(one, other)| one.and(other));
        };
        let stream = last_in_stream.get(operation.stream).copied().flatten();
        if let Some((_, completion)) = &stream {
            wait_for(completion);
        }
        let is_null = operation.stream == 0;
        let (null, unsure) = if is_null || blocking(operation.stream) {
            sides[usize::from(is_null)].before(operation.launched_ns, clocks)
        } else {
            (None, false)
        };
        if let Some((_, completion)) = &null {
            wait_for(completion);
        }
        if unsure {
            ready.hi = None;
        }
        let completion = completion(&operation.work, &facts[index], &ready, ranks[index], simulated);
        if let Some(last) = last_in_stream.get_mut(operation.stream) {
            *last = Some((index, completion));
        }
        if is_null || blocking(operation.stream) {
            sides[usize::from(!is_null)].push(latest, index, completion);
        }
        let lo = |other: (usize, Completion)| (other.0, other.1.lo);
        all.push(Readiness { lo: ready.lo, hi: ready.hi, stream: stream.map(lo), null: null.map(lo) });
    }
    all
}

fn completion(work: &ObservedWork, facts: &Facts, ready: &Completion, rank: u64, simulated: bool) -> Completion {
    let seen = |at: i64| {
        let when = When::on_gpu(Stamp { at, rank });
        Completion { lo: when, hi: Some(when) }
    };
    match (work, facts.finish) {
        (ObservedWork::Memset, _) => *ready,
        (_, Some(finish)) => seen(finish),
        // Whatever a simulation did not finish never finished.
        (_, None) if simulated => seen(i64::MAX),
        (_, None) => Completion { lo: ready.lo, hi: None },
    }
}
