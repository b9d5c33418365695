//! **Slack and sensitivity**: by which factor the times of kernels, copies, CPU work and jobs may grow while all that
//! is proven stays proven, and how much shorter they have to be for what is not.
//!
//! Claim: with these times as long as a told factor has them, or each any shorter, what is told to be proven holds. For
//! the bounds prove it at that very factor, and hold for blocks, copies and work that take less. Whether they prove it
//! at smaller factors too is not claimed: they need not grow with times. `docs/analysis.md`, "Slack and sensitivity".

mod work;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::chains::{ChainVerdicts, chain_verdicts};
use super::compare::AnalysisError;
use super::finish_bounds::finish_bounds;
use super::requirements::{RequirementVerdict, requirements_of_jobs};
use super::safe_bound::BoundOptions;
use super::search::SearchOptions;
use super::verdict::{JobVerdicts, Verdict, judge_known};
use crate::effort::{self, Progress};
use crate::hosts::{least_work, simulate_in_brief};
use crate::limits::count_turn;
use crate::named::named;
use crate::scenario::{ChainMeasure, ModelDemands, Scenario};
use crate::time::Duration;

pub(crate) use work::WorkKind;
use work::{Steps, Work};

/// Factors are counted in these parts.
const PARTS: u128 = 1_000;
/// The largest factor that is looked at of what may grow by itself.
const LARGEST: u128 = 8 * PARTS;
/// The smallest factor that is looked at.
const SMALLEST: u128 = PARTS / 100;
/// Analyses that one bisection takes.
const LOOKS: u64 = 14;
/// Operations in all analyses of a scenario together, which take some minutes.
const MOST_OPERATIONS: u64 = 10_000_000;
/// What is looked at however many operations there are.
const SURE: u64 = 8;

/// A host thread with a deadline, and its slack.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ThreadSlack {
    /// Label of the host thread.
    pub(crate) stream: String,
    pub(crate) deadline: Duration,
    /// No job of it takes longer as things are.
    pub(crate) bound: Option<Duration>,
    /// Its blocks, copies and CPU work may each take so much longer \[%\]; `None`: none of its jobs is proven, or they
    /// do nothing that takes time.
    pub(crate) slack_percent: Option<f64>,
    /// What is not proven any more where they take the smallest step more that was looked at and is too much.
    pub(crate) until: Option<String>,
    /// Whether a job of it is not proven, and it was searched what would prove it.
    pub(crate) is_open: bool,
    /// The largest factor below 1 that was found, with which all of its jobs are proven.
    pub(crate) proven_at: Option<f64>,
}

named! {
    /// How times change.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum TimeChange {
        /// They grow, and what is proven is to stay so.
        Longer = "longer",
        /// They shrink, until something is proven that is not.
        Shorter = "shorter",
    }
}

/// By which factor some times may grow, or have to shrink.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SensitivityRow {
    /// What takes these times.
    pub(crate) work: WorkKind,
    /// Its name.
    pub(crate) name: String,
    pub(crate) change: TimeChange,
    /// Proven with times that are so much as long. Where they grow, all that is proven; where they shrink, `verdicts`.
    /// `None`: of none that was looked at.
    pub(crate) factor: Option<f64>,
    /// Whether that is the largest factor that was looked at.
    pub(crate) is_largest: bool,
    /// What is not proven any more a step beyond; or what is to be proven by shorter times.
    pub(crate) verdicts: Vec<String>,
    /// Whether the work was stopped before the factor was found: what is told may not be all.
    pub(crate) is_cut: bool,
}

/// By which factors the times of a scenario may grow, or have to shrink.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sensitivity {
    /// What grows, by factor from the smallest; then what shrinks, by what is to be proven and then from the largest.
    pub(crate) rows: Vec<SensitivityRow>,
    /// What is to be known of them.
    pub(crate) notes: Vec<String>,
}

impl Sensitivity {
    /// The largest factor that is looked at.
    pub(crate) const LARGEST: f64 = (LARGEST / PARTS) as f64;
    /// The smallest one.
    pub(crate) const SMALLEST: f64 = SMALLEST as f64 / PARTS as f64;

    /// What breaks something first of what users change by itself, if something does.
    pub(crate) fn first(&self) -> Option<&SensitivityRow> {
        let is_part = |row: &&SensitivityRow| !matches!(row.work, WorkKind::Task | WorkKind::All);
        self.of(TimeChange::Longer).find(is_part).filter(|row| !row.verdicts.is_empty())
    }

    /// The rows of one change.
    pub(crate) fn of(&self, change: TimeChange) -> impl Iterator<Item = &SensitivityRow> {
        self.rows.iter().filter(move |row| row.change == change)
    }
}

/// What has a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    /// All jobs of a thread, by its number.
    Thread(u32),
    /// A measure of a chain, by number.
    Chain(usize, u8),
    /// A requirement of a model, by number.
    Requirement(usize),
}

/// Something that can be proven: a job of a thread by its number, or else all of the subject.
type Claim = (Subject, u32);

/// What is proven of a scenario, and what has a verdict that is not.
#[derive(Debug, Clone, Default)]
struct Proofs {
    proven: BTreeSet<Claim>,
    open: BTreeSet<Subject>,
}

impl Proofs {
    fn of(jobs: &JobVerdicts<'_>, chains: &ChainVerdicts, requirements: &[RequirementVerdict]) -> Self {
        let of_jobs = jobs.jobs.iter().map(|job| ((Subject::Thread(job.thread), job.job), job.verdict));
        let of_chains = chains.rows.iter().map(|row| ((Subject::Chain(row.number, row.measure as u8), 0), row.verdict));
        let of_model =
            requirements.iter().enumerate().map(|(number, one)| ((Subject::Requirement(number), 0), one.verdict));
        let mut proofs = Self::default();
        for (claim, verdict) in of_jobs.chain(of_chains).chain(of_model) {
            match verdict {
                Some(Verdict::Proven) => _ = proofs.proven.insert(claim),
                Some(_) => _ = proofs.open.insert(claim.0),
                None => {}
            }
        }
        proofs
    }

    /// What the bounds prove of a scenario.
    fn by_bounds(scenario: &Scenario, demands: Option<&ModelDemands>) -> Result<Self, AnalysisError> {
        let bound = BoundOptions::of(scenario);
        let bounds = finish_bounds(scenario, bound)?;
        let run = simulate_in_brief(scenario)?;
        let only_the_own_run =
            SearchOptions { bound, placements: Vec::new(), runs: 0, seed: scenario.seed, time_limit: None };
        let mut jobs = judge_known(scenario, (&run, &run.jobs()), &bounds, &only_the_own_run, Progress::NONE)?;
        let chains = chain_verdicts(scenario, &run, &jobs, &jobs.doubts_of_chains(demands))?;
        let requirements = demands.map(|demands| requirements_of_jobs(demands, scenario, &jobs));
        // What is not read of a model makes them longer at any factor.
        let doubtful = demands.map_or(&[][..], |demands| &demands.doubtful);
        for job in jobs.jobs.iter_mut().filter(|job| doubtful.iter().any(|(label, _)| **label == *job.stream)) {
            job.verdict = job.verdict.map(|_| Verdict::Open);
        }
        Ok(Self::of(&jobs, &chains, &requirements.unwrap_or_default()))
    }

    /// Whether all of something is proven.
    fn has(&self, subject: Subject) -> bool {
        !self.open.contains(&subject) && self.proven.range((subject, 0)..=(subject, u32::MAX)).next().is_some()
    }
}

/// A scenario, and what is proven of it as it is.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    scenario: &'a Scenario,
    demands: Option<&'a ModelDemands>,
    requirements: &'a [RequirementVerdict],
    known: Proofs,
    /// Counts the analyses.
    watch: Progress<'a>,
}

/// What was found of some steps: a factor, and what is proven a step beyond, if that is not enough.
struct Found {
    factor: u128,
    beyond: Option<Proofs>,
    is_cut: bool,
}

/// Some steps, and what is proven with their times at each factor that was looked at.
struct Looked<'q> {
    question: &'q Question<'q>,
    steps: &'q Steps,
    at: BTreeMap<u128, Proofs>,
}

impl Looked<'_> {
    /// What bounds prove with times that are so much as long; nothing if there is no such scenario.
    fn at(&mut self, factor: u128) -> Result<&Proofs, AnalysisError> {
        if !self.at.contains_key(&factor) {
            let Question { scenario, demands, watch, .. } = self.question;
            watch.advance(1);
            let changed = scenario.with_times(self.steps, &|time| scaled(time, factor));
            let proofs = match changed.map(|changed| Proofs::by_bounds(&changed, *demands)) {
                Some(Err(broken @ AnalysisError::Broken(_))) => return Err(broken),
                Some(Ok(proofs)) => proofs,
                // It cannot be run: its times are too long.
                Some(Err(AnalysisError::Run(_))) | None => Proofs::default(),
            };
            self.at.insert(factor, proofs);
        }
        Ok(&self.at[&factor])
    }

    /// The largest factor up to `high` with which `holds` what is proven, or `low`: by bisection, so it is one next to
    /// a factor with which it does not hold, and there may be larger ones with which it does.
    fn largest(
        &mut self,
        (mut low, mut high): (u128, u128),
        holds: impl Fn(&Proofs) -> bool,
    ) -> Result<Found, AnalysisError> {
        let mut beyond = None;
        while low < high && effort::check().is_ok() {
            count_turn();
            let middle = low + (high - low).div_ceil(2);
            let proofs = self.at(middle)?;
            if holds(proofs) {
                low = middle;
            } else if effort::check().is_ok() {
                beyond = Some(proofs.clone());
                high = middle - 1;
            }
        }
        Ok(Found { factor: low, beyond, is_cut: low < high })
    }

    /// How much shorter the times have to be for something to be proven; `None`: not by as much as was looked at.
    fn shorter(&mut self, subject: Subject) -> Result<Option<Found>, AnalysisError> {
        if effort::check().is_err() || !self.at(SMALLEST)?.has(subject) {
            return Ok(None);
        }
        self.largest((SMALLEST, PARTS - 1), |proofs| proofs.has(subject)).map(Some)
    }
}

impl<'a> Question<'a> {
    /// About a scenario of which these verdicts are known; `demands` are those with which it was judged.
    pub(crate) fn new(
        scenario: &'a Scenario,
        (jobs, chains, requirements): (&JobVerdicts<'_>, &ChainVerdicts, &'a [RequirementVerdict]),
        demands: Option<&'a ModelDemands>,
        watch: Progress<'a>,
    ) -> Self {
        Self { scenario, demands, requirements, known: Proofs::of(jobs, chains, requirements), watch }
    }

    fn looked<'q>(&'q self, steps: &'q Steps) -> Looked<'q> {
        Looked { question: self, steps, at: BTreeMap::new() }
    }

    fn words(&self, subject: Subject) -> String {
        match subject {
            Subject::Thread(thread) => format!("deadline of {}", self.scenario.threads[thread as usize].label),
            Subject::Chain(chain, measure) => {
                let measure = ChainMeasure::ALL[usize::from(measure)].name();
                format!("{measure} of {}", self.scenario.chains[chain].name)
            }
            Subject::Requirement(number) => format!("requirement {}", self.requirements[number].requirement),
        }
    }

    fn words_of_claim(&self, (subject, job): Claim) -> String {
        match subject {
            Subject::Thread(thread) => format!("job {job} of {}", self.scenario.threads[thread as usize].label),
            _ => self.words(subject),
        }
    }

    fn keeps_all(&self, proofs: &Proofs) -> bool {
        self.known.proven.is_subset(&proofs.proven)
    }

    /// What is known to be proven, and not any more.
    fn lost<'q>(&'q self, beyond: &'q Proofs) -> impl Iterator<Item = Claim> + 'q {
        self.known.proven.difference(&beyond.proven).copied()
    }

    /// The slack of each thread with a deadline: how much longer all its blocks, copies and CPU work may take, in one
    /// proportion or each by less, while those of other threads stay as they are and the bounds still prove all that is
    /// proven; and how much shorter they have to be for all of its jobs to be proven. What is stopped by [`effort`] is
    /// not found.
    ///
    /// # Errors
    /// [`AnalysisError::Broken`]: a run exceeds a bound.
    pub(crate) fn slack_of_threads(&self, jobs: &JobVerdicts<'_>) -> Result<Vec<ThreadSlack>, AnalysisError> {
        let mut slacks = Vec::new();
        for (number, thread) in (0..).zip(&self.scenario.threads) {
            let own = || jobs.jobs.iter().filter(|job| job.thread == number);
            let Some(deadline) = thread.deadline().filter(|_| own().next().is_some()) else { continue };
            let (subject, work) = (Subject::Thread(number), Work::of_thread(self.scenario, number));
            let bounds = own().map(|job| job.bound_ns).collect::<Option<Vec<_>>>();
            let mut slack = ThreadSlack {
                stream: thread.label.to_string(),
                deadline,
                bound: bounds.and_then(|bounds| bounds.into_iter().max()),
                slack_percent: None,
                until: None,
                is_open: self.known.open.contains(&subject),
                proven_at: None,
            };
            let Some(longest) = work.longest_piece else {
                slacks.push(slack);
                continue;
            };
            let mut looked = self.looked(&work.steps);
            // A job with a piece longer than its deadline is late, so one step more than that is too much.
            let piece = u128::from(longest.as_ns());
            let room = u128::from(deadline.as_ns()).checked_sub(piece);
            let is_known = self.known.proven.iter().any(|claim| claim.0 == subject);
            if let Some(room) = room.filter(|_| is_known) {
                let most = PARTS + room * PARTS / piece + 1;
                let found = looked.largest((PARTS, most), |proofs| self.keeps_all(proofs))?;
                slack.until =
                    found.beyond.and_then(|beyond| self.lost(&beyond).next()).map(|claim| self.words_of_claim(claim));
                slack.slack_percent = (!found.is_cut).then(|| (found.factor - PARTS) as f64 * 100.0 / PARTS as f64);
            }
            if slack.is_open {
                let found = looked.shorter(subject)?.filter(|found| !found.is_cut);
                slack.proven_at = found.map(|found| real(found.factor));
                slack.is_open = slack.proven_at.is_some() || effort::check().is_ok();
            }
            slacks.push(slack);
        }
        Ok(slacks)
    }

    /// By which factors the times of each kernel, each kind of copies of a stream, the CPU work of each host, each task
    /// and all together may grow, or have to shrink.
    ///
    /// # Errors
    /// [`AnalysisError::Broken`]: a run exceeds a bound.
    pub(crate) fn sensitivity(&self) -> Result<Sensitivity, AnalysisError> {
        let mut all = Work::all(self.scenario);
        let looks = LOOKS * (1 + self.known.open.len() as u64);
        let operations = least_work(self.scenario).0.max(1);
        let most = usize::try_from((MOST_OPERATIONS / operations / looks).max(SURE)).unwrap_or(usize::MAX);
        let mut notes = Vec::new();
        if all.len() > most {
            notes.push(format!(
                "sensitivity: {most} of {} times are looked at, those of most work: there are too many operations",
                all.len()
            ));
            Work::keep_longest(&mut all, most);
        }
        // A stream with one kernel is the same as that kernel.
        let different: BTreeSet<&Steps> = all.iter().map(|work| &work.steps).collect();
        let here = effort::here();
        let of = |steps: &&'_ Steps| here.within(|| self.of_steps(steps));
        let different: Vec<&Steps> = different.into_iter().collect();
        let found = different.par_iter().map(of).collect::<Result<Vec<_>, AnalysisError>>()?;
        let found: BTreeMap<&Steps, Vec<(Option<Subject>, SensitivityRow)>> =
            different.into_iter().zip(found).collect();
        let mut rows: Vec<(Option<Subject>, SensitivityRow)> = Vec::new();
        for work in &all {
            let named = |(subject, row): &(Option<Subject>, SensitivityRow)| {
                (*subject, SensitivityRow { work: work.kind, name: work.name.clone(), ..row.clone() })
            };
            rows.extend(found[&work.steps].iter().map(named));
        }
        rows.sort_by(|(one, row), (other, beside)| {
            let factor = |row: &SensitivityRow| row.factor.unwrap_or_default();
            let by_factor = factor(row).total_cmp(&factor(beside));
            one.cmp(other).then(if one.is_none() { by_factor } else { by_factor.reverse() })
        });
        let rows: Vec<SensitivityRow> = rows.into_iter().map(|(_, row)| row).collect();
        let cut = rows.iter().filter(|row| row.is_cut).count();
        if cut > 0 {
            notes.push(format!(
                "sensitivity: {cut} of {} factors were not found when the work was stopped; the largest that was proven \
                 by then is told",
                rows.len()
            ));
        }
        Ok(Sensitivity { rows, notes })
    }

    /// How much longer some steps may take, and for each thing that is not proven, how much shorter they have to.
    fn of_steps(&self, steps: &Steps) -> Result<Vec<(Option<Subject>, SensitivityRow)>, AnalysisError> {
        let row = |change, verdicts, found: Option<&Found>| SensitivityRow {
            work: WorkKind::All,
            name: String::new(),
            change,
            factor: found.map(|found| real(found.factor)),
            is_largest: found.is_some_and(|found| found.factor == LARGEST),
            verdicts,
            is_cut: found.map_or(effort::check().is_err(), |found| found.is_cut),
        };
        let (mut looked, mut rows) = (self.looked(steps), Vec::new());
        if !self.known.proven.is_empty() {
            // Where the largest factor is not too much there is nothing to search.
            let most =
                if effort::check().is_ok() && self.keeps_all(looked.at(LARGEST)?) { LARGEST } else { LARGEST - 1 };
            let mut found =
                looked.largest((if most == LARGEST { most } else { PARTS }, most), |proofs| self.keeps_all(proofs))?;
            if found.factor == LARGEST - 1 {
                found.beyond = looked.at.remove(&LARGEST);
            }
            let mut lost: Vec<String> = found
                .beyond
                .iter()
                .flat_map(|beyond| self.lost(beyond))
                .map(|claim| {
                    // Others of its jobs are not proven anyhow.
                    if self.known.open.contains(&claim.0) { self.words_of_claim(claim) } else { self.words(claim.0) }
                })
                .collect();
            lost.dedup();
            rows.push((None, row(TimeChange::Longer, lost, Some(&found))));
        }
        for subject in &self.known.open {
            let found = looked.shorter(*subject)?;
            rows.push((Some(*subject), row(TimeChange::Shorter, vec![self.words(*subject)], found.as_ref())));
        }
        Ok(rows)
    }
}

/// A time that is so much as long, rounded up.
fn scaled(time: Duration, factor: u128) -> Option<Duration> {
    let ns = u128::from(time.as_ns()).checked_mul(factor)?.div_ceil(PARTS);
    u64::try_from(ns).ok().map(Duration::from_ns)
}

fn real(factor: u128) -> f64 {
    factor as f64 / PARTS as f64
}
