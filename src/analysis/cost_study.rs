//! The thesis' cost study (section 3.7, Table 3.1, Figs. 3.11 to 3.13): time against kernels and blocks, for Algorithm 2
//! as printed and for ours.
//!
//! Wall-clock times differ from machine to machine and from run to run; what is the same everywhere is the work of the
//! printed algorithm's loop, so that is counted too ([`Work`](super::printed::Work)).

mod chart;
mod fit;
mod measure;
mod task_sets;
mod turns;

pub use chart::{Quantity, chart, fitted_chart};
pub use measure::{Figure, Point, Setting, measure, points_csv, settings};
pub use task_sets::TaskSets;
pub use turns::{TurnsPoint, Variant, share_chart, study, turns_chart, turns_csv};
