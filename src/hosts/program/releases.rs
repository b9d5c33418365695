//! When threads begin.

use crate::canonical::Canonical;
use crate::gpu::GpuInterface;
use crate::time::Instant;

/// The token of the wake-up for them; those of threads are their numbers.
const TOKEN: u64 = u64::MAX;

/// First releases that have not come, the next one last, and the thread of each. They are sorted here once, and the
/// calendar has the next one only: a keyed queue of hundreds of thousands of them would be most of a run.
#[derive(Debug, Default)]
pub(super) struct Releases(Vec<(Instant, u32)>);

impl Releases {
    /// Waits for them.
    pub(super) fn begin(releases: impl Iterator<Item = (Instant, u32)>, gpu: &mut impl GpuInterface) -> Self {
        let mut releases = Self(releases.collect());
        releases.0.sort_unstable_by(|one, other| other.cmp(one));
        releases.wait(gpu);
        releases
    }

    /// Adds to `ready` the threads whose first release has come.
    pub(super) fn come(&mut self, ready: &mut Vec<usize>, gpu: &mut impl GpuInterface) {
        let before = self.0.len();
        while let Some((_, thread)) = self.0.pop_if(|(at, _)| *at <= gpu.now()) {
            ready.push(thread as usize);
        }
        if self.0.len() < before {
            self.wait(gpu);
        }
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        let Self(releases) = self;
        to.list(releases, |to, &(at, thread)| {
            to.instant(at);
            to.number(thread);
        });
    }

    fn wait(&self, gpu: &mut impl GpuInterface) {
        if let Some(&(at, _)) = self.0.last() {
            gpu.wake_at(at, TOKEN);
        }
    }
}
