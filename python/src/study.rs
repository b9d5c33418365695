//! Studies.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpusched::effort::Progress;
use gpusched::experiments::study::{ResultFile, Shard, Study as LibraryStudy, StudySummary, merge};
use gpusched::pictures::study_plot::{PlotOptions, plot};
use gpusched::tables::SummaryDocument;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::document::Document;
use crate::errors::Failure;
use crate::file::write_whole;
use crate::given::Given;
use crate::work::{aside, on_threads};

/// A study that was read: a command repeated with random samples over a grid.
#[pyclass(frozen, module = "gpusched._gpusched")]
pub(crate) struct Study {
    study: Arc<LibraryStudy>,
}

#[pymethods]
impl Study {
    /// Reads a study: a dict or the path of a file; files that it names are looked for in `folder`.
    #[new]
    #[pyo3(signature = (study, folder = None))]
    fn new(py: Python<'_>, study: &Bound<'_, PyAny>, folder: Option<PathBuf>) -> PyResult<Self> {
        let given = Given::new(study)?;
        aside(py, move || {
            let folder = folder.unwrap_or_else(|| given.folder());
            let (name, text) = given.text()?;
            let read = |file: &str| LibraryStudy::read_beside(&folder, file);
            Ok(Self { study: Arc::new(LibraryStudy::from_json(&name, &text, &read)?) })
        })
    }

    /// Rows of the whole study.
    #[getter]
    fn rows(&self) -> u64 {
        self.study.layout.rows()
    }

    /// Computes the rows that are missing in `results`; says whether all are there. What is done stays when it is
    /// stopped.
    #[pyo3(signature = (results, shard = None, threads = None))]
    fn run(&self, py: Python<'_>, results: PathBuf, shard: Option<&str>, threads: Option<usize>) -> PyResult<bool> {
        let shard: Shard = match shard {
            None => Shard::WHOLE,
            Some(text) => text.parse().map_err(|error| PyValueError::new_err(format!("shard: {error}")))?,
        };
        let study = Arc::clone(&self.study);
        on_threads(py, threads.unwrap_or(0), move || {
            let mut file = ResultFile::claim(&study, shard, &results)?;
            let done = file.rows();
            if done < shard.rows(study.layout.rows()) {
                let work = study.work(shard, done);
                let complete = work.run(|rows| file.append(rows))?;
                file.sync()?;
                return Ok(complete);
            }
            Ok(true)
        })
    }

    /// Puts complete shards together into `results`, to the bytes that one machine would have written.
    fn merge(&self, py: Python<'_>, results: PathBuf, shards: Vec<PathBuf>) -> PyResult<u64> {
        let study = Arc::clone(&self.study);
        aside(py, move || {
            let path = whole(&results);
            if ResultFile::is_claimed(&path) {
                return Err(Failure::Argument(format!("{} is being written by a run", path.display())));
            }
            std::fs::create_dir_all(&results).map_err(|error| Failure::open(&results, &error))?;
            let mut rows = 0;
            write_whole(&path, |out| {
                rows = merge(&study, &shards, out, Progress::NONE)?;
                Ok::<(), Failure>(())
            })?;
            Ok(rows)
        })
    }

    /// The rows summed up, with 95 % confidence intervals; the figure where one can be drawn.
    #[pyo3(signature = (results, x = None, y = Vec::new()))]
    fn summary(&self, py: Python<'_>, results: PathBuf, x: Option<String>, y: Vec<String>) -> PyResult<Document> {
        let study = Arc::clone(&self.study);
        aside(py, move || {
            let summary = StudySummary::read(&study, &whole(&results))?;
            let is_asked_for = x.is_some() || !y.is_empty();
            let options = PlotOptions { x, y, ..PlotOptions::default() };
            let svg = match plot(&study, &summary, &options) {
                Ok(drawing) => Some(drawing.to_svg()),
                Err(error) if is_asked_for => return Err(error.into()),
                Err(_) => None,
            };
            let mut notes = Vec::new();
            if summary.rows < summary.expected {
                notes.push(format!("{} of {} rows: the study is not complete", summary.rows, summary.expected));
            }
            let document = SummaryDocument { study: &study, summary: &summary };
            Ok(Document::new(&document, notes)?.with_svg(svg))
        })
    }
}

fn whole(results: &Path) -> PathBuf {
    results.join(Shard::WHOLE.file_name())
}
