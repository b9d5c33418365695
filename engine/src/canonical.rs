//! Canonical forms of states, to be compared: equal where two states differ in time and in what came before only.
//!
//! Each part of the simulation writes every field of its state that can affect what happens next. It takes itself apart
//! field by field, so that a new field does not compile until it is handled. Instants are written relative to now,
//! operations and other running numbers relative to the newest, so that equal situations at different times give equal
//! numbers. Numbers of two states are compared as they are; none stands for another.

use std::hash::{Hash, Hasher};

use crate::limits::count_turns;
use crate::time::{Duration, Instant};

/// What writing one element of a list costs, and comparing it, in turns of a loop.
const TURNS_OF_AN_ELEMENT: usize = 16;

/// A state.
#[derive(Debug, Clone)]
pub struct Canonical {
    numbers: Vec<u64>,
    now: Instant,
    /// Operations that were submitted so far.
    submitted: u64,
    /// How much has begun so far that completes.
    begun: u64,
    is_unique: bool,
}

impl Canonical {
    /// Of an instant, with what was counted until then; nothing is written.
    pub(crate) fn new(now: Instant, submitted: u64, begun: u64) -> Self {
        Self { numbers: Vec::new(), now, submitted, begun, is_unique: false }
    }

    /// Whether `other` is the same state at another time.
    pub fn is_same(&self, other: &Self) -> bool {
        !self.is_unique && !other.is_unique && self.numbers == other.numbers
    }

    /// Whether `other`, of which more is written, has begun like this one.
    pub fn begins(&self, other: &Self) -> bool {
        !self.is_unique && other.numbers.starts_with(&self.numbers)
    }

    /// It has something that no other state has, or of which it is not known what comes of it.
    pub fn is_like_no_other(&mut self) {
        self.is_unique = true;
    }

    pub fn number(&mut self, number: impl Into<u64>) {
        self.numbers.push(number.into());
    }

    pub fn length(&mut self, length: usize) {
        self.numbers.push(length as u64);
    }

    /// What has no part that depends on time or on what came before.
    pub fn value(&mut self, value: impl Hash) {
        value.hash(&mut Collect(&mut self.numbers));
    }

    /// An instant before or after the present one; [`Instant::MAX`] stands for never.
    pub fn instant(&mut self, at: Instant) {
        self.seen_from(self.now, at);
    }

    /// The same, as seen from another instant.
    pub(crate) fn seen_from(&mut self, from: Instant, at: Instant) {
        let is_never = at == Instant::MAX;
        // Differences of 64-bit numbers modulo 2^64 differ where the instants do.
        let since = if is_never { 0 } else { at.as_ns().wrapping_sub(from.as_ns()) };
        self.numbers.extend([u64::from(is_never), since]);
    }

    /// An instant that makes no difference once it has passed.
    pub(crate) fn future(&mut self, at: Instant) {
        self.instant(at.max(self.now));
    }

    pub(crate) fn duration(&mut self, duration: Duration) {
        self.number(duration.as_ns());
    }

    pub fn operation(&mut self, number: u32) {
        self.numbers.push(self.submitted.wrapping_sub(number.into()));
    }

    /// What began as number `begun`; nothing has number 0.
    pub(crate) fn begun(&mut self, begun: u64) {
        let since = if begun == 0 { 0 } else { self.begun.wrapping_sub(begun) };
        self.numbers.extend([u64::from(begun == 0), since]);
    }

    /// What may be missing.
    pub fn optional<T>(&mut self, what: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.numbers.push(u64::from(what.is_some()));
        if let Some(what) = what {
            write(self, what);
        }
    }

    /// All of them, and how many.
    pub fn list<T>(&mut self, all: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        let place = self.numbers.len();
        self.numbers.push(0);
        let mut count = 0;
        for one in all {
            count_turns(TURNS_OF_AN_ELEMENT);
            write(self, one);
            count += 1;
        }
        self.numbers[place] = count;
    }
}

/// Takes what would be hashed, as it is.
struct Collect<'a>(&'a mut Vec<u64>);

impl Hasher for Collect<'_> {
    fn write(&mut self, bytes: &[u8]) {
        for bytes in bytes.chunks(8) {
            let mut number = [0; 8];
            number[..bytes.len()].copy_from_slice(bytes);
            self.0.push(u64::from_le_bytes(number));
        }
    }

    fn finish(&self) -> u64 {
        0
    }
}
