//! Schedulers of applications.

mod global_edf;
pub mod gpu_evr;
mod one_at_a_time;
mod plain_streams;
pub(super) mod scheduler;
mod timegraph;
pub(super) mod usage_sums;
mod whole_application;
