//! `gpusched tasks FILE`: the tests of tasks of SMs, and of tasks with CPU and GPU segments.

use std::path::PathBuf;

use anyhow::{anyhow, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::effort;
use gpusched::pictures::demand_plot;
use gpusched::tables::{SegmentReport, TaskReport};
use gpusched::tasks::segments::{ResponseBounds, SegmentTaskSet, SegmentTest};
use gpusched::tasks::{
    Partition, ReservationTest, Reservations, TaskSet, TaskTime, TestResults, hyperperiod, smallest_budgets,
};

use super::super::needs::{self, Lacking};
use super::super::output::Format;
use super::super::progress::{self, Unit};
use super::super::several::{Files, Part};
use super::super::{Answer, ending, figure_options};
use super::TaskFile;

/// Apply the schedulability tests to a task set. Several sets, or a directory of them, are tested one by one.
#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Tasks file (see `gpusched schema tasks` and `gpusched schema segments`), or several, or a directory; - reads
    /// standard input
    #[arg(required = true)]
    file: Vec<PathBuf>,
    /// GPU whose limits measure kernels: a built-in name or a device file; its numbers of SMs and of stream priorities
    /// are replaced by the file's
    #[arg(long, value_name = "NAME|FILE", default_value = "tx2")]
    device: String,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Tests of the reservations, or of tasks with segments, to apply, and multi-stream-as-printed [default: all that
    /// are sound]
    #[arg(long, value_delimiter = ',', value_name = "TEST", value_parser = PossibleValuesParser::new(own_test_names()))]
    tests: Vec<String>,
    /// Choose reservations of this period in proportion to utilization, as the paper does
    #[arg(long, value_name = "PERIOD")]
    reservation_period: Option<u64>,
    /// Also search, for each test, the smallest budgets that pass it, with reservations of this period
    #[arg(long, value_name = "PERIOD")]
    smallest_budgets: Option<u64>,
    /// Also search, for each task and test, the slack: how much longer its jobs may take until the test no longer
    /// proves that all meet their deadlines
    #[arg(long)]
    slack: bool,
    /// Exit status 1 unless this test accepts the set, or all of them: single-stream, multi-stream, a test of the
    /// reservations or of tasks with segments
    #[arg(long, value_name = "TEST")]
    check: Option<String>,
    /// Draw demand against supply of one partition, sm0, sm1, … or all, into the file given by --figure
    #[arg(long, value_name = "PARTITION", default_value = "sm0", requires = "figure")]
    figure_of: String,
    /// Write a demand/supply plot [.svg, .png, .tex or .pdf]
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
}

impl Test {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        figure_options::refuse_other_figure(self.figure.as_deref())?;
        let files = Files::new(&self.file)?;
        files.refuse_options(&[("--figure", self.figure.is_some())])?;
        let read = |path: &PathBuf| files.about(path, super::read_file(path, &self.device));
        let sets = files.paths.iter().map(read).collect::<anyhow::Result<Vec<TaskFile>>>()?;
        let are_segments = |file: &TaskFile| matches!(file, TaskFile::Segments(_));
        if let Some(other) = sets.iter().position(|file| are_segments(file) != are_segments(&sets[0])) {
            let (first, other) = (files.paths[0].display(), files.paths[other].display());
            bail!(
                "{first} and {other} are of different kinds: one has tasks of SMs, the other tasks with CPU and GPU segments"
            );
        }
        files.run(sets, 1, self.format, |file, part| match file {
            TaskFile::Sms(set, _) => self.test(set, part),
            TaskFile::Segments(set) => test_segments(&set, &self.tests, (self.check.as_deref(), self.slack), part),
        })
    }

    fn test(&self, mut set: TaskSet, part: &Part<'_>) -> anyhow::Result<Answer> {
        let is_replaced = self.reservation_period.is_some() && set.reservations.is_some();
        if let Some(period) = self.reservation_period {
            set.reservations = Some(Reservations::proportional(&set, checked_period(period)?));
        }
        let is_lemma_1 = |name: &&String| **name == TestResults::MULTI_STREAM_AS_PRINTED;
        let tests: Vec<ReservationTest> = match &self.tests[..] {
            [] => ReservationTest::sound().collect(),
            names => {
                let others = names.iter().filter(|name| !is_lemma_1(name));
                others.map(|name| reservation_test(name)).collect::<anyhow::Result<_>>()?
            }
        };
        if tests.is_empty() && self.figure.is_none() {
            needs::note_lacking(Lacking::Reservations)?;
        }
        progress::begin("testing", Unit::None, None);
        let mut analysis = TestResults::new(&set, &tests);
        if self.tests.iter().any(|name| is_lemma_1(&name)) {
            analysis = analysis.with_multi_stream_as_printed(&set);
        }
        let answer = self.check.as_deref().map(|name| check(&analysis, name)).transpose()?;
        let found = match self.smallest_budgets {
            Some(period) => {
                let period = checked_period(period)?;
                progress::begin("searching budgets", Unit::Of("tests"), Some(tests.len() as u64));
                ending::keep_complete_results();
                let of_each = tests.iter().map_while(|&test| {
                    let found = smallest_budgets(&set, period, &[test]);
                    progress::advance(1);
                    // Of what was stopped, the budgets are not known.
                    effort::check().is_ok().then_some(found)
                });
                Some((period, of_each.flatten().collect::<Vec<_>>()))
            }
            None => None,
        };
        ending::stop_working()?;
        if let Some(path) = &self.figure {
            let both = set.reservations.ok_or_else(|| anyhow!("--figure: the set has no reservation"))?;
            let partition = Partition::of(&set, &both)
                .find(|part| part.name() == self.figure_of)
                .ok_or_else(|| anyhow!("--figure-of: no partition is called {:?}", self.figure_of))?;
            let timings = set.timings_of(partition.allocation);
            let cycle = hyperperiod(timings.iter().map(|task| task.period).chain([both.single.period]));
            let title = format!("Demand and supply, {}", self.figure_of);
            let figure = demand_plot(&title, &timings, partition.reservation, cycle.unwrap_or(TaskTime::MAX))?;
            figure_options::write_figure(path, &figure)?;
        }
        let budgets = found.as_ref().map(|(period, budgets)| (*period, &budgets[..]));
        let report = TaskReport { set: &set, analysis: &analysis, budgets };
        let out = part.turn()?;
        part.print(&report, out)?;
        if is_replaced {
            part.note("the reservation of the file is replaced by that of --reservation-period");
        }
        if set.reservations.is_none() {
            part.note(
                "the set has no reservation, so only the tests of streams apply; --reservation-period chooses one",
            );
        }
        Ok(if answer == Some(false) { Answer::No } else { Answer::Done })
    }
}

/// What tests are that prove nothing.
const LITERAL: &str = "the paper's text taken literally, which accepts sets that miss deadlines";

/// Of all tests that --tests may name here.
fn own_test_names() -> impl Iterator<Item = &'static str> {
    std::iter::once(TestResults::MULTI_STREAM_AS_PRINTED).chain(test_names())
}

/// Of all tests that --tests may name where sets are drawn.
pub(super) fn test_names() -> impl Iterator<Item = &'static str> {
    let segments = SegmentTest::ALL.map(SegmentTest::name);
    ReservationTest::ALL.map(ReservationTest::name).into_iter().chain(segments)
}

pub(super) fn reservation_test(name: &str) -> anyhow::Result<ReservationTest> {
    ReservationTest::from_name(name).ok_or_else(|| {
        anyhow!("--tests: {name:?} is for tasks with segments, files with \"format\": \"gpusched-segments/1\"")
    })
}

fn checked_period(period: u64) -> anyhow::Result<TaskTime> {
    if period == 0 || period > 1 << 48 {
        bail!("a reservation's period is from 1 to 2^48");
    }
    Ok(TaskTime::from_units(period))
}

/// Whether the test of that name accepts the whole set.
fn check(analysis: &TestResults, name: &str) -> anyhow::Result<bool> {
    Ok(match name {
        "single-stream" => analysis.single_stream.is_yes(),
        "multi-stream" => analysis.multi_stream.is_yes(),
        TestResults::MULTI_STREAM_AS_PRINTED => bail!("--check: {name:?} is {LITERAL}"),
        other => {
            let applied = analysis.in_reservations.iter().find(|(test, _)| test.name() == other);
            let (test, verdicts) = applied.ok_or_else(|| anyhow!("--check: the test {other:?} was not applied"))?;
            if !test.is_sound() {
                bail!("--check: {other:?} is {LITERAL}");
            }
            TestResults::all_pass(*test, verdicts) == Some(true)
        }
    })
}

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
fn test_segments(
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
