//! The study file.

use std::fmt::Write;
use std::io;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::analyze::{AnalyzePoint, AnalyzeStudy};
use super::command::{StudyCommand, StudyExperiment};
use super::compute::Work;
use super::evr::EvrStudy;
use super::grid::{AxisValue, Files, Grid, GridAxis};
use super::layout::{Layout, Shard};
use super::merged_sm::MergedSmStudy;
use super::scenario_point::ScenarioPoint;
use super::segment_sets::{SegmentPoint, SegmentStudy};
use super::simulate::SimulateStudy;
use super::tally::Tally;
use super::tasks_curve::CurveStudy;
use crate::json::{Document, JsonError, Node, Problem, is_comment, without_byte_order_mark};
use crate::proven::Proven;

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

    pub(super) fn columns(&self) -> &'static str {
        self.experiment.columns()
    }

    pub(super) fn tally(&self, point: u64) -> Box<dyn Tally> {
        self.experiment.tally(point)
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
    let commands = StudyCommand::ALL.map(StudyCommand::name);
    let command = super::grid::one_of(command_node, &commands, StudyCommand::from_name)?;
    let samples_node = file.required("samples")?;
    let samples = samples_node.whole_number(1, MAX_SAMPLES)?;
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
            let (points, axes) = grid.points(super::merged_sm::default_point(root)?, files)?;
            (Box::new(MergedSmStudy { points }), axes)
        }
        StudyCommand::TasksCurve => {
            let (points, axes) = grid.points(super::tasks_curve::CurveParameters::default(), files)?;
            (
                Box::new(CurveStudy { points: super::tasks_curve::checked(&grid, points, (samples, samples_node))? }),
                axes,
            )
        }
        StudyCommand::TasksSegments => {
            let (points, axes) = grid.points(SegmentPoint::default(), files)?;
            (
                Box::new(SegmentStudy {
                    points: super::segment_sets::checked(&grid, points, (samples, samples_node))?,
                }),
                axes,
            )
        }
        StudyCommand::Evr => {
            let (points, axes) = grid.points(super::evr::EvrParameters::default(), files)?;
            (Box::new(EvrStudy { points: super::evr::checked(&grid, &points)? }), axes)
        }
        StudyCommand::Analyze => {
            let (points, axes) = grid.points(AnalyzePoint::default(), files)?;
            let points = super::analyze::checked((&grid, &axes), points, (samples, samples_node))?;
            (Box::new(AnalyzeStudy { points }), axes)
        }
        StudyCommand::Simulate => {
            let (points, axes) = grid.points(ScenarioPoint::default(), files)?;
            let points = super::simulate::checked((&grid, &axes), points, (samples, samples_node))?;
            (Box::new(SimulateStudy { points }), axes)
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
