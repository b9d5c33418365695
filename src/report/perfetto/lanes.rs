//! As many lanes as slices overlap.

use std::fmt::Display;
use std::io::{self, Write};

use super::event::{Events, Lane, Span};
use crate::time::Instant;

/// Lanes of one process, by number, and from when on each is free.
pub(super) struct Lanes {
    process: u32,
    lanes: Vec<(Lane, Instant)>,
}

impl Lanes {
    /// None yet.
    pub(super) const fn of(process: u32) -> Self {
        Self { process, lanes: Vec::new() }
    }

    /// One that has its name.
    pub(super) fn with(first: Lane) -> Self {
        Self { process: first.process, lanes: vec![(first, Instant::ZERO)] }
    }

    /// The first lane that is free for `span`, if spans come in order of their starts; a new one if there is none.
    pub(super) fn take<W: Write, D: Display>(
        &mut self,
        span: Span,
        next_lane: &mut u32,
        events: &mut Events<W>,
        name: impl FnOnce(usize) -> D,
    ) -> io::Result<Lane> {
        if let Some((lane, free_at)) = self.lanes.iter_mut().find(|(_, free_at)| *free_at <= span.from) {
            *free_at = span.to;
            return Ok(*lane);
        }
        let lane = Lane { process: self.process, number: *next_lane };
        *next_lane = next_lane.saturating_add(1);
        events.name_lane(lane, name(self.lanes.len()))?;
        self.lanes.push((lane, span.to));
        Ok(lane)
    }
}
