//! The thesis' cost study (section 3.7, Table 3.1, Figs. 3.11 to 3.13): time against kernels and blocks, for Algorithm
//! 2 as printed and for ours.
//!
//! Wall-clock times differ from machine to machine and from run to run; what is the same everywhere is the work of the
//! printed algorithm's loop, so that is counted too ([`LoopWork`](crate::analysis::printed::LoopWork)).

mod loop_iterations;
mod measure;
mod task_sets;

pub(crate) use loop_iterations::{LoopIterations, LoopVariant, study};
pub(crate) use measure::{CostFigure, CostPoint, measure};
#[cfg(test)]
pub(crate) use measure::{CostSetting, settings};
