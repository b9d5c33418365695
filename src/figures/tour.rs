//! A tour of scenes on shipped scenarios, for somebody's first quarter of an hour: from one kernel to why a kernel
//! waits, and in a second part what newer GPUs do, a rule a scene.

use std::io::Write;
use std::sync::LazyLock;

use serde::Serialize;

use super::Part;
use super::figure::FigureError;
use super::made::{Published, published};
use crate::hosts::simulate;
use crate::pictures::{HtmlScene, HtmlTimeline, write_html_tour};
use crate::run::Summary;
use crate::scenario::{ReadOptions, Scenario};

/// A scene before its scenario is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TourScene {
    /// Its heading.
    pub title: &'static str,
    /// The shipped scenario, by its path in the project.
    pub scenario: &'static str,
    #[serde(skip)]
    content: &'static str,
    /// What is to be seen.
    pub text: &'static str,
    /// What the reader may find out in the figure.
    pub question: &'static str,
    /// What there is to find out.
    pub answer: &'static str,
}

/// The scenarios of the scenes, in their order.
const SCENARIOS: [Published; 14] = [
    published!("tour/one-kernel.json"),
    published!("ospert2017/figure-4.json"),
    published!("ospert2017/figure-5.json"),
    published!("rtss2017/figure-6.json"),
    published!("rtss2017/figure-5.json"),
    published!("events/double-buffering.json"),
    published!("deadlines/camera-and-lidar.json"),
    published!("rtss2017/figure-3.json"),
    published!("rules/placement-by-gpcs.json"),
    published!("rules/programmatic-launch.json"),
    published!("rules/clusters.json"),
    published!("rules/persistent-kernel.json"),
    published!("rules/graphs.json"),
    published!("rules/green-contexts.json"),
];

/// What is said in them.
static TEXTS: LazyLock<Vec<Part>> = LazyLock::new(|| Part::all(include_str!("tour.txt")));

/// The scenes, in the order in which they are told.
pub static TOUR: LazyLock<Vec<TourScene>> = LazyLock::new(|| {
    let scene = |(part, Published { path: scenario, text: content }): (&'static Part, Published)| {
        let (text, question, answer) = (part.entry("text")?, part.entry("question")?, part.entry("answer")?);
        Some(TourScene { title: &part.title, scenario, content, text, question, answer })
    };
    TEXTS.iter().zip(SCENARIOS).filter_map(scene).collect()
});

/// Writes the tour as one HTML page that loads nothing.
///
/// # Errors
/// [`FigureError`] if a scene cannot be run or `out` refuses it.
pub fn write_tour(out: impl Write) -> Result<(), FigureError> {
    write(out).map_err(|source| FigureError { figure: "tour", source })
}

fn write(out: impl Write) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut runs = Vec::with_capacity(TOUR.len());
    for scene in TOUR.iter() {
        let scenario = Scenario::from_json(scene.scenario, scene.content, &ReadOptions::default())?;
        let run = simulate(&scenario)?;
        runs.push(run.into_owned());
    }
    let scenes: Vec<HtmlScene<'_>> = TOUR
        .iter()
        .zip(&runs)
        .map(|(scene, run)| HtmlScene {
            title: scene.title,
            text: scene.text,
            question: scene.question,
            answer: scene.answer,
            command: format!("gpusched simulate {} --html page.html", scene.scenario),
            timeline: HtmlTimeline::new(Summary::of(run)),
        })
        .collect();
    Ok(write_html_tour("A tour of how a GPU schedules blocks", &scenes, out)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_has_its_scenario_and_its_texts() {
        assert_eq!((TEXTS.len(), TOUR.len()), (SCENARIOS.len(), SCENARIOS.len()));
    }
}
