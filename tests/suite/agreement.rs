//! That two runs are the same, and that engine, reference simulator and audit agree on one.

use std::sync::Arc;

use gpusched::audit::{ObservedRun, Tolerances, audit};
use gpusched::effort::{Effort, Limits, Progress};
use gpusched::gpu::Ended;
use gpusched::hosts::{ProgramError, simulate};
use gpusched::run::Run;
use gpusched::scenario::Scenario;
use gpusched::time::Instant;
use gpusched::trace::{Rule, Stand};
use gpusched::workload::OperationId;
use proptest::prelude::*;

use crate::reference::{self, Outcome, ReferenceStand};

fn ns(instant: Option<Instant>) -> Option<u64> {
    instant.map(Instant::as_ns)
}

/// Whether a run is what the reference says, in every instant, block and wait.
pub(crate) fn agrees(run: &Run, expected: &Outcome, compare_sms: bool) -> Result<(), TestCaseError> {
    let trace = &run.trace;
    // Where contexts of blocks that wait take turns for good, it is open when that ends.
    let end = if expected.turns_for_good { expected.end.min(trace.end().as_ns()) } else { u64::MAX };
    prop_assert_eq!(trace.operations().len(), expected.operations.len());
    for (index, (record, wanted)) in (0..).zip(trace.operations().iter().zip(&expected.operations)) {
        prop_assert_eq!((record.kind, record.stream), (wanted.kind, wanted.stream), "operation {}", index);
        let origin = (record.origin.thread as usize, u64::from(record.origin.iteration));
        prop_assert_eq!(origin, (wanted.thread, wanted.iteration), "origin of operation {}", index);
        prop_assert_eq!(record.launched().as_ns(), wanted.launched, "launch of operation {}", index);
        prop_assert_eq!(ns(record.reached_head()), wanted.reached_head, "operation {} at its stream's head", index);
        prop_assert_eq!(ns(record.finish()), wanted.finish, "finish of operation {}", index);
        if !record.kind.is_instant() {
            prop_assert_eq!(ns(record.queued()), wanted.queued, "operation {} queued", index);
            prop_assert_eq!(ns(record.first_start()), wanted.first_start, "first start of operation {}", index);
        }
        let operation = OperationId(index);
        let blocks: Vec<_> = trace.blocks(operation).collect();
        prop_assert!(blocks.iter().map(|block| block.index).eq(0..u32::try_from(blocks.len()).expect("few")));
        // The record has for how long a block went on in turns, and no more: one that has waited and ends as its turn
        // begins seems to end with the turn before.
        let synchronizes = trace.kernel_of(operation).is_some_and(|kernel| kernel.synchronization().is_some());
        let block_end = if synchronizes && !trace.turns().is_empty() { 0 } else { end };
        let times = blocks.iter().map(|block| (block.start.as_ns(), block.end.as_ns().min(block_end)));
        prop_assert!(
            times.eq(wanted.blocks.iter().map(|&(_, start, to)| (start, to.min(block_end)))),
            "blocks of operation {}: {:?} for {:?}",
            index,
            blocks,
            wanted.blocks
        );
        if compare_sms {
            let sms: Vec<_> = blocks.iter().map(|block| u32::from(block.sm)).collect();
            let wanted_sms: Vec<_> = wanted.blocks.iter().map(|&(sm, ..)| sm).collect();
            prop_assert_eq!(sms, wanted_sms, "SMs of operation {}", index);
        }
        let waits = trace.waits(operation);
        let waits = waits.iter().map(|wait| (wait.rule, wait.from.as_ns(), wait.to.as_ns()));
        let until_end = |waits: &mut dyn Iterator<Item = (Rule, u64, u64)>| {
            let cut = waits.map(|(rule, from, to)| (rule, from, to.min(end)));
            cut.filter(|(_, from, to)| from < to).collect::<Vec<_>>()
        };
        let wanted_waits = until_end(&mut wanted.waits.iter().copied());
        prop_assert_eq!(until_end(&mut waits.into_iter()), wanted_waits, "waits of operation {}", index);
    }
    prop_assert_eq!(stands(run), &expected.stands[..], "blocks that waited");
    let mut entries: Vec<usize> = (0..expected.operations.len()).collect();
    entries.retain(|&index| expected.operations[index].entry.is_some());
    let mut wanted_entries = entries.clone();
    entries.sort_by_key(|&index| trace.operations()[index].queue_order());
    wanted_entries.sort_by_key(|&index| expected.operations[index].entry);
    prop_assert_eq!(entries, wanted_entries, "order of entry into the queues");
    let iterations = run
        .iterations
        .iter()
        .map(|span| (span.thread as usize, u64::from(span.iteration), span.start.as_ns(), ns(span.end())));
    let wanted = expected.iterations.iter().map(|one| (one.thread, one.iteration, one.start, one.end));
    prop_assert_eq!(iterations.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
    let jobs = run.jobs();
    for (one, end) in expected.iterations.iter().zip(expected.ends()) {
        let number = |number: u64| u32::try_from(number).expect("few");
        if let Some(job) = jobs.get(number(one.thread as u64), number(one.iteration)) {
            prop_assert_eq!((job.released.as_ns(), ns(job.finished)), (one.released, end), "job {:?}", one);
        }
    }
    if expected.turns_for_good {
        // That nothing else is left is seen in the turn that comes next, which a horizon may cut off.
        prop_assert!(matches!(run.ended, Ended::Done | Ended::Horizon), "{:?}", run.ended);
        return Ok(());
    }
    if !trace.turns().is_empty() || expected.turns.iter().any(|turn| turn.0 > 0) {
        prop_assert_eq!(turns(run), expected.turns.clone(), "turns");
    }
    prop_assert_eq!(run.ended == Ended::Done, expected.done);
    prop_assert_eq!(trace.end().as_ns(), expected.end);
    Ok(())
}

/// When each block waited while it ran.
pub(crate) fn stands(run: &Run) -> Vec<ReferenceStand> {
    let of_stand = |stand: &Stand| {
        let Stand { operation, first_block, blocks, point, from, to } = *stand;
        let to = (!stand.is_open()).then(|| to.as_ns());
        let each = (first_block..first_block + blocks).map(move |block| ReferenceStand {
            operation: operation.index(),
            block: block as usize,
            point: point as usize,
            from: from.as_ns(),
            to,
        });
        each.collect::<Vec<_>>()
    };
    let mut all: Vec<ReferenceStand> = run.trace.stands().iter().flat_map(of_stand).collect();
    all.sort_unstable();
    all
}

/// Whose turn it was, from when to when, those that follow each other without a pause as one.
fn turns(run: &Run) -> Vec<(usize, u64, u64)> {
    let mut all: Vec<(usize, u64, u64)> = Vec::new();
    for turn in run.trace.turns().iter().filter(|turn| turn.start < turn.end) {
        let (context, start, end) = (turn.process.index(), turn.start.as_ns(), turn.end.as_ns());
        match all.last_mut() {
            Some(last) if last.0 == context && last.2 == start => last.2 = end,
            _ => all.push((context, start, end)),
        }
    }
    all
}

/// What `agrees` compares, of another run instead of the reference: all but how the record is stored.
pub(crate) fn same(run: &Run, other: &Run) -> Result<(), TestCaseError> {
    prop_assert_eq!(run.trace.operations(), other.trace.operations());
    prop_assert_eq!((run.trace.end(), run.ended), (other.trace.end(), other.ended));
    prop_assert_eq!(&run.iterations, &other.iterations);
    for operation in (0..).take(run.trace.operations().len()).map(OperationId) {
        prop_assert!(run.trace.blocks(operation).eq(other.trace.blocks(operation)), "blocks of {:?}", operation);
        prop_assert_eq!(run.trace.waits(operation), other.trace.waits(operation));
    }
    Ok(())
}

/// The run of a scenario, on which the reference and the audit agree.
pub(crate) fn agreed(scenario: &Scenario) -> Result<Run<'static>, TestCaseError> {
    let run = simulated(scenario)?;
    agrees_and_passes_the_audit(&run, &reference::run(scenario))?;
    Ok(run.into_owned())
}

/// The run of a scenario. One that does not end is refused, so that its scenario is printed.
pub(crate) fn simulated(scenario: &Scenario) -> Result<Run<'_>, ProgramError> {
    let effort = Arc::new(Effort::new(Limits::STRICT, Arc::default()));
    effort.within(|| simulate(scenario)).unwrap_or_else(|over| panic!("no end of it: {over}"))
}

/// Whether reference and audit agree on a run.
pub(crate) fn agrees_and_passes_the_audit(run: &Run, expected: &Outcome) -> Result<(), TestCaseError> {
    agrees(run, expected, true)?;
    let observation = ObservedRun::of_run(run);
    let findings = audit(&observation.expect("it is short"), &Tolerances::EXACT, Progress::NONE).findings;
    prop_assert!(findings.is_empty(), "{:#?}", findings);
    Ok(())
}
