//! Pictures: timelines, charts and maps on the sheet of [`draw`](crate::draw), the page in HTML, and Perfetto's traces.

mod blame_map;
mod html;
#[doc(hidden)]
pub mod looks;
mod pack;
mod perfetto;
mod response_chart;
mod time_steps;
pub mod timeline;

pub use blame_map::blame_figure;
pub use html::{HtmlRun, HtmlTimeline, TooManyEntries};
#[doc(hidden)]
pub use html::{HtmlScene, write_html_tour};
pub use perfetto::{PerfettoKnown, PerfettoRun, perfetto_trace};
pub use response_chart::response_chart;
