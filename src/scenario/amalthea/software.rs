//! Runnables and the tasks that call them.

use std::collections::{BTreeMap, HashMap};

use roxmltree::Node;

use super::copies::direction_of;
use super::error::Problem;
use super::items::Items;
use super::labels::Labels;
use super::mapping::Mapping;
use super::model::{CopyRunnable, Runnable, Task};
use super::work::Item;
use super::{properties, xml};

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
    let direction = properties::copy_direction(node)?.or_else(|| direction_of(&name));
    let copy = match direction {
        Some(direction) => {
            let stated = properties::number(node, "Bytes")?;
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
        grid_size: properties::number_u32(node, "GridSize")?,
        block_size: properties::number_u32(node, "BlockSize")?,
        registers: properties::number_u32(node, "Registers")?,
        shared_memory: properties::number_u32(node, "SharedMemory")?,
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
        let mut names = Vec::new();
        Item::calls(&items, &mut names);
        let calls: Vec<usize> = names.into_iter().filter_map(|name| indices.get(name).copied()).collect();
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
