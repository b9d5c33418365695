//! When a launched runnable is released, and by when it should have responded: what the stimuli and requirements of the
//! tasks that call it come to.

use std::collections::{BTreeSet, HashMap};

use super::error::Problem;
use super::model::AmaltheaModel;
use super::requirements::RequirementOf;
use super::stimuli::{Activation, Stimulus};
use super::work::Item;
use crate::spelling::option;
use crate::time::Duration;

/// Without a horizon, all runnables together have at most this many jobs.
const MOST_JOBS: u64 = 10_000;

/// What to do about releases that cannot be planned.
fn advice() -> String {
    format!("{} launches each runnable once, at t = 0", option("one_job"))
}

/// The releases and the deadline of one runnable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) release: Duration,
    /// `None`: a single job.
    pub(super) period: Option<Duration>,
    /// Jobs; `None`: until the horizon.
    pub(super) jobs: Option<u64>,
    /// How much later than due a job may be released at most.
    pub(super) jitter: Duration,
    pub(super) deadline: Option<Duration>,
    /// Whether its task has no stimulus although others may have one.
    pub(super) is_forgotten: bool,
    /// What the user should know.
    pub(super) notes: Vec<String>,
}

/// Which tasks and runnables call a runnable, by index.
#[derive(Default)]
struct Callers {
    tasks: Vec<usize>,
    runnables: Vec<usize>,
}

/// Who calls whom in a model.
pub(super) struct Activations<'m, 't> {
    model: &'m AmaltheaModel<'t>,
    callers: HashMap<usize, Callers>,
    stimuli: HashMap<&'m str, &'m Stimulus>,
}

impl<'m, 't> Activations<'m, 't> {
    pub(super) fn new(model: &'m AmaltheaModel<'t>) -> Self {
        let mut callers: HashMap<usize, Callers> = HashMap::new();
        for (task, called) in
            model.tasks.iter().enumerate().flat_map(|(task, all)| all.calls.iter().map(move |c| (task, c)))
        {
            callers.entry(*called).or_default().tasks.push(task);
        }
        let indices: HashMap<&str, usize> =
            model.runnables.iter().enumerate().map(|(index, runnable)| (runnable.name.as_str(), index)).collect();
        for (caller, runnable) in model.runnables.iter().enumerate() {
            let mut names = Vec::new();
            Item::calls(&runnable.items, &mut names);
            for called in names.into_iter().filter_map(|name| indices.get(name)) {
                callers.entry(*called).or_default().runnables.push(caller);
            }
        }
        let stimuli = model.stimuli.iter().map(|stimulus| (stimulus.name.as_str(), stimulus)).collect();
        Self { model, callers, stimuli }
    }

    /// The tasks from which a runnable is reached, and whether more than one way leads there.
    pub(super) fn tasks(&self, index: usize) -> (BTreeSet<usize>, bool) {
        let (mut tasks, mut several) = (BTreeSet::new(), false);
        let mut seen = BTreeSet::from([index]);
        let mut open = vec![index];
        while let Some(callers) = open.pop().map(|index| self.callers.get(&index)) {
            let Some(callers) = callers else { continue };
            for &task in &callers.tasks {
                several |= !tasks.is_empty();
                tasks.insert(task);
            }
            for &caller in &callers.runnables {
                if seen.insert(caller) {
                    open.push(caller);
                } else {
                    several = true;
                }
            }
        }
        (tasks, several)
    }

    /// What stimuli and requirements say of runnable `index`. With `one_job` the stimuli do not count.
    pub(super) fn plan(&self, index: usize, one_job: bool) -> Result<Plan, Problem> {
        let Some(runnable) = self.model.runnables.get(index) else { return Ok(Plan::default()) };
        let name = &runnable.name;
        let (tasks, several) = self.tasks(index);
        let tasks: Vec<_> = tasks.iter().filter_map(|&task| self.model.tasks.get(task)).collect();
        let mut plan = Plan { jobs: Some(1), ..Plan::default() };
        for requirement in &self.model.requirements {
            let is_meant = match requirement.of {
                RequirementOf::Process => tasks.iter().any(|task| task.name == requirement.target),
                RequirementOf::Runnable => *name == requirement.target,
            };
            if is_meant {
                let limit = requirement.response_time_ns;
                plan.deadline = Some(plan.deadline.map_or(limit, |deadline| deadline.min(limit)));
            }
            if is_meant && requirement.of == RequirementOf::Process {
                plan.notes.push(
                    "response-time limits of tasks are the deadlines of their runnables on the GPU; what the tasks do \
                     beside them takes no time here"
                        .to_owned(),
                );
            }
        }
        if one_job {
            return Ok(plan);
        }
        let named: Vec<&str> = tasks.iter().flat_map(|task| task.stimuli.iter().map(String::as_str)).collect();
        let read: Vec<&Stimulus> = named.iter().filter_map(|name| self.stimuli.get(name).copied()).collect();
        let unread = named.iter().filter(|name| !self.stimuli.contains_key(*name));
        match read[..] {
            // A model without any stimulus is not about releases.
            [] if named.is_empty() => plan.is_forgotten = !tasks.is_empty() && !self.stimuli.is_empty(),
            [] => plan.notes.extend(unread.map(|stimulus| {
                format!("stimulus {stimulus:?} is not read: runnable {name:?} is launched once, at t = 0")
            })),
            [stimulus] if named.len() == 1 && !several => plan.activate(name, stimulus),
            _ => {
                let what = format!("runnable {name:?} is called several times, or activated by several stimuli");
                let help = format!("its releases cannot be told from the model; {}", advice());
                return Err(Problem::at(runnable.offset, what).with_help(help));
            }
        }
        Ok(plan)
    }
}

impl Plan {
    fn activate(&mut self, runnable: &str, stimulus: &Stimulus) {
        match stimulus.activation {
            Activation::Single { occurrence_ns } => self.release = occurrence_ns,
            Activation::Periodic { offset_ns, period_ns } => {
                (self.release, self.period) = (offset_ns, Some(period_ns));
            }
            Activation::Sporadic { offset_ns, shortest_ns, longest_ns } => {
                (self.release, self.period) = (offset_ns, Some(shortest_ns));
                if longest_ns != Some(shortest_ns) {
                    self.notes.push(format!(
                        "runnable {runnable:?} is released as often as stimulus {:?} may be, every {shortest_ns}",
                        stimulus.name
                    ));
                }
            }
        }
        if stimulus.is_moved {
            // By what is not known: no bound over all phasings takes so much.
            self.jitter = Duration::from_ns(i64::MAX.unsigned_abs());
        }
        if let Some(jitter) = stimulus.jitter_ns.filter(|jitter| *jitter > Duration::ZERO) {
            self.jitter = self.jitter.max(jitter);
            self.notes.push(format!(
                "the jitter of stimulus {:?}, up to {jitter}, is not simulated: releases are exactly periodic; `gpusched \
                 analyze --sporadic` counts it",
                stimulus.name
            ));
        }
    }
}

/// Says how many jobs each periodic runnable has: without limit up to a horizon, or else those released in one
/// hyperperiod from the last release of a first job on. The note says so.
pub(super) fn count_jobs(plans: &mut [Plan], horizon: Option<Duration>) -> Result<Option<String>, Problem> {
    if plans.iter().all(|plan| plan.period.is_none()) {
        return Ok(None);
    }
    if horizon.is_some() {
        for plan in plans.iter_mut().filter(|plan| plan.period.is_some()) {
            plan.jobs = None;
        }
        return Ok(None);
    }
    let too_many = || {
        let what = format!("one hyperperiod of the stimuli has more than {MOST_JOBS} jobs");
        let help = format!("bound the run with {}, or {}", option("horizon").with("TIME"), advice());
        Problem::general(what).with_help(help)
    };
    let periodic = || plans.iter().filter_map(|plan| Some((plan.release.as_ns(), plan.period?.as_ns())));
    let mut periods = plans.iter().filter_map(|plan| plan.period);
    let hyperperiod = periods.try_fold(Duration::from_ns(1), Duration::least_common_multiple);
    let hyperperiod = hyperperiod.ok_or_else(too_many)?.as_ns();
    let last_offset = plans.iter().map(|plan| plan.release.as_ns()).max().unwrap_or(0);
    let end = last_offset.checked_add(hyperperiod).ok_or_else(too_many)?;
    let jobs = |release: u64, period: u64| (end - release).div_ceil(period);
    if periodic()
        .try_fold(0_u64, |sum, (release, period)| sum.checked_add(jobs(release, period)))
        .is_none_or(|sum| sum > MOST_JOBS)
    {
        return Err(too_many());
    }
    for plan in plans.iter_mut() {
        if let Some(period) = plan.period {
            plan.jobs = Some(jobs(plan.release.as_ns(), period.as_ns()));
        }
    }
    Ok(Some(format!(
        "runnables with periodic stimuli are released before {}, one hyperperiod after the last first release; \
         {} sets another end",
        Duration::from_ns(end),
        option("horizon").with("TIME")
    )))
}
