//! `gpusched analyze`

use std::io::Write;
use std::num::NonZeroU32;

use anyhow::{Context, bail};
use clap::Args;
use gpusched::analysis::{
    Analysis, BoundOptions, JobVerdicts, RequirementVerdict, SporadicVerdicts, Verdict, analyse_and_bound,
    judge_by_bounds, judge_sporadic, printed, requirements_of_streams,
};
use gpusched::report::{
    AnalysisReport, SporadicDocument, Summary, TableStyle, analysis_rows, requirement_notes, requirement_table,
    sporadic_rows, sporadic_table, verdict_rows,
};
use gpusched::scenario::Scenario;
use gpusched::scenario::amalthea::ModelDemands;
use gpusched::time::Duration;

use super::Answer;
use super::output::{Format, note};
use super::progress::{self, Unit};
use super::run_options::{RunOptions, by_name, parse_stream_time};
use super::runnable_times_option::RunnableTimesOption;
use super::search_options::{Search, write_witness};
use super::several::{self, Part};

/// Steps of the printed algorithm above which they are not shown.
const MOST_STEPS: usize = 100_000;

/// Is each deadline met, at worst? Proven (the bound meets it), missed (a run was found that misses it), or open.
///
/// A job is all that one release of a stream or one iteration of a host submits, copies included. Its bound holds for
/// every placement and for blocks that run shorter than stated; bad runs are searched among the same. Beside it stand
/// the finish times of the thesis' response-time analysis on one merged SM, and whether they are exact.
///
/// Several scenarios, or a directory of them, are analysed one by one.
#[derive(Debug, Args)]
#[command(mut_arg("scenario", several::accept))]
pub(crate) struct Analyze {
    #[command(flatten)]
    run: RunOptions,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Print the verdicts on jobs alone, also as CSV
    #[arg(long = "verdicts", conflicts_with_all = ["steps", "sporadic"])]
    verdicts_alone: bool,
    /// Show h, `t_a` and `g_f` after every step of the thesis' Algorithm 2 (equal blocks only)
    #[arg(long)]
    steps: bool,
    /// Take releases as unknown: jobs of a stream arrive at any times at least a period apart
    #[arg(long, conflicts_with = "steps")]
    sporadic: bool,
    /// How much later than its arrival a job of STREAM may be released, in place of what the input says; may be repeated
    #[arg(long, value_name = "STREAM=TIME", value_parser = parse_stream_time, requires = "sporadic")]
    jitter: Vec<(String, Duration)>,
    #[command(flatten)]
    search: Search,
    #[command(flatten)]
    runnable_times: RunnableTimesOption,
    /// Exit status 1 unless every deadline is proven to be met
    #[arg(long)]
    check: bool,
}

impl Analyze {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if self.steps && matches!(self.format, Format::Csv | Format::Arrow | Format::Markdown) {
            bail!("--steps is shown as text and in JSON only: leave out --format, or use --format json");
        }
        if self.verdicts_alone && self.format.is_json() {
            bail!("--verdicts is for tables and CSV: the JSON document has the verdicts in any case");
        }
        let runnable_times = self.runnable_times.table()?;
        if self.sporadic && runnable_times.is_some() {
            bail!("--runnable-times is about given releases: leave out --sporadic");
        }
        let files = self.run.files()?;
        files.refuse_options(&[
            ("--runnable-times", runnable_times.is_some()),
            ("--witness", self.search.witness_file().is_some()),
        ])?;
        let scenarios = files.paths.iter().map(|path| self.run.read_with_demands(path));
        let scenarios: Vec<_> = scenarios.collect::<anyhow::Result<_>>()?;
        // The threads share each search.
        files.run(scenarios, 1, self.format, |(mut scenario, demands), part| {
            // No logs are written here, and of many benchmarks what they would say is large.
            scenario.examiner = None;
            let one = if self.sporadic { Self::sporadic } else { Self::one };
            one(self, &scenario, demands.as_ref(), part)
        })
    }

    fn one(&self, scenario: &Scenario, demands: Option<&ModelDemands>, part: &Part<'_>) -> anyhow::Result<Answer> {
        progress::begin("analysing", Unit::None, None);
        let (analysis, bounds) = analyse_and_bound(scenario, BoundOptions::default())?;
        let steps = if self.steps { Some(steps(&analysis)?) } else { None };
        let operations = analysis.operations();
        let options = self.search.options(scenario, operations);
        let run = progress::simulated(scenario)?;
        let summary = Summary::of(scenario, &run);
        // Before there are verdicts, which are large as well.
        let own = summary.jobs();
        let verdicts = self.search.watched(|watch| judge_by_bounds(scenario, &run, bounds, &options, watch))??;
        if let Some(table) = self.runnable_times.table()? {
            table.write(&summary, Some(&analysis))?;
        }
        // Nothing below looks at what happened.
        drop(run);
        let unsearched = self.search.note(scenario, operations);
        let report = AnalysisReport::new(scenario, analysis, verdicts, own, demands, unsearched);
        let judged = report.verdicts.jobs.iter().map(|job| job.verdict);
        let answer = self.answer(judged.chain(verdicts_on(report.requirements.as_deref())))?;
        let mut out = part.turn()?;
        let tell = |text: &String| part.note(text);
        if self.verdicts_alone {
            report.notes_on_verdicts().for_each(tell);
        } else {
            report.analysis.notes.iter().for_each(tell);
        }
        self.write_job_witness(&report.verdicts)?;
        match self.format {
            Format::Json | Format::Jsonl => part.write_document(&report.document(steps.as_deref()), &mut out)?,
            Format::Csv | Format::Arrow if self.verdicts_alone => {
                verdict_rows(&report.verdicts.jobs, part.rows(), &mut out)?;
            }
            Format::Csv | Format::Arrow => analysis_rows(&report.analysis, part.rows(), &mut out)?,
            Format::Table | Format::Markdown if self.verdicts_alone => {
                write!(out, "{}", report.verdicts_text(self.format.style()))?;
            }
            Format::Table | Format::Markdown => {
                write!(out, "{}", report.text(steps.as_deref(), self.format.style()))?;
            }
        }
        out.flush()?;
        Ok(answer)
    }

    fn sporadic(&self, scenario: &Scenario, demands: Option<&ModelDemands>, part: &Part<'_>) -> anyhow::Result<Answer> {
        let mut jitters = by_name("--jitter", &self.jitter)?;
        let jitter: Vec<Duration> =
            scenario.threads.iter().map(|thread| jitters.remove(&*thread.label).unwrap_or(thread.jitter)).collect();
        if let Some(name) = jitters.keys().next() {
            bail!("--jitter: no stream with operations and no host is called {name:?}");
        }
        // A few jobs of each stream are made up for the search.
        let options = self.search.options(scenario, 64 * scenario.threads.len());
        let verdicts = self.search.watched(|watch| judge_sporadic(scenario, &jitter, &options, watch))??;
        let requirements = demands.map(|demands| requirements_of_streams(demands, &verdicts));
        let judged = verdicts.streams.iter().map(|stream| stream.verdict);
        let answer = self.answer(judged.chain(verdicts_on(requirements.as_deref())))?;
        let mut notes = scenario.notes.clone();
        notes.extend(verdicts.refusal.iter().map(|why| format!("no bounds: {why}")));
        notes.extend(requirement_notes(requirements.as_deref().unwrap_or_default()));
        let mut out = part.turn()?;
        for text in &notes {
            part.note(text);
        }
        self.write_stream_witness(&verdicts)?;
        match self.format {
            Format::Json | Format::Jsonl => {
                let document = SporadicDocument {
                    streams: &verdicts.streams,
                    runs_searched: verdicts.runs,
                    notes: &notes,
                    requirements: requirements.as_deref(),
                };
                part.write_document(&document, &mut out)?;
            }
            Format::Csv | Format::Arrow => sporadic_rows(&verdicts.streams, part.rows(), &mut out)?,
            Format::Table | Format::Markdown => {
                let style = self.format.style();
                write!(out, "{}", sporadic_table(&verdicts.streams, style))?;
                write_requirements(requirements.as_deref(), style, &mut out)?;
            }
        }
        out.flush()?;
        Ok(answer)
    }

    /// What `--check` comes to; refused where there is nothing to check.
    fn answer(&self, verdicts: impl Iterator<Item = Option<Verdict>>) -> anyhow::Result<Answer> {
        let judged: Vec<Verdict> = verdicts.flatten().collect();
        if self.check && judged.is_empty() {
            bail!("--check: no job has a deadline to check; --deadline STREAM=TIME gives one");
        }
        let all_proven = judged.iter().all(|verdict| *verdict == Verdict::Proven);
        Ok(if self.check && !all_proven { Answer::No } else { Answer::Done })
    }

    fn write_job_witness(&self, verdicts: &JobVerdicts<'_>) -> anyhow::Result<()> {
        let Some(path) = self.search.witness_file() else { return Ok(()) };
        let late = |found: Option<Duration>, deadline: Option<Duration>| {
            found.zip(deadline).map(|(found, deadline)| found.as_ns().saturating_sub(deadline.as_ns()))
        };
        let missed = verdicts.jobs.iter().enumerate().filter(|(_, job)| job.verdict == Some(Verdict::Missed));
        let Some((index, job)) = missed.max_by_key(|(_, job)| late(job.worst_found_ns, job.deadline_ns)) else {
            note("--witness: no run was found that misses a deadline, so nothing is written");
            return Ok(());
        };
        let witness = verdicts.witness(index).context("the run found cannot be written as a scenario")?;
        write_witness(path, &witness)?;
        note(&format!("{}: job {} of {} misses its deadline", path.display(), job.job, job.stream));
        Ok(())
    }

    fn write_stream_witness(&self, verdicts: &SporadicVerdicts) -> anyhow::Result<()> {
        let Some(path) = self.search.witness_file() else { return Ok(()) };
        let missed = verdicts.streams.iter().position(|stream| stream.verdict == Some(Verdict::Missed));
        let Some(index) = missed else {
            note("--witness: no run was found that misses a deadline, so nothing is written");
            return Ok(());
        };
        let witness = verdicts.witness(index).context("the run found cannot be written as a scenario")?;
        write_witness(path, &witness)?;
        note(&format!("{}: a job of {} misses its deadline", path.display(), verdicts.streams[index].stream));
        Ok(())
    }
}

/// Of an AMALTHEA model: which of its requirements are met.
fn write_requirements(
    requirements: Option<&[RequirementVerdict]>,
    style: TableStyle,
    out: &mut impl Write,
) -> std::io::Result<()> {
    match requirements.unwrap_or_default() {
        [] => Ok(()),
        requirements => write!(out, "\n{}", requirement_table(requirements, style)),
    }
}

fn verdicts_on(requirements: Option<&[RequirementVerdict]>) -> impl Iterator<Item = Option<Verdict>> {
    requirements.unwrap_or_default().iter().map(|requirement| requirement.verdict)
}

fn steps(analysis: &Analysis<'_>) -> anyhow::Result<Vec<printed::Turn>> {
    let Some(g_max) = analysis.g_max.and_then(NonZeroU32::new) else {
        bail!("--steps: Algorithm 2 is for equal blocks without SM masks only");
    };
    match printed::steps(g_max, &analysis.merged, MOST_STEPS)? {
        Some(steps) => Ok(steps),
        None => bail!("--steps: Algorithm 2 takes more than {MOST_STEPS} steps on this scenario"),
    }
}
