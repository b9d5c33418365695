//! Why a picture cannot be drawn.

use thiserror::Error;

/// A picture that cannot be drawn.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DrawError {
    /// A scale that makes no picture.
    #[error("the scale {scale} makes no picture of 1 to 30000 pixels on each side")]
    Scale {
        /// The scale.
        scale: f64,
    },
    /// A file name that tells no format.
    #[error("{name:?} does not end in .svg, .png, .tex or .pdf, which would tell the format")]
    UnknownFormat {
        /// The name.
        name: String,
    },
    /// PDF without what it needs.
    #[error(
        "this gpusched was built without PDF; build it with the cargo feature \"pdf\", or write .svg, .png or .tex"
    )]
    NoPdf,
    /// What a library refused.
    #[error("the {format} cannot be drawn: {error}")]
    Backend {
        /// The format.
        format: &'static str,
        /// Its message.
        error: String,
    },
}
