//! What the mapping and operating system models say: on which processing unit tasks run, how urgent they are there, who
//! schedules them, where labels are, and time slices on the GPU. What only runs on cores depend on is counted too.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use roxmltree::Node;

use super::xml::{self, Problem};
use crate::time::Duration;

/// How keys of time slices begin, in small letters: WATERS 2019 has `TimeSlice_SFM`.
const TIME_SLICE: &str = "timeslice";

/// Who runs where.
#[derive(Debug, Clone, Default)]
pub(super) struct Mapping {
    /// Of tasks, by name; several of one are kept all.
    allocations: BTreeMap<String, Vec<Allocation>>,
    schedulers: BTreeMap<String, Scheduler>,
    /// The time slices of tasks on the GPU, by name.
    slices: BTreeMap<String, Duration>,
    /// The memories in which labels are, by label.
    memories: HashMap<String, Arc<str>>,
}

/// Where a task runs.
#[derive(Debug, Clone)]
pub(super) struct Allocation {
    /// Names of the processing units to which it is bound.
    pub(super) affinity: Vec<String>,
    /// Name of the scheduler.
    pub(super) scheduler: Option<String>,
    /// A larger number is more urgent.
    pub(super) priority: Option<i64>,
}

/// Who decides which task runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Scheduler {
    /// Its algorithm, by the name of the schema.
    pub(super) algorithm: Option<String>,
    /// Names of the processing units for which it decides.
    pub(super) responsible_for: Vec<String>,
}

impl Mapping {
    /// Reads the mapping and operating system models. What runs without cores do not use is counted in `skipped`.
    pub(super) fn read(root: Node<'_, '_>, skipped: &mut BTreeMap<String, u64>) -> Result<Self, Problem> {
        let mut mapping = Self::default();
        let mut skip = |what: &str| *skipped.entry(what.to_owned()).or_default() += 1;
        for scheduler in xml::children_named(root, "osModel")
            .flat_map(|model| xml::children_named(model, "operatingSystems"))
            .flat_map(xml::children)
            .filter(|child| ["taskSchedulers", "interruptControllers"].contains(&child.tag_name().name()))
        {
            skip(scheduler.tag_name().name());
            for node in scheduler.descendants().filter(|node| node.has_tag_name("parameterExtensions")) {
                skip(&format!("{} of a scheduler", node.attribute("key").unwrap_or("parameterExtensions")));
            }
            mapping.schedulers.entry(xml::name_of(scheduler).to_owned()).or_default().algorithm = algorithm(scheduler);
        }
        for allocation in xml::children_named(root, "mappingModel").flat_map(xml::children) {
            let kind = allocation.tag_name().name();
            skip(kind);
            for attribute in ["affinity", "priority"] {
                if stated(allocation, attribute).is_some() {
                    skip(&format!("{attribute} of {kind}"));
                }
            }
            let task = xml::reference(allocation, "task").map(|task| task.name().to_owned());
            for extension in xml::children_named(allocation, "parameterExtensions") {
                let key = extension.attribute("key").unwrap_or_default();
                match &task {
                    Some(task) if key.to_lowercase().starts_with(TIME_SLICE) => {
                        mapping.slices.insert(task.clone(), slice(extension)?);
                    }
                    _ => skip(&format!("parameterExtensions of {kind}")),
                }
            }
            mapping.add(allocation, kind, task);
        }
        Ok(mapping)
    }

    fn add(&mut self, node: Node<'_, '_>, kind: &str, task: Option<String>) {
        let names =
            |key: &str| -> Vec<String> { xml::references(node, key).iter().map(|one| one.name().to_owned()).collect() };
        let scheduler = xml::reference(node, "scheduler").map(|one| one.name().to_owned());
        match (kind, task) {
            ("taskAllocation", Some(task)) => self.allocations.entry(task).or_default().push(Allocation {
                affinity: names("affinity"),
                scheduler,
                priority: stated(node, "priority").and_then(|text| text.trim().parse().ok()),
            }),
            ("schedulerAllocation", _) => {
                if let Some(scheduler) = scheduler {
                    self.schedulers.entry(scheduler).or_default().responsible_for.extend(names("responsibility"));
                }
            }
            ("memoryMapping", _) => {
                let label = xml::reference(node, "abstractElement").map(|one| one.name().to_owned());
                if let Some((label, memory)) = label.zip(xml::reference(node, "memory")) {
                    self.memories.insert(label, memory.name().into());
                }
            }
            _ => {}
        }
    }

    /// Where a task runs, as often as that is said.
    pub(super) fn of_task(&self, task: &str) -> &[Allocation] {
        self.allocations.get(task).map_or(&[], |all| all)
    }

    pub(super) fn scheduler(&self, name: &str) -> Option<&Scheduler> {
        self.schedulers.get(name)
    }

    /// The time slice that is stated for a task.
    pub(super) fn time_slice(&self, task: &str) -> Option<Duration> {
        self.slices.get(task).copied()
    }

    pub(super) fn memory_of(&self, label: &str) -> Option<Arc<str>> {
        self.memories.get(label).cloned()
    }
}

/// What an allocation states, in itself or in its scheduling parameters, of any schema version.
fn stated<'a>(allocation: Node<'a, '_>, attribute: &str) -> Option<&'a str> {
    let of_parameters = |node: Node<'a, '_>| {
        let value = || xml::child(node, "value").and_then(|value| value.attribute("value")).unwrap_or("0");
        let has_key = node.attribute("key") == Some(attribute);
        node.attribute(attribute).or_else(|| has_key.then(value))
    };
    let parameters = || xml::children_named(allocation, "schedulingParameters").find_map(of_parameters);
    allocation.attribute(attribute).or_else(parameters)
}

/// The algorithm of a scheduler; from 3.0 on it is a reference to a definition.
fn algorithm(scheduler: Node<'_, '_>) -> Option<String> {
    let definition = || xml::reference(scheduler, "definition").map(|one| one.name().to_owned());
    let own = xml::child(scheduler, "schedulingAlgorithm").and_then(xml::type_of);
    own.map(str::to_owned).or_else(definition)
}

fn slice(node: Node<'_, '_>) -> Result<Duration, Problem> {
    let text = node.attribute("value").unwrap_or_default();
    let wrong = |why: String| Problem::at(xml::offset(node, "value"), format!("time slice: {why}"));
    match Duration::parse(text) {
        Ok(Duration::ZERO) => Err(wrong(format!("expected a time above zero, found {text:?}"))),
        Ok(time) => Ok(time),
        Err(error) => Err(wrong(error.to_string())),
    }
}
