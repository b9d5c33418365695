//! The processes of a catalogue, and the hardware channels to which their streams are dealt.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Catalogue, CheckedStream, WorkloadError, next};
use crate::device::{ChannelOrder, Device, Runlists};
use crate::time::Duration;
use crate::workload::process::MOST_TURNS;
use crate::workload::{
    CheckedProcess, GreenContext, GreenContextId, InterleaveLevel, ProcessId, ProcessSharing, ProcessSpec, StreamId,
    StreamSpec, TurnTaking,
};

impl Catalogue {
    /// Processes, by [`ProcessId`]; at least one.
    pub fn processes(&self) -> &[CheckedProcess] {
        &self.processes
    }

    /// What a process is called; empty if it is not known.
    pub fn process_name(&self, process: ProcessId) -> &str {
        self.processes().get(process.index()).map_or("", |process| &process.name)
    }

    /// Whether the contexts of several processes take turns.
    pub fn is_time_sliced(&self) -> bool {
        self.processes.len() > 1 && !self.sharing.mps
    }

    /// How processes share the GPU.
    pub const fn sharing(&self) -> ProcessSharing {
        self.sharing
    }

    /// On how many SMs a process may have blocks at once: on all of them, unless it is a client of MPS with a
    /// percentage or a static partition. An unknown one: on all.
    pub fn sms_at_once(&self, process: ProcessId) -> u32 {
        if self.device.gpus() > 1 {
            return self.device.sms / self.device.gpus();
        }
        let client = self.processes.get(process.index()).filter(|_| self.sharing.mps);
        client.map_or(self.device.sms, |client| client.client_sms(&self.device))
    }

    /// Whether a process is a client of MPS that may use a part of the SMs only: then it has EE queues of its own.
    pub fn is_limited_client(&self, process: ProcessId) -> bool {
        self.sms_at_once(process) < self.device.sms
    }

    /// Whether no two processes have blocks on one SM at once: all are clients of MPS, and their shares add up to no
    /// more than there are SMs.
    pub fn clients_are_disjoint(&self) -> bool {
        let all = (0..).map(ProcessId).take(self.processes.len());
        let shares: u64 = all.map(|process| u64::from(self.sms_at_once(process))).sum();
        self.sharing.mps && shares <= u64::from(self.device.sms)
    }

    /// Who has EE queues: 0 is whatever is in no green context and of no client with a part of the SMs; each of these
    /// has a number of its own. There are green contexts of one process only, which is no such client.
    #[inline]
    pub(crate) fn queues_of(&self, stream: &StreamSpec) -> usize {
        match stream.green_context {
            Some(green) => green.index() + 1,
            None if self.is_limited_client(stream.process) => stream.process.index() + 1,
            None => 0,
        }
    }

    /// Whose EE queues kernels of a stream enter: two streams with the same number share them.
    pub fn owner_of_queues(&self, stream: StreamId) -> usize {
        let Some(spec) = self.streams.get(stream.index()) else { return 0 };
        if self.is_time_sliced() { spec.process.index() } else { self.queues_of(spec) }
    }

    /// Whether streams of one process or green context are more than the channels that they take.
    pub fn shares_channels(&self) -> bool {
        let mut streams: BTreeMap<(ProcessId, Option<GreenContextId>), u32> = BTreeMap::new();
        (0..).map(StreamId).zip(self.streams.iter()).any(|(id, stream)| {
            let own = self.work_queues_of(id);
            let pool = streams.entry((stream.process, own.map(|(green, _)| green))).or_default();
            *pool += 1;
            own.map(|(_, queues)| queues).or(self.device.channels).is_some_and(|channels| *pool > channels)
        })
    }

    /// By process, the first process that shares its context and EE queues: one that takes turns shares them with
    /// nobody, nor does a client of MPS with a part of the SMs.
    pub(super) fn queue_contexts(&self) -> Vec<ProcessId> {
        let all = || (0..).map(ProcessId).take(self.processes.len());
        let shares = |process: &ProcessId| self.sharing.mps && !self.is_limited_client(*process);
        let first = all().find(shares);
        all().map(|process| first.filter(|_| shares(&process)).unwrap_or(process)).collect()
    }

    /// How contexts take turns; `None` if they do not.
    #[doc(hidden)]
    pub fn turn_taking(&self) -> Option<TurnTaking> {
        self.is_time_sliced().then(|| TurnTaking {
            time_slices: self.processes.iter().map(|process| self.time_slice(process)).collect(),
            switch_cost: self.switch_cost(),
            copies_run_in_turn: self.device.time_slicing.runlists == Runlists::Shared,
        })
    }

    /// T3.
    fn switch_cost(&self) -> Duration {
        self.sharing.switch_cost.unwrap_or(self.device.time_slicing.switch_cost)
    }

    /// T2.
    fn time_slice(&self, process: &ProcessSpec) -> Duration {
        process.time_slice.unwrap_or(self.device.time_slicing.time_slice)
    }

    /// Changes how processes share the GPU.
    ///
    /// # Errors
    /// [`WorkloadError::SwitchCost`] if a switch costs more than a time slice of a process that is known already.
    pub fn set_sharing(&mut self, sharing: ProcessSharing) -> Result<(), WorkloadError> {
        let before = std::mem::replace(&mut self.sharing, sharing);
        let is_possible = self.check_processes().and_then(|()| self.check_green_contexts());
        is_possible.and_then(|()| self.place_partitions()).inspect_err(|_| self.sharing = before)
    }

    /// Adds a process with its NULL stream.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device does not take its time slice.
    pub fn add_process(&mut self, spec: ProcessSpec) -> Result<ProcessId, WorkloadError> {
        let id = ProcessId(next(self.processes.len())?);
        if !self.green_contexts().is_empty() {
            return Err(WorkloadError::GreenContextsOfProcesses);
        }
        self.check_process(&spec)?;
        let stream = StreamSpec { process: id, ..StreamSpec::new(format!("NULL of {}", spec.name)) };
        let null = StreamId(next(self.streams.len())?);
        self.processes.push(CheckedProcess { spec, null });
        if self.turns_in_a_round() > MOST_TURNS {
            self.processes.pop();
            return Err(WorkloadError::Runlist);
        }
        let checked = CheckedStream::new(stream, &self.device)?;
        Arc::make_mut(&mut self.streams).push(checked);
        self.place_partitions().inspect_err(|_| {
            self.processes.pop();
            Arc::make_mut(&mut self.streams).pop();
        })?;
        Ok(id)
    }

    /// Makes another process of one that is known. An unknown one is passed over.
    ///
    /// # Errors
    /// [`WorkloadError`] if the device does not take its time slice.
    pub fn set_process(&mut self, process: ProcessId, spec: ProcessSpec) -> Result<(), WorkloadError> {
        self.check_process(&spec)?;
        let Some(known) = self.processes.get_mut(process.index()) else { return Ok(()) };
        let before = std::mem::replace(&mut known.spec, spec);
        let is_kept = if self.turns_in_a_round() > MOST_TURNS { Err(WorkloadError::Runlist) } else { Ok(()) };
        let is_kept = is_kept.and_then(|()| self.check_green_contexts()).and_then(|()| self.place_partitions());
        if is_kept.is_err() {
            self.processes[process.index()].spec = before;
        } else if before.sms.is_some() && self.processes[process.index()].sms.is_none() {
            // Those of its streams were those of its partition.
            let streams = Arc::make_mut(&mut self.streams).iter_mut();
            streams.filter(|stream| stream.process == process).for_each(|stream| stream.spec.sm_mask = None);
        }
        is_kept
    }

    /// Green contexts are of one process, which is no client of MPS with a part of the SMs.
    pub(super) fn check_green_contexts(&self) -> Result<(), WorkloadError> {
        let is_shared = self.processes.len() > 1 || self.is_limited_client(ProcessId::FIRST);
        if is_shared && !self.green_contexts().is_empty() {
            return Err(WorkloadError::GreenContextsOfProcesses);
        }
        Ok(())
    }

    /// Whether the device takes the time slice of a process.
    fn check_process(&self, process: &ProcessSpec) -> Result<(), WorkloadError> {
        let time_slice = self.time_slice(process);
        if time_slice == Duration::ZERO {
            return Err(WorkloadError::NoTimeSlice);
        }
        let switch_cost = self.switch_cost();
        if switch_cost > time_slice {
            return Err(WorkloadError::SwitchCost { switch_cost, time_slice });
        }
        Ok(())
    }

    /// Whether it takes those of all, where there are several: one alone has none.
    pub(super) fn check_processes(&self) -> Result<(), WorkloadError> {
        let several = self.processes.len() > 1;
        self.processes.iter().filter(|_| several).try_for_each(|process| self.check_process(process))
    }

    /// T6: turns of a round.
    fn turns_in_a_round(&self) -> u64 {
        let of = |level| self.processes.iter().filter(|process| process.level == level).count() as u64;
        let [low, medium, high] = InterleaveLevel::ALL.map(of);
        // Fewer than 2^32 of each, so that only the last product can be too large.
        let above_low = if medium == 0 { high } else { medium.saturating_mul(high + 1) };
        if low == 0 {
            return above_low;
        }
        let before_each_low = if medium == 0 { high } else { above_low.saturating_add(high) };
        low.saturating_mul(before_each_low.saturating_add(1))
    }

    /// The NULL stream of a process; `None` for an unknown one.
    pub fn null_stream(&self, process: ProcessId) -> Option<StreamId> {
        self.processes.get(process.index()).map(CheckedProcess::null_stream)
    }

    /// The process of a stream; `None` for an unknown one.
    pub fn process_of(&self, stream: StreamId) -> Option<ProcessId> {
        self.streams.get(stream.index()).map(|stream| stream.process)
    }

    /// Whether a stream is the NULL stream of its process.
    pub fn is_null_stream(&self, stream: StreamId) -> bool {
        self.process_of(stream).and_then(|process| self.null_stream(process)) == Some(stream)
    }
}

/// A channel of a process, or of a green context that has work queues of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelId {
    /// Whose channels.
    pool: (ProcessId, Option<GreenContextId>),
    /// Which of them.
    number: u32,
}

/// Which of `all` channels a stream is dealt to before which so many others were.
pub(crate) fn channel_of(streams: u32, all: u32) -> u32 {
    streams % all.max(1)
}

/// The channel of each stream, dealt in turn in the order of the streams, as [`ChannelOrder::Submission`] has it;
/// `None`: it need not share one.
pub fn dealt_channels(
    streams: &[CheckedStream],
    green_contexts: &[GreenContext],
    device: &Device,
) -> Vec<Option<ChannelId>> {
    let mut dealt: BTreeMap<(ProcessId, Option<GreenContextId>), u32> = BTreeMap::new();
    let channel = |stream: &CheckedStream| {
        let own = stream.green_context.and_then(|green| Some((green, green_contexts.get(green.index())?.work_queues?)));
        let of = own.map(|(_, queues)| queues).or(device.channels)?;
        let pool = (stream.process, own.map(|(green, _)| green));
        let streams = dealt.entry(pool).or_default();
        let number = channel_of(*streams, of);
        *streams += 1;
        Some(ChannelId { pool, number })
    };
    if device.channel_order == ChannelOrder::Submission {
        streams.iter().map(channel).collect()
    } else {
        vec![None; streams.len()]
    }
}
