//! Experiments: campaigns of many runs, or of many random inputs, each in a module of its own.
//!
//! | what | where |
//! | --- | --- |
//! | a command repeated over a grid, on one machine or many | [`study`] |
//! | random scenarios that put the merged SM to the test | [`validation`] |
//! | the thesis' cost study, Figs. 3.11 to 3.13 | `cost_study` |
//! | GPU-EvR and the schedulers it is compared with, DATE 2014, Figs. 3 to 6 | [`evr`] |
//! | schedulability tests on random task sets, RTNS 2020, Figs. 6 to 8 | [`acceptance`] |
//! | response times of tasks on the GPU, RTNS 2020, Figs. 9 and 10 | [`response_times`] |
//! | makespans of more and more warps, CISTER 2012, Figs. 6 and 7 | `warp_curves` |
//! | a profile simulated again | [`profile_replay`], [`recorded_trace`] |

pub mod acceptance;
#[doc(hidden)]
pub mod cost_study;
pub mod evr;
mod fields;
pub mod profile_replay;
pub mod response_times;
pub mod segment_acceptance;
pub mod study;
pub mod validation;
#[doc(hidden)]
pub mod warp_curves;

pub use profile_replay::recorded_trace;
