//! Is this trace, measured or simulated, one that the published rules allow?
//!
//! The audit knows when and where blocks ran and when kernels were launched, and nothing of how a simulation would
//! have come to that. It keeps its own account of resources, queues and promotions and shares no code with the
//! simulated GPU beyond the input types, so that each can be tested by the other.
//!
//! Everything is brought into one form first, an [`Observation`]: [`Observation::of_logs`] for measured logs,
//! [`Observation::of_trace`] for simulated scenarios, [`Observation::of_run`] for runs of other hosts. [`audit`] then
//! checks:
//!
//! | rule | where |
//! | --- | --- |
//! | R1, R2, R3, registers, limits per block, SM ids, SM masks, clients of MPS, clusters | `resources` |
//! | G1, G4, N1, N2, E2, L1, L2, X1, A2, H1, H2 | `waits`, from what `readiness` derives |
//! | work conservation | `conservation` |
//! | C1 to C4, shared links, T5 | `copies` |
//! | T1 to T4, T6 | `rounds`, `times` |
//! | the clocks themselves | `times` |
//! | placement, as a statistic | `placement` |
//!
//! A profile, which has kernels and no blocks, is asked elsewhere what can be asked of it.
//!
//! Where several processes have contexts that take turns (T1), each context is checked by itself.
//!
//! Measured times are noisy and come from two clocks; what lies within the [`Tolerances`] is never reported, and where
//! the order of two things cannot be known, either order is accepted. Simulated times are exact, and so is the audit.

mod case;
mod conservation;
mod copies;
mod facts;
mod finding;
mod launches;
mod learn;
mod observation;
mod placement;
mod readiness;
mod resources;
mod rounds;
mod run;
mod sources;
mod sweep;
mod times;
mod waits;

pub use finding::{AuditRule, Finding, Tolerances};
pub(crate) use learn::PlacementTried;
pub use learn::{LearnedPlacement, learn_placement};
pub use observation::{
    Observation, ObservedContexts, ObservedCopy, ObservedFree, ObservedKernel, ObservedOperation, ObservedStream,
    ObservedTurn, ObservedTurns, ObservedWork,
};
#[doc(hidden)]
pub use placement::{DecidableBlock, decidable_blocks};
pub use placement::{Misplaced, PlacementStatistic};
pub use run::{Audit, AuditReport, Checked, audit, audit_logs};
