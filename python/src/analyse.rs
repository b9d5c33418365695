//! What is computed of a scenario without or beside a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use gpusched::analysis::{Analysis, Comparison, OrdersError, analyse, judge_progress, launch_orders, merged_scenario};
use gpusched::draw::PictureOptions;
use gpusched::effort::Progress;
use gpusched::pictures::timeline::{FinishMark, Panels, TimelineOptions};
use gpusched::pictures::{HtmlRun, HtmlTimeline, sensitivity_chart};
use gpusched::run::Summary;
use gpusched::scenario::ReleaseOrder;
use gpusched::tables::{AnalysisReport, LadderReport, ProgressReport, ResidentsReport, SporadicReport};
use gpusched::time::{Duration, Instant};
use gpusched::words::with_causes;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::cell::cell_page;
use crate::document::Document;
use crate::errors::Failure;
use crate::options::{map, named, time};
use crate::run::{refuse_beyond_memory, simulated};
use crate::scenario::{Scenario, Wanted};
use crate::work::{aside, on_all_cores};

/// Verdicts, bounds and finish times on the merged SM; with `sporadic`, of streams whose releases are unknown; with
/// `ladder`, deadlines under weaker and stronger assumptions; with `slack`, also how much longer jobs may take; with
/// `sensitivity`, also by which factors the times of kernels, copies and CPU work may grow.
#[pyfunction]
#[pyo3(signature = (scenario, *, search = None, steps = false, sporadic = false, jitter = None, order = None, ladder = false, slack = false, sensitivity = false, progress = false, **options))]
#[expect(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "they are keywords")]
pub(crate) fn analyze(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    search: Option<&Bound<'_, PyAny>>,
    steps: bool,
    sporadic: bool,
    jitter: Option<&Bound<'_, PyDict>>,
    order: Option<&Bound<'_, PyAny>>,
    ladder: bool,
    slack: bool,
    sensitivity: bool,
    progress: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let refused = |text: &str| Err(Failure::Argument(text.to_owned()).into_exception(py));
    if steps && sporadic {
        return refused("steps are of stated releases, and sporadic takes them as unknown: leave out one of them");
    }
    if ladder && (steps || sporadic || order.is_some()) {
        return refused("ladder judges deadlines under all of its assumptions: leave out steps, sporadic and order");
    }
    if (slack || sensitivity) && (sporadic || ladder) {
        return refused(
            "slack and sensitivity are of given releases under one assumption: leave out sporadic and ladder",
        );
    }
    if progress && (steps || sporadic || ladder || slack || sensitivity || order.is_some() || search.is_some()) {
        return refused(
            "progress is of all times and orders: leave out search, steps, sporadic, order, ladder, slack and \
             sensitivity",
        );
    }
    if jitter.is_some() && !sporadic {
        return refused("jitter is for releases that are unknown: add sporadic=True");
    }
    let wanted = Wanted::new(scenario, options)?;
    let search = search.map(time).transpose()?;
    let jitter = jitter.map_or_else(|| Ok(BTreeMap::new()), |jitter| map(jitter, time))?;
    let order = order
        .map(|order| named(order, ReleaseOrder::from_name, &ReleaseOrder::ALL.map(ReleaseOrder::name)))
        .transpose()?;
    on_all_cores(py, move || {
        let mut given = wanted.read()?;
        if let Some(order) = order.filter(|order| *order != given.scenario.release_order) {
            Arc::make_mut(&mut given.scenario).release_order = order;
        }
        match (ladder, sporadic) {
            _ if progress => stands_still(&given),
            (true, _) => rungs(&given, search),
            (_, true) => streams(&given, jitter, search),
            _ => jobs(&given, (steps, slack, sensitivity), search),
        }
    })
}

/// Nobody is told how far a search is.
const UNWATCHED: Progress<'static> = Progress::NONE;

fn jobs(
    given: &Scenario,
    (steps, slack, sensitivity): (bool, bool, bool),
    search: Option<Duration>,
) -> Result<Document, Failure> {
    let scenario = &*given.scenario;
    let run = simulated(scenario)?;
    let report = AnalysisReport::of(&run, given.demands.as_deref(), search, UNWATCHED);
    let mut report = report.map_err(|error| Failure::run(&error))?;
    if slack {
        report.find_slack(given.demands.as_deref(), UNWATCHED).map_err(|error| Failure::run(&error))?;
    }
    if sensitivity {
        report.find_sensitivity(given.demands.as_deref(), UNWATCHED).map_err(|error| Failure::run(&error))?;
    }
    let steps = steps.then(|| report.analysis.printed_steps()).transpose();
    report.steps = steps.map_err(|error| Failure::Argument(format!("steps: {}", with_causes(&error))))?;
    let notes = report.analysis.notes.clone();
    let witness = report.verdicts.latest_miss().and_then(|job| report.verdicts.witness(job));
    let svg = sensitivity_chart(&report, PictureOptions::default()).map(|drawing| drawing.to_svg());
    let document = Document::new(&report, notes)?.with_scenario(witness);
    Ok(if svg.is_some() { document.with_svg(svg) } else { document })
}

fn rungs(given: &Scenario, search: Option<Duration>) -> Result<Document, Failure> {
    let report = LadderReport::of(&given.scenario, given.demands.as_deref(), search, UNWATCHED);
    let report = report.map_err(|error| Failure::run(&error))?;
    Document::new(&report, report.ladder.notes.clone())
}

fn stands_still(given: &Scenario) -> Result<Document, Failure> {
    let report = ProgressReport(judge_progress(&given.scenario));
    let run = report.0.hanging.as_ref().map(|run| run.scenario.clone());
    Ok(Document::new(&report, given.scenario.notes.clone())?.with_scenario(run))
}

/// Which blocks of each launch are on SMs, and how many fit.
#[pyfunction]
#[pyo3(signature = (scenario, *, at = None, **options))]
pub(crate) fn residents(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    at: Option<Vec<Bound<'_, PyAny>>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let wanted = Wanted::new(scenario, options)?;
    let at = at.unwrap_or_default().iter().map(time).collect::<PyResult<Vec<Duration>>>()?;
    aside(py, move || {
        let scenario = wanted.read()?.scenario;
        let at: Vec<Instant> = at.into_iter().map(|after| Instant::ZERO + after).collect();
        let run = simulated(&scenario)?;
        let report = ResidentsReport { summary: Summary::of(&run), at: &at };
        Document::new(&report, report.summary.notes())
    })
}

fn streams(
    given: &Scenario,
    jitter: BTreeMap<String, Duration>,
    search: Option<Duration>,
) -> Result<Document, Failure> {
    let scenario = &*given.scenario;
    let jitter = SporadicReport::jitter_of_threads(scenario, jitter);
    let jitter = jitter.map_err(|error| Failure::Argument(format!("jitter: {error}")))?;
    let report = SporadicReport::of(scenario, &jitter, given.demands.as_deref(), search, UNWATCHED);
    let report = report.map_err(|error| Failure::run(&error))?;
    let witness = report.verdicts.latest_miss().and_then(|stream| report.verdicts.witness(stream));
    Ok(Document::new(&report, report.notes.clone())?.with_scenario(witness))
}

/// Best and worst finish times over all orders of simultaneous launches.
#[pyfunction]
#[pyo3(signature = (scenario, *, samples, **options))]
pub(crate) fn orders(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    samples: u64,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    if samples == 0 {
        return Err(Failure::Argument("samples: expected a whole number from 1".to_owned()).into_exception(py));
    }
    let wanted = Wanted::new(scenario, options)?;
    on_all_cores(py, move || {
        let scenario = wanted.read()?.scenario;
        refuse_beyond_memory(&scenario)?;
        let run = simulated(&scenario)?;
        let orders = launch_orders(&run, samples, scenario.seed, Progress::NONE);
        let orders = orders.map_err(|error: OrdersError| Failure::run(&error))?;
        Document::new(&orders, orders.notes.clone())
    })
}

/// Simulated beside analysed finish times.
#[pyfunction]
#[pyo3(signature = (scenario, **options))]
pub(crate) fn compare(
    py: Python<'_>,
    scenario: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let wanted = Wanted::new(scenario, options)?;
    aside(py, move || compared(&wanted.read()?.scenario))
}

fn compared(scenario: &gpusched::scenario::Scenario) -> Result<Document, Failure> {
    refuse_beyond_memory(scenario)?;
    let analysis = analyse(scenario).map_err(|error| Failure::run(&error))?;
    let run = simulated(scenario)?;
    let comparison = Comparison::new(&analysis, &run).map_err(|error| Failure::run(&error))?;
    let document = Document::new(&comparison, comparison.notes.clone())?;
    Ok(with_pictures(document, scenario, &run, &analysis, &comparison))
}

/// With the simulation drawn above the analysis, as far as that is not too much for a figure or a page.
fn with_pictures(
    document: Document,
    scenario: &gpusched::scenario::Scenario,
    run: &gpusched::run::Run,
    analysis: &Analysis<'_>,
    comparison: &Comparison<'_>,
) -> Document {
    let Ok(merged) = merged_scenario(scenario, analysis) else { return document };
    let Ok(below) = simulated(&merged) else { return document };
    let (upper, lower) = (Summary::of(run), Summary::of(&below));
    let marks = FinishMark::of_comparison(comparison);
    let panels = Panels { upper: &upper, lower: &lower, marks: &marks, notes: Vec::new() };
    let svg = panels.draw(&TimelineOptions::default()).ok().map(|drawing| drawing.to_svg());
    let shown = |name, summary| HtmlRun { name, summary, blocks_only: false };
    let both = HtmlTimeline::comparison(shown("simulated", upper), shown("analysed", lower), &marks);
    document.with_svg(svg).with_page(cell_page(both))
}
