//! A file that questions are asked about, and what is known of it already.

use gpusched::amalthea::ModelDemands;
use gpusched::draw::FigureFormat;
use gpusched::effort::Progress;
use gpusched::formats::{Report, text_of, write_json};
use gpusched::hosts::simulate;
use gpusched::input::options::ScenarioOptions;
use gpusched::input::{Input, InputError};
use gpusched::pictures::HtmlTimeline;
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::run::{Run, Summary};
use gpusched::scenario::WhatIf;
use gpusched::tables::{AnalysisReport, SimulationReport};
use serde::Serialize;

use super::answer::{Choices, Outline, Refusal, STYLE};
use super::measured::MeasuredRun;
use super::request::{Request, Settings, Want};

/// What was read last, so that the next question about it costs less.
#[derive(Debug, Default)]
pub struct Session {
    input: Option<(String, Input)>,
    known: Option<(Settings, Known)>,
}

/// What a file is.
#[derive(Debug)]
enum Known {
    Simulated(Box<LoadedRun>),
    Measured(Box<MeasuredRun>),
}

/// A scenario with its run.
#[derive(Debug)]
struct LoadedRun {
    outline: Outline,
    demands: Option<ModelDemands>,
    run: Run<'static>,
}

impl Session {
    /// The file is another one.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Answers a request about the content of a file.
    ///
    /// # Errors
    /// [`Refusal`] in the words of the command.
    ///
    /// # Panics
    /// If that is what is asked for.
    pub fn answer(&mut self, request: &[u8], content: &[u8]) -> Result<Vec<u8>, Refusal> {
        let Request { want, settings } = serde_json::from_slice(request).map_err(|error| Refusal::of(&error))?;
        match want {
            Want::Choices => return message(&Choices::new()?),
            Want::Panic => panic!("this one was asked for"),
            _ => {}
        }
        if !self.known.as_ref().is_some_and(|(known, _)| *known == settings) {
            self.known = None;
            let known = self.read(&settings, content)?;
            self.known = Some((settings, known));
        }
        match self.known.as_ref() {
            Some((_, Known::Simulated(run))) => run.answer(want),
            Some((_, Known::Measured(run))) => run.answer(want),
            None => Ok(Vec::new()),
        }
    }

    fn read(&mut self, settings: &Settings, content: &[u8]) -> Result<Known, Refusal> {
        let options = settings.options()?;
        match self.input(&settings.file, content) {
            Ok(input) => Ok(Known::Simulated(Box::new(LoadedRun::new(input, options)?))),
            Err(InputError::Measured { file, .. }) => {
                Ok(Known::Measured(Box::new(MeasuredRun::new(&file, content, &options)?)))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn input(&mut self, file: &str, content: &[u8]) -> Result<&Input, InputError> {
        let known = match self.input.take().filter(|(known, _)| known == file) {
            Some((_, known)) => known,
            None => Input::of(file, content.to_vec())?,
        };
        Ok(&self.input.insert((file.to_owned(), known)).1)
    }
}

/// What the page alone takes.
fn message(content: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(content).map_err(|error| Refusal::of(&error))
}

/// A report's document as the command prints it.
pub(crate) fn json(report: &impl Report) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    write_json(report, None, &mut bytes).map_err(|error| Refusal::of(&error))?;
    Ok(bytes)
}

impl LoadedRun {
    fn new(input: &Input, options: ScenarioOptions) -> Result<Self, Refusal> {
        let (mut scenario, demands) = input.scenario_with_demands(&options)?;
        let outline = if options.changes == WhatIf::default() {
            Outline::new(&scenario)
        } else {
            let unchanged = ScenarioOptions { changes: WhatIf::default(), ..options };
            Outline::new(&input.scenario(&unchanged)?)
        };
        // No logs are written here.
        scenario.examiner = None;
        let run = simulate(&scenario).map_err(|error| Refusal::of(&error))?.into_owned();
        Ok(Self { outline, demands, run })
    }

    fn answer(&self, want: Want) -> Result<Vec<u8>, Refusal> {
        let summary = Summary::of(&self.run);
        let timeline = || HtmlTimeline::new(summary).sized().map_err(|error| Refusal::of(&error));
        let mut bytes = Vec::new();
        match want {
            Want::Choices | Want::Panic => {}
            Want::Outline => {
                let blocks = HtmlTimeline::new(summary).blocks();
                return outlined(&self.outline, "simulate", blocks);
            }
            Want::Tables => bytes = text_of(&SimulationReport::of(summary), STYLE).into_bytes(),
            Want::Data => timeline()?.write_data(&mut bytes).map_err(|error| Refusal::of(&error))?,
            Want::Html => timeline()?.write(&mut bytes).map_err(|error| Refusal::of(&error))?,
            Want::Svg => {
                let options = TimelineOptions { title: true, ..TimelineOptions::default() };
                let timeline = Timeline::new(&summary, &options).map_err(|error| Refusal::of(&error))?;
                let drawing = timeline.draw(&summary, &options);
                bytes = drawing.to_file(FigureFormat::Svg, 1.0).map_err(|error| Refusal::of(&error))?;
            }
            Want::Simulate => return json(&SimulationReport::of(summary)),
            Want::Analyze => return self.analysed(),
            Want::Scenario => {
                let text = self.run.scenario.to_native_json().map_err(|error| Refusal::of(&error))?;
                bytes = text.into_bytes();
            }
        }
        Ok(bytes)
    }

    /// The JSON document on one line, and the tables after it.
    fn analysed(&self) -> Result<Vec<u8>, Refusal> {
        let progress = Progress::NONE;
        let report = AnalysisReport::of(&self.run, self.demands.as_ref(), None, progress);
        let report = report.map_err(|error| Refusal::of(&error))?;
        let mut bytes = json(&report)?;
        bytes.extend(text_of(&report, STYLE).into_bytes());
        Ok(bytes)
    }
}

/// An outline with what came of the run, and the command that does the same.
pub(crate) fn outlined(outline: &Outline, command: &str, blocks: u64) -> Result<Vec<u8>, Refusal> {
    #[derive(Serialize)]
    struct Outlined<'a> {
        #[serde(flatten)]
        outline: &'a Outline,
        command: &'a str,
        blocks: u64,
    }
    message(&Outlined { outline, command, blocks })
}
