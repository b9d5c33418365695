//! What is shown of what was accepted, beside the answer.

use std::io;

use gpusched::amalthea::AmaltheaModel;
use gpusched::formats::{TableStyle, text_of, write_json};
use gpusched::pictures::HtmlTimeline;
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::tables::SimulationReport;

/// Blocks above which nothing is drawn.
const MOST_BLOCKS: u64 = 500;

/// What other forms show of a run: each holds something, and what is written as a scenario is read again.
pub(super) fn of_run(summary: Summary<'_>) {
    let report = SimulationReport::of(summary);
    assert!(!text_of(&report, TableStyle::Plain).is_empty() && !text_of(&report, TableStyle::Markdown).is_empty());
    let (page, options) = (HtmlTimeline::new(summary), TimelineOptions::default());
    let is_small = page.blocks() <= MOST_BLOCKS;
    if is_small {
        page.write_data(&mut io::sink()).expect("nowhere takes everything");
    }
    if is_small && let Ok(timeline) = Timeline::new(&summary, &options) {
        let svg = timeline.draw(&summary, &options).to_svg();
        assert!(roxmltree::Document::parse(&svg).is_ok(), "{svg}");
    }
    if let Ok(text) = summary.scenario.to_native_json() {
        let again = Scenario::from_json("again.json", &text, &ReadOptions::default());
        assert!(again.is_ok(), "{}: {text}", again.err().map(|error| error.to_string()).unwrap_or_default());
    }
}

/// What `gpusched amalthea` shows of a model.
pub(super) fn of_model(file: &str, written: &str) {
    match AmaltheaModel::parse(file, written) {
        Ok(model) => {
            write_json(&model, None, &mut io::sink()).expect("nowhere takes everything");
            assert!(!text_of(&model, TableStyle::Plain).is_empty());
        }
        Err(error) => assert!(!error.what.is_empty() && error.place.is_some(), "{error}"),
    }
}
