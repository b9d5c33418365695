"""The GPU as the experiments see it: what it is, what it can do, and the log of a scenario that was run on it."""

import shutil
import tempfile
import weakref

from . import processes
from .errors import ProbeError
from .plan import Plan, connections_of, processes_of

COLUMNS = (
    "run", "kernel", "launch", "stream", "priority", "non_blocking", "process", "block", "sm", "start_ns", "end_ns",
    "launched_ns", "threads", "shared_memory_bytes", "registers_per_thread",
)

# How long the processes of one experiment may take, all repetitions together [s].
LIMIT_S = 60


def open_card():
    """The first GPU that is visible (CUDA_VISIBLE_DEVICES chooses). Raises a ProbeError that says why there is none."""
    return Gpu()


class Gpu:
    """A GPU, on which only child processes work."""

    def __init__(self, limit_s=LIMIT_S):
        self.limit_s = limit_s
        self._folder = tempfile.mkdtemp(prefix="gpusched-probe-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._variants = {}
        answer = self._do([{"job": "card"}], [{}])[0]
        self._card, self._features = answer["card"], answer["features"]

    def _do(self, jobs, environments):
        common = {"CUDA_MODULE_LOADING": "EAGER"}
        jobs = [dict(job, folder=self._folder) for job in jobs]
        return processes.run(jobs, [dict(common, **environment) for environment in environments], self.limit_s)

    def card(self):
        """CARD: keys as in a device file, and the driver, the clock and what is known of the timer."""
        return self._card

    def has(self, feature):
        """None if the GPU, its driver and what runs beside them allow this feature; otherwise why not."""
        return self._features[feature]

    def registers_of(self, wanted):
        """How many registers per thread a kernel really has that is compiled for so many; 0 is what it needs itself."""
        self._compile([wanted])
        return self._variants[wanted][1]

    def _compile(self, wanted):
        missing = sorted(set(wanted) - set(self._variants))
        if missing:
            found = self._do([{"job": "registers", "wanted": missing}], [{}])[0]
            self._variants.update((int(number), answer) for number, answer in found.items())

    def run(self, scenario, repetitions):
        """Run the scenario so often: rows of the table of single blocks, as dictionaries with the keys COLUMNS.

        Times are in ns on the GPU's clock, from the first launch or block of each run on. `launch` counts the kernels of
        a run in the order in which they were launched; those of a second process go on where the first one's ended.
        """
        names = processes_of(scenario)
        plans = [Plan(scenario, name) for name in names]
        self._check(scenario, plans)
        self._compile({kernel.registers for plan in plans for kernel in plan.kernels.values()})
        variants = {str(wanted): answer[0] for wanted, answer in self._variants.items()}
        job = {"job": "run", "scenario": scenario, "repetitions": repetitions, "variants": variants}
        jobs = [dict(job, process=name) for name in names]
        results = self._do(jobs, [_environment(scenario, name) for name in names])
        rows = []
        for number in range(repetitions):
            rows += self._rows(number, plans, [result[number] for result in results])
        return rows

    def _check(self, scenario, plans):
        """Refuse what this GPU, or what runs beside it, does not allow."""
        kernels = [launch.kernel for plan in plans for launch in plan.launches]
        launches = [launch for plan in plans for launch in plan.launches]
        operations = [operation for plan in plans for host in plan.hosts for operation in host.operations]
        streams = [stream for plan in plans for stream in plan.streams.values()]
        needed = {
            "cooperative": any(kernel.cooperative for kernel in kernels),
            "clusters": any(kernel.cluster > 1 for kernel in kernels),
            "programmatic": any(launch.programmatic for launch in launches),
            "graphs": any(operation[0] == "graph" for operation in operations),
            "green_contexts": any("green_context" in stream for stream in streams),
            "sm_masks": any("sm_mask" in stream for stream in streams),
            "wait_values": any(operation[0] in ("wait_value", "write_value") and operation[1] for operation in operations),
            "mps": scenario.get("mps", False),
            "several_processes": len(plans) > 1 and not scenario.get("mps", False),
        }
        for feature, is_needed in needed.items():
            if is_needed and self.has(feature):
                raise ProbeError("this scenario needs %s: %s" % (feature.replace("_", " "), self.has(feature)))
        for name, given in scenario.get("processes", {}).items():
            for key in given:
                if key != "mps_percentage" and not key.startswith("comment"):
                    raise ProbeError("process %s has %r, which the probe does not set" % (name, key))

    def _rows(self, number, plans, results):
        """The rows of one repetition, of all its processes."""
        times = [launch[3] for launches in results for launch in launches]
        times += [row[0] for launches in results for launch in launches for row in launch[4]]
        origin = min(times, default=0)
        rows, first = [], 0
        for plan, launches in zip(plans, results):
            ordered = sorted(range(len(launches)), key=lambda index: (launches[index][2], index))
            for place, index in enumerate(ordered):
                name, stream, _, launched, blocks = launches[index]
                kernel, given = plan.kernels[name], plan.streams[stream]
                common = {
                    "run": number, "kernel": name, "launch": first + place, "stream": stream,
                    "priority": given.get("priority", 0), "non_blocking": int(plan.non_blocking(stream)),
                    "process": plan.process or "", "launched_ns": launched - origin, "threads": kernel.threads,
                    "shared_memory_bytes": kernel.shared_memory_bytes,
                    "registers_per_thread": self._variants[kernel.registers][1],
                }
                for block, (start, end, sm, _) in enumerate(blocks):
                    row = dict(common, block=block, sm=sm, start_ns=start - origin, end_ns=end - origin)
                    rows.append({column: row[column] for column in COLUMNS})
            first += len(launches)
        return rows


def _environment(scenario, process):
    """What a process of the scenario finds in its environment."""
    environment = {}
    connections = connections_of(scenario)
    if connections is not None:
        environment["CUDA_DEVICE_MAX_CONNECTIONS"] = str(connections)
    share = scenario.get("processes", {}).get(process, {}).get("mps_percentage")
    if share is not None:
        environment["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = str(share)
    return environment
