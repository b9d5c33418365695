//! What repeats in a run is not simulated again.
//!
//! The state of a run is looked at whenever its slowest thread has come to the next iteration. If GPU and host are in a
//! state in which they were before, but for the time and for what was counted until then, all that comes is what came
//! then, until a thread ends or the run does. The cycle between the two is simulated once more, to check that the
//! operations and jobs that are still held repeat, too. If they do, what the cycle added to the sums is added once for
//! each further whole cycle; where rows are wanted, the pieces of the record that left in it leave again, moved in
//! time. The rest is simulated, as if time had stood still meanwhile; what depends on the time itself (the horizon,
//! when threads end) is told how much was skipped.
//!
//! States are compared whole ([`Canonical`]). Of those before one is kept: the first, the second after it, the fourth
//! after that and so on (R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980). So a cycle is
//! found within a few times its length and that of what comes before it, and where there is none, a state for each
//! iteration of the slowest thread is all that is lost. A state is as long as the backlog, which may grow without end:
//! it is written only where what was submitted since has paid for it.

use super::Pieces;
use crate::canonical::Canonical;
use crate::proven::OrMost;
use crate::run::{RunPiece, Sums};
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Shift};

/// What leaves again and again has so many operations at least, several cycles if one has less: each time costs.
const LEAST_OPERATIONS: u64 = 1_000;

/// Threads of which a state is written in each iteration; of twice as many in every second one, and so on.
const THREADS_A_STEP: u64 = 256;

/// Each operation that is submitted pays for so many in states that are written.
const PAID_BY_ONE: u64 = 4;

/// The search for a cycle begins anew so often at most, each time looking at all threads.
const MOST_BEGINS: u32 = 1_000;

/// A cycle of which more leaves is simulated each time: so much is kept at most \[bytes\].
const MOST_BYTES: usize = 8 << 20;

/// Looks for what repeats, of sums of the run and of what leaves.
#[derive(Debug)]
pub(super) struct Repeats<'s> {
    /// Whether what has left leaves again, and not only in sums.
    leaves_again: bool,
    /// When the state is looked at next: when this thread has come to this iteration.
    next: Option<(usize, u64)>,
    /// After how many iterations: a state has all threads, and what it costs is to be little beside what they do.
    step: u64,
    /// How often it may begin anew.
    begins_left: u32,
    /// Operations in states that were written.
    written: u64,
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
    /// Operations until then.
    operations: u64,
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
    /// Sums as they were when it began, if there are any.
    sums: Option<Sums<'s>>,
    /// What has left since, if it leaves again.
    pieces: Option<Vec<RunPiece>>,
}

/// A cycle that comes again so often.
#[derive(Debug)]
pub(super) struct Repeated {
    pieces: Vec<RunPiece>,
    /// From one to the next.
    shift: Shift,
    left: u64,
    /// The piece that comes next, of `pieces`.
    next: usize,
}

impl Iterator for Repeated {
    type Item = RunPiece;

    fn next(&mut self) -> Option<RunPiece> {
        if self.left == 0 {
            return None;
        }
        let piece = self.pieces.get_mut(self.next)?;
        piece.move_by(&self.shift);
        self.next += 1;
        let piece = piece.clone();
        if self.next == self.pieces.len() {
            (self.next, self.left) = (0, self.left - 1);
        }
        Some(piece)
    }
}

impl<'s> Repeats<'s> {
    /// Nothing was looked at.
    pub(super) fn new(pieces: &Pieces<'_>, leaves_again: bool) -> Self {
        let step = 1 + pieces.host.threads.len() as u64 / THREADS_A_STEP;
        let begins_left = MOST_BEGINS;
        let mut repeats = Self { leaves_again, next: None, step, begins_left, written: 0, kept: None, cycle: None };
        repeats.begin_anew(pieces);
        repeats
    }

    /// When the state is looked at next: when this thread has come to this iteration.
    pub(super) fn next(&self) -> Option<(usize, u64)> {
        self.next
    }

    /// Looks whenever the thread that is slowest now comes to its next iteration, or some later.
    fn begin_anew(&mut self, pieces: &Pieces<'_>) {
        self.kept = None;
        self.next = None;
        if self.begins_left > 0 {
            self.begins_left -= 1;
            let slowest = pieces.host.slowest(self.step);
            self.next = slowest.map(|(thread, iteration)| (thread, iteration + self.step));
        }
    }

    /// Whether states of so many operations have been paid for, which they are then.
    fn may_write(&mut self, operations: usize, pieces: &Pieces<'_>) -> bool {
        let written = self.written.saturating_add(operations as u64);
        let is_paid = written <= pieces.submitted().saturating_mul(PAID_BY_ONE);
        if is_paid {
            self.written = written;
        }
        is_paid
    }

    /// Something leaves while the run goes on.
    pub(super) fn leaves(&mut self, piece: &RunPiece) {
        let Some(Cycle { pieces: Some(kept), .. }) = &mut self.cycle else { return };
        kept.push(piece.clone());
        if kept.iter().map(|piece| piece.trace.bytes()).sum::<usize>() > MOST_BYTES {
            // It would be so again each time.
            (self.cycle, self.next) = (None, None);
        }
    }

    /// The thread has come to the iteration, or has ended. Gives what leaves now, and the cycle that comes again, if
    /// one does and leaves again.
    pub(super) fn look(&mut self, pieces: &mut Pieces<'s>) -> (Option<RunPiece>, Option<Repeated>) {
        let Some((thread, _)) = self.next else { return (None, None) };
        if self.cycle.is_some() {
            let piece = pieces.take_out();
            self.leaves(&piece);
            let Some(cycle) = self.cycle.take() else { return (Some(piece), None) };
            let is_again = cycle.begin.checked_add(cycle.period) == Some(pieces.now())
                && cycle.state.is_same(&whole_state(pieces));
            let period = cycle.period;
            let repeated = if is_again { repeat(cycle, pieces) } else { None };
            self.begin_anew(pieces);
            // It was as often as it could be.
            if pieces.gpu.cycles_left(period) < 3 {
                self.next = None;
            }
            return (Some(piece), repeated);
        }
        let Some(iteration) = pieces.host.iteration_of(thread) else {
            self.begin_anew(pieces);
            return (None, None);
        };
        self.next = Some((thread, iteration + self.step));
        let open = pieces.gpu.open();
        let Some(mut kept) = self.kept.take() else {
            self.kept = self.may_write(open, pieces).then(|| Kept::new(pieces, iteration, 1));
            return (None, None);
        };
        kept.compared += 1;
        if kept.may_be_again(pieces) && self.may_write(open, pieces) && state(pieces).is_same(&kept.state) {
            let piece = pieces.take_out();
            // Now and when the cycle is over.
            let held = 2 * pieces.held_bytes() / size_of::<OperationRecord>();
            if !self.may_write(held, pieces) {
                self.next = None;
                return (Some(piece), None);
            }
            let cycles = if self.leaves_again { kept.cycles(pieces) } else { 1 };
            self.next = Some((thread, iteration + (iteration - kept.iteration) * cycles));
            self.cycle = Some(Cycle {
                period: pieces.now().since(kept.at).repeated(cycles),
                state: whole_state(pieces),
                begin: pieces.now(),
                iterations: pieces.host.iterations(),
                operations: pieces.submitted(),
                sums: pieces.sums.clone(),
                pieces: self.leaves_again.then(Vec::new),
            });
            return (Some(piece), None);
        }
        if kept.compared >= kept.most && self.may_write(open, pieces) {
            kept = Kept::new(pieces, iteration, 2 * kept.most);
        }
        self.kept = Some(kept);
        (None, None)
    }
}

impl Kept {
    fn new(pieces: &Pieces<'_>, iteration: u64, most: u64) -> Self {
        let operations = pieces.submitted();
        Self { state: state(pieces), at: pieces.now(), iteration, operations, compared: 0, most }
    }

    /// How many cycles from this state on are kept together, so that it is worth the while; a few are left.
    fn cycles(&self, pieces: &Pieces<'_>) -> u64 {
        let wanted = LEAST_OPERATIONS / (pieces.submitted() - self.operations).max(1);
        wanted.min(pieces.gpu.cycles_left(pieces.now().since(self.at)) / 8).max(1)
    }

    /// Whether the state may be this one, by when threads come again and how much is open, which tell most apart.
    fn may_be_again(&self, pieces: &Pieces<'_>) -> bool {
        begin_state(pieces).begins(&self.state)
    }
}

/// What little tells most states apart.
fn begin_state(pieces: &Pieces<'_>) -> Canonical {
    let mut state = pieces.gpu.begin_state();
    pieces.host.write_releases(&pieces.gpu, &mut state);
    state.length(pieces.gpu.open());
    state
}

/// The state of host and GPU.
fn state(pieces: &Pieces<'_>) -> Canonical {
    let mut state = begin_state(pieces);
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

/// A cycle has just passed whole: adds it to the sums as often as it still comes, and gives it with how often.
fn repeat<'s>(cycle: Cycle<'s>, pieces: &mut Pieces<'s>) -> Option<Repeated> {
    let Cycle { period, iterations, operations, sums, pieces: kept, .. } = cycle;
    // What is under way at its end may reach into the next one: the end of the run must not come within that.
    let by_time = pieces.gpu.cycles_left(period).saturating_sub(1);
    let each = pieces.submitted() - operations;
    let numbers = u64::from(u32::MAX).saturating_sub(pieces.submitted() + pieces.skipped_operations);
    let by_numbers = numbers.checked_div(each).unwrap_or(0).saturating_sub(1);
    let by_threads = pieces.host.most_repeats(&iterations, period, pieces.now());
    let times = by_time.min(by_threads);
    // More than can be numbered is refused as it would be without this.
    if times == 0 || times > by_numbers {
        return None;
    }
    if let Some((sums, before)) = pieces.sums.as_mut().zip(sums) {
        sums.repeat(before, period, times);
    }
    let repeated = kept.map(|kept| {
        let to_u32 = |number: u64| u32::try_from(number).or_most();
        let passed = pieces.host.iterations().into_iter().zip(&iterations);
        let iterations = passed.map(|(now, before)| to_u32(now - before)).collect();
        let shift = Shift { time: period, operations: to_u32(each), iterations };
        pieces.passed.add(&shift, times);
        Repeated { pieces: kept, shift, left: times, next: 0 }
    });
    pieces.skipped_operations += each * times;
    pieces.gpu.skip(period.repeated(times));
    pieces.host.skip(&iterations, period, times);
    repeated
}
