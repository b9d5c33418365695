//! How much of the sheet each part of a timeline may take.

use super::options::Lanes;
use super::{arrows, bands, lanes, legend, queues};
use crate::draw::Length;

/// Rows of lists, and the height of all bands together: at most, or as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    /// Rows of the legend.
    pub(super) legend_rows: usize,
    /// Rows of streams.
    pub(super) stream_rows: usize,
    /// Places of the longest queue.
    pub(super) queue_lanes: usize,
    /// All bands, or lanes of streams.
    pub(super) bands: Length,
}

impl Budget {
    /// As much as looks good where the sheet is high enough.
    pub(super) const GENEROUS: Self = Self {
        legend_rows: legend::MOST_ROWS,
        stream_rows: arrows::MOST_ROWS,
        queue_lanes: queues::MOST_LANES,
        bands: Length::MAX / 4,
    };

    /// Less than is `used`, so that a figure that is `excess` too high fits: first lower bands, then fewer streams,
    /// entries of the legend, and places in queues, each down to the least that tells something. Each stream that is
    /// left out saves its row, and its lane if `lanes` are streams.
    pub(super) fn reduced(used: Self, excess: Length, lanes: Lanes) -> Self {
        let Self { mut legend_rows, mut stream_rows, mut queue_lanes, bands } = used;
        let (least, lane) = match lanes {
            Lanes::Sms => (bands::LEAST, 0),
            Lanes::Streams => (lanes::LEAST * Length::try_from(stream_rows).unwrap_or(0), lanes::LEAST),
        };
        let lower = excess.clamp(0, (bands - least).max(0));
        let mut missing = excess - lower;
        let mut cut = |rows: &mut usize, least: usize, height: Length| {
            let wanted = usize::try_from((missing + height - 1) / height).unwrap_or(0);
            let fewer = wanted.min(rows.saturating_sub(least));
            *rows -= fewer;
            missing -= Length::try_from(fewer).unwrap_or(0) * height;
        };
        cut(&mut stream_rows, 4, arrows::HEIGHT + lane);
        cut(&mut legend_rows, 3, legend::ROW);
        cut(&mut queue_lanes, 2, queues::LANE);
        cut(&mut stream_rows, 1, arrows::HEIGHT + lane);
        Self { legend_rows, stream_rows, queue_lanes, bands: bands - lower }
    }
}
