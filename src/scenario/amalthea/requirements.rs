//! Requirements: by when tasks and runnables should have responded.

use std::collections::BTreeMap;

use roxmltree::Node;
use serde::Serialize;

use super::error::Problem;
use super::event_chains::{self, ChainLimit};
use super::{times, xml};
use crate::time::Duration;

/// Of what a requirement speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementOf {
    /// A task or interrupt routine.
    Process,
    /// A runnable.
    Runnable,
}

/// An upper limit of a response time: the only kind of requirement that is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Requirement {
    /// Its name.
    pub name: String,
    /// Of what it speaks.
    pub of: RequirementOf,
    /// The name of the task or runnable.
    pub target: String,
    /// The response time at most.
    pub response_time_ns: Duration,
}

/// Reads the requirements and the limits of event chains of the constraints models. All else that stands there is
/// counted in `skipped`.
pub(super) fn read<'a, 'i: 'a>(
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
        if kind == event_chains::LATENCY
            && let Some(limit) = event_chains::limit(root, node)?
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
    let response_time_ns = times::time(value)?;
    if response_time_ns == Duration::ZERO {
        let what = "expected a limit of response times of at least 1 ns, found 0, which nothing can meet";
        return Err(Problem::at(xml::offset(value, "value"), what));
    }
    Ok(Some(Requirement { name, of, target, response_time_ns }))
}
