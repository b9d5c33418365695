//! Runs.

use std::cell::OnceCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpusched::draw::{DrawError, Drawing, FigureFormat, MM, PictureOptions};
use gpusched::formats::{TableStyle, csv_of, frames_of, text_of};
use gpusched::hosts::least_work;
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::pictures::{HtmlTimeline, PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::run::{CriticalPath, Overlap, State, Summary};
use gpusched::tables::{AskedWaits, SimulationReport};
use gpusched::time::Instant;
use gpusched::words::did_you_mean;
use gpusched::words::with_causes;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::blocks::{Arrays, Columns};
use crate::cell::cell_page;
use crate::document::{frame_among, json, written};
use crate::errors::Failure;
use crate::file::write_whole;
use crate::options::time;
use crate::scenario::{Scenario, Wanted};
use crate::work::{self, aside};

/// A run of a scenario, with everything that happened.
#[pyclass(frozen, module = "gpusched._gpusched")]
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) run: Arc<gpusched::run::Run<'static>>,
}

/// Simulates a scenario.
#[pyfunction]
#[pyo3(signature = (scenario, **options))]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Run> {
    let wanted = Wanted::new(scenario, options)?;
    aside(py, move || Run::of(wanted.read()?))
}

impl Run {
    fn of(scenario: Scenario) -> Result<Self, Failure> {
        let run = simulated(&scenario.scenario)?.into_owned();
        Ok(Self { scenario, run: Arc::new(run) })
    }

    pub(crate) fn summary(&self) -> Summary<'_> {
        Summary::of(&self.run)
    }
}

/// Refuses a scenario whose run is known beforehand to take more memory than there may be.
pub(crate) fn refuse_beyond_memory(scenario: &gpusched::scenario::Scenario) -> Result<(), Failure> {
    let (operations, bytes) = least_work(scenario);
    work::refuse_beyond_memory(bytes, &format!("a run of {operations} operations"))
}

pub(crate) fn simulated(scenario: &gpusched::scenario::Scenario) -> Result<gpusched::run::Run<'_>, Failure> {
    refuse_beyond_memory(scenario)?;
    gpusched::hosts::simulate(scenario).map_err(|error| Failure::run(&error))
}

#[pymethods]
impl Run {
    /// The scenario.
    #[getter]
    fn scenario(&self) -> Scenario {
        self.scenario.clone()
    }

    /// What the command says on standard error.
    #[getter]
    fn notes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let run = self.clone();
        aside(py, move || Ok(run.summary().notes()))
    }

    /// The bytes of `gpusched simulate --format json`.
    #[pyo3(signature = (*, blocks = false, rules = false, blame = false, critical_path = None, overlap = None, states = Vec::new()))]
    #[expect(clippy::needless_pass_by_value, reason = "Python's list is taken as a whole")]
    #[expect(clippy::too_many_arguments, reason = "they are keywords of Python")]
    fn to_json(
        &self,
        py: Python<'_>,
        blocks: bool,
        rules: bool,
        blame: bool,
        critical_path: Option<String>,
        overlap: Option<String>,
        states: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let states: Vec<Instant> = states.iter().map(|at| Ok(Instant::ZERO + time(at)?)).collect::<PyResult<_>>()?;
        let run = self.clone();
        aside(py, move || {
            let tables = OnceCell::new();
            let blame = blame.then_some(&tables);
            let summary = run.summary();
            let none = "critical_path: nothing of what is asked for has ended in this run";
            let named = |name: String| match CriticalPath::named(&summary, &name) {
                Ok(path) => path.ok_or_else(|| Failure::Argument(none.to_owned())),
                Err(error) => Err(Failure::Argument(format!("critical_path: {error}"))),
            };
            let path = critical_path.map(named).transpose()?;
            let all = SimulationReport::of(summary);
            let critical_path = path.as_ref();
            let overlap = overlap.map(|names| Overlap::of(&summary, &names)).transpose();
            let overlap = overlap.map_err(|error| Failure::Argument(error.to_string()))?;
            let overlap = overlap.as_ref();
            let waits = AskedWaits { blame, critical_path, overlap, ..AskedWaits::default() };
            json(&SimulationReport { blocks, rules, waits, states: &states, ..all })
        })
    }

    /// The bytes of `gpusched simulate --format csv`.
    #[pyo3(signature = (*, blocks = false))]
    fn to_csv(&self, py: Python<'_>, blocks: bool) -> PyResult<String> {
        let run = self.clone();
        aside(py, move || Ok(csv_of(&SimulationReport { blocks, ..SimulationReport::of(run.summary()) })))
    }

    /// The table of the command.
    #[getter]
    fn table(&self, py: Python<'_>) -> PyResult<String> {
        self.text(py, TableStyle::Plain)
    }

    /// The same in Markdown.
    #[getter]
    fn markdown(&self, py: Python<'_>) -> PyResult<String> {
        self.text(py, TableStyle::Markdown)
    }

    /// The same in HTML.
    #[getter]
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.text(py, TableStyle::Html)
    }

    /// A list for a data frame: a line of kinds, then comma-separated values.
    #[pyo3(signature = (list = None))]
    fn frame(&self, py: Python<'_>, list: Option<String>) -> PyResult<String> {
        let (run, list) = (self.clone(), list.unwrap_or_else(|| "kernels".to_owned()));
        let (list, frames) = aside(py, move || {
            let report = SimulationReport { blocks: true, ..SimulationReport::of(run.summary()) };
            let frames = frames_of(&report, Some(&list));
            Ok((list, frames))
        })?;
        frame_among(&list, frames.into_iter().map(|frame| (frame.list, frame.rows)))
    }

    /// Queues, residents and why each operation waits, after all events of the instant.
    fn state(&self, py: Python<'_>, at: &Bound<'_, PyAny>) -> PyResult<String> {
        let (run, at) = (self.clone(), Instant::ZERO + time(at)?);
        aside(py, move || Ok(State::at(&run.summary(), at).text()))
    }

    /// The timeline as SVG.
    #[pyo3(signature = (**look))]
    fn to_svg(&self, py: Python<'_>, look: Option<&Bound<'_, PyDict>>) -> PyResult<String> {
        let (run, options) = (self.clone(), figure_options(look)?);
        aside(py, move || Ok(run.drawing(&options)?.to_svg()))
    }

    /// Writes the timeline into a file; its extension says in which format.
    #[pyo3(signature = (path, **look))]
    fn save_figure(&self, py: Python<'_>, path: PathBuf, look: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let (run, options) = (self.clone(), figure_options(look)?);
        aside(py, move || save(&path, &run.drawing(&options)?))
    }

    /// The page for a cell of a notebook; None if it is too large for that.
    #[getter]
    fn page(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let run = self.clone();
        aside(py, move || Ok(cell_page(HtmlTimeline::new(run.summary()))))
    }

    /// The page of `--html`.
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        let run = self.clone();
        aside(py, move || {
            let page = HtmlTimeline::new(run.summary()).sized();
            let page = page.map_err(|error| Failure::Argument(format!("the page {error}: draw a figure")))?;
            written(|out| page.write(out))
        })
    }

    /// The trace of `--perfetto`.
    fn to_perfetto(&self, py: Python<'_>) -> PyResult<String> {
        let run = self.clone();
        aside(py, move || {
            let one = PerfettoRun { summary: run.summary(), label: "", known: PerfettoKnown::Everything };
            written(|out| perfetto_trace(&[one], out))
        })
    }

    /// What is sent to another process is a part of it.
    #[expect(clippy::unused_self, reason = "a method of Python")]
    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a run is not pickled, as it is as large as what happened; send what of it is needed: run.to_dict(), \
             run.to_json(), run.blocks, run.to_pandas(), or the scenario to simulate it there",
        ))
    }

    /// The columns of all blocks, and the names of kernels.
    fn block_arrays<'py>(&self, py: Python<'py>) -> PyResult<Arrays<'py>> {
        let run = Arc::clone(&self.run);
        Ok(aside(py, move || Columns::of(&run))?.into_arrays(py))
    }
}

impl Run {
    fn text(&self, py: Python<'_>, style: TableStyle) -> PyResult<String> {
        let run = self.clone();
        aside(py, move || Ok(text_of(&SimulationReport::of(run.summary()), style)))
    }

    fn drawing(&self, options: &TimelineOptions) -> Result<Drawing, Failure> {
        let argument = |error: &(dyn std::error::Error + 'static)| Failure::Argument(with_causes(error));
        options.check(&self.scenario.scenario).map_err(|error| argument(&error))?;
        let timeline = Timeline::new(&self.summary(), options).map_err(|error| argument(&error))?;
        Ok(timeline.draw(&self.summary(), options))
    }
}

/// Writes a picture.
fn save(path: &Path, drawing: &Drawing) -> Result<(), Failure> {
    let argument = |error: &DrawError| {
        Failure::Argument(match error {
            DrawError::NoPdf => {
                "the Python package writes no PDF: write .svg, .png or .tex, or run the command, built with PDF"
                    .to_owned()
            }
            other => other.to_string(),
        })
    };
    let format = FigureFormat::of(path).map_err(|error| argument(&error))?;
    let bytes = drawing.to_file(format, 1.0).map_err(|error| argument(&error))?;
    write_whole(path, |out| out.write_all(&bytes))
}

/// The options of figures.
const LOOKS: [&str; 11] =
    ["width", "width_mm", "queues", "waits", "full_height", "occupancy", "title", "start", "end", "sms", "only"];

/// How a timeline looks.
fn figure_options(given: Option<&Bound<'_, PyDict>>) -> PyResult<TimelineOptions> {
    let mut options = TimelineOptions::default();
    for (key, value) in given.into_iter().flatten() {
        let key: String = key.extract()?;
        match key.as_str() {
            "width" => {
                let text: String = value.str()?.extract()?;
                let expected = "width: expected \"column\", \"page\", or a number of millimetres such as 120";
                options.width = PictureOptions::width_named(&text).ok_or_else(|| PyValueError::new_err(expected))?;
            }
            "width_mm" => {
                let width = MM.checked_mul(value.extract()?);
                options.width = width.ok_or_else(|| PyValueError::new_err("width_mm: that is too wide"))?;
            }
            "queues" => options.queues = value.extract()?,
            "waits" => options.waits = value.extract()?,
            "full_height" => options.most_zoom = if value.extract()? { 1 } else { options.most_zoom },
            "occupancy" => options.occupancy = value.extract()?,
            "title" => options.title = value.extract()?,
            "start" => options.from = Some(time(&value)?),
            "end" => options.to = Some(time(&value)?),
            "only" => options.only = Some(value.extract()?),
            "sms" => {
                let sms: Vec<u32> = value.extract()?;
                options.sms = Some(sms.into_iter().map(|sm| sm..=sm).collect());
            }
            _ => {
                let near = did_you_mean(&key, LOOKS);
                let text = format!("there is no option {key:?} of figures{near}; there are {}", LOOKS.join(", "));
                return Err(PyTypeError::new_err(text));
            }
        }
    }
    Ok(options)
}
