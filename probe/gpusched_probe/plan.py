"""What one process is to do for a scenario: its kernels, streams and host threads, with every repetition of a step spelled out.

Takes the subset of gpusched's scenario format in which all work is submitted by hosts, and says what is outside of it.
Nothing here needs a GPU.
"""

import re

from .errors import ProbeError
from .kernels import BARRIER, MILLIONTHS, TRIGGER, WAIT

_UNITS = {"ns": 1, "us": 1000, "µs": 1000, "ms": 1000000, "s": 1000000000}

_TOP = {
    "format", "name", "source", "device", "horizon", "processes", "mps", "green_contexts", "kernels", "graphs", "streams",
    "hosts", "placement", "seed", "switch_cost", "$schema",
}
_KERNEL = {
    "blocks", "threads", "duration", "clock", "block_times", "shared_memory_bytes", "registers_per_thread", "trigger",
    "wait", "grid_sync", "cooperative", "cluster",
}
_STREAM = {"name", "priority", "process", "blocking", "sm_mask", "green_context"}
_HOST = {"name", "process", "release", "iterations", "steps"}
_STEP = {
    "launch", "graph", "copy", "memset", "record", "wait", "wait_value", "write_value", "synchronize", "synchronize_event",
    "free", "malloc", "sleep", "repeat", "stream", "bytes", "programmatic", "value", "steps", "synchronous",
}
# Calls for which scenarios have no step: "comment_call" of a step, which then is what gpusched does instead.
CALLS = ("cudaMemcpy", "cudaHostRegister", "cudaFuncSetCacheConfig")
_COPIES = ("host-to-device", "device-to-host", "device-to-device")


def nanoseconds(text):
    """A time of the scenario format, such as "2.5 ms", in nanoseconds."""
    match = re.match(r"^\s*([0-9.]+)\s*(ns|us|µs|ms|s)\s*$", text) if isinstance(text, str) else None
    if not match:
        raise ProbeError("%r is no time: a number and ns, us, ms or s are needed" % (text,))
    return round(float(match.group(1)) * _UNITS[match.group(2)])


def _only(allowed, given, where):
    for key in given:
        if key not in allowed and not key.startswith("comment"):
            raise ProbeError("%s has %r, which the probe does not run" % (where, key))


def _three(value):
    numbers = value if isinstance(value, list) else [value]
    return tuple(numbers) + (1,) * (3 - len(numbers))


class Kernel:
    """A kernel of the scenario: its grid and block (x, y, z), what a block takes, and how its blocks pass their time."""

    def __init__(self, name, given):
        where = "kernel " + name
        _only(_KERNEL, given, where)
        self.name = name
        self.grid, self.block = _three(given["blocks"]), _three(given["threads"])
        self.blocks = self.grid[0] * self.grid[1] * self.grid[2]
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.shared_memory_bytes = given.get("shared_memory_bytes", 0)
        self.registers = given.get("registers_per_thread", 0)
        self.cooperative = given.get("cooperative", False)
        self.cluster = given.get("cluster", 1)
        if self.grid[0] % self.cluster:
            found = (where, self.grid[0], self.cluster)
            raise ProbeError("%s: the grid's x, %d, is no multiple of its cluster, %d" % found)
        times = [nanoseconds(time) for time in given.get("block_times", [])][: self.blocks]
        if len(times) < self.blocks:
            times += [nanoseconds(given.get("duration"))] * (self.blocks - len(times))
        self.times = times
        self._wait = given.get("wait")
        self._points = [(share, BARRIER) for share in given.get("grid_sync", [])]
        if "trigger" in given:
            self._points.append((given["trigger"], TRIGGER))
        for share in [share for share, _ in self._points] + [self._wait or 0]:
            if not isinstance(share, (int, float)) or not 0 <= share <= 1:
                raise ProbeError("%s: %r is no share of a block's time from 0 to 1" % (where, share))

    def points(self, programmatic):
        """(kind, millionths of the time), in their order, of a launch that is programmatic or not."""
        points = list(self._points)
        if programmatic:
            points.append((1 if self._wait is None else self._wait, WAIT))
        return [(kind, round(share * MILLIONTHS)) for share, kind in sorted(points)]


class Launch:
    """One launch of a kernel; `number` is its place in the log."""

    def __init__(self, number, kernel, stream, programmatic):
        self.number, self.kernel, self.stream, self.programmatic = number, kernel, stream, programmatic


class Host:
    """A host thread: when it begins [ns], and its operations, (what, ...), one after the other."""

    def __init__(self, name, release_ns):
        self.name, self.release_ns, self.operations = name, release_ns, []


def processes_of(scenario):
    """The names of the scenario's processes; [None] if it has none."""
    names = list(scenario.get("processes", {}))
    for entry in scenario.get("streams", []) + scenario.get("hosts", []):
        if "process" in entry and entry["process"] not in names:
            names.append(entry["process"])
    return names or [None]


def connections_of(scenario):
    """How many channels the driver is to have (CUDA_DEVICE_MAX_CONNECTIONS), or None for its own choice."""
    return scenario.get("comment_connections")


class Plan:
    """What the process of this name does for a scenario.

    `one_split`: whether all kernels have an SM's memory split alike (with "comment_carve_out": "driver" each launch has
    it as the driver likes). `launches` has all launches of kernels; `copy_bytes` and `memset_bytes` are the most of one
    copy and memset; `frees` and `mallocs` say how many buffers of "device" and "host" are freed and made; `calls` has the
    calls that are no steps.
    """

    def __init__(self, scenario, process=None):
        _only(_TOP, scenario, "the scenario")
        self.process = process
        self.one_split = scenario.get("comment_carve_out") != "driver"
        self.kernels = {name: Kernel(name, given) for name, given in scenario.get("kernels", {}).items()}
        self.launches, self.events, self.counters = [], [], []
        self.copy_bytes = self.memset_bytes = 0
        self.calls = set()
        self.frees, self.mallocs = {"device": 0, "host": 0}, {"device": 0, "host": 0}
        self.streams = {"NULL": {"name": "NULL", "blocking": True}}
        self.splits = scenario.get("green_contexts", [])
        self._graphs = scenario.get("graphs", {})
        for given in scenario.get("streams", []):
            if given.get("process") == process:
                _only(_STREAM, given, "stream " + given["name"])
                self.streams[given["name"]] = given
        self.hosts = []
        for given in scenario.get("hosts", []):
            if given.get("process") == process:
                _only(_HOST, given, "host " + given["name"])
                host = Host(given["name"], nanoseconds(given.get("release", "0 s")))
                for _ in range(given.get("iterations", 1)):
                    self._steps(given["steps"], host)
                self.hosts.append(host)
        if not self.hosts:
            raise ProbeError("no host of the scenario submits work%s" % (" as process " + process if process else ""))

    @property
    def blocks(self):
        """All blocks of all launches: rows of the log."""
        return sum(launch.kernel.blocks for launch in self.launches)

    def non_blocking(self, stream):
        """Whether the NULL stream and this one do not wait for each other."""
        given = self.streams[stream]
        return "green_context" in given or not given.get("blocking", "priority" not in given)

    def _steps(self, steps, host):
        for step in steps:
            _only(_STEP, step, "a step of host " + host.name)
            if "repeat" in step:
                for _ in range(step["repeat"]):
                    self._steps(step["steps"], host)
            else:
                host.operations.append(self._step(step, host))

    def _step(self, step, host):
        stream = step.get("stream")
        if stream is not None:
            self._known(stream, self.streams, "stream", host)
        for what in ("launch", "graph", "copy", "record", "wait"):
            if what in step and stream is None:
                raise ProbeError("a %s of host %s names no stream" % (what, host.name))
        if "comment_call" in step:
            self._known(step["comment_call"], CALLS, "call", host)
            self.calls.add(step["comment_call"])
            self.copy_bytes = max(self.copy_bytes, step.get("bytes", 0))
            return "call", step["comment_call"]
        if "launch" in step:
            return "launch", self._launch(step["launch"], stream, host, step.get("programmatic", False))
        if "graph" in step:
            return "graph", stream, self._graph(step["graph"], stream, host)
        if "copy" in step:
            if step["copy"] not in _COPIES or "bytes" not in step:
                raise ProbeError("a copy of host %s needs bytes and one of %s" % (host.name, ", ".join(_COPIES)))
            self.copy_bytes = max(self.copy_bytes, step["bytes"])
            return "copy", stream, step["copy"], step["bytes"]
        if "memset" in step:
            self.memset_bytes = max(self.memset_bytes, step["memset"])
            return "memset", None if step.get("synchronous") else stream or "NULL", step["memset"]
        if "record" in step or "wait" in step:
            what = "record" if "record" in step else "wait"
            return what, stream, self._mention(step[what], self.events)
        if "wait_value" in step or "write_value" in step:
            what = "wait_value" if "wait_value" in step else "write_value"
            return what, stream, self._mention(step[what], self.counters), step["value"]
        if "synchronize" in step:
            if step["synchronize"] not in ("device", "last"):
                self._known(step["synchronize"], self.streams, "stream", host)
            return "synchronize", step["synchronize"]
        if "synchronize_event" in step:
            return "synchronize_event", self._mention(step["synchronize_event"], self.events)
        if "free" in step or "malloc" in step:
            what, counts = ("free", self.frees) if "free" in step else ("malloc", self.mallocs)
            self._known(step[what], counts, "memory", host)
            counts[step[what]] += 1
            return what, step[what]
        if "sleep" in step:
            return "sleep", nanoseconds(step["sleep"])
        raise ProbeError("a step of host %s says nothing that the probe does: %s" % (host.name, step))

    def _launch(self, kernel, stream, host, programmatic):
        self._known(kernel, self.kernels, "kernel", host)
        launch = Launch(len(self.launches), self.kernels[kernel], stream, programmatic)
        self.launches.append(launch)
        return launch

    def _graph(self, name, stream, host):
        """(launch, numbers of the nodes before it) for each node of a launch of this graph."""
        self._known(name, self._graphs, "graph", host)
        places, nodes = {}, []
        for node, given in self._graphs[name]["nodes"].items():
            _only({"kernel", "after"}, given, "node %s of graph %s" % (node, name))
            launch = self._launch(given["kernel"], stream, host, False)
            if launch.kernel.cooperative or launch.kernel.cluster > 1:
                raise ProbeError("node %s of graph %s is cooperative or of clusters: the probe runs no such" % (node, name))
            for before in given.get("after", []):
                if not isinstance(before, str) or before not in places:
                    raise ProbeError("node %s of graph %s: %r is no full edge from a node before it" % (node, name, before))
            nodes.append((launch, [places[before] for before in given.get("after", [])]))
            places[node] = len(places)
        return nodes

    @staticmethod
    def _known(name, among, what, host):
        if name not in among:
            raise ProbeError("host %s names %s %r, which is none of %s" % (host.name, what, name, ", ".join(among) or "none"))

    @staticmethod
    def _mention(name, among):
        if name not in among:
            among.append(name)
        return name
