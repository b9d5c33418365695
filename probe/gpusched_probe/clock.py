"""What the GPU's clock (%globaltimer) says at an instant of the host's (CLOCK_MONOTONIC), and in which steps it goes."""

import ctypes
import time

from . import driver as cuda
from .errors import ProbeError

ROUNDS = 64
STEPS = 200
PATIENCE_NS = 2000000000


class Clock:
    """Compares the two clocks, by a kernel that answers the host through memory that both see."""

    def __init__(self, driver, functions, stack):
        """`functions(name)` is a kernel of the probe; what is made here is freed by `stack`."""
        self._driver = driver
        self._answer, self._step = functions("answer"), functions("step")
        self._stream = driver.get("cuStreamCreateWithPriority", cuda.STREAM_NON_BLOCKING, 0)
        stack.callback(driver.cuStreamDestroy_v2, self._stream)
        host = driver.get("cuMemHostAlloc", 24, cuda.HOST_MAPPED)
        stack.callback(driver.cuMemFreeHost, host)
        self._device = driver.address("cuMemHostGetDevicePointer_v2", host, 0)
        self._time, self._round = ctypes.c_uint64.from_address(host), ctypes.c_uint64.from_address(host + 8)
        self._asked = ctypes.c_uint32.from_address(host + 16)
        self.step_ns = self._smallest_step()

    def _launch(self, function, *parameters):
        # What is launched here keeps the parameters only until the call returns.
        self._driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, self._stream, cuda.packed(*parameters), None)

    def _smallest_step(self):
        """The smallest step of the GPU's clock that is seen [ns]."""
        self._launch(self._step, ctypes.c_uint64(self._device), ctypes.c_uint32(STEPS))
        self._driver.cuStreamSynchronize(self._stream)
        return self._time.value

    def compare(self):
        """(how much the GPU's clock is ahead of the host's, how sure that is), both in ns.

        The answer was noted at some time between the question and its arrival, which is best known of the quickest.
        """
        self._asked.value = self._round.value = 0
        self._launch(
            self._answer, ctypes.c_uint64(self._device + 16), ctypes.c_uint64(self._device), ctypes.c_uint32(ROUNDS)
        )
        best = None
        for question in range(1, ROUNDS + 1):
            asked = time.monotonic_ns()
            self._asked.value = question
            while self._round.value < question:
                if time.monotonic_ns() - asked > PATIENCE_NS:
                    raise ProbeError("the GPU did not answer for 2 s: is it busy with others' work? Try again when it is idle")
            answered = time.monotonic_ns()
            if best is None or answered - asked < best[0]:
                best = answered - asked, self._time.value - (asked + answered) // 2
        self._driver.cuStreamSynchronize(self._stream)
        return best[1], (best[0] + 1) // 2 + self.step_ns
