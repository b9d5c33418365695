//! Kernels that a device takes, of which as much is stored once as they have in common.

use std::ops::{Deref, Index};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{Clusters, Programmatic, Synchronization, WorkItems, WorkloadError, check_mask, next};
use crate::device::{BlockDemand, BlockShape, Device, SmMask};
use crate::workload::{BlockClock, BlockTime, Kernel};

/// A kernel whose blocks can run on the device that it was checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedKernel(NamedGrid);

/// Of a kernel what few others have the same of, before its grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedGrid {
    /// As [`Kernel::name`].
    pub name: Arc<str>,
    /// As [`Kernel::title`].
    pub title: Arc<str>,
    /// As [`Kernel::duration`].
    pub duration: BlockTime,
    grid: Arc<Grid>,
}

/// Of a kernel what many others may have the same of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// As [`Kernel::blocks`].
    pub blocks: u32,
    /// As [`Kernel::shape`].
    pub shape: BlockShape,
    /// As [`Kernel::clock`].
    pub clock: BlockClock,
    /// As [`Kernel::sm_mask`].
    pub sm_mask: Option<SmMask>,
    demand: BlockDemand,
    pub(super) programmatic: Programmatic,
    pub(super) clusters: Option<Clusters>,
    pub(super) work_items: Option<WorkItems>,
    pub(super) synchronization: Option<Arc<Synchronization>>,
}

impl CheckedKernel {
    /// Checks a kernel.
    ///
    /// # Errors
    /// [`WorkloadError`] if one of its blocks can never run.
    pub fn new(kernel: Kernel, device: &Device) -> Result<Self, WorkloadError> {
        let Kernel { name, title, blocks, shape, duration, clock, sm_mask } = kernel;
        let demand = BlockDemand::new(&shape, device)?;
        if blocks == 0 {
            return Err(WorkloadError::EmptyGrid);
        }
        duration.check()?;
        check_mask(sm_mask, device)?;
        let programmatic = Programmatic::NONE;
        let grid = Grid {
            blocks,
            shape,
            clock,
            sm_mask,
            demand,
            programmatic,
            clusters: None,
            work_items: None,
            synchronization: None,
        };
        Ok(Self(NamedGrid { name, title, duration, grid: Arc::new(grid) }))
    }

    /// The same for a kernel beside a `known` one, which was checked against the same device: what both have in common
    /// is stored once.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[doc(hidden)]
    pub fn beside(known: Option<&Self>, kernel: Kernel, device: &Device) -> Result<Self, WorkloadError> {
        match known.filter(|known| known.has_grid_of(&kernel) && known.is_plain()) {
            Some(known) => {
                kernel.duration.check()?;
                let Kernel { name, title, duration, .. } = kernel;
                Ok(Self(NamedGrid { name, title, duration, grid: Arc::clone(&known.grid) }))
            }
            None => Self::new(kernel, device),
        }
    }

    fn has_grid_of(&self, kernel: &Kernel) -> bool {
        let Grid { blocks, shape, clock, sm_mask, .. } = ***self;
        (blocks, shape, clock, sm_mask) == (kernel.blocks, kernel.shape, kernel.clock, kernel.sm_mask)
    }

    /// Whether nothing was said of it beside what a [`Kernel`] says.
    fn is_plain(&self) -> bool {
        self.programmatic == Programmatic::NONE
            && self.clusters.is_none()
            && self.work_items.is_none()
            && self.synchronization.is_none()
    }

    /// What one block takes from its SM.
    pub fn demand(&self) -> BlockDemand {
        self.demand
    }

    /// What it has to do with programmatic dependent launch.
    pub fn programmatic(&self) -> Programmatic {
        self.programmatic
    }

    /// How its blocks are grouped into clusters, if they are.
    pub fn clusters(&self) -> Option<Clusters> {
        self.clusters
    }

    /// How its blocks take work items, if it is a persistent kernel.
    #[doc(hidden)]
    pub fn work_items(&self) -> Option<WorkItems> {
        self.work_items
    }

    /// How its blocks depend on others while they run, if they do.
    #[inline]
    pub fn synchronization(&self) -> Option<&Synchronization> {
        self.synchronization.as_deref()
    }

    /// Whether all of its blocks are assigned at one instant (`cudaLaunchCooperativeKernel`).
    pub fn is_cooperative(&self) -> bool {
        self.synchronization().is_some_and(|all| all.is_cooperative)
    }

    /// Changes how long its blocks run.
    ///
    /// # Errors
    /// [`WorkloadError::BlockTime`] if best is above worst.
    pub fn set_block_time(&mut self, time: BlockTime) -> Result<(), WorkloadError> {
        time.check()?;
        self.0.duration = time;
        Ok(())
    }

    pub(super) fn grid_mut(&mut self) -> &mut Grid {
        Arc::make_mut(&mut self.0.grid)
    }
}

impl BlockTime {
    fn check(self) -> Result<(), WorkloadError> {
        if self.best > self.worst { Err(WorkloadError::BlockTime) } else { Ok(()) }
    }
}

impl Deref for CheckedKernel {
    type Target = NamedGrid;

    #[inline]
    fn deref(&self) -> &NamedGrid {
        &self.0
    }
}

impl Deref for NamedGrid {
    type Target = Grid;

    #[inline]
    fn deref(&self) -> &Grid {
        &self.grid
    }
}

impl PartialEq<Kernel> for CheckedKernel {
    fn eq(&self, kernel: &Kernel) -> bool {
        self.duration == kernel.duration
            && self.has_grid_of(kernel)
            && self.title == kernel.title
            && self.name == kernel.name
    }
}

impl From<&CheckedKernel> for Kernel {
    fn from(checked: &CheckedKernel) -> Self {
        let CheckedKernel(NamedGrid { name, title, duration, grid }) = checked.clone();
        let Grid { blocks, shape, clock, sm_mask, .. } = *grid;
        Self { name, title, blocks, shape, duration, clock, sm_mask }
    }
}

/// Kernels, by [`KernelId`](crate::workload::KernelId). Those that are the same in all but their numbers may be stored
/// once.
#[derive(Debug, Clone, Default)]
pub struct Kernels {
    different: Vec<CheckedKernel>,
    /// By number, the place of each among the different ones.
    places: Vec<u32>,
    /// Places that several have, or had.
    shared: FxHashSet<u32>,
}

impl Kernels {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The kernel of that number, if there is one.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&CheckedKernel> {
        self.different.get(*self.places.get(number)? as usize)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &CheckedKernel> + Clone {
        self.places.iter().map(|&place| &self.different[place as usize])
    }

    /// Adds a kernel.
    ///
    /// # Errors
    /// [`WorkloadError::TooMany`].
    pub(super) fn push(&mut self, kernel: CheckedKernel) -> Result<(), WorkloadError> {
        self.places.push(next(self.different.len())?);
        self.different.push(kernel);
        Ok(())
    }

    /// Adds a kernel that is the same as that of a number. Of an unknown one there is none.
    pub(super) fn push_again(&mut self, number: usize) {
        if let Some(&place) = self.places.get(number) {
            self.shared.insert(place);
            self.places.push(place);
        }
    }

    /// The kernel of that number, to be changed alone.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut CheckedKernel> {
        let place = self.places.get_mut(number)?;
        if self.shared.contains(place) {
            let own = self.different.get(*place as usize)?.clone();
            // There are no more than numbers, or places that nobody has any more: 32 bits hold either.
            *place = next(self.different.len()).ok()?;
            self.different.push(own);
        }
        self.different.get_mut(*place as usize)
    }

    pub(super) fn clear(&mut self) {
        self.different.clear();
        self.places.clear();
        self.shared.clear();
    }

    pub(super) fn reserve(&mut self, more: usize) {
        self.different.reserve(more);
        self.places.reserve(more);
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.different.shrink_to_fit();
        self.places.shrink_to_fit();
    }
}

impl PartialEq for Kernels {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Kernels {}

impl Index<usize> for Kernels {
    type Output = CheckedKernel;

    #[inline]
    fn index(&self, number: usize) -> &CheckedKernel {
        &self.different[self.places[number] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    #[test]
    fn of_kernels_that_are_stored_once_each_is_changed_alone() {
        let device = Device::builtin("tx2").ok().flatten().expect("it is built in");
        let kernel = |name: &str| Kernel::new(name, 1, 32, Duration::from_ns(7));
        let first = CheckedKernel::new(kernel("A"), &device).expect("it fits");
        let second = CheckedKernel::beside(Some(&first), kernel("B"), &device).expect("it fits");
        let mut kernels = Kernels::default();
        kernels.push(first).expect("they are few");
        kernels.push_again(0);
        kernels.push(second).expect("they are few");
        assert!(Arc::ptr_eq(&kernels[0].grid, &kernels[2].grid));
        let mut change = |number: usize, blocks| {
            kernels.get_mut(number).expect("it is there").grid_mut().blocks = blocks;
            let blocks = kernels.iter().map(|kernel| kernel.blocks);
            (blocks.collect::<Vec<_>>(), kernels.different.len())
        };
        assert_eq!(change(1, 2), (vec![1, 2, 1], 3));
        assert_eq!(change(1, 3), (vec![1, 3, 1], 3));
        assert_eq!(change(2, 4), (vec![1, 3, 4], 3));
    }
}
