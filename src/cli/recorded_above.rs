//! What a profile recorded above what was simulated, by stream: on which SMs blocks ran is not recorded.

use std::path::Path;

use gpusched::experiments::recorded_trace;
use gpusched::pictures::timeline::{FinishMark, Lanes, Panels};
use gpusched::pictures::{HtmlRun, HtmlTimeline, PerfettoKnown, PerfettoRun, perfetto_trace};
use gpusched::profile::{GpuProfile, Import};
use gpusched::run::Summary;
use gpusched::time::Instant;
use gpusched::trace::Trace;

use super::figure_options::Figure;
use super::html_options::HtmlFile;
use super::output::write_whole;

/// Both sides, on the clock of the simulation.
pub(crate) struct RecordedAbove<'a> {
    import: &'a Import,
    recorded: Trace,
    simulated: &'a Trace,
    /// The finish of each kernel on both sides.
    marks: Vec<FinishMark>,
    notes: Vec<String>,
}

impl<'a> RecordedAbove<'a> {
    pub(crate) fn new(
        profile: &GpuProfile,
        import: &'a Import,
        simulated: &'a Trace,
        notes: Vec<String>,
    ) -> anyhow::Result<Self> {
        let recorded = recorded_trace(profile, import, simulated)?;
        let marks = FinishMark::of_traces(&recorded, simulated);
        Ok(Self { import, recorded, simulated, marks, notes })
    }

    pub(crate) fn draw(&self, figure: &Figure<'_>) -> anyhow::Result<()> {
        let mut upper = self.import.scenario.clone();
        upper.name = format!("recorded: {}", upper.name);
        let mut lower = self.import.scenario.clone();
        "simulated".clone_into(&mut lower.name);
        let panels = [Summary::of_trace(&upper, &self.recorded), Summary::of_trace(&lower, self.simulated)];
        let notes = self.notes.clone();
        let panels = Panels { upper: &panels[0], lower: &panels[1], marks: &self.marks, notes };
        figure.write_panels(&panels, Instant::ZERO, Lanes::Streams)
    }

    /// Both by stream: a profile has no blocks, and those of the simulation would be a hundred times as many lines.
    pub(crate) fn write_perfetto(&self, path: &Path) -> anyhow::Result<()> {
        let run = |label, trace| {
            let summary = Summary::of_trace(&self.import.scenario, trace);
            PerfettoRun { summary, label, known: PerfettoKnown::Streams }
        };
        let runs = [run("recorded", &self.recorded), run("simulated", self.simulated)];
        write_whole(path, |out| perfetto_trace(&runs, out))
    }

    pub(crate) fn write_html(&self, html: &HtmlFile<'_>) -> anyhow::Result<()> {
        let run = |name, trace, blocks_only| {
            let summary = Summary::of_trace(&self.import.scenario, trace);
            HtmlRun { name, summary, blocks_only }
        };
        let (upper, lower) = (run("recorded", &self.recorded, true), run("simulated", self.simulated, false));
        html.write(HtmlTimeline::comparison(upper, lower, &self.marks).with_notes(self.notes.clone()), false)
    }
}
