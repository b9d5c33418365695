//! Lists and objects of JSON documents whose entries are made one by one while they are written.

use std::cell::Cell;

use serde::ser::{Serialize, Serializer};

use crate::limits::end_if_stopped;

/// A list with the elements that the function gives each time.
pub(crate) struct Streamed<F>(pub(crate) F);

impl<F, I> Serialize for Streamed<F>
where
    F: Fn() -> I,
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)().inspect(|_| end_if_stopped()))
    }
}

/// An object with the keys and values that the function gives each time.
pub(crate) struct StreamedMap<F>(pub(crate) F);

impl<F, I, K, V> Serialize for StreamedMap<F>
where
    F: Fn() -> I,
    I: Iterator<Item = (K, V)>,
    K: Serialize,
    V: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map((self.0)().inspect(|_| end_if_stopped()))
    }
}

/// A list that is written once, with these elements.
pub(crate) struct Once<I>(Cell<Option<I>>);

impl<I: IntoIterator> Once<I> {
    pub(crate) const fn new(elements: I) -> Self {
        Self(Cell::new(Some(elements)))
    }
}

impl<I: IntoIterator<Item: Serialize>> Serialize for Once<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.take().into_iter().flatten().inspect(|_| end_if_stopped()))
    }
}
