//! Pictures. Three of one run: the printed timeline, the page in HTML, and Perfetto's trace. Each shows in its own way
//! what `trace` and `run` tell; what they have in common is here once: how rules, kernels and queues are shown and
//! called (`looks`), and which boxes there are, in which lane or place, and what is in use (`timeline_model`). All
//! others are charts, maps and diagrams. What is printed is drawn on the sheet of [`draw`](crate::draw).

mod blame_map;
mod html;
#[doc(hidden)]
pub mod looks;
mod perfetto;
mod response_chart;
mod sensitivity_chart;
pub mod timeline;
mod timeline_model;

pub use blame_map::blame_figure;
pub use html::{HtmlRun, HtmlTimeline, TooManyEntries};
#[doc(hidden)]
pub use html::{HtmlScene, write_html_tour};
pub use perfetto::{PerfettoKnown, PerfettoRun, perfetto_trace};
pub use response_chart::response_chart;
pub use sensitivity_chart::sensitivity_chart;
