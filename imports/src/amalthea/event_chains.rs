//! Latency constraints of event chains: through which tasks or runnables they lead, and how long that may take.

use std::collections::BTreeSet;
use std::fmt;

use roxmltree::Node;

use super::quantities;
use super::xml::{self, Problem};
use crate::scenario::{ChainMeasure, RequirementOf};
use crate::time::Duration;

/// The type of constraints that are read, and counted where they are not.
pub(super) const LATENCY: &str = "EventChainLatencyConstraint";

/// The latency constraints of a model.
#[derive(Debug, Clone, Default)]
pub(super) struct EventChains {
    /// Those that are read, in document order.
    pub(super) limits: Vec<ChainLimit>,
    /// Why others are not, with their names, in document order.
    pub(super) unread: Vec<String>,
}

/// An upper limit of the latency of an event chain that leads from task to task, or from runnable to runnable.
#[derive(Debug, Clone)]
pub(super) struct ChainLimit {
    /// The name of the constraint.
    pub(super) name: String,
    /// The name of the event chain.
    pub(super) chain: String,
    pub(super) measure: ChainMeasure,
    pub(super) limit: Duration,
    /// How long it has to take at least, which is not judged.
    pub(super) minimum: Option<Duration>,
    /// Whether `path` names tasks or runnables.
    pub(super) of: RequirementOf,
    /// Names, from the first to the last.
    pub(super) path: Vec<String>,
    /// Whether it counts from the activation of its first task, and not from when that starts to run.
    pub(super) is_from_activation: bool,
}

impl EventChains {
    /// Reads a latency constraint; whether it is a limit now.
    pub(super) fn read<'a, 'i: 'a>(&mut self, root: Node<'a, 'i>, node: Node<'a, 'i>) -> Result<bool, Problem> {
        let name = xml::name_of(node);
        let read = match chain_limit(root, node)? {
            // Chains are told apart by their names.
            Ok(limit) if self.limits.iter().any(|known| known.name == limit.name) => {
                Err("another one has its name".to_owned())
            }
            read => read,
        };
        let is_read = read.is_ok();
        match read {
            Ok(limit) => self.limits.push(limit),
            Err(why) => self.unread.push(not_judged(name, &why)),
        }
        Ok(is_read)
    }
}

/// What is said of a constraint that is none of a chain of the scenario.
pub(super) fn not_judged(name: &str, why: &str) -> String {
    format!("{LATENCY} {name:?} is not judged: {why}")
}

/// When in a job an event comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Activated,
    Started,
    Ended,
}

/// What an event says of a task or runnable.
#[derive(Debug, PartialEq, Eq)]
struct Event {
    of: RequirementOf,
    name: String,
    moment: Moment,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = match self.moment {
            Moment::Activated => "activation",
            Moment::Started => "start",
            Moment::Ended => "end",
        };
        write!(f, "the {moment} of {:?}", self.name)
    }
}

/// The only one of `nodes` that has this name.
fn only<'a, 'i: 'a>(nodes: impl Iterator<Item = Node<'a, 'i>>, name: &str) -> Option<Node<'a, 'i>> {
    let mut found = nodes.filter(|node| xml::name_of(*node) == name);
    found.next().filter(|_| found.next().is_none())
}

/// The elements called `part` of the models called `model`.
fn parts<'a, 'i: 'a>(root: Node<'a, 'i>, model: &'a str, part: &'a str) -> impl Iterator<Item = Node<'a, 'i>> {
    xml::children_named(root, model).flat_map(move |model| xml::children_named(model, part))
}

/// The limit that a latency constraint is, or why it, or its chain, says something that is not read.
fn chain_limit<'a, 'i: 'a>(root: Node<'a, 'i>, node: Node<'a, 'i>) -> Result<Result<ChainLimit, String>, Problem> {
    // By its local name alone, `xsi:type` would be found.
    let mut attributes = node.attributes().filter(|one| one.name() == "type" && one.namespace().is_none());
    let measure = match attributes.next().map(|one| one.value()) {
        Some("Reaction") => Some(ChainMeasure::ReactionTime),
        Some("Age") => Some(ChainMeasure::DataAge),
        _ => None,
    };
    let above_zero = |time: &Duration| *time > Duration::ZERO;
    let limit = quantities::child_time(node, "maximum")?.filter(above_zero);
    let minimum = quantities::child_time(node, "minimum")?.filter(above_zero);
    let name = xml::name_of(node).to_owned();
    let read = || {
        let measure = measure.ok_or("its type is neither Reaction nor Age")?;
        let limit = limit.ok_or("it states no maximum above zero")?;
        if name.is_empty() {
            return Err("it has no name".to_owned());
        }
        let chain = scope(root, node)?;
        let events = events(root, chain)?;
        let path = path(&events)?;
        let of = events.first().map_or(RequirementOf::Process, |event| event.of);
        let is_from_activation = events.first().is_some_and(|event| event.moment == Moment::Activated);
        let chain = xml::name_of(chain).to_owned();
        Ok(ChainLimit { name, chain, measure, limit, minimum, of, path, is_from_activation })
    };
    Ok(read())
}

/// The event chain of which a constraint speaks, if it is one.
fn scope<'a, 'i: 'a>(root: Node<'a, 'i>, node: Node<'a, 'i>) -> Result<Node<'a, 'i>, String> {
    match &xml::references(node, "scope")[..] {
        [one] => only(parts(root, "constraintsModel", "eventChains"), one.name())
            .ok_or_else(|| format!("event chain {:?} is not in this model once", one.name())),
        others => Err(format!("its scope is {} event chains", others.len())),
    }
}

/// The events on the way of a chain: each segment begins with the event with which the one before it ends.
fn events<'a, 'i: 'a>(root: Node<'a, 'i>, chain: Node<'a, 'i>) -> Result<Vec<Event>, String> {
    // From 1.0 on segments are items, which may also be parallel.
    let key = match chain.attribute("itemType") {
        None => "segments",
        Some("sequence") => "items",
        Some(other) => return Err(format!("items of its event chain are {other}")),
    };
    let mut events = vec![event(root, chain, "stimulus")?];
    let response = event(root, chain, "response")?;
    for child in
        xml::children(chain).filter(|child| ["segments", "items", "strands"].contains(&child.tag_name().name()))
    {
        let segment = Some(child).filter(|child| child.tag_name().name() == key);
        let segment = segment.and_then(|child| xml::child(child, "eventChain"));
        let is_whole = |segment: &Node<'_, '_>| {
            xml::children(*segment).all(|part| ["stimulus", "response"].contains(&part.tag_name().name()))
        };
        let segment = segment
            .filter(is_whole)
            .ok_or("its event chain has something else than segments with a stimulus and a response of their own")?;
        let begin = event(root, segment, "stimulus")?;
        if Some(&begin) != events.last() {
            return Err(format!(
                "segment {:?} begins with {begin}, with which the one before it does not end",
                xml::name_of(segment)
            ));
        }
        events.push(event(root, segment, "response")?);
    }
    match &events[..] {
        // Of one job nobody else can be on the way.
        [first] if (first.of, &first.name) == (response.of, &response.name) => events.push(response),
        [_] => return Err("its event chain has no segments, which say who hands data on to whom".to_owned()),
        _ if events.last() != Some(&response) => {
            return Err(format!("its segments do not end with {response}"));
        }
        _ => {}
    }
    Ok(events)
}

/// The tasks or runnables on the way of a chain, which leads from the beginning of a job of the first to the end of one
/// of the last.
fn path(events: &[Event]) -> Result<Vec<String>, String> {
    let kinds: BTreeSet<bool> = events.iter().map(|event| event.of == RequirementOf::Process).collect();
    if kinds.len() > 1 {
        return Err("its events are of tasks as well as of runnables".to_owned());
    }
    // From within a job, or up to there, is shorter than what is measured here.
    if let Some(first) = events.first().filter(|first| first.moment == Moment::Ended) {
        return Err(format!("it counts from {first}, and chains count from where a job begins"));
    }
    if let Some(last) = events.last().filter(|last| last.moment != Moment::Ended) {
        return Err(format!("it counts to {last}, and chains count to where a job ends"));
    }
    let mut path: Vec<String> = Vec::new();
    let mut before: Option<&Event> = None;
    for event in events {
        match before {
            // A job goes from its activation over its start to its end, and not to the next job.
            Some(known) if known.name == event.name => match (known.moment, event.moment) {
                (Moment::Activated, Moment::Started | Moment::Ended) | (Moment::Started, Moment::Ended) => {}
                _ => return Err(format!("it goes from {known} to {event}, which are of different jobs")),
            },
            _ => path.push(event.name.clone()),
        }
        before = Some(event);
    }
    Ok(path)
}

/// An event that is the beginning or the end of a job of a task or runnable.
fn event<'a, 'i: 'a>(root: Node<'a, 'i>, node: Node<'a, 'i>, key: &str) -> Result<Event, String> {
    let chain = || format!("event chain {:?}", xml::name_of(node));
    let reference = xml::reference(node, key).ok_or_else(|| format!("{} states no {key}", chain()))?;
    let name = reference.name();
    let event = only(parts(root, "eventModel", "events"), name)
        .ok_or_else(|| format!("event {name:?} is not in this model once"))?;
    let entity = xml::reference(event, "entity");
    let entity = || entity.ok_or_else(|| format!("event {name:?} is of any entity"));
    let kind = xml::type_of(event).unwrap_or("Event");
    let of = match kind {
        "ProcessEvent" => RequirementOf::Process,
        "RunnableEvent" => RequirementOf::Runnable,
        "StimulusEvent" => {
            let name = activated(root, entity()?.name())?;
            return Ok(Event { of: RequirementOf::Process, name, moment: Moment::Activated });
        }
        _ => return Err(format!("event {name:?} is of type {kind}")),
    };
    let moment = match (event.attribute("eventType"), of) {
        (Some("activate"), RequirementOf::Process) => Moment::Activated,
        (Some("start"), _) => Moment::Started,
        (Some("terminate"), _) => Moment::Ended,
        (other, _) => return Err(format!("event {name:?} is of eventType {:?}", other.unwrap_or_default())),
    };
    // In the context of one task, on one core, or in one of several ways.
    let part = ["process", "processReference", "processingUnit"].into_iter();
    if let Some(part) = part.into_iter().find(|part| xml::reference(event, part).is_some()) {
        return Err(format!("event {name:?} is limited by its {part}"));
    }
    Ok(Event { of, name: entity()?.name().to_owned(), moment })
}

/// The only task that a stimulus activates.
fn activated(root: Node<'_, '_>, stimulus: &str) -> Result<String, String> {
    let has = |task: &Node<'_, '_>| xml::references(*task, "stimuli").iter().any(|one| one.name() == stimulus);
    let all: Vec<Node<'_, '_>> =
        ["tasks", "isrs"].into_iter().flat_map(|kind| parts(root, "swModel", kind)).filter(has).collect();
    match all[..] {
        [task] => Ok(xml::name_of(task).to_owned()),
        _ => Err(format!("stimulus {stimulus:?} activates {} tasks", all.len())),
    }
}
