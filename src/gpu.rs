//! The simulated GPU: it knows the hardware's rules and nothing else.
//!
//! A front with streams, a back with SMs: whoever decides *when* to submit work is a [`Host`] before it, and an
//! [`Observer`] is told what happens, such as the [`Recorder`](crate::trace::Recorder) that makes a
//! [`Trace`](crate::trace::Trace). The rules are those of Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling
//! on the NVIDIA TX2: Hidden Details Revealed", RTSS 2017, by their published names; each has one home here:
//!
//! | rule | where |
//! | --- | --- |
//! | G1, G4, C4 | `front`, `front/stream_queue` |
//! | G2, C1, N1, N2, channels | `front/promote` |
//! | X1, G3, A1, A2, C2, C3 | `back/sm_back`, `back/ee_queue`, `back/copy_engine` |
//! | R1, R2, R3 | `back/assign`, `back/sm` |
//! | T1 to T6 | `contexts` |
//! | which SM | [`workload::Placement`](crate::workload::Placement) |
//!
//! What happens at one instant, in this order, is written down in `simulation`. A [`Back`] of another kind may stand
//! behind the same front, as the [analysis](crate::analysis)' merged SM does.

mod back;
mod calendar;
mod catalogue;
mod contexts;
mod error;
mod front;
mod host;
mod observer;
mod options;
mod simulation;

pub use back::{Back, BackContext, Ready, SmBack};
pub use calendar::{Calendar, Event, Latency};
pub use catalogue::Known;
pub use contexts::{ContextBack, runlist};
pub use error::{RunError, SubmitError};
pub use host::{Ended, GpuEvent, Host, Target};
pub use observer::{Finishes, Observer};
pub use options::GpuOptions;
pub use simulation::{Gpu, Simulation};

#[cfg(test)]
mod tests;
