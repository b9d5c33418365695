//! Which host threads depend on one another, and in which order they acted.
//!
//! Threads that submit to one stream, or of which one waits for what another records, hand work over in ways that a
//! profile does not show: the main thread of a training script waits while another computes gradients. What is kept is
//! the recorded order of their calls, so that each goes on only once those before it have.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use rustc_hash::FxHashMap;

use super::Submitted;
use super::events::Events;
use crate::joined::Joined;
use crate::limits::count_turn;
use crate::profile::model::GpuProfile;
use crate::scenario::Step;
use crate::workload::EventId;

/// Something that a host thread did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Act {
    /// When it began, on the clock of the recording.
    pub(super) at_ns: u64,
    /// `None`: the file does not have the call.
    pub(super) thread: Option<u32>,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// Everything that a call submitted.
    Submit(u32),
    /// It waited until then.
    Wait(Step, u64),
    Unseen(Submitted),
}

/// Sets of host threads and streams that have to do with one another.
#[derive(Debug)]
pub(super) struct Groups {
    /// Threads, then streams.
    joined: Joined,
    threads: usize,
}

impl Groups {
    pub(super) fn new(profile: &GpuProfile, by_call: &FxHashMap<u32, Vec<Submitted>>, events: &Events) -> Self {
        let threads = profile.threads.len();
        let mut groups = Self { joined: Joined::new(threads + profile.streams.len()), threads };
        let thread_of = |call: u32| profile.calls.get(call as usize).map(|call| call.thread as usize);
        let mut recorded_by: FxHashMap<EventId, usize> = FxHashMap::default();
        let mut waited_by: Vec<(EventId, usize)> =
            events.host_waits.iter().filter_map(|(&call, &(event, _))| Some((event, thread_of(call)?))).collect();
        for (&call, submitted) in by_call {
            let Some(thread) = thread_of(call) else { continue };
            for submitted in submitted {
                groups.joined.join(thread, threads + profile.operations[submitted.index as usize].stream as usize);
                for step in events.behind.get(&submitted.index).into_iter().flatten() {
                    if let Step::Record(event, _) = step {
                        recorded_by.insert(*event, thread);
                    }
                }
            }
        }
        for (&call, list) in &events.at_call {
            let Some(thread) = thread_of(call) else { continue };
            for (stream, step) in list {
                groups.joined.join(thread, threads + *stream as usize);
                match step {
                    Step::Record(event, _) => _ = recorded_by.insert(*event, thread),
                    Step::Wait(event, _) => waited_by.push((*event, thread)),
                    _ => {}
                }
            }
        }
        for (event, thread) in waited_by {
            if let Some(&by) = recorded_by.get(&event) {
                groups.joined.join(thread, by);
            }
        }
        groups
    }

    pub(super) fn of_thread(&self, thread: u32) -> usize {
        self.joined.of(thread as usize)
    }

    pub(super) fn of_stream(&self, stream: u32) -> usize {
        self.joined.of(self.threads + stream as usize)
    }
}

/// Puts what was done in the order in which it took effect: by time, but what a thread did keeps its order, and so do
/// the operations of a stream. A wait during which others acted ends after the last of them that began before its end.
pub(super) fn in_recorded_order(
    profile: &GpuProfile,
    mut acts: Vec<Act>,
    by_call: &FxHashMap<u32, Vec<Submitted>>,
) -> Vec<Act> {
    crate::sorted::sort_by_key(&mut acts, |act| act.at_ns);
    let starts: Vec<(u64, Option<u32>)> = acts.iter().map(|act| (act.at_ns, act.thread)).collect();
    for (place, act) in acts.iter_mut().enumerate() {
        if let What::Wait(_, until_ns) = act.what {
            let meanwhile = &starts[place..starts.partition_point(|(at_ns, _)| *at_ns < until_ns).max(place)];
            let last = meanwhile.iter().rfind(|(_, thread)| *thread != act.thread);
            act.at_ns = last.map_or(act.at_ns, |(at_ns, _)| *at_ns);
        }
    }
    crate::sorted::sort_by_key(&mut acts, |act| (act.at_ns, matches!(act.what, What::Wait(..))));
    let orders = orders(profile, &acts, by_call);
    sorted(acts.len(), &orders).into_iter().map(|place| acts[place]).collect()
}

/// Pairs of places of which the first comes before the second: in a thread, and in a stream.
fn orders(profile: &GpuProfile, acts: &[Act], by_call: &FxHashMap<u32, Vec<Submitted>>) -> Vec<(usize, usize)> {
    let mut orders = Vec::new();
    let mut of_stream: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
    let mut last_of_thread: FxHashMap<u32, usize> = FxHashMap::default();
    for (place, act) in acts.iter().enumerate() {
        orders.extend(act.thread.and_then(|thread| Some((last_of_thread.insert(thread, place)?, place))));
        let submitted = match &act.what {
            What::Submit(call) => by_call.get(call).map_or(&[][..], Vec::as_slice),
            What::Unseen(submitted) => std::slice::from_ref(submitted),
            What::Wait(..) => &[],
        };
        for submitted in submitted {
            let stream = profile.operations[submitted.index as usize].stream;
            of_stream.entry(stream).or_default().push((submitted.index, place));
        }
    }
    for list in of_stream.values_mut() {
        // Operations are numbered by start. One call may submit several.
        list.sort_unstable();
        orders.extend(list.windows(2).map(|pair| (pair[0].1, pair[1].1)).filter(|(first, second)| first != second));
    }
    orders
}

/// Numbers up to `count` in these orders, else by size; where orders contradict one another, the smallest comes first.
fn sorted(count: usize, orders: &[(usize, usize)]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut before = vec![0_usize; count];
    for &(first, second) in orders {
        after[first].push(second);
        before[second] += 1;
    }
    let mut free: BinaryHeap<Reverse<usize>> = (0..count).filter(|place| before[*place] == 0).map(Reverse).collect();
    let (mut sorted, mut done) = (Vec::with_capacity(count), vec![false; count]);
    // Each number comes up here once all before it are done, and once more by itself, which matters in a contradiction.
    for smallest in 0..count {
        while let Some(Reverse(place)) = free.pop().or_else(|| (!done[smallest]).then_some(Reverse(smallest))) {
            count_turn();
            if std::mem::replace(&mut done[place], true) {
                continue;
            }
            sorted.push(place);
            for &next in &after[place] {
                before[next] -= 1;
                if before[next] == 0 {
                    free.push(Reverse(next));
                }
            }
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_kept_and_contradictions_end() {
        assert_eq!(sorted(4, &[(2, 0), (3, 1)]), [2, 0, 3, 1]);
        assert_eq!(sorted(4, &[(1, 2), (2, 1), (3, 0)]), [3, 0, 1, 2]);
    }
}
