//! Figures that are a shipped scenario or model, simulated above analysed.

use std::fmt::Write;
use std::num::NonZeroU32;

use super::made::{Failure, File, Made};
use super::timeline::{Published, against_expected};
use crate::analysis::printed::{self, Turn};
use crate::analysis::{Analysis, Comparison, analyse, merged_scenario};
use crate::draw::Drawing;
use crate::formats::{Column, csv_of, csv_text};
use crate::hosts::simulate;
use crate::pictures::timeline::{FinishMark, Panels, Timeline, TimelineOptions};
use crate::run::Summary;
use crate::scenario::amalthea::AmaltheaOptions;
use crate::scenario::{ReadOptions, Scenario};
use crate::tables::RunnableTimes;
use crate::time::{Duration, Instant};

/// Steps of Algorithm 2 up to which they are shown.
const MOST_STEPS: usize = 1_000;

/// Reads a shipped scenario, or a shipped model with its defaults.
pub(super) fn read(published: Published) -> Result<Scenario, Failure> {
    let Published { path, text } = published;
    let options = ReadOptions::default();
    Ok(if is_model(published) {
        Scenario::from_amalthea(path, text, &AmaltheaOptions::default(), &options)?
    } else {
        Scenario::from_json(path, text, &options)?
    })
}

fn is_model(published: Published) -> bool {
    std::path::Path::new(published.path).extension().is_some_and(|extension| extension == "amxmi")
}

/// Simulates and analyses, draws both, and says whether they agree with each other and with what is expected. Of a
/// model, the times by runnable are written too.
pub(super) fn make(name: &'static str, published: Published) -> Result<Made, Failure> {
    let scenario = read(published)?;
    let (analysis, run) = (analyse(&scenario)?, simulate(&scenario)?);
    let compared = Comparison::new(&analysis, &run)?;
    let merged = merged_scenario(&scenario, &analysis)?;
    let analysed = simulate(&merged)?;
    let upper = Summary::of(&run);
    let lower = Summary::of(&analysed);
    let marks = FinishMark::of_comparison(&compared);
    let panels = Panels { upper: &upper, lower: &lower, marks: &marks, notes: Vec::new() };
    let drawing = panels.draw(&TimelineOptions::default())?;
    let Made { mut files, mut finding } = Made::of(name, &drawing, csv_of(&compared), agreement(&compared));
    if scenario.expected.is_some() {
        let _ = write!(finding, " Simulated: {}", against_expected(&upper)?);
    }
    if is_model(published) {
        let times = RunnableTimes::of_run(&upper, Some(&analysis));
        let mut csv = Vec::new();
        RunnableTimes::write_csv(&times, &mut csv)?;
        files.push(File { name: format!("{name}-runnables.csv"), text: String::from_utf8(csv)? });
        let _ = write!(finding, "\n\n{}", runnables_markdown(&times));
    }
    if let Some(steps) = steps(&analysis)? {
        let _ = write!(finding, "\n\n{}", steps_markdown(&analysis, &steps));
        files.push(File { name: format!("{name}-steps.csv"), text: steps_csv(&analysis, &steps) });
    }
    Ok(Made { files, finding })
}

/// Whether simulation and analysis agree, as a sentence.
fn agreement(compared: &Comparison<'_>) -> String {
    let promise = if compared.exact { "exact here" } else { "not known to be exact here" };
    match (compared.equal, compared.kernels.len()) {
        (true, 1) => {
            format!("The kernel is analysed to finish when it does in the simulation; the analysis is {promise}.")
        }
        (true, kernels) => format!(
            "All {kernels} kernels are analysed to finish when they do in the simulation; the analysis is {promise}."
        ),
        (false, kernels) => format!(
            "Of {kernels} kernels, {} are analysed to finish too early and {} too late; the analysis is {promise}.",
            compared.optimistic, compared.pessimistic
        ),
    }
}

/// Response times by runnable as a table of Markdown.
fn runnables_markdown(times: &[RunnableTimes<'_>]) -> String {
    let mut text = "| runnable | blocks | longest block | response, copies included: simulated | analysed | \
                    kernel finishes at the latest if blocks run shorter |\n\
                    | --- | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    let shown = |time: Option<Duration>| time.map_or_else(|| "-".to_owned(), |time| time.to_string());
    for one in times {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            one.runnable,
            one.grid_size,
            one.block_worst_ns,
            shown(one.response_ns),
            shown(one.analysed_response_ns),
            shown(one.safe_kernel_finish_ns.map(|at| at.since(Instant::ZERO))),
        );
    }
    text
}

/// Every turn of the printed algorithm, if it can be applied.
pub(super) fn steps(analysis: &Analysis<'_>) -> Result<Option<Vec<Turn>>, Failure> {
    let Some(g_max) = analysis.g_max.and_then(NonZeroU32::new) else { return Ok(None) };
    Ok(printed::steps(g_max, &analysis.merged, MOST_STEPS)?)
}

/// The work of a scenario on one merged SM up to `to`.
pub(super) fn merged_picture(
    scenario: &Scenario,
    analysis: &Analysis<'_>,
    title: String,
    to: Duration,
) -> Result<Drawing, Failure> {
    let mut merged = merged_scenario(scenario, analysis)?;
    merged.name = title;
    let run = simulate(&merged)?;
    let summary = Summary::of(&run);
    let options = TimelineOptions { to: Some(to), ..TimelineOptions::default() };
    Ok(Timeline::new(&summary, &options)?.draw(&summary, &options))
}

/// Steps as a table of Markdown.
pub(super) fn steps_markdown(analysis: &Analysis<'_>, steps: &[Turn]) -> String {
    let mut text = "| kernel | blocks to place | t_a | g_f | enough? | h then | t_a then | g_f then |\n\
                    | --- | ---: | ---: | ---: | --- | --- | ---: | ---: |\n"
        .to_owned();
    for step in steps {
        let Turn { t_a, g_f, to_place, next_t_a, next_g_f, .. } = step;
        let pairs: Vec<String> = step.h.iter().map(|(t, g)| format!("({t}, {g})")).collect();
        let enough = step.finish.map_or_else(|| "no".to_owned(), |finish| format!("yes, f = {finish}"));
        let _ = writeln!(
            text,
            "| {} | {to_place} | {t_a} | {g_f} | {enough} | {{{}}} | {next_t_a} | {next_g_f} |",
            analysis.title_of(step),
            pairs.join(", ")
        );
    }
    text
}

/// Steps as comma-separated values; h as pairs `time:blocks`.
pub(super) fn steps_csv(analysis: &Analysis<'_>, steps: &[Turn]) -> String {
    type Row<'a> = (&'a Analysis<'a>, &'a Turn);
    let columns: [Column<Row<'_>>; 8] = [
        Column::data("kernel", |(analysis, step): &Row<'_>| analysis.title_of(step).into()),
        Column::data("blocks_to_place", |(_, step)| step.to_place.into()),
        Column::data("t_a_ns", |(_, step)| step.t_a.into()),
        Column::data("g_f", |(_, step)| step.g_f.into()),
        Column::data("finish_ns", |(_, step)| step.finish.into()),
        Column::data("h_ns", |(_, step)| {
            let pairs: Vec<String> = step.h.iter().map(|(t, g)| format!("{}:{g}", t.as_ns())).collect();
            pairs.join(" ").into()
        }),
        Column::data("next_t_a_ns", |(_, step)| step.next_t_a.into()),
        Column::data("next_g_f", |(_, step)| step.next_g_f.into()),
    ];
    csv_text(&columns, steps.iter().map(|step| (analysis, step)))
}
