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
//! | R1, R2, R3, registers, limits per block, SM ids, SM masks | `resources` |
//! | G1, G4, N1, N2 | `readiness`, `ready` |
//! | X1, A2, work conservation | `queues`, `conservation` |
//! | C1 to C4 | `copies` |
//! | MPS | `clients` |
//! | H1, H2 | `calls` |
//! | T1 to T6 | `rounds`, `copy_turns`, `times` |
//! | the clocks themselves | `times` |
//! | placement, as a statistic | `placement` |
//!
//! A profile, which has kernels and no blocks, is asked only what can be asked of it.
//!
//! Where several processes have contexts that take turns (T1), each context is checked by itself.
//!
//! Measured times are noisy and come from two clocks; what lies within the [`Tolerances`] is never reported, and where
//! the order of two things cannot be known, either order is accepted. Simulated times are exact, and so is the audit.

mod before;
mod calls;
mod case;
mod causes;
mod channels;
mod clients;
mod clusters;
mod completions;
mod conservation;
mod copies;
mod copy_turns;
mod dealing;
mod demand;
mod facts;
mod finding;
mod from_logs;
mod from_trace;
mod learn;
mod links;
mod logs;
mod merge;
mod observation;
mod observed_turns;
mod options;
mod placement;
mod profile;
mod programmatic;
mod queues;
mod readiness;
mod ready;
mod report;
mod resources;
mod rounds;
mod run;
mod stamp;
mod sweep;
mod times;

pub use finding::{AuditRule, Finding};
pub(crate) use learn::PlacementTried;
pub use learn::{LearnedPlacement, learn_placement};
pub use logs::audit_logs;
pub use observation::{
    Observation, ObservedContexts, ObservedCopy, ObservedFree, ObservedKernel, ObservedOperation, ObservedStream,
    ObservedWork,
};
pub use observed_turns::{ObservedTurn, ObservedTurns};
pub use options::Tolerances;
pub(crate) use placement::{DecidableBlock, decidable_blocks};
pub use placement::{Misplaced, PlacementStatistic};
pub(crate) use profile::{CaseVerdict, ProfileAudit, ProfileCase};
pub(crate) use profile::{TELLING_WAVES, audit_profile};
pub use report::AuditReport;
pub use run::{Audit, Checked, audit};
