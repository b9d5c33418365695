"""What the driver says of the GPU, and what can be asked of it."""

import ctypes
import os

from . import driver as cuda
from . import masks

COMPUTE_MODE, SHARED_MODE = 20, 0


def mps_runs():
    """Whether a control daemon of MPS is there, which the processes of the probe would then be clients of."""
    return os.path.exists(os.path.join(os.environ.get("CUDA_MPS_PIPE_DIRECTORY") or "/tmp/nvidia-mps", "control"))


def describe(driver, device, clock):
    """CARD: the keys of a device file that the driver knows, and what the clock showed. The context is current."""

    def attribute(number):
        return driver.number("cuDeviceGetAttribute", number, device)

    name = bytearray(256)
    buffer = (ctypes.c_char * 256).from_buffer(name)
    driver.cuDeviceGetName(buffer, 256, device)
    version = driver.number("cuDriverGetVersion")
    least, greatest = driver.priorities()
    _, within = clock.compare()
    return {
        "name": buffer.value.decode(errors="replace"),
        "compute_capability": "%d.%d" % (attribute(cuda.CAPABILITY_MAJOR), attribute(cuda.CAPABILITY_MINOR)),
        "sms": attribute(cuda.SMS),
        "per_sm": {
            "threads": attribute(cuda.THREADS_PER_SM),
            "blocks": attribute(cuda.BLOCKS_PER_SM),
            "registers": attribute(cuda.REGISTERS_PER_SM),
            "shared_memory_bytes": attribute(cuda.SHARED_PER_SM),
        },
        "per_block": {
            "threads": attribute(cuda.MAX_THREADS_PER_BLOCK),
            "registers": attribute(cuda.MAX_REGISTERS_PER_BLOCK),
            "shared_memory_bytes": attribute(cuda.SHARED_OPT_IN),
        },
        # Virtual GPUs may say that they have none, and copy all the same.
        "copy_engines": max(1, attribute(cuda.COPY_ENGINES)),
        "priority_levels": least - greatest + 1,
        "driver": "%d.%d" % (version // 1000, version % 1000 // 10),
        "clock_mhz": attribute(cuda.CLOCK_RATE_KHZ) // 1000,
        "memory_bytes": driver.get("cuDeviceTotalMem_v2", device, kind=ctypes.c_size_t),
        "mps": mps_runs(),
        "timer_step_ns": clock.step_ns,
        "launched_within_ns": within,
    }


def features(driver, device):
    """Of each feature None, or why it cannot be asked for."""

    def attribute(number):
        return driver.number("cuDeviceGetAttribute", number, device)

    def needs(*names):
        return "the driver is too old: it has no " + names[0] if driver.lacks(*names) else None

    old = needs("cuLaunchKernelEx")
    mode = attribute(COMPUTE_MODE)
    alone = None
    if mps_runs():
        alone = "MPS is running, so that processes do not take turns: end its control daemon first"
    elif mode != SHARED_MODE:
        alone = "the GPU is in a mode (%d) in which processes do not share it" % mode
    return {
        "cooperative": old or (None if attribute(cuda.COOPERATIVE_LAUNCH) else "the GPU has no cooperative launches"),
        "clusters": old or (None if attribute(cuda.CLUSTER_LAUNCH) else "the GPU has no clusters: they are of 9.0 and later"),
        "programmatic": old or (None if attribute(cuda.CAPABILITY_MAJOR) >= 9 else "the GPU is older than 9.0, which began it"),
        "graphs": needs("cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags", "cuGraphUpload"),
        "green_contexts": needs("cuGreenCtxStreamCreate", "cuDevSmResourceSplitByCount", "cuGreenCtxCreate"),
        "sm_masks": masks.missing(),
        "mps": None if mps_runs() else "no control daemon of MPS is running",
        "several_processes": alone,
        "wait_values": needs("cuStreamWaitValue32_v2", "cuStreamWriteValue32_v2"),
    }
