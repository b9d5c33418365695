//! How long the warps of one kernel can take on one SM, whatever its warp scheduler does.
//!
//! The system of Berezovskyi, Bletsas and Andersson, "Makespan computation for GPU threads running on a single
//! streaming multiprocessor", CISTER technical report HURRAY-TR-120710, 2012 ("the report"): W warps execute the same
//! [kernel string](KernelString) of load/store (L) and compute (C) instructions; in each cycle every kind of unit
//! serves up to sigma warps, and none has room while a warp waits for it (work conservation). `docs/warps.md` has the
//! model, the proofs and what is wrong in the report.
//!
//! ```
//! use gpusched_engine::effort::Progress;
//! use gpusched_systems::warps::{
//!     KernelString, MakespanSearch, Objective, SearchLimits, Unit, bound, estimate, pessimistic, verify,
//! };
//!
//! let string = KernelString::parse("LCLCL", &[Unit::new('L'), Unit::new('C')])?;
//! let search = MakespanSearch::run(&string, 4, Objective::WorstCase, &SearchLimits::DEFAULT, Progress::NONE)?;
//! assert_eq!(search.makespans(), [0, 5, 6, 11, 14]);
//! assert_eq!(bound(&string, 4).cycles, 14);
//! assert_eq!(pessimistic(&string, 4), 20);
//! // The report's estimate from two warps is below what four can take.
//! assert_eq!(estimate(4, &search.makespans()[..3]).unwrap().cycles, 12);
//! assert_eq!(verify(&string, &search.schedule(4).unwrap()), Ok(14));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod bound;
mod construct;
#[cfg(feature = "ilp")]
mod highs;
mod histogram;
mod ilp;
mod instance;
mod kernel_string;
mod schedule;
mod search;

pub use answer::{Answer, ExactBy, Question, answer};
pub use bound::{Bound, BoundKind, Estimate, bound, estimate, pessimistic};
pub use construct::{Constructed, construct};
#[cfg(feature = "ilp")]
pub(crate) use highs::solve_ilp;
#[cfg(feature = "ilp")]
pub use highs::{IlpError, answer_by_program};
pub use ilp::{Ilp, IlpTooLarge, WorkConserving};
pub use instance::Instance;
#[doc(hidden)]
pub use kernel_string::{InstructionCycle, UnitKind};
pub use kernel_string::{KernelString, KernelStringError, Sigma, SigmaError, Unit};
#[doc(hidden)]
pub use schedule::Issue;
#[cfg(test)]
pub(crate) use schedule::report_figure_2;
pub use schedule::{Schedule, Violation, verify};
pub use search::{MakespanSearch, Objective, SearchLimits, SearchSize, TooLarge};

#[cfg(test)]
mod tests;
