//! Runs of any length in the memory of a short one: what happens is told of piece by piece and forgotten.
//!
//! A run up to some length is recorded as a whole. A longer one is summed up while its pieces leave; whoever wants the
//! operations is told of them then, or later of those that were kept. Where they were not, it runs again, which it does
//! in the same way.

mod repeats;
mod window;

use std::ops::ControlFlow;
use std::sync::Arc;

use super::simulate::refuse_too_many;
use super::{ProgramError, ProgramHost, SimulateOptions};
use crate::canonical::Canonical;
use crate::effort::{self, EarlyEnd};
use crate::gpu::{Ended, Gpu, GpuInterface, GpuOptions, RunError};
use crate::proven::Proven;
use crate::run::{JobWindow, Responses, Run, RunPiece, SmUtilization, Summary, Sums, TimesWanted, each_response};
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
    /// Of a longer run, what is kept of its operations, without their blocks, for whoever lists them \[bytes\]. If they
    /// are more, or repeat, it runs again for that.
    pub rows: usize,
}

impl Default for HeldAtMost {
    /// What an eighth of a million launches of one block each take, what is written in some milliseconds, and what a
    /// million launches take.
    fn default() -> Self {
        Self { whole: 16 << 20, piece: 8 << 20, rows: 128 << 20 }
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

/// A run of which sums are kept, and its operations if they are few enough.
#[derive(Debug)]
pub struct LongRun<'s> {
    sums: Sums<'s>,
    options: SimulateOptions<'static>,
    piece: usize,
    kept: Option<Vec<Arc<RunPiece>>>,
}

/// Who is told of the pieces of a long run while it goes on.
pub(crate) enum PiecesFor<'r> {
    /// Nobody, but so many bytes of them are kept.
    Later(usize),
    /// Whoever lists them at once, until it breaks off.
    Now(&'r mut dyn FnMut(RunPiece) -> ControlFlow<()>),
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
    simulate_telling(scenario, options, held, PiecesFor::Later(held.rows))
}

/// The same, with pieces for somebody.
pub(crate) fn simulate_telling<'s>(
    scenario: &'s Scenario,
    options: SimulateOptions<'s>,
    held: HeldAtMost,
    pieces: PiecesFor<'_>,
) -> Result<AnyLength<'s>, ProgramError> {
    // Data goes on its way through many jobs, and calls that were held are told one by one.
    let is_whole = !scenario.chains.is_empty()
        || scenario.catalogue.synchronizes()
        || scenario.threads.iter().any(HostThread::frees);
    let whole = if is_whole { usize::MAX } else { held.whole };
    simulate_in_pieces(scenario, options, HeldAtMost { whole, ..held }, TimesWanted::Unwanted, pieces)
}

/// The same, of which neither chains nor operations are asked for and response times of kernels may be.
///
/// # Errors
/// As [`simulate_any_length`].
pub fn simulate_summed<'s>(
    scenario: &'s Scenario,
    options: SimulateOptions<'s>,
    held: HeldAtMost,
    kernel_times: TimesWanted,
) -> Result<AnyLength<'s>, ProgramError> {
    simulate_in_pieces(scenario, options, held, kernel_times, PiecesFor::Later(0))
}

fn simulate_in_pieces<'s>(
    scenario: &'s Scenario,
    options: SimulateOptions<'s>,
    held: HeldAtMost,
    kernel_times: TimesWanted,
    wanted: PiecesFor<'_>,
) -> Result<AnyLength<'s>, ProgramError> {
    let (gpu, order, skip_repeats) = (options.gpu, options.order.clone(), options.skip_repeats);
    let mut pieces = Pieces::new(scenario, options, Need::Instants, (held.whole, held.piece))?;
    if let Some(ended) = pieces.run_until(held.whole, None)? {
        let Pieces { gpu, host, .. } = pieces;
        return Ok(AnyLength::Recorded(host.into_run(scenario, gpu.into_trace(), ended)?));
    }
    // Only pictures ask for it, which are of recorded runs.
    pieces.host.forget_observed();
    pieces.sums = Some(Sums::new(scenario, kernel_times));
    pieces.repeats = skip_repeats.then(|| Repeats::new(&pieces, matches!(wanted, PiecesFor::Now(_))));
    let kept = match pieces.all_for(wanted) {
        Ok(kept) => kept,
        // Messages tell of the whole run.
        Err(_) if pieces.skipped() > Duration::ZERO => {
            let options = SimulateOptions { order, skip_repeats: false, ..gpu.into() };
            return simulate_in_pieces(scenario, options, held, kernel_times, PiecesFor::Later(0));
        }
        Err(error) => return Err(error),
    };
    let sums = pieces.sums.proven("all of them were summed up");
    let horizon = if sums.ended() == Ended::Cut { sums.end() } else { gpu.horizon };
    // With what repeats it may have more operations than are simulated at most.
    let gpu = GpuOptions { horizon, may_be_cut: false, max_operations: u32::MAX, ..gpu };
    let options = SimulateOptions { order, skip_repeats, ..gpu.into() };
    Ok(AnyLength::Long(LongRun { sums, options, piece: held.piece, kept }))
}

/// A run of any length, for whoever tells of it: its record, or what is known of a long one.
#[derive(Debug, Clone, Copy)]
pub enum AnyRun<'a> {
    /// A run with its record, or something that was recorded elsewhere.
    Recorded(Summary<'a>),
    /// A long run, whose operations are told of piece by piece.
    Long(&'a LongRun<'a>),
}

impl<'a> From<Summary<'a>> for AnyRun<'a> {
    fn from(summary: Summary<'a>) -> Self {
        Self::Recorded(summary)
    }
}

impl<'a> From<&'a AnyLength<'_>> for AnyRun<'a> {
    fn from(run: &'a AnyLength<'_>) -> Self {
        match run {
            AnyLength::Recorded(run) => Self::Recorded(Summary::of(run)),
            AnyLength::Long(run) => Self::Long(run),
        }
    }
}

impl<'a> AnyRun<'a> {
    /// What its record tells, or else its sums.
    fn of<T>(self, record: impl FnOnce(Summary<'a>) -> T, sums: impl FnOnce(&'a Sums<'a>) -> T) -> T {
        match self {
            Self::Recorded(summary) => record(summary),
            Self::Long(run) => sums(&run.sums),
        }
    }

    /// What was simulated.
    pub fn scenario(self) -> &'a Scenario {
        self.of(|summary| summary.scenario, Sums::scenario)
    }

    /// All that was recorded, if it is there.
    pub fn record(self) -> Option<Summary<'a>> {
        self.of(Some, |_| None)
    }

    /// How it ended.
    pub fn ended(self) -> Ended {
        self.of(|summary| summary.ended, Sums::ended)
    }

    /// As [`Trace::end`](crate::trace::Trace::end).
    pub fn end(self) -> Instant {
        self.of(|summary| summary.trace.end(), Sums::end)
    }

    /// As [`Summary::makespan`].
    pub fn makespan(self) -> Option<Instant> {
        self.of(|summary| summary.makespan(), Sums::makespan)
    }

    /// How many kernels were launched.
    pub fn launched(self) -> u64 {
        self.of(|summary| summary.launches().count() as u64, Sums::kernels)
    }

    /// How many copies were submitted.
    pub fn copied(self) -> u64 {
        self.of(|summary| summary.copies().count() as u64, Sums::copies)
    }

    /// How many blocks the kernels have that were launched.
    pub fn blocks(self) -> u64 {
        let recorded = |summary: Summary<'_>| summary.launches().map(|launch| u64::from(launch.work.blocks)).sum();
        self.of(recorded, Sums::blocks)
    }

    /// As [`Summary::responses`].
    pub fn responses(self) -> Vec<Responses<'a>> {
        self.of(|summary| summary.responses(), |sums| sums.responses().to_vec())
    }

    /// The same one by one, and without the single response times of a long run.
    pub(crate) fn each_response(self) -> Box<dyn Iterator<Item = Responses<'a>> + 'a> {
        match self {
            Self::Recorded(summary) => Box::new(each_response(summary.scenario, summary.jobs())),
            Self::Long(run) => Box::new(run.sums.responses().iter().map(Responses::without_single_ones)),
        }
    }

    /// Jobs whose deadline was missed, those that never began included.
    pub fn misses(self) -> u64 {
        self.of(|summary| summary.jobs().misses(), Sums::misses)
    }

    /// As [`Summary::utilization`].
    pub fn utilization(self) -> Vec<SmUtilization> {
        self.of(|summary| summary.utilization(), Sums::utilization)
    }

    /// As [`Summary::notes`].
    pub fn notes(self) -> Vec<String> {
        self.of(|summary| summary.notes(), Sums::notes)
    }
}

impl<'s> LongRun<'s> {
    /// What is known of it.
    pub fn sums(&self) -> &Sums<'s> {
        &self.sums
    }

    /// Its pieces: those that were kept, or else it runs again.
    pub(crate) fn pieces(&self, need: Need) -> Box<dyn Iterator<Item = Arc<RunPiece>> + '_> {
        match &self.kept {
            Some(kept) if need == Need::Instants => Box::new(kept.iter().cloned()),
            _ => Box::new(self.again(need).map(Arc::new)),
        }
    }

    /// Runs it again.
    pub(crate) fn again(&self, need: Need) -> Pieces<'s> {
        let pieces =
            effort::unlimited(|| Pieces::new(self.sums.scenario(), self.options.clone(), need, (0, self.piece)));
        let mut pieces = pieces.proven("it has run before");
        pieces.host.forget_observed();
        pieces.repeats = self.options.skip_repeats.then(|| Repeats::new(&pieces, true));
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
    /// What all that has left comes to, if that is asked for.
    sums: Option<Sums<'s>>,
    /// What leaves together at least, what is held at most before blocks leave, and before operations do, if they can
    /// \[bytes\].
    least: usize,
    most: usize,
    most_with_operations: Option<usize>,
    is_over: bool,
    /// Operations beside those of the run, which came again.
    skipped_operations: u64,
    /// What repeats of what leaves, if that is looked for, and what comes again now.
    repeats: Option<Repeats<'s>>,
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
        let passed = Shift::none(scenario.threads.len());
        Ok(Self {
            gpu,
            host,
            need,
            items,
            jobs,
            sums: None,
            least,
            most: least,
            most_with_operations: None,
            is_over: false,
            skipped_operations: 0,
            repeats: None,
            repeated: None,
            passed,
        })
    }

    /// Goes on until the run has ended, which is said, or so many bytes are held, or a thread has come to an iteration.
    fn run_until(&mut self, most: usize, thread: Option<(usize, u64)>) -> Result<Option<Ended>, ProgramError> {
        self.gpu.run_until(&mut self.host, |recorder, host| {
            recorder.can_be_parted()
                && (recorder.held_bytes() + host.held_bytes() >= most
                    || thread.is_some_and(|thread| host.has_reached(thread)))
        })
    }

    /// Takes out all of them; gives those that are kept, if they all are.
    fn all_for(&mut self, mut wanted: PiecesFor<'_>) -> Result<Option<Vec<Arc<RunPiece>>>, ProgramError> {
        let (mut kept, mut bytes) = (Some(Vec::new()), 0);
        while let Some(piece) = self.advance()? {
            match &mut wanted {
                PiecesFor::Now(tell) => {
                    kept = None;
                    if tell(piece).is_break() {
                        return Err(EarlyEnd::Stopped.into());
                    }
                }
                PiecesFor::Later(most) => {
                    bytes += piece.bytes();
                    // What repeats is skipped here, and costs little when it runs again.
                    if bytes > *most || self.skipped() > Duration::ZERO {
                        kept = None;
                    }
                    if let Some(kept) = &mut kept {
                        kept.push(Arc::new(piece));
                    }
                }
            }
        }
        self.now().checked_add(self.skipped()).map(|_| kept).ok_or(RunError::EndOfTime.into())
    }

    /// How much of the time was not summed up, as all that came in it had come before.
    fn skipped(&self) -> Duration {
        self.sums.as_ref().map_or(Duration::ZERO, Sums::skipped)
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
                return Ok(Some(self.rest(ended)));
            }
            let piece;
            if let Some(mut repeats) = self.repeats.take() {
                if next.is_some_and(|next| self.host.has_reached(next)) {
                    (piece, self.repeated) = repeats.look(self);
                } else {
                    piece = self.part();
                    if let Some(piece) = &piece {
                        repeats.leaves(piece);
                    }
                }
                self.repeats = Some(repeats);
            } else {
                piece = self.part();
            }
            if piece.is_some() {
                return Ok(piece);
            }
        }
        Ok(None)
    }

    /// Takes out what may leave, if it is worth the while.
    fn part(&mut self) -> Option<RunPiece> {
        self.take_out_blocks();
        let held = self.hold_more();
        let most = *self.most_with_operations.get_or_insert(self.least.max(held.saturating_mul(2)));
        (held >= most).then(|| self.take_out())
    }

    /// Blocks leave again when more is held than now, at least by a byte, as the run would not go on otherwise. Gives
    /// how much is held.
    fn hold_more(&mut self) -> usize {
        let held = self.held_bytes();
        self.most = self.least.max(held.saturating_add(self.least / 2 + 1));
        held
    }

    /// Takes out the blocks that have completed, where nobody wants them.
    fn take_out_blocks(&mut self) {
        let (now, recorder) = self.gpu.observed();
        if self.need == Need::Instants {
            recorder.take_completed_blocks(now, |record, sm, block_ns| {
                if let Some(sums) = &mut self.sums {
                    sums.add_blocks(record, sm, block_ns);
                }
            });
        }
    }

    /// Takes out what may leave.
    fn take_out(&mut self) -> RunPiece {
        self.take_out_blocks();
        let (now, recorder) = self.gpu.observed();
        self.jobs.extend(self.host.take_ended_iterations());
        let open = self.jobs.end_jobs(recorder.held(), |job| {
            if let Some(sums) = &mut self.sums {
                sums.add_job(job);
            }
        });
        let Piece { trace, turns } = recorder.take_before(open, now, &self.items);
        let jobs = self.jobs.jobs(now);
        self.jobs.forget(recorder.held());
        // If little could leave, much more may come before it is looked again.
        let held = self.hold_more();
        self.most_with_operations = Some((self.least / 2).max(held.saturating_mul(2)));
        if let Some(sums) = &mut self.sums {
            sums.add(&trace);
        }
        let mut piece = RunPiece { trace, turns, jobs, over: self.jobs.passed() };
        piece.move_by(&self.passed);
        piece
    }

    /// Takes out what is left.
    fn rest(&mut self, ended: Ended) -> RunPiece {
        let (end, recorder) = self.gpu.observed();
        let Piece { trace, turns } = recorder.take_rest(std::mem::take(&mut self.items));
        self.jobs.extend(std::mem::take(&mut self.host.spans));
        if let Some(sums) = &mut self.sums {
            sums.end_at(ended, end);
            sums.add(&trace);
        }
        let skipped = (self.host.skipped_iterations(), self.host.skipped);
        let jobs = self.jobs.end(trace.numbered(), (ended, end), skipped, |job| {
            if let Some(sums) = &mut self.sums {
                sums.add_job(job);
            }
        });
        if let Some(sums) = &mut self.sums {
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
