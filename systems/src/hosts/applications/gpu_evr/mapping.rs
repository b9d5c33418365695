//! The mapping of blocks to SMs: passing SMs on at block boundaries, and launching blocks where they can start.

use rustc_hash::FxHashMap;

use super::managers::GpuManager;
use super::timing::{RunningApp, SmSet, Stage};
use crate::applications::ApplicationSet;
use crate::device::CopyDirection;
use crate::gpu::{GpuInterface, SubmitError};
use crate::hosts::applications::whole::{Catalogue, KernelKey};
use crate::proven::Proven;
use crate::time::{Duration, Instant};
use crate::workload::{OperationId, OperationKind, Origin, StreamId, StreamSpec};

/// SMs that GPU-EvR can tell apart: the bits of an SM mask.
pub const MAX_SMS: u32 = 128;

/// The SMs and what was launched on them.
#[derive(Debug)]
pub(super) struct Mapping<'a> {
    catalogue: Catalogue<'a>,
    /// SMs that belong to nobody.
    free: SmSet,
    /// Whether every application has the SMs that it should have.
    settled: bool,
    /// Whether rounds of blocks between which nothing is decided are launched as one.
    pub(super) joins_rounds: bool,
    /// One stream for each SM. A launch goes to the stream of the lowest SM that it covers: so it never queues behind
    /// another launch, because that SM is idle.
    streams: Vec<StreamId>,
    /// For each SM, the launch in its stream.
    launched: Vec<Option<Launch>>,
    /// Injections that have completed their kernels and whose output is still to be copied.
    copy_out: Vec<u32>,
    /// The stream of each injection's copies, where it has any.
    copy_streams: Vec<Option<StreamId>>,
    /// The injection of each operation that has not completed, and the SM in whose stream it is, for kernels.
    submitted: FxHashMap<OperationId, (u32, Option<u32>)>,
}

/// Blocks that were launched together, a group or so many rounds of one for each of these SMs; they end together.
#[derive(Debug, Clone, Copy)]
struct Launch {
    sms: SmSet,
    blocks: u32,
}

impl<'a> Mapping<'a> {
    pub(super) fn new(set: &'a ApplicationSet) -> Self {
        Self {
            catalogue: Catalogue::new(set),
            free: SmSet::first(set.device.sms),
            settled: true,
            joins_rounds: false,
            streams: Vec::new(),
            launched: vec![None; set.device.sms as usize],
            copy_out: Vec::new(),
            copy_streams: vec![None; set.injections.len()],
            submitted: FxHashMap::default(),
        }
    }

    /// Creates the streams.
    pub(super) fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), SubmitError> {
        for sm in 0..self.launched.len() {
            let spec = StreamSpec { blocking: false, ..StreamSpec::new(format!("SM {sm}")) };
            self.streams.push(gpu.add_stream(spec)?);
        }
        Ok(())
    }

    pub(super) fn completed(&mut self, operation: OperationId, manager: &mut GpuManager<'a>) {
        let Some((number, sm)) = self.submitted.remove(&operation) else { return };
        let Some(position) = manager.running().iter().position(|app| app.number == number) else { return };
        let app = &mut manager.running_mut()[position];
        let launched = sm.and_then(|sm| self.launched.get_mut(sm as usize));
        if let Some(launch) = launched.and_then(Option::take) {
            app.idle.add(launch.sms);
            app.count_completed(launch.blocks);
        } else {
            app.begin_kernels();
        }
        if app.progress == Stage::KernelsDone {
            let ended = manager.end_app(position);
            self.free.add(ended.owned);
            self.copy_out.push(number);
        }
    }

    /// Idle SMs of applications that have too many go to those that have too few, the highest class first.
    pub(super) fn hand_over(&mut self, manager: &mut GpuManager<'_>) {
        // Most events end a round of blocks and change nothing else.
        if !manager.take_changed() && self.settled {
            return;
        }
        for app in manager.running_mut() {
            let excess = app.owned.len().saturating_sub(app.target());
            let given_up = app.idle.lowest_of(excess);
            app.owned.remove(given_up);
            app.idle.remove(given_up);
            self.free.add(given_up);
        }
        for app in manager.running_mut() {
            let missing = app.target().saturating_sub(app.owned.len());
            let taken = self.free.lowest_of(missing);
            self.free.remove(taken);
            app.owned.add(taken);
            app.idle.add(taken);
        }
        self.settled = manager.running().iter().all(|app| app.owned.len() == app.target());
    }

    /// Submits what can start. Up to `until` no application comes or becomes urgent.
    pub(super) fn launch(
        &mut self,
        gpu: &mut impl GpuInterface,
        manager: &mut GpuManager<'_>,
        until: Instant,
    ) -> Result<(), SubmitError> {
        for number in std::mem::take(&mut self.copy_out) {
            self.copy(gpu, number, CopyDirection::DeviceToHost)?;
        }
        // Nor does any application end, which is the only other reason to decide anew.
        let undecided = if self.joins_rounds && self.settled {
            let ends = manager.running().iter().filter_map(RunningApp::kernels_left_at_least);
            ends.fold(until.since(gpu.now()), Duration::min)
        } else {
            Duration::ZERO
        };
        for app in manager.running_mut() {
            if app.progress == Stage::Submitted {
                if self.copy(gpu, app.number, CopyDirection::HostToDevice)? {
                    app.progress = Stage::CopyIn;
                } else {
                    app.begin_kernels();
                }
            }
            self.launch_blocks(gpu, app, undecided)?;
        }
        Ok(())
    }

    /// Submits a copy. Says whether there was anything to copy.
    fn copy(
        &mut self,
        gpu: &mut impl GpuInterface,
        number: u32,
        direction: CopyDirection,
    ) -> Result<bool, SubmitError> {
        let known = self.copy_streams.get(number as usize).copied().flatten();
        let stream = match known {
            Some(stream) => stream,
            None if !self.catalogue.copies_anything(number) => return Ok(false),
            None => self.catalogue.add_stream(gpu, number)?,
        };
        if let Some(slot) = self.copy_streams.get_mut(number as usize) {
            *slot = Some(stream);
        }
        let operation = self.catalogue.submit_copy(gpu, number, stream, direction)?;
        self.submitted.extend(operation.map(|operation| (operation, (number, None))));
        Ok(operation.is_some())
    }

    /// Fills the idle SMs of an application with blocks of its present kernel, as far as there are any. Full rounds on
    /// all its SMs that are over within `undecided` are one, whose blocks run as long as all of them.
    fn launch_blocks(
        &mut self,
        gpu: &mut impl GpuInterface,
        app: &mut RunningApp<'_>,
        undecided: Duration,
    ) -> Result<(), SubmitError> {
        let Stage::Kernel { kernel, submitted, .. } = app.progress else { return Ok(()) };
        if app.idle.is_empty() {
            return Ok(());
        }
        let left = app.profile.blocks(kernel) - submitted;
        let sms = app.idle.lowest_of(left);
        let Some(lowest) = sms.lowest() else { return Ok(()) };
        let blocks = left.min(sms.len().saturating_mul(app.profile.blocks_per_sm(kernel)));
        let block_time = app.profile.block_time(kernel, app.owned.len());
        let mut rounds = 1;
        if app.idle == app.owned
            && let Some(within) = undecided.as_ns().checked_div(block_time.as_ns())
        {
            rounds = u32::try_from(within).unwrap_or(u32::MAX).min(left / blocks).max(1);
        }
        let kernel = u32::try_from(kernel).proven("a file has fewer than 2^32 kernels");
        let key = KernelKey {
            application: self.catalogue.injection(app.number).application,
            kernel,
            blocks,
            // No longer than the whole kernel, whose time the profile has.
            block_time: block_time.repeated(rounds.into()),
            sm_mask: Some(sms.mask()),
        };
        let id = self.catalogue.kernel(gpu, key)?;
        let stream = self.streams.get(lowest as usize).copied().ok_or(SubmitError::Unknown)?;
        let origin = Origin { thread: app.number, iteration: kernel };
        let operation = gpu.submit(stream, OperationKind::Kernel(id), origin)?;
        self.submitted.insert(operation, (app.number, Some(lowest)));
        self.launched[lowest as usize] = Some(Launch { sms, blocks: blocks * rounds });
        app.idle.remove(sms);
        app.count_submitted(blocks * rounds);
        Ok(())
    }
}
