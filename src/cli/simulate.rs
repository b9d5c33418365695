//! `gpusched simulate`

mod together;

use std::cell::OnceCell;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use gpusched::draw::FigureFormat;
use gpusched::gpu::{Ended, GpuOptions};
use gpusched::hosts::{AnyLength, AnyRun, HeldAtMost, LongRun, least_work};
use gpusched::pictures::timeline::Lanes;
use gpusched::pictures::{HtmlTimeline, PerfettoKnown, PerfettoRun, blame_figure, perfetto_trace};
use gpusched::run::{Difference, Summary};
use gpusched::scenario::{Chain, ChainMeasure, HostThread, LogUse, Scenario};
use gpusched::tables::{AskedWaits, BlameTables, ExaminerLog, SimulationReport};
use gpusched::time::{Duration, Instant};

use super::asked::{AskedOptions, Waits};
use super::figure_options::{self, FigureOptions};
use super::output::{self, Format};
use super::progress;
use super::resources::Jobs;
use super::run_files::{HtmlOptions, ResponsesFile, RunnableTimesOption, known_to_perfetto};
use super::run_options::RunOptions;
use super::several::{self, Part};
use super::written::{write_side_by_side, write_together, write_whole};
use super::{Answer, ending, written};
use together::{AsPrograms, Shared};

/// The options that write files and need no record of the run.
const RESPONSES: &str = "--responses";
const BLOCKS_CSV: &str = "--blocks-csv";
const LOGS: &str = "--logs";
/// Needs the record of the part of the run that it shows, if it shows a part.
const FIGURE: &str = "--figure";

/// Need no record of the run by themselves.
const CHECK: &str = "--check";
const BLOCKS: &str = "--blocks";
/// Several scenarios in one run, which is compared with runs of each.
const AS: &str = "--as";

/// Of a run without a record, so many logs are written at once at most: each is an open file.
const MOST_LOGS: usize = 64;

/// What is run, and how its figure is drawn where nobody says more.
struct ToRun {
    scenario: Scenario,
    lanes: Lanes,
    /// The programs that it was joined of.
    shared: Option<Shared>,
}

/// A record of so many bytes is told of before it is made.
const MUCH_MEMORY: u64 = 256 << 20;

/// Blocks above which listing each of them must be asked for twice.
const MANY_BLOCKS: u64 = 10_000_000;

/// Simulate a scenario block by block: when each kernel was launched, why it waited, when it started and finished.
///
/// Several scenarios, or a directory of them, are run one by one, and printed in the order given.
#[derive(Debug, Args)]
#[command(mut_arg("scenario", several::accept))]
pub(crate) struct Simulate {
    #[command(flatten)]
    run: RunOptions,
    #[command(flatten)]
    jobs: Jobs,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Write one log per benchmark into DIR, as `cuda_scheduling_examiner` does
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// Write every block with its SM and times as a table (CSV), which audit, replay-log and convert read as a log
    #[arg(long, value_name = "FILE")]
    blocks_csv: Option<PathBuf>,
    #[command(flatten)]
    runnable_times: RunnableTimesOption,
    /// Write the run as a trace for the Perfetto UI (ui.perfetto.dev) and the tracing page of Chrome
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Write the distribution of response times of jobs, one curve for each stream or host: a picture, or with .csv the
    /// table behind it
    #[arg(long, value_name = "FILE")]
    responses: Option<PathBuf>,
    /// Write logs also where a log name leads out of DIR
    #[arg(long, requires = "logs")]
    allow_log_paths: bool,
    /// Print queues, residents and why each operation waits, after all events of that instant; may be repeated
    #[arg(long, value_name = "T", value_parser = Duration::parse)]
    state_at: Vec<Duration>,
    /// List which rule let which operation go on, and when
    #[arg(long)]
    rules: bool,
    #[command(flatten)]
    asked: AskedOptions,
    /// Run all scenarios together on one GPU, begun at the same time: as processes, as clients of MPS (mps, or
    /// mps=50,50 with their percentages), in green contexts of so many SMs (green=40,40), or as threads of one
    /// process; all compares these (table, JSON and CSV)
    #[arg(long = "as", id = "as", value_name = "HOW", value_parser = AsPrograms::parse)]
    as_programs: Option<AsPrograms>,
    /// Draw who made whom wait: a map with a row for each stream or kernel that waited and a column for each that stood
    /// in the way, and the time of each row by rule
    #[arg(long, value_name = "FILE")]
    blame_figure: Option<PathBuf>,
    /// List every block (JSON and CSV)
    #[arg(long)]
    blocks: bool,
    /// Compare with the result that the scenario file expects, and look at all deadlines and chains; exit status 1 if a
    /// result differs, a job misses its deadline, or a chain is longer than it may be or was not measured
    #[arg(long)]
    check: bool,
    /// Write every single block of more than 10 million (--perfetto: 100 thousand, above which it has kernels by
    /// stream; --html: 200 thousand, of which it merges those that do the same), and replace log files that exist
    #[arg(long)]
    force: bool,
    /// Run again also what repeats: of a long run that comes back to a state in which it was before, sums are
    /// multiplied and rows are those of a cycle so much later otherwise, with the same result
    #[arg(long)]
    no_repeat: bool,
    #[command(flatten)]
    html: HtmlOptions,
    #[command(flatten)]
    figure: FigureOptions,
}

impl Simulate {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let files = self.run.files()?;
        if let Some(how) = &self.as_programs {
            return self.together(&files, how);
        }
        files.refuse_options(&self.files())?;
        self.runnable_times.table()?;
        self.html.file()?;
        // All of them before anything is run: a file that is wrong is found at once, and nothing is printed.
        let scenarios = files.paths.iter().map(|path| {
            let (scenario, lanes) = self.run.read_with_lanes(path, self.log_use())?;
            files.about(path, self.refuse_options(&scenario))?;
            Ok(ToRun { scenario, lanes, shared: None })
        });
        let scenarios: Vec<ToRun> = scenarios.collect::<anyhow::Result<_>>()?;
        files.run(scenarios, self.jobs.threads(), self.format, |scenario, part| self.one(scenario, part))
    }

    fn log_use(&self) -> LogUse {
        match self.logs {
            None => LogUse::Unused,
            Some(_) if self.allow_log_paths => LogUse::Kept,
            Some(_) => LogUse::KeptInside,
        }
    }

    /// Refuses what does not go together, or not with the scenario.
    fn refuse_options(&self, scenario: &Scenario) -> anyhow::Result<()> {
        if self.check
            && scenario.expected.is_none()
            && scenario.threads.iter().all(|thread| thread.deadline().is_none())
            && !has_limited_chains(scenario)
        {
            bail!(
                "--check: the scenario has neither an \"expected\" result to compare with nor a deadline; --deadline \
                 STREAM=TIME gives one"
            );
        }
        RunOptions::instants("--state-at", &self.state_at, scenario)?;
        self.figure.figure(scenario)?;
        self.asked.refuse_unknown(scenario)?;
        self.blame_figure.as_deref().map(FigureFormat::of).transpose().context("--blame-figure")?;
        self.responses.as_deref().map(ResponsesFile::new).transpose()?;
        Ok(())
    }

    fn one(&self, to_run: ToRun, part: &Part<'_>) -> anyhow::Result<Answer> {
        let ToRun { scenario, lanes, shared } = to_run;
        let mut held = HeldAtMost::default();
        if let Some(by) = self.record_needed_by(&scenario) {
            held.whole = usize::MAX;
            tell_of_record(by, &scenario, part)?;
        }
        if self.format == Format::Table || self.blocks {
            // Nobody lists its operations, or not without their blocks.
            held.rows = 0;
        }
        ending::keep_complete_results();
        let run = if self.writes_rows_at_once(part) {
            let mut out = output::stdout_beside();
            let rows = Some((self.format.rows(), &mut out as &mut (dyn Write + Send)));
            let run = progress::simulated_until_stopped(&scenario, held, self.skips_repeats(), rows)?;
            out.flush()?;
            run
        } else {
            progress::simulated_until_stopped(&scenario, held, self.skips_repeats(), None)?
        };
        let answer = self.report_run(&scenario, lanes, &run, shared.as_ref(), part)?;
        part.done_with(run);
        part.done_with(scenario);
        Ok(answer)
    }

    /// What of all that is asked for takes all that is known of a run at once, if something does.
    fn record_needed_by(&self, scenario: &Scenario) -> Option<&'static str> {
        // Of what submits nothing it is the record that has the iterations.
        let names = scenario.examiner.as_ref().map_or(0, |logs| logs.file_names().count());
        let few_logs =
            names <= MOST_LOGS && names == scenario.threads.len() && scenario.threads.iter().all(HostThread::submits);
        let has_part = self.figure.window().is_some() && LongRun::has_parts(scenario);
        let by_pieces = |option: &str| match option {
            LOGS => few_logs,
            FIGURE => has_part,
            option => [RESPONSES, BLOCKS_CSV].contains(&option),
        };
        let needed = [
            ("--check of what is expected", self.check && scenario.expected.is_some()),
            ("what chains take", !scenario.chains.is_empty()),
        ];
        let tables = self.tables().into_iter().filter(|(option, _)| ![CHECK, BLOCKS].contains(option)).chain(needed);
        let files = self.files().into_iter().filter(|(option, _)| !by_pieces(option));
        files.chain(tables).find_map(|(what, is_needed)| is_needed.then_some(what))
    }

    /// The options that tell more of a run, and whether they are given.
    fn tables(&self) -> [(&'static str, bool); 8] {
        let [blame, critical_path, overlap] = self.asked.given();
        [
            ("--rules", self.rules),
            blame,
            critical_path,
            overlap,
            (AS, self.as_programs.is_some()),
            ("--state-at", !self.state_at.is_empty()),
            (CHECK, self.check),
            (BLOCKS, self.blocks),
        ]
    }

    /// Whether what repeats is not run again. Who lists all rows cannot be ended by limits once that has begun; where
    /// there are any, all of it runs before, which can be.
    fn skips_repeats(&self) -> bool {
        let lists_all = self.format != Format::Table || self.logs.is_some() || self.blocks_csv.is_some();
        !(self.no_repeat || lists_all && ending::is_limited())
    }

    /// Whether the rows of a long run leave while it goes on, before it is known that it ends well. Where there are
    /// limits, or files beside them, all of it runs before.
    fn writes_rows_at_once(&self, part: &Part<'_>) -> bool {
        let is_table = matches!(self.format, Format::Csv | Format::Arrow) && !self.blocks;
        let has_files = self.files().into_iter().any(|(_, is_given)| is_given);
        is_table && !has_files && part.is_alone() && !ending::is_limited() && !io::stdout().is_terminal()
    }

    fn report_run(
        &self,
        scenario: &Scenario,
        lanes: Lanes,
        run: &AnyLength<'_>,
        shared: Option<&Shared>,
        part: &Part<'_>,
    ) -> anyhow::Result<Answer> {
        let told = AnyRun::from(run);
        self.refuse_too_many_blocks(told.blocks())?;
        let is_cut = told.ended() == Ended::Cut;
        let waits = if is_cut { None } else { ending::unless_stopped(|| self.waits(told))?.transpose()? };
        ending::stop_working()?;
        let Some(waits) = waits else {
            if !is_cut {
                part.note("what waited for what was not found out before that");
            }
            return self.report_cut_run(run, part);
        };
        if let Some(path) = self.responses.as_deref() {
            ResponsesFile::new(path)?.write(scenario, told.responses())?;
        }
        if let Some(directory) = &self.logs {
            self.write_logs(directory, scenario, run)?;
        }
        let mut differences = None;
        match run {
            AnyLength::Recorded(run) => {
                let summary = Summary::of(run);
                self.write_files(&summary, lanes, &waits.blame)?;
                // Before anything is printed, so that a comparison that cannot be made leaves no half of an answer.
                differences = self.check.then(|| summary.differences()).transpose()?;
            }
            AnyLength::Long(run) => {
                if let Some((figure, window)) = self.figure.figure(scenario)?.zip(self.figure.window()) {
                    figure.write(&Summary::of(&run.part(window)), lanes)?;
                }
            }
        }
        if let Some(path) = &self.blocks_csv {
            write_whole(path, |out| told.write_blocks(out))?;
        }
        let out = part.turn()?;
        output::show_abridged(told.notes(), |text| part.note(text));
        let states = self.states();
        if !self.is_written(run, part) {
            let together = shared.zip(told.record()).map(|(shared, summary)| shared.times(&summary));
            let report = SimulationReport { together: together.as_ref(), ..self.report(told, &states, waits.asked()) };
            part.print(&report, out)?;
        }
        if !self.check {
            return Ok(Answer::Done);
        }
        let as_expected = check(scenario, &differences.unwrap_or_default(), part);
        let chains = told.record().map(|summary| summary.chains()).unwrap_or_default();
        // A run that ends before anything is measured does not say that it is in time.
        if told.misses() > 0 || chains.iter().any(|chain| chain.misses > 0 || chain.is_unmeasured()) {
            return Ok(Answer::No);
        }
        if scenario.threads.iter().any(|thread| thread.deadline().is_some()) {
            part.note("no job misses its deadline in this run; gpusched analyze says it of all runs");
        }
        if chains.iter().any(|chain| chain.limit.is_some()) {
            part.note("no chain is longer than it may be in this run; gpusched analyze says it of all runs");
        }
        Ok(as_expected)
    }

    /// Whether all that is printed of a run was written while it went on.
    fn is_written(&self, run: &AnyLength<'_>, part: &Part<'_>) -> bool {
        matches!(run, AnyLength::Long(_)) && self.writes_rows_at_once(part)
    }

    /// Prints how far a run came that was stopped. Files would look like those of a whole run, and are not written.
    fn report_cut_run(&self, run: &AnyLength<'_>, part: &Part<'_>) -> anyhow::Result<Answer> {
        let is_written = self.is_written(run, part);
        let (out, run) = (part.turn()?, AnyRun::from(run));
        for text in run.notes() {
            part.note(&text);
        }
        let is_given = self.files().into_iter().filter(|(_, is_given)| *is_given);
        for (option, _) in is_given {
            part.note(&format!("{option}: nothing is written of a run that was stopped"));
        }
        if is_written {
            return Ok(Answer::Done);
        }
        let (states, waits) = (self.states(), self.asked.none());
        let mut report = self.report(run, &states, waits.asked());
        let is_quick = self.format != Format::Table && run.ended() == Ended::Cut;
        report.waits.blame = report.waits.blame.filter(|_| is_quick);
        part.print(&report, out)?;
        Ok(Answer::Done)
    }

    fn report<'a>(&self, run: AnyRun<'a>, states: &'a [Instant], waits: AskedWaits<'a>) -> SimulationReport<'a> {
        let (blocks, rules) = (self.blocks, self.rules);
        SimulationReport { blocks, rules, waits, states, ..SimulationReport::of(run) }
    }

    /// Who made whom wait, and what took the time, as far as it is asked for.
    fn waits(&self, run: AnyRun<'_>) -> anyhow::Result<Waits> {
        let needs_blame = self.blame_figure.is_some();
        run.record().map_or_else(|| Ok(self.asked.none()), |summary| self.asked.answers(&summary, needs_blame))
    }

    fn states(&self) -> Vec<Instant> {
        self.state_at.iter().map(|&at| Instant::ZERO + at).collect()
    }

    /// The options that write files, and whether they are given.
    fn files(&self) -> [(&'static str, bool); 8] {
        [
            (LOGS, self.logs.is_some()),
            (BLOCKS_CSV, self.blocks_csv.is_some()),
            ("--runnable-times", self.runnable_times.is_given()),
            ("--perfetto", self.perfetto.is_some()),
            (RESPONSES, self.responses.is_some()),
            ("--blame-figure", self.blame_figure.is_some()),
            ("--html", self.html.is_given()),
            (FIGURE, self.figure.is_given()),
        ]
    }

    fn write_files(&self, summary: &Summary<'_>, lanes: Lanes, blame: &OnceCell<BlameTables>) -> anyhow::Result<()> {
        if let Some(figure) = self.figure.figure(summary.scenario)? {
            figure.write(summary, lanes)?;
        }
        if let Some(html) = self.html.file()? {
            html.write(HtmlTimeline::new(*summary), self.force)?;
        }
        if let Some(path) = &self.blame_figure {
            figure_options::write_figure(
                path,
                &blame_figure(summary, blame.get_or_init(|| BlameTables::new(summary))),
            )?;
        }
        if let Some(table) = self.runnable_times.table()? {
            table.write(summary, None)?;
        }
        if let Some(path) = &self.perfetto {
            let known = if self.force { PerfettoKnown::Everything } else { known_to_perfetto(summary, lanes) };
            let run = PerfettoRun { summary: *summary, label: "", known };
            write_whole(path, |out| perfetto_trace(&[run], out))?;
        }
        Ok(())
    }

    fn refuse_too_many_blocks(&self, blocks: u64) -> anyhow::Result<()> {
        if self.force || !(self.blocks || self.logs.is_some() || self.blocks_csv.is_some()) {
            return Ok(());
        }
        if blocks > MANY_BLOCKS {
            bail!("--blocks, --blocks-csv and --logs would write each of {blocks} blocks; --force does it");
        }
        Ok(())
    }

    fn write_logs(&self, directory: &Path, scenario: &Scenario, run: &AnyLength<'_>) -> anyhow::Result<()> {
        let Some(logs) = &scenario.examiner else {
            bail!("--logs: only scenarios in cuda_scheduling_examiner's format have logs");
        };
        let paths: Vec<PathBuf> = logs.file_names().map(|name| directory.join(name)).collect();
        if let Some(existing) = paths.iter().find(|path| path.exists() && !self.force) {
            bail!("{} exists; --force replaces it", existing.display());
        }
        if let Some(input) = paths.iter().find(|path| written::are_one(path, self.run.path())) {
            bail!("--logs: {} is the scenario itself; logs need names of their own", input.display());
        }
        for path in &paths {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
            }
        }
        match run {
            AnyLength::Recorded(run) => {
                let logs = ExaminerLog::all_of(&Summary::of(run));
                write_together(&logs, |log| directory.join(log.file_name()), |log, out| log.write(out))
            }
            AnyLength::Long(run) => write_side_by_side(&paths, |outs| ExaminerLog::write_all(run, outs)),
        }
    }
}

/// Says what the record of a run takes that something needs, where it is known to be much; refuses it where it is known
/// to be more than there may be.
fn tell_of_record(by: &str, scenario: &Scenario, part: &Part<'_>) -> anyhow::Result<()> {
    let (operations, bytes) = least_work(scenario);
    // More than a run may have is refused by whoever runs it.
    if operations > u64::from(GpuOptions::default().max_operations) {
        return Ok(());
    }
    ending::refuse_beyond_memory(bytes, || format!("{by}: the record of {operations} operations takes"))?;
    if bytes >= MUCH_MEMORY {
        part.note(&format!(
            "{by} needs the record of the whole run: {operations} operations or more, which take at least {} MiB of memory",
            bytes >> 20
        ));
    }
    Ok(())
}

/// Whether the scenario says of a chain how long it may be.
fn has_limited_chains(scenario: &Scenario) -> bool {
    let is_limited = |chain: &Chain| ChainMeasure::ALL.into_iter().any(|measure| chain.limit(measure).is_some());
    scenario.chains.iter().any(is_limited)
}

/// Tells how the run differs from what the scenario file expects.
fn check(scenario: &Scenario, differences: &[Difference], part: &Part<'_>) -> Answer {
    for difference in differences {
        part.note(&difference.to_string());
    }
    if !differences.is_empty() {
        return Answer::No;
    }
    if let Some(expected) = &scenario.expected {
        part.note(&format!("as expected ({})", expected.source));
    }
    Answer::Done
}
