"""Simulator and analyser of how an NVIDIA GPU's hardware schedules thread blocks.

Everything is computed by the library behind the command ``gpusched``; results are the same byte for byte. Times are whole
nanoseconds in results (names end in ``_ns``), and strings with a unit, such as ``"250 ms"``, or whole nanoseconds in
arguments. Scenarios are dicts in one of the two JSON formats, paths of files of any format that the command reads, or
made with :class:`ScenarioBuilder`.

>>> import gpusched
>>> builder = gpusched.ScenarioBuilder("two kernels", device="tx2")
>>> builder.kernel("K", blocks=8, threads=512, duration="1 ms")
>>> builder.stream("a", operations=[{"kernel": "K"}])
>>> run = gpusched.simulate(builder)
>>> run.kernels[0].finish_ns
1000000
"""

from __future__ import annotations

from . import _gpusched
from ._gpusched import (
    BUILTIN_DEVICES,
    Gpu,
    InputError,
    InternalError,
    Scenario,
    SimulationError,
    __version__,
)
from .builder import ScenarioBuilder
from .results import Blocks, Record, Result, Run
from .study import Study

__all__ = [
    "BUILTIN_DEVICES",
    "Blocks",
    "Gpu",
    "InputError",
    "InternalError",
    "Record",
    "Result",
    "Run",
    "Scenario",
    "ScenarioBuilder",
    "SimulationError",
    "Study",
    "__version__",
    "analyze",
    "audit",
    "compare",
    "occupancy",
    "run_host",
    "simulate",
    "tasks",
    "warps",
]


def simulate(scenario, **options):
    """Simulate a scenario block by block, as ``gpusched simulate``.

    ``scenario`` is a dict, a path, a :class:`ScenarioBuilder` or a :class:`Scenario`. Options are those of the command,
    with underscores: ``device``, ``placement``, ``seed``, ``horizon``, ``vary``, ``launch_latency``, ``kernel_gap``,
    ``time_slice``, ``switch_cost``, ``as_threads``, ``mps``; ``block_durations``, ``periods`` and ``deadlines`` are dicts
    from names to times; ``set_priority``, ``set_stream``, ``set_block_time`` and ``sm_mask`` dicts from names; ``connections``,
    ``channel_order``; of AMALTHEA models ``runnables``, ``grid_sizes``, ``block_sizes``, ``processing_unit``,
    ``frequency``, ``ticks``, ``without_copies``, ``one_job``; of profiles ``gpu``, ``launches``, ``block_times``.

    Other Python threads go on meanwhile, and Ctrl-C ends the run.

    Raises :class:`InputError` with ``file``, ``line``, ``column`` and ``path`` of what is wrong, ``OSError`` for files
    that cannot be opened, and :class:`SimulationError` for runs that cannot be brought to an end.
    """
    return Run(_gpusched.simulate(scenario, **options))


def analyze(scenario, *, search=None, **options):
    """Is each deadline met, at worst? As ``gpusched analyze``; options as for :func:`simulate`.

    ``jobs`` of the result have ``verdict`` (``"proven"``, ``"missed"`` or ``"open"``), ``bound_ns`` and
    ``worst_found_ns``; ``kernels`` the finish times of the response-time analysis on one merged SM. ``search`` is for how
    long to look for runs with long responses; after Ctrl-C ``KeyboardInterrupt`` is raised and nothing is returned.
    """
    return Result(_gpusched.analyze(scenario, search=search, **options))


def compare(scenario, **options):
    """Simulated beside analysed finish times, as ``gpusched compare``; options as for :func:`simulate`."""
    return Result(_gpusched.compare(scenario, **options))


def audit(what, *, device=None, scenario=None, logs_alone=False, tolerance_us=500.0, clock_tolerance_us=10.0):
    """Check measured logs, or a run, against the published scheduling rules, as ``gpusched audit``.

    ``what`` is the path of a log or of a directory of logs, a list of such, or a :class:`Run`. The result has
    ``violations``; none means that nothing breaks a rule. Tolerances are in microseconds.
    """
    if isinstance(what, Run):
        what = what.raw
    return Result(
        _gpusched.audit(
            what,
            device=device,
            scenario=scenario,
            logs_alone=logs_alone,
            tolerance_us=tolerance_us,
            clock_tolerance_us=clock_tolerance_us,
        )
    )


def occupancy(scenario, **options):
    """How each kernel fills the GPU when it runs alone, as ``gpusched occupancy``; options as for :func:`simulate`."""
    return Result(_gpusched.occupancy(scenario, **options))


def tasks(tasks, *, device=None, tests=()):
    """What the schedulability tests say of a set of real-time tasks, as ``gpusched tasks``.

    ``tasks`` is a dict or a path in the format of ``gpusched schema tasks`` or ``segments``; ``tests`` names the tests to
    apply, all that are sound if there are none. Times are in the file's unit.
    """
    return Result(_gpusched.tasks(tasks, device=device, tests=list(tests)))


def warps(
    string,
    warps=None,
    *,
    units=None,
    warp_size=None,
    uninterrupted=False,
    estimate_from=None,
    time_limit=None,
    memory_limit_mib=1024,
):
    """How long some warps of one kernel can take on one SM, as ``gpusched warps``; results are in cycles.

    ``string`` has one letter for each instruction, such as ``"LLCLL"``, and ``warps`` is their number; or it is a dict or
    path in the format of ``gpusched schema warps``. ``units`` is a dict from letters to what that format says of a unit,
    such as ``{"L": {"sigma": "1/8"}}``.
    """
    if warps is not None:
        stated = [{"letter": letter, **unit} for letter, unit in (units or {}).items()]
        given = {"format": "gpusched-warps/1", "string": string, "warps": warps, "units": stated}
        if warp_size is not None:
            given["warp_size"] = warp_size
        if uninterrupted:
            given["uninterrupted"] = True
        string = given
    return Result(
        _gpusched.warps(
            string, estimate_from=estimate_from, time_limit=time_limit, memory_limit_mib=memory_limit_mib
        )
    )


def run_host(
    host, *, device=None, name="a scheduler in Python", placement=None, seed=0, horizon=None
):
    """Run a scheduler of one's own, written in Python, in front of the simulated GPU.

    ``host`` is any object with some of these methods; ``gpu`` is a :class:`Gpu`:

    - ``start(gpu)``: before anything happens, at t = 0
    - ``on_completed(operation, gpu)``: an operation has completed
    - ``on_fully_dispatched(operation, gpu)``: all blocks of a kernel are assigned
    - ``on_wake(token)``: a time that was asked for with ``gpu.wake_at`` has come
    - ``act(gpu)``: after all these at each instant, and again whenever something came of it; here it submits

    They are called in the order of the library's trait ``Host``. What is submitted acts when the call returns; numbers of
    operations count from 0. An exception ends the run and is raised here.

    Each call of a method costs about a microsecond, as each call of ``gpu`` does, beside what the method itself does, and
    no other Python thread runs meanwhile: docs/python.md has the measured cost. A method that is not there costs nothing.
    """
    return Run(
        _gpusched.run_host(host, device=device, name=name, placement=placement, seed=seed, horizon=horizon)
    )
