//! The blocks of each SM, in columns.

use std::ops::Range;

use serde::Serialize;

use super::instants::Instants;
use crate::device::BlockDemand;
use crate::report::Summary;
use crate::report::pack::packed;
use crate::time::Instant;

/// One block.
#[derive(Debug, Clone)]
pub(super) struct PlacedBlock {
    pub(super) time: Range<Instant>,
    operation: u32,
    index: u32,
    warps: u32,
}

/// All blocks of a run by SM, those of an SM in the order of their starts.
pub(super) fn by_sm(summary: &Summary<'_>) -> Vec<Vec<PlacedBlock>> {
    let device = summary.scenario.device();
    let mut by_sm = vec![Vec::new(); device.sms as usize];
    for (id, _, kernel) in summary.launches() {
        let warps = BlockDemand::new(&kernel.shape, device).map_or(0, |demand| demand.warps);
        for block in summary.trace.blocks(id) {
            if let Some(blocks) = by_sm.get_mut(usize::from(block.sm)) {
                let time = block.start..block.end;
                blocks.push(PlacedBlock { time, operation: id.0, index: block.index, warps });
            }
        }
    }
    for blocks in &mut by_sm {
        blocks.sort_by_key(|block: &PlacedBlock| (block.time.start, block.operation, block.index));
    }
    by_sm
}

/// The blocks of one SM, one column for each property.
#[derive(Debug, Default, Serialize)]
pub(super) struct SmBlocks {
    operation: Vec<u32>,
    index: Vec<u32>,
    /// Number of the start, counted from that of the block before.
    start: Vec<i64>,
    /// Number of the end, counted from that of its own start.
    length: Vec<i64>,
    /// The lowest warp slot of the band that it is drawn on; its height is what its kernel takes.
    low: Vec<u32>,
    /// Blocks that are drawn in several parts because no free part of the band was large enough: their position in
    /// the columns, and from which warp slot to which each part reaches.
    split: Vec<(u32, Vec<(u32, u32)>)>,
}

impl SmBlocks {
    pub(super) fn new(blocks: &[PlacedBlock], warps_per_sm: u32, instants: &Instants) -> Self {
        let needs: Vec<_> = blocks.iter().map(|block| (block.warps, block.time.clone())).collect();
        let mut columns = Self::default();
        let mut last = 0;
        for ((position, block), places) in (0..).zip(blocks).zip(packed(warps_per_sm, &needs)) {
            let start = instants.number(block.time.start);
            columns.operation.push(block.operation);
            columns.index.push(block.index);
            columns.start.push(start - last);
            columns.length.push(instants.number(block.time.end) - start);
            // Measured blocks may overlap by more than an SM holds, because clocks differ.
            columns.low.push(places.first().map_or(0, |part| part.start));
            if places.len() > 1 {
                columns.split.push((position, places.into_iter().map(|part| (part.start, part.end)).collect()));
            }
            last = start;
        }
        columns
    }
}
