//! When tasks are activated (stimuli), and by when they should have responded (constraints).

use std::collections::BTreeMap;

use roxmltree::Node;
use serde::Serialize;

use super::event_chains::{EventChains, LATENCY};
use super::quantities;
use super::xml::{self, Problem};
use crate::scenario::{Requirement, RequirementOf};
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
        let bounds = jitter.map(quantities::time_bounds).transpose()?;
        // What may be early by any time is no jitter that a period and a lateness cover.
        let may_be_early = bounds.is_some_and(|(lower, _)| lower.is_none()) && jitter.is_some_and(is_gaussian);
        let jitter = bounds.and_then(|(_, upper)| upper).filter(|_| !may_be_early);
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

/// Whether a time is drawn from a normal distribution, which has no end but those that are stated.
fn is_gaussian(node: Node<'_, '_>) -> bool {
    let parts = [Some(node), xml::child(node, "deviation"), xml::child(node, "distribution")];
    let inner = xml::child(node, "deviation").and_then(|deviation| xml::child(deviation, "distribution"));
    let mut all = parts.into_iter().chain([inner]).flatten();
    all.any(|part| xml::type_of(part).is_some_and(|kind| kind.contains("Gauss")))
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
) -> Result<(Vec<Requirement>, EventChains), Problem> {
    let mut requirements = Vec::new();
    let mut chains = EventChains::default();
    let mut event_chains = Vec::new();
    for node in xml::children_named(root, "constraintsModel").flat_map(xml::children) {
        let element = node.tag_name().name();
        let kind = xml::type_of(node).unwrap_or(element);
        if element == "eventChains" {
            event_chains.push(node);
            continue;
        }
        if kind == LATENCY && chains.read(root, node)? {
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
    let is_read = |node: &Node<'_, '_>| chains.limits.iter().any(|limit| limit.chain == xml::name_of(*node));
    let unread = event_chains.iter().filter(|node| !is_read(node)).count();
    if unread > 0 {
        *skipped.entry("eventChains".to_owned()).or_default() += unread as u64;
    }
    Ok((requirements, chains))
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
