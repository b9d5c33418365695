//! The simulated GPU: it knows the hardware's rules and nothing else.
//!
//! Whoever decides *when* to submit work is a [`Host`] in front of it; whatever happened is in the [`Trace`] that it
//! leaves. The rules are those of Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling on the NVIDIA TX2:
//! Hidden Details Revealed", RTSS 2017, by their published names; each has one home here:
//!
//! | rule | where |
//! | --- | --- |
//! | G1, G2, G4, N1, N2, channels | `stream_queue` (state), `promote` (who may advance) |
//! | X1, G3, A1, A2 | `ee_queue`, `dispatch` |
//! | R1, R2, R3 | `sm`, `dispatch` |
//! | C1 to C4 | `copy_engine`, `promote`, `dispatch` |
//! | which SM | `placement` |
//!
//! What happens at one instant, in this order, is written down in `simulation`.

mod assign;
mod calendar;
mod complete;
mod copy_engine;
mod dispatch;
mod ee_queue;
mod engine;
mod observed;
mod operation;
mod placement;
mod promote;
mod random;
mod rule;
mod simulation;
mod sm;
mod stream_queue;
mod stretch;
mod trace;
mod wave;

pub use calendar::{Calendar, Event, Phase};
pub use engine::{Gpu, GpuOptions, SubmitError};
pub use observed::ObservedBlock;
pub use operation::OperationRecord;
pub use rule::Rule;
pub use simulation::{Ended, GpuEvent, Host, RunError, Simulation};
pub use trace::{BlockRun, RepeatedRun, Trace, Wait};
pub use wave::{Block, Part, Stretch, Wave};

#[cfg(test)]
mod tests;
