//! What most programs need, for `use gpusched::prelude::*`: from a scenario, read or built, to what its run says.

pub use crate::device::{BlockShape, CopyDirection, Device};
pub use crate::hosts::simulate;
pub use crate::run::{Run, Summary};
pub use crate::scenario::{Deadline, HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
pub use crate::time::{Duration, Instant};
pub use crate::workload::{Copy as GpuCopy, Kernel, StreamId, StreamSpec};
