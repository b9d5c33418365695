"""What the driver makes for a run: a context, compiled kernels and green contexts."""

import contextlib
import ctypes

from . import driver as cuda
from . import kernels
from .clock import Clock
from .errors import ProbeError


class Functions:
    """Kernels of the probe, each variant loaded once; all that is loaded is unloaded by `stack`."""

    def __init__(self, driver, device, compiled, stack):
        self._driver, self._compiled, self._stack = driver, compiled, stack
        self._most_shared = driver.number("cuDeviceGetAttribute", cuda.SHARED_OPT_IN, device)
        self._clusters = driver.number("cuDeviceGetAttribute", cuda.CLUSTER_LAUNCH, device)
        self._modules, self._probes = {}, {}
        # Whether all kernels ask for the same split of an SM's memory, all of it shared; otherwise the driver chooses.
        self.one_split = True

    def plain(self, name):
        """A kernel of the module without live values."""
        return self._driver.get("cuModuleGetFunction", self._module(kernels.PLAIN), name.encode())

    def probe(self, variant):
        """The kernel `probe` of this variant. It may take all the shared memory that there is, clusters of 16 too.

        An SM splits its memory into cache and shared memory anew only when it is idle; so all variants ask for one split,
        unless the scenario leaves it to the driver.
        """
        if variant not in self._probes:
            function = self._driver.get("cuModuleGetFunction", self._module(variant), b"probe")
            self._driver.cuFuncSetAttribute(function, cuda.FUNCTION_MOST_SHARED, self._most_shared)
            if self.one_split:
                self._driver.cuFuncSetAttribute(function, cuda.FUNCTION_CARVEOUT, 100)
            if self._clusters:
                self._driver.cuFuncSetAttribute(function, cuda.FUNCTION_LARGE_CLUSTERS, 1)
            self._probes[variant] = function
        return self._probes[variant]

    def registers(self, variant):
        """Registers per thread of this variant."""
        return self._driver.number("cuFuncGetAttribute", cuda.FUNCTION_REGISTERS, self.probe(variant))

    def _module(self, variant):
        if variant not in self._modules:
            module = self._driver.get("cuModuleLoadData", self._compiled.code(variant))
            self._stack.callback(self._driver.cuModuleUnload, module)
            self._modules[variant] = module
        return self._modules[variant]


def green_contexts(driver, device, splits, stack):
    """The green contexts of a scenario's `green_contexts`, by name; `stack` destroys them."""
    made, resources = {}, {}
    for split in splits:
        if split.get("work_queues"):
            raise ProbeError("green contexts with work queues of their own are not run by the probe")
        whole = cuda.DeviceResource()
        if "of" in split:
            whole = resources[split["of"]]
        else:
            driver.cuDeviceGetDevResource(device, ctypes.byref(whole), cuda.RESOURCE_SMS)
        names = split["names"]
        groups, count = (cuda.DeviceResource * len(names))(), ctypes.c_uint(len(names))
        rest = cuda.DeviceResource()
        driver.cuDevSmResourceSplitByCount(
            groups, ctypes.byref(count), ctypes.byref(whole), ctypes.byref(rest), 0, split["sms"]
        )
        if count.value < len(names):
            raise ProbeError(
                "%d green contexts of %d SMs are wanted, and there are SMs for %d" % (len(names), split["sms"], count.value)
            )
        parts = list(zip(names, groups))
        if "remaining" in split:
            parts.append((split["remaining"], rest))
        for name, resource in parts:
            resources[name] = resource
            description = driver.get("cuDevResourceGenerateDesc", ctypes.byref(resource), 1)
            made[name] = driver.get("cuGreenCtxCreate", description, device, cuda.GREEN_DEFAULT_STREAM)
            stack.callback(driver.cuGreenCtxDestroy, made[name])
    return made


@contextlib.contextmanager
def opened(driver, compiled_for):
    """(device, context, clock, functions) of the first GPU, whose primary context is current until this is left.

    `compiled_for(capability)` gives the kernels for a compute capability, which is without its dot, as in 90.
    """
    with contextlib.ExitStack() as stack:
        device = driver.open()
        context = driver.get("cuDevicePrimaryCtxRetain", device)
        stack.callback(driver.cuDevicePrimaryCtxRelease_v2, device)
        driver.cuCtxSetCurrent(context)
        capability = [cuda.CAPABILITY_MAJOR, cuda.CAPABILITY_MINOR]
        major, minor = [driver.number("cuDeviceGetAttribute", which, device) for which in capability]
        functions = Functions(driver, device, compiled_for(10 * major + minor), stack)
        yield device, context, Clock(driver, functions.plain, stack), functions


def registers(functions, wanted):
    """For each number of registers: [variant, registers that it has]."""
    return {str(number): list(kernels.variant_for(number, functions.registers)) for number in wanted}
