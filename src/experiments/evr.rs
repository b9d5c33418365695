//! The data of the paper's Figures 3 to 6, and its pictures.
//!
//! `random_injection` is behind Figures 3 (requirements met), 4 (total violation) and 5 (utilization and power),
//! `per_period` behind Figure 6; both are computed as rows of a study. Each point is the mean over many seeded
//! samples, with its spread. A [`Variation`] changes how parallel the applications are and how much work they bring, to
//! see on which of the two the result depends.

mod injected;
mod options;
mod points;
mod variation;

pub use injected::InjectedError;
pub use options::SweepOptions;
pub(crate) use points::PointTally;
pub use points::SweepPoint;
pub(crate) use points::{Ratio, ratios};
pub use variation::{Variation, load};
