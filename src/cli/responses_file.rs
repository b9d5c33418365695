//! `--responses FILE`

use std::path::Path;

use anyhow::Context;
use gpusched::draw::FigureFormat;
use gpusched::pictures::response_chart;
use gpusched::run::Responses;
use gpusched::scenario::Scenario;

use super::output::write_whole;
use super::picture;

/// Where response times go: a picture, or a table if the file is called .csv.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponsesFile<'a> {
    path: &'a Path,
    is_table: bool,
}

impl<'a> ResponsesFile<'a> {
    /// Refuses a file whose extension tells no format, before anything is simulated.
    pub(crate) fn new(path: &'a Path) -> anyhow::Result<Self> {
        let is_table = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        if !is_table {
            FigureFormat::of(path).context("--responses takes a picture or a .csv table")?;
        }
        Ok(Self { path, is_table })
    }

    pub(crate) fn write(self, scenario: &Scenario, rows: Vec<Responses<'_>>) -> anyhow::Result<()> {
        if self.is_table {
            return write_whole(self.path, |out| Responses::write_csv(rows, out));
        }
        picture::write(self.path, &response_chart(&scenario.name, &rows)?)
    }
}
