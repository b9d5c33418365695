//! `chains`: which jobs hand data to one another, and how old it may get.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::operations;
use super::reading::{Reading, unknown};
use crate::json::{Node, Object, Problem};
use crate::scenario::chain_links::BadLink;
use crate::scenario::model::{Chain, ChainLink, LinkOperation};
use crate::scenario::reader;

/// Reads the list of chains, once all streams and hosts are known.
pub(super) fn read(node: Node<'_>, reading: &mut Reading<'_, '_>) -> Result<(), Problem> {
    let mut names = BTreeSet::new();
    for node in node.filled_list()? {
        let mut entry = node.object()?;
        let name_node = entry.required("name")?;
        let name = reader::filled_name(name_node)?;
        if !names.insert(name.clone()) {
            return Err(name_node.problem(format!("two chains are called {name:?}")));
        }
        let links = entry.required("path")?.filled_list()?;
        let links = links.into_iter().map(|node| link(node, reading)).collect::<Result<_, Problem>>()?;
        let reaction_time = reader::positive_time(&mut entry, "reaction_time")?;
        let data_age = reader::positive_time(&mut entry, "data_age")?;
        entry.finish()?;
        reading.builder.add_chain(Chain { name: name.into(), links, reaction_time, data_age });
    }
    Ok(())
}

/// The name of a stream with operations or of a host, or an object with it.
fn link(node: Node<'_>, reading: &Reading<'_, '_>) -> Result<ChainLink, Problem> {
    if !node.is_object() {
        return Ok(ChainLink::whole(job(node, reading)?));
    }
    let mut entry = node.object()?;
    let thread = job(entry.required("job")?, reading)?;
    let reads = operation(&mut entry, "reads", reading)?;
    let writes = operation(&mut entry, "writes", reading)?;
    entry.finish()?;
    let link = ChainLink { thread, reads, writes };
    link.check(reading.builder.so_far()).map_err(|bad| {
        node.problem(match bad {
            BadLink::Absent => "this job has no such kernel or copy",
            BadLink::SeveralStreams => {
                "this job has such kernels or copies in several streams, of which none is the last"
            }
            BadLink::WritesFirst => "what \"writes\" says must come behind what \"reads\" says, in the same stream",
        })
    })?;
    Ok(link)
}

/// The number of the stream with operations, or of the host, that `node` names.
pub(super) fn job(node: Node<'_>, reading: &Reading<'_, '_>) -> Result<u32, Problem> {
    let name = node.string()?;
    let threads = reading.builder.threads();
    let names: Vec<String> = threads.iter().map(|thread| thread.label.to_string()).collect();
    let found = (0..).zip(&names).find(|(_, known)| **known == name).map(|(number, _)| number);
    found.ok_or_else(|| unknown(node, "stream with operations or host", &name, names.iter()))
}

fn operation(
    entry: &mut Object<'_>,
    key: &'static str,
    reading: &Reading<'_, '_>,
) -> Result<Option<LinkOperation>, Problem> {
    let Some(node) = entry.optional(key)? else { return Ok(None) };
    let mut entry = node.object()?;
    let operation = if operations::kind(&entry, &["kernel", "copy"])? == "kernel" {
        let node = entry.required("kernel")?;
        reading.kernels.get(node)?;
        LinkOperation::Kernel(node.string()?.into())
    } else {
        LinkOperation::Copy(operations::direction(entry.required("copy")?)?)
    };
    entry.finish()?;
    Ok(Some(operation))
}

/// A chain as the file has it, where its threads have these names, and kernels theirs behind `prefix`; `None`: one has
/// none.
pub(super) fn write<'n>(chain: &Chain, prefix: &str, name: impl Fn(u32) -> Option<&'n String>) -> Option<Value> {
    let operation = |operation: &LinkOperation| match operation {
        LinkOperation::Kernel(title) => json!({"kernel": format!("{prefix}{title}")}),
        LinkOperation::Copy(direction) => json!({"copy": direction.name()}),
    };
    let link = |link: &ChainLink| {
        let mut entry = Map::from_iter([("job".to_owned(), json!(name(link.thread)?))]);
        for (key, point) in [("reads", &link.reads), ("writes", &link.writes)] {
            entry.extend(point.iter().map(|point| (key.to_owned(), operation(point))));
        }
        Some(if entry.len() == 1 { json!(name(link.thread)?) } else { Value::Object(entry) })
    };
    let path = chain.links.iter().map(link).collect::<Option<Vec<Value>>>()?;
    let mut entry = Map::from_iter([
        ("name".to_owned(), json!(format!("{prefix}{}", chain.name))),
        ("path".to_owned(), path.into()),
    ]);
    for (key, limit) in [("reaction_time", chain.reaction_time), ("data_age", chain.data_age)] {
        entry.extend(limit.map(|limit| (key.to_owned(), json!(limit.to_string()))));
    }
    Some(Value::Object(entry))
}
