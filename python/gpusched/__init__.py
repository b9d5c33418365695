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

What runs: :func:`simulate`, :func:`run_tasks`, :func:`evr`, :func:`run_host` (a scheduler of one's own). What is computed
without running: :func:`analyze`, :func:`compare`, :func:`orders`, :func:`residents`, :func:`tasks`, :func:`warps`, :func:`occupancy`. What was
measured: :func:`audit`, :func:`import_profile`. Many runs: :class:`Study`.

What is wrong in a file or a dict raises :class:`InputError`, with the line and the field.
"""

from __future__ import annotations

import functools
import inspect
import textwrap

from . import _gpusched
from ._gpusched import (
    BUILTIN_DEVICES,
    Gpu,
    InputError,
    InternalError,
    Scenario,
    SimulationError,
    __version__,
    set_memory_limit,
)
from .builder import ScenarioBuilder
from .results import Analysis, Blocks, Comparison, Import, Record, Result, Run
from .study import Study

__all__ = [
    "BUILTIN_DEVICES",
    "Analysis",
    "Blocks",
    "Comparison",
    "Gpu",
    "Import",
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
    "evr",
    "import_profile",
    "occupancy",
    "orders",
    "residents",
    "run_host",
    "run_tasks",
    "set_memory_limit",
    "simulate",
    "tasks",
    "warps",
]


def _keywords(function):
    """Names those near to a keyword that the function does not take."""
    parameters = inspect.signature(function).parameters.values()
    known = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    if len(known) < len(parameters):
        known.extend(key for key, _ in _gpusched.OPTIONS)

    @functools.wraps(function)
    def called(*given, **keywords):
        for key in keywords:
            if key not in known:
                near = _gpusched.did_you_mean(key, known)
                name = function.__name__
                raise TypeError(f'there is no option "{key}"{near}; help(gpusched.{name}) lists them')
        return function(*given, **keywords)

    return called


def _names(given):
    """A list of names; one may stand alone."""
    return [given] if isinstance(given, str) else list(given)


@_keywords
def simulate(scenario, **options):
    """Simulate a scenario block by block, as ``gpusched simulate``.

    ``scenario`` is a dict, a path, a :class:`ScenarioBuilder` or a :class:`Scenario`. Options are those of the command,
    by their keys:

    OPTIONS

    What is by name (``STREAM=TIME``) is a dict; a time is a string with its unit, or whole nanoseconds; ``vary`` is
    ``"80..100"`` or ``(80, 100)``.

    Other Python threads go on meanwhile, and Ctrl-C ends the run.

    Raises :class:`InputError` with ``file``, ``line``, ``column`` and ``path`` of what is wrong, ``OSError`` for files
    that cannot be opened, and :class:`SimulationError` for runs that cannot be brought to an end.
    """
    return Run(_gpusched.simulate(scenario, **options))


def _option(key, says):
    return textwrap.fill(f"- ``{key}``: {says}", 110, initial_indent="    ", subsequent_indent="      ")


if simulate.__doc__:
    options = "\n".join(_option(*option) for option in _gpusched.OPTIONS)
    simulate.__doc__ = simulate.__doc__.replace("    OPTIONS", options)
    del options


@_keywords
def analyze(
    scenario, *, search=None, steps=False, sporadic=False, jitter=None, order=None, ladder=False, slack=False,
    sensitivity=False, progress=False, **options
):
    """Is each deadline met, at worst? As ``gpusched analyze``; options as for :func:`simulate`.

    ``jobs`` of the result have ``verdict`` (``"proven"``, ``"missed"`` or ``"open"``), ``bound_ns`` and
    ``worst_found_ns``; ``kernels`` the finish times of the response-time analysis on one merged SM. ``search`` is for how
    long to look for runs with long responses; after Ctrl-C ``KeyboardInterrupt`` is raised and nothing is returned.
    ``witness`` of the result is the worst run that was found to miss a deadline, as a :class:`Scenario` to simulate.

    Verdicts hold for any order of releases at one instant, unless ``order`` or the scenario says ``"declared"``: then for that
    of the file alone. ``order`` of each job says which.

    With ``steps`` the result has ``steps`` too: what each turn of the thesis' Algorithm 2 does (equal blocks only). With
    ``sporadic`` jobs of a stream are taken to arrive at any times at least a period apart, and the result has ``streams``
    in place of ``jobs`` and ``kernels``; ``jitter`` is a dict from streams to how much later than its arrival a job may
    be released. With ``ladder`` it has ``deadlines`` alone: each under weaker and stronger assumptions, and the weakest under
    which it is proven. With ``slack`` it has ``slack`` too: how much longer all that a stream or host does may take while
    what is proven stays proven, and how much shorter it has to be where its jobs are not. With ``sensitivity`` it has
    ``sensitivity`` too: by which ``factor`` each kernel, the copies of each stream, the CPU work of each host, each task and
    all together may grow, and which ``verdicts`` longer ones break; it is shown as a chart in notebooks.

    With ``progress`` it has ``kernels`` with a ``verdict`` of another kind: whether kernels that wait on the GPU for one another
    can stand still (``"cannot hang"``, ``"hangs"`` or ``"open"``), whatever the times; ``witness`` is the run in which they do.
    """
    return Analysis(
        _gpusched.analyze(
            scenario,
            search=search,
            steps=steps,
            sporadic=sporadic,
            jitter=jitter,
            order=order,
            ladder=ladder,
            slack=slack,
            sensitivity=sensitivity,
            progress=progress,
            **options,
        )
    )


@_keywords
def compare(scenario, **options):
    """Simulated beside analysed finish times, as ``gpusched compare``; options as for :func:`simulate`."""
    return Comparison(_gpusched.compare(scenario, **options))


@_keywords
def orders(scenario, *, samples=10_000, **options):
    """Best and worst finish of each kernel over all orders of simultaneous launches, as ``gpusched orders``.

    All orders are tried up to 8 threads that are released together, else ``samples`` drawn with the scenario's seed.
    ``kernels`` of the result have ``best_finish_ns``, ``worst_finish_ns`` and the orders that give them; options as for
    :func:`simulate`.
    """
    return Result(_gpusched.orders(scenario, samples=samples, **options))


@_keywords
def residents(scenario, *, at=(), **options):
    """Which blocks of each launch are on SMs, and how many fit there, as ``gpusched residents``; options as for :func:`simulate`.

    ``residents`` of the result has a row for each launch; with ``at``, a list of times, one for each launch and time.
    """
    return Result(_gpusched.residents(scenario, at=list(at), **options))


@_keywords
def audit(
    what,
    *,
    device=None,
    scenario=None,
    logs_alone=False,
    placement=None,
    tolerance_us=None,
    clock_tolerance_us=None,
    columns=None,
    learn_placement=False,
    gpu=None,
    set_priority=None,
):
    """Check measured logs, a profile or a run against the published scheduling rules, as ``gpusched audit``.

    ``what`` is the path of a log, of a table of blocks (CSV) or of a directory of logs, a list of such, the path of a profile, or a :class:`Run`. Of
    logs and runs the result has ``violations``; none means that nothing breaks a rule. Of profiles it has ``cases``, and
    ``unexplained`` is how many of them no rule explains; ``gpu`` (a number) and ``set_priority`` (a dict from streams to
    priorities) are for profiles, ``scenario`` (the path of the file that made the logs) and ``logs_alone`` for logs.
    ``columns`` (a dict such as ``{"sm": "smid", "threads": 128}``) says which columns of a table of blocks say what, where
    their names do not; with ``learn_placement`` the result has ``learned_placement``: which placement explains best where
    the blocks went.
    Tolerances are in microseconds: 500 between clocks and 10 on one, if they are not stated.
    """
    if isinstance(what, Run):
        what = what._raw
    return Result(
        _gpusched.audit(
            what,
            device=device,
            scenario=scenario,
            logs_alone=logs_alone,
            placement=placement,
            tolerance_us=tolerance_us,
            clock_tolerance_us=clock_tolerance_us,
            columns=columns,
            learn_placement=learn_placement,
            gpu=gpu,
            set_priority=set_priority,
        )
    )


@_keywords
def occupancy(scenario, **options):
    """How each kernel fills the GPU when it runs alone, as ``gpusched occupancy``; options as for :func:`simulate`."""
    return Result(_gpusched.occupancy(scenario, **options))


@_keywords
def import_profile(profile, *, start=None, end=None, **options):
    """Make a scenario of a profile of PyTorch, Nsight Systems or nvprof, as ``gpusched import``.

    The result says what was read, assumed and left out, and its ``scenario`` is what :func:`simulate` takes the same
    profile for. What starts before ``start`` or from ``end`` on, counted from the GPU's first operation, is left out.
    Options as for :func:`simulate`.
    """
    return Import(_gpusched.import_profile(profile, start=start, end=end, **options))


@_keywords
def evr(
    applications,
    *,
    schedulers=(),
    device=None,
    seed=0,
    inject=None,
    gap=None,
    per_period=None,
    period=None,
    periods=None,
    saturation_sms=None,
    execution=None,
    tightness_percent=None,
    samples=1,
    rules=None,
):
    """Run applications with timing requirements under GPU-EvR and the schedulers it is compared with, as ``gpusched evr``.

    ``applications`` is a dict or path in the format of ``gpusched schema applications``, or the name of a built-in set;
    ``schedulers`` names those to run, all of them if there are none. ``inject`` applications are drawn, each up to ``gap``
    (500 ms) after the one before, or ``per_period`` in each of ``periods`` (10) of length ``period`` (1 s).
    ``saturation_sms``, ``execution`` and ``tightness_percent`` change the applications, ``rules`` (a dict) what the paper
    leaves open. ``schedulers`` of the result has what came of each, powers in watts and energies in joules. With
    ``samples`` above 1 injections are drawn so often, and ``points`` has means and standard deviations.
    """
    return Result(
        _gpusched.evr(
            applications,
            schedulers=_names(schedulers),
            device=device,
            seed=seed,
            inject=inject,
            gap=gap,
            per_period=per_period,
            period=period,
            periods=periods,
            saturation_sms=saturation_sms,
            execution=execution,
            tightness_percent=tightness_percent,
            samples=samples,
            rules=rules,
        )
    )


@_keywords
def run_tasks(tasks, strategy, *, policy=None, horizon=None, seed=0, synchronization=0, device=None):
    """Run a set of real-time tasks on the simulated GPU, as ``gpusched tasks run``.

    ``tasks`` is a dict or a path as for :func:`tasks`; ``strategy`` says how jobs get to the GPU, or how tasks with
    segments share it: an error lists those that there are. ``policy`` is ``"edf"`` (taken if it is not stated) or
    ``"fp"``. Jobs are released before ``horizon``, which is one hyperperiod after the largest offset if it is not
    stated; ``synchronization`` is by how much later at most the scheduler learns of a completion. Both are whole numbers
    in the file's unit, for tasks with segments nanoseconds. ``tasks`` of the result have responses and misses.
    """
    return Result(
        _gpusched.run_tasks(
            tasks,
            strategy,
            policy=policy,
            horizon=horizon,
            seed=seed,
            synchronization=synchronization,
            device=device,
        )
    )


@_keywords
def tasks(tasks, *, device=None, tests=()):
    """What the schedulability tests say of a set of real-time tasks, as ``gpusched tasks``.

    ``tasks`` is a dict or a path in the format of ``gpusched schema tasks`` or ``segments``; ``tests`` names the tests to
    apply, all that are sound if there are none. Times are in the file's unit.
    """
    return Result(_gpusched.tasks(tasks, device=device, tests=_names(tests)))


@_keywords
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
    if warps is None and isinstance(string, str) and string.isalnum():
        raise TypeError(f"warps: how many of {string!r} are there?")
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


@_keywords
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
