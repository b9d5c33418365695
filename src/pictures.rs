//! Pictures: timelines, charts and maps on the sheet of [`draw`](crate::draw), the page in HTML, and Perfetto's traces.

mod charts;
mod explain;
mod free_lanes;
mod gantt;
mod html;
mod kernel_series;
mod maps;
mod pack;
mod perfetto;
mod rule_look;
mod sm_groups;
mod time_steps;
pub mod timeline;

pub(crate) use charts::application_curves::{Curves, Quantity};
pub use charts::response_chart::response_chart;
pub(crate) use charts::response_charts::{figure_9_plot, figure_10_plot};
pub(crate) use charts::task_charts::boundary_map;
pub use charts::task_charts::{acceptance_plot, demand_plot, segment_acceptance_plot};
pub(crate) use charts::warp_charts::{convergence_chart, convergence_csv, solving_times_chart, solving_times_csv};
pub use charts::{cost_chart, study_plot};
pub(crate) use gantt::chunk_cycle::{Vertex, chunk_cycle};
pub use gantt::segment_gantt::segment_gantt;
pub use gantt::warp_schedule::schedule_figure;
pub use gantt::{application_gantt, task_gantt};
pub use html::{HtmlRun, HtmlTimeline, TooManyEntries};
pub(crate) use html::{HtmlScene, write_html_tour};
pub use maps::blame_map::blame_figure;
pub use maps::campaign_figure::campaign_figure;
pub(crate) use maps::scheduler_regions::{region_cells, scheduler_regions};
pub use perfetto::{PerfettoKnown, PerfettoRun, perfetto_trace};
