//! `expect` with the proof that it never fails (`proven`), and conversions of numbers that saturate (`or_most`).

use std::num::TryFromIntError;

/// An `Option` or a `Result` of which a proof says that it always holds a value.
pub trait Proven<T> {
    /// The value; `why` it is there ends the program's work if the proof is wrong.
    fn proven(self, why: &str) -> T;
}

impl<T> Proven<T> for Option<T> {
    #[expect(clippy::expect_used, reason = "whoever calls it has the proof")]
    #[track_caller]
    fn proven(self, why: &str) -> T {
        self.expect(why)
    }
}

impl<T, E: std::fmt::Debug> Proven<T> for Result<T, E> {
    #[expect(clippy::expect_used, reason = "whoever calls it has the proof")]
    #[track_caller]
    fn proven(self, why: &str) -> T {
        self.expect(why)
    }
}

/// A number that may be larger than its type.
pub trait OrMost<T> {
    /// The number, or the largest of the type, which stands for all that are larger: they make no difference to it.
    fn or_most(self) -> T;
}

macro_rules! or_most {
    ($($number:ty),+) => {
        $(impl OrMost<$number> for Result<$number, TryFromIntError> {
            fn or_most(self) -> $number {
                self.unwrap_or(<$number>::MAX)
            }
        })+
    };
}
or_most!(u16, u32, u64, usize, i32, i64);
