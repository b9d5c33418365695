//! How long accesses of cores to labels take.

use roxmltree::Node;

use super::labels::{self, LabelAccess};
use super::ticks::{TickRange, Ticks};
use super::{distribution, numbers, xml};
use crate::time::Duration;

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
        let widths = ports.filter_map(|port| numbers::whole(port, "bitWidth").ok()?.map(|bits| bits / 8));
        let line = lines.min().or_else(|| widths.min()).filter(|line| *line > 0);
        let paths = xml::children_named(node, "accessElements").filter_map(|path| {
            let latency = |key| xml::child(path, key).and_then(|value| distribution::read(value).ok());
            let is_known = |part: Node<'_, '_>| {
                let name = part.tag_name().name();
                ["destination", "readLatency", "writeLatency", "dataRate"].contains(&name)
            };
            Some(MemoryPath {
                memory: xml::reference(path, "destination")?.name().to_owned(),
                read: latency("readLatency"),
                write: latency("writeLatency"),
                rate: xml::child(path, "dataRate").and_then(rate),
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
    pub(super) fn lines(&self, access: &LabelAccess) -> Option<u64> {
        Some(access.bytes?.div_ceil(self.line?))
    }
}

/// A data rate above zero \[bits a second\].
fn rate(node: Node<'_, '_>) -> Option<u128> {
    let unit = labels::bits_of(node.attribute("unit")?.strip_suffix("PerSecond")?)?;
    let rate = numbers::millionths(node, "value").ok()??.checked_mul(unit)? / 1_000_000;
    (rate > 0).then_some(rate)
}
