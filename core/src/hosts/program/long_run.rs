//! Runs of any length in the memory of a short one: what happens is told of piece by piece and forgotten.
//!
//! A run up to some length is recorded as a whole. Of a longer one sums are kept; whoever wants the operations
//! themselves has it run again, which it does in the same way.

mod repeats;
mod window;

use super::simulate::refuse_too_many;
use super::{ProgramError, ProgramHost, SimulateOptions};
use crate::canonical::Canonical;
use crate::effort;
use crate::gpu::{Ended, Gpu, GpuInterface, GpuOptions, RunError};
use crate::proven::Proven;
use crate::run::{JobWindow, Responses, Run, RunPiece, Summary, Sums, TimesWanted};
use crate::scenario::{HostThread, Scenario};
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Piece, Shift};
use crate::workload::Items;

use repeats::{Repeated, Repeats};

/// How much of a run is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldAtMost {
    /// What is recorded as a whole \[bytes\], roughly.
    pub whole: usize,
    /// Of a longer run, what leaves together \[bytes\]; more is held only where it may not leave yet.
    pub piece: usize,
}

impl Default for HeldAtMost {
    /// What an eighth of a million launches of one block each take, and what is written in some milliseconds.
    fn default() -> Self {
        Self { whole: 16 << 20, piece: 8 << 20 }
    }
}

/// A run: its record, or of a long one what is known without.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one")]
pub enum AnyLength<'s> {
    /// All of it.
    Recorded(Run<'s>),
    /// It is longer than what is recorded.
    Long(LongRun<'s>),
}

/// What is told of each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// When things happened to it.
    Instants,
    /// Also where and when each of its blocks ran.
    Blocks,
}

/// A run of which only sums are kept.
#[derive(Debug)]
pub struct LongRun<'s> {
    sums: Sums<'s>,
    options: SimulateOptions<'static>,
    piece: usize,
}

/// Simulates a scenario as [`simulate_with`](super::simulate_with) does, in memory that does not grow with the length
/// of the run but by what response times its jobs have. What repeats is not simulated again, if that is not
/// [unwanted](SimulateOptions::skip_repeats): sums are multiplied, and rows are those of a cycle so much later.
///
/// # Errors
/// As [`simulate_with`](super::simulate_with).
pub fn simulate_any_length<'s>(
    scenario: &'s Scenario,
    options: SimulateOptions<'s>,
    held: HeldAtMost,
) -> Result<AnyLength<'s>, ProgramError> {
    // Data goes on its way through many jobs, and calls that were held are told one by one.
    let is_whole = !scenario.chains.is_empty() || scenario.threads.iter().any(HostThread::frees);
    let whole = if is_whole { usize::MAX } else { held.whole };
    simulate_summed(scenario, options, HeldAtMost { whole, ..held }, TimesWanted::Unwanted)
}

/// The same, of which chains are not asked for and response times of kernels may be.
///
/// # Errors
/// As [`simulate_any_length`].
pub fn simulate_summed<'s>(
    scenario: &'s Scenario,
    options: SimulateOptions<'s>,
    HeldAtMost { whole, piece }: HeldAtMost,
    kernel_times: TimesWanted,
) -> Result<AnyLength<'s>, ProgramError> {
    let (gpu, order, skip_repeats) = (options.gpu, options.order.clone(), options.skip_repeats);
    let mut pieces = Pieces::new(scenario, options, Need::Instants, (whole, piece))?;
    if let Some(ended) = pieces.run_until(whole, None)? {
        let Pieces { gpu, host, .. } = pieces;
        return Ok(AnyLength::Recorded(host.into_run(scenario, gpu.into_trace(), ended)?));
    }
    // Only pictures ask for it, which are of recorded runs.
    pieces.host.forget_observed();
    let mut sums = Sums::new(scenario, kernel_times);
    match pieces.sum_up(&mut sums, skip_repeats) {
        Ok(()) => {}
        // Messages tell of the whole run.
        Err(_) if sums.skipped() > Duration::ZERO => {
            let options = SimulateOptions { order, skip_repeats: false, ..gpu.into() };
            return simulate_summed(scenario, options, HeldAtMost { whole, piece }, kernel_times);
        }
        Err(error) => return Err(error),
    }
    let horizon = if sums.ended() == Ended::Cut { sums.end() } else { gpu.horizon };
    // With what repeats it may have more operations than are simulated at most.
    let gpu = GpuOptions { horizon, may_be_cut: false, max_operations: u32::MAX, ..gpu };
    let options = SimulateOptions { order, skip_repeats, ..gpu.into() };
    Ok(AnyLength::Long(LongRun { sums, options, piece }))
}

impl AnyLength<'_> {
    /// How it ended.
    pub fn ended(&self) -> Ended {
        match self {
            Self::Recorded(run) => run.ended,
            Self::Long(run) => run.sums.ended(),
        }
    }

    /// How many blocks the kernels have that were launched.
    pub fn blocks(&self) -> u64 {
        match self {
            Self::Recorded(run) => Summary::of(run).launches().map(|launch| u64::from(launch.work.blocks)).sum(),
            Self::Long(run) => run.sums.blocks(),
        }
    }

    /// As [`Summary::responses`].
    pub fn responses(&self) -> Vec<Responses<'_>> {
        match self {
            Self::Recorded(run) => Summary::of(run).responses(),
            Self::Long(run) => run.sums.responses().to_vec(),
        }
    }

    /// Jobs whose deadline was missed, those that never began included.
    pub fn misses(&self) -> u64 {
        match self {
            Self::Recorded(run) => run.jobs().misses(),
            Self::Long(run) => run.sums.misses(),
        }
    }

    /// As [`Summary::notes`].
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Recorded(run) => Summary::of(run).notes(),
            Self::Long(run) => run.sums.notes(),
        }
    }
}

impl<'s> LongRun<'s> {
    /// What is known of it.
    pub fn sums(&self) -> &Sums<'s> {
        &self.sums
    }

    /// Runs it again.
    pub(crate) fn pieces(&self, need: Need) -> Pieces<'s> {
        let pieces =
            effort::unlimited(|| Pieces::new(self.sums.scenario(), self.options.clone(), need, (0, self.piece)));
        let mut pieces = pieces.proven("it has run before");
        pieces.host.forget_observed();
        pieces.repeats = self.options.skip_repeats.then(|| Repeats::new(&pieces));
        pieces
    }
}

/// A run that is told of piece by piece.
#[derive(Debug)]
pub(crate) struct Pieces<'s> {
    gpu: Gpu,
    host: ProgramHost<'s>,
    need: Need,
    items: Items,
    jobs: JobWindow<'s>,
    /// What leaves together at least, and what is held at most before something does, if it can \[bytes\].
    least: usize,
    most: usize,
    is_over: bool,
    /// Operations beside those of the run, which came again.
    skipped_operations: u64,
    /// What repeats of what leaves, if that is looked for, and what comes again now.
    repeats: Option<Repeats<'static>>,
    repeated: Option<Repeated>,
    /// How far what is simulated is from when it comes.
    passed: Shift,
}

impl<'s> Pieces<'s> {
    fn new(
        scenario: &'s Scenario,
        options: SimulateOptions<'s>,
        need: Need,
        (whole, least): (usize, usize),
    ) -> Result<Self, ProgramError> {
        let SimulateOptions { gpu, order, progress, skip_repeats: _ } = options;
        refuse_too_many(scenario, &gpu)?;
        let gpu = Gpu::new(scenario.device(), gpu);
        // Not of more than will be held.
        let most_expected = whole / size_of::<OperationRecord>();
        let host = ProgramHost { order, progress, most_expected, ..ProgramHost::of(scenario) };
        let (items, jobs) = (scenario.catalogue.clone().into_items(), JobWindow::new(scenario));
        let (passed, repeats) = (Shift::none(scenario.threads.len()), None);
        Ok(Self {
            gpu,
            host,
            need,
            items,
            jobs,
            least,
            most: least,
            is_over: false,
            skipped_operations: 0,
            repeats,
            repeated: None,
            passed,
        })
    }
}

impl Pieces<'_> {
    /// Goes on until the run has ended, which is said, or so many bytes are held, or a thread has come to an iteration.
    fn run_until(&mut self, most: usize, thread: Option<(usize, u64)>) -> Result<Option<Ended>, ProgramError> {
        self.gpu.run_until(&mut self.host, |recorder, host| {
            recorder.can_be_parted()
                && (recorder.held_bytes() + host.held_bytes() >= most
                    || thread.is_some_and(|thread| host.has_reached(thread)))
        })
    }

    /// Adds all that is left of the run to `sums`.
    fn sum_up(&mut self, sums: &mut Sums<'_>, skip_repeats: bool) -> Result<(), ProgramError> {
        self.part(Some(sums));
        let mut repeats = skip_repeats.then(|| Repeats::new(self));
        loop {
            let next = repeats.as_ref().and_then(Repeats::next);
            if let Some(ended) = self.run_until(self.most, next)? {
                self.host.refuse_endless_wait(ended)?;
                self.rest(ended, Some(sums));
                let is_end = self.now().checked_add(sums.skipped()).is_some();
                return if is_end { Ok(()) } else { Err(RunError::EndOfTime.into()) };
            }
            if let Some(repeats) = repeats.as_mut().filter(|_| next.is_some_and(|next| self.host.has_reached(next))) {
                repeats.look(self, Some(sums));
            }
            if self.held_bytes() >= self.most {
                self.part(Some(sums));
            }
        }
    }

    fn held_bytes(&self) -> usize {
        self.gpu.observer().held_bytes() + self.host.held_bytes()
    }

    fn now(&self) -> Instant {
        self.gpu.now()
    }

    pub(super) fn submitted(&self) -> u64 {
        self.gpu.submitted() as u64
    }

    /// Writes what is held of operations and jobs.
    fn write_held(&self, to: &mut Canonical) {
        let iterations = self.host.iterations();
        self.gpu.observer().write_state(&iterations, to);
        self.jobs.write_state(&iterations, to);
        self.host.write_spans(to);
    }

    /// What comes next of the run, the last of which is all that had not left when it ended.
    fn advance(&mut self) -> Result<Option<RunPiece>, ProgramError> {
        while !self.is_over {
            if let Some(piece) = self.repeated.as_mut().and_then(Iterator::next) {
                return Ok(Some(piece));
            }
            let next = self.repeats.as_ref().and_then(Repeats::next);
            if let Some(ended) = self.run_until(self.most, next)? {
                self.is_over = true;
                self.host.refuse_endless_wait(ended)?;
                return Ok(Some(self.rest(ended, None)));
            }
            let piece;
            if let Some(mut repeats) = self.repeats.take() {
                if next.is_some_and(|next| self.host.has_reached(next)) {
                    (piece, self.repeated) = repeats.look(self, None);
                } else {
                    piece = self.part(None);
                    if let Some(piece) = &piece {
                        repeats.leaves(piece);
                    }
                }
                self.repeats = Some(repeats);
            } else {
                piece = self.part(None);
            }
            if piece.is_some() {
                return Ok(piece);
            }
        }
        Ok(None)
    }

    /// Takes out what may leave, if it is worth the while.
    fn part(&mut self, mut sums: Option<&mut Sums<'_>>) -> Option<RunPiece> {
        self.take_out_blocks(sums.as_deref_mut());
        if self.held_bytes() < self.least / 2 {
            self.most = self.least;
            return None;
        }
        Some(self.take_out(sums))
    }

    /// Takes out the blocks that have completed, where nobody wants them.
    fn take_out_blocks(&mut self, mut sums: Option<&mut Sums<'_>>) {
        let (now, recorder) = self.gpu.observed();
        if self.need == Need::Instants {
            recorder.take_completed_blocks(now, |record, sm, block_ns| {
                if let Some(sums) = &mut sums {
                    sums.add_blocks(record, sm, block_ns);
                }
            });
        }
    }

    /// Takes out what may leave.
    fn take_out(&mut self, mut sums: Option<&mut Sums<'_>>) -> RunPiece {
        self.take_out_blocks(sums.as_deref_mut());
        let (now, recorder) = self.gpu.observed();
        self.jobs.extend(self.host.take_ended_iterations());
        let open = self.jobs.end_jobs(recorder.held(), |job| {
            if let Some(sums) = &mut sums {
                sums.add_job(job);
            }
        });
        let Piece { trace, turns } = recorder.take_before(open, now, &self.items);
        let jobs = self.jobs.jobs(now);
        self.jobs.forget(recorder.held());
        // If little could leave, much more may come before it is looked again.
        self.most = self.least.max(self.held_bytes().saturating_mul(2));
        if let Some(sums) = sums {
            sums.add(&trace);
        }
        let mut piece = RunPiece { trace, turns, jobs, over: self.jobs.passed() };
        piece.move_by(&self.passed);
        piece
    }

    /// Takes out what is left.
    fn rest(&mut self, ended: Ended, mut sums: Option<&mut Sums<'_>>) -> RunPiece {
        let (end, recorder) = self.gpu.observed();
        let Piece { trace, turns } = recorder.take_rest(std::mem::take(&mut self.items));
        self.jobs.extend(std::mem::take(&mut self.host.spans));
        if let Some(sums) = &mut sums {
            sums.end_at(ended, end);
            sums.add(&trace);
        }
        let skipped = (self.host.skipped_iterations(), self.host.skipped);
        let jobs = self.jobs.end(trace.numbered(), (ended, end), skipped, |job| {
            if let Some(sums) = &mut sums {
                sums.add_job(job);
            }
        });
        if let Some(sums) = sums {
            sums.leave_out(&trace, &jobs);
            sums.close(&jobs.backlog);
        }
        // All of them.
        let over = vec![u32::MAX; self.host.threads.len()];
        let mut piece = RunPiece { trace, turns, jobs, over };
        piece.move_by(&self.passed);
        piece
    }
}

impl Iterator for Pieces<'_> {
    type Item = RunPiece;

    fn next(&mut self) -> Option<RunPiece> {
        effort::unlimited(|| self.advance()).proven("what ran once runs in the same way again")
    }
}
