//! Interactive pages that are small enough for the cell of a notebook, which keeps them in its file.

use std::io::{self, Write};

use gpusched::pictures::HtmlTimeline;

/// Blocks above which those of one launch that do the same are one entry.
const MANY_BLOCKS: u64 = 20_000;
/// Entries, of blocks or of turns, that are too many.
const TOO_MANY: u64 = 100_000;
/// What a page takes at most \[bytes\].
const MOST_BYTES: usize = 2 << 20;

/// The page of a timeline, or `None` if it is too large for a cell.
pub(crate) fn cell_page(timeline: HtmlTimeline<'_>) -> Option<String> {
    if timeline.turns() > TOO_MANY || timeline.merged_blocks() > TOO_MANY {
        return None;
    }
    let timeline = if timeline.blocks() > MANY_BLOCKS { timeline.merged() } else { timeline };
    let mut page = Bounded(Vec::new());
    timeline.write(&mut page).ok()?;
    String::from_utf8(page.0).ok()
}

/// Memory that refuses more than [`MOST_BYTES`].
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
