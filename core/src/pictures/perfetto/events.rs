//! The events of the format, their numbers as its readers want them, and lanes for slices that overlap.

use std::fmt::Display;
use std::io;
use std::io::Write;
use std::ops::Range;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::effort::Counted;
use crate::limits::count;
use crate::pictures::timeline_model::FreeLanes;
use crate::proven::Proven;
use crate::time::Instant;

/// The list of events, written one by one.
pub(super) struct Events<W> {
    out: W,
    any: bool,
    /// The next number of a lane: they are unique in the file.
    next_lane: u32,
}

/// A lane: process and thread in the format's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) process: u32,
    pub(super) number: u32,
}

#[derive(Serialize)]
struct Event<'a, A> {
    ph: char,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'a str>,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Microseconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<Microseconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<A>,
}

impl<'a, A> Event<'a, A> {
    fn new(ph: char, name: &'a str, pid: u32) -> Self {
        Self { ph, name, cat: None, pid, tid: None, ts: None, dur: None, id: None, bp: None, args: None }
    }

    fn at(self, at: Instant) -> Self {
        Self { ts: Some(Microseconds(at.as_ns())), ..self }
    }
}

/// The start and the end of an arrow, as the format names them.
pub(super) const FROM: char = 's';
pub(super) const TO: char = 'f';

/// What an arrow leads from and to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// A kernel's launch and its first block.
    Launch,
    /// An event's record and a wait for it (E2).
    Event,
}

impl Flow {
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Launch => ("launch", "launch to first block"),
            Self::Event => ("event", "record to wait"),
        }
    }
}

impl<W: Write> Events<W> {
    pub(super) fn new(out: W, next_lane: u32) -> Self {
        Self { out, any: false, next_lane }
    }

    /// The first of so many numbers of lanes, which no others get.
    pub(super) fn reserve(&mut self, count: usize) -> u32 {
        let count = u32::try_from(count).proven("threads, streams and operations have numbers of 32 bits");
        let next = self.next_lane.saturating_add(count);
        std::mem::replace(&mut self.next_lane, next)
    }

    fn write<A: Serialize>(&mut self, event: &Event<'_, A>) -> io::Result<()> {
        count(Counted::Shapes, 1);
        self.out.write_all(if self.any { b",\n" } else { b"\n" })?;
        self.any = true;
        Ok(serde_json::to_writer(&mut self.out, event)?)
    }

    /// Names a process and gives it its place from top to bottom.
    pub(super) fn name_process(&mut self, process: u32, name: impl Display) -> io::Result<()> {
        self.name_process_at(process, process, name)
    }

    /// The same for a place that is not that of its number.
    pub(super) fn name_process_at(&mut self, process: u32, place: u32, name: impl Display) -> io::Result<()> {
        let args = Some(json!({"name": name.to_string()}));
        self.write(&Event { args, ..Event::new('M', "process_name", process) })?;
        let args = Some(json!({"sort_index": place}));
        self.write(&Event { args, ..Event::new('M', "process_sort_index", process) })
    }

    /// Names a lane and gives it its place in its process.
    pub(super) fn name_lane(&mut self, lane: Lane, name: impl Display) -> io::Result<()> {
        let tid = Some(lane.number);
        let args = Some(json!({"name": name.to_string()}));
        self.write(&Event { tid, args, ..Event::new('M', "thread_name", lane.process) })?;
        let args = Some(json!({"sort_index": lane.number}));
        self.write(&Event { tid, args, ..Event::new('M', "thread_sort_index", lane.process) })
    }

    /// The next lane that there is, with its name.
    pub(super) fn new_lane(&mut self, process: u32, name: impl Display) -> io::Result<Lane> {
        let lane = Lane { process, number: self.reserve(1) };
        self.name_lane(lane, name)?;
        Ok(lane)
    }

    pub(super) fn slice(
        &mut self,
        lane: Lane,
        category: &str,
        name: &str,
        time: Range<Instant>,
        args: impl Serialize,
    ) -> io::Result<()> {
        let dur = Some(Microseconds(time.end.since(time.start).as_ns()));
        let event = Event {
            cat: Some(category),
            tid: Some(lane.number),
            dur,
            args: Some(args),
            ..Event::new('X', name, lane.process)
        };
        self.write(&event.at(time.start))
    }

    /// A slice that may overlap others of its process.
    pub(super) fn asynchronous(
        &mut self,
        process: u32,
        category: &str,
        name: &str,
        id: (u32, u32),
        time: Range<Instant>,
    ) -> io::Result<()> {
        for (phase, at) in [('b', time.start), ('e', time.end)] {
            let id = Some(Id(id.0, id.1));
            let args = Some(json!({}));
            // Some readers ask every event for a thread; the process' own number is its main thread.
            let event = Event { cat: Some(category), tid: Some(process), id, args, ..Event::new(phase, name, process) };
            self.write(&event.at(at))?;
        }
        Ok(())
    }

    /// One end of an arrow, at the slice of `lane` that was written last: [`FROM`] or [`TO`].
    pub(super) fn arrow(&mut self, end: char, flow: Flow, lane: Lane, id: (u32, u32), at: Instant) -> io::Result<()> {
        let (category, name) = flow.names();
        let (cat, id) = (Some(category), Some(Id(id.0, id.1)));
        // The ends of arrows bind to the slice around them, not to the next one.
        let bp = (end == TO).then_some("e");
        let event: Event<'_, Value> =
            Event { cat, tid: Some(lane.number), id, bp, ..Event::new(end, name, lane.process) };
        self.write(&event.at(at))
    }

    pub(super) fn counter(&mut self, process: u32, name: &str, at: Instant, unit: &str, value: u64) -> io::Result<()> {
        let args = Some(json!({unit: value}));
        self.write(&Event { args, ..Event::new('C', name, process) }.at(at))
    }
}

/// Nanoseconds; the format counts in microseconds.
pub(super) struct Microseconds(pub(super) u64);

impl Serialize for Microseconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1_000) {
            return serializer.serialize_u64(self.0 / 1_000);
        }
        // Perfetto multiplies by 1000 in binary floating point and cuts the rest off, so 1.001 would be 1000 ns and
        // the slice before it would overlap. Where that happens, the next number up gives the right nanosecond.
        let ns = self.0 as f64;
        let us = ns / 1e3;
        serializer.serialize_f64(if us * 1e3 < ns { us.next_up() } else { us })
    }
}

/// The number of a run's first process, and an operation. Readers take identifiers of asynchronous slices as text only,
/// and those of flows as hexadecimal text.
pub(super) struct Id(pub(super) u32, pub(super) u32);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:#x}", u64::from(self.0) << 32 | u64::from(self.1)))
    }
}

/// Lanes of one process, each named when it is first used.
pub(super) struct NamedLanes {
    process: u32,
    free: FreeLanes,
    known: Vec<Lane>,
}

impl NamedLanes {
    /// None yet.
    pub(super) fn of(process: u32) -> Self {
        Self { process, free: FreeLanes::default(), known: Vec::new() }
    }

    /// One that has its name.
    pub(super) fn with(first: Lane) -> Self {
        Self { known: vec![first], ..Self::of(first.process) }
    }

    /// The first lane that is free for `time`, if times come in order of their starts; a new one if there is none.
    pub(super) fn take<W: Write, D: Display>(
        &mut self,
        time: &Range<Instant>,
        events: &mut Events<W>,
        name: impl FnOnce(usize) -> D,
    ) -> io::Result<Lane> {
        let place = self.free.take(time);
        if let Some(lane) = self.known.get(place) {
            return Ok(*lane);
        }
        let lane = events.new_lane(self.process, name(place))?;
        self.known.push(lane);
        Ok(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::Microseconds;

    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as a reader does it")]
    fn every_nanosecond_survives_readers_that_cut_off_and_readers_that_round() {
        let near = |around: u64| (around.saturating_sub(2_000)..around + 2_000).step_by(1);
        for ns in near(0).chain(near(1_000_000_000)).chain(near(86_400_000_000_000)) {
            let text = serde_json::to_string(&Microseconds(ns)).expect("numbers can be written");
            let read: f64 = text.parse().expect("it is a number");
            assert_eq!((read * 1e3).trunc() as u64, ns, "{text}");
            assert!(!text.contains('e'), "{text}");
        }
        assert_eq!(serde_json::to_string(&Microseconds(1_500)).expect("it can be written"), "1.5");
        assert_eq!(serde_json::to_string(&Microseconds(2_000)).expect("it can be written"), "2");
    }
}
