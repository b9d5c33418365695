//! How long kernels take by the median: alone, beside others, in all.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::device::{BlockShape, Device};
use crate::named::named;
use crate::statistics::{nearest_rank, upper_median};

named! {
    /// How the duration of a kernel that overlaps others is estimated.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ToldBy: ALL, from_name, Serialize {
        /// Its blocks take as long as those of the same kernel alone, and share the SMs with others.
        #[default]
        Sharing = "sharing",
        /// The median of the same kernel where it overlapped others, whatever it shares.
        OverlappedMedian = "overlapped-median",
        /// The median of the same kernel where it ran alone, whatever it shares.
        AloneMedian = "alone-median",
        /// The median of the same kernel, alone or not, whatever it shares.
        Median = "median",
    }
}

impl ToldBy {
    /// Who tells it, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Sharing => "sharing of SMs",
            Self::OverlappedMedian => "the median of the same kernel overlapped",
            Self::AloneMedian => "the median of the same kernel alone",
            Self::Median => "the median of the same kernel, alone or not",
        }
    }
}

/// The same function, grid and block; the function by its number in the profile.
pub(crate) type KernelShape = (u32, u32, BlockShape);

/// Medians of the durations of kernels \[ns\].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelMedians(BTreeMap<KernelShape, Medians>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Medians {
    alone: Option<u64>,
    overlapped: Option<u64>,
    /// Of both.
    all: Option<u64>,
    /// Whether its times alone are so different that their median says nothing of another launch.
    is_scattered: bool,
}

/// Medians in place of those that a profile has itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OtherMedians {
    /// The profile that they are from.
    pub(super) file: String,
    pub(super) medians: KernelMedians,
    /// The GPU that took these times.
    pub(super) recorded_on: Device,
}

/// What is known of kernels, and which later ones are to be told by it.
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    #[doc(hidden)]
    pub medians: KernelMedians,
    /// The GPU that took these times, if it is that of another profile.
    pub(super) recorded_on: Option<Device>,
    /// When those start that are to be told, on the profile's clock.
    #[doc(hidden)]
    pub takes: Range<u64>,
}

impl KernelMedians {
    /// Those of durations, alone and overlapped.
    pub(super) fn of_durations(durations: BTreeMap<KernelShape, [Vec<u64>; 2]>) -> Self {
        let medians = durations.into_iter().map(|(shape, [mut alone, mut overlapped])| {
            alone.sort_unstable();
            overlapped.sort_unstable();
            let mut all = [&*alone, &*overlapped].concat();
            all.sort_unstable();
            let medians = Medians {
                alone: upper_median(&alone),
                overlapped: upper_median(&overlapped),
                all: upper_median(&all),
                is_scattered: is_scattered(&alone),
            };
            (shape, medians)
        });
        Self(medians.collect())
    }

    /// Those of kernels that ran alone, by other numbers of functions; what has none is left out.
    pub(super) fn renumbered(&self, number: impl Fn(u32) -> Option<u32>) -> Self {
        let ran_alone = self.0.iter().filter(|(_, medians)| medians.alone.is_some());
        let renumbered = ran_alone
            .filter_map(|(&(function, blocks, shape), &medians)| Some(((number(function)?, blocks, shape), medians)));
        Self(renumbered.collect())
    }

    /// Whether there is a kernel that ran alone.
    pub(super) fn any_alone(&self) -> bool {
        self.0.values().any(|medians| medians.alone.is_some())
    }

    /// How long a kernel takes alone \[ns\].
    #[doc(hidden)]
    pub fn alone_ns(&self, kernel: &KernelShape) -> Option<u64> {
        self.0.get(kernel)?.alone
    }

    /// How long a kernel took that overlapped others \[ns\].
    #[doc(hidden)]
    pub fn overlapped_ns(&self, kernel: &KernelShape) -> Option<u64> {
        self.0.get(kernel)?.overlapped
    }

    /// How long a launch of a kernel takes, which runs alone or not; where there is no median of such launches, the
    /// one of others \[ns\].
    #[doc(hidden)]
    pub fn duration_ns(&self, kernel: &KernelShape, runs_alone: bool, times: ToldBy) -> Option<u64> {
        let Medians { alone, overlapped, all, .. } = *self.0.get(kernel)?;
        match times {
            ToldBy::Median => all,
            ToldBy::OverlappedMedian if !runs_alone => overlapped.or(alone),
            _ => alone.or(overlapped),
        }
    }

    /// Whether the times of a kernel alone say nothing of another launch.
    pub(super) fn are_scattered(&self, kernel: &KernelShape) -> bool {
        self.0.get(kernel).is_some_and(|medians| medians.is_scattered)
    }
}

/// Whether times of the same work, by size, are so different that their median says nothing of another one: the ninth
/// decile is more than 1.5 times the first.
fn is_scattered(times: &[u64]) -> bool {
    nearest_rank(times, 10)
        .zip(nearest_rank(times, 90))
        .is_some_and(|(first, ninth)| u128::from(ninth) * 2 > u128::from(first) * 3)
}
