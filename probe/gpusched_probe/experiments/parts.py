"""What experiments are made of: kernels that suit a card, steps of a host, questions and their answers."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field

# Registers per thread of kernels in which registers are not to matter.
FEW_REGISTERS = 24

# GPUs whose GPCs gpusched has in its device files: what their names have in them, in small letters, and their SMs.
WITH_GPCS = (
    ("h100", 132),
    ("h800", 132),
    ("h200", 132),
    ("b200", 148),
    ("b300", 148),
    ("thor", 20),
    ("rtx 5090", 170),
    ("rtx pro 6000", 188),
)


@dataclass
class Answer:
    """One way in which a GPU may behave.

    `scenario` is the one that, under gpusched's rules, behaves so, where it is another one than was run; `device` is
    merged into the device file; `switch` says how gpusched is told.
    """

    answer: str
    switch: str = "none: gpusched takes this"
    device: dict = field(default_factory=dict)
    scenario: dict | None = None


@dataclass
class Question:
    """A question of one experiment; the first answer is what gpusched takes. `looks_at` is what of a run tells answers
    apart; `pairs` names the kernels whose order does; `measures` has the keys of a device file that are measured."""

    name: str
    question: str
    looks_at: str
    answers: list
    pairs: list | None = None
    measures: dict | None = None


@dataclass
class Experiment:
    """A scenario and what is asked by it.

    `needs` names what the card and its driver must offer. `impossible` says why this card cannot answer; then there is
    no scenario.
    """

    stem: str
    scenario: dict | None
    questions: list
    repetitions: int = 5
    needs: tuple = ()
    impossible: str | None = None


class Target:
    """The card, as far as experiments depend on it."""

    def __init__(self, card, registers_of):
        self.card = card
        self.sms = card["sms"]
        self.threads_of_sm = card["per_sm"]["threads"]
        self.slots_of_sm = card["per_sm"]["blocks"]
        self.shared_of_sm = card["per_sm"]["shared_memory_bytes"]
        self.capability = tuple(int(part) for part in card["compute_capability"].split("."))
        self.registers_of = registers_of
        self.few_registers = registers_of(FEW_REGISTERS)
        # From compute capability 8.0 on, 1 KiB of each block is the system's (CUDA C++ Programming Guide).
        self.reserved_bytes = 1024 if self.capability >= (8, 0) else 0

    @property
    def connections(self):
        """Connections of a process by default, as gpusched's device files have them."""
        return {(7, 2): 2, (8, 7): 4}.get(self.capability, 8)

    @property
    def has_known_gpcs(self):
        """Whether gpusched's device file of this card states its GPCs."""
        return any(self.sms == sms and self._is_called(name) for name, sms in WITH_GPCS)

    def _is_called(self, name):
        return re.search(r"\b%s\b" % name, self.card["name"].lower()) is not None

    @property
    def placed_by_gpcs(self):
        """Whether gpusched takes the placement `gpc` for this card."""
        return self._is_called("b200") and self.has_known_gpcs

    @property
    def whole(self):
        """Shared memory of a block beside which no other of those has room on its SM [bytes]."""
        return self.card["per_block"]["shared_memory_bytes"]

    def share(self, parts):
        """Shared memory of a block of which so many have room on an SM, and no more [bytes]."""
        bytes_of_block = (self.shared_of_sm // parts - self.reserved_bytes) // 256 * 256
        return min(bytes_of_block, self.whole)

    def kernel(self, blocks, duration, shared=0, threads=128, registers=None, **more):
        """A kernel; `duration` in milliseconds, or a time with its unit."""
        return {
            "blocks": blocks,
            "threads": threads,
            "duration": time(duration),
            "shared_memory_bytes": shared,
            "registers_per_thread": self.few_registers if registers is None else registers,
            **more,
        }

    def small(self, duration, **more):
        """A kernel of one small block, which has room beside everything else."""
        return self.kernel(1, duration, threads=32, **more)


def time(value):
    """A time with its unit; numbers are milliseconds."""
    return value if isinstance(value, str) else "%d us" % round(1000 * value)


def stream(name, priority=0, blocking=False, **more):
    """A stream, which unlike CUDA's default does not wait for the NULL stream."""
    return {"name": name, **({"priority": priority} if priority else {}), "blocking": blocking, **more}


def launch(kernel, where, **more):
    return {"launch": kernel, "stream": where, **more}


def sleep(duration):
    return {"sleep": time(duration)}


def record(event, where):
    return {"record": event, "stream": where}


def wait(event, where):
    return {"wait": event, "stream": where}


def copied(direction, size, where):
    return {"copy": direction, "bytes": size, "stream": where}


def host(steps, name="host", **more):
    return {"name": name, **more, "steps": steps}


def scenario(name, kernels, streams, steps, **more):
    """A scenario of one host that does `steps`, or of `hosts` where these are given."""
    hosts = more.pop("hosts", None) or [host(steps)]
    return {
        "format": "gpusched-scenario/1",
        "name": name,
        **more,
        "kernels": kernels,
        "streams": streams,
        "hosts": hosts,
    }


def changed(base, change):
    """A copy of a scenario in which `change`, a function of the copy, has changed something."""
    other = copy.deepcopy(base)
    change(other)
    return other


def with_stream(base, name, **keys):
    """The scenario with other keys of one stream."""

    def change(other):
        next(entry for entry in other["streams"] if entry["name"] == name).update(keys)

    return changed(base, change)


def with_steps(base, steps):
    """The scenario with other steps of its (first) host."""

    def change(other):
        other["hosts"][0]["steps"] = steps

    return changed(base, change)


def with_kernel(base, name, **keys):
    """The scenario with other keys of one kernel; a key that is None is left out."""

    def change(other):
        kernel = other["kernels"][name]
        kernel.update(keys)
        for key in [key for key, value in kernel.items() if value is None]:
            del kernel[key]

    return changed(base, change)
