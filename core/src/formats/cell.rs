//! Values of reports, and of what kind they are. A column's kind is known from its declaration: formats that state
//! types need it before the first row, and for rows that lack the value.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::ser::{Serialize, Serializer};

use crate::time::{Duration, Instant};

/// A value of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'r> {
    /// None, as of an instant that was not reached.
    Missing,
    /// Words.
    Text(Cow<'r, str>),
    /// A number that is never negative.
    Unsigned(u64),
    /// A number that may be negative.
    Signed(i128),
    /// A number with a fraction, with as many digits as it takes to tell it from others.
    Real(f64),
    /// One of which four digits after the point are plenty to read.
    Rounded(f64),
    /// Yes or no.
    Flag(bool),
    /// An instant.
    At(Instant),
    /// A length of time.
    Lasting(Duration),
    /// One that something takes at most.
    AtMost(Duration),
}

/// A value of one kind, or none.
#[derive(Debug, Clone, PartialEq)]
pub struct CellOf<'r, K> {
    cell: Cell<'r>,
    kind: PhantomData<K>,
}

impl<K> CellOf<'_, K> {
    /// No value.
    #[doc(hidden)]
    pub const MISSING: Self = Self { cell: Cell::Missing, kind: PhantomData };
}

/// A kind of values, as a type.
pub trait Kind: Sized {
    /// Of a column, from how a row tells its value.
    fn source<R>(cell: for<'r> fn(&'r R) -> CellOf<'r, Self>) -> Source<R>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident)*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub enum $kind {}

        impl Kind for $kind {
            fn source<R>(cell: for<'r> fn(&'r R) -> CellOf<'r, Self>) -> Source<R> {
                Source::$kind(cell)
            }
        })*

        /// What kind of values.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum CellKind {
            $($(#[$doc])* $kind,)*
        }

        impl CellKind {
            /// What it is called above the columns of data frames.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($kind),)*
                }
            }
        }

        /// How the values of a column are read from a row, by their kind.
        #[derive(Debug)]
        pub enum Source<R> {
            $($(#[$doc])* $kind(for<'r> fn(&'r R) -> CellOf<'r, $kind>),)*
        }

        impl<R> Source<R> {
            pub(crate) const fn kind(&self) -> CellKind {
                match self {
                    $(Self::$kind(_) => CellKind::$kind,)*
                }
            }

            // Once for every cell of a table.
            #[inline]
            pub(crate) fn cell<'r>(&self, row: &'r R) -> Cell<'r> {
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

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::Signed(number) => serializer.serialize_i128(*number),
            Self::Real(number) | Self::Rounded(number) => serializer.serialize_f64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::At(instant) => instant.serialize(serializer),
            Self::Lasting(time) | Self::AtMost(time) => time.serialize(serializer),
        }
    }
}

impl Cell<'_> {
    pub(crate) fn for_people(self) -> String {
        match self {
            Self::Missing => "-".to_owned(),
            Self::Text(text) => text.into_owned(),
            Self::Unsigned(number) => number.to_string(),
            Self::Signed(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::Rounded(number) => format!("{number:.4}"),
            Self::Flag(flag) => if flag { "yes" } else { "no" }.to_owned(),
            Self::At(instant) => instant.to_string(),
            Self::Lasting(time) => time.to_string(),
            Self::AtMost(time) => match time.checked_add(Duration::from_ns(1)) {
                // What ends just before others begin: less than a number that can be read.
                Some(end) if end.as_ns().is_multiple_of(1_000) => format!("< {end}"),
                _ => time.to_string(),
            },
        }
    }
}

impl<'r, T: Into<Cell<'r>>> From<Option<T>> for Cell<'r> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

impl<'r, K, T: Into<CellOf<'r, K>>> From<Option<T>> for CellOf<'r, K> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::MISSING, Into::into)
    }
}

impl CellOf<'_, Real> {
    /// A number of which four digits after the point are plenty to read.
    #[doc(hidden)]
    pub const fn rounded(number: f64) -> Self {
        Self { cell: Cell::Rounded(number), kind: PhantomData }
    }
}

impl CellOf<'_, Time> {
    /// What something takes at most.
    pub(crate) fn at_most(time: Option<Duration>) -> Self {
        Self { cell: time.map_or(Cell::Missing, Cell::AtMost), kind: PhantomData }
    }
}

macro_rules! values {
    ($($from:ty: $kind:ident = |$value:ident| $cell:expr;)*) => {
        $(impl<'r> From<$from> for Cell<'r> {
            fn from($value: $from) -> Self {
                $cell
            }
        }

        impl<'r> From<$from> for CellOf<'r, $kind> {
            fn from(value: $from) -> Self {
                Self { cell: value.into(), kind: PhantomData }
            }
        })*
    };
}

values! {
    &'r str: Text = |text| Self::Text(Cow::Borrowed(text));
    String: Text = |text| Self::Text(Cow::Owned(text));
    u16: Unsigned = |number| Self::Unsigned(number.into());
    u32: Unsigned = |number| Self::Unsigned(number.into());
    u64: Unsigned = |number| Self::Unsigned(number);
    usize: Unsigned = |number| Self::Unsigned(number as u64);
    i64: Signed = |number| Self::Signed(number.into());
    i128: Signed = |number| Self::Signed(number);
    f64: Real = |number| Self::Real(number);
    bool: Flag = |flag| Self::Flag(flag);
    Instant: Time = |instant| Self::At(instant);
    Duration: Time = |time| Self::Lasting(time);
}
