"""SM masks of streams, by libsmctrl, where it is installed (the environment variable GPUSCHED_PROBE_SMCTRL may name it)."""

import ctypes
import ctypes.util
import os

from .errors import ProbeError

ALL = (1 << 128) - 1


class _Wide(ctypes.Structure):
    """A mask of 128 bits, as passed by value on x86-64."""

    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def _library():
    for path in (os.environ.get("GPUSCHED_PROBE_SMCTRL"), "libsmctrl.so", ctypes.util.find_library("smctrl")):
        if path:
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
    return None


def missing():
    """Why no SM mask can be set, or None."""
    return None if _library() else "no libsmctrl.so was found, which sets SM masks: put it in LD_LIBRARY_PATH"


def value_of(mask):
    """The number of a scenario's mask, such as "~0x1": a set bit disables a TPC."""
    number = int(mask.lstrip("~"), 16)
    return ALL & ~number if mask.startswith("~") else number


def set_mask(stream, mask):
    """Keep a stream's kernels from the TPCs of this mask."""
    library = _library()
    if library is None:
        raise ProbeError(missing())
    number = value_of(mask)
    if hasattr(library, "libsmctrl_set_stream_mask_ext") and os.uname().machine == "x86_64":
        library.libsmctrl_set_stream_mask_ext.argtypes = (ctypes.c_void_p, _Wide)
        library.libsmctrl_set_stream_mask_ext(stream, _Wide(number & (1 << 64) - 1, number >> 64))
    else:
        library.libsmctrl_set_stream_mask.argtypes = (ctypes.c_void_p, ctypes.c_uint64)
        library.libsmctrl_set_stream_mask(stream, number & (1 << 64) - 1)
