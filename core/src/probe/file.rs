//! The folder that the probe writes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::json::{Document, Node, Problem};
use crate::logs::{BlockColumns, LogFilesError, LogFilesReader, LogRun, sort_into_runs};
use crate::named;

/// The version that is read.
const FORMAT: &str = "gpusched-probe/1";

named! {
    /// What of the blocks is looked at.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum LooksAt: ALL, from_name {
        /// In which order kernels begin and end.
        Order = "order",
        /// How many blocks are on an SM at once, and on how many SMs.
        Resident = "resident",
        /// Which SM each block is on.
        Placement = "placement",
        /// Whether blocks take longer than they should.
        BlockTime = "block_time",
        /// From the end of a block to the start of the next on its SM.
        BlockGap = "block_gap",
        /// From the end of a kernel to the start of the next in its stream.
        KernelGap = "kernel_gap",
        /// From the return of a launch to the first block.
        LaunchLatency = "launch_latency",
        /// How long turns of contexts are, and switches.
        Turns = "turns",
    }
}

/// What the probe asked a card, and what it measured.
#[derive(Debug)]
pub struct ProbeFolder {
    /// The card as the driver tells of it: keys of a device file, and more.
    pub(super) card: Value,
    /// When it was asked.
    pub(super) date: String,
    /// The device that was simulated in place of a card, if one was.
    pub(super) simulated: Option<String>,
    /// What was asked.
    pub(super) questions: Vec<Question>,
    /// What the user should know.
    pub(super) notes: Vec<String>,
}

/// One question, with what its experiment measured.
#[derive(Debug)]
pub(super) struct Question {
    pub name: String,
    pub asks: String,
    pub looks_at: LooksAt,
    /// The first is what is taken without any option.
    pub answers: Vec<Answer>,
    /// Kernels of whose launches the order counts; empty: of all.
    pub pairs: Vec<[String; 2]>,
    /// Numbers of a device file that it measures, each with what the measured number is multiplied by.
    pub measures: Vec<(String, f64)>,
    /// Why it was not asked.
    pub skipped: Option<String>,
    /// What it ran, and what came of each run.
    pub measured: Option<Arc<Measured>>,
}

/// What an experiment ran.
#[derive(Debug)]
pub(super) struct Measured {
    /// The scenario as it was run.
    pub scenario: Text,
    /// By run.
    pub runs: Vec<LogRun>,
}

/// One answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub says: String,
    /// How gpusched is told it.
    pub switch: Option<String>,
    /// The scenario that behaves so; `None`: the one that was run.
    pub scenario: Option<Text>,
    /// What is put into the device file.
    pub device: Value,
}

/// A file that was read.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub file: String,
    pub text: String,
}

impl ProbeFolder {
    /// Reads the folder, with all files that it names.
    ///
    /// # Errors
    /// What `reader` says, or what is wrong with `probe.json`.
    pub fn read(folder: &Path, reader: &impl LogFilesReader) -> Result<Self, LogFilesError> {
        let (file, text) = reader.text(&folder.join("probe.json"))?;
        let document = Document::parse(&file, &text)?;
        let mut raw = Vec::new();
        let mut read = Self::of(document.root(), &mut raw)
            .map_err(|problem| Box::new(document.locate(problem)) as LogFilesError)?;
        // Several questions may look at one experiment.
        let mut measured = BTreeMap::new();
        for (question, RawFiles { experiment, answers }) in read.questions.iter_mut().zip(raw) {
            let Some(experiment) = experiment else { continue };
            let files = Files { folder, reader };
            if !measured.contains_key(&experiment) {
                measured.insert(experiment.clone(), Arc::new(files.measured(&experiment, &mut read.notes)?));
            }
            question.measured = measured.get(&experiment).cloned();
            for (answer, scenario) in question.answers.iter_mut().zip(answers) {
                answer.scenario = scenario.map(|name| files.text(&name)).transpose()?;
            }
        }
        Ok(read)
    }

    fn of(root: Node<'_>, files: &mut Vec<RawFiles>) -> Result<Self, Problem> {
        let mut object = root.object()?;
        object.required("format")?.named(&[FORMAT], |name| (name == FORMAT).then_some(()))?;
        let card = raw(&object.required("card")?)?;
        let date = object.required("date")?.string()?;
        let simulated = object.optional("simulated")?;
        let simulated = simulated.map(|node| node.string()).transpose()?;
        let mut questions = Vec::new();
        for node in object.required("questions")?.list()? {
            questions.push(question(node, files)?);
        }
        object.finish()?;
        Ok(Self { card, date, simulated, questions, notes: Vec::new() })
    }
}

/// Names of files of one question.
struct RawFiles {
    /// `None`: it was not asked.
    experiment: Option<String>,
    answers: Vec<Option<String>>,
}

fn raw(node: &Node<'_>) -> Result<Value, Problem> {
    if !node.is_object() {
        return Err(node.expected("an object"));
    }
    serde_json::from_str(node.raw()).map_err(|error| node.problem(error.to_string()))
}

/// A name of a file of the folder, and not of another place.
fn file_name(node: &Node<'_>) -> Result<String, Problem> {
    let name = node.string()?;
    if name.is_empty() || name.contains(['/', '\\']) || name.starts_with('.') {
        return Err(node.expected("the name of a file in this folder"));
    }
    Ok(name)
}

fn question(node: Node<'_>, files: &mut Vec<RawFiles>) -> Result<Question, Problem> {
    let mut object = node.object()?;
    let name = object.required("name")?.string()?;
    let asks = object.required("question")?.string()?;
    let experiment = file_name(&object.required("experiment")?)?;
    let names = LooksAt::ALL.map(LooksAt::name);
    let looks_at = object.required("looks_at")?.named(&names, LooksAt::from_name)?;
    let (mut answers, mut of_answers) = (Vec::new(), Vec::new());
    for node in object.required("answers")?.list()? {
        let mut object = node.object()?;
        of_answers.push(object.optional("scenario")?.map(|node| file_name(&node)).transpose()?);
        answers.push(Answer {
            says: object.required("answer")?.string()?,
            switch: object.optional("switch")?.map(|node| node.string()).transpose()?,
            scenario: None,
            device: object
                .optional("device")?
                .map_or_else(|| Ok(Value::Object(serde_json::Map::new())), |node| raw(&node))?,
        });
        object.finish()?;
    }
    let mut pairs = Vec::new();
    for node in object.optional("pairs")?.map_or_else(|| Ok(Vec::new()), |node| node.list())? {
        let [one, other] = &*node.list()? else { return Err(node.expected("a list of two kernels")) };
        pairs.push([one.string()?, other.string()?]);
    }
    let mut measures = Vec::new();
    if let Some(node) = object.optional("measures")? {
        for (key, factor) in node.object()?.into_distinct_entries()? {
            measures.push((key.into_owned(), f64::from(factor.whole_u32(1, u32::MAX)?)));
        }
    }
    let skipped = object.optional("skipped")?.map(|node| node.string()).transpose()?;
    object.finish()?;
    if answers.is_empty() && skipped.is_none() {
        return Err(node.problem("a question without answers"));
    }
    files.push(RawFiles { experiment: skipped.is_none().then_some(experiment), answers: of_answers });
    Ok(Question { name, asks, looks_at, answers, pairs, measures, skipped, measured: None })
}

/// Reads the files of a folder.
struct Files<'a, R> {
    folder: &'a Path,
    reader: &'a R,
}

impl<R: LogFilesReader> Files<'_, R> {
    fn text(&self, name: &str) -> Result<Text, LogFilesError> {
        let (file, text) = self.reader.text(&self.folder.join(name))?;
        Ok(Text { file, text })
    }

    fn measured(&self, experiment: &str, notes: &mut Vec<String>) -> Result<Measured, LogFilesError> {
        let scenario = self.text(&format!("{experiment}.json"))?;
        let table = self.folder.join(format!("{experiment}.csv"));
        let reading = self.reader.log(&table, &BlockColumns::default())?;
        notes.extend(reading.dropped.iter().map(|dropped| format!("{experiment}: left out: {dropped}")));
        Ok(Measured { scenario, runs: sort_into_runs(reading.logs) })
    }
}
