//! How far response-time analysis on one merged SM agrees with simulation: of given scenarios (`gpusched compare`), and
//! of many random ones (`gpusched merged-sm`).

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use gpusched::analysis::{Comparison, analyse, merged_scenario};
use gpusched::experiments::profile_replay::ProfileComparison;
use gpusched::experiments::validation::{Campaign, Family};
use gpusched::hosts::simulate;
use gpusched::input::{Input, InputError};
use gpusched::pictures::timeline::{FinishMark, Lanes, Panels};
use gpusched::pictures::{HtmlRun, HtmlTimeline, campaign_figure};
use gpusched::profile::GpuProfile;
use gpusched::run::Summary;
use gpusched::scenario::{LogUse, Scenario};
use gpusched::spelling::option;
use gpusched::time::Instant;
use gpusched::workload::Placement;

use super::figure_options::{self, Figure, FigureOptions};
use super::option_arguments::one_of;
use super::output::{self, Format, print_report};
use super::progress::{self, Unit};
use super::resources::{self, Jobs};
use super::run_files::{HtmlFile, HtmlOptions, RunnableTimesOption};
use super::run_options::RunOptions;
use super::several::{self, Part};
use super::{Answer, ending, input};

/// Put the merged-SM assumption to the test: analyse and simulate random scenarios of several families, count how
/// often they agree, and shrink a counterexample where they do not. A command that is stopped
/// tells what is done so far.
#[derive(Debug, Args)]
pub(crate) struct MergedSm {
    /// Scenarios of each family
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..1 << 48))]
    samples: u64,
    /// A family to try; may be repeated [default: all]
    #[arg(long, value_name = "NAME", value_parser = one_of(Family::ALL, Family::name))]
    family: Vec<Family>,
    /// The GPU: a built-in name or a device file
    #[arg(long, value_name = "NAME|FILE", default_value = "tx2")]
    device: String,
    /// Which SM gets the next block
    #[arg(long, value_name = "POLICY", default_value = Placement::MostRoom.name(),
          value_parser = one_of(Placement::ALL, Placement::name))]
    placement: Placement,
    /// Seed of the random scenarios
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    jobs: resources::Jobs,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Draw agreement and error of every family [.svg, .png, .tex or .pdf]
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
}

impl MergedSm {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        figure_options::refuse_other_figure(self.figure.as_deref())?;
        let device = input::device(&self.device)?;
        device.check_placement(self.placement)?;
        let campaign = Campaign {
            device,
            placement: self.placement,
            families: if self.family.is_empty() { Family::ALL.to_vec() } else { self.family.clone() },
            samples: self.samples,
            seed: self.seed,
        };
        ending::keep_complete_results();
        let samples = self.samples.saturating_mul(campaign.families.len() as u64);
        progress::begin("analysing and simulating", Unit::Of("scenarios"), Some(samples));
        self.jobs.share()?;
        let report = campaign.run(&progress::advance)?;
        ending::stop_working()?;
        progress::end();
        if let Some(path) = &self.figure {
            figure_options::write_figure(path, &campaign_figure(&report))?;
        }
        print_report(&report, self.format)
    }
}

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
        let (analysis, run) = (analyse(scenario)?, progress::simulated(scenario, true, |text| part.note(text))?);
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
        output::show_abridged(&comparison.notes, |text| part.note(text));
        part.print(&comparison, out)?;
        Ok(if self.check && !comparison.equal { Answer::No } else { Answer::Done })
    }
}

/// The profile that a file holds, or standard input, which is kept; whatever else can be read only once is none.
fn profile(path: &Path) -> anyhow::Result<Option<GpuProfile>> {
    if path != Path::new("-") && !path.is_file() {
        return Ok(None);
    }
    match input::as_recorded(path) {
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
