//! `gpusched compare`

use std::path::Path;

use anyhow::bail;
use clap::Args;
use gpusched::analysis::{Comparison, analyse, merged_scenario};
use gpusched::experiments::profile_replay::ProfileComparison;
use gpusched::hosts::simulate;
use gpusched::input::{Input, InputError};
use gpusched::pictures::timeline::{FinishMark, Lanes, Panels};
use gpusched::pictures::{HtmlRun, HtmlTimeline};
use gpusched::profile::GpuProfile;
use gpusched::run::Summary;
use gpusched::scenario::{LogUse, Scenario};
use gpusched::spelling::option;
use gpusched::time::Instant;

use super::figure_options::{Figure, FigureOptions};
use super::html_options::{HtmlFile, HtmlOptions};
use super::jobs::Jobs;
use super::output::{Format, print_report};
use super::progress::{self, Unit};
use super::run_options::RunOptions;
use super::runnable_times_option::RunnableTimesOption;
use super::several::{self, Part};
use super::{Answer, input, notes};

/// Simulated beside analysed finish times: where the analysis is optimistic (unsafe), where pessimistic.
///
/// Several scenarios, or a directory of them, are compared one by one. Two profiles are compared with each other, as
/// recorded: makespan, overlap, exposed communication, streams and kernels.
#[derive(Debug, Args)]
#[command(mut_arg("scenario", several::accept))]
pub(crate) struct Compare {
    #[command(flatten)]
    run: RunOptions,
    #[command(flatten)]
    jobs: Jobs,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    html: HtmlOptions,
    #[command(flatten)]
    runnable_times: RunnableTimesOption,
    #[command(flatten)]
    figure: FigureOptions,
    /// Exit status 1 if any finish time differs, or of two profiles anything
    #[arg(long)]
    check: bool,
}

impl Compare {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let files = self.run.files()?;
        if let [first, second] = &*files.paths
            && let Some(first) = profile(first)?
            && let Some(second) = profile(second)?
        {
            return self.profiles([&first, &second]);
        }
        files.refuse_options(&[
            ("--html", self.html.file()?.is_some()),
            ("--runnable-times", self.runnable_times.table()?.is_some()),
            ("--figure", self.figure.is_given()),
        ])?;
        let scenarios = files.paths.iter().map(|path| self.run.read_from(path, LogUse::Unused));
        let scenarios: Vec<Scenario> = scenarios.collect::<anyhow::Result<_>>()?;
        scenarios.iter().try_for_each(|scenario| self.figure.figure(scenario).map(|_| ()))?;
        files.run(scenarios, self.jobs.threads(), self.format, |scenario, part| self.one(&scenario, part))
    }

    /// Two profiles as recorded.
    fn profiles(&self, profiles: [&GpuProfile; 2]) -> anyhow::Result<Answer> {
        let options = self.run.options()?;
        let other = options.given.iter().find(|key| **key != "gpu").map(|key| option(key).to_string());
        let drawn = [
            ("--html", self.html.file()?.is_some()),
            ("--runnable-times", self.runnable_times.table()?.is_some()),
            ("--figure", self.figure.is_given()),
        ];
        let drawn = drawn.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option.to_owned());
        if let Some(option) = other.or(drawn) {
            bail!("{option} is for simulations, and two profiles are compared as recorded");
        }
        let comparison = ProfileComparison::new(profiles, options.import.gpu)?;
        print_report(&comparison, self.format)?;
        let is_equal = comparison.is_equal();
        Ok(if self.check && !is_equal { Answer::No } else { Answer::Done })
    }

    fn one(&self, scenario: &Scenario, part: &Part<'_>) -> anyhow::Result<Answer> {
        let figure = self.figure.figure(scenario)?;
        let html = self.html.file()?;
        progress::begin("analysing", Unit::None, None);
        let (analysis, run) = (analyse(scenario)?, progress::simulated(scenario, |text| part.note(text))?);
        let comparison = Comparison::new(&analysis, &run)?;
        let simulated = Summary::of(&run);
        if figure.is_some() || html.is_some() {
            let merged = merged_scenario(scenario, &analysis)?;
            draw(simulated, &merged, &comparison, figure.as_ref(), html.as_ref())?;
        }
        if let Some(table) = self.runnable_times.table()? {
            table.write(&simulated, Some(&analysis))?;
        }
        let out = part.turn()?;
        notes::show_abridged(&comparison.notes, |text| part.note(text));
        part.print(&comparison, out)?;
        Ok(if self.check && !comparison.equal { Answer::No } else { Answer::Done })
    }
}

/// The profile that a file holds, or standard input, which is kept; whatever else can be read only once is none.
fn profile(path: &Path) -> anyhow::Result<Option<GpuProfile>> {
    if path != Path::new("-") && !path.is_file() {
        return Ok(None);
    }
    match input::scenario(path) {
        Ok(Input::Profile(profile)) => Ok(Some(profile)),
        Err(error) if matches!(error.downcast_ref(), Some(InputError::Profile(_))) => Err(error),
        // What else is wrong is told where it is read as a scenario.
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Draws the simulation above the analysis, which is the same work on one merged SM.
fn draw(
    upper: Summary<'_>,
    merged: &Scenario,
    comparison: &Comparison<'_>,
    figure: Option<&Figure<'_>>,
    html: Option<&HtmlFile<'_>>,
) -> anyhow::Result<()> {
    let analysed = simulate(merged)?;
    let lower = Summary::of(&analysed);
    let marks = FinishMark::of_comparison(comparison);
    if let Some(figure) = figure {
        let panels = Panels { upper: &upper, lower: &lower, marks: &marks, notes: Vec::new() };
        figure.write_panels(&panels, Instant::ZERO, Lanes::Sms)?;
    }
    if let Some(html) = html {
        let run = |name, summary| HtmlRun { name, summary, blocks_only: false };
        html.write(HtmlTimeline::comparison(run("simulated", upper), run("analysed", lower), &marks), false)?;
    }
    Ok(())
}
