//! Copies: whose turn on an engine it is, how long they take, and those that share a link.

use gpusched::device::CopySharing;
use gpusched::workload::OperationKind;

use super::gpu::{Place, ReferenceGpu, Running};
use super::waiting::Progress;

/// A copy on a link that it shares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sharing {
    pub(super) operation: usize,
    pub(super) engine: usize,
    /// What it still has to get \[1 / `PARTS` ns\].
    pub(super) left: u128,
    /// How many blocks and copies had begun before.
    pub(super) order: usize,
}

impl ReferenceGpu<'_> {
    pub(super) fn has_a_share(&self, copy: &Sharing) -> bool {
        self.progresses(copy.operation, Place::Engine(copy.engine))
    }

    /// How many copies have a share of a link.
    pub(super) fn on_link(&self, engine: usize) -> u128 {
        let shares = |copy: &&Sharing| copy.engine == engine && self.has_a_share(copy);
        let count = self.sharing.iter().filter(shares).count() as u128;
        assert!(count <= 24, "the shares of more copies are rounded");
        count
    }

    /// Copies on links that have had all their share: from here on they are like others that end now.
    pub(super) fn leave_links(&mut self) {
        let done = self.sharing.iter().filter(|copy| copy.left == 0);
        self.running.extend(done.map(|copy| Running {
            operation: copy.operation,
            place: Place::Engine(copy.engine),
            block: 0,
            left: 0,
            wait_left: None,
            trigger_left: None,
            watches_timer: false,
            order: copy.order,
            sync: Progress::default(),
        }));
        self.sharing.retain(|copy| copy.left > 0);
        self.running.sort_by_key(|running| running.order);
    }

    /// T5: copies that share a link do so whatever their contexts, unless they wait for the turns of those.
    pub(super) fn all_share_links(&self) -> bool {
        self.scenario.device().copy.sharing == CopySharing::SharedLink && !self.contexts.share_a_runlist
    }

    /// The first copy in the queues of an engine whose context it takes copies of.
    pub(super) fn next_copy(&self, engine: usize) -> Option<(usize, usize)> {
        let runlist = if self.contexts.share_a_runlist { &self.compute } else { &self.engines[engine] };
        let is_taken = |context: &usize| self.all_share_links() || runlist.takes_work_of() == Some(*context);
        let heads = (0..self.contexts.number())
            .filter(is_taken)
            .filter_map(|context| Some((context, *self.ce_queues[context][engine].front()?)));
        heads.min_by_key(|&(_, operation)| self.operations[operation].entry)
    }

    /// Whether a context has a copy on an engine that has begun and not ended.
    pub(super) fn has_begun_a_copy(&self, context: usize, engine: usize) -> bool {
        let alone = self.running.iter().filter(|running| running.place == Place::Engine(engine));
        let on_link = self.sharing.iter().filter(|copy| copy.engine == engine);
        let mut begun = alone.map(|running| running.operation).chain(on_link.map(|copy| copy.operation));
        begun.any(|operation| self.context_of(operation) == context)
    }

    pub(super) fn copy_time(&self, operation: usize) -> u64 {
        let OperationKind::Copy(copy) = self.operations[operation].kind else { panic!("no copy in a CE queue") };
        let copy = &self.scenario.copies()[copy.index()];
        if let Some(stated) = copy.duration {
            return stated.as_ns();
        }
        let engines = &self.scenario.device().copy;
        let bandwidth = match copy.direction {
            gpusched::device::CopyDirection::HostToDevice => engines.host_to_device_bytes_per_s,
            gpusched::device::CopyDirection::DeviceToHost => engines.device_to_host_bytes_per_s,
            gpusched::device::CopyDirection::DeviceToDevice => engines.device_to_device_bytes_per_s,
        };
        let nanoseconds = copy.bytes.expect("a copy without duration states its size") * 1_000_000_000;
        let transfer = nanoseconds / bandwidth + u64::from(!nanoseconds.is_multiple_of(bandwidth));
        engines.latency.as_ns() + transfer
    }
}
