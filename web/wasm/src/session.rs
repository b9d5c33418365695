//! A file that questions are asked about, and what is known of it already.

use gpusched::draw::FigureFormat;
use gpusched::effort::Progress;
use gpusched::formats::{Report, text_of, write_json};
use gpusched::hosts::simulate;
use gpusched::input::Input;
use gpusched::input::options::ScenarioOptions;
use gpusched::pictures::HtmlTimeline;
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::run::{Run, Summary};
use gpusched::scenario::WhatIf;
use gpusched::scenario::amalthea::ModelDemands;
use gpusched::tables::{AnalysisReport, SimulationReport};
use serde::Serialize;

use super::answer::{Choices, Outline, Refusal, STYLE};
use super::request::{Request, Settings, Want};

/// What was read last, so that the next question about it costs less.
#[derive(Debug, Default)]
pub struct Session {
    input: Option<(String, Input)>,
    known: Option<LoadedRun>,
}

/// A scenario with its run.
#[derive(Debug)]
struct LoadedRun {
    settings: Settings,
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
        if !self.known.as_ref().is_some_and(|known| known.settings == settings) {
            self.known = None;
            let input = self.input(&settings.file, content)?;
            self.known = Some(LoadedRun::new(input, settings)?);
        }
        self.known.as_ref().map_or(Ok(Vec::new()), |known| known.answer(want))
    }

    fn input(&mut self, file: &str, content: &[u8]) -> Result<&Input, Refusal> {
        if self.input.as_ref().is_none_or(|(known, _)| known != file) {
            self.input = Some((file.to_owned(), Input::of(file, content.to_vec())?));
        }
        // It was put there.
        self.input.as_ref().map(|(_, input)| input).ok_or_else(|| Refusal::of(&std::fmt::Error))
    }
}

/// What the page alone takes.
fn message(content: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(content).map_err(|error| Refusal::of(&error))
}

/// A report's document as the command prints it.
fn json(report: &impl Report) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    write_json(report, None, &mut bytes).map_err(|error| Refusal::of(&error))?;
    Ok(bytes)
}

impl LoadedRun {
    fn new(input: &Input, settings: Settings) -> Result<Self, Refusal> {
        let options = settings.options()?;
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
        Ok(Self { settings, outline, demands, run })
    }

    fn answer(&self, want: Want) -> Result<Vec<u8>, Refusal> {
        let summary = Summary::of(&self.run);
        let timeline = || HtmlTimeline::new(summary).sized().map_err(|error| Refusal::of(&error));
        let mut bytes = Vec::new();
        match want {
            Want::Choices | Want::Panic => {}
            Want::Outline => {
                let blocks = HtmlTimeline::new(summary).blocks();
                return message(&OutlineOf { outline: &self.outline, blocks });
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

/// An outline with what came of the run.
#[derive(Serialize)]
struct OutlineOf<'a> {
    #[serde(flatten)]
    outline: &'a Outline,
    blocks: u64,
}
