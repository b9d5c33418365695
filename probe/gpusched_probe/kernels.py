"""The kernels that the probe launches, as CUDA C++ without includes, and how they come to take so many registers.

There is one kernel, `probe`, whose blocks note on which SM and from when to when they ran, and which at points of
their time do what a scenario asks: let the next kernel begin, wait for the one before, or meet at a barrier of the grid.
Its other kernels measure the clock.
"""

import itertools
import os

from .errors import ProbeError

# What happens at a point of a block's time.
TRIGGER, WAIT, BARRIER = 1, 2, 3

# Bytes of a block's row in the log (two 64-bit times, the SM, and whether it is done), and of a point (kind, share).
ROW_BYTES = 24
POINT_BYTES = 8
MILLIONTHS = 1000000

# The most registers that a thread can have, the least number to which the compiler is limited, how many registers the
# kernel takes besides its live values, and how far above the number wanted the limit is: what a compiler makes of them
# differs from one to the next, and the first that fits is taken.
MOST_REGISTERS = 255
LEAST_LIMIT = 32
OTHER_REGISTERS = (28, 24, 20, 18, 16)
ABOVE = (0, 8)

# The variant with no live values and no limit.
PLAIN = (0, 0)

SOURCE = r"""
#ifndef PRESSURE
#define PRESSURE 0
#endif
typedef unsigned long long u64;

struct Row { u64 start, end; unsigned sm, done; };
struct Point { unsigned kind, millionths; };

static __device__ __forceinline__ u64 now() {
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time) :: "memory");
    return time;
}

#if PRESSURE > 0
static __device__ __forceinline__ unsigned ticks() {
    unsigned count;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(count) :: "memory");
    return count;
}
#endif

// One thread watches the timer, and the others wait for it at a barrier: they take nothing of each other's time.
extern "C" __global__ void probe(Row *log, const u64 *times, const Point *points, unsigned number_of_points,
                                 unsigned *arrived, unsigned *kept) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    const bool first = threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
    unsigned sm = 0;
    u64 start = 0;
    if (first) {
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        start = now();
    }
#if PRESSURE > 0
    unsigned live[PRESSURE];
#pragma unroll
    for (int i = 0; i < PRESSURE; i++) live[i] = (i ? live[i - 1] : threadIdx.x) * 1664525u + ticks();
#endif
    const u64 time = times[block];
    u64 base = start;
    for (unsigned i = 0; i < number_of_points; i++) {
        const unsigned kind = points[i].kind;
        const u64 share = time / 1000000 * points[i].millionths + time % 1000000 * points[i].millionths / 1000000;
        if (first) while (now() < base + share) {}
        __syncthreads();
#if __CUDA_ARCH__ >= 900
        if (kind == 1) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
        if (kind == 2) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
        if (kind == 3 && first) {
            __threadfence();
            atomicAdd(arrived + i, 1u);
            while (*(volatile unsigned *)(arrived + i) < blocks) {}
            __threadfence();
        }
        __syncthreads();
        // A block that had to wait has the rest of its time still before it.
        if (first && kind != 1) {
            const u64 later = now() - share;
            if (later > base) base = later;
        }
    }
    if (first) while (now() < base + time) {}
    __syncthreads();
#if PRESSURE > 0
    if (kept) {
#pragma unroll
        for (int i = 0; i < PRESSURE; i++) ((volatile unsigned *)kept)[i] = live[i];
    }
#endif
    if (first) {
        log[block].sm = sm;
        log[block].start = start;
        log[block].end = now();
        log[block].done = 1;
    }
}

// Answers `rounds` times: when the host's word reaches the number of the round, it notes the time and then the round
// for the host.
extern "C" __global__ void answer(volatile unsigned *asked, volatile u64 *answered, unsigned rounds) {
    for (unsigned round = 1; round <= rounds; round++) {
        const u64 begun = now();
        while (*asked < round) if (now() - begun > 2000000000ull) return;
        answered[0] = now();
        __threadfence_system();
        answered[1] = round;
    }
}

// The smallest of `rounds` steps of the timer [ns].
extern "C" __global__ void step(u64 *smallest, unsigned rounds) {
    u64 least = ~0ull, before = now();
    for (unsigned round = 0; round < rounds; round++) {
        u64 after = now();
        while (after == before) after = now();
        if (round && after - before < least) least = after - before;
        before = after;
    }
    *smallest = least;
}
"""


class Compiled:
    """The kernels as compiled for one GPU, kept in a folder that several processes may share."""

    def __init__(self, nvrtc, capability, folder):
        """`nvrtc()` makes the compiler, which is only loaded where something is not in `folder` yet."""
        self._make, self._capability, self._folder = nvrtc, capability, folder
        self._nvrtc = None

    def code(self, variant):
        """The code of a variant (live values in each thread, most registers or 0): bytes of a CUBIN or of PTX."""
        pressure, limit = variant
        path = os.path.join(self._folder, "%d-%d-%d" % (self._capability, pressure, limit))
        if not os.path.exists(path):
            if self._nvrtc is None:
                self._nvrtc = self._make()
            code, _ = self._nvrtc.compile(SOURCE, self._capability, options_of(variant))
            unfinished = "%s.%d" % (path, os.getpid())
            with open(unfinished, "wb") as file:
                file.write(code)
            os.replace(unfinished, path)
        with open(path, "rb") as file:
            return file.read()


def options_of(variant):
    """The options by which NVRTC compiles a variant."""
    pressure, limit = variant
    return ["-DPRESSURE=%d" % pressure] + (["--maxrregcount=%d" % limit] if limit else [])


def variant_for(wanted, registers):
    """The variant whose kernel has `wanted` registers per thread, and how many it has: (variant, registers).

    `registers(variant)` compiles one and says how many it has. GPUs give a thread its registers by eights, so that a
    number counts as the wanted one if it is the same rounded up to a multiple of eight; otherwise the nearest is taken.
    Nothing lower than what the kernel needs by itself, about 32, can be had. 0 is whatever the kernel needs.
    """
    if not 0 <= wanted <= MOST_REGISTERS:
        raise ProbeError(
            "a kernel of the probe is to have %d registers per thread: 0 to %d can be" % (wanted, MOST_REGISTERS)
        )
    if wanted == 0:
        return PLAIN, registers(PLAIN)
    seen = {}
    for above, others in itertools.product(ABOVE, OTHER_REGISTERS):
        variant = (max(0, wanted - others), min(max(wanted, LEAST_LIMIT) + above, MOST_REGISTERS))
        if variant not in seen:
            seen[variant] = registers(variant)
        if -(-seen[variant] // 8) == -(-wanted // 8):
            return variant, seen[variant]
    best = min(seen, key=lambda variant: abs(seen[variant] - wanted))
    return best, seen[best]
