//! The rows of a shard, computed in parallel and handed over in order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::error::StudyError;
use super::layout::{Layout, RowSamples, Shard};
use crate::effort::{self, Counted, EarlyEnd, Here};

/// What a study repeats: a command whose samples depend on the point, the seed and the sample's number only.
pub(crate) trait Experiment: Sync {
    /// What one thread needs to compute rows.
    fn worker(&self) -> Box<dyn Worker + '_>;
}

/// Computes rows, one after another; what it keeps between them saves time, and changes nothing.
pub(crate) trait Worker {
    /// The values of one row: fields separated by commas, none of which contains a line end.
    ///
    /// # Errors
    /// Why a sample cannot be computed.
    fn values(&mut self, point: u64, samples: Range<u64>) -> Result<String, String>;
}

/// One row: what came out of a few samples of one point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyRow {
    /// Its number in the whole study.
    pub number: u64,
    /// Its samples.
    pub place: RowSamples,
    /// What came out, fields separated by commas.
    pub values: String,
}

/// Rows that may be ahead of the oldest unfinished one. Bounds memory if one row takes much longer than others.
const AHEAD: u64 = 4_096;

/// What a sample counts as where work is limited: most take a fraction of a millisecond.
const STATES_PER_SAMPLE: u64 = 100;

/// The rows to compute.
pub struct Work<'a> {
    /// What is repeated.
    pub(crate) experiment: &'a dyn Experiment,
    /// How many points, samples, rows.
    pub layout: Layout,
    /// Which of the rows.
    pub shard: Shard,
    /// Rows of the shard that exist already.
    pub done: u64,
}

/// What workers share.
struct Hand {
    /// Rows that are finished, and not yet handed over, by their number in the shard.
    finished: BTreeMap<u64, Result<StudyRow, StudyError>>,
    /// The number in the shard of the next row to hand over.
    next: u64,
    /// Whether a worker is handing over.
    busy: bool,
    failed: Option<StudyError>,
}

struct Shared<'a, S> {
    work: &'a Work<'a>,
    rows: u64,
    /// The number in the shard of the next row to compute.
    upcoming: AtomicU64,
    over: AtomicBool,
    hand: Mutex<Hand>,
    moved: Condvar,
    sink: Mutex<S>,
}

impl Work<'_> {
    /// Computes the rows on all threads of rayon's current pool. `sink` gets them in order, a few at a time, and never
    /// from two threads at once. Returns whether all rows were computed; once the work is stopped, the rest is left.
    ///
    /// # Errors
    /// The first error of a sample, by the order of rows, or of the sink. All rows before it were handed over. That it
    /// is too much.
    pub fn run<S>(&self, sink: S) -> Result<bool, StudyError>
    where
        S: FnMut(&[StudyRow]) -> Result<(), StudyError> + Send,
    {
        let samples = self.layout.samples_of(self.shard, self.shard.rows(self.layout.rows()));
        effort::spend(Counted::States, samples.saturating_mul(STATES_PER_SAMPLE)).map_err(StudyError::EarlyEnd)?;
        let shared = Shared {
            work: self,
            rows: self.shard.rows(self.layout.rows()),
            upcoming: AtomicU64::new(self.done),
            over: AtomicBool::new(false),
            hand: Mutex::new(Hand { finished: BTreeMap::new(), next: self.done, busy: false, failed: None }),
            moved: Condvar::new(),
            sink: Mutex::new(sink),
        };
        let here = effort::here();
        rayon::broadcast(|_| shared.worker(&here));
        let hand = shared.hand.into_inner().unwrap_or_else(PoisonError::into_inner);
        match effort::check() {
            Err(over) if over != EarlyEnd::Stopped => Err(over.into()),
            _ => hand.failed.map_or(Ok(hand.next >= shared.rows), Err),
        }
    }
}

/// Lets the other workers go if this one panics.
struct EndOnPanic<'a, S>(&'a Shared<'a, S>);

impl<S> Drop for EndOnPanic<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _hand = self.0.lock();
            self.0.over.store(true, Ordering::Relaxed);
            self.0.moved.notify_all();
        }
    }
}

impl<S> Shared<'_, S> {
    fn lock(&self) -> MutexGuard<'_, Hand> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: FnMut(&[StudyRow]) -> Result<(), StudyError> + Send> Shared<'_, S> {
    fn worker(&self, here: &Here) {
        let _end = EndOnPanic(self);
        let mut worker = self.work.experiment.worker();
        while here.within(effort::check).is_ok() && !self.over.load(Ordering::Relaxed) {
            let own = self.upcoming.fetch_add(1, Ordering::Relaxed);
            if own >= self.rows || !self.wait_for_room(own) {
                return;
            }
            let number = self.work.shard.row(own);
            let place = self.work.layout.place(number);
            let last = place.first + place.samples;
            let values = here.within(|| worker.values(place.point, place.first..last));
            if values.is_err() && here.within(effort::check).is_err() {
                // Nothing is wrong with it.
                return;
            }
            let computed = values.map(|values| StudyRow { number, place, values }).map_err(|what| StudyError::Sample {
                point: place.point,
                first: place.first,
                last: last - 1,
                what,
            });
            self.hand_over(own, computed);
        }
    }

    /// Whether to go on, once the row is not too far ahead.
    fn wait_for_room(&self, own: u64) -> bool {
        let mut hand = self.lock();
        while own - hand.next >= AHEAD && !self.over.load(Ordering::Relaxed) {
            hand = self.moved.wait(hand).unwrap_or_else(PoisonError::into_inner);
        }
        !self.over.load(Ordering::Relaxed)
    }

    fn fail(&self, hand: &mut Hand, error: StudyError) {
        hand.failed.get_or_insert(error);
        self.over.store(true, Ordering::Relaxed);
        self.moved.notify_all();
    }

    fn hand_over(&self, own: u64, computed: Result<StudyRow, StudyError>) {
        let mut hand = self.lock();
        hand.finished.insert(own, computed);
        // Whoever hands over already takes this row along.
        if hand.busy {
            return;
        }
        hand.busy = true;
        while hand.failed.is_none() {
            let (rows, failed) = hand.ready();
            if rows.is_empty() && failed.is_none() {
                break;
            }
            drop(hand);
            let written = if rows.is_empty() { Ok(()) } else { self.give(&rows) };
            hand = self.lock();
            match written {
                Ok(()) => hand.next += rows.len() as u64,
                Err(error) => self.fail(&mut hand, error),
            }
            if let Some(error) = failed {
                self.fail(&mut hand, error);
            }
            self.moved.notify_all();
        }
        hand.busy = false;
    }

    fn give(&self, rows: &[StudyRow]) -> Result<(), StudyError> {
        (self.sink.lock().unwrap_or_else(PoisonError::into_inner))(rows)
    }
}

impl Hand {
    /// The rows that come next, as far as they are finished, and the error that comes after them.
    fn ready(&mut self) -> (Vec<StudyRow>, Option<StudyError>) {
        let mut rows = Vec::new();
        while let Some(computed) = self.finished.remove(&(self.next + rows.len() as u64)) {
            match computed {
                Ok(row) => rows.push(row),
                Err(error) => return (rows, Some(error)),
            }
        }
        (rows, None)
    }
}
