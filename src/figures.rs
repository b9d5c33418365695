//! The figures and tables of the papers, computed here.
//!
//! [`catalogue()`] lists every published figure and table that can be computed so far; each [`Figure`] makes its
//! pictures, the data behind them and a sentence on what was found, to stand beside what was published; [`gallery()`]
//! is the page that shows them all. Pictures are SVG and data CSV, the same bytes on every run, except for those that
//! [state times of this machine](FigureKind::Timed).

mod analysed;
mod axes;
mod catalogue;
mod cister2012;
mod compared;
mod date2014;
mod ecrts2018;
mod ecrts2024;
mod error;
mod figure;
mod gallery;
mod made;
mod ospert2017;
mod paper;
mod rtns2020;
mod rtss2017;
mod thesis2019;
mod thesis2019_cost;
mod timeline;
mod tour;
mod waters2019;

pub use catalogue::catalogue;
pub use error::FigureError;
pub use figure::{Figure, FigureKind, TIME_LIMIT};
pub use gallery::{GALLERY_MARK, gallery};
pub use made::{File, Made};
pub use paper::Paper;
pub use tour::{TOUR, TourScene, write_tour};
