//! What other parts of a timeline have to say in its legend.

use super::LegendSymbol;
use crate::draw::theme::Fill;

/// An entry of another part.
pub(super) struct Other {
    pub(super) fill: Fill,
    pub(super) symbol: LegendSymbol,
    pub(super) text: String,
    /// What is written where that has no room, the best first.
    pub(super) shorter: Vec<String>,
}

impl Other {
    pub(super) fn new(fill: Fill, symbol: LegendSymbol, text: String) -> Self {
        Self { fill, symbol, text, shorter: Vec::new() }
    }
}
