"""Compiles CUDA C++ at run time with NVRTC, NVIDIA's compiler library, which needs no toolkit and no GPU.

The environment variable GPUSCHED_PROBE_NVRTC names another library than the one that is found.
"""

import ctypes
import glob
import os
import re
import site
import subprocess
import sys

from .errors import ProbeError

INSTALL = "pip install nvidia-cuda-nvrtc-cu12"

_P, _INT, _STRING, _SIZE = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t
_TO_INT, _TO_SIZE = ctypes.POINTER(_INT), ctypes.POINTER(_SIZE)

SIGNATURES = {
    "nvrtcVersion": (_TO_INT, _TO_INT),
    "nvrtcGetNumSupportedArchs": (_TO_INT,),
    "nvrtcGetSupportedArchs": (_TO_INT,),
    "nvrtcCreateProgram": (ctypes.POINTER(_P), _STRING, _STRING, _INT, _P, _P),
    "nvrtcDestroyProgram": (ctypes.POINTER(_P),),
    "nvrtcCompileProgram": (_P, _INT, ctypes.POINTER(_STRING)),
    "nvrtcGetProgramLogSize": (_P, _TO_SIZE),
    "nvrtcGetProgramLog": (_P, _P),
    "nvrtcGetCUBINSize": (_P, _TO_SIZE),
    "nvrtcGetCUBIN": (_P, _P),
    "nvrtcGetPTXSize": (_P, _TO_SIZE),
    "nvrtcGetPTX": (_P, _P),
}


def _in_packages():
    """Libraries of pip's wheels, the newest release first; of one release, that with the plain name."""
    folders = list(sys.path)
    folders += getattr(site, "getsitepackages", list)()
    folders.append(site.getusersitepackages())
    found = []
    for folder in folders:
        found += glob.glob(os.path.join(folder or ".", "nvidia", "*", "lib", "libnvrtc.so.*"))
    return sorted(dict.fromkeys(found), key=_release, reverse=True)


def _in_toolkits():
    """Libraries of an installed CUDA toolkit."""
    found = []
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        for folder in ("lib64", "lib", os.path.join("targets", "*", "lib")):
            if home:
                found += sorted(glob.glob(os.path.join(home, folder, "libnvrtc.so*")), key=_release, reverse=True)
    return found


def _known_to_the_linker():
    """Libraries that `ldconfig -p` lists."""
    for command in ("ldconfig", "/sbin/ldconfig"):
        try:
            listed = subprocess.run([command, "-p"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        except OSError:
            continue
        paths = re.findall(r"libnvrtc\.so[^\n]*=> (\S+)", listed.stdout.decode(errors="replace"))
        return sorted(paths, key=_release, reverse=True)
    return []


def _release(path):
    """The release in a library's name as numbers; a name without one comes last."""
    return [int(part) for part in re.findall(r"\d+", os.path.basename(path))] or [0]


def find():
    """The path of the NVRTC library, or None."""
    named = os.environ.get("GPUSCHED_PROBE_NVRTC")
    if named:
        return named
    for look in (_in_packages, _in_toolkits, _known_to_the_linker):
        found = look()
        if found:
            return found[0]
    return None


class Nvrtc:
    """NVRTC, loaded. `Nvrtc()` raises a ProbeError that says what to install if there is none."""

    def __init__(self):
        self.path = find()
        if self.path is None:
            raise ProbeError("no NVRTC library was found, which compiles the kernels of the probe: " + INSTALL)
        try:
            self._library = ctypes.CDLL(self.path)
            for name, arguments in SIGNATURES.items():
                function = getattr(self._library, name)
                function.argtypes, function.restype = arguments, _INT
            self._library.nvrtcGetErrorString.argtypes = (_INT,)
            self._library.nvrtcGetErrorString.restype = _STRING
        except (OSError, AttributeError) as error:
            raise ProbeError("the NVRTC library %s cannot be used (%s): %s" % (self.path, error, INSTALL)) from None
        major, minor = _INT(), _INT()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.version = "%d.%d" % (major.value, minor.value)
        count = _INT()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        architectures = (_INT * count.value)()
        self._call("nvrtcGetSupportedArchs", architectures)
        self.architectures = sorted(architectures)

    def _call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status:
            text = self._library.nvrtcGetErrorString(status).decode(errors="replace")
            raise ProbeError("%s of NVRTC %s failed: %s" % (name, self.path, text))

    def target(self, capability):
        """What to compile for: ("cubin", "sm_90"), or ("ptx", "compute_90") for a GPU that this NVRTC does not know.

        `capability` is the compute capability without its dot, as in 90 or 103.
        """
        if capability in self.architectures:
            return "cubin", "sm_%d" % capability
        older = [known for known in self.architectures if known < capability]
        if not older:
            raise ProbeError(
                "NVRTC %s no longer knows GPUs of compute capability %d.%d, only from %d.%d on: install an older one, "
                "such as %s==12.9.86"
                % ((self.version,) + divmod(capability, 10) + divmod(self.architectures[0], 10) + (INSTALL,))
            )
        return "ptx", "compute_%d" % older[-1]

    def compile(self, source, capability, options=()):
        """The source as compiled for a GPU of this compute capability (without its dot), and what the compiler said.

        The bytes are those of a CUBIN, or of PTX with its zero at the end where NVRTC does not know the GPU.
        """
        kind, architecture = self.target(capability)
        given = ["--gpu-architecture=" + architecture, "--std=c++14"] + list(options)
        array = (_STRING * len(given))(*[option.encode() for option in given])
        program = _P()
        self._call("nvrtcCreateProgram", ctypes.byref(program), source.encode(), b"probe.cu", 0, None, None)
        try:
            status = self._library.nvrtcCompileProgram(program, len(given), array)
            log = self._text(program, "nvrtcGetProgramLog").rstrip(b"\0").decode(errors="replace").strip()
            if status:
                reason = self._library.nvrtcGetErrorString(status).decode(errors="replace")
                raise ProbeError(
                    "NVRTC %s cannot compile the probe for %s: %s\n%s" % (self.version, architecture, reason, log)
                )
            code = self._text(program, "nvrtcGetCUBIN" if kind == "cubin" else "nvrtcGetPTX")
        finally:
            self._library.nvrtcDestroyProgram(ctypes.byref(program))
        return code, log

    def _text(self, program, name):
        size = _SIZE()
        self._call(name + "Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        self._call(name, program, buffer)
        return buffer.raw[: size.value]
