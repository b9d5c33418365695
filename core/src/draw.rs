//! Pictures, of whatever: shapes on paper, and the formats that write them.
//!
//! All pictures are [`Drawing`]s in one theme: charts of curves (`Chart`), and whatever else is put together from
//! shapes. A format writes the shapes ([`Drawing::to_svg`] and others). All of it is integers on paper, see [`Length`].

mod chart;
mod drawing;
pub(crate) mod font;
mod format;
mod geometry;
#[cfg(feature = "png")]
mod png;
mod svg;
mod tex;
#[doc(hidden)]
pub mod theme;

#[doc(hidden)]
pub use chart::{Axis, Chart, Look, Series, SeriesLook};
pub use drawing::Sheet;
#[doc(hidden)]
pub use drawing::{Anchor, Dash, Shape, Stroke, Text};
pub use drawing::{Drawing, PictureOptions};
pub use format::DrawError;
pub use format::FigureFormat;
#[doc(hidden)]
pub use geometry::{AxisTicks, round_ticks, time_ticks, time_ticks_since};
#[doc(hidden)]
pub use geometry::{COLUMN_WIDTH, PAGE_HEIGHT, PAGE_WIDTH, Point, Rect, as_length};
pub use geometry::{Length, MM};
