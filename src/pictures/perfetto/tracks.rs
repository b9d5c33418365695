//! Which process and lane everything is on.

use std::io::{self, Write};

use super::copies::copy_depths;
use super::event::{Events, Lane};
use super::{PerfettoKnown, PerfettoRun};
use crate::proven::Proven;
use crate::trace::Trace;
use crate::workload::StreamId;

/// The processes of one run, and those of their lanes that are known from the start.
pub(super) struct Tracks<'a> {
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
    pub(super) fn processes(trace: &Trace) -> u32 {
        FIRST_SM + trace.sms() + u32::from(!trace.turns().is_empty())
    }

    /// Numbers the processes from `first_process` and lanes from `next_lane`.
    pub(super) fn new(run: &'a PerfettoRun<'a>, first_process: u32, next_lane: &mut u32) -> Self {
        let mut take = |count: usize| {
            let first = *next_lane;
            *next_lane = first
                .saturating_add(u32::try_from(count).proven("threads, streams and operations have numbers of 32 bits"));
            first
        };
        let depths = copy_depths(&run.summary);
        Self {
            run,
            first_process,
            first_thread: take(run.summary.scenario.threads.len()),
            first_stream: take(run.summary.trace.streams().len()),
            engines: depths
                .into_iter()
                .map(|depth| (take(depth), u32::try_from(depth).proven("no more lanes than copies")))
                .collect(),
        }
    }

    pub(super) fn thread(&self, thread: u32) -> Lane {
        Lane { process: self.first_process + HOST, number: self.first_thread + thread }
    }

    pub(super) fn stream(&self, stream: StreamId) -> Lane {
        Lane { process: self.first_process + STREAMS, number: self.first_stream + stream.0 }
    }

    /// A lane of a copy engine, which has several if copies share its link.
    pub(super) fn engine(&self, engine: u32, lane: u32) -> Lane {
        let first = self.engines.get(engine as usize).map_or(0, |(first, _)| *first);
        Lane { process: self.first_process + COPY_ENGINES, number: first + lane }
    }

    pub(super) fn streams(&self) -> u32 {
        self.first_process + STREAMS
    }

    /// The process of the EE and CE queues.
    pub(super) fn queues(&self) -> u32 {
        self.first_process + QUEUES
    }

    pub(super) fn sm(&self, sm: u16) -> u32 {
        self.first_process + FIRST_SM + u32::from(sm)
    }

    /// Names the process of the turns of contexts, if they take turns; it stands below the copy engines, above the SMs.
    pub(super) fn name_contexts<W: Write>(&self, events: &mut Events<W>) -> io::Result<Option<u32>> {
        let trace = self.run.summary.trace;
        if trace.turns().is_empty() {
            return Ok(None);
        }
        let process = self.first_process + FIRST_SM + trace.sms();
        let label = if self.run.label.is_empty() { String::new() } else { format!("{}: ", self.run.label) };
        events.name_process_at(process, self.first_process + FIRST_SM, format_args!("{label}contexts"))?;
        Ok(Some(process))
    }

    /// A lane of that process for each process of the run, with its name.
    pub(super) fn contexts<W: Write>(
        &self,
        process: u32,
        next_lane: &mut u32,
        events: &mut Events<W>,
    ) -> io::Result<Vec<Lane>> {
        let mut lanes = Vec::new();
        for known in self.run.summary.trace.processes() {
            let lane = Lane { process, number: *next_lane };
            *next_lane = next_lane.saturating_add(1);
            events.name_lane(lane, &known.name)?;
            lanes.push(lane);
        }
        Ok(lanes)
    }

    /// An identifier of an operation that no other run of the file has.
    pub(super) fn id(&self, operation: u32) -> (u32, u32) {
        (self.first_process, operation)
    }

    pub(super) fn write_names<W: Write>(&self, events: &mut Events<W>) -> io::Result<()> {
        let summary = &self.run.summary;
        let label = if self.run.label.is_empty() { String::new() } else { format!("{}: ", self.run.label) };
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
