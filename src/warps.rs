//! How long the warps of one kernel can take on one SM, whatever its warp scheduler does.
//!
//! The system of Berezovskyi, Bletsas and Andersson, "Makespan computation for GPU threads running on a single streaming
//! multiprocessor", CISTER technical report HURRAY-TR-120710, 2012 ("the report"): W warps execute the same
//! [kernel string](KernelString) of load/store (L) and compute (C) instructions; in each cycle every kind of unit
//! serves up to sigma warps, and none has room while a warp waits for it (work conservation). `docs/warps.md` has the
//! model, the proofs and what is wrong in the report.
//!
//! ```
//! use gpusched::warps::{KernelString, Objective, Search, SearchLimits, Unit, bound, estimate, pessimistic, verify};
//!
//! let string = KernelString::parse("LCLCL", &[Unit::new('L'), Unit::new('C')])?;
//! let search = Search::run(&string, 4, Objective::WorstCase, &SearchLimits::DEFAULT)?;
//! assert_eq!(search.makespans(), [0, 5, 6, 11, 14]);
//! assert_eq!(bound(&string, 4).cycles, 14);
//! assert_eq!(pessimistic(&string, 4), 20);
//! // The report's estimate from two warps is below what four can take.
//! assert_eq!(estimate(4, &search.makespans()[..3]).unwrap().cycles, 12);
//! assert_eq!(verify(&string, &search.schedule(4).unwrap()), Ok(14));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bound;
mod choice;
mod construct;
mod estimate;
mod histogram;
mod kernel_string;
mod pessimistic;
mod schedule;
mod search;
mod sigma;
mod table;
mod verify;

pub use bound::{Bound, BoundKind, best_case_bound, bound, change_weight, changes_bound, waiting_bound};
pub use construct::{Constructed, construct};
pub use estimate::{Estimate, estimate};
pub use kernel_string::{KernelString, KernelStringError, MAX_STEPS, Step, Unit, UnitKind};
pub use pessimistic::pessimistic;
pub use schedule::{Issue, Schedule};
pub use search::{Objective, Search, SearchLimits, SearchSize, TooLarge};
pub use sigma::{Sigma, SigmaError};
pub use verify::{Violation, verify};
