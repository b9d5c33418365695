//! The rules, checked on the record of a run alone: resources counted anew, queues kept in order, nothing idle that
//! could work. Unlike the reference simulator this also judges random placement and varying block times.

use std::collections::BTreeSet;

use gpusched::device::{CopyDirection, CopySharing};
use gpusched::scenario::Scenario;
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Block, OperationRecord, Trace};
use gpusched::workload::{CheckedCopy, CheckedKernel, OperationId, OperationKind};

use crate::reference::{Free, Need};

/// One kernel launch and its blocks.
struct Launch<'a> {
    record: &'a OperationRecord,
    kernel: &'a CheckedKernel,
    need: Need,
    allowed: Vec<bool>,
    priority: i32,
    blocks: Vec<Block>,
}

/// Checks everything; panics on what is wrong.
pub(crate) fn check(scenario: &Scenario, trace: &Trace) {
    let launches = launches(scenario, trace);
    for launch in &launches {
        check_blocks(launch);
    }
    check_streams(scenario, trace);
    check_ee_queues(&launches);
    check_copy_engines(scenario, trace);
    check_every_instant(scenario, trace, &launches);
    check_waits(trace);
}

fn launches<'a>(scenario: &'a Scenario, trace: &'a Trace) -> Vec<Launch<'a>> {
    let device = scenario.device();
    (0..)
        .map(OperationId)
        .zip(trace.operations())
        .filter_map(|(id, record)| {
            let OperationKind::Kernel(kernel) = record.kind else { return None };
            let kernel = &scenario.kernels()[kernel.index()];
            let stream = &scenario.streams()[record.stream.index()];
            let mask = kernel.sm_mask.or(stream.sm_mask);
            Some(Launch {
                record,
                kernel,
                need: Need::of(&kernel.shape, device),
                allowed: (0..device.sms).map(|sm| mask.is_none_or(|mask| mask.enables_sm(sm, device))).collect(),
                priority: stream.priority,
                blocks: trace.blocks(id).collect(),
            })
        })
        .collect()
}

/// Every block once, in the order of assignment, for its time, where it may be.
fn check_blocks(launch: &Launch<'_>) {
    let record = launch.record;
    assert!(launch.blocks.iter().map(|block| block.index).eq((0..).take(launch.blocks.len())));
    assert!(launch.blocks.is_sorted_by_key(|block| block.start));
    assert_eq!(record.last_start().is_some(), launch.blocks.len() == launch.kernel.blocks as usize);
    assert_eq!(record.first_start(), launch.blocks.first().map(|block| block.start));
    for block in &launch.blocks {
        assert!(record.queued().is_some_and(|queued| queued <= block.start));
        assert!(launch.allowed[usize::from(block.sm)], "block on a masked SM");
        let time = block.end - block.start;
        assert!(launch.kernel.duration.best <= time && time <= launch.kernel.duration.worst);
    }
    if let Some(finish) = record.finish() {
        assert_eq!(record.last_start(), launch.blocks.last().map(|block| block.start));
        assert_eq!(Some(finish), launch.blocks.iter().map(|block| block.end).max());
    }
}

/// G1, G2, C1, G4, C4: operations of a stream follow one another.
fn check_streams(scenario: &Scenario, trace: &Trace) {
    for stream in (0..).take(scenario.streams().len()) {
        let mut free_from = Some(Instant::ZERO);
        for record in trace.operations().iter().filter(|record| record.stream.0 == stream) {
            assert_eq!(record.reached_head(), free_from.map(|free| free.max(record.launched())));
            let life = [Some(record.launched()), record.reached_head(), record.queued(), record.first_start()];
            let life = [&life[..], &[record.last_start(), record.finish()]].concat();
            let reached: Vec<_> = life.iter().flatten().collect();
            assert!(reached.is_sorted() && life[reached.len()..].iter().all(Option::is_none), "{life:?}");
            free_from = record.finish();
        }
    }
}

/// X1, G3: the kernels of an EE queue are dispatched one after another, in the order of entry.
fn check_ee_queues(launches: &[Launch<'_>]) {
    for priority in launches.iter().map(|launch| launch.priority).collect::<BTreeSet<_>>() {
        let mut queue: Vec<_> =
            launches.iter().filter(|l| l.priority == priority && l.record.queued().is_some()).collect();
        queue.sort_by_key(|launch| launch.record.queue_order());
        assert!(queue.is_sorted_by_key(|launch| launch.record.queued()));
        for pair in queue.windows(2) {
            let (before, after) = (pair[0].record, pair[1].record);
            if let Some(start) = after.first_start() {
                assert!(before.last_start().is_some_and(|last| last <= start), "out of turn in an EE queue");
            }
        }
    }
}

/// C2, C3: each engine serves its queue in order, one copy at a time, and never waits while it has one.
fn check_copy_engines(scenario: &Scenario, trace: &Trace) {
    let engines = &scenario.device().copy;
    let engine_of = |direction: CopyDirection| match direction {
        CopyDirection::HostToDevice => 0,
        CopyDirection::DeviceToHost => u32::from(engines.engines > 1),
        CopyDirection::DeviceToDevice => engines.device_to_device_engine,
    };
    for engine in 0..engines.engines {
        let mut copies: Vec<_> = trace
            .operations()
            .iter()
            .filter_map(|record| match record.kind {
                OperationKind::Copy(copy) => Some((record, &scenario.copies()[copy.index()])),
                _ => None,
            })
            .filter(|(_, copy)| engine_of(copy.direction) == engine)
            .filter(|(record, _)| record.queued().is_some())
            .collect();
        copies.sort_by_key(|(record, _)| record.queue_order());
        if engines.sharing == CopySharing::SharedLink {
            check_shared_link(trace, &copies);
            continue;
        }
        let mut idle_from = Some(Instant::ZERO);
        for (record, copy) in copies {
            let start = idle_from.and_then(|idle| record.queued().map(|queued| queued.max(idle)));
            assert_eq!(record.first_start(), start, "a copy starts as soon as its engine is idle");
            let time = copy.duration.or_else(|| scenario.device().copy.duration(copy.direction, copy.bytes?));
            let end = start.zip(time).map(|(start, time)| start + time);
            idle_from = end.filter(|end| *end <= trace.end());
            assert_eq!(record.finish(), idle_from);
        }
    }
}

/// Copies on one link begin at once; and nanosecond by nanosecond, each of the n that run gets 1/n of what the link
/// gives. For links with up to 10 copies at once and short times.
fn check_shared_link(trace: &Trace, copies: &[(&OperationRecord, &CheckedCopy)]) {
    /// Of a nanosecond, which numbers up to 10 divide.
    const PARTS: u64 = 2_520;
    let mut got = vec![0; copies.len()];
    for (record, _) in copies {
        assert_eq!(record.first_start(), record.queued(), "a copy starts as soon as it is queued");
    }
    let first = copies.iter().filter_map(|(record, _)| record.first_start()).min().map_or(0, Instant::as_ns);
    for now in first..=trace.end().as_ns() {
        let now = Instant::from_ns(now);
        for ((record, copy), got) in copies.iter().zip(&got) {
            let has_begun = record.first_start().is_some_and(|start| start <= now);
            let is_done = has_begun && *got >= copy.time().as_ns() * PARTS;
            assert_eq!(record.finish().is_some_and(|finish| finish <= now), is_done, "{copy:?} at {now}");
        }
        let runs = |record: &OperationRecord| {
            record.first_start().is_some_and(|start| start <= now) && record.finish().is_none_or(|finish| now < finish)
        };
        let on_link = copies.iter().filter(|(record, _)| runs(record)).count() as u64;
        assert!(on_link <= 10);
        for (_, got) in copies.iter().zip(&mut got).filter(|((record, _), _)| runs(record)) {
            *got += PARTS / on_link;
        }
    }
}

/// R1 to R3 at every instant, and work conservation: no EE head whose turn it is waits while it fits.
fn check_every_instant(scenario: &Scenario, trace: &Trace, launches: &[Launch<'_>]) {
    let blocks = || launches.iter().flat_map(|launch| launch.blocks.iter().map(move |block| (launch, block)));
    let mut instants: BTreeSet<Instant> = blocks().flat_map(|(_, block)| [block.start, block.end]).collect();
    instants.extend(launches.iter().filter_map(|launch| launch.record.queued()));
    for at in instants.into_iter().filter(|&at| at <= trace.end()) {
        let mut free = vec![Free::empty_sm(scenario.device()); scenario.device().sms as usize];
        for (launch, block) in blocks().filter(|(_, block)| block.start <= at && at < block.end) {
            let sm = &mut free[usize::from(block.sm)];
            assert!(sm.fits_threads_and_shared(&launch.need), "an SM holds no more than it has");
            *sm = sm.with(&launch.need);
        }
        let queued = launches.iter().filter(|launch| {
            launch.record.queued().is_some_and(|queued| queued <= at)
                && launch.record.last_start().is_none_or(|last| last > at)
        });
        if let Some(head) = queued.min_by_key(|launch| (launch.priority, launch.record.queue_order())) {
            let fits = free.iter().zip(&head.allowed).any(|(sm, &allowed)| allowed && sm.fits(&head.need));
            assert!(!fits, "at {at}, a block of {} waits while it fits", head.kernel.name);
        }
    }
}

/// Waits are disjoint and in order, and cover the time from launch to full dispatch but for instants.
fn check_waits(trace: &Trace) {
    for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
        let mut covered = record.launched();
        for wait in trace.waits(id) {
            assert_eq!(wait.from, covered, "waits of {id:?} follow one another");
            assert!(wait.duration() > Duration::ZERO);
            covered = wait.to;
        }
        assert_eq!(covered, record.last_start().unwrap_or(trace.end()), "{id:?} waits until it is dispatched");
    }
}
