//! `gpusched compare`

use std::io::Write;

use clap::Args;
use gpusched::analysis::{Comparison, analyse, merged_scenario};
use gpusched::hosts::simulate;
use gpusched::report::timeline::{FinishMark, Lanes, Panels};
use gpusched::report::{HtmlRun, HtmlTimeline, Summary, comparison_csv, comparison_table};
use gpusched::scenario::Scenario;
use gpusched::time::Instant;

use super::figure_options::{Figure, FigureOptions};
use super::html_options::{HtmlFile, HtmlOptions};
use super::output::{Format, note};
use super::run_options::RunOptions;
use super::runnable_times_option::RunnableTimesOption;
use super::{Answer, output};

/// Simulated beside analysed finish times: where the analysis is optimistic (unsafe), where pessimistic.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    run: RunOptions,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    #[command(flatten)]
    html: HtmlOptions,
    #[command(flatten)]
    runnable_times: RunnableTimesOption,
    #[command(flatten)]
    figure: FigureOptions,
    /// Exit status 1 if any finish time differs
    #[arg(long)]
    check: bool,
}

impl Compare {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let runnable_times = self.runnable_times.table()?;
        let scenario = self.run.read(false)?;
        let figure = self.figure.figure(&scenario)?;
        let html = self.html.file()?;
        let (analysis, run) = (analyse(&scenario)?, simulate(&scenario)?);
        let comparison = Comparison::new(&scenario, &analysis, &run.trace);
        let simulated = Summary::of(&scenario, &run);
        if figure.is_some() || html.is_some() {
            let merged = merged_scenario(&scenario, &analysis)?;
            draw(simulated, &merged, &comparison, figure.as_ref(), html.as_ref())?;
        }
        if let Some(table) = runnable_times {
            table.write(&simulated, Some(&analysis))?;
        }
        for text in &comparison.notes {
            note(text);
        }
        let mut out = output::stdout();
        match self.format {
            Format::Json => {
                serde_json::to_writer(&mut out, &comparison)?;
                writeln!(out)?;
            }
            Format::Csv => comparison_csv(&comparison, &mut out)?,
            Format::Table | Format::Markdown => {
                write!(out, "{}", comparison_table(&comparison, self.format.style()))?;
            }
        }
        out.flush()?;
        Ok(if self.check && !comparison.equal { Answer::No } else { Answer::Done })
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
    let lower = Summary::of(merged, &analysed);
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
