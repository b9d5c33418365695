//! The simulated GPU: it knows the hardware's rules and nothing else.
//!
//! Whoever decides *when* to submit work is a [`Host`] in front of it; whatever happened is in the [`Trace`](crate::trace::Trace) that it
//! leaves. The rules are those of Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling on the NVIDIA TX2:
//! Hidden Details Revealed", RTSS 2017, by their published names; each has one home here:
//!
//! | rule | where |
//! | --- | --- |
//! | G1, G2, G4, N1, N2, channels | `stream_queue` (state), `promote` (who may advance) |
//! | X1, G3, A1, A2 | `ee_queue`, `dispatch` |
//! | R1, R2, R3 | `sm`, `dispatch` |
//! | C1 to C4 | `copy_engine`, `promote`, `dispatch` |
//! | which SM | [`workload::Placement`](crate::workload::Placement) |
//!
//! What happens at one instant, in this order, is written down in `simulation`.

mod assign;
mod calendar;
mod complete;
mod copy_engine;
mod dispatch;
mod ee_queue;
mod engine;
mod promote;
mod random;
mod simulation;
mod sm;
mod stream_queue;
mod stretch;

pub use calendar::{Calendar, Event, Phase};
pub use engine::{Gpu, GpuOptions, SubmitError};
pub use simulation::{Ended, GpuEvent, Host, RunError, Simulation};

#[cfg(test)]
mod tests;
