//! A schedule of explicit warps, cycle by cycle; and its check against the model, without anything that made it.

use std::collections::BTreeSet;

use super::histogram::Pick;
use super::kernel_string::KernelString;

/// One warp on one unit for one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Issue {
    /// From 0.
    pub warp: u32,
    /// Index into [`KernelString::steps`].
    pub step: usize,
}

/// What every warp does in every cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// How many warps there are.
    #[doc(hidden)]
    pub warps: u32,
    /// What is executed in each cycle.
    #[doc(hidden)]
    pub cycles: Vec<Vec<Issue>>,
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

/// How a schedule breaks the model. Cycles count from 1, as in the report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A warp or step that does not exist.
    #[error("cycle {cycle}: there is no warp {warp} with a step {step}")]
    Unknown {
        /// From 1.
        cycle: usize,
        /// From 0.
        warp: u32,
        /// From 0.
        step: usize,
    },
    /// A warp does a step out of order, twice, or two steps in one cycle.
    #[error("cycle {cycle}: warp {warp} does step {step}, but its next is {next}")]
    Precedence {
        /// From 1.
        cycle: usize,
        /// From 0.
        warp: u32,
        /// The step it does.
        step: usize,
        /// The step it should do next.
        next: usize,
    },
    /// A unit serves more warps than it can.
    #[error("cycle {cycle}: {served} warps on unit {letter}, which serves {capacity}")]
    Capacity {
        /// From 1.
        cycle: usize,
        /// The unit.
        letter: char,
        /// Warps on it.
        served: u32,
        /// Warps it can serve.
        capacity: u32,
    },
    /// A unit has room while a warp waits for it.
    #[error("cycle {cycle}: warp {warp} waits for unit {letter}, which has room")]
    WorkConservation {
        /// From 1.
        cycle: usize,
        /// From 0.
        warp: u32,
        /// The unit.
        letter: char,
    },
    /// A warp pauses inside an instruction that may not be interrupted.
    #[error("cycle {cycle}: warp {warp} does not go on with its instruction on unit {letter}")]
    Interrupted {
        /// From 1.
        cycle: usize,
        /// From 0.
        warp: u32,
        /// The unit.
        letter: char,
    },
    /// A warp has not done all steps at the end.
    #[error("warp {warp} has done {done} steps at the end")]
    Unfinished {
        /// From 0.
        warp: u32,
        /// Steps done.
        done: usize,
    },
}

/// The makespan \[cycles\] of a schedule that keeps capacity, precedence, work conservation and, where the string asks
/// for it, does not interrupt instructions.
///
/// # Errors
/// The first [`Violation`].
pub fn verify(string: &KernelString, schedule: &Schedule) -> Result<u64, Violation> {
    let steps = string.steps();
    let mut next = vec![0_usize; schedule.warps as usize];
    let mut last_step_at = 0;
    for (cycle, issues) in (1..).zip(&schedule.cycles) {
        let mut served = vec![0_u32; string.units().len()];
        let before = next.clone();
        for issue in issues {
            let (Some(place), Some(step)) = (next.get_mut(issue.warp as usize), steps.get(issue.step)) else {
                return Err(Violation::Unknown { cycle, warp: issue.warp, step: issue.step });
            };
            // A second step in the same cycle is refused: readiness is what was done before the cycle.
            let ready = before[issue.warp as usize];
            if ready != issue.step || *place != ready {
                return Err(Violation::Precedence { cycle, warp: issue.warp, step: issue.step, next: ready });
            }
            *place += 1;
            served[step.unit] += 1;
            last_step_at = cycle;
        }
        for (kind, &served) in string.units().iter().zip(&served) {
            if served > kind.capacity {
                return Err(Violation::Capacity { cycle, letter: kind.letter, served, capacity: kind.capacity });
            }
        }
        for (warp, (&ready, &now)) in (0..).zip(before.iter().zip(&next)) {
            let Some(step) = steps.get(ready).filter(|_| now == ready) else { continue };
            let kind = string.units()[step.unit];
            if step.held {
                return Err(Violation::Interrupted { cycle, warp, letter: kind.letter });
            }
            if served[step.unit] < kind.capacity {
                return Err(Violation::WorkConservation { cycle, warp, letter: kind.letter });
            }
        }
    }
    match (0..).zip(&next).find(|&(_, &done)| done < steps.len()) {
        Some((warp, &done)) => Err(Violation::Unfinished { warp, done }),
        None => Ok(last_step_at as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Issue, Unit};
    use super::*;

    fn schedule(text: &str) -> (KernelString, Schedule) {
        // Two warps of LC: L of warp 0; C of warp 0 beside L of warp 1; C of warp 1.
        let string = KernelString::parse(text, &[Unit::new('L'), Unit::new('C')]).unwrap();
        let issue = |warp, step| Issue { warp, step };
        let cycles = vec![vec![issue(0, 0)], vec![issue(0, 1), issue(1, 0)], vec![issue(1, 1)]];
        (string, Schedule { warps: 2, cycles })
    }

    #[test]
    fn a_sound_schedule_gives_its_makespan() {
        let (string, schedule) = schedule("LC");
        assert_eq!(verify(&string, &schedule), Ok(3));
    }

    #[test]
    fn each_condition_is_checked() {
        let broken = |change: &dyn Fn(&mut Vec<Vec<Issue>>)| {
            let (string, mut schedule) = schedule("LC");
            change(&mut schedule.cycles);
            verify(&string, &schedule).unwrap_err()
        };
        let issue = |warp, step| Issue { warp, step };
        assert!(matches!(broken(&|cycles| cycles[0].push(issue(1, 0))), Violation::Capacity { cycle: 1, .. }));
        assert!(matches!(broken(&|cycles| cycles[0].push(issue(0, 1))), Violation::Precedence { cycle: 1, .. }));
        assert!(matches!(broken(&|cycles| cycles.swap(0, 1)), Violation::Precedence { cycle: 1, .. }));
        assert!(matches!(
            broken(&|cycles| cycles.insert(1, vec![issue(1, 0)])),
            Violation::WorkConservation { cycle: 2, warp: 0, letter: 'C' }
        ));
        assert!(matches!(broken(&|cycles| cycles.truncate(2)), Violation::Unfinished { warp: 1, done: 1 }));
        assert!(matches!(broken(&|cycles| cycles[0].push(issue(7, 0))), Violation::Unknown { cycle: 1, .. }));
        let units = [Unit::new('L'), Unit::new('C')];
        let string = KernelString::parse("L2", &units).unwrap().uninterrupted();
        let cycles = vec![vec![issue(0, 0)], vec![issue(1, 0)], vec![issue(0, 1)], vec![issue(1, 1)]];
        let violation = verify(&string, &Schedule { warps: 2, cycles }).unwrap_err();
        assert_eq!(violation, Violation::Interrupted { cycle: 2, warp: 0, letter: 'L' });
    }
}
