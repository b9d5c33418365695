//! Simulator and analyser of how an NVIDIA GPU's hardware schedules thread blocks.
//!
//! A simulated [GPU](gpu) that knows only the hardware's published rules; everything that decides when to submit work
//! is a [host](hosts) in front of it; everything that leaves is a [table](tables) or [picture](pictures) of a [run].
//! The rules are those of Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling on the NVIDIA TX2: Hidden Details
//! Revealed", RTSS 2017; `docs/model.md` says exactly what is computed.
//!
//! ```
//! use gpusched::hosts::simulate;
//! use gpusched::run::Summary;
//! use gpusched::scenario::{ReadOptions, Scenario};
//!
//! let text = r#"{
//!     "name": "six blocks of 512 threads, then one of 1024",
//!     "max_iterations": 1, "max_time": 0, "cuda_device": 0,
//!     "benchmarks": [
//!         {"filename": "timer_spin.so", "label": "small", "thread_count": 512, "block_count": 6, "data_size": 0,
//!          "additional_info": 1000000000},
//!         {"filename": "timer_spin.so", "label": "large", "thread_count": 1024, "block_count": 1, "data_size": 0,
//!          "additional_info": 1000000000, "release_time": 0.25}
//!     ]
//! }"#;
//! let scenario = Scenario::from_json("example.json", text, &ReadOptions::default())?;
//! let run = simulate(&scenario)?;
//! let summary = Summary::of(&scenario, &run);
//! // 1024 threads are free when the large block is launched, but 512 on each SM.
//! let starts: Vec<_> = summary.kernels().map(|kernel| kernel.first_start_ns.unwrap().as_ns()).collect();
//! assert_eq!(starts, [0, 1_000_000_000]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Indexes of 32 bits are cast to usize, and lengths to u64: neither loses anything.
const _: () = assert!(usize::BITS >= u32::BITS && usize::BITS <= u64::BITS);

pub mod analysis;
pub mod applications;
pub mod audit;
pub mod broken_bound;
pub mod causes;
pub mod device;
pub mod draw;
pub mod effort;
pub mod experiments;
pub mod explain;
pub mod figures;
pub mod formats;
pub mod gpu;
pub mod hosts;
pub mod input;
pub mod json;
pub mod limits;
pub mod logs;
mod named;
pub mod near;
pub mod pictures;
pub mod printed;
pub mod profile;
pub mod run;
pub mod scenario;
pub mod schema;
pub mod spelling;
pub mod statistics;
pub mod tables;
pub mod tasks;
pub mod time;
pub mod trace;
pub mod warps;
pub mod workload;
