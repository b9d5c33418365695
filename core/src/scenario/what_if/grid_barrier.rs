//! What if blocks of kernels wait for one another, which most files and profiles do not say.

use super::WhatIfError;
use crate::scenario::{Scenario, Step};
use crate::spelling::option;
use crate::workload::{CheckedKernel, CounterValue, KernelId, PointAction, Share, SyncPoint, Synchronization};

/// Kernels of a list, whose names may have commas of their own in brackets, as functions with templates do.
fn names_of(group: &str) -> Vec<&str> {
    let (mut names, mut depth, mut from) = (Vec::new(), 0_u32, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(&group[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    names.push(&group[from..]);
    names.into_iter().map(str::trim).collect()
}

impl Scenario {
    /// No block of the kernels of a list ends before all blocks of all of them have begun: of one kernel at a barrier
    /// of each launch's grid, of several at a counter of theirs.
    pub(super) fn add_grid_barrier(&mut self, group: &str) -> Result<(), WhatIfError> {
        let refused = |error| WhatIfError::Refused { option: option("grid_barrier"), error };
        // A name with a comma in it may be meant as a whole.
        let is_one = self.kernels_named(option("grid_barrier"), group).is_ok();
        let names = if is_one { vec![group] } else { names_of(group) };
        let mut kernels = Vec::new();
        for name in &names {
            kernels.extend(self.kernels_named(option("grid_barrier"), name)?);
        }
        kernels.sort_unstable();
        kernels.dedup();
        if names.len() == 1 {
            return kernels
                .into_iter()
                .try_for_each(|kernel| self.wait_at_end(kernel, [None, Some(PointAction::GridSync)]).map_err(refused));
        }
        let counter = self.catalogue.add_counter(format!("begun: {}", names.join(", ")).into()).map_err(refused)?;
        let of = |kernel: &KernelId| self.kernels().get(kernel.index());
        let value = kernels.iter().filter_map(of).map(|kernel| u64::from(kernel.blocks)).sum();
        let repeated = kernels.iter().filter(|kernel| self.is_launched_again(**kernel)).filter_map(of);
        let repeated: Vec<&str> = repeated.map(|kernel| &*kernel.title).collect();
        if !repeated.is_empty() {
            let note = format!(
                "{}: launched more than once: {}; the first {value} blocks of these kernels count",
                option("grid_barrier").with(group),
                repeated.join(", ")
            );
            self.notes.push(note);
        }
        let wait = PointAction::Wait(CounterValue { counter, value });
        let actions = [Some(PointAction::Signal(counter)), Some(wait)];
        kernels.into_iter().try_for_each(|kernel| self.wait_at_end(kernel, actions).map_err(refused))
    }

    /// Has blocks of a kernel act when they begin, and behind their last wait when they end.
    fn wait_at_end(
        &mut self,
        kernel: KernelId,
        [first, last]: [Option<PointAction>; 2],
    ) -> Result<(), crate::workload::WorkloadError> {
        let known = self.kernels().get(kernel.index()).and_then(CheckedKernel::synchronization);
        let all = known.cloned().unwrap_or_default();
        let mut points: Vec<SyncPoint> =
            first.map(|action| SyncPoint { at: Share::NONE, action }).into_iter().collect();
        points.extend(all.points.iter());
        let counter_at_end = |point: &SyncPoint| match point.action {
            PointAction::Signal(counter) if point.at == Share::ALL => Some(counter),
            _ => None,
        };
        let at_end: Vec<_> = points.iter().rev().map_while(counter_at_end).collect();
        points.truncate(points.len() - at_end.len());
        points.extend(last.map(|action| SyncPoint { at: Share::ALL, action }));
        let all = Synchronization::in_order(all.is_cooperative, points);
        self.catalogue.set_synchronization(kernel, all.with_signals_at_end(at_end.into_iter().rev()))
    }

    fn is_launched_again(&self, kernel: KernelId) -> bool {
        let launches = self.threads.iter().flat_map(|thread| {
            let repeats =
                thread.iterations != Some(1) || thread.steps.iter().any(|step| matches!(step, Step::Repeat { .. }));
            let own = thread.steps.iter().filter(move |step| matches!(step, Step::Launch(id, _) if *id == kernel));
            own.map(move |_| if repeats { 2 } else { 1 })
        });
        launches.sum::<u32>() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::names_of;

    #[test]
    fn commas_within_brackets_are_of_the_name() {
        assert_eq!(names_of("scheduler, worker"), ["scheduler", "worker"]);
        assert_eq!(
            names_of("gemm<4, f(int, int)>,void k(int, T<2, 3>*)"),
            ["gemm<4, f(int, int)>", "void k(int, T<2, 3>*)"]
        );
    }
}
