//! Files that commands write of a run: the page `--html`, and the tables and pictures of `--runnable-times`,
//! `--responses` and `--perfetto`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use gpusched::analysis::Analysis;
use gpusched::draw::FigureFormat;
use gpusched::pictures::timeline::Lanes;
use gpusched::pictures::{HtmlTimeline, PerfettoKnown, response_chart};
use gpusched::run::{Recorded, Responses, Summary};
use gpusched::scenario::Scenario;
use gpusched::tables::RunnableTimes;

use super::figure_options;
use super::output::note;
use super::written::write_whole;

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct HtmlOptions {
    /// Write the timeline as one HTML file to look at in a browser: zoom, search, the rule that made each block wait,
    /// and the state at any instant; it loads nothing from elsewhere
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// An HTML file that is going to be written.
#[derive(Debug)]
pub(crate) struct HtmlFile<'a>(&'a Path);

/// Refuses a file whose name does not say that it is a page.
pub(crate) fn refuse_other_page(option: &str, path: &Path) -> anyhow::Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !extension.is_some_and(|extension| ["html", "htm"].contains(&extension.to_ascii_lowercase().as_str())) {
        bail!("{option}: expected a file that ends in .html, found {}", path.display());
    }
    Ok(())
}

impl HtmlOptions {
    /// Whether a file is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.html.is_some()
    }

    /// The file asked for, if any, after its name is checked.
    pub(crate) fn file(&self) -> anyhow::Result<Option<HtmlFile<'_>>> {
        let Some(path) = self.html.as_deref() else { return Ok(None) };
        refuse_other_page("--html", path)?;
        Ok(Some(HtmlFile(path)))
    }
}

impl HtmlFile<'_> {
    /// Writes it. Of very many blocks those that do the same are merged, unless `force` asks for each; if even then too
    /// many are left, or if turns are too many, it is refused.
    pub(crate) fn write(&self, timeline: HtmlTimeline<'_>, force: bool) -> anyhow::Result<()> {
        let timeline = if force { Ok(timeline) } else { timeline.sized() };
        let timeline = timeline
            .map_err(|error| anyhow!("--html {error}: draw a --figure, or let `gpusched simulate --force` write it"))?;
        write_whole(self.0, |out| timeline.write(out))
    }
}

/// Where the table of times goes.
#[derive(Debug, Args)]
pub(crate) struct RunnableTimesOption {
    /// Write the times of each runnable (host thread), copies included, for a tool chain: .csv or .json
    #[arg(long, value_name = "FILE")]
    runnable_times: Option<PathBuf>,
}

/// A table that is going to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunnableTimesTable<'a> {
    path: &'a Path,
    json: bool,
}

impl RunnableTimesOption {
    /// Whether a table is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.runnable_times.is_some()
    }

    /// The table asked for, if its format is known.
    pub(crate) fn table(&self) -> anyhow::Result<Option<RunnableTimesTable<'_>>> {
        let Some(path) = self.runnable_times.as_deref() else { return Ok(None) };
        let json = match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => false,
            Some("json") => true,
            _ => bail!("--runnable-times: expected a file that ends in .csv or .json, found {}", path.display()),
        };
        Ok(Some(RunnableTimesTable { path, json }))
    }
}

impl RunnableTimesTable<'_> {
    pub(crate) fn write(&self, simulated: &Summary<'_>, analysed: Option<&Analysis<'_>>) -> anyhow::Result<()> {
        let times = RunnableTimes::of_run(simulated, analysed);
        write_whole(self.path, |out| {
            if self.json { RunnableTimes::write_json(&times, out) } else { RunnableTimes::write_csv(&times, out) }
        })
    }
}

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
        figure_options::write_figure(self.path, &response_chart(&scenario.name, &rows)?)
    }
}

/// Blocks that are written without being asked for: some 15 MB.
const MOST_BLOCKS: u64 = 100_000;

/// What is written of a simulation: each of its blocks, or, with a note, kernels by stream if these are too many, or if
/// they are those of a profile, which has kernels and no blocks, and would be a small part of the file.
pub(crate) fn known_to_perfetto(summary: &Summary<'_>, lanes: Lanes) -> PerfettoKnown {
    let blocks: u64 = summary.launches().map(|Recorded { work: kernel, .. }| u64::from(kernel.blocks)).sum();
    let why = match lanes {
        Lanes::Streams => "a profile is".to_owned(),
        Lanes::Sms if blocks > MOST_BLOCKS => format!("more than {MOST_BLOCKS} blocks are"),
        Lanes::Sms => return PerfettoKnown::Everything,
    };
    note(&format!("--perfetto: {why} written as kernels by stream; --force writes each of {blocks} blocks"));
    PerfettoKnown::Streams
}
