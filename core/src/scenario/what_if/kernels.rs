//! Which kernels a name means, and for how long their blocks run then.

use std::borrow::Cow;

use super::{Scenario, WhatIfError, unknown};
use crate::proven::OrMost;
use crate::spelling::{CalledOption, option};
use crate::time::{Decimal, Duration};
use crate::workload::{BlockTime, CheckedKernel, KernelId, WorkItems};

/// For how long the blocks of a kernel run, or a host sleeps and works, in place of what is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewTime {
    /// So long, each.
    To(Duration),
    /// A share of what each has, in millionths.
    Share(u64),
}

impl NewTime {
    /// The most that a time may become, in percent.
    pub const MOST_PERCENT: u64 = 10_000;

    /// A share, as `80%`; `None` for any other text.
    pub fn parse_share(text: &str) -> Option<Self> {
        let number = Decimal::parse(text.strip_suffix('%')?.trim_end()).ok()?;
        number.scaled(4, Self::MOST_PERCENT * 10_000).ok().map(Self::Share)
    }

    pub(super) fn of(self, stated: Duration) -> Duration {
        match self {
            Self::To(time) => time,
            Self::Share(millionths) => {
                let time = (u128::from(stated.as_ns()) * u128::from(millionths) + 500_000) / 1_000_000;
                Duration::from_ns(u64::try_from(time).or_most())
            }
        }
    }
}

/// Whether a name is the one that is meant, in which `*` stands for any characters.
pub(super) fn is_like(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

/// A name and, if it ends with `[BLOCKSxTHREADS]`, the launches that are meant.
fn with_shape(name: &str) -> (&str, Option<(u32, u32)>) {
    let shape = name.strip_suffix(']').and_then(|name| {
        let (name, shape) = name.rsplit_once('[')?;
        let (blocks, threads) = shape.split_once('x')?;
        Some((name, (blocks.trim().parse().ok()?, threads.trim().parse().ok()?)))
    });
    shape.map_or((name, None), |(name, shape)| (name, Some(shape)))
}

impl Scenario {
    /// Which kernels a name means: those that have it, whole or short, and otherwise those that match it where `*`
    /// stands for any characters, as does the `…` of a name that was printed shortened. Behind it `[BLOCKSxTHREADS]`
    /// may say with which grid.
    pub(crate) fn kernels_named(
        &self,
        option: CalledOption<'static>,
        name: &str,
    ) -> Result<Vec<KernelId>, WhatIfError> {
        let among = |is_meant: &dyn Fn(&CheckedKernel) -> bool| {
            let all = (0..).map(KernelId).zip(self.kernels().iter());
            all.filter(|(_, kernel)| is_meant(kernel)).map(|(id, _)| id).collect::<Vec<KernelId>>()
        };
        let exact = among(&|kernel| *kernel.name == *name || *kernel.title == *name);
        if !exact.is_empty() {
            return Ok(exact);
        }
        let (pattern, shape) = with_shape(name);
        let pattern: Cow<'_, str> =
            if pattern.contains('…') { pattern.replace('…', "*").into() } else { pattern.into() };
        let meant = among(&|kernel| {
            let has_shape = shape.is_none_or(|shape| shape == (kernel.blocks, kernel.shape.threads));
            has_shape && (is_like(&pattern, &kernel.name) || is_like(&pattern, &kernel.title))
        });
        if meant.is_empty() {
            return Err(unknown("kernel", option, name, self.kernels().iter().map(|kernel| &*kernel.title)));
        }
        Ok(meant)
    }

    pub(super) fn set_block_time(&mut self, name: &str, new: NewTime) -> Result<(), WhatIfError> {
        const OPTION: CalledOption<'static> = option("set_block_time");
        for kernel in self.kernels_named(OPTION, name)? {
            match new {
                NewTime::To(_) => drop(self.block_times.remove(&kernel)),
                NewTime::Share(_) => {
                    if let Some(own) = self.block_times.get_mut(&kernel) {
                        *own = own.iter().map(|time| new.of(*time)).collect();
                    }
                }
            }
            let Some(stated) = self.kernels().get(kernel.index()) else { continue };
            // The time that a file states of a loop over work items is that of an item.
            let set = if let Some(WorkItems::Loop { items, time }) = stated.work_items() {
                self.set_work_items(kernel, WorkItems::Loop { items, time: new.of(time) })
            } else {
                let BlockTime { best, worst } = stated.duration;
                self.catalogue.set_block_time(kernel, BlockTime { best: new.of(best), worst: new.of(worst) })
            };
            set.map_err(|error| WhatIfError::Refused { option: OPTION, error })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name) in
            [("*", ""), ("a*", "a"), ("a*c", "abc"), ("a*b*a", "aba"), ("*gemm*", "sgemm_128"), ("a", "a")]
        {
            assert!(is_like(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a*a", "a"), ("a*", "ba"), ("*b*b", "ab"), ("a", "ab"), ("", "a")] {
            assert!(!is_like(pattern, name), "{pattern} {name}");
        }
        assert_eq!(with_shape("softmax[48 x 128]"), ("softmax", Some((48, 128))));
        assert_eq!(with_shape("scan[clone]"), ("scan[clone]", None));
    }

    #[test]
    fn shares_are_rounded_to_nanoseconds() {
        assert_eq!(
            NewTime::parse_share("33.3333%").map(|share| share.of(Duration::from_ns(100))),
            Some(Duration::from_ns(33))
        );
        assert_eq!(
            NewTime::parse_share("150 %").map(|share| share.of(Duration::from_ns(1))),
            Some(Duration::from_ns(2))
        );
        assert_eq!(NewTime::Share(2_000_000).of(Duration::from_ns(u64::MAX)), Duration::from_ns(u64::MAX));
        assert_eq!(["80", "-1%", "%", "10001%", "80%%"].map(NewTime::parse_share), [None; 5]);
    }
}
