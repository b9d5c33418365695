//! What contexts that take turns leave to one of them: rules T1 to T6.

use crate::device::Preemption;
use crate::gpu::runlist;
use crate::scenario::{Scenario, Step};
use crate::time::Duration;
use crate::workload::InterleaveLevel;

/// The turns of the contexts of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turns {
    contexts: Vec<Context>,
    /// What a switch costs \[ns\].
    switch: u64,
    /// Whether copies run in the turns of their contexts only.
    pub(super) with_copies: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Context {
    slice: u64,
    /// Turns in a round.
    places: u64,
    /// For how long blocks may run on when a slice is over \[ns\].
    run_out: u64,
}

impl Turns {
    /// `None`: contexts do not take turns.
    pub(super) fn of(scenario: &Scenario) -> Option<Self> {
        let taking = scenario.catalogue.turn_taking()?;
        let levels: Vec<InterleaveLevel> = scenario.catalogue.processes().iter().map(|process| process.level).collect();
        let order = runlist(&levels);
        let to_ends = scenario.device().time_slicing.preemption == Preemption::BlockEnd;
        let longest = |process: usize| {
            let steps = scenario.threads.iter().flat_map(|thread| &thread.steps);
            let times = steps.filter_map(|step| match *step {
                Step::Launch(kernel, stream) if scenario.streams()[stream.index()].process.index() == process => {
                    scenario.longest_block_time(kernel)
                }
                _ => None,
            });
            times.max().map_or(0, Duration::as_ns)
        };
        let context = |(process, slice): (usize, &Duration)| Context {
            slice: slice.as_ns().max(1),
            places: order.iter().filter(|&&of| of == process).count() as u64,
            run_out: if to_ends { longest(process) } else { 0 },
        };
        let contexts = taking.time_slices.iter().enumerate().map(context).collect();
        Some(Self { contexts, switch: taking.switch_cost.as_ns(), with_copies: taking.copies_run_in_turn })
    }

    /// How many contexts there are.
    pub(super) fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// For how long a context that has work for `operations`, one after another, which take it `work` ns in its turns,
    /// has no turn meanwhile, or lets blocks run out \[ns\]. `of_others` says by context how long its turns can be in
    /// all \[ns\], if that is known.
    pub(super) fn lost(
        &self,
        process: usize,
        (operations, work): (u64, u128),
        of_others: &[Option<u128>],
    ) -> Option<u128> {
        let own = self.contexts.get(process)?;
        let times = u128::from(operations).checked_add(work / u128::from(own.slice))?;
        let mut lost = 0_u128;
        let mut switches = 1_u128;
        for (number, context) in self.contexts.iter().enumerate().filter(|(number, _)| *number != process) {
            let turns = times.checked_mul(u128::from(context.places))?;
            let slices = turns.checked_mul(u128::from(context.slice) + u128::from(context.run_out))?;
            let known = of_others.get(number).copied().flatten();
            // What runs out does so beside its work.
            let run_out = turns.checked_mul(u128::from(context.run_out))?;
            let known = known.and_then(|known| known.checked_add(run_out));
            lost = lost.checked_add(known.map_or(slices, |known| known.min(slices)))?;
            switches += u128::from(context.places);
        }
        let each = switches.checked_mul(u128::from(self.switch))?.checked_add(u128::from(own.run_out))?;
        lost.checked_add(times.checked_mul(each)?)
    }
}
