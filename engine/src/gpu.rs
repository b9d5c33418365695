//! The simulated GPU: it knows the hardware's rules and nothing else.
//!
//! A frontend with streams, a backend with SMs: whoever decides *when* to submit work is a [`Host`] before it, and an
//! observer is told what happens, such as the recorder that makes a [`Trace`](crate::trace::Trace). The rules are those
//! of Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed", RTSS
//! 2017, by their published names; where each lives is on the repository's page `docs/architecture.md`.
//!
//! What happens at one instant, in this order, is written down in `simulation`. A backend of another kind may stand
//! behind the same front, as the merged SM of gpusched's analysis does.

mod backend;
mod calendar;
mod catalogue;
mod contexts;
mod counters;
mod frontend;
mod host;
mod simulation;

#[doc(hidden)]
pub use backend::{Backend, BackendContext, ReadyOperation};
#[doc(hidden)]
pub use calendar::{Calendar, Event};
#[doc(hidden)]
pub use catalogue::GpuCatalogue;
#[doc(hidden)]
pub use contexts::{ContextBackend, runlist};
pub use host::{Ended, GpuEvent, GpuInterface, GpuOptions, Host, RunError, SubmitError};
#[doc(hidden)]
pub use simulation::Gpu;
pub use simulation::Simulated;

#[cfg(test)]
mod tests;
