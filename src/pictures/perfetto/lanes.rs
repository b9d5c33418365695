//! As many lanes as slices overlap.

use std::fmt::Display;
use std::io::{self, Write};

use super::event::{Events, Lane, SliceTime};
use crate::pictures::free_lanes::FreeLanes;

pub(super) struct Lanes {
    process: u32,
    free: FreeLanes,
    known: Vec<Lane>,
}

impl Lanes {
    /// None yet.
    pub(super) fn of(process: u32) -> Self {
        Self { process, free: FreeLanes::default(), known: Vec::new() }
    }

    /// One that has its name.
    pub(super) fn with(first: Lane) -> Self {
        Self { known: vec![first], ..Self::of(first.process) }
    }

    /// The first lane that is free for `span`, if spans come in order of their starts; a new one if there is none.
    pub(super) fn take<W: Write, D: Display>(
        &mut self,
        span: SliceTime,
        next_lane: &mut u32,
        events: &mut Events<W>,
        name: impl FnOnce(usize) -> D,
    ) -> io::Result<Lane> {
        let place = self.free.take(span.from, span.to);
        if let Some(lane) = self.known.get(place) {
            return Ok(*lane);
        }
        let lane = Lane { process: self.process, number: *next_lane };
        *next_lane = next_lane.saturating_add(1);
        events.name_lane(lane, name(place))?;
        self.known.push(lane);
        Ok(lane)
    }
}
