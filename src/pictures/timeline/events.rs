//! Arrows from an event's record to the waits that it releases (E1, E2).

use super::context::Context;
use super::{EventArrow, StreamRow};
use crate::draw::{Length, MM, Point};
use crate::workload::OperationId;

/// Arrows that begin and end within this are one.
const LEAST_DISTANCE: Length = MM / 2;
/// Arrows that can be told apart, about.
const MOST: usize = 150;

/// The arrows of a figure, and what there is.
#[derive(Debug, Default)]
pub(super) struct Events {
    pub(super) arrows: Vec<EventArrow>,
    /// Waits in the window for a record in another row.
    all: u64,
}

impl Events {
    pub(super) fn legend(&self) -> Option<String> {
        let drawn: u64 = self.arrows.iter().map(|arrow| arrow.count).sum();
        match self.all {
            0 => None,
            all if drawn == all => Some(format!("event to its wait ({all})")),
            all => Some(format!("event to its wait ({drawn} of {all})")),
        }
    }

    /// Arrows between the middles of rows: from where the record completed to where the wait did. Those of waits that
    /// were held come first where there are too many.
    pub(super) fn new(context: &Context<'_>, rows: &[StreamRow]) -> Self {
        let trace = context.summary.trace;
        let records = trace.operations();
        let row_of = |id: OperationId| {
            let stream = records.get(id.index())?.stream;
            rows.iter().position(|row| row.streams.contains(&stream))
        };
        let mut events = Self::default();
        for (wait, record) in (0..).map(OperationId).zip(records) {
            let Some(awaited) = trace.awaited_by(wait) else { continue };
            let recorded = records.get(awaited.index()).and_then(super::OperationRecord::finish);
            let (Some(recorded), Some(released)) = (recorded, record.finish()) else { continue };
            let (Some(from), Some(to)) = (row_of(awaited), row_of(wait)) else { continue };
            let window = &context.scale.window;
            if from == to || released < window.start || recorded > window.end {
                continue;
            }
            events.all += 1;
            let x = |at: crate::time::Instant| context.scale.x(at.clamp(window.start, window.end));
            let place = |row: usize, x: Length| Point { x, y: rows[row].area.centre().y };
            let (from, to) = (place(from, x(recorded)), place(to, x(released)));
            let held = record.reached_head().is_some_and(|head| head < recorded);
            let near = |a: Point, b: Point| a.y == b.y && (a.x - b.x).abs() < LEAST_DISTANCE;
            let same = |arrow: &&mut EventArrow| near(arrow.from, from) && near(arrow.to, to);
            match events.arrows.iter_mut().rev().take(MOST).find(same) {
                Some(arrow) => {
                    arrow.count += 1;
                    arrow.held += u64::from(held);
                }
                None => {
                    events.arrows.push(EventArrow { record: awaited, wait, count: 1, held: u64::from(held), from, to });
                }
            }
        }
        if events.arrows.len() > MOST {
            crate::sorted::sort_by_key(&mut events.arrows, |arrow| (arrow.held == 0, arrow.wait));
            events.arrows.truncate(MOST);
        }
        events
    }
}
