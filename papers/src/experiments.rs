//! Experiments: campaigns of many runs, or of many random inputs, each in a module of its own.
//!
//! | what | where |
//! | --- | --- |
//! | a command repeated over a grid, on one machine or many | [`study`] |
//! | random scenarios that put the merged SM to the test | [`validation`] |
//! | the thesis' cost study, Figs. 3.11 to 3.13 | `cost_study` |
//! | GPU-EvR and the schedulers it is compared with, DATE 2014, Figs. 3 to 6 | [`evr`] |
//! | schedulability tests on random task sets, RTNS 2020, Figs. 6 to 8 | [`acceptance`] |
//! | response times of tasks on the GPU, RTNS 2020, Figs. 9 and 10 | [`response_times`] |
//! | makespans of more and more warps, CISTER 2012, Figs. 6 and 7 | `warp_curves` |
//! | a profile simulated again | [`profile_replay`], [`recorded_trace`] |

pub mod acceptance;
#[doc(hidden)]
pub mod cost_study;
pub mod evr;
pub mod profile_replay;
pub mod response_times;
pub mod segment_acceptance;
pub mod study;
pub mod validation;
#[doc(hidden)]
pub mod warp_curves;

use std::str::{FromStr, Split};

pub use profile_replay::recorded_trace;

/// What is left of the fields of a row's values, which are read one after the other.
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
