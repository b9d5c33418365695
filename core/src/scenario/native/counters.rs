//! Counters, and what blocks, streams and hosts do on them; launches that are cooperative.

use std::collections::BTreeSet;

use super::reading::Reading;
use crate::json::{Node, Object, Problem};
use crate::scenario::host_thread::Step;
use crate::scenario::reader;
use crate::workload::{
    CounterId, CounterValue, PointAction, ProcessId, Share, SyncPoint, Synchronization, ValueId, WorkloadError,
};

/// Where a point of a block's time is that has a name.
pub(super) const START: &str = "start";
pub(super) const END: &str = "end";

/// What a kernel says of other blocks.
pub(super) struct Stated {
    pub(super) synchronization: Synchronization,
    /// Whether blocks run until a counter has a value, and no longer.
    pub(super) is_until: bool,
}

/// Reads `cooperative`, `signal`, `grid_sync` and `until` of a kernel; `waits` is its `wait`, where that is a list.
pub(super) fn of_kernel(
    entry: &mut Object<'_>,
    waits: Option<Node<'_>>,
    reading: &mut Reading<'_, '_>,
) -> Result<Stated, Problem> {
    if let Some(node) = entry.optional("preferred_shared_memory_carveout")? {
        return Err(node.problem(
            "a preferred carve-out of shared memory is a hint, and no source says what a split does to blocks while \
             others run: state \"shared_memory_bytes\" that keeps them apart in its place",
        ));
    }
    let is_cooperative = entry.optional("cooperative")?.map_or(Ok(false), |node| node.boolean())?;
    let (mut points, mut at_end) = (Vec::new(), Vec::new());
    for node in list(entry.optional("signal")?)? {
        let mut signal = node.object()?;
        let at = signal.required("at")?;
        let counter = reading.counter(signal.required("counter")?)?;
        signal.finish()?;
        if at.text().is_ok_and(|text| text == END) {
            at_end.push(counter);
        } else {
            points.push(SyncPoint { at: place(at)?, action: PointAction::Signal(counter) });
        }
    }
    for at in list(entry.optional("grid_sync")?)? {
        points.push(SyncPoint { at: share(at)?, action: PointAction::GridSync });
    }
    for node in list(waits)? {
        let mut wait = node.object()?;
        let at = place(wait.required("at")?)?;
        let value = value_of(&mut wait, "counter", reading)?;
        wait.finish()?;
        points.push(SyncPoint { at, action: PointAction::Wait(value) });
    }
    let until = entry.optional("until")?;
    if let Some(node) = until {
        let value = if node.is_object() {
            let mut until = node.object()?;
            let value = value_of(&mut until, "counter", reading)?;
            until.finish()?;
            value
        } else {
            CounterValue { counter: reading.counter(node)?, value: 1 }
        };
        points.push(SyncPoint { at: Share::ALL, action: PointAction::Wait(value) });
    }
    let synchronization = Synchronization::in_order(is_cooperative, points).with_signals_at_end(at_end);
    Ok(Stated { synchronization, is_until: until.is_some() })
}

fn list(node: Option<Node<'_>>) -> Result<Vec<Node<'_>>, Problem> {
    node.map_or(Ok(Vec::new()), |node| node.filled_list())
}

/// A share of a block's time.
pub(super) fn share(node: Node<'_>) -> Result<Share, Problem> {
    let expected = || node.expected("a share of the block's time, from 0 to 1");
    let parts = node.decimal()?.scaled(9, 1_000_000_000).map_err(|_| expected())?;
    u32::try_from(parts).ok().and_then(Share::of_billion).ok_or_else(expected)
}

/// A share of a block's time, or its start.
fn place(node: Node<'_>) -> Result<Share, Problem> {
    match node.text() {
        Ok(text) if text == START => Ok(Share::NONE),
        Ok(_) => Err(node.expected("a share of the block's time, from 0 to 1, or \"start\"")),
        Err(_) => share(node),
    }
}

/// A counter, under the key `key`, and the `value` that is waited for or written.
fn value_of(entry: &mut Object<'_>, key: &'static str, reading: &mut Reading<'_, '_>) -> Result<CounterValue, Problem> {
    let counter = reading.counter(entry.required(key)?)?;
    Ok(CounterValue { counter, value: entry.required("value")?.whole_number(0, u64::MAX)? })
}

/// The value that an operation or a step waits for or writes, by its key.
pub(super) fn value(
    entry: &mut Object<'_>,
    key: &'static str,
    reading: &mut Reading<'_, '_>,
) -> Result<ValueId, Problem> {
    let node = entry.node();
    let value = value_of(entry, key, reading)?;
    reading.builder.add_value(value).map_err(|error| node.problem(error.to_string()))
}

/// A step of a host that waits for a value, or writes it: in a stream, or in memory if it names none.
pub(super) fn step(
    key: &'static str,
    entry: &mut Object<'_>,
    process: ProcessId,
    reading: &mut Reading<'_, '_>,
) -> Result<Step, Problem> {
    let waits = key == WAIT_VALUE;
    let stream = entry.optional("stream")?.map(|node| reading.stream_of(node, process)).transpose()?;
    let value = value(entry, key, reading)?;
    if let Some(stream) = stream {
        reading.last.insert(stream, None);
    }
    Ok(match (stream, waits) {
        (Some(stream), true) => Step::WaitValue(value, stream),
        (Some(stream), false) => Step::WriteValue(value, stream),
        (None, true) => Step::AwaitValue(value),
        (None, false) => Step::SetValue(value),
    })
}

/// The keys of operations and steps on counters.
pub(super) const WAIT_VALUE: &str = "wait_value";
pub(super) const WRITE_VALUE: &str = "write_value";

impl Reading<'_, '_> {
    /// The counter that `node` names; the first mention makes it.
    fn counter(&mut self, node: Node<'_>) -> Result<CounterId, Problem> {
        let name = reader::filled_name(node)?;
        if let Some(&known) = self.counters.get(&name) {
            return Ok(known);
        }
        let counter = self.builder.add_counter(name.as_str());
        let counter = counter.map_err(|error: WorkloadError| node.problem(error.to_string()))?;
        self.counters.insert(name, counter);
        Ok(counter)
    }

    /// Says which counters nothing changes, or nothing waits for: they are likely to be misspelt.
    pub(super) fn note_lonely_counters(&mut self) {
        let scenario = self.builder.so_far();
        let (mut changed, mut awaited): (BTreeSet<CounterId>, BTreeSet<CounterId>) = Default::default();
        for kernel in scenario.kernels().iter() {
            for point in kernel.synchronization().map_or(&[][..], |all| &all.points) {
                match point.action {
                    PointAction::Signal(counter) => _ = changed.insert(counter),
                    PointAction::Wait(value) => _ = awaited.insert(value.counter),
                    PointAction::GridSync => {}
                }
            }
        }
        let values = scenario.catalogue.values();
        let counter = |value: ValueId| values.get(value.index()).map(|value| value.counter);
        for step in self.builder.threads().iter().flat_map(|thread| &thread.steps) {
            match *step {
                Step::WriteValue(value, _) | Step::SetValue(value) => changed.extend(counter(value)),
                Step::WaitValue(value, _) | Step::AwaitValue(value) => awaited.extend(counter(value)),
                _ => {}
            }
        }
        for (name, counter) in &self.counters {
            if !changed.contains(counter) {
                self.builder.note(format!("nothing signals or writes the counter {name:?}: it stays 0"));
            } else if !awaited.contains(counter) {
                self.builder.note(format!("nothing waits for the counter {name:?}"));
            }
        }
    }
}
