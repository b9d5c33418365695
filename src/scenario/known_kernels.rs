//! Which kernels of a scenario in the making are there already, so that equal ones are stored once.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::workload::{CheckedKernel, Kernel};

/// So many different kernels are looked for among those before; where there are more, few come again.
const MOST: usize = 1 << 18;

/// The different kernels among those of a catalogue, by their places there.
#[derive(Debug, Default)]
pub(super) struct KnownKernels {
    places: HashTable<u32>,
    /// Behind the place of the last kernel that came again. Those that come again mostly do so in the same order, as when
    /// many streams have the same kernels: then nothing is looked for.
    next: usize,
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
