//! How much of the sheet each part of a timeline may take.

use super::options::Lanes;
use crate::draw::{Length, MM, times};

pub(super) const LEGEND_ROW: Length = 3 * MM + MM / 5;
/// Rows of the legend where there is room; what they do not hold is counted.
pub(super) const MOST_LEGEND_ROWS: usize = 12;
pub(super) const STREAM_ROW: Length = 3 * MM + MM / 2;
/// Rows at most; further streams share the last one.
const MOST_STREAM_ROWS: usize = 24;
/// Height of one place in a queue.
pub(super) const QUEUE_LANE: Length = 2 * MM + MM * 7 / 10;
/// Places of a queue that are shown, from the head on.
pub(super) const MOST_QUEUE_LANES: usize = 5;
pub(super) const LEAST_STREAM_LANE: Length = 5 * MM / 2;
pub(super) const STREAM_LANE_GAP: Length = MM / 2;
/// Height of a lane of waits in the row of a stream: room for what is written beside them.
pub(super) const WAIT_LANE: Length = 2 * MM + MM / 5;
/// Lanes of waits of a stream; more that wait at once are counted.
pub(super) const MOST_WAIT_LANES: usize = 4;
/// All bands together take at least this, however little room there is.
const LEAST_BANDS: Length = 14 * MM;

/// Rows of lists, and the height of all bands together: at most, or as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    pub(super) legend_rows: usize,
    pub(super) stream_rows: usize,
    /// Places of the longest queue.
    pub(super) queue_lanes: usize,
    /// Lanes of waits of the stream with most of them.
    pub(super) wait_lanes: usize,
    /// All bands, or lanes of streams.
    pub(super) bands: Length,
}

impl Budget {
    /// As much as looks good where the sheet is high enough.
    pub(super) const GENEROUS: Self = Self {
        legend_rows: MOST_LEGEND_ROWS,
        stream_rows: MOST_STREAM_ROWS,
        queue_lanes: MOST_QUEUE_LANES,
        wait_lanes: MOST_WAIT_LANES,
        bands: Length::MAX / 4,
    };

    /// As little as tells something: no figure is lower.
    pub(super) const LEAST: Self =
        Self { legend_rows: 1, stream_rows: 1, queue_lanes: 1, wait_lanes: 1, bands: LEAST_BANDS };

    /// Less than is `used`, so that a figure that is `excess` too high fits: first lower bands, then fewer lanes of
    /// waits, streams, entries of the legend, and places in queues, each down to the least that tells something. Each
    /// stream that is left out saves its row, and its lane if `lanes` are streams.
    pub(super) fn reduced(used: Self, excess: Length, lanes: Lanes) -> Self {
        let Self { mut legend_rows, mut stream_rows, mut queue_lanes, mut wait_lanes, bands } = used;
        let (least, lane) = match lanes {
            Lanes::Sms => (LEAST_BANDS, 0),
            Lanes::Streams => {
                let each = LEAST_STREAM_LANE + STREAM_LANE_GAP;
                (each * times(stream_rows), each)
            }
        };
        let lower = excess.clamp(0, (bands - least).max(0));
        let mut missing = excess - lower;
        let mut cut = |rows: &mut usize, least: usize, height: Length| {
            let wanted = usize::try_from((missing + height - 1) / height).unwrap_or(0);
            let fewer = wanted.min(rows.saturating_sub(least));
            *rows -= fewer;
            missing -= times(fewer) * height;
        };
        cut(&mut wait_lanes, 2, WAIT_LANE * times(stream_rows));
        cut(&mut stream_rows, 4, STREAM_ROW + lane);
        cut(&mut legend_rows, 3, LEGEND_ROW);
        cut(&mut queue_lanes, 2, QUEUE_LANE);
        cut(&mut stream_rows, 1, STREAM_ROW + lane);
        Self { legend_rows, stream_rows, queue_lanes, wait_lanes, bands: bands - lower }
    }
}
