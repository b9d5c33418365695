//! When an operation may enter its EE or CE queue: rules G1, G4, N1, N2, E2, L1 and L2, and hardware channels.

use std::collections::BTreeMap;

use super::executions::Execution;
use super::launches::{Channels, Clocks, Completion, Launches, Stamp, When};
use super::observed_run::{ObservedKernel, ObservedOperation, ObservedRun, ObservedStream, ObservedWork};
use crate::device::Device;
use crate::logs::LogTime;
use crate::time::Duration;
use crate::workload::Programmatic;

/// When an operation was ready for its EE or CE queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Readiness {
    /// Not before this.
    pub(super) lo: When,
    /// By then at the latest; `None`: nobody saw when what it waits for was complete.
    pub(super) hi: Option<When>,
    /// What was in front of it in its stream, and when that had completed at the earliest.
    pub(super) stream: Option<(usize, When)>,
    /// The record for which a wait in front of it in its stream had to wait, the last of them to complete, and when
    /// that had completed at the earliest.
    pub(super) event: Option<(usize, When)>,
    /// Not before this, by the launch latency (L1).
    pub(super) launch_latency: Option<When>,
    /// Not before this, by the gap behind the kernel before it in its stream (L2).
    pub(super) kernel_gap: Option<When>,
    /// What it had to wait for under N1 or N2, and when that had completed at the earliest.
    pub(super) null: Option<(usize, When)>,
    /// What was right ahead of it in its channel, and when that had gone on at the earliest.
    pub(super) channel: Option<(usize, When)>,
}

/// What a process launches on its NULL stream, and on its blocking streams: N1 and N2 hold inside each process.
fn sides_of(observed: &ObservedRun, process: usize) -> [Launches; 2] {
    let side = |is_of: fn(&ObservedStream) -> bool| {
        let is_own = move |stream: &ObservedStream| stream.process == process && is_of(stream);
        let operations = observed.operations.iter();
        Launches::of(operations.filter(move |operation| observed.stream_of(operation).is_some_and(is_own)))
    };
    [side(|stream| stream.is_null), side(|stream| !stream.is_null && stream.blocking)]
}

/// When it was launched. Stamps of a simulation are on the GPU's clock; in a log, the host's clock says when it called
/// the driver.
fn launched(operation: &ObservedOperation, index: usize) -> Completion {
    let [lo, hi] = operation.launched_ns.map(|at| {
        let stamp = Stamp::launch(at, index);
        if operation.is_launch_on_gpu_clock { When::on_gpu(stamp) } else { When::on_host(stamp) }
    });
    Completion { lo, hi: Some(hi) }
}

/// Derives readiness of all operations in launch order; `ranks` order the completions of one instant.
fn derive(observed: &ObservedRun, executed: &[Execution], clocks: &Clocks, ranks: &[u64]) -> Vec<Readiness> {
    let simulated = observed.is_simulated();
    let blocking = |stream: usize| observed.streams.get(stream).is_some_and(|stream| stream.blocking);
    let is_null = |stream: usize| observed.is_null(stream);
    let process = |stream: usize| observed.streams.get(stream).map_or(0, |stream| stream.process);
    let mut sides: Vec<[Launches; 2]> =
        (0..observed.process_count()).map(|process| sides_of(observed, process)).collect();
    let mut shared = if clocks.ordered { BTreeMap::new() } else { shared_streams(observed) };
    let device = &observed.device;
    let mut streams = vec![Stream::default(); observed.streams.len()];
    let mut records: BTreeMap<u32, Recorded> = BTreeMap::new();
    let mut channels = Channels::of(observed);
    let mut all = Vec::with_capacity(executed.len());
    for (index, operation) in observed.operations.iter().enumerate() {
        // An operation is ready at the latest of everything that it waits for. `lo` and `hi` enclose that instant, so
        // the maximum of all `lo` is a lower bound, and the maximum of all `hi` an upper one (`Completion::and`).
        let mut ready = launched(operation, index);
        let mut wait_for = |completion: &Completion| {
            ready = ready.and(completion);
        };
        let mut stream = streams.get(operation.stream).copied().unwrap_or_default();
        // Set where the log does not say which of several operations came before this one: then nothing bounds the
        // instant from above, and `hi` is dropped, while every lower bound still holds.
        let mut unsure = false;
        if let Some(shared) = shared.get(&operation.stream) {
            (stream.last, unsure) = shared.before(operation, clocks);
        }
        // PDL: or has triggered.
        let triggered = if simulated { triggered(observed, executed, operation, &mut stream) } else { None };
        // G2, C1: the operation before it in its stream has completed (G4, C4).
        if let Some((_, completion)) = &stream.last {
            wait_for(completion);
        }
        let (is_null, process) = (is_null(operation.stream), process(operation.stream));
        // N1: the NULL stream waits for blocking streams (side 1); N2: they wait for it (side 0).
        let (null, unsure_null) = if is_null || blocking(operation.stream) {
            sides[process][usize::from(is_null)].before(operation, clocks)
        } else {
            (None, false)
        };
        unsure |= unsure_null;
        if let Some((_, completion)) = &null {
            wait_for(completion);
        }
        let (mut event, mut is_let_go) = (stream.event, false);
        if let ObservedWork::Wait(number) = operation.work {
            match records.get(&number) {
                // On other clocks another record may have been the last before the wait.
                _ if !clocks.ordered => unsure = true,
                Some(recorded) => {
                    let completion = recorded.for_wait();
                    wait_for(&completion);
                    let later = |(_, known): &(usize, When)| known.latest() > completion.lo.latest();
                    event = event.filter(later).or(Some((recorded.index, completion.lo)));
                    is_let_go |= recorded.triggered.is_some();
                }
                None => {}
            }
        }
        // L1 counts from the launch, L2 from the completion of the kernel before it in the stream.
        let launch_latency = latency(&operation.work, device.launch_latency, operation.launched_ns, simulated);
        let before = stream.kernel.as_ref().filter(|_| operation.kernel().is_some());
        let kernel_gap = before.and_then(|before| after(before, device.kernel_gap, simulated));
        let kernel_gap = kernel_gap.map(|gap| earlier(triggered, gap));
        for held in [&launch_latency, &kernel_gap].into_iter().flatten() {
            wait_for(held);
        }
        // A kernel goes on behind all that was submitted before it to its channel, of which a log tells no order.
        let channel = channels.shared_by(operation.stream, &operation.work);
        unsure |= channel.is_some() && !clocks.ordered;
        let ahead = channel.filter(|_| clocks.ordered).and_then(|channel| channels.ahead(channel));
        let ahead = ahead.filter(|_| operation.kernel().is_some());
        if let Some((_, gone_on)) = &ahead {
            wait_for(gone_on);
        }
        // One that is let go is so at some time of that instant, of which no stamp tells.
        let bounded = ready.hi.filter(|_| !unsure);
        ready.hi = bounded.map(|hi| if is_let_go { right_after(hi.latest()) } else { hi });
        // What waits for this operation waits for its completion, so launch order is an order in which to derive them.
        let completion = completion(&operation.work, &executed[index], &ready, ranks[index], simulated);
        if let Some(channel) = channel {
            channels.join(channel, index, if operation.kernel().is_some() { ready } else { completion });
        }
        if let Some(own) = streams.get_mut(operation.stream) {
            own.last = Some((index, completion));
            own.event = event;
            if operation.kernel().is_some() {
                own.kernel = Some(completion);
            }
        }
        if let ObservedWork::Record(number) = operation.work {
            let triggered = triggered_before_record(observed, executed, (index, number), &stream);
            records.insert(number, Recorded { index, completion, triggered });
        }
        if is_null || blocking(operation.stream) {
            sides[process][usize::from(!is_null)].push(operation, index, completion);
        }
        if let Some(shared) = shared.get_mut(&operation.stream) {
            shared.push(operation, index, completion);
        }
        let lo = |other: (usize, Completion)| (other.0, other.1.lo);
        all.push(Readiness {
            lo: ready.lo,
            hi: ready.hi,
            stream: stream.last.map(lo),
            event,
            launch_latency: launch_latency.filter(|_| simulated).map(|held| held.lo),
            kernel_gap: kernel_gap.filter(|_| simulated).map(|held| held.lo),
            null: null.map(lo),
            channel: ahead.map(lo),
        });
    }
    all
}

/// A record, when it completed, and when what waits for it may go on before that (PDL).
struct Recorded {
    index: usize,
    completion: Completion,
    triggered: Option<Completion>,
}

impl Recorded {
    /// When waits for it are over.
    fn for_wait(&self) -> Completion {
        earlier(self.triggered, self.completion)
    }
}

/// PDL: when a kernel may go on beside the one before it in its stream, if it may; that is when it waits for that no
/// longer.
fn triggered(
    observed: &ObservedRun,
    executed: &[Execution],
    operation: &ObservedOperation,
    stream: &mut Stream,
) -> Option<Completion> {
    operation.kernel().filter(|kernel| kernel.programmatic.is_dependent)?;
    let (before, completion) = stream.last.as_mut()?;
    let at = trigger_of(&observed.operations[*before], &observed.device)?;
    let mut triggered = at_trigger(at, &executed[*before]);
    // One that is launched behind a trigger goes on after all that was launched at that instant, too.
    let from = operation.launched_ns[1].after(observed.device.launch_latency);
    if at < from && from <= completion.lo.latest() {
        triggered.hi = Some(right_after(from));
    }
    if triggered.lo.latest() <= completion.lo.latest() {
        *completion = triggered;
    }
    Some(triggered)
}

/// PDL: when a wait for a record of a programmatic event is over before that has completed, if it may be.
fn triggered_before_record(
    observed: &ObservedRun,
    executed: &[Execution],
    (record, event): (usize, u32),
    stream: &Stream,
) -> Option<Completion> {
    let (before, completion) = stream.last.filter(|_| observed.is_early_event(event))?;
    let launched = observed.operations[record].launched_ns[1];
    // One that is launched behind what has completed is like any other.
    if completion.lo.latest() < launched {
        return None;
    }
    let at = if observed.launch_completion_events.contains(&event) {
        observed.operations[before].kernel()?;
        Some(executed[before].last_start).filter(|at| *at < LogTime::MAX)?
    } else {
        trigger_of(&observed.operations[before], &observed.device)?
    };
    let triggered = at_trigger(at, &executed[before]);
    // At one instant, nobody knows which of both it is.
    let hi = if completion.lo.latest() == launched { None } else { triggered.hi };
    Some(Completion { hi, ..triggered })
}

/// The earlier of a trigger, if there was one, and what else it may go on after. Of both at one instant either may come
/// first: a trigger is at some time of its instant.
fn earlier(triggered: Option<Completion>, other: Completion) -> Completion {
    triggered.filter(|triggered| triggered.lo.latest() <= other.lo.latest()).unwrap_or(other)
}

/// When the kernel behind one may go on that triggers it at `at`. If it does so at the instant at which it is assigned,
/// that is after others were assigned then, of which no stamp tells.
fn at_trigger(at: LogTime, before: &Execution) -> Completion {
    let lo = if before.last_start == at { Stamp::assignment(at) } else { Stamp { at, rank: 0 } };
    Completion { lo: When::on_gpu(lo), hi: Some(right_after(at)) }
}

fn right_after(at: LogTime) -> When {
    When::on_gpu(Stamp { at: at.after(Duration::from_ns(1)), rank: 0 })
}

/// Launches to each stream that several threads use.
fn shared_streams(observed: &ObservedRun) -> BTreeMap<usize, Launches> {
    let launches = |stream: usize| observed.operations.iter().filter(move |operation| operation.stream == stream);
    let streams = (0..observed.streams.len()).map(|stream| (stream, Launches::of(launches(stream))));
    streams.filter(|(_, launches)| launches.threads() > 1).collect()
}

/// What is known of a stream when the next operation is launched to it.
#[derive(Debug, Clone, Copy, Default)]
struct Stream {
    last: Option<(usize, Completion)>,
    /// The record that was awaited in it, the last of them to complete.
    event: Option<(usize, When)>,
    /// The last kernel.
    kernel: Option<Completion>,
}

/// L1: when the launch latency of an operation is over. On a real GPU it is not the same every time, so that there the
/// stated one only says by when.
fn latency(work: &ObservedWork, latency: Duration, launched: [LogTime; 2], simulated: bool) -> Option<Completion> {
    if latency == Duration::ZERO || !matches!(work, ObservedWork::Kernel(_) | ObservedWork::Copy(_)) {
        return None;
    }
    let over = |launched: LogTime| Stamp { at: launched.after(latency), rank: 0 };
    let [earliest, latest] = launched.map(over);
    Some(if simulated {
        Completion { lo: When::on_gpu(earliest), hi: Some(When::on_gpu(latest)) }
    } else {
        Completion { lo: When::default(), hi: Some(When::on_host(latest)) }
    })
}

/// L2: when the gap behind a kernel is over, likewise.
fn after(before: &Completion, gap: Duration, simulated: bool) -> Option<Completion> {
    let over = |when: When| When::on_gpu(Stamp { at: when.latest().after(gap), rank: 0 });
    let lo = if simulated { over(before.lo) } else { When::default() };
    (gap > Duration::ZERO).then(|| Completion { lo, hi: before.hi.map(over) })
}

/// When an operation completes: as soon as it is ready if it needs no engine, else when its end was seen.
fn completion(work: &ObservedWork, executed: &Execution, ready: &Completion, rank: u64, simulated: bool) -> Completion {
    let seen = |at: LogTime| {
        let when = When::on_gpu(Stamp { at, rank });
        Completion { lo: when, hi: Some(when) }
    };
    match (work, executed.finish) {
        (ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_), _) => *ready,
        // At some time of that instant.
        (ObservedWork::Value(seen), _) => {
            let lo = When::on_gpu(Stamp { at: seen.finish_ns, rank: 0 });
            Completion { lo, hi: Some(right_after(seen.finish_ns)) }
        }
        (_, Some(finish)) => seen(finish),
        // Whatever a simulation did not finish never finished.
        (_, None) if simulated => seen(LogTime::MAX),
        // Its end is not in the log. It cannot complete before it is ready; how much later is not known.
        (_, None) => Completion { lo: ready.lo, hi: None },
    }
}

/// When each operation was ready to enter its EE or CE queue.
///
/// On an exact clock even the order within one instant counts: what completes at one instant does so in the order in
/// which it was assigned, copies (by engine) before kernels, kernels by priority and then by their place in the queue.
/// That place in turn depends on the completions of earlier instants, so the order is found step by step: each round
/// settles at least one more instant.
pub(super) fn readiness(observed: &ObservedRun, executed: &[Execution], clocks: &Clocks) -> Vec<Readiness> {
    let mut ranks = vec![0; executed.len()];
    let mut ready = derive(observed, executed, clocks, &ranks);
    if !clocks.exact {
        return ready;
    }
    for _ in 0..=executed.len() {
        let next = rank(observed, executed, &ready);
        if next == ranks {
            break;
        }
        ranks = next;
        ready = derive(observed, executed, clocks, &ranks);
    }
    ready
}

/// Ranks of completions, from 1, in the order of time and, at one instant, of assignment.
fn rank(observed: &ObservedRun, executed: &[Execution], ready: &[Readiness]) -> Vec<u64> {
    let mut order: Vec<(_, usize)> = Vec::new();
    for (index, operation) in observed.operations.iter().enumerate() {
        let Some(finish) = executed[index].finish else { continue };
        let (last, kind, level) = match &operation.work {
            ObservedWork::Kernel(kernel) => {
                let ending = kernel.blocks.times.iter().filter(|[_, end]| *end == finish);
                (ending.map(|[start, _]| *start).max(), 1, i64::from(executed[index].priority))
            }
            ObservedWork::Copy(copy) => (executed[index].first_start, 0, i64::from(copy.engine)),
            ObservedWork::Memset | ObservedWork::Record(_) | ObservedWork::Wait(_) | ObservedWork::Value(_) => continue,
        };
        order.push(((finish, last, kind, level, ready[index].lo.gpu), index));
    }
    order.sort_unstable();
    let mut ranks = vec![0; executed.len()];
    for (rank, (_, index)) in (1..).zip(order) {
        ranks[index] = rank;
    }
    ranks
}

/// PDL in simulated runs: when the kernel behind `before` may begin, if that triggers; `None`: not before it has
/// completed, as far as is known.
fn trigger_of(before: &ObservedOperation, device: &Device) -> Option<LogTime> {
    let kernel = before.kernel().filter(|kernel| kernel.programmatic.trigger.is_some() && kernel.is_whole())?;
    let mut last = LogTime::MIN;
    for (number, block) in kernel.blocks.iter().enumerate() {
        let stated = kernel.stated_time(number)?;
        if stated.varies() {
            // Nobody saw how much of its time it stood.
            return None;
        }
        let took = Duration::from_ns(block.end_ns.since(block.start_ns).unsigned_abs());
        let stood = Duration::from_ns(took.as_ns().saturating_sub(stated.best.as_ns()));
        last = last.max(block.start_ns.after(kernel.programmatic.triggers_after(stated.best, stood)?));
    }
    Some(last.after(device.pdl_trigger_latency))
}

/// PDL: when waits of blocks return behind `before`, whose last block ended at `finish`; `None`: they do not wait for
/// it.
pub(super) fn released(before: &ObservedOperation, finish: Option<LogTime>, device: &Device) -> Option<LogTime> {
    before.kernel()?;
    // It never ended: they stand for good.
    Some(finish.map_or(LogTime::MAX, |finish| finish.after(device.pdl_wait_latency)))
}

/// PDL: how long a block of so much run time takes that began at `start`, if waits return at `released`.
pub(super) fn takes(kernel: &ObservedKernel, start: LogTime, run: Duration, released: Option<LogTime>) -> u64 {
    let Programmatic { wait, is_dependent, .. } = kernel.programmatic;
    let Some(released) = released.filter(|_| is_dependent) else { return run.as_ns() };
    let waits_from = start.after(wait.of(run));
    let stood = released.since(waits_from).max(0).unsigned_abs();
    run.as_ns().saturating_add(stood)
}
