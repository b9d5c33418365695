//! Runnables, their custom properties, the copies that some of them are, and the tasks that call them.

use std::collections::{BTreeMap, HashMap};

use roxmltree::Node;

use super::hardware::Labels;
use super::items::{Item, Items};
use super::mapping::Mapping;
use super::model::{AmaltheaModel, CopyRunnable, Runnable, Task};
use super::quantities;
use super::xml::{self, Problem};
use crate::device::CopyDirection;

/// Types of items that state work, wherever they stand.
const WORK: [&str; 3] = ["Ticks", "RunnableInstructions", "ExecutionNeed"];

/// How versions of the schema call what is not stated.
const UNDEFINED: [&str; 2] = ["undefined", "_undefined_"];

/// Reads the runnables of the software models.
pub(super) fn runnables<'a, 'i: 'a>(
    software: &[Node<'a, 'i>],
    mapping: &Mapping,
    skipped: &mut BTreeMap<String, u64>,
) -> Result<Vec<Runnable>, Problem> {
    let labels = Labels::read(software, mapping)?;
    let nodes = software.iter().flat_map(|&model| xml::children_named(model, "runnables"));
    nodes.map(|node| runnable(node, &labels, skipped)).collect()
}

fn runnable<'a, 'i: 'a>(
    node: Node<'a, 'i>,
    labels: &Labels<'_>,
    skipped: &mut BTreeMap<String, u64>,
) -> Result<Runnable, Problem> {
    let name = xml::name_of(node).to_owned();
    let mut unread = BTreeMap::new();
    let mut reader = Items::new(&mut unread);
    let items = reader.within(node)?;
    let Items { reads, writes, has_access_details, .. } = reader;
    let direction = copy_direction(node)?.or_else(|| direction_of(&name));
    let copy = match direction {
        Some(direction) => {
            let stated = property(node, "Bytes")?;
            let bytes = stated.or_else(|| labels.total(&reads)).or_else(|| labels.total(&writes));
            Some(CopyRunnable { direction, bytes })
        }
        None => None,
    };
    let mut accesses = Vec::new();
    if copy.is_none() && reads.len() + writes.len() > 0 {
        accesses.extend(reads.iter().map(|label| labels.access(label, false)));
        accesses.extend(writes.iter().map(|label| labels.access(label, true)));
        *skipped.entry("LabelAccess".to_owned()).or_default() += accesses.len() as u64;
    }
    let triggers = Item::triggers(&items);
    for (kind, count) in &unread {
        *skipped.entry(kind.clone()).or_default() += count;
    }
    Ok(Runnable {
        name,
        items,
        grid_size: property_u32(node, "GridSize")?,
        block_size: property_u32(node, "BlockSize")?,
        registers: property_u32(node, "Registers")?,
        shared_memory: property_u32(node, "SharedMemory")?,
        copy,
        accesses,
        unread: unread.into_keys().chain(has_access_details.then(|| "details of a LabelAccess".to_owned())).collect(),
        triggers,
        offset: node.range().start,
    })
}

/// The tasks and interrupt routines that call runnables or trigger others. `indices` knows runnables by name.
pub(super) fn tasks<'a, 'i: 'a>(
    software: &[Node<'a, 'i>],
    indices: &HashMap<&str, usize>,
    skipped: &mut BTreeMap<String, u64>,
) -> Result<Vec<Task>, Problem> {
    let is_task = |child: &Node<'_, '_>| ["tasks", "isrs"].contains(&child.tag_name().name());
    let mut tasks = Vec::new();
    for node in software.iter().flat_map(|&model| xml::children(model)).filter(is_task) {
        let mut unread = BTreeMap::new();
        let mut reader = Items::new(&mut unread);
        let items = reader.within(node)?;
        let accesses = reader.reads.len() + reader.writes.len();
        if accesses > 0 {
            unread.insert("LabelAccess".to_owned(), accesses as u64);
        }
        let triggers = Item::triggers(&items);
        let calls: Vec<usize> = Item::calls(&items).into_iter().filter_map(|name| indices.get(name).copied()).collect();
        for (kind, count) in &unread {
            *skipped.entry(format!("{kind} in a task")).or_default() += count;
        }
        if !calls.is_empty() || !triggers.is_empty() {
            let stimuli = xml::references(node, "stimuli").into_iter().map(|one| one.name().to_owned()).collect();
            let name = xml::name_of(node).to_owned();
            let waits = unread.contains_key("WaitEvent");
            tasks.push(Task {
                name,
                stimuli,
                items,
                calls,
                triggers,
                waits,
                unread: unread.into_keys().collect(),
                is_isr: node.tag_name().name() == "isrs",
                is_preemptive: node
                    .attribute("preemption")
                    .filter(|kind| !UNDEFINED.contains(kind))
                    .map(|kind| kind == "preemptive"),
            });
        }
        let work = node.descendants().filter(|node| xml::type_of(*node).is_some_and(|kind| WORK.contains(&kind)));
        for kind in work.filter_map(xml::type_of) {
            *skipped.entry(format!("{kind} in a task")).or_default() += 1;
        }
    }
    Ok(tasks)
}

/// The value of the custom property `key`, if the element has it.
fn property_value<'a, 'i: 'a>(node: Node<'a, 'i>, key: &str) -> Result<Option<Node<'a, 'i>>, Problem> {
    let mut found =
        xml::children_named(node, "customProperties").filter(|property| property.attribute("key") == Some(key));
    let Some(property) = found.next() else { return Ok(None) };
    if let Some(second) = found.next() {
        return Err(Problem::at(second.range().start, format!("the custom property {key} is given twice")));
    }
    let value = xml::child(property, "value");
    value
        .map(Some)
        .ok_or_else(|| Problem::at(property.range().start, format!("the custom property {key} has no value")))
}

/// A custom property that is a whole number.
fn property(node: Node<'_, '_>, key: &str) -> Result<Option<u64>, Problem> {
    let Some(value) = property_value(node, key)? else { return Ok(None) };
    match xml::type_of(value) {
        Some("IntegerObject" | "LongObject" | "StringObject") => {
            let number = quantities::whole(value, "value")
                .map_err(|problem| Problem { what: format!("custom property {key}: {}", problem.what), ..problem })?;
            Ok(Some(number.unwrap_or(0)))
        }
        other => Err(Problem::at(
            value.range().start,
            format!(
                "custom property {key}: expected an IntegerObject, LongObject or StringObject, found {}",
                other.unwrap_or("no xsi:type")
            ),
        )),
    }
}

/// A custom property that is a whole number of 32 bits.
fn property_u32(node: Node<'_, '_>, key: &str) -> Result<Option<u32>, Problem> {
    let Some(number) = property(node, key)? else { return Ok(None) };
    u32::try_from(number).map(Some).map_err(|_| {
        let offset = property_value(node, key).ok().flatten().unwrap_or(node).range().start;
        Problem::at(offset, format!("custom property {key}: expected at most 2^32 - 1, found {number}"))
    })
}

/// The custom property `Copy`: the direction of a copy.
fn copy_direction(node: Node<'_, '_>) -> Result<Option<CopyDirection>, Problem> {
    let Some(value) = property_value(node, "Copy")? else { return Ok(None) };
    let text = value.attribute("value").unwrap_or_default();
    [CopyDirection::HostToDevice, CopyDirection::DeviceToHost]
        .into_iter()
        .find(|direction| direction.name() == text)
        .map(Some)
        .ok_or_else(|| {
            Problem::at(
                xml::offset(value, "value"),
                format!("custom property Copy: expected \"host-to-device\" or \"device-to-host\", found {text:?}"),
            )
        })
}

/// Ends of names of copy runnables, as letters and digits only.
const ENDINGS: [(&str, CopyDirection); 4] = [
    ("hosttodevice", CopyDirection::HostToDevice),
    ("h2d", CopyDirection::HostToDevice),
    ("devicetohost", CopyDirection::DeviceToHost),
    ("d2h", CopyDirection::DeviceToHost),
];

/// Ends of names of the functions between copies, which their copies' names may lack.
const FUNCTIONS: [&str; 2] = ["function", "kernel"];

/// A name without anything but letters and digits, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The direction of the copy that a runnable of this name does, and what is left of the name.
fn by_name(name: &str) -> Option<(CopyDirection, String)> {
    let plain = plain(name);
    ENDINGS.iter().find_map(|(ending, direction)| Some((*direction, plain.strip_suffix(ending)?.to_owned())))
}

/// The direction of the copy that a runnable of this name does: `SFM_host_to_device`, `Detection D2H`.
pub(super) fn direction_of(name: &str) -> Option<CopyDirection> {
    by_name(name).map(|(direction, _)| direction)
}

/// Copies of one runnable, by index: those before it and those after it.
#[derive(Debug, Default)]
pub(super) struct Around {
    pub(super) before: Vec<usize>,
    pub(super) after: Vec<usize>,
}

/// The copies around runnable `index`: in the first task that calls it next to copies, or else those of its name.
pub(super) fn around(model: &AmaltheaModel<'_>, index: usize) -> Around {
    let is = |runnable: &usize, direction| {
        let copy = model.runnables.get(*runnable).and_then(|runnable| runnable.copy);
        copy.is_some_and(|copy| copy.direction == direction)
    };
    for task in model.tasks.iter().map(|task| &task.calls) {
        for (at, _) in task.iter().enumerate().filter(|(_, called)| **called == index) {
            let before = task[..at].iter().rev().take_while(|called| is(called, CopyDirection::HostToDevice));
            let after = task[at + 1..].iter().take_while(|called| is(called, CopyDirection::DeviceToHost));
            let mut found = Around { before: before.copied().collect(), after: after.copied().collect() };
            found.before.reverse();
            if !found.before.is_empty() || !found.after.is_empty() {
                return found;
            }
        }
    }
    let Some(runnable) = model.runnables.get(index) else { return Around::default() };
    let named = |direction| {
        let belongs = |(_, copy): &(usize, &Runnable)| {
            copy.copy.is_some_and(|copy| copy.direction == direction)
                && by_name(&copy.name).is_some_and(|(_, stem)| is_stem(&stem, &runnable.name))
        };
        model.runnables.iter().enumerate().filter(belongs).map(|(index, _)| index).collect()
    };
    Around { before: named(CopyDirection::HostToDevice), after: named(CopyDirection::DeviceToHost) }
}

/// Whether copies called `stem…` belong to a runnable called `name`.
fn is_stem(stem: &str, name: &str) -> bool {
    let name = plain(name);
    !stem.is_empty() && (name == stem || FUNCTIONS.iter().any(|ending| name.strip_suffix(ending) == Some(stem)))
}
