//! Why a figure could not be made.

use thiserror::Error;

/// Why a figure could not be made: what it is made of is compiled in, so this means a defect of ours.
#[derive(Debug, Error)]
#[error("{figure}: {source}")]
pub struct FigureError {
    /// The figure's name.
    pub figure: &'static str,
    /// What went wrong.
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
