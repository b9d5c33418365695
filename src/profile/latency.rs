//! How long a launch takes to reach an idle GPU.

use super::model::GpuProfile;
use crate::statistics::nearest_rank;

/// The launch latency of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchLatency {
    /// Time from the beginning of the call to the start on the GPU \[ns\].
    pub latency_ns: u64,
    /// Launches that found the GPU idle, of which it is the lower quartile.
    pub launches: usize,
}

impl GpuProfile {
    /// The launch latency of a GPU: the lower quartile over all operations whose call began when everything before it
    /// had ended; first launches load code, which takes much longer. `None` if there is no such operation.
    #[must_use]
    pub fn launch_latency(&self, gpu: u32) -> Option<LaunchLatency> {
        let mut latest_end = 0;
        let mut latencies = Vec::new();
        for operation in self.operations.iter().filter(|operation| self.gpu_of(operation.stream) == gpu) {
            let call = operation.call.and_then(|call| self.calls.get(call as usize));
            if let Some(call) = call
                && call.start_ns >= latest_end
                && call.start_ns <= operation.start_ns
            {
                latencies.push(operation.start_ns - call.start_ns);
            }
            latest_end = latest_end.max(operation.end_ns());
        }
        latencies.sort_unstable();
        let latency_ns = nearest_rank(&latencies, 25)?;
        Some(LaunchLatency { latency_ns, launches: latencies.len() })
    }
}
