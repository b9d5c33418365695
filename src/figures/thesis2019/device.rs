//! What chapters 2 and 3 say of the TX2 itself.

use super::super::made::Failure;
use crate::device::{BlockDemand, BlockShape, Device};
use crate::printed::{Printed, Value};

/// Section 2.2, Fig. 2.4 and Eq. 3.6, against the device that is built in.
pub(super) fn values() -> Result<Vec<Printed>, Failure> {
    let device = Device::builtin("tx2")?.ok_or("the TX2 is not built in")?;
    let demand = |threads| {
        let shape = BlockShape { threads, registers_per_thread: 0, shared_memory_bytes: 0 };
        BlockDemand::new(&shape, &device)
    };
    let query = "Sec. 2.2, deviceQuery";
    let bytes = |count: u32| Value::Number(f64::from(count), "bytes");
    let mut values = vec![
        Printed::new(query, "CUDA capability", "6.2", &*device.compute_capability),
        Printed::new(query, "SMs", 2_u32, device.sms),
        Printed::new(query, "shared memory per block", bytes(49_152), bytes(device.per_block.shared_memory_bytes)),
        Printed::new(query, "registers per block", 32_768_u32, device.per_block.registers),
        Printed::new(query, "warp size", 32_u32, device.warp_size),
        Printed::new(query, "threads per SM", 2_048_u32, device.per_sm.threads),
        Printed::new(query, "threads per block", 1_024_u32, device.per_block.threads),
        Printed::new(
            "Sec. 2.2, Fig. 2.4",
            "threads that a block of 140 wastes",
            20_u32,
            (demand(140)?.warps * device.warp_size).saturating_sub(140),
        ),
        Printed::new("Sec. 3.2.2, Eq. 3.6", "b_max", 4_096_u32, device.sms * device.per_sm.threads),
    ];
    for (threads, per_sm) in [(128, 16_u32), (256, 8), (512, 4), (1_024, 2)] {
        let here = demand(threads)?.blocks_per_sm(&device);
        values.push(Printed::new("Sec. 3.2.2", format!("2048 / b for b = {threads}: blocks per SM"), per_sm, here));
    }
    Ok(values)
}
