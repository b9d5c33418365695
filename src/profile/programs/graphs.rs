//! Launches of CUDA graphs whose nodes ran in several streams: what the times say of their edges.

use std::collections::{BTreeMap, BTreeSet};

use super::Submitted;
use crate::profile::model::GpuProfile;

/// Of how many operations of a stream it is asked whether one of them ended before another began: more than the last
/// few run at once only by programmatic launches.
const LOOKED_AT: usize = 16;

/// The order that all launches of graphs keep beside that of streams. A call that submits to several streams is one.
#[derive(Debug, Default)]
pub(super) struct GraphOrder {
    /// Launches in several streams.
    pub(super) launches: u64,
    /// Operations, each with one that it waits for.
    pub(super) edges: Vec<(u32, u32)>,
    /// Calls, each with the stream that launches the graph, and an operation for which that waits behind the launch.
    pub(super) joins: Vec<(u32, u32, u32)>,
}

impl GraphOrder {
    /// That of the operations of `steps`, which stand by start.
    pub(super) fn of(profile: &GpuProfile, steps: &[Submitted]) -> Self {
        let mut by_call: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        // What comes next in its stream.
        let (mut last, mut next): (BTreeMap<u32, u32>, BTreeMap<u32, u32>) = (BTreeMap::new(), BTreeMap::new());
        for Submitted { index, .. } in steps {
            let operation = &profile.operations[*index as usize];
            if let Some(before) = last.insert(operation.stream, *index) {
                next.insert(before, *index);
            }
            if let Some(call) = operation.call {
                by_call.entry(call).or_default().push(*index);
            }
        }
        let mut order = Self::default();
        for (call, nodes) in by_call {
            let streams: BTreeSet<u32> = nodes.iter().map(|&node| profile.operations[node as usize].stream).collect();
            if streams.len() > 1 {
                order.launches += 1;
                order.add(profile, call, &nodes, &next);
            }
        }
        order
    }

    /// Adds that of one launch. A node waits for what ended last before it began where nothing in its own stream
    /// explains that it began no earlier; and what comes behind the launch waits for all of it, unless it did not.
    fn add(&mut self, profile: &GpuProfile, call: u32, nodes: &[u32], next: &BTreeMap<u32, u32>) {
        let operation = |node: u32| &profile.operations[node as usize];
        let Some(launching) = nodes.first().map(|&first| operation(first).stream) else { return };
        let mut branches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &node in nodes {
            let own = operation(node).stream;
            let free = branches.get(&own).and_then(|branch| branch.last()).map(|&before| operation(before).end_ns());
            let others = branches.iter().filter(|(stream, _)| **stream != own).filter_map(|(_, branch)| {
                let ended = |before: &&u32| operation(**before).end_ns() <= operation(node).start_ns;
                branch.iter().rev().take(LOOKED_AT).find(ended).copied()
            });
            let mut others: Vec<u32> =
                others.filter(|&before| free.is_none_or(|free| operation(before).end_ns() > free)).collect();
            if free.is_none() {
                // It begins a branch, behind one other node.
                crate::sorted::sort_by_key(&mut others, |&before| operation(before).end_ns());
                others.drain(..others.len().saturating_sub(1));
            }
            self.edges.extend(others.into_iter().map(|before| (node, before)));
            branches.entry(own).or_default().push(node);
        }
        let last = branches.get(&launching).and_then(|branch| branch.last());
        let behind = last.and_then(|last| next.get(last)).map(|&behind| operation(behind).start_ns);
        for (_, branch) in branches.iter().filter(|(stream, _)| **stream != launching) {
            let Some(&end) = branch.last() else { continue };
            if behind.is_none_or(|behind| operation(end).end_ns() <= behind) {
                self.joins.push((call, launching, end));
            }
        }
    }
}
