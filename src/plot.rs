//! Pictures of a run.
//!
//! All pictures are [`Drawing`]s in one [`theme`]: block timelines ([`Timeline`]), charts of curves ([`Chart`]), and the
//! diagrams of other modules. A timeline is made in three steps, so that each can be tested, and so that formats share everything but their own
//! syntax: a layout says what goes where, as plain data ([`Timeline`]); it is drawn as a list of shapes ([`Drawing`]);
//! a format writes the shapes ([`Drawing::to_svg`] and others). All of it is integers on paper, see [`Length`].

mod chart;
mod comparison;
mod drawing;
mod error;
mod font;
mod format;
mod geometry;
mod options;
mod pdf;
mod png;
mod sheet;
mod svg;
mod tex;
pub mod theme;
mod ticks;
mod timeline;

pub use chart::{Axis, Chart, Series, SeriesLook};
pub use comparison::{FinishMark, comparison};
pub use drawing::{Anchor, Dash, Drawing, Shape, Stroke, Text};
pub use error::PlotError;
pub use format::FigureFormat;
pub use geometry::{Length, MM, Point, Rect};
pub use options::{COLUMN_WIDTH, HeightBy, PAGE_WIDTH, TimelineOptions};
pub(crate) use sheet::Sheet;
pub use ticks::{Ticks, round_ticks, time_ticks};
pub(crate) use timeline::packed;
pub use timeline::{
    Across, Arrow, Band, Blocks, CopyBox, Label, LabelStyle, Lane, LegendEntry, LegendMark, Occupancy, OccupancyCurve,
    Piece, Profile, QueueEntry, QueueRow, StreamRow, ThinLine, Timeline,
};
