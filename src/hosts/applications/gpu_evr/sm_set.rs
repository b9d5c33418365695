//! A set of SMs.

use crate::device::SmMask;

/// SMs with numbers below 128, as many as an SM mask has bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct SmSet(u128);

impl SmSet {
    /// No SM.
    pub(crate) const EMPTY: Self = Self(0);

    /// SMs 0 to `sms` - 1; at most 128.
    pub(crate) fn first(sms: u32) -> Self {
        Self(1_u128.checked_shl(sms).map_or(u128::MAX, |bit| bit - 1))
    }

    /// How many.
    pub(crate) fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The lowest number.
    pub(crate) fn lowest(self) -> Option<u32> {
        (self.0 != 0).then(|| self.0.trailing_zeros())
    }

    /// The `count` lowest numbers, or all if there are fewer.
    pub(crate) fn lowest_of(self, count: u32) -> Self {
        let (mut left, mut taken) = (self.0, 0);
        for _ in 0..count.min(self.len()) {
            let bit = left & left.wrapping_neg();
            left ^= bit;
            taken |= bit;
        }
        Self(taken)
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Removes those of `other`.
    pub(crate) fn remove(&mut self, other: Self) {
        self.0 &= !other.0;
    }

    /// The mask under which blocks run on these SMs only, on a device with one SM per TPC.
    pub(crate) fn mask(self) -> SmMask {
        SmMask::only(self.0)
    }
}
