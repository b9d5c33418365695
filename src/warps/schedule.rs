//! A schedule of explicit warps, cycle by cycle.

use std::collections::BTreeSet;

use super::kernel_string::KernelString;
use super::pick::Pick;

/// One warp on one unit for one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Issue {
    /// From 0.
    pub warp: u32,
    /// Index into [`KernelString::steps`].
    pub step: usize,
}

/// What every warp does in every cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// How many warps there are.
    pub(crate) warps: u32,
    /// What is executed in each cycle.
    pub(crate) cycles: Vec<Vec<Issue>>,
}

impl Schedule {
    /// For each warp, the cycles in which it is executed, ascending, each with the unit that it is on.
    pub(crate) fn by_warp(&self, string: &KernelString) -> Vec<Vec<(usize, usize)>> {
        let mut rows = vec![Vec::new(); self.warps as usize];
        for (cycle, issues) in self.cycles.iter().enumerate() {
            for issue in issues {
                let unit = string.steps().get(issue.step).map(|step| step.unit);
                if let Some((row, unit)) = rows.get_mut(issue.warp as usize).zip(unit) {
                    row.push((cycle, unit));
                }
            }
        }
        rows
    }

    /// Cycles until the last warp has done its last step.
    pub fn makespan(&self) -> u64 {
        self.cycles.len() as u64
    }
}

/// Gives warps of the same histogram names: of the warps that are ready for a step, the lowest numbers go first.
#[derive(Debug)]
pub(super) struct Naming {
    ready: Vec<BTreeSet<u32>>,
    schedule: Schedule,
}

impl Naming {
    pub(super) fn new(string: &KernelString, warps: u32) -> Self {
        let mut ready = vec![BTreeSet::new(); string.len() + 1];
        ready[0] = (0..warps).collect();
        Self { ready, schedule: Schedule { warps, cycles: Vec::new() } }
    }

    /// One cycle in which so many warps do these steps.
    pub(super) fn cycle(&mut self, picks: impl IntoIterator<Item = Pick>) {
        let mut issues = Vec::new();
        for pick in picks {
            for _ in 0..pick.warps {
                issues.extend(self.ready[pick.step].pop_first().map(|warp| Issue { warp, step: pick.step }));
            }
        }
        for issue in &issues {
            self.ready[issue.step + 1].insert(issue.warp);
        }
        issues.sort_unstable();
        self.schedule.cycles.push(issues);
    }

    pub(super) fn finish(self) -> Schedule {
        self.schedule
    }
}

/// The report's Fig. 2, for tests of what shows schedules.
#[cfg(test)]
pub(crate) fn report_figure_2() -> (KernelString, Schedule) {
    // Cycles of the three instructions of each warp, from 1.
    let of_warps = [[1, 5, 6], [2, 6, 7], [3, 7, 8], [4, 8, 9]];
    let mut cycles = vec![Vec::new(); 9];
    for (warp, times) in (0..).zip(of_warps) {
        for (step, time) in times.into_iter().enumerate() {
            cycles[time - 1].push(Issue { warp, step });
        }
    }
    (
        KernelString::parse("LLC", &[super::Unit::new('L'), super::Unit::new('C')]).unwrap(),
        Schedule { warps: 4, cycles },
    )
}
