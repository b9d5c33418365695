"""Type stubs; docstrings are in the modules. Times are strings with a unit, or whole nanoseconds."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias, TypedDict

from typing_extensions import Unpack

from ._gpusched import BUILTIN_DEVICES as BUILTIN_DEVICES
from ._gpusched import Gpu as Gpu
from ._gpusched import InputError as InputError
from ._gpusched import InternalError as InternalError
from ._gpusched import Scenario as Scenario
from ._gpusched import SimulationError as SimulationError
from ._gpusched import __version__ as __version__
from ._gpusched import set_memory_limit as set_memory_limit
from .builder import ScenarioBuilder as ScenarioBuilder
from .results import Analysis as Analysis
from .results import Blocks as Blocks
from .results import Comparison as Comparison
from .results import Import as Import
from .results import Record as Record
from .results import Result as Result
from .results import Run as Run
from .study import Study as Study

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

_Time: TypeAlias = str | int
_Path: TypeAlias = str | PathLike[str]
_Given: TypeAlias = Mapping[str, Any] | _Path
_Wanted: TypeAlias = _Given | ScenarioBuilder | Scenario

class _Options(TypedDict, total=False):
    """What is said beside a scenario: the options of the command."""

    device: _Given | None
    launch_latency: _Time | None
    kernel_gap: _Time | None
    block_gap: _Time | None
    placement: str | None
    block_duration: Mapping[str, _Time]
    as_threads: bool
    mps: bool
    time_slice: _Time | None
    switch_cost: _Time | None
    period: Mapping[str, _Time]
    deadline: Mapping[str, _Time]
    horizon: _Time | None
    vary: str | tuple[int, int] | None
    seed: int | None
    runnables: Sequence[str]
    grid_size: Mapping[str, int]
    block_size: Mapping[str, int]
    processing_unit: str | None
    frequency: str | None
    ticks: str | None
    process: Mapping[str, str]
    without_copies: bool
    cores: bool
    access_time: Mapping[str, _Time]
    one_job: bool
    gpu: int | None
    launches: str | None
    collectives: str | None
    rescale: str | None
    block_times: _Given | None
    set_priority: Mapping[str, int]
    set_stream: Mapping[str, str]
    set_block_time: Mapping[str, _Time]
    set_host_time: Mapping[str, _Time]
    set_blocks: Mapping[str, int]
    set_cluster: Mapping[str, int]
    grid_barrier: Sequence[str]
    sm_mask: Mapping[str, str]
    connections: int | None
    channel_order: str | None
    register_dealing: str | None

def simulate(scenario: _Wanted, **options: Unpack[_Options]) -> Run: ...
def analyze(
    scenario: _Wanted,
    *,
    search: _Time | None = None,
    steps: bool = False,
    sporadic: bool = False,
    jitter: Mapping[str, _Time] | None = None,
    order: str | None = None,
    ladder: bool = False,
    slack: bool = False,
    sensitivity: bool = False,
    progress: bool = False,
    **options: Unpack[_Options],
) -> Analysis: ...
def compare(scenario: _Wanted, **options: Unpack[_Options]) -> Comparison: ...
def orders(scenario: _Wanted, *, samples: int = 10_000, **options: Unpack[_Options]) -> Result: ...
def residents(scenario: _Wanted, *, at: Sequence[_Time] = (), **options: Unpack[_Options]) -> Result: ...
def audit(
    what: Run | _Path | Sequence[_Path],
    *,
    device: _Given | None = None,
    scenario: _Path | None = None,
    logs_alone: bool = False,
    placement: str | None = None,
    tolerance_us: float | None = None,
    clock_tolerance_us: float | None = None,
    columns: Mapping[str, str | int] | None = None,
    learn_placement: bool = False,
    gpu: int | None = None,
    set_priority: Mapping[str, int] | None = None,
) -> Result: ...
def occupancy(scenario: _Wanted, **options: Unpack[_Options]) -> Result: ...
def import_profile(
    profile: _Path, *, start: _Time | None = None, end: _Time | None = None, **options: Unpack[_Options]
) -> Import: ...
def evr(
    applications: _Given,
    *,
    schedulers: Sequence[str] = (),
    device: _Given | None = None,
    seed: int = 0,
    inject: int | None = None,
    gap: _Time | None = None,
    per_period: int | None = None,
    period: _Time | None = None,
    periods: int | None = None,
    saturation_sms: int | None = None,
    execution: _Time | None = None,
    tightness_percent: int | None = None,
    samples: int = 1,
    rules: Mapping[str, str] | None = None,
) -> Result: ...
def run_tasks(
    tasks: _Given,
    strategy: str,
    *,
    policy: str | None = None,
    horizon: int | None = None,
    seed: int = 0,
    synchronization: int = 0,
    device: _Given | None = None,
) -> Result: ...
def tasks(tasks: _Given, *, device: _Given | None = None, tests: Sequence[str] = ()) -> Result: ...
def warps(
    string: str | _Given,
    warps: int | None = None,
    *,
    units: Mapping[str, Mapping[str, Any]] | None = None,
    warp_size: int | None = None,
    uninterrupted: bool = False,
    estimate_from: int | None = None,
    time_limit: _Time | None = None,
    memory_limit_mib: int = 1024,
) -> Result: ...
def run_host(
    host: object,
    *,
    device: _Given | None = None,
    name: str = "a scheduler in Python",
    placement: str | None = None,
    seed: int = 0,
    horizon: _Time | None = None,
) -> Run: ...
