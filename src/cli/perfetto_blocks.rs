//! Whether `--perfetto` writes every block.

use gpusched::pictures::PerfettoKnown;
use gpusched::pictures::timeline::Lanes;
use gpusched::run::{Recorded, Summary};

use super::output::note;

/// Blocks that are written without being asked for: some 15 MB.
const MOST_BLOCKS: u64 = 100_000;

/// What is written of a simulation: each of its blocks, or, with a note, kernels by stream if these are too many, or if
/// they are those of a profile, which has kernels and no blocks, and would be a small part of the file.
pub(crate) fn known_to_perfetto(summary: &Summary<'_>, lanes: Lanes) -> PerfettoKnown {
    let blocks: u64 = summary.launches().map(|Recorded { work: kernel, .. }| u64::from(kernel.blocks)).sum();
    let why = match lanes {
        Lanes::Streams => "a profile is".to_owned(),
        Lanes::Sms if blocks > MOST_BLOCKS => format!("more than {MOST_BLOCKS} blocks are"),
        Lanes::Sms => return PerfettoKnown::Everything,
    };
    note(&format!("--perfetto: {why} written as kernels by stream; --force writes each of {blocks} blocks"));
    PerfettoKnown::Streams
}
