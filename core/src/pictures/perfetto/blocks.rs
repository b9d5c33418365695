//! The blocks, SM by SM: a slice for each in a lane of its SM, and a counter of the thread slots taken.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use serde::Serialize;
use serde_json::json;

use super::Tracks;
use super::events::{Events, Flow, NamedLanes, TO};
use super::operations::has_arrow;
use crate::limits::count_turn;
use crate::pictures::timeline_model::{HeightBy, demand_of};
use crate::run::{Awaited, Recorded, Stands, Summary};
use crate::time::Instant;
use crate::trace::{Block, SumOverTime, Trace};
use crate::workload::OperationId;

/// What is told of a block when one clicks on it.
#[derive(Serialize)]
struct BlockArgs {
    id: OperationId,
    block: u32,
    thread_slots: u64,
}

/// Writes all blocks in order of their starts, each to the first lane of its SM that is free.
pub(super) fn write_blocks<W: Write>(tracks: &Tracks<'_>, events: &mut Events<W>) -> io::Result<()> {
    let summary = &tracks.run.summary;
    let mut sms: BTreeMap<u16, (NamedLanes, SumOverTime)> = BTreeMap::new();
    // Where contexts take turns: blocks that go on do not come in the order in which they began.
    let mut in_turns: BTreeMap<u16, Vec<(Instant, Instant, u64)>> = BTreeMap::new();
    let stands = Stands::new(summary.trace);
    for (id, block, is_first) in InOrder::new(summary) {
        let Some(kernel) = summary.trace.kernel_of(id) else { continue };
        let device = summary.scenario.device();
        let thread_slots = u64::from(HeightBy::Threads.of_block(&demand_of(kernel, device), device));
        let time = block.start..block.end.min(summary.trace.end());
        let process = tracks.sm(block.sm);
        let (lanes, occupancy) =
            sms.entry(block.sm).or_insert_with(|| (NamedLanes::of(process), SumOverTime::default()));
        let lane = lanes.take(&time, events, |number| format!("lane {number}"))?;
        let args = BlockArgs { id, block: block.index, thread_slots };
        // While it is the turn of another context it is suspended.
        let process_of_id = summary.trace.process_of_known(id);
        let parts: Vec<Range<Instant>> = summary.trace.in_turn(process_of_id, time.clone()).collect();
        // What begins at the end of its context's turn runs from the next one on; what takes no time has no parts.
        let first = parts.first().unwrap_or(&time);
        events.slice(lane, "block", &kernel.title, first.clone(), &args)?;
        if is_first && has_arrow(summary, id) {
            events.arrow(TO, Flow::Launch, lane, tracks.id(id.0), first.start)?;
        }
        for part in parts.iter().skip(1) {
            events.slice(lane, "block", &kernel.title, part.clone(), &args)?;
        }
        for stand in stands.of(id, block.index) {
            let Some(awaited) = stands.awaited(stand) else { continue };
            let name = match &awaited {
                Awaited::Counter { counter, .. } => format!("waits for counter {counter}"),
                Awaited::Grid { .. } => "waits for its grid".to_owned(),
            };
            // Within the slices of its block; what begins when the run ends has no length.
            let is_in = |part: &&Range<Instant>| stand.from < part.end || stand.from == time.end;
            for part in parts.iter().filter(is_in).filter(|part| part.start < stand.to) {
                let time = stand.from.max(part.start)..stand.to.min(part.end);
                events.slice(lane, "wait", &name, time, json!({"id": id, "until": awaited.sentence()}))?;
            }
        }
        if summary.trace.turns().is_empty() {
            occupancy.add(time, thread_slots, |at, taken| thread_slots_taken(events, process, at, taken))?;
        } else {
            let parts = parts.into_iter().map(|part| (part.start, part.end, thread_slots));
            in_turns.entry(block.sm).or_default().extend(parts);
        }
    }
    for (sm, (_, mut occupancy)) in sms {
        let process = tracks.sm(sm);
        let mut parts = in_turns.remove(&sm).unwrap_or_default();
        parts.sort_unstable();
        for (from, to, slots) in parts {
            occupancy.add(from..to, slots, |at, taken| thread_slots_taken(events, process, at, taken))?;
        }
        occupancy.finish(|at, taken| thread_slots_taken(events, process, at, taken))?;
    }
    Ok(())
}

fn thread_slots_taken<W: Write>(events: &mut Events<W>, process: u32, at: Instant, taken: u64) -> io::Result<()> {
    events.counter(process, "thread slots", at, "taken", taken)
}

/// The blocks of all kernels in order of their starts, with whether each is its kernel's first. Holds one block for
/// each kernel that is being dispatched.
struct InOrder<'a> {
    trace: &'a Trace,
    /// What has not begun, the last to begin first.
    waiting: Vec<(Instant, OperationId)>,
    /// By next start.
    begun: BTreeMap<(Instant, OperationId), Begun<'a>>,
}

struct Begun<'a> {
    next: Block,
    is_first: bool,
    others: Box<dyn Iterator<Item = Block> + 'a>,
}

impl<'a> InOrder<'a> {
    fn new(summary: &Summary<'a>) -> Self {
        let mut waiting: Vec<_> =
            summary.launches().filter_map(|Recorded { id, record, .. }| Some((record.first_start()?, id))).collect();
        waiting.sort_unstable_by(|a, b| b.cmp(a));
        Self { trace: summary.trace, waiting, begun: BTreeMap::new() }
    }

    fn continue_with(&mut self, id: OperationId, is_first: bool, mut blocks: Box<dyn Iterator<Item = Block> + 'a>) {
        if let Some(next) = blocks.next() {
            self.begun.insert((next.start, id), Begun { next, is_first, others: blocks });
        }
    }
}

impl Iterator for InOrder<'_> {
    type Item = (OperationId, Block, bool);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(&(start, id)) = self.waiting.last() {
            count_turn();
            if self.begun.first_key_value().is_some_and(|(&first, _)| first <= (start, id)) {
                break;
            }
            self.waiting.pop();
            self.continue_with(id, true, Box::new(self.trace.blocks(id)));
        }
        let ((_, id), Begun { next, is_first, others }) = self.begun.pop_first()?;
        self.continue_with(id, false, others);
        Some((id, next, is_first))
    }
}
