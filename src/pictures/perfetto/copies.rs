//! Which copies are on which lanes.

use std::collections::BTreeMap;

use super::event::SliceTime;
use crate::pictures::free_lanes::FreeLanes;
use crate::proven::Proven;
use crate::run::{Recorded, Summary};
use crate::workload::{Copy, OperationId};

/// How many lanes each copy engine has: as many as it serves copies at once, and at least one.
pub(super) fn copy_depths(summary: &Summary<'_>) -> Vec<usize> {
    let engines = summary.scenario.device().copy.engines as usize;
    let mut depths = vec![1; engines];
    for (engine, lane, ..) in served(summary) {
        if let Some(depth) = depths.get_mut(engine as usize) {
            *depth = (lane as usize + 1).max(*depth);
        }
    }
    depths
}

/// The copies that began, in that order, each with its engine and its lane there, and from when to when.
pub(super) fn served(summary: &Summary<'_>) -> Vec<(u32, u32, OperationId, Copy, SliceTime)> {
    let mut copies: Vec<_> = summary.copies().collect();
    // Copies without length come before those that begin when they end.
    crate::sorted::sort_by_key(&mut copies, |Recorded { record, .. }| (record.first_start(), record.queue_order()));
    let mut lanes: BTreeMap<u32, FreeLanes> = BTreeMap::new();
    let began = copies.into_iter().filter_map(|Recorded { id, record, work: copy }| {
        let from = record.first_start()?;
        let to = record.finish().unwrap_or(summary.trace.end());
        let engine = summary.scenario.device().copy.engine_for(copy.direction);
        let lane = lanes.entry(engine).or_default().take(from, to);
        Some((
            engine,
            u32::try_from(lane).proven("no more lanes than copies, whose numbers have 32 bits"),
            id,
            copy,
            SliceTime { from, to },
        ))
    });
    began.collect()
}
