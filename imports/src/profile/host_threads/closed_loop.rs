//! Host threads that wait for the GPU where the recorded ones did.
//!
//! Threads that submit to one stream, or of which one waits for what another records, hand work over in ways that a
//! profile does not show: the main thread of a training script waits while another computes gradients. What is kept is
//! the recorded order of their calls, so that each goes on only once those before it have.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use rustc_hash::{FxHashMap, FxHashSet};

use super::events::Events;
use super::{HostThreads, Program, Submitted};
use crate::device::CopyDirection;
use crate::joined::Joined;
use crate::limits::count_turn;
use crate::profile::gpu_profile::{CallKind, GpuProfile, HostCall, ProfiledKind, SyncKind};
use crate::profile::submissions::Submissions;
use crate::scenario::Step;
use crate::words::counted;
use crate::workload::{EventId, StreamId};

/// What submits without a call that the file has: when it is taken to do so.
pub(super) type WithoutCall = (Submitted, u64);

/// Adds one thread for each host thread of the recording, or for several of them whose calls depend on one another.
///
/// A thread takes the recorded time between its calls. A call that waited ends when what it waited for has ended, and
/// what the host did after that takes as long as it did.
pub(super) fn add(
    (profile, gpu, submissions): (&GpuProfile, u32, &Submissions<'_>),
    (steps, submitted_at): (&[Submitted], &[Option<u64>]),
    unseen: &[WithoutCall],
    streams: &BTreeMap<u32, StreamId>,
    events: &Events,
    hosts: &mut HostThreads,
) {
    let mut by_call: FxHashMap<u32, Vec<Submitted>> = FxHashMap::default();
    for submitted in steps {
        if let Some(call) = profile.operations[submitted.index as usize].call {
            by_call.entry(call).or_default().push(*submitted);
        }
    }
    let groups = Groups::new(profile, &by_call, events);
    let mut last_submission: BTreeMap<usize, u32> = BTreeMap::new();
    let mut first_submission = u64::MAX;
    for &call in by_call.keys().chain(events.at_call.keys()) {
        let Some(stated) = profile.calls.get(call as usize) else { continue };
        let last = last_submission.entry(groups.of_thread(stated.thread)).or_insert(call);
        *last = call.max(*last);
        first_submission = first_submission.min(stated.start_ns);
    }
    let waits = Waits::new((profile, gpu, submissions), streams, events);
    let mut by_group: BTreeMap<usize, Vec<Action>> = BTreeMap::new();
    let mut inferred = 0;
    for (index, call) in (0..).zip(&profile.calls) {
        let group = groups.of_thread(call.thread);
        let counts = last_submission.get(&group).is_some_and(|last| index <= *last);
        let own = by_call.get(&index).and_then(|submitted| submitted.last()).map(|submitted| submitted.index);
        let submits = own.is_some() || events.at_call.contains_key(&index);
        if counts && (submits || may_wait(call) && call.start_ns >= first_submission) {
            let actions = by_group.entry(group).or_default();
            let action = |what| Action { at_ns: call.start_ns, thread: Some(call.thread), what };
            if submits {
                actions.push(action(ActionKind::Submit(index)));
            }
            if let Some((step, until)) = waits.step(index, call, own, &mut inferred) {
                let until = until.max(call.start_ns);
                actions.push(action(ActionKind::Wait(step, until)));
            }
        }
    }
    for &(submitted, at_ns) in unseen {
        let group = groups.of_stream(profile.operations[submitted.index as usize].stream);
        let what = ActionKind::SubmitUncalled(submitted);
        by_group.entry(group).or_default().push(Action { at_ns, thread: None, what });
    }
    for actions in by_group.into_values() {
        let actions = in_recorded_order(profile, actions, &by_call);
        let Some(first) = actions.first() else { continue };
        let mut program = Program::new(first.at_ns);
        for action in &actions {
            program.at(action.at_ns);
            match action.what {
                ActionKind::Submit(call) => {
                    let between = events.at_call.get(&call).into_iter().flatten();
                    program.steps.extend(between.map(|(_, step)| *step));
                    for submitted in by_call.get(&call).into_iter().flatten() {
                        program.at(submitted_at.get(submitted.index as usize).copied().flatten().unwrap_or(0));
                        program.submit(*submitted, events);
                    }
                    program.steps.extend(events.after_call.get(&call).into_iter().flatten());
                }
                ActionKind::Wait(step, until_ns) => {
                    program.steps.push(step);
                    program.now_ns = until_ns;
                }
                ActionKind::SubmitUncalled(submitted) => program.submit(submitted, events),
            }
        }
        let threads = actions.iter().filter_map(|action| action.thread).collect();
        program.finish(label(profile, &actions, hosts), threads, hosts);
    }
    if inferred > 0 {
        hosts.notes.push(format!(
            "{} of the host for a stream that the file does not name: taken is the stream whose operation ended last \
             before the call returned, of those that were done with all they had by then",
            counted(inferred, "wait")
        ));
    }
}

/// What the program of these is called; where it is of several threads, that is noted.
fn label(profile: &GpuProfile, actions: &[Action], hosts: &mut HostThreads) -> String {
    let one_process = profile.threads.iter().all(|thread| thread.process == profile.threads[0].process);
    let mut threads: Vec<u32> = actions.iter().filter_map(|action| action.thread).collect();
    let hand_overs = threads.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let mut seen = FxHashSet::default();
    threads.retain(|thread| seen.insert(*thread));
    let name = |thread: &u32| {
        let Some(named) = profile.threads.get(*thread as usize) else { return String::new() };
        if one_process {
            format!("thread {}", named.thread)
        } else {
            format!("process {} thread {}", named.process, named.thread)
        }
    };
    let first = threads.first().map_or_else(String::new, name);
    if threads.len() < 2 {
        return first;
    }
    hosts.notes.push(format!(
        "{} host threads submit to the same streams, or wait for one another's events: they are one program, in the \
         recorded order, with {} from one to another",
        threads.len(),
        counted(hand_overs, "hand-over")
    ));
    format!("{first} and {} more", threads.len() - 1)
}

/// What host calls waited for.
struct Waits<'a> {
    profile: &'a GpuProfile,
    submissions: &'a Submissions<'a>,
    streams: &'a BTreeMap<u32, StreamId>,
    /// Ends of operations with their streams, by end.
    ends: Vec<(u64, u32)>,
    /// The same, by stream.
    ends_in: BTreeMap<u32, Vec<u64>>,
    /// The stream that a call waited for, as far as the profile says.
    stated: FxHashMap<u32, u32>,
    events: &'a Events,
}

impl<'a> Waits<'a> {
    fn new(
        (profile, gpu, submissions): (&'a GpuProfile, u32, &'a Submissions<'a>),
        streams: &'a BTreeMap<u32, StreamId>,
        events: &'a Events,
    ) -> Self {
        let on_gpu = profile.operations.iter().filter(|operation| profile.gpu_of(operation.stream) == gpu);
        let mut ends: Vec<(u64, u32)> = on_gpu.map(|operation| (operation.end_ns(), operation.stream)).collect();
        ends.sort_unstable();
        let mut ends_in: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for &(end, stream) in &ends {
            ends_in.entry(stream).or_default().push(end);
        }
        let of_streams = profile.syncs.iter().filter(|sync| sync.kind == SyncKind::Stream);
        let stated = of_streams.filter_map(|sync| Some((sync.call?, sync.stream?))).collect();
        Self { profile, submissions, streams, ends, ends_in, stated, events }
    }

    /// The step that waits as a call did, and until when the recorded one waited; the call's own start if it did not.
    /// `own` is what the call itself submitted last.
    fn step(&self, index: u32, call: &HostCall, own: Option<u32>, inferred: &mut u64) -> Option<(Step, u64)> {
        match call.kind {
            CallKind::Asynchronous | CallKind::OwnOperation => {
                let operation = &self.profile.operations[own? as usize];
                let ProfiledKind::Copy { direction, pageable, .. } = operation.kind else { return None };
                // A copy to memory that is not page-locked returns once it is done, whatever it is called.
                let blocks =
                    call.kind == CallKind::OwnOperation || pageable && direction == CopyDirection::DeviceToHost;
                let waited = operation.end_ns() <= call.end_ns;
                blocks.then_some((Step::AwaitLast, if waited { operation.end_ns() } else { call.start_ns }))
            }
            CallKind::DeviceSync => Some((Step::SynchronizeDevice, last_before(&self.ends, |end| end.0, call))),
            CallKind::StreamSync => self.stream_step(index, call, inferred),
            CallKind::EventSync => {
                let &(event, until) = self.events.host_waits.get(&index)?;
                Some((Step::SynchronizeEvent(event), until.min(call.end_ns)))
            }
            CallKind::StreamWait | CallKind::Record => None,
        }
    }

    /// Whether all that a stream had been given before a call was done when that returned: else it did not wait for it.
    fn was_done(&self, stream: u32, call: &HostCall) -> bool {
        let last = self.submissions.last_before(stream, call.start_ns);
        last.is_none_or(|last| self.profile.operations[last as usize].end_ns() <= call.end_ns)
    }

    fn stream_step(&self, index: u32, call: &HostCall, inferred: &mut u64) -> Option<(Step, u64)> {
        let stream = if let Some(stream) = self.stated.get(&index) {
            *stream
        } else {
            // If nothing ended meanwhile, it had nothing to wait for.
            let from = self.ends.partition_point(|(end, _)| *end <= call.start_ns);
            let until = self.ends.partition_point(|(end, _)| *end <= call.end_ns);
            let ended = self.ends.get(from..until)?.iter().rev();
            let (_, stream) = ended.copied().find(|&(_, stream)| self.was_done(stream, call))?;
            *inferred += 1;
            stream
        };
        let until = self.ends_in.get(&stream).map_or(call.start_ns, |ends| last_before(ends, |end| *end, call));
        let id = self.streams.get(&stream)?;
        Some((Step::SynchronizeStream(*id), until))
    }
}

/// Whether a call can have waited for the GPU.
fn may_wait(call: &HostCall) -> bool {
    matches!(call.kind, CallKind::DeviceSync | CallKind::StreamSync | CallKind::EventSync)
}

/// The end of what ended last until a call returned, but not before the call's own start.
fn last_before<T>(ends: &[T], end: impl Fn(&T) -> u64, call: &HostCall) -> u64 {
    let after = ends.partition_point(|entry| end(entry) <= call.end_ns);
    after.checked_sub(1).map_or(call.start_ns, |last| end(&ends[last]).max(call.start_ns))
}

/// Something that a host thread did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Action {
    /// When it began, on the clock of the recording.
    pub(super) at_ns: u64,
    /// `None`: the file does not have the call.
    pub(super) thread: Option<u32>,
    pub(super) what: ActionKind,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum ActionKind {
    /// Everything that a call submitted.
    Submit(u32),
    /// It waited until then.
    Wait(Step, u64),
    SubmitUncalled(Submitted),
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
    mut actions: Vec<Action>,
    by_call: &FxHashMap<u32, Vec<Submitted>>,
) -> Vec<Action> {
    crate::sorted::sort_by_key(&mut actions, |action| action.at_ns);
    let starts: Vec<(u64, Option<u32>)> = actions.iter().map(|action| (action.at_ns, action.thread)).collect();
    for (place, action) in actions.iter_mut().enumerate() {
        if let ActionKind::Wait(_, until_ns) = action.what {
            let meanwhile = &starts[place..starts.partition_point(|(at_ns, _)| *at_ns < until_ns).max(place)];
            let last = meanwhile.iter().rfind(|(_, thread)| *thread != action.thread);
            action.at_ns = last.map_or(action.at_ns, |(at_ns, _)| *at_ns);
        }
    }
    crate::sorted::sort_by_key(&mut actions, |action| (action.at_ns, matches!(action.what, ActionKind::Wait(..))));
    let orders = orders(profile, &actions, by_call);
    sorted(actions.len(), &orders).into_iter().map(|place| actions[place]).collect()
}

/// Pairs of places of which the first comes before the second: in a thread, and in a stream.
fn orders(profile: &GpuProfile, all: &[Action], by_call: &FxHashMap<u32, Vec<Submitted>>) -> Vec<(usize, usize)> {
    let mut orders = Vec::new();
    let mut of_stream: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
    let mut last_of_thread: FxHashMap<u32, usize> = FxHashMap::default();
    for (place, action) in all.iter().enumerate() {
        orders.extend(action.thread.and_then(|thread| Some((last_of_thread.insert(thread, place)?, place))));
        let submitted = match &action.what {
            ActionKind::Submit(call) => by_call.get(call).map_or(&[][..], Vec::as_slice),
            ActionKind::SubmitUncalled(submitted) => std::slice::from_ref(submitted),
            ActionKind::Wait(..) => &[],
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
