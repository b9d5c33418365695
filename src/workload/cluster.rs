//! Thread-block clusters: blocks that begin together on SMs of one GPC.

/// How the blocks of a kernel are grouped into clusters: each so many in the order of their numbers. All blocks of a
/// cluster begin at one instant, each on an SM of its own, and these SMs are of one GPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clusters {
    /// Blocks of each.
    pub size: u32,
    /// Blocks of each cluster that begins where no GPC has room for one of `size`; `None`: it waits.
    pub fallback: Option<u32>,
}

impl Clusters {
    /// The most blocks of a cluster, which a kernel has to ask for above 8 (CUDA C++ Programming Guide, NVIDIA).
    pub(crate) const MOST: u32 = 16;

    /// Blocks of the smallest one.
    pub(crate) fn least(&self) -> u32 {
        self.fallback.unwrap_or(self.size)
    }

    /// Of how many blocks the cluster may be that begins with block `first`, the size to be tried first in front.
    pub(crate) fn sizes_at(&self, first: u32) -> impl Iterator<Item = u32> + use<> {
        let whole = first.is_multiple_of(self.size).then_some(self.size);
        whole.into_iter().chain(self.fallback)
    }
}
