//! Scenarios: what runs on the GPU and who submits it, as data that never changes while a simulation runs.
//!
//! Every input format is a reader that makes a [`Scenario`]; nothing behind the readers knows formats.

pub mod amalthea;
mod build;
mod chain;
mod chain_links;
mod deadline;
mod delays;
mod endless;
pub mod examiner;
mod examiner_logs;
mod expected;
mod fields;
mod finish;
mod followed;
mod known_kernels;
mod launch;
mod longer_jobs;
mod model;
mod native;
mod one_hyperperiod;
mod options;
mod read;
mod release_order;
mod thread_names;
mod timing;
mod what_if;

pub use build::ScenarioBuilder;
pub use chain::{Chain, ChainLink, ChainMeasure, LinkOperation};
pub use deadline::Deadline;
pub(crate) use delays::who_delays;
pub use expected::{Expected, ExpectedKernel};
pub(crate) use followed::followed;
pub use launch::KernelLaunch;
pub use model::{BarrierId, CoreShare, HostThread, Scenario, Step};
pub use native::NotNative;
pub use options::{LogUse, ReadOptions, ReadProgress};
pub(crate) use read::{is_key_of_scenarios, stated_device};
pub use release_order::ReleaseOrder;
pub use thread_names::UnknownStream;
pub use what_if::{WhatIf, WhatIfError};
