//! The fields of a row's values, read one after the other.

use std::str::{FromStr, Split};

/// What is left of them.
pub(crate) struct Fields<'v>(Split<'v, char>);

impl<'v> Fields<'v> {
    pub(crate) fn of(values: &'v str, separator: char) -> Self {
        Self(values.split(separator))
    }

    /// As many as there are places, if each can be read.
    pub(crate) fn each<T: Copy + Default, const N: usize>(
        &mut self,
        read: impl Fn(&'v str) -> Option<T>,
    ) -> Option<[T; N]> {
        let mut all = [T::default(); N];
        for one in &mut all {
            *one = read(self.0.next()?)?;
        }
        Some(all)
    }

    /// The same where each may be empty.
    pub(crate) fn each_if_any<T: Copy, const N: usize>(
        &mut self,
        read: impl Fn(&'v str) -> Option<T>,
    ) -> Option<[Option<T>; N]> {
        self.each(|field| if field.is_empty() { Some(None) } else { read(field).map(Some) })
    }

    /// What was read, if that is all.
    pub(crate) fn end<T>(mut self, read: T) -> Option<T> {
        self.0.next().is_none().then_some(read)
    }
}

pub(crate) fn number<T: FromStr>(field: &str) -> Option<T> {
    field.parse().ok()
}
