//! The record of a run: operations and the instants of their lives, why they waited, and where their blocks ran.
//!
//! A trace is compact: blocks of one kernel that were assigned at one instant are one [`Wave`], waves that repeat are
//! one [`Stretch`], and iterators expand both when asked. It knows neither the simulated GPU nor the hosts: whoever
//! runs something fills it in, and whoever reports reads it.

mod blocks;
mod observed;
mod operation;
mod record;
mod recorder;
mod rule;
mod waits;
mod wave;

pub use crate::workload::Part;
pub use blocks::{BlockRun, RepeatedRun};
pub use observed::ObservedBlock;
pub(crate) use operation::NEVER;
pub use operation::OperationRecord;
pub use record::{Trace, TraceFull};
pub use recorder::{Launch, NewStretch, NewWave, Recorder};
pub use rule::Rule;
pub use waits::Wait;
pub use wave::{Block, Stretch, Wave};
