//! AMALTHEA models (`.amxmi`) of Eclipse APP4MC, as in Paredes Zevallos, "AMALTHEA-based GPU Response Time Analysis for
//! NVIDIA's Jetson TX2", master's thesis, FH Dortmund, 2019.
//!
//! [`AmaltheaModel`] is what gpusched reads of a model, whatever the schema version says: every form of ticks of
//! versions 0.8 to 1.x is accepted in any file. [`AmaltheaModel::scenario`] launches runnables as kernels:
//!
//! - a runnable with a grid size is one kernel in a stream of its own, launched whenever the stimulus of its task says,
//!   or else once at t = 0; response-time limits of its task and its own are its deadline;
//! - its ticks, at the frequency of a processing unit, are the time of one block;
//! - copy runnables around it are copies before and after it in its stream (Sec. 1.4 of the thesis).
//!
//! `docs/amalthea.md` is the guide.

mod activate;
mod build;
mod chains;
mod choose;
mod copies;
mod core_shares;
mod cost;
mod demands;
mod distribution;
mod error;
mod event_chains;
mod frequency;
mod guard;
mod hardware;
mod items;
mod labels;
mod mapping;
mod memory;
mod model;
mod names;
mod numbers;
mod options;
mod processes;
mod properties;
mod read;
mod requirements;
mod sequences;
mod software;
mod stimuli;
mod tasks_on_cores;
mod ticks;
mod times;
mod unit;
mod work;
mod xml;

pub use demands::ModelDemands;
pub(crate) use demands::ResponseLimit;
pub use error::AmaltheaError;
pub use frequency::Frequency;
pub use model::AmaltheaModel;
pub(crate) use model::{ProcessingUnit, Runnable};
pub use options::{AmaltheaOptions, TickBound};
pub(crate) use requirements::Requirement;
pub use requirements::RequirementOf;
pub(crate) use stimuli::{Activation, Stimulus};
pub(crate) use ticks::{TickRange, Ticks};
pub(crate) use work::TickEntry;
