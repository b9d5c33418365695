//! When tasks are activated (stimuli), and by when they and event chains should have responded (constraints).

use std::collections::BTreeMap;

use roxmltree::Node;
use serde::Serialize;

use super::quantities;
use super::xml::{self, Problem};
use crate::scenario::{ChainMeasure, Requirement, RequirementOf};
use crate::time::Duration;

/// When a stimulus activates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "pattern")]
pub(crate) enum Activation {
    /// Every `period_ns` from `offset_ns` on.
    Periodic {
        /// The first activation.
        offset_ns: Duration,
        /// From one to the next.
        period_ns: Duration,
    },
    /// Not before `shortest_ns` have passed since the last activation, and, if that is stated, by `longest_ns`.
    Sporadic {
        /// The first activation.
        offset_ns: Duration,
        /// The least from one activation to the next.
        shortest_ns: Duration,
        /// The most from one activation to the next; `None`: not stated.
        longest_ns: Option<Duration>,
    },
    /// When a task triggers it, and so as often as that task is activated.
    Triggered,
    /// Once.
    Single {
        /// When.
        occurrence_ns: Duration,
    },
}

/// A stimulus that is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Stimulus {
    /// Its name.
    pub name: String,
    /// Its class in the schema: `PeriodicStimulus`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// When it activates.
    #[serde(flatten)]
    pub(crate) activation: Activation,
    /// The most by which an activation is late (or early), which a simulation does not use; `None`: no jitter.
    pub jitter_ns: Option<Duration>,
    /// Whether something that moves its activations is not read: a jitter without an upper bound, a scenario, a clock.
    #[serde(skip)]
    pub(super) is_moved: bool,
}

/// Reads the stimuli of the stimuli models, by name. What is not read is counted in `skipped`.
pub(super) fn read_stimuli<'a, 'i: 'a>(
    root: Node<'a, 'i>,
    skipped: &mut BTreeMap<String, u64>,
) -> Result<Vec<Stimulus>, Problem> {
    let mut stimuli = Vec::new();
    let models = xml::children_named(root, "stimuliModel");
    for node in models.flat_map(|model| xml::children_named(model, "stimuli")) {
        let kind = xml::type_of(node).unwrap_or("stimulus without xsi:type");
        let mut skip = |what: String| *skipped.entry(what).or_default() += 1;
        let Some(activation) = activation(node, kind)? else {
            skip(kind.to_owned());
            continue;
        };
        let jitter = xml::child(node, "jitter").or_else(|| deviation_of_periodic(node, kind));
        let jitter = jitter.map(quantities::time_bounds).transpose()?.and_then(|(_, upper)| upper);
        if xml::child(node, "jitter").is_some() || jitter.is_some() {
            skip(format!("jitter of {kind}"));
        }
        let has = |part: &str| xml::child(node, part).is_some() || node.has_attribute(part);
        for part in ["minDistance", "scenario", "clock"] {
            if has(part) {
                skip(format!("{part} of {kind}"));
            }
        }
        let is_moved = has("scenario") || has("clock") || has("jitter") && jitter.is_none();
        stimuli.push(Stimulus {
            name: xml::name_of(node).to_owned(),
            kind: kind.to_owned(),
            activation,
            jitter_ns: jitter,
            is_moved,
        });
    }
    Ok(stimuli)
}

/// To 0.8.3 the jitter of a periodic stimulus is called `stimulusDeviation`.
fn deviation_of_periodic<'a, 'i: 'a>(node: Node<'a, 'i>, kind: &str) -> Option<Node<'a, 'i>> {
    xml::child(node, "stimulusDeviation").filter(|_| ["PeriodicStimulus", "Periodic"].contains(&kind))
}

/// When a stimulus activates; `None` if it is of a class that is not read, or states no distance above zero.
fn activation(node: Node<'_, '_>, kind: &str) -> Result<Option<Activation>, Problem> {
    let offset = || Ok::<_, Problem>(quantities::child_time(node, "offset")?.unwrap_or(Duration::ZERO));
    let above_zero = |time: &Duration| *time > Duration::ZERO;
    Ok(match kind {
        "PeriodicStimulus" | "Periodic" => {
            let period = quantities::child_time(node, "recurrence")?.filter(above_zero);
            let offset_ns = offset()?;
            period.map(|period_ns| Activation::Periodic { offset_ns, period_ns })
        }
        // A sporadic stimulus of versions to 0.8.3 is what later ones call relative periodic.
        "RelativePeriodicStimulus" | "SporadicStimulus" | "Sporadic" => {
            let next = xml::child(node, "nextOccurrence").or_else(|| xml::child(node, "stimulusDeviation"));
            let (lower, longest_ns) = next.map(quantities::time_bounds).transpose()?.unwrap_or_default();
            let offset_ns = offset()?;
            lower.filter(above_zero).map(|shortest_ns| Activation::Sporadic { offset_ns, shortest_ns, longest_ns })
        }
        "InterProcessStimulus" | "InterProcess" => Some(Activation::Triggered),
        "SingleStimulus" | "Single" => {
            let occurrence =
                quantities::child_time(node, "occurrence")?.or(quantities::child_time(node, "activation")?);
            Some(Activation::Single { occurrence_ns: occurrence.unwrap_or(Duration::ZERO) })
        }
        _ => None,
    })
}

/// Reads the requirements and the limits of event chains of the constraints models. All else that stands there is
/// counted in `skipped`.
pub(super) fn read_constraints<'a, 'i: 'a>(
    root: Node<'a, 'i>,
    skipped: &mut BTreeMap<String, u64>,
) -> Result<(Vec<Requirement>, Vec<ChainLimit>), Problem> {
    let mut requirements = Vec::new();
    let mut limits: Vec<ChainLimit> = Vec::new();
    let mut event_chains = Vec::new();
    for node in xml::children_named(root, "constraintsModel").flat_map(xml::children) {
        let element = node.tag_name().name();
        let kind = xml::type_of(node).unwrap_or(element);
        if element == "eventChains" {
            event_chains.push(node);
            continue;
        }
        if kind == LATENCY
            && let Some(limit) = chain_limit(root, node)?
            // Chains are told apart by their names.
            && limits.iter().all(|known| known.name != limit.name)
        {
            limits.push(limit);
            continue;
        }
        let found = match (element, kind) {
            ("requirements", "ProcessRequirement") => of(node, RequirementOf::Process, "process")?,
            ("requirements", "RunnableRequirement") => of(node, RequirementOf::Runnable, "runnable")?,
            _ => None,
        };
        match found {
            Some(requirement) => requirements.push(requirement),
            None => *skipped.entry(described(node, kind)).or_default() += 1,
        }
    }
    let is_read = |node: &Node<'_, '_>| limits.iter().any(|limit| limit.chain == xml::name_of(*node));
    let unread = event_chains.iter().filter(|node| !is_read(node)).count();
    if unread > 0 {
        *skipped.entry("eventChains".to_owned()).or_default() += unread as u64;
    }
    Ok((requirements, limits))
}

/// The kind of something that is not read; of a requirement with what it limits.
fn described(node: Node<'_, '_>, kind: &str) -> String {
    let Some(limit) = xml::child(node, "limit") else { return kind.to_owned() };
    let parts = [limit.attribute("limitType"), limit.attribute("metric"), xml::type_of(limit)];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    format!("{kind} ({})", parts.join(" "))
}

fn of(node: Node<'_, '_>, of: RequirementOf, key: &str) -> Result<Option<Requirement>, Problem> {
    let Some(limit) = xml::child(node, "limit") else { return Ok(None) };
    let is_read = xml::type_of(limit) == Some("TimeRequirementLimit")
        && limit.attribute("limitType") == Some("UpperLimit")
        && limit.attribute("metric") == Some("ResponseTime");
    let value = xml::child(limit, "limitValue").filter(|_| is_read);
    let Some((target, value)) = xml::reference(node, key).zip(value) else { return Ok(None) };
    let (name, target) = (xml::name_of(node).to_owned(), target.name().to_owned());
    let response_time_ns = quantities::time(value)?;
    if response_time_ns == Duration::ZERO {
        let what = "expected a limit of response times of at least 1 ns, found 0, which nothing can meet";
        return Err(Problem::at(xml::offset(value, "value"), what));
    }
    Ok(Some(Requirement { name, of, target, response_time_ns }))
}

/// The type of constraints that are read, and counted where they are not.
pub(super) const LATENCY: &str = "EventChainLatencyConstraint";

/// An upper limit of the latency of an event chain whose segments lead from runnable to runnable.
#[derive(Debug, Clone)]
pub(super) struct ChainLimit {
    /// The name of the constraint.
    pub(super) name: String,
    /// The name of the event chain.
    pub(super) chain: String,
    pub(super) measure: ChainMeasure,
    pub(super) limit: Duration,
    /// Names, from the first to the last.
    pub(super) runnables: Vec<String>,
}

/// What an event says of a runnable.
#[derive(PartialEq, Eq)]
struct Event {
    runnable: String,
    is_start: bool,
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

/// The limit that a latency constraint is; `None` if it, or its chain, says something that is not read.
pub(super) fn chain_limit<'a, 'i: 'a>(root: Node<'a, 'i>, node: Node<'a, 'i>) -> Result<Option<ChainLimit>, Problem> {
    // By its local name alone, `xsi:type` would be found.
    let mut attributes = node.attributes().filter(|one| one.name() == "type" && one.namespace().is_none());
    let measure = match attributes.next().map(|one| one.value()) {
        Some("Reaction") => ChainMeasure::ReactionTime,
        Some("Age") => ChainMeasure::DataAge,
        _ => return Ok(None),
    };
    let limit = quantities::child_time(node, "maximum")?.filter(|most| *most > Duration::ZERO);
    let minimum = quantities::child_time(node, "minimum")?.filter(|least| *least > Duration::ZERO);
    let name = xml::name_of(node).to_owned();
    let Some(limit) = limit.filter(|_| minimum.is_none() && !name.is_empty()) else { return Ok(None) };
    Ok(scope(root, node).and_then(|chain| {
        let runnables = path(root, chain)?;
        Some(ChainLimit { name, chain: xml::name_of(chain).to_owned(), measure, limit, runnables })
    }))
}

/// The event chain of which a constraint speaks, if it is one.
fn scope<'a, 'i: 'a>(root: Node<'a, 'i>, node: Node<'a, 'i>) -> Option<Node<'a, 'i>> {
    match &xml::references(node, "scope")[..] {
        [one] => only(parts(root, "constraintsModel", "eventChains"), one.name()),
        _ => None,
    }
}

/// The runnables on the way of a chain: each segment begins with the event with which the one before it ends, the first
/// with the start of a runnable, and the last one ends with the end of one.
fn path<'a, 'i: 'a>(root: Node<'a, 'i>, chain: Node<'a, 'i>) -> Option<Vec<String>> {
    // From 1.0 on segments are items, which may also be parallel.
    let key = match chain.attribute("itemType") {
        None => "segments",
        Some("sequence") => "items",
        Some(_) => return None,
    };
    let mut events = vec![event(root, chain, "stimulus")?];
    for child in
        xml::children(chain).filter(|child| ["segments", "items", "strands"].contains(&child.tag_name().name()))
    {
        let segment = xml::child(child, "eventChain").filter(|_| child.tag_name().name() == key)?;
        let is_whole = xml::children(segment).all(|part| ["stimulus", "response"].contains(&part.tag_name().name()));
        if !is_whole || Some(&event(root, segment, "stimulus")?) != events.last() {
            return None;
        }
        events.push(event(root, segment, "response")?);
    }
    let is_ended = events.len() > 1 && events.last() == Some(&event(root, chain, "response")?);
    if !is_ended || !events.first()?.is_start || events.last()?.is_start {
        return None;
    }
    let mut runnables: Vec<String> = Vec::new();
    let mut before: Option<&Event> = None;
    for event in &events {
        match before {
            // A job goes from its start to its end, and not to the next job.
            Some(known) if known.runnable == event.runnable => {
                if !known.is_start || event.is_start {
                    return None;
                }
            }
            _ => runnables.push(event.runnable.clone()),
        }
        before = Some(event);
    }
    Some(runnables)
}

/// An event that is the start or the end of a runnable.
fn event<'a, 'i: 'a>(root: Node<'a, 'i>, node: Node<'a, 'i>, key: &str) -> Option<Event> {
    let event = only(parts(root, "eventModel", "events"), xml::reference(node, key)?.name())?;
    let is_start = match event.attribute("eventType") {
        Some("start") => true,
        Some("terminate") => false,
        _ => return None,
    };
    // In the context of one task, or in one of several ways.
    let is_plain = ["process", "processReference"].iter().all(|part| xml::reference(event, part).is_none());
    let runnable =
        xml::reference(event, "entity").filter(|_| is_plain && xml::type_of(event) == Some("RunnableEvent"))?;
    Some(Event { runnable: runnable.name().to_owned(), is_start })
}
