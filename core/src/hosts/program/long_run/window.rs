//! What a picture of a part of a long run needs of its record, and no more.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{LongRun, Need, Pieces};
use crate::run::{IterationSpan, Job, Run, RunPiece};
use crate::scenario::{HostThread, Scenario, Step};
use crate::time::Instant;
use crate::trace::{NEVER, OperationRecord, RecordPart};
use crate::workload::Placement;

/// Whether all of a job has happened before a piece left: of others a piece does not tell when they finish.
fn is_over(piece: &RunPiece, job: &Job) -> bool {
    piece.over.get(job.thread as usize).is_some_and(|over| job.iteration < *over)
}

/// When a job of a piece is over and its deadline has passed.
fn over_at(piece: &RunPiece, job: &Job) -> Instant {
    let finished = job.finished.filter(|_| is_over(piece, job)).unwrap_or(Instant::MAX);
    finished.max(job.due().unwrap_or_default())
}

/// Whether an operation ends at an instant or later.
fn ends_from(instant: Instant, record: &OperationRecord) -> bool {
    record.finish().is_none_or(|finish| finish >= instant)
}

impl<'s> LongRun<'s> {
    /// Whether a picture of a part of a run can do with the record of that part ([`Self::part`]): nothing in it tells
    /// of what is long over, as data on its way through chains, events that are waited for, what hosts do on their
    /// cores, turns of contexts, and random placement, which goes by numbers, would.
    pub fn has_parts(scenario: &Scenario) -> bool {
        let tells_of_the_past = !scenario.chains.is_empty()
            || scenario.catalogue.is_time_sliced()
            || scenario.placement == Placement::Random;
        let waits = |thread: &HostThread| thread.steps.iter().any(|step| matches!(step, Step::Wait(..)));
        !tells_of_the_past && !scenario.threads.iter().any(|thread| thread.works() || waits(thread))
    }

    /// The run as far as a picture of `window` shows it: the operations under way in that time, those that
    /// were while these waited, and jobs that are due then, with all that happened to them. Times and
    /// numbers of jobs are those of the whole run; operations count from 0.
    pub fn part(&self, window: RangeInclusive<Instant>) -> Run<'s> {
        let (from, to) = window.into_inner();
        let since = self.since(from, to);
        let mut part = RecordPart::default();
        // With when they are over.
        let mut jobs: BTreeMap<(u32, u32), (Job, Instant)> = BTreeMap::new();
        for piece in self.all_blocks() {
            let is_last = self.is_after(&piece, to);
            let of_piece = piece.jobs.begun.iter();
            jobs.extend(of_piece.map(|job| ((job.thread, job.iteration), (*job, over_at(&piece, job)))));
            // Those of a thread have no gaps, also where one is over before an earlier one. The last of each tells how
            // many there have been.
            let last: BTreeMap<u32, u32> = jobs.keys().copied().collect();
            let mut kept = None;
            jobs.retain(|&(thread, iteration), (_, over_at)| {
                if *over_at >= since || last.get(&thread) == Some(&iteration) {
                    kept = Some(thread);
                }
                kept == Some(thread)
            });
            part.add(piece.trace, |piece| is_last || piece.operations().iter().any(|record| ends_from(since, record)));
            if is_last {
                break;
            }
        }
        let iterations = jobs.into_values().map(|(job, _)| IterationSpan {
            thread: job.thread,
            iteration: job.iteration,
            released: job.released,
            start: job.began,
            end: job.host_finished.unwrap_or(NEVER),
        });
        Run {
            scenario: Cow::Borrowed(self.sums.scenario()),
            trace: part.record(self.sums.end()),
            ended: self.sums.ended(),
            iterations: iterations.collect(),
            cores: Vec::new(),
            // Runs with such calls are recorded as a whole.
            held_calls: Vec::new(),
        }
    }

    /// All of it, as it is simulated.
    fn all_blocks(&self) -> Pieces<'s> {
        let mut pieces = self.again(Need::Blocks);
        // What comes again has the order in queues of the first time.
        pieces.repeats = None;
        pieces
    }

    /// When the first operation was launched that is under way from `from` to `to`, or is of a job that is due then.
    fn since(&self, from: Instant, to: Instant) -> Instant {
        let mut since = from;
        // Jobs that are not over when a piece leaves are in a later one again.
        let mut began: BTreeMap<(u32, u32), Instant> = BTreeMap::new();
        for piece in self.all_blocks() {
            for job in &piece.jobs.begun {
                let key = (job.thread, job.iteration);
                if over_at(&piece, job) >= from && job.began <= to {
                    began.insert(key, job.began);
                } else {
                    began.remove(&key);
                }
            }
            let under_way = piece.trace.operations().iter().filter(|record| ends_from(from, record));
            since = under_way.map(OperationRecord::launched).fold(since, Instant::min);
            if self.is_after(&piece, to) {
                break;
            }
        }
        began.into_values().fold(since, Instant::min)
    }

    /// Whether all that comes after a piece is launched, released and due after an instant.
    fn is_after(&self, piece: &RunPiece, to: Instant) -> bool {
        let threads = &self.sums.scenario().threads;
        let launched = piece.trace.operations().last().is_some_and(|record| record.launched() > to);
        let is_due_later = |(number, thread): (u32, &HostThread)| {
            let last = piece.jobs.begun.iter().filter(|job| job.thread == number).max_by_key(|job| job.iteration);
            let next = last.map_or(0, |job| u64::from(job.iteration) + 1);
            if !thread.does_jobs() || thread.iterations.is_some_and(|iterations| next >= iterations) {
                return true;
            }
            // A job that has submitted nothing is not in a piece before it is over: it may be under way.
            let released = match last {
                _ if thread.triggered_by.is_some() => return false,
                _ if thread.period.is_some() => thread.release_of(next),
                Some(job) => job.host_finished.unwrap_or(job.began),
                None => Instant::ZERO + thread.release,
            };
            released.saturating_add(thread.deadline().unwrap_or_default()) > to
        };
        let is_known = |job: &Job| is_over(piece, job) || job.due().is_none_or(|due| due > to);
        launched && piece.jobs.begun.iter().all(is_known) && (0..).zip(threads).all(is_due_later)
    }
}
