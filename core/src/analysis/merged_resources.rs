//! **Pooled lower bound**: one merged SM for blocks that differ, the thesis' assumption (section 3.2.2) taken at its
//! word.
//!
//! The thesis defines `g_max` for equal blocks only (Eq. 3.6). The one big SM of its text has the resources of all SMs;
//! a block starts on it as soon as the sum of what is free suffices, in every resource. That is what is computed here,
//! with one refinement: no kernel has more blocks running at once than an otherwise empty GPU holds of them (five
//! blocks of 768 threads would fit two SMs' 4096 threads, and the two hold four).
//!
//! Claim: no block starts earlier under any placement (Coq: `nothing_before_its_pooled_bound`), so the result is
//! optimistic where it differs. Assumptions: independent kernels of one priority whose launch times are given. With
//! chains or priorities it is neither. `docs/analysis.md`, "Where it is not exact", has the proof.
//!
//! [`MergedBackend`] puts either kind of merged SM behind the stream queues.

use super::merged_sm::{MergedKernel, MergedSm, Pending, TimeOverflow};
use crate::device::{BlockDemand, Device, RegisterFile};
use crate::gpu::{Backend, BackendContext, Event, ReadyOperation, RunError};
use crate::limits::count_turn;
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::trace::{Launch, Observer};
use crate::workload::{OperationId, OperationKind, Origin, StreamId};

/// A kernel as the merged SM with pooled resources sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PooledKernel {
    /// When it enters the EE queue \[ns\].
    pub release: Instant,
    /// How long one block runs \[ns\].
    pub block_time: Duration,
    /// Blocks of the grid.
    pub blocks: u32,
    /// What one block takes.
    pub needs: Pool,
    /// Blocks of it that an empty GPU holds at once, on the SMs that it may use; at least 1.
    pub g_max: u32,
}

/// One SM with the resources of all; kernels are placed one after another, as they enter the EE queue.
///
/// Costs as [`MergedSm`] does: whole cycles are one step here too, because a kernel whose next block
/// does not fit takes exactly the places again that its own blocks leave.
#[derive(Debug, Clone)]
pub struct MergedResources {
    capacity: Pool,
    free: Pool,
    t_a: Instant,
    h: Pending<Pool>,
}

impl MergedResources {
    /// An empty merged SM at t = 0.
    #[doc(hidden)]
    pub fn new(capacity: Pool) -> Self {
        Self { capacity, free: capacity, t_a: Instant::ZERO, h: Pending::new() }
    }

    /// Empty again at t = 0.
    #[doc(hidden)]
    pub fn reset(&mut self) {
        self.free = self.capacity;
        self.t_a = Instant::ZERO;
        self.h.clear();
    }

    /// Places a kernel and gives the time at which it finishes. Releases must not decrease from call to call, and
    /// [`PooledKernel::g_max`] blocks must fit the empty SM.
    ///
    /// # Errors
    /// [`TimeOverflow`]; the merged SM is of no use then.
    #[doc(hidden)]
    pub fn place(&mut self, kernel: &PooledKernel) -> Result<Instant, TimeOverflow> {
        if kernel.release > self.t_a {
            self.advance(kernel.release, &kernel.needs);
        }
        let mut rest = kernel.blocks;
        loop {
            count_turn();
            let room = self.room(kernel).min(rest);
            let end = self.t_a.checked_add(kernel.block_time).ok_or(TimeOverflow)?;
            if room > 0 {
                self.take(&kernel.needs, room);
                self.h.push(end, room);
                rest -= room;
            }
            if rest == 0 {
                self.h.finish_kernel(kernel.needs);
                return Ok(end);
            }
            let cycles = self.h.whole_cycles(rest, kernel.block_time);
            if cycles > 0 {
                // At most `rest` blocks, see `whole_cycles`.
                let blocks = u64::from(cycles) * self.h.own_blocks();
                rest -= u32::try_from(blocks).proven("no more blocks than are left");
                self.h.skip(cycles, kernel.block_time).ok_or(TimeOverflow)?;
            }
            match self.h.earliest() {
                Some(next) => self.advance(next, &kernel.needs),
                // Nothing runs and nothing fits: the caller broke the rule on `g_max`.
                None => return Err(TimeOverflow),
            }
        }
    }

    /// How many further blocks fit now.
    fn room(&self, kernel: &PooledKernel) -> u32 {
        let fitting = self.free.iter().zip(&kernel.needs).filter_map(|(free, need)| free.checked_div(*need)).min();
        let left = u64::from(kernel.g_max).saturating_sub(self.h.own_blocks());
        u32::try_from(fitting.map_or(left, |fitting| fitting.min(left))).proven("at most g_max")
    }

    fn take(&mut self, needs: &Pool, blocks: u32) {
        for (free, need) in self.free.iter_mut().zip(needs) {
            *free -= need * u64::from(blocks);
        }
    }

    /// Makes `t` the new `t_a`; what has ended by then is free. Own blocks take `needs`.
    fn advance(&mut self, t: Instant, needs: &Pool) {
        self.t_a = t;
        let pool = &mut self.free;
        self.h.take_until(t, |blocks, other| {
            for (free, need) in pool.iter_mut().zip(other.as_ref().unwrap_or(needs)) {
                *free += need * u64::from(blocks);
            }
        });
    }
}

/// Number of resources: warps, block slots, shared memory, registers.
const RESOURCES: usize = 4;

/// What is pooled, or what one block takes of it, in the order warps, block slots, shared memory, registers.
pub(crate) type Pool = [u64; RESOURCES];

/// The resources of so many SMs together, of which blocks take what `needs` says: where all warps that take registers
/// take the same number, as many registers as such warps can take, else all units of them.
pub fn pool<'a>(device: &Device, sms: u32, needs: impl IntoIterator<Item = &'a Pool>) -> Pool {
    let file = RegisterFile::of(device);
    let registers = match kinds_of_warps(needs).as_slice() {
        [registers] => file.places(*registers) * registers,
        _ => file.usable(),
    };
    let per_sm = [device.warps_per_sm(), device.per_sm.blocks, device.per_sm.shared_memory_bytes, registers];
    per_sm.map(|limit| u64::from(limit) * u64::from(sms))
}

/// What one block takes of them.
pub fn needs(demand: &BlockDemand) -> Pool {
    [demand.warps, 1, demand.shared_memory_bytes, demand.registers].map(u64::from)
}

/// Registers of each warp of a block.
pub(crate) fn registers_per_warp(needs: &Pool) -> u32 {
    let [warps, .., registers] = needs;
    registers.checked_div(*warps).and_then(|registers| u32::try_from(registers).ok()).unwrap_or(0)
}

/// How many registers a warp takes that takes any, ascending.
pub(crate) fn kinds_of_warps<'a>(needs: impl IntoIterator<Item = &'a Pool>) -> Vec<u32> {
    let mut kinds: Vec<u32> = needs.into_iter().map(registers_per_warp).filter(|registers| *registers > 0).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// What the blocks of all kernels run on.
#[derive(Debug, Clone)]
pub(super) enum Merged {
    /// Equal blocks.
    Slots(MergedSm),
    /// Blocks that differ, or SM masks.
    Resources(MergedResources),
}

impl Merged {
    /// Places a kernel; `None`: it would finish after the end of time.
    pub(super) fn place(&mut self, cost: &PooledKernel) -> Option<Instant> {
        let placed = match self {
            Self::Slots(sm) => {
                sm.place(&MergedKernel { release: cost.release, block_time: cost.block_time, blocks: cost.blocks })
            }
            Self::Resources(sm) => sm.place(cost),
        };
        placed.ok()
    }
}

/// What the kernels and copies of a scenario take, by their ids.
#[derive(Debug)]
pub(super) struct Costs {
    /// SMs on which blocks run at once, at most.
    pub(super) sms: u32,
    /// The release is set when a kernel enters the EE queue.
    pub(super) kernels: Vec<PooledKernel>,
    /// How long a copy takes, and its engine.
    pub(super) copies: Vec<(Duration, usize)>,
}

/// The merged SM with copy engines beside it, as the backend behind the stream queues: a kernel is placed the moment it
/// enters the EE queue.
///
/// Kernels leave the one EE queue in the order in which they enter it, so when a kernel enters, everything that
/// decides its finish is known. The host threads of a scenario run in front of this as they do in front of the
/// simulated SMs, and the stream queues between are the same; there is only one priority.
#[derive(Debug)]
pub(super) struct MergedBackend<'a> {
    costs: &'a Costs,
    merged: Merged,
    /// When each copy engine has done what it has.
    engines: Vec<Instant>,
    /// Kernels and copies in the order in which they entered, and when each is analysed to finish.
    pub(super) entered: Vec<(OperationId, Instant)>,
    /// The first that would finish after the end of time.
    overflow: Option<OperationId>,
}

impl<'a> MergedBackend<'a> {
    /// An idle one.
    pub(super) fn new(costs: &'a Costs, merged: Merged, engines: u32) -> Self {
        let engines = vec![Instant::ZERO; engines as usize];
        Self { costs, merged, engines, entered: Vec::new(), overflow: None }
    }

    /// When an operation that enters at `now` is analysed to finish.
    fn finish(&mut self, kind: OperationKind, now: Instant) -> Option<Instant> {
        match kind {
            OperationKind::Kernel(kernel) => {
                let cost = self.costs.kernels.get(kernel.index())?;
                self.merged.place(&PooledKernel { release: now, ..*cost })
            }
            OperationKind::Copy(copy) => {
                let &(duration, engine) = self.costs.copies.get(copy.index())?;
                let engine = self.engines.get_mut(engine)?;
                *engine = now.max(*engine).checked_add(duration)?;
                Some(*engine)
            }
            _ => Some(now),
        }
    }
}

impl Backend for MergedBackend<'_> {
    /// Places a kernel or a copy; its completion is known at once.
    fn enter<O: Observer>(&mut self, ready: ReadyOperation, context: &mut BackendContext<'_, O>) {
        match self.finish(ready.kind, context.now) {
            Some(finish) => {
                self.entered.push((ready.operation, finish));
                context.calendar.complete_at(finish, Event::Wave(ready.operation.0));
            }
            None => self.overflow = self.overflow.or(Some(ready.operation)),
        }
    }

    fn dispatch<O: Observer>(&mut self, _context: &mut BackendContext<'_, O>) -> Result<Option<OperationId>, RunError> {
        match self.overflow {
            Some(operation) => Err(RunError::TimeOverflow { operation }),
            None => Ok(None),
        }
    }

    fn clear(&mut self) {
        match &mut self.merged {
            Merged::Slots(sm) => sm.clear(),
            Merged::Resources(sm) => sm.reset(),
        }
        self.engines.fill(Instant::ZERO);
        self.entered.clear();
        self.overflow = None;
    }
}

/// An analysed operation; an instant that was not reached is `None`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Analysed {
    pub(super) kind: OperationKind,
    pub(super) stream: StreamId,
    pub(super) origin: Origin,
    pub(super) launched: Instant,
    /// When it entered the EE or CE queue: the release r of the analysis.
    pub(super) queued: Option<Instant>,
    /// When it is analysed to finish.
    pub(super) finish: Option<Instant>,
}

/// Keeps what the analysis has to know of each operation.
#[derive(Debug, Clone, Default)]
pub(super) struct Walk {
    pub(super) operations: Vec<Analysed>,
}

impl Observer for Walk {
    fn launched(&mut self, _operation: OperationId, launch: &Launch) {
        let &Launch { kind, stream, origin, at } = launch;
        self.operations.push(Analysed { kind, stream, origin, launched: at, queued: None, finish: None });
    }

    fn queued(&mut self, operation: OperationId, _order: Option<u32>, at: Instant) {
        if let Some(analysed) = self.operations.get_mut(operation.index()) {
            analysed.queued = Some(at);
        }
    }

    fn finished(&mut self, operation: OperationId, at: Instant) {
        if let Some(analysed) = self.operations.get_mut(operation.index()) {
            analysed.finish = Some(at);
        }
    }

    fn clear(&mut self) {
        self.operations.clear();
    }

    fn reserve(&mut self, launches: usize) {
        self.operations.reserve(launches);
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::super::merged_sm;
    use super::super::merged_sm::MergedKernel;
    use super::*;

    fn kernel(release: u64, c: u64, blocks: u32, warps: u64, g_max: u32) -> PooledKernel {
        PooledKernel {
            release: Instant::from_ns(release),
            block_time: Duration::from_ns(c),
            blocks,
            needs: [warps, 1, 0, 0],
            g_max,
        }
    }

    #[test]
    fn a_block_of_1024_starts_beside_six_of_512_on_a_merged_sm() {
        let mut sm = MergedResources::new([128, 64, 0, 0]);
        assert_eq!(sm.place(&kernel(0, 100, 6, 16, 8)), Ok(Instant::from_ns(100)));
        assert_eq!(sm.place(&kernel(25, 100, 1, 32, 4)), Ok(Instant::from_ns(125)));
    }

    #[test]
    fn no_more_blocks_of_768_threads_than_the_real_gpu_holds() {
        let mut sm = MergedResources::new([128, 64, 0, 0]);
        assert_eq!(sm.place(&kernel(0, 10, 5, 24, 4)), Ok(Instant::from_ns(20)));
    }

    #[test]
    fn the_largest_grid_beside_another_kernel_takes_no_longer_than_a_small_one() {
        let mut sm = MergedResources::new([128, 64, 0, 0]);
        assert_eq!(sm.place(&kernel(0, 1_000_000_000, 1, 16, 8)), Ok(Instant::from_ns(1_000_000_000)));
        assert_eq!(sm.place(&kernel(0, 1, 2_147_483_647, 16, 8)), Ok(Instant::from_ns(306_783_379)));
    }

    proptest! {
        #[test]
        fn equal_blocks_give_what_the_merged_sm_gives(
            g_max in 1_u32..9,
            set in prop::collection::vec((0_u64..9, 1_u64..9, 1_u32..40), 1..10),
        ) {
            let mut slots = merged_sm::MergedSm::new(NonZeroU32::new(g_max).unwrap());
            let mut pool = MergedResources::new([16 * u64::from(g_max), 1_000, 0, 0]);
            let mut release = 0;
            for (gap, c, blocks) in set {
                release += gap;
                let pooled = kernel(release, c, blocks, 16, g_max);
                let merged = MergedKernel { release: pooled.release, block_time: pooled.block_time, blocks };
                prop_assert_eq!(slots.place(&merged), pool.place(&pooled));
            }
        }
    }
}
