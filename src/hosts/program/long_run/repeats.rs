//! What repeats in a run is not simulated again.
//!
//! The state of a run is looked at whenever its slowest thread has come to the next iteration. If GPU and host are in a
//! state in which they were before, but for the time and for what was counted until then, all that comes is what came
//! then, until a thread ends or the run does. The cycle between the two is run once more, to see also what is held of
//! operations and jobs come again: if it does, what was added to the sums in between is added as often as the cycle
//! still comes whole. The rest is simulated, as if time had stood still meanwhile; what depends on the time itself (the
//! horizon, when threads end) is told how much was skipped.
//!
//! States are compared whole ([`Canonical`]). Of those before one is kept: the first, the second after it, the fourth
//! after that and so on (R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980). So a cycle is
//! found within a few times its length and that of what comes before it, and where there is none, a state for each
//! iteration of the slowest thread is all that is lost.

use super::Pieces;
use crate::canonical::Canonical;
use crate::run::Sums;
use crate::time::{Duration, Instant};

/// Looks for what repeats.
#[derive(Debug)]
pub(super) struct Repeats<'s> {
    /// When the state is looked at next: when this thread has come to this iteration.
    next: Option<(usize, u64)>,
    kept: Option<Kept>,
    cycle: Option<Cycle<'s>>,
}

/// A state with which others are compared.
#[derive(Debug)]
struct Kept {
    state: Canonical,
    at: Instant,
    /// In which the thread is that tells when to look.
    iteration: u64,
    /// How many were compared, and with how many another is kept.
    compared: u64,
    most: u64,
}

/// From one state on until it should come again.
#[derive(Debug)]
struct Cycle<'s> {
    period: Duration,
    state: Canonical,
    begin: Instant,
    iterations: Vec<u64>,
    operations: u64,
    sums: Sums<'s>,
}

impl<'s> Repeats<'s> {
    /// Nothing was looked at.
    pub(super) fn new(pieces: &Pieces<'_>) -> Self {
        let mut repeats = Self { next: None, kept: None, cycle: None };
        repeats.begin_anew(pieces);
        repeats
    }

    /// When the state is looked at next: when this thread has come to this iteration.
    pub(super) fn next(&self) -> Option<(usize, u64)> {
        self.next
    }

    /// Looks whenever the thread that is slowest now comes to its next iteration.
    fn begin_anew(&mut self, pieces: &Pieces<'_>) {
        self.kept = None;
        self.next = pieces.host.slowest().map(|(thread, iteration)| (thread, iteration + 1));
    }

    /// The thread has come to the iteration, or has ended.
    pub(super) fn look(&mut self, pieces: &mut Pieces<'_>, sums: &mut Sums<'s>) {
        let Some((thread, _)) = self.next else { return };
        if let Some(cycle) = self.cycle.take() {
            pieces.take_out(Some(sums));
            let is_again = cycle.begin.checked_add(cycle.period) == Some(pieces.now())
                && cycle.state.is_same(&whole_state(pieces));
            let period = cycle.period;
            if is_again {
                repeat(cycle, pieces, sums);
            }
            self.begin_anew(pieces);
            // It was as often as it could be.
            if pieces.gpu.cycles_left(period) < 3 {
                self.next = None;
            }
            return;
        }
        let Some(iteration) = pieces.host.iteration_of(thread) else { return self.begin_anew(pieces) };
        self.next = Some((thread, iteration + 1));
        let Some(kept) = &mut self.kept else {
            self.kept = Some(Kept::new(pieces, iteration, 1));
            return;
        };
        kept.compared += 1;
        let (compared, most) = (kept.compared, kept.most);
        if kept.is_again(pieces) {
            let period = pieces.now().since(kept.at);
            self.next = Some((thread, iteration + (iteration - kept.iteration)));
            pieces.take_out(Some(sums));
            self.cycle = Some(Cycle {
                period,
                state: whole_state(pieces),
                begin: pieces.now(),
                iterations: pieces.host.iterations(),
                operations: pieces.submitted(),
                sums: sums.clone(),
            });
        } else if compared == most {
            self.kept = Some(Kept::new(pieces, iteration, 2 * most));
        }
    }
}

impl Kept {
    fn new(pieces: &Pieces<'_>, iteration: u64, most: u64) -> Self {
        Self { state: state(pieces), at: pieces.now(), iteration, compared: 0, most }
    }

    /// Whether the state is this one. When threads come again tells most apart.
    fn is_again(&self, pieces: &Pieces<'_>) -> bool {
        let mut releases = pieces.gpu.begin_state();
        pieces.host.write_releases(&pieces.gpu, &mut releases);
        releases.begins(&self.state) && state(pieces).is_same(&self.state)
    }
}

/// The state of host and GPU.
fn state(pieces: &Pieces<'_>) -> Canonical {
    let mut state = pieces.gpu.begin_state();
    pieces.host.write_releases(&pieces.gpu, &mut state);
    pieces.host.write_state(&pieces.gpu, &mut state);
    pieces.gpu.write_state(&mut state);
    state
}

/// The same with what is held of operations and jobs.
fn whole_state(pieces: &Pieces<'_>) -> Canonical {
    let mut state = state(pieces);
    pieces.write_held(&mut state);
    state
}

/// A cycle has just passed whole: adds it to the sums as often as it still comes.
fn repeat<'s>(cycle: Cycle<'s>, pieces: &mut Pieces<'_>, sums: &mut Sums<'s>) {
    let Cycle { period, iterations, operations, sums: before, .. } = cycle;
    // What is under way at its end may reach into the next one: the end of the run must not come within that.
    let by_time = pieces.gpu.cycles_left(period).saturating_sub(1);
    let each = pieces.submitted() - operations;
    let numbers = u64::from(u32::MAX).saturating_sub(pieces.submitted() + pieces.skipped_operations);
    let by_numbers = numbers.checked_div(each).unwrap_or(0).saturating_sub(1);
    let by_threads = pieces.host.most_repeats(&iterations, period, pieces.now());
    let times = by_time.min(by_threads);
    // More than can be numbered is refused as it would be without this.
    if times == 0 || times > by_numbers {
        return;
    }
    pieces.skipped_operations += each * times;
    pieces.gpu.skip(period.repeated(times));
    pieces.host.skip(&iterations, period, times);
    sums.repeat(before, period, times);
}
