//! Schedulers that submit an application as it is, whole: plain streams, and two that give the GPU to one application
//! at a time. Below them is what all schedulers of applications share: kernels and copies as the GPU knows them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Scheduler;
use super::usage_sums::{UsageDetail, UsageSums};
use crate::applications::{ApplicationSet, ApplicationUsage, Class, Injection, Usage};
use crate::device::{CopyDirection, SmMask};
use crate::gpu::{Gpu, GpuEvent, GpuInterface, GpuOptions, Host, RunError, SubmitError};
use crate::time::{Duration, Instant};
use crate::workload::{
    BlockClock, BlockTime, Copy, CopyId, Kernel, KernelId, OperationId, OperationKind, Origin, StreamId, StreamSpec,
};

/// Kernels and copies made known to the GPU so far; equal ones are made known once.
#[derive(Debug)]
pub(super) struct Catalogue<'a> {
    pub(super) set: &'a ApplicationSet,
    kernels: FxHashMap<KernelKey, KernelId>,
    copies: FxHashMap<(CopyDirection, u64), CopyId>,
}

/// A grid of `blocks` blocks of kernel `kernel` of application `application`, each running for `block_time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct KernelKey {
    pub(super) application: u32,
    pub(super) kernel: u32,
    pub(super) blocks: u32,
    pub(super) block_time: Duration,
    pub(super) sm_mask: Option<SmMask>,
}

impl<'a> Catalogue<'a> {
    pub(super) fn new(set: &'a ApplicationSet) -> Self {
        Self { set, kernels: FxHashMap::default(), copies: FxHashMap::default() }
    }

    /// The injection of that number. One that is not in the set has no application, and nothing is submitted for it.
    pub(super) fn injection(&self, number: u32) -> Injection {
        const NONE: Injection = Injection { application: u32::MAX, arrival: Instant::MAX, requirement: Duration::ZERO };
        self.set.injections.get(number as usize).copied().unwrap_or(NONE)
    }

    /// Asks to be woken when each injection arrives, by its number.
    fn wake_at_arrivals(&self, gpu: &mut impl GpuInterface) {
        for (token, injection) in (0..).zip(&self.set.injections) {
            gpu.wake_at(injection.arrival, token);
        }
    }

    /// Whether injection `number` copies anything.
    pub(super) fn copies_anything(&self, number: u32) -> bool {
        let found = self.set.of(&self.injection(number));
        found.is_some_and(|(application, _)| application.copy_in_bytes > 0 || application.copy_out_bytes > 0)
    }

    pub(super) fn kernel(&mut self, gpu: &mut impl GpuInterface, key: KernelKey) -> Result<KernelId, SubmitError> {
        if let Some(&known) = self.kernels.get(&key) {
            return Ok(known);
        }
        let application = self.set.applications.get(key.application as usize).ok_or(SubmitError::Unknown)?;
        let kernel = application.kernels.get(key.kernel as usize).ok_or(SubmitError::Unknown)?;
        let id = gpu.add_kernel(Kernel {
            name: kernel.name.clone(),
            title: format!("{}/{}", application.name, kernel.name).into(),
            blocks: key.blocks,
            shape: kernel.shape,
            duration: BlockTime::fixed(key.block_time),
            clock: BlockClock::RunTime,
            sm_mask: key.sm_mask,
        })?;
        self.kernels.insert(key, id);
        Ok(id)
    }

    /// Submits a copy for injection `number`; `None` if there is nothing to copy.
    pub(super) fn submit_copy(
        &mut self,
        gpu: &mut impl GpuInterface,
        number: u32,
        stream: StreamId,
        direction: CopyDirection,
    ) -> Result<Option<OperationId>, SubmitError> {
        let Some((application, _)) = self.set.of(&self.injection(number)) else { return Ok(None) };
        let bytes = match direction {
            CopyDirection::DeviceToHost => application.copy_out_bytes,
            _ => application.copy_in_bytes,
        };
        if bytes == 0 {
            return Ok(None);
        }
        let id = match self.copies.get(&(direction, bytes)) {
            Some(&known) => known,
            None => gpu.add_copy(Copy { direction, bytes: Some(bytes), duration: None })?,
        };
        self.copies.insert((direction, bytes), id);
        gpu.submit(stream, OperationKind::Copy(id), Origin { thread: number, iteration: 0 }).map(Some)
    }

    /// A stream for injection `number`, of the default priority, which the NULL stream does not hold up.
    pub(super) fn add_stream(&self, gpu: &mut impl GpuInterface, number: u32) -> Result<StreamId, SubmitError> {
        let name = self.set.of(&self.injection(number)).map_or("", |(application, _)| &application.name);
        gpu.add_stream(StreamSpec { blocking: false, ..StreamSpec::new(format!("{name} #{number}")) })
    }

    /// Submits everything that injection `number` does, in a stream of its own: copy in, every launch of every kernel
    /// with all its blocks and all SMs, copy out. Gives the last operation.
    pub(super) fn submit_whole(
        &mut self,
        gpu: &mut impl GpuInterface,
        number: u32,
    ) -> Result<Option<OperationId>, SubmitError> {
        let injection = self.injection(number);
        let Some((_, profile)) = self.set.of(&injection) else { return Ok(None) };
        let stream = self.add_stream(gpu, number)?;
        let mut last = self.submit_copy(gpu, number, stream, CopyDirection::HostToDevice)?;
        for (kernel, index) in (0_u32..).zip(0..profile.kernels()) {
            let key = KernelKey {
                application: injection.application,
                kernel,
                blocks: profile.blocks(index),
                block_time: profile.block_time(index, profile.sms()),
                sm_mask: None,
            };
            let id = self.kernel(gpu, key)?;
            for _ in 0..profile.launches(index) {
                let origin = Origin { thread: number, iteration: kernel };
                last = Some(gpu.submit(stream, OperationKind::Kernel(id), origin)?);
            }
        }
        Ok(self.submit_copy(gpu, number, stream, CopyDirection::DeviceToHost)?.or(last))
    }
}

/// A scheduler that submits every application as it arrives, or gives the whole GPU to one at a time, and takes it from
/// none: whenever the GPU has nothing to do, it then submits the waiting application with the smallest rank; of equals
/// the one that arrived first.
#[derive(Debug)]
struct Submitter<'a, R> {
    catalogue: Catalogue<'a>,
    one_at_a_time: bool,
    rank: fn(&ApplicationSet, &Injection) -> R,
    waiting: BTreeSet<(R, u32)>,
    /// The last operation of the application that was submitted last, until it is done.
    running: Option<OperationId>,
}

impl<'a, R: Ord> Submitter<'a, R> {
    fn one_at_a_time(set: &'a ApplicationSet, rank: fn(&ApplicationSet, &Injection) -> R) -> Self {
        Self { catalogue: Catalogue::new(set), one_at_a_time: true, rank, waiting: BTreeSet::new(), running: None }
    }
}

impl<R: Ord> Host for Submitter<'_, R> {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        self.catalogue.wake_at_arrivals(gpu);
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, _gpu: &impl GpuInterface) {
        if let GpuEvent::Completed(operation) = event
            && self.running == Some(operation)
        {
            self.running = None;
        }
    }

    fn on_wake(&mut self, token: u64) {
        let Ok(number) = u32::try_from(token) else { return };
        let rank = (self.rank)(self.catalogue.set, &self.catalogue.injection(number));
        self.waiting.insert((rank, number));
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        let most = if self.one_at_a_time { usize::from(self.running.is_none()) } else { self.waiting.len() };
        for (_, number) in (0..most).map_while(|_| self.waiting.pop_first()) {
            self.running = self.catalogue.submit_whole(gpu, number)?;
        }
        Ok(())
    }
}

/// TimeGraph, as GPU-EvR was compared with it: one application at a time on the whole GPU, the highest class first;
/// within a class, first come, first served.
///
/// Kato, Lakshmanan, Rajkumar and Ishikawa, "TimeGraph: GPU Scheduling for Real-Time Multi-Tasking Environments",
/// USENIX ATC 2011, schedule GPU commands by task priority. Lee and Al Faruque (DATE 2014) compare with it as a
/// framework that handles one application at a time; its reservations, which bound the GPU time of a task, play no part
/// there and none here. A running application is never preempted.
pub(super) fn timegraph(set: &ApplicationSet) -> impl Host<Error = RunError> {
    Submitter::one_at_a_time(set, class_of)
}

fn class_of(set: &ApplicationSet, injection: &Injection) -> Class {
    set.of(injection).map_or(Class::Low, |(application, _)| application.class)
}

/// Global EDF, as GPU-EvR was compared with it: one application at a time on the whole GPU, the earliest due first; of
/// applications due at one instant, first come, first served.
///
/// Elliott and Anderson, "Globally Scheduled Real-Time Multiprocessor Systems with GPUs", RTNS 2010, treat the GPU as a
/// resource that jobs of a globally EDF-scheduled system lock. Lee and Al Faruque (DATE 2014) compare with it as a
/// framework that handles one application at a time; the CPUs play no part there and none here. A running application
/// is never preempted.
pub(super) fn global_edf(set: &ApplicationSet) -> impl Host<Error = RunError> {
    Submitter::one_at_a_time(set, due_of)
}

fn due_of(_: &ApplicationSet, injection: &Injection) -> Instant {
    injection.due()
}

/// What each application of a set takes that has the GPU to itself, as far as that was asked for: it is the same
/// whenever it comes.
#[derive(Debug, Default)]
pub struct Alone(Vec<Option<Usage>>);

impl Alone {
    /// The sums over a run under a scheduler that gives the GPU to one application at a time. `None`: that takes a
    /// simulation, under others, where what an application holds comes free after its end, and where it fails.
    pub(super) fn usage(&mut self, scheduler: Scheduler, set: &ApplicationSet) -> Option<Usage> {
        match scheduler {
            _ if set.device.block_gap > Duration::ZERO => None,
            Scheduler::TimeGraph => self.one_at_a_time(set, class_of),
            Scheduler::GlobalEdf => self.one_at_a_time(set, due_of),
            Scheduler::GpuEvr | Scheduler::PlainStreams => None,
        }
    }

    fn one_at_a_time<R: Ord>(
        &mut self,
        set: &ApplicationSet,
        rank: fn(&ApplicationSet, &Injection) -> R,
    ) -> Option<Usage> {
        let mut to_come: BTreeSet<(Instant, u32)> =
            (0..).zip(&set.injections).map(|(number, injection)| (injection.arrival, number)).collect();
        let mut waiting = BTreeSet::new();
        let mut sums = UsageSums::new(set.device.sms, set.injections.len(), UsageDetail::Totals).into_usage();
        loop {
            while let Some(&(_, number)) = to_come.first().filter(|(arrival, _)| *arrival <= sums.end) {
                to_come.pop_first();
                waiting.insert((rank(set, set.injections.get(number as usize)?), number));
            }
            let Some((_, number)) = waiting.pop_first() else {
                let Some(&(arrival, _)) = to_come.first() else { return Some(sums) };
                sums.end = arrival;
                continue;
            };
            let alone = self.of(set, set.injections.get(number as usize)?)?;
            let own = alone.applications.first()?;
            let after = sums.end.since(Instant::ZERO);
            let at = |then: Instant| then.checked_add(after).filter(|&then| then < Instant::MAX);
            *sums.applications.get_mut(number as usize)? =
                ApplicationUsage { start: Some(at(own.start?)?), end: Some(at(own.end?)?), ..*own };
            sums.busy_ns += alone.busy_ns;
            sums.end = at(alone.end)?;
        }
    }

    fn of(&mut self, set: &ApplicationSet, injection: &Injection) -> Option<&Usage> {
        let index = injection.application as usize;
        if self.0.len() <= index {
            self.0.resize(set.applications.len().max(index + 1), None);
        }
        if self.0[index].is_none() {
            let mut only = set.clone();
            only.injections = vec![Injection { arrival: Instant::ZERO, ..*injection }];
            let sums = UsageSums::new(set.device.sms, 1, UsageDetail::Totals);
            let mut gpu = Gpu::observed_by(sums, &set.device, GpuOptions::default());
            gpu.run(&mut plain_streams(&only)).ok()?;
            self.0[index] = Some(gpu.into_back_and_observer().1.into_usage());
        }
        self.0[index].as_ref()
    }
}

/// Plain CUDA streams: what a user gets who installs no framework at all.
///
/// Every application has a stream of its own, of the default priority, and submits everything at the instant of its
/// arrival. The hardware's rules do the rest: concurrency where blocks fit, and first in, first out between kernels
/// (X1). Neither class nor requirement is known to anybody.
pub(super) fn plain_streams(set: &ApplicationSet) -> impl Host<Error = RunError> {
    Submitter { one_at_a_time: false, ..Submitter::one_at_a_time(set, |_, _| ()) }
}
