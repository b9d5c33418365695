"""Runs experiments by `gpusched simulate` in place of a GPU."""

import csv
import json
import os
import subprocess
import tempfile

from .errors import ProbeError

# First compute capability that has a feature (CUDA C++ Programming Guide).
SINCE = {"clusters": (9, 0), "programmatic": (9, 0)}


def merged(base, patch):
    """`base` with the values of `patch`; objects within are merged likewise."""
    result = dict(base)
    for key, value in patch.items():
        nested = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if nested else value
    return result


class Simulated:
    """A device of gpusched in place of a card; offers what `gpu.Gpu` does."""

    def __init__(self, device, binary):
        """`device` is a name that gpusched knows, or a device file; `binary` is the command."""
        self.name, self._binary = device, binary
        try:
            self._device = json.loads(self._command("devices", device, "--format", "json"))
        except json.JSONDecodeError as error:
            raise ProbeError("%s devices %s prints no JSON: %s" % (binary, device, error)) from error
        if "compute_capability" not in self._device:
            raise ProbeError("%s states no compute capability, which experiments depend on" % device)

    def _command(self, *arguments):
        try:
            words = [self._binary, *arguments]
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        except OSError as error:
            raise ProbeError(
                "%s cannot be run: %s; say by --gpusched where the command is" % (self._binary, error)
            ) from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise ProbeError("%s %s: %s" % (self._binary, arguments[0], said))
        return done.stdout.decode("utf-8")

    def card(self):
        """What the probe asks of a card, of the device file."""
        device = self._device
        keys = ("compute_capability", "sms", "per_sm", "per_block", "copy_engines", "priority_levels")
        return {
            "name": device.get("title", device["name"]),
            **{key: device[key] for key in keys},
            "driver": None,
            "clock_mhz": device.get("boost_clock_mhz"),
            "memory_bytes": None,
            "mps": True,
            "timer_step_ns": 1,
            "launched_within_ns": 0,
        }

    def registers_of(self, wanted):
        """Kernels of a simulation have as many registers as they are to have."""
        return wanted

    def has(self, feature):
        """None if the device has the feature, else why not."""
        since = SINCE.get(feature, (0, 0))
        capability = self._device["compute_capability"]
        if tuple(int(part) for part in capability.split(".")) >= since:
            return None
        return "%s need compute capability %d.%d, and this GPU has %s" % (feature, *since, capability)

    def run(self, scenario, patch=None):
        """The table of single blocks: a list of rows. `patch` is merged into the device file."""
        with tempfile.TemporaryDirectory(prefix="gpusched-probe-") as folder:
            files = [os.path.join(folder, name) for name in ("scenario.json", "device.json", "blocks.csv")]
            for path, content in zip(files, (scenario, merged(self._device, patch or {}))):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(content, file)
            self._command("simulate", files[0], "--device", files[1], "--blocks-csv", files[2])
            with open(files[2], encoding="utf-8", newline="") as file:
                return [{"run": 0, **row} for row in csv.DictReader(file)]
