//! What calls of the CUDA runtime and driver wait for.

/// What a call of the CUDA runtime or driver does to its host thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// It returns without waiting for the GPU.
    Asynchronous,
    /// It waits for everything.
    DeviceSync,
    /// It waits for a stream.
    StreamSync,
    /// It waits for an event.
    EventSync,
    /// It waits for the copy or memset that it submits.
    OwnOperation,
    /// It makes a stream wait for an event.
    StreamWait,
    /// It records an event in a stream.
    Record,
}

impl CallKind {
    /// Tells by the name of the function, with or without the version that Nsight Systems appends to it. What is not
    /// known counts as asynchronous.
    pub(crate) fn of(function: &str) -> Self {
        let base = function.split_once("_v").map_or(function, |(base, _)| base);
        let base = base.strip_suffix("_ptsz").or_else(|| base.strip_suffix("_ptds")).unwrap_or(base);
        match base {
            "cudaDeviceSynchronize" | "cudaThreadSynchronize" | "cuCtxSynchronize" | "cudaFree" | "cuMemFree" => {
                Self::DeviceSync
            }
            "cudaStreamSynchronize" | "cuStreamSynchronize" => Self::StreamSync,
            "cudaEventSynchronize" | "cuEventSynchronize" => Self::EventSync,
            "cudaStreamWaitEvent" | "cuStreamWaitEvent" => Self::StreamWait,
            "cudaEventRecord" | "cudaEventRecordWithFlags" | "cuEventRecord" => Self::Record,
            _ if base.contains("Memcpy") && !base.contains("Async") && !base.contains("Graph") => Self::OwnOperation,
            _ => Self::Asynchronous,
        }
    }
}
