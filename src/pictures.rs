//! Pictures: timelines, charts and maps on the sheet of [`draw`](crate::draw), the page in HTML, and Perfetto's traces.

mod application_charts;
pub mod application_gantt;
mod blame_map;
mod campaign_figure;
pub mod cost_chart;
mod html;
mod looks;
mod pack;
mod perfetto;
pub mod study_plot;
mod task_charts;
pub mod task_gantt;
mod task_lanes;
mod time_steps;
pub mod timeline;
mod warp_charts;

pub(crate) use application_charts::{Curves, Quantity, region_cells, scheduler_regions};
pub use blame_map::blame_figure;
pub use campaign_figure::campaign_figure;
pub use html::{HtmlRun, HtmlTimeline, TooManyEntries};
pub(crate) use html::{HtmlScene, write_html_tour};
pub use perfetto::{PerfettoKnown, PerfettoRun, perfetto_trace};
pub use task_charts::{acceptance_plot, demand_plot, response_chart, segment_acceptance_plot};
pub(crate) use task_charts::{boundary_map, figure_9_plot, figure_10_plot};
pub use task_lanes::segment_gantt;
pub(crate) use task_lanes::{Vertex, chunk_cycle};
pub use warp_charts::schedule_figure;
pub(crate) use warp_charts::{convergence_chart, convergence_csv, solving_times_chart, solving_times_csv};
