//! Hosts: everything that decides when work is submitted to the simulated GPU.
//!
//! | what | where |
//! | --- | --- |
//! | the host threads of a scenario | `program/` |
//! | programs that share a GPU | `together` |

mod program;
mod together;

use crate::effort::Progress;
use crate::gpu::{GpuEvent, GpuInterface, Host};

#[doc(hidden)]
pub use program::long_run::simulate_summed;
pub use program::long_run::{AnyLength, AnyRun, HeldAtMost, LongRun, simulate_any_length};
pub(crate) use program::long_run::{Need, PiecesFor, simulate_telling};
#[doc(hidden)]
pub use program::run_on;
pub use program::simulate::least_work;
pub use program::{LaunchOrder, ProgramError, ProgramHost, SimulateOptions, simulate, simulate_with};
#[doc(hidden)]
pub use program::{register_work, simulate_in_brief, simulate_placed};
pub use together::{OneGpu, TogetherError, TogetherTime, TogetherTimes};

/// Another host, and the instant \[ns\] that its run has come to.
#[derive(Debug)]
#[doc(hidden)]
pub struct Timed<'w, H> {
    pub host: H,
    pub reached: Progress<'w>,
}

impl<H: Host> Host for Timed<'_, H> {
    type Error = H::Error;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), H::Error> {
        self.host.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        self.host.on_event(event, gpu);
    }

    fn on_wake(&mut self, token: u64) {
        self.host.on_wake(token);
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), H::Error> {
        self.reached.reach(gpu.now().as_ns());
        self.host.act(gpu)
    }
}
