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
from .builder import ScenarioBuilder as ScenarioBuilder
from .results import Analysis as Analysis
from .results import Blocks as Blocks
from .results import Import as Import
from .results import Record as Record
from .results import Result as Result
from .results import Run as Run
from .study import Study as Study

Time: TypeAlias = str | int
Path: TypeAlias = str | PathLike[str]
Given: TypeAlias = Mapping[str, Any] | Path
Wanted: TypeAlias = Given | ScenarioBuilder | Scenario

class Options(TypedDict, total=False):
    """What is said beside a scenario: the options of the command."""

    device: Given | None
    placement: str | None
    seed: int | None
    horizon: Time | None
    vary: str | tuple[int, int] | None
    launch_latency: Time | None
    kernel_gap: Time | None
    time_slice: Time | None
    switch_cost: Time | None
    as_threads: bool
    mps: bool
    block_durations: Mapping[str, Time]
    periods: Mapping[str, Time]
    deadlines: Mapping[str, Time]
    set_priority: Mapping[str, int]
    set_stream: Mapping[str, str]
    set_block_time: Mapping[str, Time]
    sm_mask: Mapping[str, str]
    connections: int | None
    channel_order: str | None
    runnables: Sequence[str]
    grid_sizes: Mapping[str, int]
    block_sizes: Mapping[str, int]
    processing_unit: str | None
    frequency: str | None
    ticks: str | None
    without_copies: bool
    one_job: bool
    gpu: int | None
    launches: str | None
    block_times: Path | None

def simulate(scenario: Wanted, **options: Unpack[Options]) -> Run: ...
def analyze(
    scenario: Wanted,
    *,
    search: Time | None = None,
    steps: bool = False,
    sporadic: bool = False,
    jitter: Mapping[str, Time] | None = None,
    **options: Unpack[Options],
) -> Analysis: ...
def compare(scenario: Wanted, **options: Unpack[Options]) -> Result: ...
def orders(scenario: Wanted, *, samples: int = 10_000, **options: Unpack[Options]) -> Result: ...
def audit(
    what: Run | Path | Sequence[Path],
    *,
    device: Given | None = None,
    scenario: Path | None = None,
    logs_alone: bool = False,
    placement: str | None = None,
    tolerance_us: float | None = None,
    clock_tolerance_us: float | None = None,
    gpu: int | None = None,
    set_priority: Mapping[str, int] | None = None,
) -> Result: ...
def occupancy(scenario: Wanted, **options: Unpack[Options]) -> Result: ...
def import_profile(
    profile: Path, *, start: Time | None = None, end: Time | None = None, **options: Unpack[Options]
) -> Import: ...
def evr(
    applications: Given,
    *,
    schedulers: Sequence[str] = (),
    device: Given | None = None,
    seed: int = 0,
    inject: int | None = None,
    gap: Time | None = None,
    per_period: int | None = None,
    period: Time | None = None,
    periods: int | None = None,
    saturation_sms: int | None = None,
    execution: Time | None = None,
    tightness_percent: int | None = None,
    samples: int = 1,
    rules: Mapping[str, str] | None = None,
) -> Result: ...
def run_tasks(
    tasks: Given,
    strategy: str,
    *,
    policy: str | None = None,
    horizon: int | None = None,
    seed: int = 0,
    synchronization: int = 0,
    device: Given | None = None,
) -> Result: ...
def tasks(tasks: Given, *, device: Given | None = None, tests: Sequence[str] = ()) -> Result: ...
def warps(
    string: str | Given,
    warps: int | None = None,
    *,
    units: Mapping[str, Mapping[str, Any]] | None = None,
    warp_size: int | None = None,
    uninterrupted: bool = False,
    estimate_from: int | None = None,
    time_limit: Time | None = None,
    memory_limit_mib: int = 1024,
) -> Result: ...
def run_host(
    host: object,
    *,
    device: Given | None = None,
    name: str = "a scheduler in Python",
    placement: str | None = None,
    seed: int = 0,
    horizon: Time | None = None,
) -> Run: ...
