//! Studies: a command repeated with millions of random samples over a grid, on one machine or many.
//!
//! A [`Study`] is read from a file. It is cut into rows, each of which has the sums over a few samples of one point
//! and depends on nothing else; a [`Shard`] is every n-th row. [`Work`] computes the rows of a shard on all cores and
//! hands them over in order; a [`ResultFile`] keeps them, one line each with a checksum, so that a process may be
//! killed at any moment: what is on disk is a beginning of the shard's rows, perhaps with a torn one behind it.
//! [`merge()`] puts shards together to the bytes that one machine would have written, [`StudySummary`] adds rows up,
//! with confidence intervals.
//!
//! The commands `merged-sm`, `tasks curve` and `evr --samples` compute their samples as rows of a study too, and add
//! them up at once.

mod analyze;
mod compute;
mod evr;
mod forecast;
mod grid;
mod merged_sm;
mod pipelines;
mod result_file;
mod rows;
mod scenario_point;
mod segment_sets;
mod shards;
mod simulate;
mod tasks_curve;

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::effort::EarlyEnd;
use crate::json::{Document, JsonError, Node, Problem, is_comment, without_byte_order_mark};
use crate::proven::Proven;
use crate::spelling::option;
use analyze::AnalyzePoint;
#[doc(hidden)]
pub use compute::StudyCommand;
pub use compute::{Layout, RowSamples, Shard, StudyRow, Work};
use compute::{Points, StudyExperiment};
use evr::EvrParameters;
pub use evr::sample_applications;
#[doc(hidden)]
pub use evr::{per_period, random_injection};
pub use grid::{AxisValue, GridAxis};
use grid::{Files, Grid};
pub use result_file::{Disk, ResultFile};
pub use rows::{CHECKSUM_COLUMN, with_checksum, without_checksum};
use scenario_point::ScenarioPoint;
use segment_sets::SegmentPoint;
pub use shards::{BatchScript, PointSummary, ShardStatus, StudySummary, merge};
use tasks_curve::CurveParameters;

const FORMAT: &str = "gpusched-study/1";
/// Most samples of a point: the generators keep points apart in the bits above.
const MAX_SAMPLES: u64 = 1 << 40;
const MAX_PER_ROW: u64 = 1_000_000;

/// A study: a command, repeated with random samples at every point of a grid.
pub struct Study {
    /// Its name.
    pub name: String,
    /// What is repeated.
    pub(crate) command: StudyCommand,
    /// How many points, samples and rows.
    pub layout: Layout,
    /// The grid; the last axis changes fastest from point to point.
    pub axes: Vec<GridAxis>,
    /// SHA-256 of the study without comments and white space, and of the files that it names; hexadecimal.
    pub digest: String,
    experiment: Box<dyn StudyExperiment>,
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, command, layout, axes, digest, experiment: _ } = self;
        f.debug_struct("Study")
            .field("name", name)
            .field("command", command)
            .field("layout", layout)
            .field("axes", axes)
            .field("digest", digest)
            .finish_non_exhaustive()
    }
}

impl Study {
    /// What is in a file that a study names, looked for in `folder`; of a name that ends in a slash, which is a folder,
    /// the names of its files, one a line.
    ///
    /// # Errors
    /// What the file system says.
    pub fn read_beside(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
        let path = folder.join(name);
        if !name.ends_with('/') {
            return std::fs::read(path);
        }
        let mut names = String::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            // A name that is no text cannot stand in a study either.
            if let Ok(name) = entry.file_name().into_string()
                && entry.path().is_file()
            {
                names.push_str(&name);
                names.push('\n');
            }
        }
        Ok(names.into_bytes())
    }

    /// Reads a study file; `file` is its name in errors, and `read` gives the content of files that it names.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn from_json(file: &str, text: &str, read: &dyn Fn(&str) -> io::Result<Vec<u8>>) -> Result<Self, JsonError> {
        let document = Document::parse(file, text)?;
        let files = Files::new(read);
        let read = read_study(document.root(), &files).map_err(|problem| document.locate(problem))?;
        Ok(Self { digest: digest(text, files), ..read })
    }

    /// The rows of a shard, after the first `done`.
    pub fn work(&self, shard: Shard, done: u64) -> Work<'_> {
        Work { experiment: &*self.experiment, layout: self.layout, shard, done }
    }

    /// The grid's values at a point, by axis.
    pub fn coordinates(&self, point: u64) -> Vec<&AxisValue> {
        let mut rest = usize::try_from(point).proven("a grid has as many points as it has places in memory");
        let mut found = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            found.push(&axis.values[rest % axis.values.len()]);
            rest /= axis.values.len();
        }
        found.reverse();
        found
    }

    /// The command that is repeated.
    pub fn command_name(&self) -> &'static str {
        self.command.name()
    }

    /// What is drawn at a sample of a point, as a file that the study's command takes.
    ///
    /// # Errors
    /// Why there is no such file.
    pub fn input(&self, point: u64, sample: u64) -> Result<String, String> {
        self.experiment.input(point, sample)
    }
}

fn read_study(root: Node<'_>, files: &Files<'_>) -> Result<Study, Problem> {
    let mut file = root.object()?;
    let format = file.required("format")?;
    if format.string()? != FORMAT {
        return Err(format.expected(&format!("{FORMAT:?}")));
    }
    let name_node = file.required("name")?;
    let name = name_node.string()?;
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(name_node.expected("a name without control characters"));
    }
    let command_node = file.required("command")?;
    let command = grid::one_of(command_node, &StudyCommand::ALL, StudyCommand::name)?;
    let samples_node = file.required("samples")?;
    let samples = samples_node.whole_number(1, MAX_SAMPLES)?;
    let counted = (samples, samples_node);
    let per_row = match file.optional("samples_per_row")? {
        None => command.samples_per_row(),
        Some(node) if command.samples_per_row() == 1 => node.whole_number(1, 1)?,
        Some(node) => node.whole_number(1, MAX_PER_ROW)?,
    };
    let grid = Grid {
        root,
        seed: file.optional("seed")?,
        parameters: file.optional("parameters")?,
        axes: file.optional("grid")?,
    };
    file.finish()?;
    let (experiment, axes): (Box<dyn StudyExperiment>, _) = match command {
        StudyCommand::MergedSm => {
            let (points, axes) = grid.points(merged_sm::default_point(root)?, files)?;
            (Box::new(Points(points)), axes)
        }
        StudyCommand::TasksCurve => {
            let (points, axes) = grid.points(CurveParameters::default(), files)?;
            (Box::new(Points(tasks_curve::checked(&grid, points, counted)?)), axes)
        }
        StudyCommand::TasksSegments => {
            let (points, axes) = grid.points(SegmentPoint::default(), files)?;
            (Box::new(Points(segment_sets::checked(&grid, points, counted)?)), axes)
        }
        StudyCommand::Evr => {
            let (points, axes) = grid.points(EvrParameters::default(), files)?;
            (Box::new(Points(evr::checked(&grid, &points)?)), axes)
        }
        StudyCommand::Analyze => {
            let (points, axes) = grid.points(AnalyzePoint::default(), files)?;
            (Box::new(Points(analyze::checked((&grid, &axes), points, counted)?)), axes)
        }
        StudyCommand::Simulate => {
            let (points, axes) = grid.points(ScenarioPoint::default(), files)?;
            (Box::new(Points(simulate::checked((&grid, &axes), points, counted)?)), axes)
        }
    };
    let points = axes.iter().map(|axis: &GridAxis| axis.values.len() as u64).product();
    let layout = Layout { points, samples, per_row };
    Ok(Study { name, command, layout, axes, digest: String::new(), experiment })
}

/// What results depend on, in short.
fn digest(text: &str, files: Files<'_>) -> String {
    let json = without_byte_order_mark(text.as_bytes());
    // The text is known to be JSON; if it were not, it would stand for itself.
    let canonical =
        serde_json::from_slice(json).map_or_else(|_| text.to_owned(), |file| without_comments(file).to_string());
    let mut hash = Sha256::new();
    hash.update(canonical);
    for (name, content) in files.into_contents() {
        for part in [name.into_bytes(), content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn without_comments(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(key, _)| !is_comment(key));
            Value::Object(kept.map(|(key, value)| (key, without_comments(value))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(without_comments).collect()),
        other => other,
    }
}

/// Why a study cannot be read, run, merged or drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The study file is wrong.
    #[error(transparent)]
    File(#[from] JsonError),
    /// More than may be asked for.
    #[error(transparent)]
    EarlyEnd(#[from] EarlyEnd),
    /// A sample cannot be computed.
    #[error("point {point}, samples {first} to {last}: {what}")]
    Sample {
        /// Number of the point.
        point: u64,
        /// First sample of the row.
        first: u64,
        /// Last sample of the row.
        last: u64,
        /// Why.
        what: String,
    },
    /// A task of a job array from which no shard follows.
    #[error(
        "SLURM_ARRAY_TASK_ID is {id} and SLURM_ARRAY_TASK_COUNT is {count}: an array has to count from 0 to N - 1; to run \
         one shard of it again, say {shard}",
        shard = option("shard").with(&format!("{id}/N"))
    )]
    SlurmArray {
        /// `SLURM_ARRAY_TASK_ID`.
        id: String,
        /// `SLURM_ARRAY_TASK_COUNT`.
        count: String,
    },
    /// A result file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Rows cannot be written. The file has only whole rows, or is found to end in a torn one.
    #[error("cannot write {}{}; the same command goes on there once the cause is mended", path.display(), after(*rows))]
    Write {
        /// The file.
        path: PathBuf,
        /// Rows that it has.
        rows: u64,
        /// Why.
        source: io::Error,
    },
    /// A merged file cannot be written.
    #[error("cannot write the merged rows")]
    Merged(#[source] io::Error),
    /// Another process is at the same shard.
    #[error("{} is being written by another run: two runs of shard {shard}", path.display())]
    Claimed {
        /// The file.
        path: PathBuf,
        /// The shard.
        shard: Shard,
    },
    /// The file system has no locks, so two runs of one shard could not be told apart.
    #[error("cannot lock {}: choose results on a file system with file locks", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no result file.
    #[error("{} is no result file of gpusched study", path.display())]
    NotRows {
        /// The file.
        path: PathBuf,
    },
    /// The rows belong to something else.
    #[error("{}: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// To what, and what to do.
        what: String,
    },
    /// Shards are not complete.
    #[error("not complete: {}", what.join("; "))]
    Incomplete {
        /// File by file what is missing.
        what: Vec<String>,
    },
    /// Values of a row that are not those of its command.
    #[error("row {row} has values that are none of {command}")]
    Values {
        /// Number of the row in the study.
        row: u64,
        /// The study's command.
        command: &'static str,
    },
    /// The drawing library gave up.
    #[error("cannot draw: {0}")]
    Draw(String),
}

/// Behind how many rows, if there are any.
fn after(rows: u64) -> String {
    if rows == 0 { String::new() } else { format!(" after {rows} rows") }
}
