//! How much a browser shows well.

use thiserror::Error;

use super::HtmlTimeline;

/// Blocks above which those that do the same are one entry of the file.
const MANY_BLOCKS: u64 = 200_000;
/// Entries above which a browser takes long to open the file.
const MANY_ENTRIES: u64 = 5_000_000;

/// A timeline of which a browser would show too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("would hold {entries} {of}, more than a browser shows well ({MANY_ENTRIES})")]
pub struct TooManyEntries {
    /// How many.
    pub entries: u64,
    /// Of what.
    pub of: &'static str,
}

impl HtmlTimeline<'_> {
    /// The same as a browser shows it well: of very many blocks those that do the same are [merged](Self::merged).
    ///
    /// # Errors
    /// [`TooManyEntries`] if even then too many are left, or if turns are too many.
    pub fn sized(self) -> Result<Self, TooManyEntries> {
        let refused = |entries, of| if entries > MANY_ENTRIES { Err(TooManyEntries { entries, of }) } else { Ok(()) };
        refused(self.turns(), "turns of contexts")?;
        if self.blocks() <= MANY_BLOCKS {
            return Ok(self);
        }
        refused(self.merged_blocks(), "groups of blocks")?;
        Ok(self.merged())
    }
}
