//! Checks a schedule against the model, on explicit warps and without anything that made it.

use super::kernel_string::KernelString;
use super::schedule::Schedule;

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
