//! Real-time tasks on the GPU: their schedulability tests, and the task sets to try them on.
//!
//! Zahaf and Lipari, "Design and Analysis of Programming Platform for Accelerated GPU-Like Architectures", RTNS 2020,
//! with its formulas corrected; `docs/tasks.md` says what was wrong, which test may be trusted for what, and shows the
//! counterexamples. The scheduling strategies themselves are hosts of the simulated GPU, see [`crate::hosts`].
//!
//! Times are whole numbers of one unit; where tasks run on the simulated GPU it is the nanosecond.
//!
//! | test | for | says |
//! | --- | --- | --- |
//! | [`non_preemptive_edf`] | one stream | sufficient |
//! | [`limited_preemption`] | streams of PL priorities | sufficient |
//! | [`necessary`] | SMs as cores, gang | necessary |
//! | [`sbf`], [`sbf_linear`], [`periodic_resource`] | sporadic tasks in a reservation | sufficient |
//! | [`chunks`], [`harmonic`], [`digraph`] | synchronous periodic tasks in a reservation | sufficient |
//! | [`exact`] | synchronous periodic tasks in a reservation | decides |
//! | [`segments`] | tasks with CPU and GPU segments on several cores | bounds responses |
//! | [`limited_preemption_as_printed`], [`chunks_as_printed`], [`harmonic_as_printed`] | comparison with the printed text | nothing: unsound |

mod analysis;
mod blocking;
mod budget;
pub mod chunks;
pub mod chunks_as_printed;
pub mod demand;
pub mod digraph;
pub mod exact;
mod generate;
pub mod harmonic;
pub mod harmonic_as_printed;
mod hyperperiod;
pub mod limited_preemption;
pub mod limited_preemption_as_printed;
pub mod necessary;
pub mod non_preemptive_edf;
pub mod periodic_resource;
mod processor_demand;
mod proportional;
mod rand_fixed_sum;
mod read;
mod reservation;
pub mod sbf;
pub mod sbf_linear;
pub mod segments;
mod supply;
mod task_set;
mod task_time;
mod unroll;
mod utilization;
mod uunifast;
mod verdict;
mod whole_times;
mod write;

pub use analysis::{Partition, ReservationTest, TestResults};
pub use budget::{SmallestBudget, smallest_budgets};
pub use generate::{Generator, Periods, ReservationPeriod, Utilizations};
pub use hyperperiod::hyperperiod;
pub use reservation::{Reservation, Reservations};
pub(crate) use supply::{LinearSupply, Supply, SupplyBound};
pub use task_set::{Allocation, Task, TaskKernel, TaskSet, Timing};
pub use task_time::TaskTime;
pub(crate) use uunifast::uunifast;
pub use verdict::{Rejection, TaskVerdict};

#[cfg(test)]
mod tests;
