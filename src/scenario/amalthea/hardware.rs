//! Processing units and their clocks, in the forms of all schema versions.

use std::collections::{BTreeMap, HashMap};

use roxmltree::Node;

use super::error::Problem;
use super::frequency::Frequency;
use super::memory::MemoryPaths;
use super::model::ProcessingUnit;
use super::{labels, numbers, xml};
use crate::time::Decimal;

/// One in millionths.
const ONE: u64 = 1_000_000;

/// What processing units refer to, by name.
#[derive(Default)]
struct Parts<'a> {
    definitions: HashMap<&'a str, Definition>,
    frequencies: HashMap<&'a str, Option<Frequency>>,
    /// By category and feature \[10^-6\].
    features: HashMap<(&'a str, &'a str), u64>,
    /// Lines of caches \[bytes\].
    lines: HashMap<&'a str, u64>,
}

#[derive(Default, Clone)]
struct Definition {
    kind: Option<String>,
    /// Category and feature.
    features: Vec<(String, String)>,
    /// To 0.9.0 \[10^-6\].
    instructions_per_cycle: Option<u64>,
}

/// Reads the processing units of a hardware model.
pub(super) fn read(hardware: Node<'_, '_>) -> Result<Vec<ProcessingUnit>, Problem> {
    let mut parts = Parts::default();
    let mut units = Vec::new();
    for node in hardware.descendants().filter(Node::is_element) {
        let name = xml::name_of(node);
        match (node.tag_name().name(), xml::type_of(node)) {
            ("definitions" | "puDefinitions", Some("ProcessingUnitDefinition")) | ("puDefinitions", None) => {
                parts.definitions.insert(name, definition(node));
            }
            ("coreTypes", _) => {
                let instructions_per_cycle = per_cycle(node, "instructionsPerCycle")?;
                parts.definitions.insert(name, Definition { instructions_per_cycle, ..Definition::default() });
            }
            ("definitions", Some("CacheDefinition")) => {
                parts
                    .lines
                    .extend(xml::child(node, "lineSize").and_then(|line| Some((name, labels::bytes(line).ok()?))));
            }
            ("domains", Some("FrequencyDomain")) => {
                parts.frequencies.insert(name, frequency(xml::child(node, "defaultValue"))?);
            }
            ("quartzes", _) => {
                parts.frequencies.insert(name, frequency(xml::child(node, "frequency"))?);
            }
            ("features", _) => {
                let category = node.parent_element().map_or("", xml::name_of);
                if let Some(value) = per_cycle(node, "value")? {
                    parts.features.insert((category, name), value);
                }
            }
            ("modules", Some("ProcessingUnit")) | ("cores", _) => units.push(node),
            _ => {}
        }
    }
    units.into_iter().map(|node| parts.unit(node)).collect()
}

impl Parts<'_> {
    fn unit(&self, node: Node<'_, '_>) -> Result<ProcessingUnit, Problem> {
        let definition_name = xml::reference(node, "definition").or_else(|| xml::reference(node, "coreType"));
        let definition_name = definition_name.map(|reference| reference.name().to_owned());
        let definition = definition_name.as_deref().and_then(|name| self.definitions.get(name));
        let definition = definition.cloned().unwrap_or_default();
        let mut per_cycle: BTreeMap<String, u64> = BTreeMap::new();
        per_cycle.extend(definition.instructions_per_cycle.map(|value| ("Instructions".to_owned(), value)));
        for (category, feature) in definition.features {
            if let Some(&value) = self.features.get(&(category.as_str(), feature.as_str())) {
                per_cycle.insert(category, value);
            }
        }
        Ok(ProcessingUnit {
            name: xml::name_of(node).to_owned(),
            definition: definition_name,
            kind: definition.kind,
            frequency: self.clock(node)?,
            per_cycle,
            memories: MemoryPaths::read(node, |definition| self.lines.get(definition).copied()),
        })
    }

    /// From 0.9.1 a frequency domain; to 0.9.0 a quartz, multiplied by a prescaler.
    fn clock(&self, node: Node<'_, '_>) -> Result<Option<Frequency>, Problem> {
        let known = |holder: Node<'_, '_>, key: &str| {
            xml::reference(holder, key).and_then(|name| self.frequencies.get(name.name()).copied()).flatten()
        };
        let Some(prescaler) = xml::child(node, "prescaler") else { return Ok(known(node, "frequencyDomain")) };
        let ratio = numbers::millionths(prescaler, "clockRatio")?.unwrap_or(u128::from(ONE));
        Ok(known(prescaler, "quartz").and_then(|quartz| quartz.times(ratio)))
    }
}

fn definition(node: Node<'_, '_>) -> Definition {
    let references = node.attribute("features").unwrap_or_default().split_ascii_whitespace();
    let features = references.filter_map(|text| {
        let reference = super::names::Reference::parse(text);
        Some((reference.container()?.to_owned(), reference.name().to_owned()))
    });
    Definition {
        kind: node.attribute("puType").map(str::to_owned),
        features: features.collect(),
        instructions_per_cycle: None,
    }
}

/// Units per cycle above zero \[10^-6\].
fn per_cycle(node: Node<'_, '_>, attribute: &str) -> Result<Option<u64>, Problem> {
    let value = numbers::millionths(node, attribute)?.and_then(|value| u64::try_from(value).ok());
    Ok(value.filter(|&value| value > 0))
}

/// A frequency; `None` if it is absent, zero or without a unit.
fn frequency(node: Option<Node<'_, '_>>) -> Result<Option<Frequency>, Problem> {
    let Some(node) = node else { return Ok(None) };
    let Some(text) = node.attribute("value") else { return Ok(None) };
    let number = Decimal::parse(text.trim()).map_err(|error| {
        Problem::at(
            xml::offset(node, "value"),
            format!("expected a frequency from 0, found {text:?}, which is {error}"),
        )
    })?;
    Ok(Frequency::from_parts(number, node.attribute("unit").unwrap_or_default()))
}
