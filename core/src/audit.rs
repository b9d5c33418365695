//! Is this trace, measured or simulated, one that the published rules allow?
//!
//! The audit knows when and where blocks ran and when kernels were launched, and nothing of how a simulation would
//! have come to that. It keeps its own account of resources, queues and promotions and shares no code with the
//! simulated GPU beyond the input types, so that each can be tested by the other.
//!
//! Everything is brought into one form first, an [`ObservedRun`]: [`ObservedRun::of_logs`] for measured logs,
//! [`ObservedRun::of_run`] for simulated scenarios, [`ObservedRun::of_trace`] for runs of other hosts. [`audit`] then
//! checks:
//!
//! | rule | where |
//! | --- | --- |
//! | R1, R2, R3, registers, limits per block, SM ids, SM masks, clients of MPS, clusters | `resources` |
//! | G1, G4, N1, N2, E2, L1, L2, X1, A2, H1, H2 | `waits`, from what `readiness` derives |
//! | jobs that the ends of others release | `releases` |
//! | work conservation | `conservation` |
//! | C1 to C4, shared links, T5 | `copies` |
//! | T1 to T4, T6 | `rounds`, `times` |
//! | counters, cooperative launches | `synchronization` |
//! | the clocks themselves | `times` |
//! | placement, as a statistic | `placement` |
//!
//! A profile, which has kernels and no blocks, is asked elsewhere what can be asked of it.
//!
//! Where several processes have contexts that take turns (T1), each context is checked by itself.
//!
//! Measured times are noisy and come from two clocks; what lies within the [`Tolerances`] is never reported, and where
//! the order of two things cannot be known, either order is accepted. Simulated times are exact, and so is the audit.

mod audited_run;
mod conservation;
mod copies;
mod executions;
mod finding;
mod launches;
mod learn;
mod observed_run;
mod placement;
mod readiness;
mod releases;
mod report;
mod resources;
mod rounds;
mod sweep;
mod synchronization;
mod times;
mod waits;

pub use finding::{AuditRule, Finding, Tolerances};
pub use learn::{LearnedPlacement, learn_placement};
pub(crate) use learn::{PlacementTried, explained_by_device};
pub use observed_run::{
    ObservedContexts, ObservedCopy, ObservedFree, ObservedJob, ObservedKernel, ObservedOperation, ObservedRun,
    ObservedStand, ObservedStream, ObservedTrigger, ObservedTurn, ObservedTurns, ObservedValue, ObservedWork,
};
#[doc(hidden)]
pub use placement::{DecidableBlock, decidable_blocks};
pub use placement::{Misplaced, PlacementStatistic};
pub use report::{Audit, AuditReport, Checked, audit, audit_logs};
