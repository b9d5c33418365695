//! Labels: the data that runnables read and write, and their sizes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use roxmltree::Node;

use super::error::Problem;
use super::mapping::Mapping;
use super::names::Reference;
use super::{numbers, xml};

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
    let number = u128::from(numbers::whole(size, "value")?.unwrap_or(0));
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
