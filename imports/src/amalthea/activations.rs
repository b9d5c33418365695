//! Which launched runnables share a stream, when they are released, and by when they should have responded: what the
//! calls, stimuli and requirements of their tasks come to.

use std::collections::{BTreeSet, HashMap};

use super::items::Item;
use super::model::{AmaltheaModel, Task};
use super::timing::{Activation, Stimulus};
use super::xml::Problem;
use crate::limits::count_turn;
use crate::scenario::{HostThread, RequirementOf};
use crate::spelling::option;
use crate::time::Duration;

/// What to do about releases that cannot be planned.
pub(super) fn advice() -> String {
    format!("{} launches each runnable once, at t = 0", option("one_job"))
}

/// What one stream launches in one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sequence {
    /// The name of the stream and its host thread: that of the runnable, or of the task that calls several.
    pub(super) label: String,
    /// In the order in which they are launched.
    pub(super) runnables: Vec<usize>,
    /// The task that calls them, if that is one.
    pub(super) task: Option<usize>,
}

impl Sequence {
    /// Whether several runnables are one job.
    pub(super) fn is_of_several(&self) -> bool {
        self.runnables.len() > 1
    }
}

/// The releases and the deadline of one sequence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) release: Duration,
    /// `None`: a single job.
    pub(super) period: Option<Duration>,
    /// How much later than due a job may be released at most.
    pub(super) jitter: Duration,
    /// Why jobs may come at other times, even but for the jitter.
    pub(super) unsure: Option<String>,
    pub(super) deadline: Option<Duration>,
    /// Why it is released once only, which a period of the user's changes.
    pub(super) once: Vec<String>,
    /// What the user should know.
    pub(super) notes: Vec<String>,
}

/// Which tasks and runnables call a runnable, by index.
#[derive(Default)]
struct Callers {
    tasks: Vec<usize>,
    runnables: Vec<usize>,
}

/// When a task is activated.
enum Activated<'m> {
    /// Its only stimulus is of this class, with these tasks between that and itself, each of which triggers the next.
    By(&'m Stimulus, Vec<&'m Task>),
    /// No stimulus of it is known that says.
    Unknown(Vec<&'m str>),
    /// Several stimuli or triggers do it.
    Several,
}

/// Who calls whom in a model.
pub(super) struct Activations<'m, 't> {
    model: &'m AmaltheaModel<'t>,
    callers: HashMap<usize, Callers>,
    indices: HashMap<&'m str, usize>,
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
            for called in Item::calls(&runnable.items).into_iter().filter_map(|name| indices.get(name)) {
                callers.entry(*called).or_default().runnables.push(caller);
            }
        }
        let stimuli = model.stimuli.iter().map(|stimulus| (stimulus.name.as_str(), stimulus)).collect();
        Self { model, callers, indices, stimuli }
    }

    /// The tasks from which a runnable is reached, and whether more than one way leads there.
    pub(super) fn tasks(&self, index: usize) -> (BTreeSet<usize>, bool) {
        let (mut tasks, mut several) = (BTreeSet::new(), false);
        let mut seen = BTreeSet::from([index]);
        let mut open = vec![index];
        while let Some(callers) = open.pop().map(|index| self.callers.get(&index)) {
            count_turn();
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

    /// The task whose call of runnable `index` launches it, if it is called by one only, and once.
    pub(super) fn only_task(&self, index: usize) -> Option<usize> {
        let (tasks, several) = self.tasks(index);
        tasks.first().copied().filter(|_| tasks.len() == 1 && !several)
    }

    /// The runnables that a task reaches, in the order in which it calls them.
    pub(super) fn called_by(&self, task: usize) -> Vec<usize> {
        let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
        let mut open: Vec<usize> = self.model.tasks.get(task).map_or_else(Vec::new, |task| task.calls.clone());
        open.reverse();
        while let Some(index) = open.pop() {
            count_turn();
            if !seen.insert(index) {
                continue;
            }
            order.push(index);
            let names = Item::calls(self.model.runnables.get(index).map_or(&[], |runnable| &runnable.items));
            open.extend(names.into_iter().rev().filter_map(|name| self.indices.get(name)));
        }
        order
    }

    /// The tasks that trigger a stimulus, themselves or in runnables that they call, once for each trigger.
    pub(super) fn triggering(&self, stimulus: &str) -> Vec<&'m Task> {
        let mut found = Vec::new();
        for (number, task) in self.model.tasks.iter().enumerate() {
            let called = self.called_by(number);
            let of_runnables = called.into_iter().filter_map(|index| self.model.runnables.get(index));
            let all = of_runnables.flat_map(|runnable| &runnable.triggers).chain(&task.triggers);
            found.extend(all.filter(|name| *name == stimulus).map(|_| task));
        }
        found
    }

    /// What activates a task.
    fn activated(&self, mut task: &'m Task) -> Activated<'m> {
        let mut between = Vec::new();
        loop {
            count_turn();
            let named: Vec<&str> = task.stimuli.iter().map(String::as_str).collect();
            let stimulus = match named[..] {
                [] => return Activated::Unknown(named),
                [name] => self.stimuli.get(name).copied(),
                _ if named.iter().all(|name| !self.stimuli.contains_key(name)) => return Activated::Unknown(named),
                _ => return Activated::Several,
            };
            let Some(stimulus) = stimulus else { return Activated::Unknown(named) };
            if stimulus.activation != Activation::Triggered {
                return Activated::By(stimulus, between);
            }
            match self.triggering(&stimulus.name)[..] {
                [] => return Activated::Unknown(named),
                // Tasks that trigger each other have no beginning.
                [by] if !between.iter().any(|known: &&Task| std::ptr::eq(*known, by)) => {
                    between.push(by);
                    task = by;
                }
                _ => return Activated::Several,
            }
        }
    }

    /// Whether nothing but other tasks activates a task.
    pub(super) fn is_triggered(&self, task: &Task) -> bool {
        let is_by_tasks = |name: &String| {
            self.stimuli.get(name.as_str()).is_some_and(|stimulus| stimulus.activation == Activation::Triggered)
        };
        !task.stimuli.is_empty() && task.stimuli.iter().all(is_by_tasks)
    }

    /// What stimuli and requirements say of a task. With `one_job` the stimuli do not count.
    ///
    /// # Errors
    /// Why its releases cannot be told.
    pub(super) fn plan_of_task(&self, task: &'m Task, one_job: bool) -> Result<Plan, String> {
        let mut plan = Plan { deadline: self.limit_of(task), ..Plan::default() };
        if one_job {
            return Ok(plan);
        }
        match self.activated(task) {
            Activated::By(stimulus, between) => {
                plan.activate(&format!("task {:?}", task.name), stimulus);
                if !between.is_empty() {
                    plan.jitter = HostThread::UNKNOWN_JITTER;
                }
            }
            Activated::Unknown(named) if named.is_empty() => {
                let why = format!("no stimulus activates task {:?}", task.name);
                plan.once.push(format!("{why}, which is released once, at t = 0"));
                plan.unsure = Some(why);
            }
            Activated::Unknown(named) => {
                return Err(format!("when its stimulus comes is not read ({})", named.join(", ")));
            }
            Activated::Several => return Err("several stimuli activate it".to_owned()),
        }
        Ok(plan)
    }

    /// The least upper limit of the response times of a task.
    fn limit_of(&self, task: &Task) -> Option<Duration> {
        let limits = self.model.requirements.iter();
        let own = limits.filter(|limit| limit.of == RequirementOf::Process && limit.target == task.name);
        own.map(|limit| limit.response_time_ns).min()
    }

    /// What stimuli and requirements say of a runnable, or of the task that calls several in sequence. With `one_job`
    /// the stimuli do not count.
    pub(super) fn plan(&self, sequence: &Sequence, one_job: bool) -> Result<Plan, Problem> {
        let Some(&index) = sequence.runnables.first() else { return Ok(Plan::default()) };
        let Some(runnable) = self.model.runnables.get(index) else { return Ok(Plan::default()) };
        let name = &sequence.label;
        let (tasks, several) = self.tasks(index);
        let tasks: Vec<&Task> = tasks.iter().filter_map(|&task| self.model.tasks.get(task)).collect();
        let mut plan = Plan::default();
        let of_tasks = tasks.iter().filter_map(|task| self.limit_of(task)).min();
        if of_tasks.is_some() {
            plan.notes.push(
                "response-time limits of tasks are the deadlines of their runnables on the GPU; what the tasks do \
                 beside them takes no time here"
                    .to_owned(),
            );
        }
        let own =
            self.model.requirements.iter().filter(|limit| {
                !sequence.is_of_several() && limit.of == RequirementOf::Runnable && limit.target == *name
            });
        plan.deadline = own.map(|limit| limit.response_time_ns).chain(of_tasks).min();
        if one_job {
            return Ok(plan);
        }
        let activated = match tasks[..] {
            [] => return Ok(plan),
            [task] if !several => self.activated(task),
            _ => {
                let named: Vec<&str> = tasks.iter().flat_map(|task| task.stimuli.iter().map(String::as_str)).collect();
                let is_unknown = named.iter().all(|name| !self.stimuli.contains_key(name));
                if is_unknown { Activated::Unknown(named) } else { Activated::Several }
            }
        };
        match activated {
            Activated::By(stimulus, between) => {
                plan.activate(&format!("runnable {name:?}"), stimulus);
                if let Some(&by) = between.first() {
                    plan.jitter = HostThread::UNKNOWN_JITTER;
                    plan.deadline =
                        plan.deadline.or_else(|| between.iter().filter_map(|task| self.limit_of(task)).min());
                    plan.notes.push(format!(
                        "task {:?}, which triggers {name:?}, is released when {:?} says; how much later \
                         it triggers is not read, so nothing is proven on these releases: `gpusched analyze --sporadic` \
                         with --jitter {name}=TIME counts it",
                        by.name, stimulus.name
                    ));
                }
            }
            Activated::Unknown(named) if named.is_empty() => {
                // A model without any stimulus is not about releases.
                if !self.stimuli.is_empty() {
                    let why = format!("no stimulus activates the task of runnable {name:?}");
                    plan.once.push(format!(
                        "{why}, which is launched once, at t = 0; {} releases it periodically",
                        option("period").of(name, "TIME")
                    ));
                    plan.unsure = Some(why);
                }
            }
            Activated::Unknown(named) => {
                let why = |stimulus: &&str| {
                    let is_read = self.stimuli.contains_key(stimulus);
                    let why = if is_read { "is triggered by no task" } else { "is not read" };
                    format!("stimulus {stimulus:?} {why}")
                };
                let what = if sequence.is_of_several() { "task" } else { "runnable" };
                let all: Vec<String> = named.iter().map(why).collect();
                plan.once.extend(all.iter().map(|why| format!("{why}: {what} {name:?} is launched once, at t = 0")));
                plan.unsure = Some(all.join(", "));
            }
            Activated::Several => {
                let what =
                    format!("runnable {:?} is called several times, or activated by several stimuli", runnable.name);
                let help = format!("its releases cannot be told from the model; {}", advice());
                return Err(Problem::at(runnable.offset, what).with_help(help));
            }
        }
        Ok(plan)
    }
}

impl Plan {
    /// Adds the releases of `what`, as a stimulus has them.
    fn activate(&mut self, what: &str, stimulus: &Stimulus) {
        match stimulus.activation {
            // What triggers it is looked at in its place.
            Activation::Triggered => {}
            Activation::Single { occurrence_ns } => self.release = occurrence_ns,
            Activation::Periodic { offset_ns, period_ns } => {
                (self.release, self.period) = (offset_ns, Some(period_ns));
            }
            Activation::Sporadic { offset_ns, shortest_ns, longest_ns } => {
                (self.release, self.period) = (offset_ns, Some(shortest_ns));
                if longest_ns != Some(shortest_ns) {
                    self.unsure = Some(format!("stimulus {:?} is sporadic", stimulus.name));
                    self.notes.push(format!(
                        "{what} is released as often as stimulus {:?} may be, every {shortest_ns}",
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
                 analyze` counts it",
                stimulus.name
            ));
        }
    }
}

impl AmaltheaModel<'_> {
    /// The launched runnables, those together that one task calls; in the order of their first ones.
    pub(super) fn sequences(&self, launched: &[usize], activations: &Activations<'_, '_>) -> Vec<Sequence> {
        let mut sequences: Vec<Sequence> = Vec::new();
        for &index in launched {
            let task = activations.only_task(index);
            match sequences.iter_mut().find(|known| task.is_some() && known.task == task) {
                Some(known) => known.runnables.push(index),
                None => sequences.push(Sequence { label: String::new(), runnables: vec![index], task }),
            }
        }
        let name = |index: usize| self.runnables.get(index).map_or("", |runnable| runnable.name.as_str());
        let alone: Vec<&str> = sequences
            .iter()
            .filter(|one| !one.is_of_several())
            .filter_map(|one| one.runnables.first())
            .map(|&one| name(one))
            .collect();
        for sequence in &mut sequences {
            let task = sequence.task.filter(|_| sequence.runnables.len() > 1);
            sequence.label = match task.and_then(|number| Some((number, self.tasks.get(number)?))) {
                Some((number, task)) => {
                    let order = activations.called_by(number);
                    crate::sorted::sort_by_key(&mut sequence.runnables, |index| {
                        order.iter().position(|called| called == index)
                    });
                    if alone.contains(&task.name.as_str()) { format!("task {}", task.name) } else { task.name.clone() }
                }
                None => sequence.runnables.first().map_or("", |&index| name(index)).to_owned(),
            };
        }
        sequences
    }
}
