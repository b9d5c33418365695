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
//! An arrow (flow) leads from each launch to the kernel's first block. Slices of one lane never overlap. What is cut
//! off by the horizon ends there.
//!
//! Lane numbers (`tid`) are unique in the file, not only in their process, because Perfetto names threads by number
//! alone; the call that an arrow leaves from is followed by its `s` event at once, because Perfetto binds arrows to the
//! slice it has read last.

mod blocks;
mod copies;
mod deadlines;
mod event;
mod lanes;
mod number;
mod operations;
mod queues;
mod tracks;
mod turn_slices;

use std::io::{self, Write};

use serde_json::json;

use self::event::Events;
use self::tracks::Tracks;
use crate::run::Summary;

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
    let mut events = Events::new(&mut out);
    let mut first_process = 1;
    let processes: u32 = runs.iter().map(|run| Tracks::processes(run.summary.trace)).sum();
    let mut next_lane = first_process + processes;
    for run in runs {
        let tracks = Tracks::new(run, first_process, &mut next_lane);
        first_process += Tracks::processes(run.summary.trace);
        tracks.write_names(&mut events)?;
        operations::write(run, &tracks, &mut next_lane, &mut events)?;
        if run.known == PerfettoKnown::Everything {
            turn_slices::write(&run.summary, &tracks, &mut next_lane, &mut events)?;
            deadlines::write(&run.summary, &tracks, &mut events)?;
            queues::write(run, &tracks, &mut events)?;
        }
        if run.known != PerfettoKnown::Streams {
            blocks::write(run, &tracks, &mut next_lane, &mut events)?;
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
