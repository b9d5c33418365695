//! Whose turn it is (T1), and switches of contexts (T3).

use std::io::{self, Write};

use serde_json::json;

use super::event::{Events, SliceTime};
use super::tracks::Tracks;
use crate::run::Summary;

/// A slice for each turn, in the lane of its process, and before it one for the switch to it.
pub(super) fn write<W: Write>(
    summary: &Summary<'_>,
    tracks: &Tracks<'_>,
    next_lane: &mut u32,
    events: &mut Events<W>,
) -> io::Result<()> {
    let Some(contexts) = tracks.name_contexts(events)? else { return Ok(()) };
    let lanes = tracks.contexts(contexts, next_lane, events)?;
    for turn in summary.trace.turns() {
        let Some(&lane) = lanes.get(turn.process.index()) else { continue };
        if turn.switch_from < turn.start {
            let span = SliceTime { from: turn.switch_from, to: turn.start };
            events.slice(lane, "turn", "switch", span, json!({}))?;
        }
        let span = SliceTime { from: turn.start, to: turn.end };
        events.slice(lane, "turn", "turn", span, json!({"ended_by": turn.ended_by}))?;
    }
    Ok(())
}
