//! The rows of a study: how it is cut into them and they into shards, what a command says of the samples of one, and
//! how they are computed in parallel and handed over in order.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::StudyError;
use super::forecast::{Forecast, Order};
use crate::effort::{self, Counted, EarlyEnd, Here};
use crate::named::named;
use crate::statistics::Measure;

/// How many points, samples and rows there are. Rows are numbered from 0, point by point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Points of the grid.
    pub points: u64,
    /// Samples of each point.
    pub samples: u64,
    /// Samples of a row; the last row of a point may have fewer.
    pub per_row: u64,
}

/// The samples of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSamples {
    /// Number of the point.
    pub point: u64,
    /// Number of the first sample.
    pub first: u64,
    /// How many.
    pub samples: u64,
}

impl Layout {
    /// Rows of one point.
    pub fn rows_per_point(&self) -> u64 {
        self.samples.div_ceil(self.per_row.max(1))
    }

    /// All rows. No study has more than 2^63, which its reader checks.
    pub fn rows(&self) -> u64 {
        self.points.saturating_mul(self.rows_per_point())
    }

    /// Where row number `row` stands.
    pub fn place(&self, row: u64) -> RowSamples {
        let each = self.rows_per_point().max(1);
        let first = (row % each).saturating_mul(self.per_row);
        RowSamples { point: row / each, first, samples: self.per_row.min(self.samples.saturating_sub(first)) }
    }

    /// Samples of the first `done` rows of a shard.
    pub fn samples_of(&self, shard: Shard, done: u64) -> u64 {
        let each = self.rows_per_point();
        // Every row is full but the last of each point.
        let missing = self.per_row.saturating_sub(self.place(each.saturating_sub(1)).samples);
        let is_done = |row: u64| row % shard.count == shard.index && row / shard.count < done;
        let short = if missing == 0 { 0 } else { (1..=self.points).filter(|point| is_done(point * each - 1)).count() };
        done.saturating_mul(self.per_row).saturating_sub(short as u64 * missing)
    }
}

/// One of `count` parts of a study: rows `index`, `index + count`, `index + 2 count`, …, so that expensive points
/// are spread over all shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    count: u64,
    index: u64,
}

/// Most shards of a study: merging holds a little of each in memory.
const MAX_SHARDS: u64 = 1 << 16;

impl Shard {
    /// The name of the file of a shard's rows; that of the whole study is also that of merged rows.
    pub fn file_name(self) -> String {
        match self {
            Self::WHOLE => "rows.csv".to_owned(),
            _ => format!("rows-{}-of-{}.csv", self.index, self.count),
        }
    }

    /// The whole study.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Shard `index`, from 0, of `count`; `None` if there is no such shard.
    pub fn new(index: u64, count: u64) -> Option<Self> {
        (index < count && count <= MAX_SHARDS).then_some(Self { count, index })
    }

    /// Its number, from 0.
    pub fn index(self) -> u64 {
        self.index
    }

    /// Into how many the study is cut.
    pub fn count(self) -> u64 {
        self.count
    }

    /// How many of `rows` rows are its own.
    pub fn rows(self, rows: u64) -> u64 {
        rows.saturating_sub(self.index).div_ceil(self.count)
    }

    /// The number of its `own`-th row in the whole study.
    pub fn row(self, own: u64) -> u64 {
        own * self.count + self.index
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok();
        text.split_once('/')
            .and_then(|(index, count)| Self::new(number(index)?, number(count)?))
            .ok_or_else(|| format!("expected I/N with I from 0 to N - 1 and N up to {MAX_SHARDS}, for example 0/4"))
    }
}

named! {
    /// Which command a study repeats.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StudyCommand: ALL {
        /// `gpusched merged-sm`
        MergedSm = "merged-sm",
        /// `gpusched tasks curve`
        TasksCurve = "tasks curve",
        /// `gpusched tasks curve --segments`
        TasksSegments = "tasks segments",
        /// `gpusched evr`
        Evr = "evr",
        /// `gpusched analyze`
        Analyze = "analyze",
        /// `gpusched simulate`
        Simulate = "simulate",
    }
}

impl StudyCommand {
    /// Samples of a row if the file does not say: some 10 ms of work.
    pub(crate) const fn samples_per_row(self) -> u64 {
        match self {
            Self::MergedSm => 1_000,
            Self::TasksCurve => 100,
            Self::TasksSegments | Self::Evr | Self::Analyze | Self::Simulate => 1,
        }
    }
}

/// What a study repeats: a command whose samples depend on the point, the seed and the sample's number only.
pub(crate) trait Experiment: Sync {
    /// What one thread needs to compute rows.
    fn worker(&self) -> Worker<'_>;
}

/// Computes the values of rows, each by its point and samples, or says why a sample cannot be computed: fields
/// separated by commas, none of which contains a line end. What it keeps between rows saves time, and changes nothing.
pub(crate) type Worker<'e> = Box<dyn FnMut(u64, Range<u64>) -> Result<String, String> + 'e>;

/// One point of a study's grid: what its samples are, and what is asked of them.
pub(super) trait Point: Send + Sync + 'static {
    /// What a thread keeps from one row to the next: it saves time, and changes nothing.
    type Kept<'p>: Default
    where
        Self: 'p;

    /// Names of a row's values, separated by commas.
    fn columns() -> &'static str;

    /// The values of one row, as of a [`Worker`].
    fn values<'p>(&'p self, samples: Range<u64>, kept: &mut Self::Kept<'p>) -> Result<String, String>;

    /// What is drawn at a sample, as a file that the command takes.
    ///
    /// # Errors
    /// Why there is none.
    fn input(&self, _sample: u64) -> Result<String, String> {
        Err("what its samples draw is no file".to_owned())
    }

    /// Sums up the rows of the point.
    fn tally(&self) -> Box<dyn Tally>;
}

/// A study of any command: its points, by number.
pub(super) trait StudyExperiment: Experiment + Send {
    /// As [`Point::columns`].
    fn columns(&self) -> &'static str;

    /// As [`Point::input`].
    fn input(&self, point: u64, sample: u64) -> Result<String, String>;

    /// As [`Point::tally`]; `None`: there is no such point.
    fn tally(&self, point: u64) -> Option<Box<dyn Tally>>;
}

/// All points of a study.
pub(super) struct Points<P>(pub(super) Vec<P>);

impl<P: Point> Experiment for Points<P> {
    fn worker(&self) -> Worker<'_> {
        let mut kept = P::Kept::default();
        Box::new(move |point, samples| numbered(&self.0, point)?.values(samples, &mut kept))
    }
}

impl<P: Point> StudyExperiment for Points<P> {
    fn columns(&self) -> &'static str {
        P::columns()
    }

    fn input(&self, point: u64, sample: u64) -> Result<String, String> {
        numbered(&self.0, point)?.input(sample)
    }

    fn tally(&self, point: u64) -> Option<Box<dyn Tally>> {
        Some(numbered(&self.0, point).ok()?.tally())
    }
}

fn numbered<P>(points: &[P], number: u64) -> Result<&P, String> {
    let found = usize::try_from(number).ok().and_then(|number| points.get(number));
    found.ok_or_else(|| format!("there is no point {number}"))
}

/// Sums up rows of one point, in their order.
pub(crate) trait Tally: Send {
    /// Adds a row; `None` if its values are not those of the command.
    fn add(&mut self, samples: u64, values: &str) -> Option<()>;

    /// What came out, by name. The names are the same for every point.
    fn measures(&self) -> Vec<(&'static str, Measure)>;
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

/// Whoever looks how far the work is.
struct Watch<'a> {
    clock: &'a (dyn Fn() -> Duration + Sync),
    /// When the work began.
    start: Duration,
    computed: &'a (dyn Fn(u64, Duration) + Sync),
    forecast: Mutex<Forecast>,
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
    order: Order,
    watch: Option<Watch<'a>>,
    /// How many rows were begun.
    begun: AtomicU64,
    over: AtomicBool,
    hand: Mutex<Hand>,
    moved: Condvar,
    sink: Mutex<S>,
}

/// Computes all rows of an experiment here and now. `add` gets them in order, and gives `None` where values are not
/// those of the command. Returns whether all rows were computed.
///
/// # Errors
/// As [`Work::run`].
pub(super) fn compute_all(
    experiment: &dyn Experiment,
    (layout, command): (Layout, StudyCommand),
    mut add: impl FnMut(&StudyRow) -> Option<()> + Send,
) -> Result<bool, StudyError> {
    let work = Work { experiment, layout, shard: Shard::WHOLE, done: 0 };
    let wrong = |row: &StudyRow| StudyError::Values { row: row.number, command: command.name() };
    work.run(|rows| rows.iter().try_for_each(|row| add(row).ok_or_else(|| wrong(row))))
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
        self.run_in(Order::AS_THEY_STAND, None, sink)
    }

    /// The same while somebody looks how far it is: of each row, once it is computed, `computed` is told how many
    /// samples it has, and how long all others still take by `clock`, which gives the time since some instant. For that
    /// a few rows, which are spread over all, are computed before the others: those that come late may take much longer
    /// than those that come first.
    ///
    /// # Errors
    /// As [`Work::run`].
    pub fn run_watched<S>(
        &self,
        clock: &(dyn Fn() -> Duration + Sync),
        computed: &(dyn Fn(u64, Duration) + Sync),
        sink: S,
    ) -> Result<bool, StudyError>
    where
        S: FnMut(&[StudyRow]) -> Result<(), StudyError> + Send,
    {
        let rows = self.shard.rows(self.layout.rows()).saturating_sub(self.done);
        let forecast = Mutex::new(Forecast::new(rows));
        self.run_in(Order::spread(rows), Some(Watch { clock, start: clock(), computed, forecast }), sink)
    }

    fn run_in<S>(&self, order: Order, watch: Option<Watch<'_>>, sink: S) -> Result<bool, StudyError>
    where
        S: FnMut(&[StudyRow]) -> Result<(), StudyError> + Send,
    {
        let samples = self.layout.samples_of(self.shard, self.shard.rows(self.layout.rows()));
        effort::spend(Counted::States, samples.saturating_mul(STATES_PER_SAMPLE)).map_err(StudyError::EarlyEnd)?;
        let shared = Shared {
            work: self,
            rows: self.shard.rows(self.layout.rows()),
            order,
            watch,
            begun: AtomicU64::new(0),
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
            let turn = self.begun.fetch_add(1, Ordering::Relaxed);
            let own = self.work.done + self.order.row(turn);
            if own >= self.rows || !self.wait_for_room(own, self.order.is_ahead(turn)) {
                return;
            }
            let number = self.work.shard.row(own);
            let place = self.work.layout.place(number);
            let last = place.first + place.samples;
            let began = self.watch.as_ref().map(|watch| (watch.clock)());
            let values = here.within(|| worker(place.point, place.first..last));
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
            if let Some((watch, began)) = self.watch.as_ref().zip(began) {
                let now = (watch.clock)();
                let mut forecast = watch.forecast.lock().unwrap_or_else(PoisonError::into_inner);
                forecast.add(own - self.work.done, now.saturating_sub(began));
                let left = forecast.left(now.saturating_sub(watch.start));
                drop(forecast);
                (watch.computed)(place.samples, left);
            }
        }
    }

    /// Whether to go on, once the row is not too far ahead, unless it is meant to be.
    fn wait_for_room(&self, own: u64, is_ahead: bool) -> bool {
        let mut hand = self.lock();
        while own - hand.next >= AHEAD && !is_ahead && !self.over.load(Ordering::Relaxed) {
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
