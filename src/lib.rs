//! Simulator and analyser of how an NVIDIA GPU's hardware schedules thread blocks.
//!
//! A simulated [GPU](gpu) that knows only the hardware's published rules; everything that decides when to submit work
//! is a [host](hosts) in front of it; everything that leaves is a [table](tables) or [picture](pictures) of a [run].
//! The rules are those of Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling on the NVIDIA TX2: Hidden Details
//! Revealed", RTSS 2017; `docs/model.md` says exactly what is computed.
//!
//! # The life of a simulation
//!
//! 1. A [`Device`](device::Device) is a GPU as data: built in, or read from a file of one's own.
//! 2. A [`Scenario`](scenario::Scenario) is what runs on it: kernels and copies, the streams they go to, and the host
//!    threads that submit them. It is read from a file ([`Scenario::from_json`](scenario::Scenario::from_json), or
//!    [`input`], which tells all formats apart) or built ([`ScenarioBuilder`](scenario::ScenarioBuilder)).
//! 3. [`simulate`](hosts::simulate) runs it and gives a [`Run`](run::Run), with the [`Trace`](trace::Trace) of every
//!    block; a scheduler of one's own is a [`Host`](gpu::Host) instead.
//! 4. A [`Summary`](run::Summary) is asked what came of it: kernels, jobs, deadlines,
//!    [response times](run::Summary::responses); the trace says what each operation [waited](trace::Trace::waits) for,
//!    and under which rule.
//! 5. A [report](tables) or a [picture](pictures) shows that; an [audit] or an [analysis] judges it.
//!
//! Every 20 ms a camera's frame is copied to a Jetson TX2 and searched, within 10 ms, beside a lidar's scan:
//!
//! ```
//! use gpusched::prelude::*;
//!
//! let ms = |count: u64| Duration::from_ns(count * 1_000_000);
//! let tx2 = Device::builtin("tx2")?.ok_or("the TX2 is built in")?;
//!
//! let mut builder = ScenarioBuilder::on(&tx2, "camera and lidar");
//! let camera = builder.add_stream(StreamSpec::new("camera"))?;
//! let lidar = builder.add_stream(StreamSpec::new("lidar"))?;
//! let frame = GpuCopy { direction: CopyDirection::HostToDevice, bytes: Some(1 << 20), duration: Some(ms(1)) };
//! let frame = builder.add_copy(frame)?;
//! let search = builder.add_kernel(Kernel::new("search", 8, 1024, ms(4)))?;
//! let scan = builder.add_kernel(Kernel::new("scan", 4, 1024, ms(3)))?;
//! builder.add_thread(HostThread {
//!     iterations: Some(2),
//!     deadline: Deadline::After(ms(10)),
//!     ..HostThread::periodic("camera", ms(20), vec![Step::Copy(frame, camera), Step::Launch(search, camera)])
//! });
//! builder.add_thread(HostThread {
//!     iterations: Some(2),
//!     ..HostThread::periodic("lidar", ms(20), vec![Step::Launch(scan, lidar)])
//! });
//! let scenario = builder.build();
//!
//! let run = simulate(&scenario)?;
//! let summary = Summary::of(&run);
//! // The frame is there after 1 ms. The scan holds all 4,096 threads until 3 ms, and the search takes them twice.
//! let longest: Vec<_> = summary.responses().iter().map(|stream| stream.max_ns).collect();
//! assert_eq!(longest, [Some(ms(11)), Some(ms(3))]);
//! assert_eq!(summary.jobs().misses(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Tests beside the code share samples with the suite, which names the library so.
#[cfg(test)]
extern crate self as gpusched;

pub use gpusched_core::{
    analysis, audit, broken_bound, draw, formats, logs, printed, probe, replay, run, scenario, statistics,
};
use gpusched_engine::named;
#[doc(inline)]
pub use gpusched_engine::{device, effort, gpu, json, limits, spelling, time, trace, words, workload};
pub use gpusched_imports::{amalthea, input, profile};
pub use gpusched_papers::experiments;
pub use gpusched_systems::{applications, tasks, warps};

pub mod explain;
pub mod figures;
pub mod prelude;
pub mod schema;

/// Hosts: everything that decides when work is submitted to the simulated GPU.
pub mod hosts {
    pub use gpusched_core::hosts::*;
    pub use gpusched_systems::hosts::*;
}

/// Tables: what is said of a run, an analysis or a measurement, in columns and as JSON documents.
pub mod tables {
    pub use gpusched_core::tables::*;
    pub use gpusched_imports::tables::*;
    pub use gpusched_papers::tables::*;
    pub use gpusched_systems::tables::*;

    pub use crate::explain::{ExplainReport, OfPaper, PrintedDocument};
}

/// Pictures: timelines, charts and maps, the page in HTML, and Perfetto's traces.
pub mod pictures {
    pub use gpusched_core::pictures::*;
    pub use gpusched_papers::pictures::*;
    pub use gpusched_systems::pictures::*;
}
