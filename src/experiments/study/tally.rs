//! What the rows of a point add up to.

use crate::statistics::Measure;

/// Sums up rows of one point, in their order.
pub(crate) trait Tally: Send {
    /// Adds a row; `None` if its values are not those of the command.
    fn add(&mut self, samples: u64, values: &str) -> Option<()>;

    /// What came out, by name. The names are the same for every point.
    fn measures(&self) -> Vec<(&'static str, Measure)>;
}
