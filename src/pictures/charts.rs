//! Charts: curves, bars and points over two axes.

pub(super) mod application_curves;
pub mod cost_chart;
pub(super) mod response_chart;
pub(super) mod response_charts;
pub mod study_plot;
pub(super) mod task_charts;
pub(super) mod warp_charts;
