//! `green_contexts`: how the GPU is split, and what the parts are called.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::reading::{Reading, unknown};
use crate::json::{Node, Object, Problem};
use crate::scenario::fields;
use crate::workload::{GreenContextId, SmSplit};

/// Reads the list of splits, each with the green contexts that it makes.
pub(super) fn read(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    for node in node.filled_list()? {
        let mut entry = node.object()?;
        let sms = entry.required("sms")?.whole_u32(1, u32::MAX)?;
        let of = entry.optional("of")?.map(|of| known(of, reading)).transpose()?;
        let (mut all, mut names, mut taken) = (Vec::new(), Vec::new(), BTreeSet::new());
        for name_node in entry.required("names")?.filled_list()? {
            names.push(new_name(name_node, reading, &mut taken)?);
        }
        all.extend(names.iter().cloned());
        let remaining = entry.optional("remaining")?.map(|node| new_name(node, reading, &mut taken)).transpose()?;
        all.extend(remaining.clone());
        let work_queues = entry.optional("work_queues")?.map(|node| node.whole_u32(1, u32::MAX)).transpose()?;
        entry.finish()?;
        let added = reading.builder.add_split(SmSplit { sms, of, names, remaining, work_queues });
        let first = added.map_err(|error| node.problem(error.to_string()))?;
        for (name, number) in all.into_iter().zip(first.0..) {
            reading.green_contexts.insert(name.to_string(), GreenContextId(number));
        }
    }
    Ok(())
}

/// A name that nothing is called so far.
fn new_name(node: Node<'_>, reading: &Reading<'_, '_>, taken: &mut BTreeSet<String>) -> Result<Arc<str>, Problem> {
    let name = fields::name(node)?;
    if reading.green_contexts.contains_key(&name) || !taken.insert(name.clone()) {
        return Err(node.problem(format!("two green contexts are called {name:?}")));
    }
    Ok(name.into())
}

/// Takes the green context of a stream.
pub(super) fn of_stream(entry: &mut Object<'_>, reading: &Reading<'_, '_>) -> Result<Option<GreenContextId>, Problem> {
    entry.optional("green_context")?.map(|node| known(node, reading)).transpose()
}

fn known(node: Node<'_>, reading: &Reading<'_, '_>) -> Result<GreenContextId, Problem> {
    let name = fields::name(node)?;
    let found = reading.green_contexts.get(&name).copied();
    found.ok_or_else(|| unknown(node, "green context", &name, reading.green_contexts.keys()))
}
