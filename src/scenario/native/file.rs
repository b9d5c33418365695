//! The top level of a scenario file, and what its parts refer to each other by.

use std::collections::{BTreeMap, BTreeSet};

use super::{expected, hosts, kernels, streams};
use crate::device::{BUILTIN_NAMES, Device, read_device};
use crate::json::{Node, Object, Problem};
use crate::scenario::build::ScenarioBuilder;
use crate::scenario::fields;
use crate::scenario::model::{BarrierId, HostThread, Scenario, Step};
use crate::scenario::options::ReadOptions;
use crate::scenario::read::{default_device, finish};
use crate::workload::{EventId, KernelId, Placement, StreamId};

/// What `format` must say.
pub(super) const FORMAT: &str = "gpusched-scenario/1";

/// The stream that exists without being declared.
pub(super) const NULL_STREAM: &str = "NULL";

/// What reading a file leads to.
pub(super) struct Reading<'a, 'o> {
    pub(super) builder: ScenarioBuilder<'o>,
    /// Where each host thread stands in the file.
    nodes: Vec<Node<'a>>,
    pub(super) kernels: BTreeMap<String, NamedKernel>,
    pub(super) streams: BTreeMap<String, StreamId>,
    pub(super) barriers: BTreeMap<String, BarrierId>,
    pub(super) events: BTreeMap<String, EventId>,
    /// Kernels that something launches.
    launched: BTreeSet<KernelId>,
}

/// A kernel as the rest of the file refers to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedKernel {
    pub(super) id: KernelId,
    pub(super) blocks: u32,
    /// Whether its blocks take different times.
    pub(super) varies: bool,
    /// Whether its block time is the user's and not the file's.
    pub(super) given: bool,
}

impl<'a> Reading<'a, '_> {
    /// The kernel that `node` names, which thereby counts as launched.
    pub(super) fn kernel(&mut self, node: Node<'_>) -> Result<KernelId, Problem> {
        let name = node.string()?;
        let kernel = self.kernels.get(&name).ok_or_else(|| unknown(node, "kernel", &name, self.kernels.keys()))?;
        self.launched.insert(kernel.id);
        Ok(kernel.id)
    }

    /// The stream that `node` names.
    pub(super) fn stream(&self, node: Node<'_>) -> Result<StreamId, Problem> {
        let name = node.string()?;
        self.streams.get(&name).copied().ok_or_else(|| unknown(node, "stream", &name, self.streams.keys()))
    }

    /// The event that `node` names; the first mention makes it.
    pub(super) fn event(&mut self, node: Node<'_>) -> Result<EventId, Problem> {
        let name = fields::name(node)?;
        if let Some(&known) = self.events.get(&name) {
            return Ok(known);
        }
        let event = self.builder.add_event(name.as_str()).map_err(|error| node.problem(error.to_string()))?;
        self.events.insert(name, event);
        Ok(event)
    }

    /// Says which events nothing records, which are likely to be misspelt: nobody ever waits for them.
    fn note_unrecorded_events(&mut self) {
        let steps = self.builder.threads().iter().flat_map(|thread| &thread.steps);
        let recorded: BTreeSet<EventId> = steps
            .filter_map(|step| match step {
                Step::Record(event, _) => Some(*event),
                _ => None,
            })
            .collect();
        for (name, _) in self.events.iter().filter(|(_, event)| !recorded.contains(event)) {
            self.builder.note(format!("nothing records the event {name:?}, so nothing waits for it"));
        }
    }

    /// Adds the host thread that stands at `node`.
    pub(super) fn add_thread(&mut self, node: Node<'a>, thread: HostThread) {
        self.nodes.push(node);
        self.builder.add_thread(thread);
    }
}

/// A name that nothing in the file has.
pub(super) fn unknown<'n>(
    node: Node<'_>,
    what: &str,
    name: &str,
    known: impl ExactSizeIterator<Item = &'n String>,
) -> Problem {
    const SHOWN: usize = 12;
    let count = known.len();
    let mut list = known.take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if count > SHOWN {
        list.push_str(", …");
    }
    let problem = node.problem(format!("no {what} of this scenario is called {name:?}"));
    if list.is_empty() { problem } else { problem.with_help(format!("there are: {list}")) }
}

/// Reads the native scenario that `file` holds.
pub(in crate::scenario) fn read(mut file: Object<'_>, options: &ReadOptions) -> Result<Scenario, Problem> {
    let format = file.required("format")?;
    if format.string()? != FORMAT {
        return Err(format.expected(&format!("{FORMAT:?}, the only version there is")));
    }
    let name = file.required("name")?.string()?;
    file.optional("source")?.map(|node| node.string()).transpose()?;
    let own_device = device(&mut file)?;
    let placement = file.optional("placement")?.map(placement).transpose()?;
    let seed = file.optional("seed")?.map(|node| node.whole_number(0, u64::MAX)).transpose()?;
    let horizon = fields::positive_time(&mut file, "horizon")?;

    let sms = own_device.sms;
    let mut builder = ScenarioBuilder::new(name, own_device.clone(), options);
    builder.settings(placement, seed, horizon);
    let mut reading = Reading {
        builder,
        nodes: Vec::new(),
        kernels: BTreeMap::new(),
        streams: BTreeMap::from([(NULL_STREAM.to_owned(), StreamId::NULL)]),
        barriers: BTreeMap::new(),
        events: BTreeMap::new(),
        launched: BTreeSet::new(),
    };
    if let Some(node) = file.optional("kernels")? {
        kernels::read(node, &mut reading)?;
    }
    if let Some(node) = file.optional("streams")? {
        streams::read(node, &mut reading)?;
    }
    if let Some(node) = file.optional("hosts")? {
        hosts::read(node, &mut reading)?;
    }
    let expected = file.optional("expected")?.map(|node| expected::read(node, &reading.kernels, sms)).transpose()?;
    let root = file.node();
    file.finish()?;

    if reading.nodes.is_empty() {
        return Err(root
            .problem("nothing in this scenario launches anything")
            .with_help("give a stream \"operations\", or add \"hosts\" that launch kernels"));
    }
    reading.note_unrecorded_events();
    let kernels = std::mem::take(&mut reading.kernels);
    for name in kernels.iter().filter(|(_, kernel)| !reading.launched.contains(&kernel.id)).map(|(name, _)| name) {
        reading.builder.note(format!("kernel {name:?} is never launched"));
    }
    let Reading { builder, nodes, .. } = reading;
    let mut scenario = finish(builder, root, |thread| nodes.get(thread).copied().unwrap_or(root))?;
    scenario.expected = expected.map(|mut expected| {
        expected.placement = placement.unwrap_or_default();
        let own = expected::Own { device: &own_device, placement: expected.placement, seed, horizon };
        expected.replaced = expected::replaced(&own, options, &kernels);
        expected
    });
    Ok(scenario)
}

/// A built-in device by name, or one written out in the form of a device file.
fn device(file: &mut Object<'_>) -> Result<Device, Problem> {
    let Some(node) = file.optional("device")? else { return default_device(file.node()) };
    if node.is_object() {
        return read_device(node);
    }
    let refuse = || node.expected(&format!("a built-in device ({}) or a device object", BUILTIN_NAMES.join(", ")));
    let name = node.string().map_err(|_| refuse())?;
    Device::builtin(&name).ok().flatten().ok_or_else(refuse)
}

fn placement(node: Node<'_>) -> Result<Placement, Problem> {
    let known = Placement::ALL.map(|policy| format!("{:?}", policy.name())).join(", ");
    let name = node.string().map_err(|_| node.expected(&known))?;
    Placement::from_name(&name).ok_or_else(|| node.expected(&format!("one of {known}")))
}
