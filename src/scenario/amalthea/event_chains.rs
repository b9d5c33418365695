//! Latency limits of event chains: how long it may take from the start of one runnable to the end of another.

use roxmltree::Node;

use super::error::Problem;
use super::{times, xml};
use crate::scenario::chain::ChainMeasure;
use crate::time::Duration;

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
pub(super) fn limit<'a, 'i: 'a>(root: Node<'a, 'i>, node: Node<'a, 'i>) -> Result<Option<ChainLimit>, Problem> {
    // By its local name alone, `xsi:type` would be found.
    let mut attributes = node.attributes().filter(|one| one.name() == "type" && one.namespace().is_none());
    let measure = match attributes.next().map(|one| one.value()) {
        Some("Reaction") => ChainMeasure::ReactionTime,
        Some("Age") => ChainMeasure::DataAge,
        _ => return Ok(None),
    };
    let limit = times::child_time(node, "maximum")?.filter(|most| *most > Duration::ZERO);
    let minimum = times::child_time(node, "minimum")?.filter(|least| *least > Duration::ZERO);
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
