//! The columns by which every report knows a kernel launch.

use crate::formats::Column;
use crate::scenario::KernelLaunch;

pub(crate) trait OfLaunch {
    fn launch(&self) -> &KernelLaunch<'_>;
}

/// Which launch of which kernel; the last column is the iteration.
pub(crate) fn launch_columns<R: OfLaunch>() -> Vec<Column<R>> {
    vec![
        Column::data("id", |row| row.launch().id.into()),
        Column::csv("kernel", |row| row.launch().title().into()),
        Column::table("kernel", |row: &R| row.launch().title().into()).names(),
        Column::data("benchmark", |row| row.launch().benchmark.into()),
        Column::data("label", |row| row.launch().label().into()),
        Column::json("name", |row| row.launch().name().into()),
        Column::json("title", |row| row.launch().title().into()),
        Column::data("stream", |row: &R| row.launch().stream.into()).in_frames_as(None),
        Column::table("stream", |row: &R| row.launch().stream_name().into()).left().in_frames_as(Some("stream")),
        Column::new("iteration", "iteration", |row| row.launch().iteration.into()),
    ]
}
