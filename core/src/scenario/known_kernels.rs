//! Which kernels of a scenario in the making are there already, so that equal ones are stored once.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::device::{BlockShape, SmMask};
use crate::proven::OrMost;
use crate::workload::{BlockClock, CheckedKernel, Kernel, KernelId, Kernels};

/// At most this many different kernels are kept to be looked up; where there are more, few come again.
const MOST: usize = 1 << 18;

/// Once that many are kept, one kernel in this many is looked up: those that come again do so in a row, so that one hit
/// finds the rest.
const EVERY: u32 = 16;

/// The different kernels among those of a catalogue, by their places there.
#[derive(Debug, Default)]
pub(super) struct KnownKernels {
    /// Each with the number that it is looked for with, so that none is looked at while the table grows.
    places: HashTable<(u32, u32)>,
    /// The first kernel of each grid.
    grids: FxHashMap<GridKey, u32>,
    /// Behind the place of the last kernel that came again. Those that come again mostly do so in the same order, as
    /// when many streams have the same kernels: then nothing is looked for.
    next: usize,
    /// Kernels that were not known since there are as many as are looked for.
    passed: u32,
}

/// What a kernel has in common with all of its grid.
type GridKey = (u32, BlockShape, BlockClock, Option<SmMask>);

/// A kernel that is not known, by the number that it is looked for with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unknown(u32);

impl KnownKernels {
    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, kernels: usize) {
        let room = MOST.saturating_sub(self.places.len());
        self.places.reserve(kernels.min(room), |&(own, _)| spread(own));
    }

    /// The kernel that is equal to this one.
    pub(super) fn find(&mut self, kernel: &Kernel, among: &Kernels) -> Result<KernelId, Unknown> {
        if among.get(self.next).is_some_and(|next| *next == *kernel) {
            self.next += 1;
            // It is there, so that its place has 32 bits.
            return Ok(KernelId(u32::try_from(self.next - 1).or_most()));
        }
        if self.places.len() >= MOST {
            self.passed = self.passed.wrapping_add(1);
            if !self.passed.is_multiple_of(EVERY) {
                return Err(Unknown(0));
            }
        }
        let own = number_of(kernel);
        match self.places.find(spread(own), |&(known, place)| known == own && among[place as usize] == *kernel) {
            Some(&(_, place)) => {
                self.next = place as usize + 1;
                Ok(KernelId(place))
            }
            None => Err(Unknown(own)),
        }
    }

    /// The first kernel of the same grid, if there was one; else this is the first, which will take that place.
    pub(super) fn of_same_grid<'a>(&mut self, kernel: &Kernel, among: &'a Kernels) -> Option<&'a CheckedKernel> {
        let key = (kernel.blocks, kernel.shape, kernel.clock, kernel.sm_mask);
        if self.grids.len() >= MOST {
            return among.get(*self.grids.get(&key)? as usize);
        }
        among.get(*self.grids.entry(key).or_insert_with(|| u32::try_from(among.len()).or_most()) as usize)
    }

    /// Another kernel, which was not known, has taken its place, the last one.
    pub(super) fn add(&mut self, Unknown(own): Unknown, place: u32) {
        if self.places.len() < MOST {
            self.places.insert_unique(spread(own), (own, place), |&(own, _)| spread(own));
        }
        self.next = place as usize + 1;
    }

    /// The name of the kernel that is likely to come next.
    pub(super) fn next_name<'a>(&self, among: &'a Kernels) -> Option<&'a Arc<str>> {
        among.get(self.next).map(|next| &next.name)
    }
}

/// Different kernels have different ones as good as always.
#[expect(clippy::cast_possible_truncation, reason = "the lower half tells them apart best")]
fn number_of(kernel: &Kernel) -> u32 {
    FxBuildHasher.hash_one(kernel) as u32
}

/// It as a hash, of which both ends count.
fn spread(number: u32) -> u64 {
    u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::device::{BlockShape, Device};
    use crate::time::Duration;
    use crate::workload::{BlockTime, Catalogue};

    /// Number `number` of some kernels that differ in their title, in what they are, or in both.
    fn kernel(number: u64) -> Kernel {
        let title: Arc<str> = format!("K{}", number % 3).into();
        Kernel {
            name: Arc::clone(&title),
            title,
            blocks: 1 + u32::from(number % 2 == 1),
            shape: BlockShape { threads: 32, ..BlockShape::default() },
            duration: BlockTime::fixed(Duration::from_ns(10 + number / 6)),
            clock: BlockClock::RunTime,
            sm_mask: None,
        }
    }

    proptest! {
        #[test]
        fn a_kernel_is_found_where_an_equal_one_was_added_in_whatever_order_they_come(
            numbers in proptest::collection::vec(0..12_u64, 0..60),
            repeats in 1..4_usize,
        ) {
            let device = Device::builtin("tx2").ok().flatten().expect("it is built in");
            let (mut known, mut all) = (KnownKernels::default(), Catalogue::new(device));
            let mut added = std::collections::BTreeSet::new();
            for number in numbers.repeat(repeats) {
                let kernel = kernel(number);
                let id = match known.find(&kernel, all.kernels()) {
                    Ok(found) => {
                        prop_assert!(!added.insert(number), "{} was not there", number);
                        all.add_again(found).expect("they are few")
                    }
                    Err(unknown) => {
                        prop_assert!(added.insert(number), "{} was there", number);
                        let like = known.of_same_grid(&kernel, all.kernels());
                        let new = CheckedKernel::beside(like, kernel.clone(), all.device()).expect("it fits");
                        let id = all.add_checked(new).expect("they are few");
                        known.add(unknown, id.0);
                        prop_assert!(known.next_name(all.kernels()).is_none());
                        id
                    }
                };
                prop_assert_eq!(id.index() + 1, all.kernels().len());
                prop_assert_eq!(&Kernel::from(&all.kernels()[id.index()]), &kernel);
            }
        }
    }
}
