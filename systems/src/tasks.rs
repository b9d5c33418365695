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
#[doc(hidden)]
pub mod chunks;
#[doc(hidden)]
pub mod demand;
mod digraph;
mod exact;
mod generate;
mod harmonic;
mod reservation;
pub mod segments;
pub(crate) mod streams;
mod task_file;
mod task_set;
mod task_time;
mod utilizations;
mod verdict;

#[doc(hidden)]
pub use analysis::necessary;
pub use analysis::{Partition, ReservationTest, SmallestBudget, TestResults, smallest_budgets};
pub use generate::{Generator, Periods, ReservationPeriod, Utilizations};
#[doc(hidden)]
pub use reservation::{LinearSupply, Supply, SupplyBound};
pub use reservation::{Reservation, Reservations};
pub use task_set::{Allocation, Task, TaskKernel, TaskSet, Timing};
pub use task_time::{TaskTime, hyperperiod};
#[doc(hidden)]
pub use utilizations::uunifast;
pub use verdict::{Rejection, TaskVerdict};

#[cfg(test)]
mod tests;
