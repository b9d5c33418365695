//! Which kernels of a scenario in the making are there already, so that equal ones are stored once.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::workload::{CheckedKernel, Kernel};

/// At most this many different kernels are kept to be looked up; where there are more, few come again.
const MOST: usize = 1 << 18;

/// Once that many are kept, one kernel in this many is looked up: those that come again do so in a row, so that one hit
/// finds the rest.
const EVERY: u32 = 16;

/// The different kernels among those of a catalogue, by their places there.
#[derive(Debug, Default)]
pub(super) struct KnownKernels {
    places: HashTable<u32>,
    /// Behind the place of the last kernel that came again. Those that come again mostly do so in the same order, as
    /// when many streams have the same kernels: then nothing is looked for.
    next: usize,
    /// Kernels that were not known since there are as many as are looked for.
    passed: u32,
}

/// A kernel that is not known, by the number that it is looked for with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unknown(u64);

impl KnownKernels {
    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, kernels: usize, among: &[CheckedKernel]) {
        let room = MOST.saturating_sub(self.places.len());
        self.places.reserve(kernels.min(room), |&place| hash(&among[place as usize]));
    }

    /// The kernel that is equal to this one.
    pub(super) fn find(&mut self, kernel: &Kernel, among: &[CheckedKernel]) -> Result<CheckedKernel, Unknown> {
        if let Some(next) = among.get(self.next).filter(|next| ***next == *kernel) {
            self.next += 1;
            return Ok(next.clone());
        }
        if self.places.len() >= MOST {
            self.passed = self.passed.wrapping_add(1);
            if !self.passed.is_multiple_of(EVERY) {
                return Err(Unknown(0));
            }
        }
        let hash = hash(kernel);
        match self.places.find(hash, |&place| *among[place as usize] == *kernel) {
            Some(&place) => {
                self.next = place as usize + 1;
                Ok(among[place as usize].clone())
            }
            None => Err(Unknown(hash)),
        }
    }

    /// Another kernel, which was not known, has taken its place, the last one.
    pub(super) fn add(&mut self, Unknown(own): Unknown, place: u32, among: &[CheckedKernel]) {
        if self.places.len() < MOST {
            self.places.insert_unique(own, place, |&place| hash(&among[place as usize]));
        }
        self.next = among.len();
    }

    /// The name of the kernel that is likely to come next.
    pub(super) fn next_name<'a>(&self, among: &'a [CheckedKernel]) -> Option<&'a Arc<str>> {
        among.get(self.next).map(|next| &next.name)
    }
}

fn hash(kernel: &Kernel) -> u64 {
    FxBuildHasher.hash_one(kernel)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::device::{BlockShape, Device};
    use crate::time::Duration;
    use crate::workload::{BlockClock, BlockTime};

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
            let (mut known, mut all) = (KnownKernels::default(), Vec::<CheckedKernel>::new());
            let mut added = std::collections::BTreeSet::new();
            for number in numbers.repeat(repeats) {
                let kernel = kernel(number);
                let found = match known.find(&kernel, &all) {
                    Ok(found) => {
                        prop_assert!(!added.insert(number), "{} was not there", number);
                        found
                    }
                    Err(unknown) => {
                        prop_assert!(added.insert(number), "{} was there", number);
                        let new = CheckedKernel::new(kernel.clone(), &device).expect("it fits");
                        all.push(new.clone());
                        known.add(unknown, u32::try_from(all.len() - 1).expect("they are few"), &all);
                        prop_assert!(known.next_name(&all).is_none());
                        continue;
                    }
                };
                prop_assert_eq!(&*found, &kernel);
                all.push(found);
            }
        }
    }
}
