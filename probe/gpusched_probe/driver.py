"""The part of the CUDA driver API that the probe needs, by ctypes: no toolkit, no compiler, no package.

`Driver()` loads libcuda.so.1, or the library that the environment variable GPUSCHED_PROBE_DRIVER names. Each function of
SIGNATURES is a method; it checks the driver's answer and raises a CudaError that names the function and the error.
"""

import ctypes
import os

from .errors import ProbeError

LIBRARY = "libcuda.so.1"

_P, _INT, _UINT, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t
_ADDRESS, _STRING = ctypes.c_uint64, ctypes.c_char_p


def _to(kind):
    return ctypes.POINTER(kind)


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute: its value is a union of 64 bytes, of which the first three words are all that is used here."""

    _fields_ = [("id", _INT), ("pad", _INT), ("value", _UINT * 16)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", _UINT * 3), ("block", _UINT * 3), ("shared_memory_bytes", _UINT), ("stream", _P),
        ("attributes", _to(LaunchAttribute)), ("number_of_attributes", _UINT),
    ]


class KernelNodeParameters(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS_v2."""

    _fields_ = [
        ("function", _P), ("grid", _UINT * 3), ("block", _UINT * 3), ("shared_memory_bytes", _UINT),
        ("parameters", _P), ("extra", _P), ("kernel", _P), ("context", _P),
    ]


class DeviceResource(ctypes.Structure):
    """CUdevResource_v1, of CUDA 12.4 to 13.5: 144 bytes, with the number of SMs behind 96 of them."""

    _fields_ = [("type", _INT), ("padding", ctypes.c_ubyte * 92), ("sms", _UINT), ("rest", ctypes.c_ubyte * 44)]


# Launch attributes, device attributes, function attributes and flags, as in cuda.h.
LAUNCH_COOPERATIVE, LAUNCH_CLUSTER, LAUNCH_PROGRAMMATIC = 2, 4, 6

MAX_THREADS_PER_BLOCK, MAX_REGISTERS_PER_BLOCK, CLOCK_RATE_KHZ, SMS, THREADS_PER_SM, COPY_ENGINES = 1, 12, 13, 16, 39, 40
CAPABILITY_MAJOR, CAPABILITY_MINOR, SHARED_PER_SM, REGISTERS_PER_SM = 75, 76, 81, 82
COOPERATIVE_LAUNCH, SHARED_OPT_IN, BLOCKS_PER_SM, CLUSTER_LAUNCH = 95, 97, 106, 120

FUNCTION_REGISTERS, FUNCTION_MOST_SHARED, FUNCTION_CARVEOUT, FUNCTION_LARGE_CLUSTERS = 4, 8, 9, 14

STREAM_NON_BLOCKING, EVENT_WITHOUT_TIMING, HOST_MAPPED, WAIT_GREATER_OR_EQUAL = 1, 2, 2, 0
RESOURCE_SMS, GREEN_DEFAULT_STREAM = 1, 1
CACHE_PREFER_SHARED, CACHE_PREFER_L1 = 1, 2

# Arguments of each function; all of them return a CUresult.
SIGNATURES = {
    "cuInit": (_UINT,),
    "cuDriverGetVersion": (_to(_INT),),
    "cuDeviceGetCount": (_to(_INT),),
    "cuDeviceGet": (_to(_INT), _INT),
    "cuDeviceGetName": (_STRING, _INT, _INT),
    "cuDeviceTotalMem_v2": (_to(_SIZE), _INT),
    "cuDeviceGetAttribute": (_to(_INT), _INT, _INT),
    "cuDevicePrimaryCtxRetain": (_to(_P), _INT),
    "cuDevicePrimaryCtxRelease_v2": (_INT,),
    "cuCtxSetCurrent": (_P,),
    "cuCtxSynchronize": (),
    "cuCtxGetStreamPriorityRange": (_to(_INT), _to(_INT)),
    "cuModuleLoadData": (_to(_P), _P),
    "cuModuleUnload": (_P,),
    "cuModuleGetFunction": (_to(_P), _P, _STRING),
    "cuFuncGetAttribute": (_to(_INT), _INT, _P),
    "cuFuncSetAttribute": (_P, _INT, _INT),
    "cuLaunchKernel": (_P,) + (_UINT,) * 7 + (_P, _P, _P),
    "cuLaunchKernelEx": (_to(LaunchConfig), _P, _P, _P),
    "cuStreamCreateWithPriority": (_to(_P), _UINT, _INT),
    "cuStreamDestroy_v2": (_P,),
    "cuStreamSynchronize": (_P,),
    "cuStreamWaitEvent": (_P, _P, _UINT),
    "cuStreamWaitValue32_v2": (_P, _ADDRESS, _UINT, _UINT),
    "cuStreamWriteValue32_v2": (_P, _ADDRESS, _UINT, _UINT),
    "cuEventCreate": (_to(_P), _UINT),
    "cuEventDestroy_v2": (_P,),
    "cuEventRecord": (_P, _P),
    "cuEventSynchronize": (_P,),
    "cuMemAlloc_v2": (_to(_ADDRESS), _SIZE),
    "cuMemFree_v2": (_ADDRESS,),
    "cuMemHostAlloc": (_to(_P), _SIZE, _UINT),
    "cuMemFreeHost": (_P,),
    "cuMemHostRegister_v2": (_P, _SIZE, _UINT),
    "cuMemHostUnregister": (_P,),
    "cuFuncSetCacheConfig": (_P, _INT),
    "cuMemHostGetDevicePointer_v2": (_to(_ADDRESS), _P, _UINT),
    "cuMemcpyHtoD_v2": (_ADDRESS, _P, _SIZE),
    "cuMemcpyDtoH_v2": (_P, _ADDRESS, _SIZE),
    "cuMemcpyHtoDAsync_v2": (_ADDRESS, _P, _SIZE, _P),
    "cuMemcpyDtoHAsync_v2": (_P, _ADDRESS, _SIZE, _P),
    "cuMemcpyDtoDAsync_v2": (_ADDRESS, _ADDRESS, _SIZE, _P),
    "cuMemsetD8_v2": (_ADDRESS, ctypes.c_ubyte, _SIZE),
    "cuMemsetD8Async": (_ADDRESS, ctypes.c_ubyte, _SIZE, _P),
    "cuGraphCreate": (_to(_P), _UINT),
    "cuGraphAddKernelNode_v2": (_to(_P), _P, _P, _SIZE, _to(KernelNodeParameters)),
    "cuGraphInstantiateWithFlags": (_to(_P), _P, ctypes.c_ulonglong),
    "cuGraphUpload": (_P, _P),
    "cuGraphLaunch": (_P, _P),
    "cuGraphExecDestroy": (_P,),
    "cuGraphDestroy": (_P,),
    "cuDeviceGetDevResource": (_INT, _to(DeviceResource), _INT),
    "cuDevSmResourceSplitByCount": (
        _to(DeviceResource), _to(_UINT), _to(DeviceResource), _to(DeviceResource), _UINT, _UINT,
    ),
    "cuDevResourceGenerateDesc": (_to(_P), _to(DeviceResource), _UINT),
    "cuGreenCtxCreate": (_to(_P), _P, _INT, _UINT),
    "cuGreenCtxDestroy": (_P,),
    "cuGreenCtxStreamCreate": (_to(_P), _P, _UINT, _INT),
}

WRONG_NVRTC = (
    "the driver does not know what NVRTC compiled: install one of the driver's release; "
    "of several that are installed, GPUSCHED_PROBE_NVRTC names the library to take"
)

# What to do about errors that say little by themselves.
ADVICE = {
    "CUDA_ERROR_NO_DEVICE": "no GPU is visible: look at nvidia-smi and at CUDA_VISIBLE_DEVICES",
    "CUDA_ERROR_OUT_OF_MEMORY": "the GPU's memory is taken by others: end them and try again",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "NVRTC is newer than the driver: install an older one, or a newer driver",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": WRONG_NVRTC,
    "CUDA_ERROR_INVALID_IMAGE": WRONG_NVRTC,
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": "a cooperative kernel has more blocks than the GPU holds at once",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "the driver's library is not of the kernel module's release: restart the machine",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "a block takes more threads, registers or shared memory than an SM has",
}


class CudaError(ProbeError):
    """A call of the driver that failed: `name` is the error's, as in cuda.h."""

    def __init__(self, function, name, text, doing=None):
        self.name = name
        advice = ADVICE.get(name)
        super().__init__(
            "%s failed with %s (%s)%s%s"
            % (function, name, text, " " + doing if doing else "", ": " + advice if advice else "")
        )


class Driver:
    """The driver's library. Of functions that an old driver lacks, `lacks` says so, and a call says it too."""

    def __init__(self):
        path = os.environ.get("GPUSCHED_PROBE_DRIVER") or LIBRARY
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise ProbeError(
                "the NVIDIA driver's library %s cannot be loaded (%s): a GPU with its driver is needed; "
                "--simulate DEVICE does without" % (path, error)
            ) from None
        for name in ("cuGetErrorName", "cuGetErrorString"):
            function = getattr(self._library, name)
            function.argtypes, function.restype = (_INT, _to(_STRING)), _INT
        for name, arguments in SIGNATURES.items():
            setattr(self, name, self._bind(name, arguments))

    def lacks(self, *names):
        """Whether the library has not all of these functions."""
        return any(not hasattr(self._library, name) for name in names)

    def _bind(self, name, arguments):
        function = getattr(self._library, name, None)
        if function is None:

            def missing(*_):
                raise ProbeError("the NVIDIA driver has no %s: it is too old for this experiment" % name)

            return missing
        function.argtypes, function.restype = arguments, _INT

        def call(*given):
            status = function(*given)
            if status:
                raise CudaError(name, self._said("cuGetErrorName", status), self._said("cuGetErrorString", status))

        return call

    def _said(self, function, status):
        text = _STRING()
        if getattr(self._library, function)(status, ctypes.byref(text)) or text.value is None:
            return "error %d" % status
        return text.value.decode(errors="replace")

    def get(self, name, *arguments, kind=_P):
        """Call a function whose first argument is where it writes what it makes, and return that."""
        made = kind()
        getattr(self, name)(ctypes.byref(made), *arguments)
        return made.value

    def number(self, name, *arguments):
        """The same of a function that writes an `int`."""
        return self.get(name, *arguments, kind=_INT)

    def address(self, name, *arguments):
        """The same of a function that writes a device pointer."""
        return self.get(name, *arguments, kind=_ADDRESS)

    def open(self):
        """Start the driver and return the first GPU that is visible; says what to do if there is none."""
        self.cuInit(0)
        if self.number("cuDeviceGetCount") == 0:
            raise ProbeError(ADVICE["CUDA_ERROR_NO_DEVICE"])
        return self.number("cuDeviceGet", 0)

    def priorities(self):
        """The lowest and the highest priority of a stream, such as (0, -5)."""
        least, greatest = _INT(), _INT()
        self.cuCtxGetStreamPriorityRange(ctypes.byref(least), ctypes.byref(greatest))
        return least.value, greatest.value


def packed(*values):
    """Kernel parameters as the driver takes them: an array of pointers to values, which it keeps alive."""
    pointers = (_P * len(values))(*[ctypes.addressof(value) for value in values])
    pointers.kept = values
    return pointers
