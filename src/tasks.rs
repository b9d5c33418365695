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
//! | [`TestResults::single_stream`] | one stream | sufficient |
//! | [`TestResults::multi_stream`] | streams of PL priorities | sufficient |
//! | [`TestResults::necessary`] | SMs as cores, gang | necessary |
//! | [`ReservationTest`]: `Sbf`, `SbfLinear`, `PeriodicResource` | sporadic tasks in a reservation | sufficient |
//! | [`ReservationTest`]: `Chunks`, `Harmonic`, `Digraph` | synchronous periodic tasks in a reservation | sufficient |
//! | [`ReservationTest`]: `Exact` | synchronous periodic tasks in a reservation | decides |
//! | [`segments`] | tasks with CPU and GPU segments on several cores | bounds responses |
//! | what is called "as printed" | comparison with the printed text | nothing: unsound |

mod analysis;
mod blocking;
mod budget;
pub(crate) mod chunks;
mod chunks_as_printed;
pub(crate) mod demand;
mod digraph;
mod exact;
mod generate;
mod harmonic;
mod harmonic_as_printed;
mod hyperperiod;
pub(crate) mod limited_preemption;
mod limited_preemption_as_printed;
pub(crate) mod necessary;
pub(crate) mod non_preemptive_edf;
mod periodic_resource;
mod processor_demand;
mod proportional;
mod rand_fixed_sum;
mod read;
mod reservation;
mod sbf;
mod sbf_linear;
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
