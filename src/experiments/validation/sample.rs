//! One random scenario, as small as it can be written down.

use serde_json::{Map, Value, json};

use crate::device::BlockShape;

/// Nanoseconds in one millisecond, the unit of time of random scenarios.
pub(super) const NS_PER_MS: u64 = 1_000_000;

/// A random scenario: streams, each with the kernels that it gets at its release, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Streams, in declaration order.
    pub(crate) streams: Vec<SampleStream>,
    /// Kernels; those of one stream in its order.
    pub(crate) kernels: Vec<SampleKernel>,
    /// How long blocks of each kernel really run \[ms\]; empty: as stated.
    pub shrunk_ms: Vec<u32>,
}

/// A stream of a [`Sample`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleStream {
    /// Its priority.
    pub priority: i32,
    /// When all its kernels are launched \[ms\].
    pub release_ms: u32,
}

/// A kernel of a [`Sample`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SampleKernel {
    /// Index of its stream.
    pub stream: u8,
    /// Blocks of the grid.
    pub blocks: u32,
    /// How long a block runs \[ms\].
    pub ms: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread; 0: they do not limit it.
    pub registers_per_thread: u32,
    /// Shared memory of a block \[bytes\].
    pub shared_memory_bytes: u32,
}

impl SampleKernel {
    /// What one block needs.
    pub(crate) fn shape(&self) -> BlockShape {
        BlockShape {
            threads: self.threads,
            registers_per_thread: self.registers_per_thread,
            shared_memory_bytes: self.shared_memory_bytes,
        }
    }
}

impl Sample {
    /// Kernels of a stream, by index.
    pub(super) fn kernels_of(&self, stream: usize) -> impl Iterator<Item = usize> + '_ {
        let of_stream = move |kernel: &usize| usize::from(self.kernels[*kernel].stream) == stream;
        (0..self.kernels.len()).filter(of_stream)
    }

    /// How long a block of a kernel runs, as stated or really \[ms\].
    pub(super) fn ms(&self, kernel: usize, shrunk: bool) -> u32 {
        let stated = self.kernels[kernel].ms;
        self.shrunk_ms.get(kernel).copied().filter(|_| shrunk).unwrap_or(stated)
    }

    /// The sample as a scenario file in gpusched's native format, with its stated or its shrunk durations.
    pub(crate) fn to_json(&self, name: &str, shrunk: bool) -> Value {
        let mut kernels = Map::new();
        let mut streams = Vec::new();
        for (index, stream) in self.streams.iter().enumerate() {
            let mut operations = Vec::new();
            for kernel in self.kernels_of(index) {
                let SampleKernel { blocks, threads, registers_per_thread, shared_memory_bytes, .. } =
                    self.kernels[kernel];
                let duration = format!("{} ms", self.ms(kernel, shrunk));
                let mut entry = json!({"blocks": blocks, "threads": threads, "duration": duration});
                if shared_memory_bytes > 0 {
                    entry["shared_memory_bytes"] = shared_memory_bytes.into();
                }
                if registers_per_thread > 0 {
                    entry["registers_per_thread"] = registers_per_thread.into();
                }
                kernels.insert(format!("K{kernel}"), entry);
                operations.push(json!({"kernel": format!("K{kernel}")}));
            }
            let mut entry = json!({"name": format!("S{index}")});
            if stream.priority != 0 {
                entry["priority"] = stream.priority.into();
            }
            if stream.release_ms > 0 {
                entry["release"] = format!("{} ms", stream.release_ms).into();
            }
            entry["operations"] = operations.into();
            streams.push(entry);
        }
        json!({"format": "gpusched-scenario/1", "name": name, "kernels": kernels, "streams": streams})
    }
}
