//! Processing units, their clocks, and how long they take to access labels, in the forms of all schema versions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use roxmltree::Node;
use serde::Serialize;

use super::mapping::Mapping;
use super::quantities::{self, Frequency, TickRange, Ticks};
use super::xml::{self, Problem, Reference};
use crate::time::{Decimal, Duration};

/// A processing unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ProcessingUnit {
    /// Its name.
    pub name: String,
    /// Its processing unit definition (core type).
    pub definition: Option<String>,
    /// `puType` of the definition: `CPU`, `GPU`, …
    pub kind: Option<String>,
    /// Its clock; `None` if the model does not say.
    #[serde(rename = "frequency_hz")]
    pub frequency: Option<Frequency>,
    /// Units done in one cycle, by hardware feature category \[10^-6\].
    #[serde(skip)]
    pub(super) per_cycle: BTreeMap<String, u64>,
    /// How it reaches memories.
    #[serde(skip)]
    pub(super) memories: MemoryPaths,
}

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
pub(super) fn read_units(hardware: Node<'_, '_>) -> Result<Vec<ProcessingUnit>, Problem> {
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
                parts.lines.extend(xml::child(node, "lineSize").and_then(|line| Some((name, bytes(line).ok()?))));
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
        let ratio = quantities::millionths(prescaler, "clockRatio")?.unwrap_or(u128::from(ONE));
        Ok(known(prescaler, "quartz").and_then(|quartz| quartz.times(ratio)))
    }
}

fn definition(node: Node<'_, '_>) -> Definition {
    let references = node.attribute("features").unwrap_or_default().split_ascii_whitespace();
    let features = references.filter_map(|text| {
        let reference = super::xml::Reference::parse(text);
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
    let value = quantities::millionths(node, attribute)?.and_then(|value| u64::try_from(value).ok());
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

/// How a processing unit reaches memories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MemoryPaths {
    /// What it moves at once \[bytes\]: a line of its cache, or the width of its port; `None`: neither is stated.
    line: Option<u64>,
    paths: Vec<MemoryPath>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct MemoryPath {
    memory: String,
    read: Option<TickRange>,
    write: Option<TickRange>,
    /// Bits a second.
    rate: Option<u128>,
    /// Whether that is all that is stated of it.
    is_plain: bool,
}

impl MemoryPaths {
    /// Of the processing unit that `node` is. `line_of` knows the lines of cache definitions \[bytes\].
    pub(super) fn read(node: Node<'_, '_>, line_of: impl Fn(&str) -> Option<u64>) -> Self {
        let is_cache = |node: &Node<'_, '_>| xml::type_of(*node) == Some("Cache");
        let beside = node.parent_element().into_iter().flat_map(|parent| xml::children_named(parent, "modules"));
        let caches = xml::children_named(node, "caches").chain(beside.filter(is_cache));
        let lines = caches.filter_map(|cache| line_of(xml::reference(cache, "definition")?.name()));
        let ports = xml::children_named(node, "ports");
        let widths = ports.filter_map(|port| quantities::whole(port, "bitWidth").ok()?.map(|bits| bits / 8));
        let line = lines.min().or_else(|| widths.min()).filter(|line| *line > 0);
        let paths = xml::children_named(node, "accessElements").filter_map(|path| {
            let latency = |key| xml::child(path, key).and_then(|value| quantities::read_range(value).ok());
            let is_known = |part: Node<'_, '_>| {
                let name = part.tag_name().name();
                ["destination", "readLatency", "writeLatency", "dataRate"].contains(&name)
            };
            Some(MemoryPath {
                memory: xml::reference(path, "destination")?.name().to_owned(),
                read: latency("readLatency"),
                write: latency("writeLatency"),
                rate: xml::child(path, "dataRate").and_then(data_rate),
                is_plain: xml::children(path).all(is_known) && path.attribute("accessPath").is_none(),
            })
        });
        Self { line, paths: paths.collect() }
    }

    /// What an access takes at most, in cycles of the processing unit and time beside these; `None`: not stated.
    pub(super) fn time(&self, access: &LabelAccess) -> Option<(Ticks, Duration)> {
        let (bytes, memory, lines) = (access.bytes?, access.memory.as_deref()?, self.lines(access)?);
        let mut all = self.paths.iter().filter(|path| path.memory == memory);
        let path = all.next().filter(|path| path.is_plain && all.next().is_none())?;
        let latency = if access.is_write { path.write } else { path.read };
        if latency.is_none() && path.rate.is_none() {
            return None;
        }
        let cycles = match latency {
            Some(latency) => latency.upper.or(latency.value)?.millionths().checked_mul(u128::from(lines))?,
            None => 0,
        };
        let rest = match path.rate {
            Some(rate) => (u128::from(bytes) * 8_000_000_000).div_ceil(rate),
            None => 0,
        };
        let rest = Duration::from_ns(u64::try_from(rest).ok()?);
        Some((Ticks::from_millionths(cycles), rest))
    }

    /// How many lines an access moves; `None`: not stated.
    fn lines(&self, access: &LabelAccess) -> Option<u64> {
        Some(access.bytes?.div_ceil(self.line?))
    }

    /// How many lines an access moves at most, each of a byte if it is not stated how long they are; `None`: the size
    /// of the label is not stated.
    pub(super) fn most_lines(&self, access: &LabelAccess) -> Option<u64> {
        self.lines(access).or(access.bytes)
    }
}

/// A data rate above zero \[bits a second\].
fn data_rate(node: Node<'_, '_>) -> Option<u128> {
    let unit = bits_of(node.attribute("unit")?.strip_suffix("PerSecond")?)?;
    let rate = quantities::millionths(node, "value").ok()??.checked_mul(unit)? / 1_000_000;
    (rate > 0).then_some(rate)
}

/// Sizes of all labels \[bytes\], by name.
pub(super) struct Labels<'a> {
    sizes: HashMap<&'a str, u64>,
    mapping: &'a Mapping,
}

/// An access of a runnable to a label.
#[derive(Debug, Clone)]
pub(super) struct LabelAccess {
    /// The label's size; `None`: not stated.
    pub(super) bytes: Option<u64>,
    /// The memory in which it is; `None`: not stated.
    pub(super) memory: Option<Arc<str>>,
    pub(super) is_write: bool,
}

/// Units of a data size, each as its number of bits.
const BITS: [(&str, u128); 19] = [
    ("bit", 1),
    ("kbit", 1_000),
    ("Mbit", 1_000_000),
    ("Gbit", 1_000_000_000),
    ("Tbit", 1_000_000_000_000),
    ("Kibit", 1 << 10),
    ("Mibit", 1 << 20),
    ("Gibit", 1 << 30),
    ("Tibit", 1 << 40),
    ("B", 8),
    // To 0.7.2.
    ("byte", 8),
    ("kB", 8_000),
    ("MB", 8_000_000),
    ("GB", 8_000_000_000),
    ("TB", 8_000_000_000_000),
    ("KiB", 8 << 10),
    ("MiB", 8 << 20),
    ("GiB", 8 << 30),
    ("TiB", 8 << 40),
];

impl<'a> Labels<'a> {
    /// Reads the labels of the software models.
    pub(super) fn read<'i: 'a>(software: &[Node<'a, 'i>], mapping: &'a Mapping) -> Result<Self, Problem> {
        let mut sizes = HashMap::new();
        for label in software.iter().flat_map(|&model| xml::children_named(model, "labels")) {
            if let Some(size) = xml::child(label, "size") {
                sizes.insert(xml::name_of(label), bytes(size)?);
            }
        }
        Ok(Self { sizes, mapping })
    }

    /// An access to the label to which `reference` leads.
    pub(super) fn access(&self, reference: &str, is_write: bool) -> LabelAccess {
        let reference = Reference::parse(reference);
        let name = reference.name();
        LabelAccess { bytes: self.sizes.get(name).copied(), memory: self.mapping.memory_of(name), is_write }
    }

    /// The sum of the sizes of these labels, each counted once; `None` without any label of known size.
    pub(super) fn total(&self, references: &[&str]) -> Option<u64> {
        let names: BTreeSet<String> =
            references.iter().map(|reference| Reference::parse(reference).name().to_owned()).collect();
        let mut known = names.iter().filter_map(|name| self.sizes.get(name.as_str())).peekable();
        known.peek()?;
        Some(known.fold(0, |sum, &size| sum.saturating_add(size)))
    }
}

/// The bits of one unit of a data size; `None`: it is none.
pub(super) fn bits_of(unit: &str) -> Option<u128> {
    BITS.iter().find(|(name, _)| *name == unit).map(|(_, bits)| *bits)
}

/// The size that an element states \[bytes\].
pub(super) fn bytes(size: Node<'_, '_>) -> Result<u64, Problem> {
    let number = u128::from(quantities::whole(size, "value")?.unwrap_or(0));
    let unit = size.attribute("unit").unwrap_or_default();
    let Some(bits) = bits_of(unit) else {
        // A size of nothing needs no unit.
        if number == 0 {
            return Ok(0);
        }
        return Err(Problem::at(
            xml::offset(size, "unit"),
            format!("expected a unit of data size such as B, kB or MiB, found {unit:?}"),
        ));
    };
    u64::try_from((number * bits).div_ceil(8))
        .map_err(|_| Problem::at(xml::offset(size, "value"), "this is more than 2^64 bytes"))
}
