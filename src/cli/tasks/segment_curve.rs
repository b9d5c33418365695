//! `gpusched tasks curve --segments`

use std::io::Write;

use anyhow::{anyhow, bail};
use gpusched::experiments::segment_acceptance::{Fig8Panel, count_accepted_segments};
use gpusched::tasks::segments::SegmentTest;

use super::super::jobs::Jobs;
use super::super::progress::{self, Unit};
use super::super::{Answer, output};

/// Prints how many sets of each point of a panel of ECRTS 2024, Fig. 8, each test accepts.
pub(super) fn run(panel: &str, tests: &[String], samples: u64, seed: u64, jobs: Jobs) -> anyhow::Result<Answer> {
    let Some(panel) = Fig8Panel::from_name(panel) else { bail!("--segments: there is no panel {panel:?}") };
    let known = |name: &String| {
        SegmentTest::from_name(name).ok_or_else(|| anyhow!("--tests: {name:?} is not for tasks with segments"))
    };
    let tests: Vec<SegmentTest> = match tests {
        [] => SegmentTest::sound().collect(),
        names => names.iter().map(known).collect::<anyhow::Result<_>>()?,
    };
    let threads = jobs.pool()?;
    let points = panel.points();
    progress::hold("drawing", Unit::Of("task sets"), Some(points.len() as u64 * samples));
    let mut out = output::stdout();
    let names: Vec<&str> = tests.iter().map(|test| test.name()).collect();
    writeln!(out, "{},samples,{}", panel.name(), names.join(","))?;
    for point in points {
        let count = || count_accepted_segments(panel, point, &tests, seed, samples, progress::advance);
        let counts: Vec<String> = threads.install(count).iter().map(u64::to_string).collect();
        writeln!(out, "{},{samples},{}", panel.value(point), counts.join(","))?;
        out.flush()?;
    }
    progress::end();
    Ok(Answer::Done)
}
