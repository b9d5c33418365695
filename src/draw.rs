//! Pictures, of whatever: shapes on paper, and the formats that write them.
//!
//! All pictures are [`Drawing`]s in one [`theme`]: charts of curves (`Chart`), and whatever else is put together from
//! shapes. A format writes the shapes ([`Drawing::to_svg`] and others). All of it is integers on paper, see [`Length`].

mod chart;
mod drawing;
mod error;
pub(crate) mod font;
mod format;
mod geometry;
#[cfg(feature = "pdf")]
mod pdf;
#[cfg(feature = "png")]
mod png;
mod sheet;
mod svg;
mod tex;
pub mod theme;
mod ticks;

pub(crate) use chart::Look;
pub(crate) use chart::{Axis, Chart, Series};
pub use drawing::{Anchor, Dash, Drawing, PictureOptions, Shape, Stroke, Text};
pub use error::DrawError;
pub use format::FigureFormat;
pub(crate) use geometry::as_length;
pub use geometry::{COLUMN_WIDTH, Length, MM, PAGE_HEIGHT, PAGE_WIDTH, Point, Rect, in_millimetres, width_named};
pub(crate) use sheet::Sheet;
pub use ticks::AxisTicks;
pub(crate) use ticks::{round_ticks, time_ticks, time_ticks_since};
