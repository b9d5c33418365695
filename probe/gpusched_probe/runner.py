"""Runs the plan of one process on the GPU: makes what it needs, runs its host threads, and reads the log."""

import contextlib
import ctypes
import struct
import threading
import time

from . import driver as cuda
from . import kernels, masks
from .errors import ProbeError
from .objects import green_contexts, opened

FREED_BYTES = 4 << 20
REGISTERED_BYTES = 4 << 20
SPIN_NS = 300000


def wait_until(instant_ns):
    """Sleep until the host's clock says so; the last 0.3 ms with open eyes, giving way to other threads."""
    while True:
        left = instant_ns - time.monotonic_ns()
        if left <= 0:
            return
        time.sleep(0 if left < SPIN_NS else (left - SPIN_NS) / 1e9)


class Runner:
    """Everything that the plan needs on the GPU. A context manager: leaving it frees all of it."""

    def __init__(self, driver, plan, compiled_for, variants):
        """`compiled_for` is as for `opened`.

        `variants` says of each number of registers that is wanted by which variant of the kernel it is had.
        """
        self._driver, self._plan, self._compiled_for, self._variants = driver, plan, compiled_for, variants
        self._stack = contextlib.ExitStack()
        self._stopped = threading.Event()
        self._times = {}

    def __enter__(self):
        try:
            self._make()
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def __exit__(self, *raised):
        # After an error others follow that say less; what is left then is freed with the process.
        if raised[0] is None:
            self._driver.cuCtxSynchronize()
            self._stack.close()
        else:
            with contextlib.suppress(ProbeError):
                self._stack.close()

    def _make(self):
        driver, plan, stack = self._driver, self._plan, self._stack
        device, self.context, self.clock, self._functions = stack.enter_context(opened(driver, self._compiled_for))
        self._functions.one_split = plan.one_split
        green = green_contexts(driver, device, plan.splits if self._uses_green() else [], stack)
        self._streams = {name: self._stream(plan.streams[name], green) for name in plan.streams}
        self._words(max(1, len(plan.counters)))
        size = max(1, plan.copy_bytes, plan.memset_bytes)
        self._device = [self._memory(size), self._memory(size)]
        self._host = [self._pinned(size), self._pinned(size)]
        self._pageable = ctypes.create_string_buffer(size if "cudaMemcpy" in plan.calls else 1)
        self._log_bytes = max(1, plan.blocks * kernels.ROW_BYTES)
        self._log = self._memory(self._log_bytes)
        self._arrived_bytes = max(4, 4 * sum(len(self._points_of(launch)) for launch in plan.launches))
        self._arrived = self._memory(self._arrived_bytes)
        self._parameters_of_launches()
        for kernel in {launch.kernel for launch in plan.launches}:
            self._function(kernel)
        self._graphs = {}
        for host in plan.hosts:
            for operation in host.operations:
                if operation[0] == "graph":
                    self._graphs[id(operation)] = self._graph(operation[2])

    def _uses_green(self):
        return any("green_context" in given for given in self._plan.streams.values())

    def _memory(self, size):
        address = self._driver.address("cuMemAlloc_v2", size)
        self._stack.callback(self._driver.cuMemFree_v2, address)
        return address

    def _pinned(self, size):
        address = self._driver.get("cuMemHostAlloc", size, cuda.HOST_MAPPED)
        self._stack.callback(self._driver.cuMemFreeHost, address)
        return address

    def _words(self, count):
        """Counters: words that the host and the GPU both read and write."""
        host = self._pinned(4 * count)
        self._words_of_host = (ctypes.c_uint32 * count).from_address(host)
        device = self._driver.address("cuMemHostGetDevicePointer_v2", host, 0)
        self._counters = {name: (index, device + 4 * index) for index, name in enumerate(self._plan.counters)}

    def _stream(self, given, green):
        if given["name"] == "NULL":
            return None
        driver, priority = self._driver, given.get("priority", 0)
        least, greatest = driver.priorities()
        if not greatest <= priority <= least:
            raise ProbeError("stream %s has priority %d: this GPU has %d to %d" % (given["name"], priority, least, greatest))
        if "green_context" in given:
            if given["green_context"] not in green:
                found = given["name"], given["green_context"]
                raise ProbeError("stream %s is of green context %r, which is not made" % found)
            context = green[given["green_context"]]
            stream = driver.get("cuGreenCtxStreamCreate", context, cuda.STREAM_NON_BLOCKING, priority)
        else:
            flags = cuda.STREAM_NON_BLOCKING if self._plan.non_blocking(given["name"]) else 0
            stream = driver.get("cuStreamCreateWithPriority", flags, priority)
        self._stack.callback(driver.cuStreamDestroy_v2, stream)
        if "sm_mask" in given:
            masks.set_mask(stream, given["sm_mask"])
        return stream

    @staticmethod
    def _points_of(launch):
        return launch.kernel.points(launch.programmatic)

    def _filled(self, data):
        """Device memory with these bytes; the same bytes are there once."""
        if data not in self._times:
            self._times[data] = self._memory(max(1, len(data)))
            if data:
                self._driver.cuMemcpyHtoD_v2(self._times[data], data, len(data))
        return self._times[data]

    def _parameters_of_launches(self):
        self._parameters = []
        row = arrived = 0
        for launch in self._plan.launches:
            points = self._points_of(launch)
            times = self._filled(struct.pack("<%dQ" % len(launch.kernel.times), *launch.kernel.times))
            filled = self._filled(b"".join(struct.pack("<II", kind, share) for kind, share in points))
            addresses = [self._log + row * kernels.ROW_BYTES, times, filled, len(points), self._arrived + 4 * arrived, 0]
            values = [ctypes.c_uint64(address) for address in addresses]
            values[3] = ctypes.c_uint32(len(points))
            self._parameters.append(cuda.packed(*values))
            row += launch.kernel.blocks
            arrived += len(points)

    def _function(self, kernel):
        return self._functions.probe(tuple(self._variants[str(kernel.registers)]))

    def _graph(self, nodes):
        driver = self._driver
        graph = driver.get("cuGraphCreate", 0)
        self._stack.callback(driver.cuGraphDestroy, graph)
        made = []
        for launch, before in nodes:
            kernel = launch.kernel
            given = cuda.KernelNodeParameters(
                self._function(kernel), kernel.grid, kernel.block, kernel.shared_memory_bytes,
                ctypes.addressof(self._parameters[launch.number]), None, None, None,
            )
            edges = (ctypes.c_void_p * len(before))(*[made[place] for place in before])
            made.append(driver.get("cuGraphAddKernelNode_v2", graph, edges, len(before), ctypes.byref(given)))
        runnable = driver.get("cuGraphInstantiateWithFlags", graph, 0)
        self._stack.callback(driver.cuGraphExecDestroy, runnable)
        driver.cuGraphUpload(runnable, None)
        return runnable

    def run(self, begin):
        """One repetition; `begin()` returns the instant [ns, host's clock] at which all processes begin, once they may.

        Returns a list of [kernel, stream, instant of the call, launched_ns, rows] for each launch, with a row (start,
        end, sm, whether it is done) for each block; but for the instant, times are on the GPU's clock.
        """
        driver, plan = self._driver, self._plan
        driver.cuMemsetD8_v2(self._log, 0, self._log_bytes)
        driver.cuMemsetD8_v2(self._arrived, 0, self._arrived_bytes)
        for index in range(len(self._words_of_host)):
            self._words_of_host[index] = 0
        self.to_free = {
            "device": [driver.address("cuMemAlloc_v2", FREED_BYTES) for _ in range(plan.frees["device"])],
            "host": [driver.get("cuMemHostAlloc", FREED_BYTES, 0) for _ in range(plan.frees["host"])],
        }
        self.made = {"device": [], "host": []}
        self.registered = []
        if "cudaFuncSetCacheConfig" in plan.calls:
            self._prefer(cuda.CACHE_PREFER_SHARED)
        self.calls = [None] * len(plan.launches)
        # Those of the repetition before have a record.
        self._events = {name: driver.get("cuEventCreate", cuda.EVENT_WITHOUT_TIMING) for name in plan.events}
        driver.cuCtxSynchronize()
        offset, _ = self.clock.compare()
        self._run_threads(begin())
        driver.cuCtxSynchronize()
        for event in self._events.values():
            driver.cuEventDestroy_v2(event)
        for address in self.made["device"]:
            driver.cuMemFree_v2(address)
        for address in self.made["host"]:
            driver.cuMemFreeHost(address)
        for buffer in self.registered:
            driver.cuMemHostUnregister(ctypes.addressof(buffer))
        return self._read(offset)

    def _run_threads(self, origin):
        errors = []

        def guarded(host):
            try:
                self._driver.cuCtxSetCurrent(self.context)
                self._host_thread(host, origin)
            except Exception as error:  # Of whatever kind: the thread's error is raised below.
                errors.append(error)
                self._stopped.set()

        threads = [threading.Thread(target=guarded, args=(host,), daemon=True) for host in self._plan.hosts]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads) and not errors:
            for thread in threads:
                thread.join(0.01)
        if errors:
            raise errors[0]

    def _host_thread(self, host, origin):
        last = None
        wait_until(origin + host.release_ns)
        for operation in host.operations:
            what, arguments = operation[0], operation[1:]
            if what == "graph":
                last = self._streams[arguments[0]]
                self._launched(
                    [launch for launch, _ in arguments[1]], self._driver.cuGraphLaunch, self._graphs[id(operation)], last
                )
            elif what == "launch":
                last = self._streams[arguments[0].stream]
                self._launch(arguments[0], last)
            elif what == "synchronize":
                self._synchronize(arguments[0], last)
            else:
                used = getattr(self, "_do_" + what)(*arguments)
                last = last if used is None else self._streams[used]

    def _launched(self, launches, call, *arguments):
        begun = time.monotonic_ns()
        call(*arguments)
        returned = time.monotonic_ns()
        for launch in launches:
            self.calls[launch.number] = begun, returned

    def _launch(self, launch, stream):
        kernel, parameters = launch.kernel, self._parameters[launch.number]
        function, attributes = self._function(kernel), []
        if kernel.cooperative:
            attributes.append((cuda.LAUNCH_COOPERATIVE, (1,)))
        if kernel.cluster > 1:
            attributes.append((cuda.LAUNCH_CLUSTER, (kernel.cluster, 1, 1)))
        if launch.programmatic:
            attributes.append((cuda.LAUNCH_PROGRAMMATIC, (1,)))
        if not attributes:
            shape = kernel.grid + kernel.block + (kernel.shared_memory_bytes,)
            self._launched([launch], self._driver.cuLaunchKernel, function, *shape, stream, parameters, None)
            return
        array = (cuda.LaunchAttribute * len(attributes))()
        for entry, (kind, values) in zip(array, attributes):
            entry.id = kind
            entry.value[: len(values)] = values
        given = cuda.LaunchConfig(kernel.grid, kernel.block, kernel.shared_memory_bytes, stream, array, len(attributes))
        self._launched([launch], self._driver.cuLaunchKernelEx, ctypes.byref(given), function, parameters, None)

    def _synchronize(self, what, last):
        """"last" waits for the stream of what the host submitted last."""
        if what == "device":
            self._driver.cuCtxSynchronize()
        else:
            self._driver.cuStreamSynchronize(last if what == "last" else self._streams[what])

    def _do_copy(self, stream, direction, size):
        handle = self._streams[stream]
        if direction == "host-to-device":
            self._driver.cuMemcpyHtoDAsync_v2(self._device[0], self._host[0], size, handle)
        elif direction == "device-to-host":
            self._driver.cuMemcpyDtoHAsync_v2(self._host[1], self._device[1], size, handle)
        else:
            self._driver.cuMemcpyDtoDAsync_v2(self._device[1], self._device[0], size, handle)
        return stream

    def _do_memset(self, stream, size):
        if stream is None:
            self._driver.cuMemsetD8_v2(self._device[0], 0, size)
        else:
            self._driver.cuMemsetD8Async(self._device[0], 0, size, self._streams[stream])
        return stream or "NULL"

    def _do_record(self, stream, event):
        self._driver.cuEventRecord(self._events[event], self._streams[stream])
        return stream

    def _do_wait(self, stream, event):
        self._driver.cuStreamWaitEvent(self._streams[stream], self._events[event], 0)
        return stream

    def _do_synchronize_event(self, event):
        self._driver.cuEventSynchronize(self._events[event])

    def _do_wait_value(self, stream, counter, value):
        index, address = self._counters[counter]
        if stream is not None:
            self._driver.cuStreamWaitValue32_v2(self._streams[stream], address, value, cuda.WAIT_GREATER_OR_EQUAL)
        while stream is None and self._words_of_host[index] < value and not self._stopped.is_set():
            time.sleep(0)
        return stream

    def _do_write_value(self, stream, counter, value):
        index, address = self._counters[counter]
        if stream is None:
            self._words_of_host[index] = value
        else:
            self._driver.cuStreamWriteValue32_v2(self._streams[stream], address, value, 0)
        return stream

    def _do_free(self, memory):
        if memory == "device":
            self._driver.cuMemFree_v2(self.to_free[memory].pop())
        else:
            self._driver.cuMemFreeHost(self.to_free[memory].pop())

    def _do_malloc(self, memory):
        if memory == "device":
            self.made[memory].append(self._driver.address("cuMemAlloc_v2", FREED_BYTES))
        else:
            self.made[memory].append(self._driver.get("cuMemHostAlloc", FREED_BYTES, 0))

    def _prefer(self, configuration):
        for kernel in {launch.kernel for launch in self._plan.launches}:
            self._driver.cuFuncSetCacheConfig(self._function(kernel), configuration)

    def _do_call(self, name):
        """A call for which scenarios have no step."""
        if name == "cudaMemcpy":
            size = len(self._pageable)
            self._driver.cuMemcpyHtoD_v2(self._device[0], ctypes.addressof(self._pageable), size)
            return "NULL"
        if name == "cudaHostRegister":
            buffer = ctypes.create_string_buffer(REGISTERED_BYTES)
            self._driver.cuMemHostRegister_v2(ctypes.addressof(buffer), REGISTERED_BYTES, 0)
            self.registered.append(buffer)
        else:
            self._prefer(cuda.CACHE_PREFER_L1)
        return None

    def _do_sleep(self, time_ns):
        wait_until(time.monotonic_ns() + time_ns)

    def _read(self, offset):
        log = ctypes.create_string_buffer(self._log_bytes)
        self._driver.cuMemcpyDtoH_v2(log, self._log, self._log_bytes)
        seen, at = [], 0
        for launch in self._plan.launches:
            size = launch.kernel.blocks * kernels.ROW_BYTES
            rows = list(struct.iter_unpack("<QQII", log.raw[at : at + size]))
            at += size
            for block, (_, _, _, done) in enumerate(rows):
                if done != 1:
                    raise ProbeError("block %d of kernel %s has not written its log" % (block, launch.kernel.name))
            begun, returned = self.calls[launch.number]
            seen.append([launch.kernel.name, launch.stream, begun, returned + offset, rows])
        return seen
