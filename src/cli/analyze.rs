//! `gpusched analyze`, and its options of the search for runs that miss deadlines.

mod largest_grid;
mod safety;

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, bail};
use clap::Args;
use gpusched::amalthea::ModelDemands;
use gpusched::analysis::{
    BlockTimes, BoundOptions, Certificate, ProgressVerdict, RequirementVerdict, Verdict, analyse_and_bound,
    judge_progress,
};
use gpusched::effort::{self, Progress};
use gpusched::hosts::least_work;
use gpusched::pictures::sensitivity_chart;
use gpusched::run::Summary;
use gpusched::scenario::{ReleaseOrder, Scenario};
use gpusched::tables::{AnalysisReport, JobSetReport, LadderReport, ProgressReport, SporadicReport};
use gpusched::time::Duration;

use super::figure_options::{self, Look};
use super::needs::{self, Kind, Lacking};
use super::option_arguments::one_of;
use super::output::{self, Format, note};
use super::progress::{self, Unit};
use super::resources::Jobs;
use super::run_files::RunnableTimesOption;
use super::run_options::RunOptions;
use super::several::{self, Part};
use super::written::{write_bytes, write_whole};
use super::{Answer, ending, input};
use largest_grid::LargestGridOptions;
use safety::SafetyOptions;

/// Operations whose simulation takes some milliseconds.
const MANY_OPERATIONS: u64 = 4_096;

fn parse_jitter(text: &str) -> Result<(String, Duration), String> {
    let (stream, time) = text.rsplit_once('=').ok_or("expected STREAM=TIME, for example camera=40ms")?;
    Duration::parse(time).map(|time| (stream.to_owned(), time)).map_err(|error| error.to_string())
}

/// Is each deadline met, at worst? Proven (the bound meets it), missed (a run was found that misses it), or open.
///
/// A job is all that one release of a stream or one iteration of a host does, copies included. Its bound holds for
/// every placement, for blocks that run shorter than stated and for any order of releases at one instant (see --order);
/// bad runs are searched among the same. Beside it stand the finish times of the thesis' response-time analysis on one
/// merged SM, with releases in the declared order, and whether they are exact.
///
/// Several scenarios, or a directory of them, are analysed one by one. A set of jobs on processors, as a CSV file of
/// np-schedulability-analysis, is analysed as such.
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
    /// Judge each deadline under weaker and stronger assumptions, from unknown releases to the scenario's own run: what
    /// would have to be guaranteed for it. The time of --search is shared among them
    #[arg(long, conflicts_with_all = ["steps", "sporadic", "verdicts_alone", "order", "witness", "check"])]
    ladder: bool,
    /// Judge in place of deadlines whether kernels that wait on the GPU for one another can stand still (docs/hang.md),
    /// whatever the times: cannot hang, hangs (with the run), or open. --witness FILE writes that run as a scenario;
    /// --check asks that none can hang
    #[arg(long, conflicts_with_all = ["steps", "sporadic", "verdicts_alone", "ladder", "slack", "sensitivity", "order", "certificate", "time", "deadline", "runnable_times"])]
    progress: bool,
    #[command(flatten)]
    largest_grid: LargestGridOptions,
    /// Also search, for each stream and host with a deadline, the slack: how much longer all its blocks, copies and CPU
    /// work may take while all that is proven stays proven; and how much shorter they have to be where its jobs are not
    #[arg(long, conflicts_with_all = ["sporadic", "ladder"])]
    slack: bool,
    /// Also search by which factor, up to 8, the time of each kernel, the copies of each stream, the CPU work of each
    /// host, each task and all together may grow while all that is proven stays proven, and what breaks first; and
    /// which is to shrink, down to 0.01, for what is not proven. CSV has these rows. --max-time and Ctrl-C end it with
    /// what is found by then
    #[arg(long, conflicts_with_all = ["sporadic", "ladder"])]
    sensitivity: bool,
    /// Draw what --sensitivity finds: for each time a bar from x1 to its factor, the smallest first [.svg, .png, .tex
    /// or .pdf]
    #[arg(long, value_name = "FILE", requires = "sensitivity", conflicts_with_all = ["sporadic", "ladder", "progress"], help_heading = "Figure")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    look: Look,
    /// Take releases as unknown: jobs of a stream arrive at any times at least a period apart
    #[arg(long, conflicts_with = "steps")]
    sporadic: bool,
    /// How much later than its arrival a job of STREAM may be released, in place of what the input says; may be
    /// repeated
    #[arg(long, value_name = "STREAM=TIME", value_parser = parse_jitter)]
    jitter: Vec<(String, Duration)>,
    /// For which order of releases at one instant verdicts are to hold: any, or the one in which the file declares its
    /// streams and hosts, which is what a simulation takes [default: the scenario's, or any]
    #[arg(long, value_name = "ORDER", value_parser = one_of(ReleaseOrder::ALL, ReleaseOrder::name))]
    order: Option<ReleaseOrder>,
    #[command(flatten)]
    search: Search,
    /// Write what the proven checker of proofs/ needs to see of each proven verdict that it is, or why it cannot
    #[arg(long, value_name = "FILE", conflicts_with = "ladder")]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    safety: SafetyOptions,
    #[command(flatten)]
    runnable_times: RunnableTimesOption,
    /// Processors on which a set of jobs runs, a CSV file of np-schedulability-analysis
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_024))]
    processors: u32,
    /// CSV file that says which jobs of a set have to be done before others begin
    #[arg(long, value_name = "FILE")]
    precedence: Option<PathBuf>,
    /// Exit status 1 unless every deadline, every limit of a chain and every requirement of a model is proven to be met
    #[arg(long)]
    check: bool,
    /// Let --check pass over requirements and event chains of a model that are not checked
    #[arg(long)]
    allow_unchecked: bool,
}

impl Analyze {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        if let Some(answer) = self.job_sets()? {
            return Ok(answer);
        }
        let runnable_times = self.runnable_times.table()?;
        if self.sporadic && runnable_times.is_some() {
            bail!("--runnable-times is about given releases: leave out --sporadic");
        }
        if self.ladder && runnable_times.is_some() {
            bail!("--runnable-times is about one run: leave out --ladder");
        }
        let stated = self.run.stated_block_times()?;
        let block_times = if stated.is_some() { BlockTimes::AsStated } else { BlockTimes::UpToStated };
        if stated.is_some() && (self.sporadic || self.ladder) {
            bail!("--block-times {{stated, BEST..WORST}} is about given releases: leave out --sporadic and --ladder");
        }
        if stated.is_some() && self.progress {
            bail!("--progress holds whatever blocks take: leave out --block-times {{stated, BEST..WORST}}");
        }
        if stated.is_some() && (self.slack || self.sensitivity) {
            let option = if self.slack { "--slack" } else { "--sensitivity" };
            bail!(
                "{option} holds for blocks that take any shorter time: leave out --block-times {{stated, BEST..WORST}}"
            );
        }
        let run = stated.as_ref().unwrap_or(&self.run);
        let files = run.files()?;
        files.refuse_options(&[
            ("--runnable-times", runnable_times.is_some()),
            ("--witness", self.search.witness.as_deref().is_some()),
            ("--certificate", self.certificate.is_some()),
            ("--report", self.safety.is_given()),
            ("--figure", self.figure.is_some()),
        ])?;
        figure_options::refuse_other_figure(self.figure.as_deref())?;
        if self.largest_grid.is_given() {
            let scenarios = files.paths.iter().map(|path| run.read_before_changes(path));
            let scenarios = scenarios.collect::<anyhow::Result<_>>()?;
            return files.run(scenarios, 1, self.format, |scenario, part| self.largest_grid.run(&scenario, part));
        }
        let scenarios = files.paths.iter().map(|path| run.read_with_demands(path));
        let mut scenarios: Vec<_> = scenarios.collect::<anyhow::Result<_>>()?;
        if let Some(order) = self.order {
            for (scenario, _) in &mut scenarios {
                scenario.release_order = order;
            }
        }
        // The threads share each search.
        files.run(scenarios, 1, self.format, |(scenario, demands), part| {
            let answer = match (self.ladder, self.sporadic) {
                _ if self.progress => self.progress(&scenario, part),
                (true, _) => self.ladder(&scenario, demands.as_ref(), part),
                (_, true) => self.sporadic(&scenario, demands.as_ref(), part),
                _ => self.one((&scenario, block_times), demands.as_ref(), part),
            }?;
            part.done_with(scenario);
            Ok(answer)
        })
    }

    /// What comes of sets of jobs, if that is what is given.
    fn job_sets(&self) -> anyhow::Result<Option<Answer>> {
        let files = self.run.files()?;
        let is_csv = |path: &&PathBuf| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        let mut sets = Vec::new();
        for path in files.paths.iter().filter(is_csv) {
            let (name, text) = input::read(path)?;
            if JobSetReport::is_claimed_by(&text) {
                needs::input(Kind::Jobs, &name)?;
                sets.push((name, text));
            }
        }
        if sets.is_empty() {
            return Ok(None);
        }
        if sets.len() < files.paths.len() {
            bail!("{} is a set of jobs, and others are not: analyse each kind by itself", sets[0].0);
        }
        if self.run.stated_block_times()?.is_some() {
            bail!("--block-times is about blocks: a set of jobs states what each takes at least");
        }
        files.refuse_options(&[("--precedence", self.precedence.is_some())])?;
        let precedence = self.precedence.as_deref().map(input::read).transpose()?;
        let precedence = precedence.as_ref().map(|(name, text)| (&**name, &**text));
        let answer = files.run(sets, 1, self.format, |(name, text), part| {
            let set = JobSetReport::read((&name, &text), precedence, self.processors)?;
            progress::begin("analysing", Unit::None, None);
            let report = set.judged()?;
            ending::stop_working()?;
            let is_proven = report.verdicts().all(|verdict| verdict == Verdict::Proven);
            let out = part.turn()?;
            part.print(&report, out)?;
            Ok(if self.check && !is_proven { Answer::No } else { Answer::Done })
        });
        answer.map(Some)
    }

    fn one(
        &self,
        (scenario, block_times): (&Scenario, BlockTimes),
        demands: Option<&ModelDemands>,
        part: &Part<'_>,
    ) -> anyhow::Result<Answer> {
        let simulate = || {
            let run = progress::simulated(scenario, false, |text| part.note(text))?;
            progress::begin("analysing", Unit::None, None);
            // Bounds that are known when the command is stopped are told.
            ending::keep_complete_results();
            anyhow::Ok(run)
        };
        let analyse = || analyse_and_bound(scenario, BoundOptions { block_times, ..BoundOptions::of(scenario) });
        // What is limited is limited on one thread.
        let is_beside = self.search.jobs.threads() > 1 && !ending::is_limited() && is_worth_threads(scenario);
        let (run, analysed) = if is_beside {
            let here = effort::here();
            ending::keep_complete_results();
            thread::scope(|scope| {
                let beside = thread::Builder::new().spawn_scoped(scope, || here.within(simulate));
                // The system may have no thread for it.
                let Ok(simulating) = beside else { return Ok((simulate()?, analyse()?)) };
                let analysed = analyse();
                let run = simulating.join().unwrap_or_else(|panic| resume_unwind(panic))?;
                anyhow::Ok((run, analysed?))
            })?
        } else {
            (simulate()?, analyse()?)
        };
        let operations = self.certificate.is_some().then(|| analysed.1.operations.clone());
        let steps = self.steps.then(|| analysed.0.printed_steps()).transpose().context("--steps")?;
        let search = |watch: Progress<'_>| AnalysisReport::judged(analysed, &run, demands, self.search.time, watch);
        let mut report = self.search.watched(search)??;
        (report.steps, report.verdicts_alone) = (steps, self.verdicts_alone);
        if self.slack {
            let search = |watch: Progress<'_>| report.find_slack(demands, watch);
            progress::counted("searching slack", Unit::Of("growths"), None, search)?;
            ending::stop_working()?;
        }
        if self.sensitivity {
            ending::keep_complete_results();
            let search = |watch: Progress<'_>| report.find_sensitivity(demands, watch);
            progress::counted("searching sensitivity", Unit::Of("growths"), None, search)?;
            ending::stop_working()?;
        }
        if let Some(table) = self.runnable_times.table()? {
            table.write(&Summary::of(&run), Some(&report.analysis))?;
        }
        // Nothing below looks at what happened, which is large.
        drop(run);
        let chains = report.chains.rows.iter().map(|row| row.verdict);
        let judged = report.verdicts.jobs.iter().map(|job| job.verdict).chain(chains);
        let note = |text: &str| part.note(text);
        let (answer, unchecked) = self.answer(judged, report.requirements.as_deref(), demands)?;
        let out = part.turn()?;
        if let Some(text) = &unchecked {
            note(text);
        }
        if matches!(self.format, Format::Csv | Format::Arrow) && !self.verdicts_alone && !self.sensitivity {
            output::show_abridged(&needs::lacking(Lacking::Verdicts)?, note);
        }
        self.note_assumptions(scenario, part);
        if self.verdicts_alone {
            output::show_abridged(report.notes_on_verdicts(), note);
        } else {
            output::show_abridged(&report.analysis.notes, note);
        }
        let verdicts = &report.verdicts;
        match (verdicts.latest_miss(), report.chains.first_miss()) {
            (None, Some(number)) => {
                let row = &report.chains.rows[number];
                let (measure, jobs) = (row.measure.name(), row.jobs.as_deref().unwrap_or_default());
                let miss = format!("the {measure} of {} is too long, by {jobs}", row.chain);
                self.write_witness(Some(()), LATE, |()| (report.chains.witness(number, scenario, verdicts), miss))?;
            }
            (miss, _) => self.write_witness(miss, LATE, |number| {
                let job = &verdicts.jobs[number];
                (verdicts.witness(number), format!("job {} of {} misses its deadline", job.job, job.stream))
            })?,
        }
        let certificate = self.certificate.as_deref().zip(operations).map(|(path, operations)| {
            let certificate = Certificate::new(&report.analysis, &operations, &verdicts.jobs, &report.chains.rows);
            write_certificate(path, &certificate, note).map(|()| (path, certificate))
        });
        let certificate = certificate.transpose()?;
        let certificate = certificate.as_ref().map(|(path, certificate)| (*path, certificate));
        self.safety.write(&report, demands, certificate, note)?;
        if let Some(path) = &self.figure {
            match sensitivity_chart(&report, self.look.options()) {
                Some(figure) => figure_options::write_figure(path, &figure)?,
                None => note(&format!("--figure: nothing is proven, so {} is not written", path.display())),
            }
        }
        part.print(&report, out)?;
        part.done_with(report);
        Ok(answer)
    }

    fn ladder(&self, scenario: &Scenario, demands: Option<&ModelDemands>, part: &Part<'_>) -> anyhow::Result<Answer> {
        let search = |watch: Progress<'_>| LadderReport::of(scenario, demands, self.search.time, watch);
        let report = self.search.watched(search)??;
        if report.ladder.rows.is_empty() {
            bail!("--ladder: no job has a deadline; --deadline STREAM=TIME gives one");
        }
        let out = part.turn()?;
        output::show_abridged(&report.ladder.notes, |text| part.note(text));
        self.note_assumptions(scenario, part);
        part.print(&report, out)?;
        Ok(Answer::Done)
    }

    fn progress(&self, scenario: &Scenario, part: &Part<'_>) -> anyhow::Result<Answer> {
        let report = ProgressReport(judge_progress(scenario));
        ending::stop_working()?;
        let out = part.turn()?;
        output::show_abridged(&scenario.notes, |text| part.note(text));
        let hanging = report.0.hanging.as_ref();
        self.write_witness(hanging, "stands still", |run| (Some(run.scenario.clone()), "nothing goes on".to_owned()))?;
        part.print(&report, out)?;
        let hangs = report.0.verdict() != ProgressVerdict::CannotHang;
        Ok(if self.check && hangs { Answer::No } else { Answer::Done })
    }

    fn sporadic(&self, scenario: &Scenario, demands: Option<&ModelDemands>, part: &Part<'_>) -> anyhow::Result<Answer> {
        let jitter = SporadicReport::jitter_of_threads(scenario, self.jitter()?);
        let jitter = jitter.map_err(anyhow::Error::msg).context("--jitter")?;
        let search = |watch: Progress<'_>| SporadicReport::of(scenario, &jitter, demands, self.search.time, watch);
        let report = self.search.watched(search)??;
        let SporadicReport { verdicts, requirements, notes, .. } = &report;
        let chains = report.chains.rows.iter().map(|row| row.verdict);
        let judged = verdicts.streams.iter().map(|stream| stream.verdict).chain(chains);
        let (answer, unchecked) = self.answer(judged, requirements.as_deref(), demands)?;
        let out = part.turn()?;
        if let Some(text) = &unchecked {
            part.note(text);
        }
        output::show_abridged(notes, |text| part.note(text));
        self.note_assumptions(scenario, part);
        self.write_witness(verdicts.latest_miss(), LATE, |number| {
            (verdicts.witness(number), format!("a job of {} misses its deadline", verdicts.streams[number].stream))
        })?;
        if let Some(path) = &self.certificate {
            let certificate = Certificate::of_sporadic(scenario, &verdicts.streams, &report.chains.rows);
            write_certificate(path, &certificate, |text| part.note(text))?;
        }
        part.print(&report, out)?;
        Ok(answer)
    }

    /// Names what verdicts rest on where rows have no place for it.
    fn note_assumptions(&self, scenario: &Scenario, part: &Part<'_>) {
        let said = scenario.proven_under().filter(|_| matches!(self.format, Format::Csv | Format::Arrow));
        if let Some(text) = said {
            part.note(&text);
        }
    }

    /// The jitter of each stream, which is given once.
    fn jitter(&self) -> anyhow::Result<BTreeMap<String, Duration>> {
        let mut jitter = BTreeMap::new();
        for (stream, time) in &self.jitter {
            if jitter.insert(stream.clone(), *time).is_some() {
                bail!("--jitter is given twice for {stream:?}");
            }
        }
        Ok(jitter)
    }

    /// What `--check` comes to, and what it leaves unchecked; refused where there is nothing to check.
    fn answer(
        &self,
        jobs: impl Iterator<Item = Option<Verdict>>,
        requirements: Option<&[RequirementVerdict]>,
        demands: Option<&ModelDemands>,
    ) -> anyhow::Result<(Answer, Option<String>)> {
        let of_model: Vec<Option<Verdict>> = requirements.unwrap_or_default().iter().map(|one| one.verdict).collect();
        let judged: Vec<Verdict> = jobs.chain(of_model.iter().copied()).flatten().collect();
        if !self.check {
            return Ok((Answer::Done, None));
        }
        if judged.is_empty() {
            bail!("--check: no job has a deadline to check, and no chain a limit; --deadline STREAM=TIME gives one");
        }
        let unchecked = of_model.iter().filter(|verdict| verdict.is_none()).count();
        let chains = demands.map_or(0, |demands| demands.unjudged_chains);
        let requirements = (unchecked > 0).then(|| {
            let all = of_model.len();
            format!(
                "{unchecked} of {all} requirements of the model are not checked, as nothing of them runs on the GPU"
            )
        });
        let chains = (chains > 0).then(|| format!("latency constraints of event chains are not checked ({chains})"));
        let unchecked: Vec<String> = requirements.into_iter().chain(chains).collect();
        let unchecked = (!unchecked.is_empty() && !self.allow_unchecked)
            .then(|| format!("--check: {}; --allow-unchecked passes over them", unchecked.join("; ")));
        let all_proven = judged.iter().all(|verdict| *verdict == Verdict::Proven);
        let answer = if all_proven && unchecked.is_none() { Answer::Done } else { Answer::No };
        Ok((answer, unchecked))
    }

    /// Writes a run that was found, if there is one `that` is looked for; `describe` gives it and what happens in it.
    fn write_witness<M>(
        &self,
        found: Option<M>,
        that: &str,
        describe: impl FnOnce(M) -> (Option<Scenario>, String),
    ) -> anyhow::Result<()> {
        let Some(path) = self.search.witness.as_deref() else { return Ok(()) };
        let Some((witness, what)) = found.map(describe) else {
            note(&format!("--witness: no run was found that {that}, so {} is not written", path.display()));
            return Ok(());
        };
        let witness = witness.context("the run found cannot be written as a scenario")?;
        write_bytes(path, witness.to_native_json()?.as_bytes())?;
        note(&format!("{0} has a run in which {what}; gpusched simulate {0} shows it", path.display()));
        Ok(())
    }
}

/// What a witness does.
const LATE: &str = "misses a deadline";

/// Whether a run takes longer than it takes to start a thread for it.
fn is_worth_threads(scenario: &Scenario) -> bool {
    least_work(scenario).0 >= MANY_OPERATIONS
}

/// Writes what the proven checker needs, and notes what has no certificate.
fn write_certificate(path: &Path, certificate: &Certificate, note: impl Fn(&str)) -> anyhow::Result<()> {
    output::show_abridged(certificate.notes(), &note);
    write_whole(path, |out| Ok(serde_json::to_writer_pretty(out, certificate)?))?;
    note(&format!("{} has certificates of {} verdicts", path.display(), certificate.proven()));
    Ok(())
}

/// For how long to look for bad runs, and where to put the worst.
#[derive(Debug, Args)]
struct Search {
    /// Look for runs with long responses for this long [default: some hundred runs; of more than 100,000 operations
    /// without a deadline only the scenario's own]
    #[arg(long = "search", value_name = "TIME", value_parser = Duration::parse)]
    time: Option<Duration>,
    /// Write a witness: of the runs found that miss a deadline the one that is latest, as a scenario of which `gpusched
    /// simulate FILE` shows how it comes to that; nothing is written if no run misses one
    #[arg(long, value_name = "FILE")]
    witness: Option<PathBuf>,
    #[command(flatten)]
    jobs: Jobs,
}

impl Search {
    /// Runs `work` on the threads asked for, with progress on a terminal; Ctrl-C ends the search, and what was found
    /// by then counts.
    fn watched<T>(&self, work: impl FnOnce(Progress<'_>) -> T) -> anyhow::Result<T> {
        ending::keep_complete_results();
        self.jobs.share()?;
        let answer = progress::counted("searching bad runs", Unit::Of("runs"), None, work);
        ending::stop_working()?;
        Ok(answer)
    }
}
