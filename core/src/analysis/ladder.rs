//! What would have to be guaranteed for each deadline: verdicts under weaker and stronger assumptions
//! (`docs/analysis.md`, "What would have to be guaranteed?").

use super::compare::AnalysisError;
use super::finish_bounds::finish_bounds;
use super::prepared::{Repeats, shown};
use super::safe_bound::{BlockTimes, BoundOptions};
use super::search::{SearchOptions, search_known};
use super::sporadic::judge_sporadic;
use super::verdict::{JobVerdict, Verdict, judge_known};
use crate::broken_bound::BrokenBound;
use crate::effort::Progress;
use crate::hosts::simulate_in_brief;
use crate::named::named;
use crate::run::{DeadlineOutcome, Jobs, Run};
use crate::scenario::{ReleaseOrder, Scenario};
use crate::time::{Duration, Instant, is_in_time};
use crate::workload::Placement;

named! {
    /// What is assumed, the weakest first. Every work-conserving placement is among the runs of all but the last.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Rung: ALL, from_name, words {
        /// Jobs come a period or more apart, each released up to its jitter later, in any phasing.
        Sporadic = "sporadic",
        /// Jobs come when the scenario says, each released up to its jitter later.
        Jitter = "jitter",
        /// Releases are exactly those stated, without jitter; blocks and copies take any time up to what is stated.
        Given = "given",
        /// As given, and blocks take no less than their shortest time, copies just what is stated.
        StatedTimes = "stated-times",
        /// As given, and releases of one instant come in the order of the file.
        DeclaredOrder = "declared-order",
        /// As given, with stated times and the declared order.
        OrderAndTimes = "order-and-times",
        /// The scenario's own run, without jitter: releases, times, order and placement are what a simulation takes.
        Run = "run",
    }
}

impl Rung {
    /// What bounds and search hold for, of those under which releases are given or late by their jitter only.
    fn options(self) -> BoundOptions {
        let block_times = match self {
            Self::StatedTimes | Self::OrderAndTimes => BlockTimes::AsStated,
            _ => BlockTimes::UpToStated,
        };
        let order = match self {
            Self::DeclaredOrder | Self::OrderAndTimes => ReleaseOrder::Declared,
            _ => ReleaseOrder::Any,
        };
        BoundOptions { block_times, order }
    }

    /// Whether all runs under `other` are among those under this; `late` says whether anything states a jitter.
    fn covers(self, other: Self, late: bool) -> bool {
        let step = |other: Self| matches!(other, Self::OrderAndTimes | Self::Run);
        match self {
            Self::Sporadic => true,
            Self::Jitter => other != Self::Sporadic,
            Self::Given => !matches!(other, Self::Sporadic | Self::Jitter) || other == Self::Jitter && !late,
            Self::StatedTimes | Self::DeclaredOrder => self == other || step(other),
            Self::OrderAndTimes => step(other),
            Self::Run => other == Self::Run,
        }
    }
}

/// What is known of a thread's deadline under an assumption: of this and of what follows from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RungVerdict {
    /// What is assumed.
    pub assumption: Rung,
    /// The longest response of a job in any run that was simulated. Of a job of the scenario's own run that has not
    /// finished, what it takes at least.
    pub worst_found_ns: Option<Duration>,
    /// No job takes longer; `None`: no bound is known.
    pub bound_ns: Option<Duration>,
    /// Of all jobs of the thread together.
    pub verdict: Verdict,
}

/// A deadline and what is known of it under each assumption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LadderRow {
    /// Label of the host thread.
    pub stream: String,
    /// Counted from the release; where there is a jitter, from the arrival.
    pub deadline_ns: Duration,
    /// The weakest assumption under which it is met, by the order of [`Rung::ALL`]; `None`: under none.
    pub proven_under: Option<Rung>,
    /// In the order of [`Rung::ALL`].
    pub under: [RungVerdict; Rung::ALL.len()],
}

impl LadderRow {
    /// What is known under an assumption.
    pub const fn under(&self, rung: Rung) -> &RungVerdict {
        &self.under[rung as usize]
    }
}

/// The deadlines of a scenario under weaker and stronger assumptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    /// By host thread as declared: those that have a deadline.
    pub rows: Vec<LadderRow>,
    /// Runs that were simulated.
    pub runs: u64,
    /// What the user should know, with the assumptions that it is about.
    pub notes: Vec<String>,
}

/// The longest response found, and the bound.
#[derive(Debug, Clone, Copy, Default)]
struct ResponseRange {
    found: Option<Duration>,
    bound: Option<Duration>,
}

/// What is known of one thread, by rung.
#[derive(Debug, Clone, Copy)]
struct Rungs {
    deadline: Option<Duration>,
    late: bool,
    known: [ResponseRange; Rung::ALL.len()],
}

impl Rungs {
    /// Enters what is known under an assumption, and what follows: what was found is among more runs, and a bound holds
    /// of fewer.
    fn enter(&mut self, rung: Rung, what: ResponseRange) {
        for (other, known) in Rung::ALL.into_iter().zip(&mut self.known) {
            if other.covers(rung, self.late) {
                known.found = known.found.max(what.found);
            }
            if rung.covers(other, self.late) {
                known.bound = known.bound.into_iter().chain(what.bound).min();
            }
        }
    }

    fn is_open(&self, rung: Rung) -> bool {
        let ResponseRange { found, bound } = self.known[rung as usize];
        self.deadline.is_some_and(|deadline| Verdict::new(found, bound, deadline) == Verdict::Open)
    }

    fn row(&self, stream: &str) -> Option<LadderRow> {
        let deadline = self.deadline?;
        let under = Rung::ALL.map(|assumption| {
            let ResponseRange { found, bound } = self.known[assumption as usize];
            let verdict = Verdict::new(found, bound, deadline);
            RungVerdict { assumption, worst_found_ns: found, bound_ns: bound, verdict }
        });
        let proven = under.iter().find(|under| under.verdict == Verdict::Proven);
        Some(LadderRow {
            stream: stream.to_owned(),
            deadline_ns: deadline,
            proven_under: proven.map(|under| under.assumption),
            under,
        })
    }
}

/// What became of a thread's jobs in one run. There is a bound if all of them began and finished.
fn in_run(jobs: &Jobs, until: Option<Instant>, thread: usize, deadline: Option<Duration>) -> ResponseRange {
    let next = Duration::from_ns(1);
    let backlog = jobs.backlog.iter().find(|backlog| backlog.thread as usize == thread);
    let never_began = backlog.filter(|backlog| backlog.missed > 0).and(deadline).map(|due| due.saturating_add(next));
    let mut known = ResponseRange { found: never_began, bound: None };
    let mut all_done = backlog.is_none();
    for job in jobs.begun.iter().filter(|job| job.thread as usize == thread) {
        // What is late and goes on when the run ends takes longer than until then.
        let late = job.outcome(jobs.end) == Some(DeadlineOutcome::Missed);
        let at_least = || late.then(|| jobs.end.since(job.released).saturating_add(next));
        let response = job.response().map(|response| shown(until, job.released, response));
        known.found = known.found.max(response.or_else(at_least));
        all_done &= job.finished.is_some();
    }
    known.bound = known.found.filter(|_| all_done);
    known
}

/// Whether what a run does next may depend on more than on what is under way: on what was drawn before, on which
/// context had the last turn, on which SM got the last block, or on when a stream's last kernel ended.
fn depends_on_history(scenario: &Scenario) -> bool {
    scenario.depends_on_seed()
        || scenario.catalogue.is_time_sliced()
        || scenario.placement == Placement::RoundRobin
        || scenario.device().kernel_gap > Duration::ZERO
        || scenario.device().block_gap > Duration::ZERO
}

/// Whether the jobs of a run are all of its scenario, or those that follow repeat them.
fn goes_on_as_it_began(scenario: &Scenario, jobs: &Jobs) -> bool {
    let spans = jobs.begun.iter().map(|job| (job.thread, job.released, job.response()));
    let threads = (0..scenario.threads.len()).collect();
    let repeats = || !depends_on_history(scenario) && Repeats::of(scenario, &threads, spans, false).is_some();
    scenario.cut_at().is_none() || repeats()
}

/// Of all jobs of a thread together: what was found of any, and the bound of all.
fn of_jobs<'j>(jobs: impl Iterator<Item = &'j JobVerdict>) -> ResponseRange {
    let mut known = ResponseRange { found: None, bound: Some(Duration::ZERO) };
    let mut any = false;
    for job in jobs {
        any = true;
        known.found = known.found.max(job.worst_found_ns);
        // Of what has no end, a bound on these jobs may not be one on all.
        let is_late = job.bound_ns.zip(job.deadline_ns).is_some_and(|(bound, deadline)| !is_in_time(bound, deadline));
        let is_proof = job.verdict != Some(Verdict::Open) || is_late;
        known.bound = known.bound.zip(job.bound_ns.filter(|_| is_proof)).map(|(most, bound)| most.max(bound));
    }
    known.bound = known.bound.filter(|_| any);
    known
}

/// What is looked at.
struct Climb<'c> {
    /// As stated.
    scenario: &'c Scenario,
    /// The same without jitter, with its run and the jobs of that.
    given: &'c Scenario,
    run: &'c Run<'c>,
    jobs: &'c Jobs,
    jitter: &'c [Duration],
    /// How much to search under each assumption.
    search: Searched,
    watch: Progress<'c>,
}

/// How much to search under an assumption.
#[derive(Debug, Clone, Copy)]
enum Searched {
    /// For a time, or as long as does not hold the user up.
    For(Option<Duration>),
    /// So many runs.
    Runs(u64),
}

impl Searched {
    /// With the runs that are asked for, or else those that `affordable` gives for a time.
    fn options(self, affordable: impl Fn(Option<Duration>) -> SearchOptions) -> SearchOptions {
        match self {
            Self::For(time) => affordable(time),
            Self::Runs(runs) => SearchOptions { runs, ..affordable(None) },
        }
    }
}

/// What is known of every thread under one assumption, the runs that were simulated for it, and notes.
type Judged = (Vec<ResponseRange>, u64, Vec<String>);

impl Climb<'_> {
    fn judge(&self, rung: Rung) -> Result<Judged, AnalysisError> {
        match rung {
            Rung::Sporadic => self.sporadic(),
            Rung::Jitter => self.late(),
            _ => self.given(rung.options()),
        }
    }

    fn sporadic(&self) -> Result<Judged, AnalysisError> {
        let affordable = |time| SearchOptions::affordable_sporadic(self.scenario, time);
        let options = SearchOptions { bound: Rung::Sporadic.options(), ..self.search.options(affordable) };
        let judged = judge_sporadic(self.scenario, self.jitter, &options, self.watch)?;
        let known = judged.streams.iter().map(|one| ResponseRange { found: one.worst_found_ns, bound: one.bound_ns });
        Ok((known.collect(), judged.runs, judged.refusal.iter().map(|why| format!("no bounds: {why}")).collect()))
    }

    fn options(&self, bound: BoundOptions) -> SearchOptions {
        let affordable = |time| SearchOptions::affordable(self.run, time);
        SearchOptions { bound, ..self.search.options(affordable) }
    }

    /// No bound of this kind is known but those on all phasings.
    fn late(&self) -> Result<Judged, AnalysisError> {
        let options = self.options(Rung::Jitter.options());
        let found = search_known(self.given, (self.run, self.jobs), self.jitter, &options, self.watch)?;
        let mut known = vec![ResponseRange::default(); self.scenario.threads.len()];
        for (index, job) in found.jobs.iter().enumerate() {
            let of_thread = &mut known[job.thread as usize];
            of_thread.found = of_thread.found.max(found.worst(index));
        }
        Ok((known, found.runs, Vec::new()))
    }

    fn given(&self, bound: BoundOptions) -> Result<Judged, AnalysisError> {
        let bounds = finish_bounds(self.given, bound)?;
        let judged = judge_known(self.given, (self.run, self.jobs), &bounds, &self.options(bound), self.watch)?;
        let of_thread = |thread: usize| {
            let known = of_jobs(judged.jobs.iter().filter(|job| job.thread as usize == thread));
            // Of what never began nothing is judged.
            let all_began = !self.jobs.backlog.iter().any(|backlog| backlog.thread as usize == thread);
            ResponseRange { bound: known.bound.filter(|_| all_began), ..known }
        };
        Ok(((0..self.scenario.threads.len()).map(of_thread).collect(), judged.runs, judged.notes.clone()))
    }
}

/// Judges each deadline under each assumption, as far as that does not follow from another one. Under each, runs are
/// searched for an equal share of `search`, or as long as does not hold the user up.
///
/// # Errors
/// [`AnalysisError`]: that of a simulation, or a run that was found exceeds a bound.
pub fn ladder(scenario: &Scenario, search: Option<Duration>, watch: Progress<'_>) -> Result<Ladder, AnalysisError> {
    climbed(scenario, Searched::For(search), watch)
}

/// The same, searching so many runs under each assumption, so that what is found is the same on every machine.
///
/// # Errors
/// As [`ladder()`].
pub fn ladder_of_runs(scenario: &Scenario, runs: u64) -> Result<Ladder, AnalysisError> {
    climbed(scenario, Searched::Runs(runs), Progress::NONE)
}

fn climbed(scenario: &Scenario, search: Searched, watch: Progress<'_>) -> Result<Ladder, AnalysisError> {
    let jitter: Vec<Duration> = scenario.threads.iter().map(|thread| thread.jitter).collect();
    let late = jitter.iter().any(|jitter| *jitter > Duration::ZERO);
    let mut given = scenario.clone();
    for thread in &mut given.threads {
        thread.jitter = Duration::ZERO;
        thread.unsure = None;
    }
    let run = simulate_in_brief(&given)?;
    let jobs = run.jobs();
    let is_searched = |rung: &Rung| *rung != Rung::Run && (late || *rung != Rung::Jitter);
    let searched: Vec<Rung> = Rung::ALL.into_iter().filter(is_searched).collect();
    let share = |time: Duration| Duration::from_ns((time.as_ns() / searched.len() as u64).max(1));
    let search = match search {
        Searched::For(time) => Searched::For(time.map(share)),
        runs @ Searched::Runs(_) => runs,
    };
    let climb = Climb { scenario, given: &given, run: &run, jobs: &jobs, jitter: &jitter, search, watch };
    let mut all: Vec<Rungs> = Vec::with_capacity(scenario.threads.len());
    let goes_on = goes_on_as_it_began(&given, &jobs);
    for (number, thread) in scenario.threads.iter().enumerate() {
        let mut rungs = Rungs { deadline: thread.deadline(), late, known: Default::default() };
        let known = in_run(&jobs, given.known_until(), number, rungs.deadline);
        rungs.enter(Rung::Run, ResponseRange { bound: known.bound.filter(|_| goes_on), ..known });
        all.push(rungs);
    }
    let (mut runs, mut said) = (0, Vec::<(String, Vec<&str>)>::new());
    for rung in searched {
        if !all.iter().any(|rungs| rungs.is_open(rung)) {
            continue;
        }
        let (known, simulated, notes) = climb.judge(rung)?;
        runs += simulated;
        for (rungs, known) in all.iter_mut().zip(known) {
            rungs.enter(rung, known);
        }
        for note in notes {
            match said.iter_mut().find(|(text, _)| *text == note) {
                Some((_, of)) => of.push(rung.name()),
                None => said.push((note, vec![rung.name()])),
            }
        }
    }
    for (thread, rungs) in scenario.threads.iter().zip(&all) {
        for (rung, known) in Rung::ALL.into_iter().zip(&rungs.known) {
            let subject = || format!("a job of {} under {} takes", thread.label, rung.name());
            BrokenBound::check(known.found, ("the bound on all such runs", known.bound), subject)?;
        }
    }
    let mut notes = scenario.notes.clone();
    if !scenario.chains.is_empty() {
        notes.push("chains are not judged here, only deadlines of jobs".to_owned());
    }
    notes.extend(said.into_iter().map(|(text, of)| format!("{}: {text}", of.join(", "))));
    let rows = scenario.threads.iter().zip(&all).filter_map(|(thread, rungs)| rungs.row(&thread.label)).collect();
    Ok(Ladder { rows, runs, notes })
}
