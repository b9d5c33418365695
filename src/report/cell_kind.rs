//! Of what kind the values of a column are, known from its declaration: formats that state types need it before the first
//! row, and for rows that lack the value.

use std::marker::PhantomData;

use super::columns::Cell;
use crate::tasks::TaskTime;
use crate::time::{Duration, Instant};

/// A value of one kind, or none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellOf<'r, K> {
    cell: Cell<'r>,
    kind: PhantomData<K>,
}

impl<K> CellOf<'_, K> {
    /// No value.
    pub(crate) const MISSING: Self = Self { cell: Cell::Missing, kind: PhantomData };
}

/// A kind of values.
pub(crate) trait Kind: Sized {
    /// Of a column, from how a row tells its value.
    fn source<R>(cell: for<'r> fn(&'r R) -> CellOf<'r, Self>) -> Source<R>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident)*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) enum $kind {}

        impl Kind for $kind {
            fn source<R>(cell: for<'r> fn(&'r R) -> CellOf<'r, Self>) -> Source<R> {
                Source::$kind(cell)
            }
        })*

        /// How the values of a column are read from a row, by their kind.
        #[derive(Debug)]
        pub(crate) enum Source<R> {
            $($(#[$doc])* $kind(for<'r> fn(&'r R) -> CellOf<'r, $kind>),)*
        }

        impl<R> Source<R> {
            /// The value in a row.
            pub(super) fn cell<'r>(&self, row: &'r R) -> Cell<'r> {
                match self {
                    $(Self::$kind(cell) => cell(row).cell,)*
                }
            }
        }
    };
}

kinds! {
    /// Words.
    Text
    /// Numbers that are never negative.
    Unsigned
    /// Numbers that may be negative.
    Signed
    /// Numbers with a fraction.
    Real
    /// Yes or no.
    Flag
    /// Instants and lengths of time.
    Time
}

impl<'r, K, T: Into<CellOf<'r, K>>> From<Option<T>> for CellOf<'r, K> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::MISSING, Into::into)
    }
}

macro_rules! values {
    ($($value:ty: $kind:ident,)*) => {
        $(impl<'r> From<$value> for CellOf<'r, $kind> {
            fn from(value: $value) -> Self {
                Self { cell: value.into(), kind: PhantomData }
            }
        })*
    };
}

values! {
    &'r str: Text,
    String: Text,
    u16: Unsigned,
    u32: Unsigned,
    u64: Unsigned,
    usize: Unsigned,
    TaskTime: Unsigned,
    i64: Signed,
    i128: Signed,
    f64: Real,
    bool: Flag,
    Instant: Time,
    Duration: Time,
}
