//! `gpusched tasks` on sets of tasks with CPU and GPU segments.

use anyhow::{anyhow, bail};
use gpusched::tables::SegmentReport;
use gpusched::tasks::segments::{ResponseBounds, SegmentTaskSet, SegmentTest};

use super::super::Answer;
use super::super::progress::{self, Unit};
use super::super::several::Part;

/// The tests of these names, or all that are sound.
pub(super) fn chosen(names: &[String]) -> anyhow::Result<Vec<SegmentTest>> {
    let known = |name: &String| {
        let unknown = || anyhow!("--tests: {name:?} is not for tasks with segments; {}", available());
        SegmentTest::from_name(name).ok_or_else(unknown)
    };
    if names.is_empty() { Ok(SegmentTest::sound().collect()) } else { names.iter().map(known).collect() }
}

fn available() -> String {
    format!("there are {}", SegmentTest::ALL.map(SegmentTest::name).join(", "))
}

/// Applies tests to a set and prints what they say.
pub(super) fn test(
    set: &SegmentTaskSet,
    names: &[String],
    (check, slack): (Option<&str>, bool),
    part: &Part<'_>,
) -> anyhow::Result<Answer> {
    let chosen = chosen(names)?;
    progress::begin("testing", Unit::Of("tests"), Some(chosen.len() as u64));
    let tests = chosen.into_iter().map(|test| {
        let bounds = test.bounds(set);
        progress::advance(1);
        (test, bounds)
    });
    let tests: Vec<(SegmentTest, ResponseBounds)> = tests.collect();
    let answer = check.map(|name| is_proven(&tests, name)).transpose()?;
    let slack = slack.then(|| {
        progress::begin("searching slack", Unit::Of("tests"), Some(tests.len() as u64));
        let of_tests = tests.iter().map(|(test, _)| {
            let slack = test.slack(set);
            progress::advance(1);
            slack
        });
        of_tests.collect::<Vec<_>>()
    });
    let report = SegmentReport { set, tests: &tests, slack: slack.as_deref() };
    let out = part.turn()?;
    part.print(&report, out)?;
    Ok(if answer == Some(false) { Answer::No } else { Answer::Done })
}

/// Whether the test of that name proves that the whole set meets its deadlines.
fn is_proven(tests: &[(SegmentTest, ResponseBounds)], name: &str) -> anyhow::Result<bool> {
    let applied = tests.iter().find(|(test, _)| test.name() == name);
    let (test, bounds) =
        applied.ok_or_else(|| anyhow!("--check: the test {name:?} was not applied; {}", available()))?;
    if !test.is_sound() {
        bail!("--check: {name:?} is the paper's text taken literally, and runs exceed its bounds");
    }
    Ok(SegmentReport::all_proven(*test, bounds) == Some(true))
}
