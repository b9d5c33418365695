//! Any text as a device file: a device on which kernels can be asked for, or an error with a place.

use gpusched::device::{BlockDemand, BlockShape, Device};

pub(crate) fn run(text: &str) {
    match Device::from_json("device.json", text) {
        Ok(device) => {
            for threads in [1, device.warp_size, device.per_block.threads] {
                for (registers_per_thread, shared_memory_bytes) in
                    [(0, 0), (1, 1), (255, device.per_block.shared_memory_bytes)]
                {
                    let shape = BlockShape { threads, registers_per_thread, shared_memory_bytes };
                    if let Ok(demand) = BlockDemand::new(&shape, &device) {
                        assert!(demand.blocks_per_sm(&device) >= 1);
                    }
                }
            }
        }
        Err(error) => assert!(error.line >= 1 && error.column >= 1 && !error.what.is_empty(), "{error:?}"),
    }
}
