//! Random scenarios with several processes: those of `generate`, with their streams and threads dealt out, and small
//! slices and costs, so that turns end in the midst of blocks and many things happen at the instant at which they do.

use gpusched::device::{Preemption, Runlists};
use gpusched::scenario::{HostThread, Scenario, Step};
use gpusched::time::Duration;
use gpusched::workload::{
    BlockClock, Catalogue, InterleaveLevel, Kernel, MpsPercentage, ProcessId, ProcessSharing, ProcessSpec, StreamId,
    StreamSpec,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::generate::{Case, Limits, scenario};

/// A process before it is made: slice \[ns\], level, MPS percentage.
type RawProcess = (Option<u64>, InterleaveLevel, u64);

/// How the contexts of a scenario share the GPU.
#[derive(Debug, Clone)]
pub(crate) struct Processes {
    raw: Vec<RawProcess>,
    slice: u64,
    switch_cost: u64,
    copy_slice: u64,
    preemption: Preemption,
    runlists: Runlists,
    pub(crate) mps: bool,
    /// To which process each stream and each thread belongs, in turn.
    streams: Vec<usize>,
    threads: Vec<usize>,
    /// On which clock the blocks of each kernel run, in turn.
    clocks: Vec<BlockClock>,
}

pub(crate) fn processes(mps: bool) -> impl Strategy<Value = Processes> {
    let level =
        select(vec![InterleaveLevel::Low, InterleaveLevel::Low, InterleaveLevel::Medium, InterleaveLevel::High]);
    let slice = || select(vec![1_u64, 2, 3, 4, 5, 7, 10, 40]);
    let percentage = select(vec![1_u64, 25, 33, 50, 51, 75, 100]);
    let raw = vec((option::weighted(0.5, slice()), level, percentage), 2..5);
    let times = (slice(), 0_u64..4, select(vec![1_u64, 2, 3, 5, 20]));
    let kinds = (select(Preemption::ALL.to_vec()), select(Runlists::ALL.to_vec()));
    (raw, times, kinds, vec(0_usize..5, 6), vec(0_usize..5, 5)).prop_map(
        move |(processes, (slice, switch_cost, copy_slice), (preemption, runlists), streams, threads)| {
            // A switch takes no longer than a slice.
            let shortest = processes.iter().filter_map(|process| process.0).chain([slice]).min().unwrap_or(slice);
            let switch_cost = switch_cost.min(shortest);
            Processes {
                raw: processes,
                slice,
                switch_cost,
                copy_slice,
                preemption,
                runlists,
                mps,
                streams,
                threads,
                clocks: vec![BlockClock::RunTime],
            }
        },
    )
}

fn ns(duration: u64) -> Duration {
    Duration::from_ns(duration)
}

impl Processes {
    fn spec(&self, number: usize) -> ProcessSpec {
        let (slice, level, percentage) = self.raw[number];
        ProcessSpec {
            time_slice: slice.map(ns),
            level,
            mps_percentage: MpsPercentage::from_parts(percentage * 1_000_000_000_000).expect("it is one"),
            ..ProcessSpec::new(format!("P{number}"))
        }
    }

    /// The same scenario with these processes.
    pub(crate) fn deal(&self, scenario: &Scenario) -> Scenario {
        let device = scenario.device().with(|device| {
            let slicing = &mut device.time_slicing;
            (slicing.time_slice, slicing.switch_cost) = (ns(self.slice), ns(self.switch_cost));
            slicing.copy_time_slice = ns(self.copy_slice);
            (slicing.preemption, slicing.runlists) = (self.preemption, self.runlists);
        });
        let mut catalogue = Catalogue::new(device.expect("it is a GPU"));
        let sharing = ProcessSharing { mps: self.mps, switch_cost: None };
        catalogue.set_sharing(sharing).expect("it is possible");
        catalogue.set_process(ProcessId::FIRST, self.spec(0)).expect("the device takes it");
        for number in 1..self.raw.len() {
            catalogue.add_process(self.spec(number)).expect("the device takes it");
        }
        // The streams of each process, its NULL stream first.
        let mut own: Vec<Vec<StreamId>> =
            catalogue.processes().iter().map(|process| vec![process.null_stream()]).collect();
        for (stream, owner) in scenario.streams().iter().skip(1).zip(self.streams.iter().cycle()) {
            let owner = owner % own.len();
            let process = ProcessId(u32::try_from(owner).expect("few"));
            let spec = StreamSpec { process, ..StreamSpec::clone(stream) };
            own[owner].push(catalogue.add_stream(spec).expect("the device takes it"));
        }
        for event in scenario.events() {
            catalogue.add_event(event.clone()).expect("few");
        }
        for (kernel, &clock) in scenario.kernels().iter().zip(self.clocks.iter().cycle()) {
            let kernel = Kernel { clock, ..Kernel::from(kernel) };
            catalogue.add_kernel(kernel).expect("the device takes it");
        }
        for copy in scenario.copies() {
            catalogue.add_copy(**copy).expect("the device takes it");
        }
        let threads = scenario.threads.iter().zip(self.threads.iter().cycle()).map(|(thread, owner)| {
            let owner = owner % own.len();
            let of_process = |stream: StreamId| match stream {
                StreamId::NULL => own[owner][0],
                StreamId(number) => own[owner][number as usize % own[owner].len()],
            };
            let steps = thread.steps.iter().map(|&step| moved(step, of_process)).collect();
            HostThread { process: ProcessId(u32::try_from(owner).expect("few")), steps, ..thread.clone() }
        });
        let threads = threads.collect();
        Scenario { catalogue, threads, ..scenario.clone() }
    }
}

/// The same step in another stream.
fn moved(step: Step, to: impl Fn(StreamId) -> StreamId) -> Step {
    match step {
        Step::Launch(kernel, stream) => Step::Launch(kernel, to(stream)),
        Step::Copy(copy, stream) => Step::Copy(copy, to(stream)),
        Step::Memset(stream) => Step::Memset(to(stream)),
        Step::Record(event, stream) => Step::Record(event, to(stream)),
        Step::Wait(event, stream) => Step::Wait(event, to(stream)),
        Step::SynchronizeStream(stream) => Step::SynchronizeStream(to(stream)),
        other => other,
    }
}

/// A scenario of several processes whose contexts take turns, or are clients of MPS.
pub(crate) fn with_processes(limits: Limits, mps: bool) -> impl Strategy<Value = Case> {
    // Clocks come last, so that what was found before they did is drawn again.
    let clocks = vec(select(BlockClock::ALL.to_vec()), 4);
    (scenario(limits), processes(mps), clocks)
        .prop_map(|(Case(scenario), processes, clocks)| Case(Processes { clocks, ..processes }.deal(&scenario)))
}
