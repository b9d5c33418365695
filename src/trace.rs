//! What the record of a run tells, each thing derived in one place: what is in which queue when, what is taken on the
//! SMs, why each operation waits, and all of it at one instant.
//!
//! Text, figures, the HTML page and Perfetto files say these things in their own ways and derive none of them again.
//! Which rule held an operation from when to when is what the record itself tells: [`Trace::waits`] and
//! [`Trace::held_at`].
//!
//! [`Trace::waits`]: crate::gpu::Trace::waits
//! [`Trace::held_at`]: crate::gpu::Trace::held_at

mod cause;
mod free;
mod present;
mod queue;
mod reasons;
mod snapshot;
mod sum_over_time;

pub use cause::Cause;
pub use free::{Free, Shortage};
pub use queue::{Place, Queue, QueueContents, Stay, queue_contents, stays};
pub use reasons::{Reason, reasons};
pub use snapshot::{Held, SmSnapshot, Snapshot};
pub use sum_over_time::SumOverTime;
