//! Response times without running, and how far to trust them.
//!
//! Paredes Zevallos' thesis ("AMALTHEA-based GPU Response Time Analysis for NVIDIA's Jetson TX2", FH Dortmund, 2019,
//! chapter 3) merges the SMs of a GPU into one and computes, kernel by kernel, when the last block of each must have
//! ended. What is here:
//!
//! | what | where |
//! | --- | --- |
//! | Algorithm 2 as printed, the oracle of everything else | `algorithm_2` |
//! | merged SM: the same numbers, with releases, at a cost that does not grow with the grid | [`MergedSm`] |
//! | pooled lower bound: blocks that differ, on one SM with the resources of all | `merged_resources` |
//! | all kernels with the same block time, in closed form | `algorithm_2` |
//! | a whole scenario, and whether the result is exact | [`analyse()`] |
//! | finish times that hold even if blocks run shorter than stated | `safe_finish` of [`AnalysedKernel`] |
//! | by when every operation has finished, in every run | [`finish_bounds()`] |
//! | runs with long responses | [`search()`] |
//! | whether every job meets its deadline: proven, missed or open | [`judge()`] |
//! | what a proven checker needs to see that it is proven | [`Certificate`] |
//! | the same for streams whose releases are not given | [`judge_sporadic()`] |
//! | what would have to be guaranteed for each deadline | [`ladder()`] |
//! | how much longer, or shorter, kernels, copies, CPU work and jobs may, or have to, take | `sensitivity` |
//! | and for the requirements of an AMALTHEA model | [`requirements_of_jobs()`], [`requirements_of_streams()`] |
//! | all orders of simultaneous launches | [`launch_orders()`] |
//! | whether kernels that wait on the GPU can stand still | [`judge_progress()`] |
//! | how large a grid may be so that nothing can | [`largest_grid()`] |
//! | analysed against simulated | [`compare()`] |
//! | whether a run keeps what is claimed of all runs | [`Analysis::check_run()`], in each of the above that knows both |
//! | how each kernel fills the GPU when it runs alone | [`occupancy_of_scenario()`] |
//! | how many of its blocks fit at once, alone and at worst beside others | [`room_alone()`], [`sure_room()`] |
//!
//! `docs/analysis.md` has the proofs, and which bound is used when and is in which file; `docs/errata.md` what was
//! wrong in print.

#[doc(hidden)]
pub mod algorithm_2;
mod analyse;
mod assumptions;
mod certificate;
mod chains;
mod compare;
mod finish_bounds;
mod job_bounds;
mod job_set;
mod jobs;
mod ladder;
mod largest_grid;
mod launch_orders;
mod merged_resources;
mod merged_sm;
mod partitions;
mod prepared;
mod progress;
mod requirements;
mod residency;
mod safe_bound;
mod search;
mod sensitivity;
mod sporadic;
mod verdict;

pub use algorithm_2::AlgorithmStep;
pub use analyse::{AnalysedCopy, AnalysedKernel, Analysis, StepsError, analyse, analyse_and_bound};
pub use assumptions::Departure;
pub(crate) use assumptions::{note_on_channels, proven_under};
pub use certificate::Certificate;
pub(crate) use chains::unphased_chains;
pub use chains::{ChainVerdict, ChainVerdicts, chain_verdicts};
pub use compare::{
    AnalysisError, ComparedKernel, Comparison, MergedScenarioError, OccupancyEntry, OccupancyReport, compare,
    merged_scenario, occupancy_of_scenario,
};
pub use finish_bounds::{BoundRefusal, BoundedOperation, FinishBounds, finish_bounds};
pub use job_bounds::{SporadicRefusal, WindowLoad};
pub(crate) use job_set::{JobSet, SetJob};
pub use jobs::{AnalysedJob, jobs_of};
#[doc(hidden)]
pub use ladder::ladder_of_runs;
pub use ladder::{Ladder, LadderRow, Rung, RungVerdict, ladder};
pub use largest_grid::{LargestGrid, largest_grid};
pub use launch_orders::{LaunchOrders, Method, OrderedKernel, OrdersError, launch_orders, orders_to_try};
#[doc(hidden)]
pub use merged_resources::{MergedResources, PooledKernel, needs, pool};
pub use merged_sm::{MergedKernel, MergedSm, TimeOverflow, finish_times};
pub use progress::{
    CudaPromise, HangingRun, ProgressCondition, ProgressGroup, ProgressVerdict, ProgressVerdicts, WaitingKernel,
    judge_progress,
};
pub use requirements::{RequirementVerdict, requirements_of_jobs, requirements_of_streams};
pub use residency::{Crowd, room_alone, sure_room};
pub use safe_bound::{BlockTimes, BoundOptions};
pub use search::{SearchOptions, SearchResult, search};
pub(crate) use sensitivity::{Question, Sensitivity, SensitivityRow, ThreadSlack, TimeChange};
pub use sporadic::{SporadicVerdict, SporadicVerdicts, judge_sporadic, sporadic_bounds};
pub use verdict::{JobVerdict, JobVerdicts, Verdict, judge};
pub(crate) use verdict::{judge_known, open_notes, stopped_note};
