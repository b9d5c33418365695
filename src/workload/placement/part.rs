//! What one SM has to do with a wave.

/// The share of one SM in a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The SM.
    pub sm: u16,
    /// How many blocks of this kernel it could have taken.
    pub room: u16,
    /// How many it got.
    pub blocks: u16,
}
