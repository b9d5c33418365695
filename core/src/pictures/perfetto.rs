//! Traces for the Perfetto UI and `chrome://tracing`, in the Trace Event Format (JSON object form), after the
//! "Trace Event Format" document of the Chromium project (N. Duca, D. Sinclair).
//!
//! | process | its tracks |
//! | --- | --- |
//! | host | a lane for each host thread; a slice without length for each instant at which it submits something |
//! | streams | a lane for each stream: the operation at the head of its queue, from then until it completes; an asynchronous slice for each job that missed its deadline, from then until it finished |
//! | queues | an asynchronous slice for each operation in an EE or CE queue, from its entry until it leaves; counters of their lengths |
//! | copy engines | a lane for each engine, or as many as copies share its link at once: the copies that it serves, of those that stand still each part |
//! | contexts | only if contexts take turns, a lane for each process: its turns, and before each the switch to it |
//! | SM n | as many lanes as blocks are on it at once: the blocks, of those that are suspended each part that runs; a counter of the thread slots taken |
//!
//! In a block's slice is one for each time in which it waits for others on its SM.
//!
//! An arrow (flow) leads from each launch to the kernel's first block. Other slices of one lane never overlap. What is
//! cut off by the horizon ends there.
//!
//! Lane numbers (`tid`) are unique in the file, not only in their process, because Perfetto names threads by number
//! alone; the call that an arrow leaves from is followed by its `s` event at once, because Perfetto binds arrows to the
//! slice it has read last.

mod blocks;
mod events;
mod operations;

use std::io::{self, Write};

use events::{Events, Lane};
use serde_json::json;

use super::timeline_model::{self, ALWAYS};
use crate::run::Summary;
use crate::trace::Trace;
use crate::workload::StreamId;

/// A run to be written.
#[derive(Debug, Clone, Copy)]
pub struct PerfettoRun<'a> {
    /// The run.
    pub summary: Summary<'a>,
    /// Put before the names of its processes, to tell the runs of one file apart; may be empty.
    pub label: &'a str,
    /// What is known of it.
    pub known: PerfettoKnown,
}

/// What of a run is known, and so written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerfettoKnown {
    /// All of it, as of a simulation.
    Everything,
    /// Launches and blocks, as of a measured run.
    Blocks,
    /// Launches, and what ran in each stream from when to when, as of a recorded application. Operations of one stream
    /// that overlap in the record have lanes of their own.
    Streams,
}

/// Writes runs as one JSON document, one event a line. Blocks are written as they are expanded and never held; memory
/// grows with operations and with what is on the GPU at once.
///
/// # Errors
/// Whatever `out` refuses.
pub fn perfetto_trace(runs: &[PerfettoRun<'_>], mut out: impl Write) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    let mut first_process = 1;
    let processes: u32 = runs.iter().map(|run| Tracks::processes(run.summary.trace)).sum();
    let mut events = Events::new(&mut out, first_process + processes);
    for run in runs {
        let tracks = Tracks::new(run, first_process, &mut events);
        first_process += Tracks::processes(run.summary.trace);
        tracks.write_names(&mut events)?;
        operations::write_operations(&tracks, &mut events)?;
        if run.known == PerfettoKnown::Everything {
            operations::write_turns(&tracks, &mut events)?;
            operations::write_deadlines(&tracks, &mut events)?;
            operations::write_queues(&tracks, &mut events)?;
        }
        if run.known != PerfettoKnown::Streams {
            blocks::write_blocks(&tracks, &mut events)?;
        }
    }
    let scenario = runs.first().map(|run| run.summary.scenario);
    let about = json!({
        "scenario": scenario.map(|scenario| &scenario.name),
        "device": scenario.map(|scenario| &scenario.device().name),
        "writer": concat!("gpusched ", env!("CARGO_PKG_VERSION")),
    });
    writeln!(out, "\n],\"otherData\":{about}}}")
}

/// The processes of one run, and those of their lanes that are known from the start.
struct Tracks<'a> {
    run: &'a PerfettoRun<'a>,
    first_process: u32,
    first_thread: u32,
    first_stream: u32,
    /// The lanes of the copy engines: for each engine, the first and how many there are.
    engines: Vec<(u32, u32)>,
}

const HOST: u32 = 0;
const STREAMS: u32 = 1;
const QUEUES: u32 = 2;
const COPY_ENGINES: u32 = 3;
const FIRST_SM: u32 = 4;

impl<'a> Tracks<'a> {
    /// How many processes a run takes.
    fn processes(trace: &Trace) -> u32 {
        FIRST_SM + trace.sms() + u32::from(!trace.turns().is_empty())
    }

    /// Numbers the processes from `first_process` and lanes from `next_lane`.
    fn new<W: Write>(run: &'a PerfettoRun<'a>, first_process: u32, events: &mut Events<W>) -> Self {
        let copies = timeline_model::copies(&run.summary, &ALWAYS);
        // As many as an engine serves copies at once, and at least one.
        let lanes_of = |engine| {
            let own = copies.iter().filter(|copy| copy.engine == engine);
            own.map(|copy| copy.lane + 1).max().unwrap_or(1)
        };
        let engines = (0..run.summary.scenario.device().copy.engines).map(lanes_of);
        Self {
            run,
            first_process,
            first_thread: events.reserve(run.summary.scenario.threads.len()),
            first_stream: events.reserve(run.summary.trace.streams().len()),
            engines: engines.map(|lanes| (events.reserve(lanes as usize), lanes)).collect(),
        }
    }

    fn thread(&self, thread: u32) -> Lane {
        Lane { process: self.first_process + HOST, number: self.first_thread + thread }
    }

    fn stream(&self, stream: StreamId) -> Lane {
        Lane { process: self.first_process + STREAMS, number: self.first_stream + stream.0 }
    }

    /// A lane of a copy engine, which has several if copies share its link.
    fn engine(&self, engine: u32, lane: u32) -> Lane {
        let first = self.engines.get(engine as usize).map_or(0, |(first, _)| *first);
        Lane { process: self.first_process + COPY_ENGINES, number: first + lane }
    }

    /// The process of the EE and CE queues.
    fn queues(&self) -> u32 {
        self.first_process + QUEUES
    }

    fn sm(&self, sm: u16) -> u32 {
        self.first_process + FIRST_SM + u32::from(sm)
    }

    /// What stands before the names of processes.
    fn label(&self) -> String {
        if self.run.label.is_empty() { String::new() } else { format!("{}: ", self.run.label) }
    }

    /// A lane for each process of the run, named, in a process of the file for turns of contexts, which stands below
    /// the copy engines, above the SMs.
    fn contexts<W: Write>(&self, events: &mut Events<W>) -> io::Result<Vec<Lane>> {
        let trace = self.run.summary.trace;
        let process = self.first_process + FIRST_SM + trace.sms();
        let name = format!("{}contexts", self.label());
        events.name_process_at(process, self.first_process + FIRST_SM, name)?;
        trace.processes().iter().map(|known| events.new_lane(process, &known.name)).collect()
    }

    /// An identifier of an operation that no other run of the file has.
    fn id(&self, operation: u32) -> (u32, u32) {
        (self.first_process, operation)
    }

    fn write_names<W: Write>(&self, events: &mut Events<W>) -> io::Result<()> {
        let summary = &self.run.summary;
        let label = self.label();
        events.name_process(self.first_process + HOST, format_args!("{label}host"))?;
        for (number, thread) in (0..).zip(&summary.scenario.threads) {
            events.name_lane(self.thread(number), &thread.label)?;
        }
        let known = self.run.known;
        if known != PerfettoKnown::Blocks {
            events.name_process(self.first_process + STREAMS, format_args!("{label}streams"))?;
            for (number, stream) in (0..).zip(summary.trace.streams()) {
                events.name_lane(self.stream(StreamId(number)), &stream.name)?;
            }
        }
        if known == PerfettoKnown::Everything {
            events.name_process(self.queues(), format_args!("{label}queues"))?;
            events.name_process(self.first_process + COPY_ENGINES, format_args!("{label}copy engines"))?;
            for (engine, (_, lanes)) in (0..).zip(&self.engines) {
                events.name_lane(self.engine(engine, 0), format_args!("copy engine {engine}"))?;
                for lane in 1..*lanes {
                    events.name_lane(self.engine(engine, lane), format_args!("copy engine {engine}, lane {lane}"))?;
                }
            }
        }
        let sms = if known == PerfettoKnown::Streams { 0 } else { summary.trace.sms() };
        // The turns of contexts stand above them.
        let above = u32::from(!summary.trace.turns().is_empty());
        for sm in 0..sms {
            let process = self.first_process + FIRST_SM + sm;
            events.name_process_at(process, process + above, format_args!("{label}SM {sm}"))?;
        }
        Ok(())
    }
}
