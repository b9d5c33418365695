//! Why a picture cannot be drawn.

use thiserror::Error;

use crate::time::Duration;

/// A picture that cannot be drawn.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// An end before the beginning, or no time in between.
    #[error("the figure's time window ends at {to}, which is not after its beginning, {from}")]
    Window {
        /// Where it begins.
        from: Duration,
        /// Where it ends.
        to: Duration,
    },
    /// An SM that the device lacks.
    #[error("the figure shows SM {sm}, and this device has SMs 0 to {}", sms - 1)]
    NoSuchSm {
        /// The SM.
        sm: u32,
        /// How many there are.
        sms: u32,
    },
    /// A kernel that the scenario lacks.
    #[error("the figure shows only some kernels, and no kernel is called {title:?}; there are {known}")]
    NoSuchKernel {
        /// What was asked for.
        title: String,
        /// Those that there are.
        known: String,
    },
    /// Too narrow for anything but margins.
    #[error("the figure is {asked_mm} mm wide; it needs from {least_mm} to {most_mm} mm")]
    Width {
        /// What was asked for.
        asked_mm: String,
        /// What is needed.
        least_mm: i64,
        /// What is allowed.
        most_mm: i64,
    },
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
