//! Whether `--perfetto` writes every block.

use gpusched::pictures::PerfettoKnown;
use gpusched::run::{Recorded, Summary};

use super::output::note;

/// Blocks that are written without being asked for: some 15 MB.
const MOST_BLOCKS: u64 = 100_000;

/// What is written of a simulation: each of its blocks, or, with a note, kernels by stream if these are too many.
pub(crate) fn known_to_perfetto(summary: &Summary<'_>) -> PerfettoKnown {
    let blocks: u64 = summary.launches().map(|Recorded { work: kernel, .. }| u64::from(kernel.blocks)).sum();
    if blocks <= MOST_BLOCKS {
        return PerfettoKnown::Everything;
    }
    note(&format!(
        "--perfetto: {blocks} blocks are too many, written are kernels by stream; gpusched simulate --perfetto --force \
         writes each block"
    ));
    PerfettoKnown::Streams
}
