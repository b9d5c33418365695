//! Charts of campaigns, studies and sweeps.

mod application_charts;
mod campaign_figure;
pub mod cost_chart;
pub mod study_plot;
mod task_charts;
mod warp_charts;

#[doc(hidden)]
pub use application_charts::{Curves, Quantity, RegionCell, RegionMean, region_cells, scheduler_regions};
pub use campaign_figure::campaign_figure;
#[doc(hidden)]
pub use task_charts::{RegionMap, Scale, boundary_map, figure_9_plot, figure_10_plot};
pub use task_charts::{acceptance_plot, segment_acceptance_plot};
#[doc(hidden)]
pub use warp_charts::{convergence_chart, convergence_csv, solving_times_chart, solving_times_csv};
