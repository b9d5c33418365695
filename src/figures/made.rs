//! How a figure is made: what comes out of it, and the ways that many figures share. They are the block timeline of a
//! shipped scenario, that of its simulation above that of its analysis, or a table of printed values.

use std::fmt::{Display, Write};
use std::num::NonZeroU32;

use super::paper::Paper;
use crate::amalthea::{AmaltheaModel, AmaltheaOptions};
use crate::analysis::algorithm_2::{self, AlgorithmStep};
use crate::analysis::{Analysis, Comparison, analyse, merged_scenario};
use crate::device::Device;
use crate::draw::Drawing;
use crate::formats::{Column, TableStyle, csv_of, csv_text, text_of};
use crate::hosts::simulate;
use crate::pictures::timeline::{FinishMark, Panels, Timeline, TimelineOptions};
use crate::printed::Printed;
use crate::run::{self, NotComparable, Summary};
use crate::scenario::{ReadOptions, Scenario};
use crate::tables::{OfPaper, PrintedDocument, RunnableTimes, SimulationReport};
use crate::time::{Duration, Instant};

/// Whatever goes wrong while a figure is made.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A file of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name, without a directory; ends in `.svg` or `.csv`.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl File {
    /// A picture as `NAME.svg`.
    pub(super) fn svg(name: impl Display, picture: &Drawing) -> Self {
        Self { name: format!("{name}.svg"), text: picture.to_svg() }
    }

    /// Data as `NAME.csv`.
    pub(super) fn csv(name: impl Display, text: String) -> Self {
        Self { name: format!("{name}.csv"), text }
    }
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Pictures and the data behind them, in the order in which to show them.
    pub files: Vec<File>,
    /// What was found, to be read beside [`Figure::published`](super::Figure::published): a few sentences, or a table
    /// of Markdown.
    pub finding: String,
}

impl Made {
    /// A picture and the data behind it, whose files have the name of the figure.
    pub(super) fn of(name: &str, picture: &Drawing, csv: String, finding: String) -> Self {
        Self { files: vec![File::svg(name, picture), File::csv(name, csv)], finding }
    }
}

/// The GPU of most figures.
pub(super) fn tx2() -> Result<Device, Failure> {
    Ok(Device::builtin("tx2")?.ok_or("the TX2 is not built in")?)
}

/// A scenario or a model that this project ships.
#[derive(Debug, Clone, Copy)]
pub(super) struct Published {
    /// Its path in the project.
    pub path: &'static str,
    pub text: &'static str,
}

/// A shipped scenario or model, by its path in `scenarios/`.
macro_rules! published {
    ($path:literal) => {
        $crate::figures::made::Published {
            path: concat!("scenarios/", $path),
            text: include_str!(concat!("../../scenarios/", $path)),
        }
    };
}
pub(super) use published;

/// Simulates the scenario, draws it, and says whether it came out as the paper says.
pub(super) fn make_timeline(name: &'static str, published: Published) -> Result<Made, Failure> {
    let scenario = read(published)?;
    let run = simulate(&scenario)?;
    let summary = Summary::of(&run);
    // The papers' point is why a kernel waits.
    let options = TimelineOptions { queues: true, occupancy: true, ..TimelineOptions::default() };
    let picture = Timeline::new(&summary, &options)?.draw(&summary, &options);
    let report = SimulationReport { blocks: true, ..SimulationReport::of(summary) };
    Ok(Made::of(name, &picture, csv_of(&report), against_expected(&summary)?))
}

/// Whether a run came out as its scenario expects; nothing if it expects nothing.
pub(super) fn against_expected(summary: &Summary<'_>) -> Result<String, NotComparable> {
    let Some(expected) = &summary.scenario.expected else { return Ok(String::new()) };
    let differences = summary.differences()?;
    let known = expected.kernels.len();
    if differences.is_empty() {
        let all = if known == 1 { "The one kernel".to_owned() } else { format!("All {known} kernels") };
        return Ok(format!("{all} as expected, within {}. {}", expected.tolerance, expected.source));
    }
    let differing: Vec<String> = differences.iter().map(|difference| format!(" {difference};")).collect();
    Ok(format!("{} of {known} kernels differ:{} expected: {}", differences.len(), differing.concat(), expected.source))
}

/// Steps of Algorithm 2 up to which they are shown.
const MOST_STEPS: usize = 1_000;

/// Reads a shipped scenario, or a shipped model with its defaults.
pub(super) fn read(published: Published) -> Result<Scenario, Failure> {
    let Published { path, text } = published;
    let options = ReadOptions::default();
    Ok(if is_model(published) {
        AmaltheaModel::read_scenario(path, text, &AmaltheaOptions::default(), &options)?
    } else {
        Scenario::from_json(path, text, &options)?
    })
}

fn is_model(published: Published) -> bool {
    std::path::Path::new(published.path).extension().is_some_and(|extension| extension == "amxmi")
}

/// Simulates and analyses, draws both, and says whether they agree with each other and with what is expected. Of a
/// model, the times by runnable are written too.
pub(super) fn make_analysed(name: &'static str, published: Published) -> Result<Made, Failure> {
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
        files.push(File::csv(format!("{name}-runnables"), String::from_utf8(csv)?));
        let _ = write!(finding, "\n\n{}", runnables_markdown(&times));
    }
    if let Some(steps) = steps(&analysis)? {
        let _ = write!(finding, "\n\n{}", steps_markdown(&analysis, &steps));
        files.push(File::csv(format!("{name}-steps"), steps_csv(&analysis, &steps)));
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
pub(super) fn steps(analysis: &Analysis<'_>) -> Result<Option<Vec<AlgorithmStep>>, Failure> {
    let Some(g_max) = analysis.g_max.and_then(NonZeroU32::new) else { return Ok(None) };
    Ok(algorithm_2::steps(g_max, &analysis.merged, MOST_STEPS)?)
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
pub(super) fn steps_markdown(analysis: &Analysis<'_>, steps: &[AlgorithmStep]) -> String {
    let mut text = "| kernel | blocks to place | t_a | g_f | enough? | h then | t_a then | g_f then |\n\
                    | --- | ---: | ---: | ---: | --- | --- | ---: | ---: |\n"
        .to_owned();
    for step in steps {
        let AlgorithmStep { t_a, g_f, to_place, next_t_a, next_g_f, .. } = step;
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
pub(super) fn steps_csv(analysis: &Analysis<'_>, steps: &[AlgorithmStep]) -> String {
    type Row<'a> = (&'a Analysis<'a>, &'a AlgorithmStep);
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

/// What the file of a shipped scenario expects of its run, value by value.
pub(super) fn with_expected(published: Published) -> Result<Vec<Printed>, Failure> {
    let scenario = read(published)?;
    let Some(expected) = &scenario.expected else { return Ok(Vec::new()) };
    let run = simulate(&scenario)?;
    let compared = run::against_expected(expected, &run.trace)?.into_iter();
    Ok(compared.map(|(kernel, value)| Printed { what: format!("{}: {}", kernel.name, value.what), ..value }).collect())
}

/// The values of a table or an example as its only file.
pub(super) fn make_compared(name: &'static str, paper: Paper, values: &[Printed]) -> Made {
    let of_paper: Vec<OfPaper<'_>> = values.iter().map(|value| (paper.name(), value)).collect();
    let report = PrintedDocument(&of_paper);
    Made { files: vec![File::csv(name, csv_of(&report))], finding: text_of(&report, TableStyle::Markdown) }
}
