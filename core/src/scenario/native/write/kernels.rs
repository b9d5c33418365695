//! Kernels in the native format.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Entry, Writer, time, unusual};
use crate::scenario::native::counters::END;
use crate::scenario::native::kernels::TRY_CANCEL;
use crate::time::Duration;
use crate::workload::{
    BlockClock, BlockTime, CheckedKernel, CounterValue, KernelId, PointAction, Programmatic, Share, Synchronization,
    WorkItems,
};

impl Writer<'_> {
    pub(super) fn kernels(&self) -> Map<String, Value> {
        let numbered = (0..).map(KernelId).zip(self.scenario.kernels().iter());
        let entries = numbered.map(|(id, kernel)| (self.kernels[id.index()].clone(), self.kernel(id, kernel)));
        entries.collect()
    }

    fn kernel(&self, id: KernelId, kernel: &CheckedKernel) -> Value {
        let mut entry = Entry::default();
        entry.put("blocks", kernel.blocks);
        entry.put("threads", kernel.shape.threads);
        let items = kernel.work_items();
        let in_loop = items.and_then(|items| match items {
            WorkItems::Loop { items, time } => Some((items, time)),
            WorkItems::TryCancel => None,
        });
        let BlockTime { best, worst } = in_loop.map_or(kernel.duration, |(_, time)| BlockTime::fixed(time));
        let bounds = || json!({"best": time(best), "worst": time(worst)});
        let until = until(kernel);
        if until.is_none() {
            entry.put("duration", if best == worst { time(worst).into() } else { bounds() });
        }
        entry.put_some(
            "until",
            until.map(
                |CounterValue { counter, value }| json!({"counter": self.counters[counter.index()], "value": value}),
            ),
        );
        entry.put_some("items", items.map(|_| in_loop.map_or_else(|| json!(TRY_CANCEL), |(items, _)| json!(items))));
        entry.put_some("clock", unusual(kernel.clock, BlockClock::name));
        let own_times = self.scenario.block_times.get(&id).filter(|_| in_loop.is_none());
        let listed = |times: &Arc<[Duration]>| {
            times.iter().take(kernel.blocks as usize).copied().map(time).collect::<Vec<String>>()
        };
        entry.put_some("block_times", own_times.map(listed));
        let Programmatic { trigger, wait, .. } = kernel.programmatic();
        for (key, share) in [("trigger", trigger), ("wait", Some(wait).filter(|wait| *wait != Share::ALL))] {
            entry.put_some(key, share.and_then(|share| share.to_string().parse::<serde_json::Number>().ok()));
        }
        self.synchronization(kernel, &mut entry);
        let clusters = kernel.clusters();
        entry.put_some("cluster", clusters.map(|clusters| clusters.size));
        entry.put_some("cluster_fallback", clusters.and_then(|clusters| clusters.fallback));
        entry.put_some("shared_memory_bytes", kernel.shape.shared_memory_bytes);
        entry.put_some("registers_per_thread", kernel.shape.registers_per_thread);
        entry.put_some("sm_mask", kernel.sm_mask.map(|mask| mask.to_string()));
        Value::Object(entry.0)
    }

    fn synchronization(&self, kernel: &CheckedKernel, entry: &mut Entry) {
        let Some(Synchronization { is_cooperative, points }) = kernel.synchronization() else { return };
        entry.put_some("cooperative", *is_cooperative);
        let last_wait = points.iter().rposition(|point| !matches!(point.action, PointAction::Signal(_)));
        let (mut signals, mut syncs, mut waits) = (Vec::new(), Vec::new(), Vec::new());
        for (place, point) in points.iter().enumerate() {
            let at = json!(point.at.to_string().parse::<serde_json::Number>().ok());
            match point.action {
                PointAction::Signal(counter) => {
                    let is_at_end = point.at == Share::ALL && last_wait.is_none_or(|last| last < place);
                    let at = if is_at_end { json!(END) } else { at };
                    signals.push(json!({"at": at, "counter": self.counters[counter.index()]}));
                }
                PointAction::GridSync => syncs.push(at),
                PointAction::Wait(_) if until(kernel).is_some() && point.at == Share::ALL => {}
                PointAction::Wait(CounterValue { counter, value }) => {
                    waits.push(json!({"at": at, "counter": self.counters[counter.index()], "value": value}));
                }
            }
        }
        entry.put_some("signal", signals);
        entry.put_some("grid_sync", syncs);
        entry.put_some("wait", waits);
    }
}

/// The value until which blocks of a persistent kernel run that do nothing else: the one that they wait for at the end
/// of no time.
fn until(kernel: &CheckedKernel) -> Option<CounterValue> {
    let points = &kernel.synchronization().filter(|_| kernel.duration.worst == Duration::ZERO)?.points;
    let mut waits = points.iter().filter_map(|point| match point.action {
        PointAction::Wait(value) if point.at == Share::ALL => Some(value),
        _ => None,
    });
    waits.next().filter(|_| waits.next().is_none())
}
