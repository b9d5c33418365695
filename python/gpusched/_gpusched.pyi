"""The compiled half."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, final

import numpy
from numpy.typing import NDArray

__all__ = [
    "__version__",
    "BUILTIN_DEVICES",
    "OPTIONS",
    "InputError",
    "SimulationError",
    "InternalError",
    "Scenario",
    "Gpu",
    "Document",
    "Run",
    "Study",
    "simulate",
    "analyze",
    "orders",
    "residents",
    "evr",
    "import_profile",
    "run_tasks",
    "compare",
    "audit",
    "occupancy",
    "tasks",
    "warps",
    "run_host",
    "did_you_mean",
    "set_memory_limit",
]

__version__: str
BUILTIN_DEVICES: list[str]
OPTIONS: list[tuple[str, str]]
"""Options of scenarios, and what each of them says."""

class InputError(ValueError):
    """Something in the input is not as it should be; its text is that of the command."""

    file: str | None
    """The file, or ``<dict>``."""
    line: int | None
    """Line in it, from 1."""
    column: int | None
    """Column [characters], from 1."""
    path: str
    """The field, such as ``kernels.K.blocks``."""
    what: str
    """What was found and what was expected."""
    help: str | None
    """How to mend it."""

class SimulationError(RuntimeError):
    """A scenario cannot be simulated to its end."""

class InternalError(RuntimeError):
    """A defect of gpusched itself: please report it."""

@final
class Scenario:
    """A scenario that was read and checked."""

    @staticmethod
    def read(scenario: Any, **options: Any) -> Scenario: ...
    @staticmethod
    def from_text(text: str, name: str = "<text>", **options: Any) -> Scenario: ...
    @staticmethod
    def together(scenarios: Sequence[Any], how: str) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    def to_json(self) -> str: ...

@final
class Gpu:
    """The GPU as a scheduler sees it; times are strings with a unit, or whole nanoseconds."""

    @property
    def now_ns(self) -> int: ...
    @property
    def sms(self) -> int: ...
    @property
    def submitted(self) -> int: ...
    def add_stream(
        self, name: str, *, priority: int = 0, blocking: bool = True, sm_mask: str | None = None
    ) -> int: ...
    def add_kernel(
        self,
        name: str,
        *,
        blocks: int,
        threads: int,
        duration: str | int,
        best: str | int | None = None,
        registers_per_thread: int = 0,
        shared_memory_bytes: int = 0,
        sm_mask: str | None = None,
    ) -> int: ...
    def add_copy(self, direction: str, *, bytes: int | None = None, duration: str | int | None = None) -> int: ...
    def add_event(self, name: str) -> int: ...
    def launch(self, kernel: int, stream: int = 0, *, job: int = 0, iteration: int = 0) -> int: ...
    def copy(self, copy: int, stream: int = 0, *, job: int = 0, iteration: int = 0) -> int: ...
    def memset(self, stream: int = 0) -> int: ...
    def record(self, event: int, stream: int = 0) -> int: ...
    def wait(self, event: int, stream: int = 0) -> int: ...
    def wake_at(self, at: str | int, token: int = 0) -> None: ...
    def is_complete(self, operation: int) -> bool: ...

@final
class Document:
    def __new__(cls, parts: Any) -> Document: ...
    @property
    def json(self) -> str: ...
    @property
    def csv(self) -> str: ...
    @property
    def table(self) -> str: ...
    @property
    def markdown(self) -> str: ...
    @property
    def html(self) -> str: ...
    @property
    def frames(self) -> list[tuple[str, str]]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def svg(self) -> str | None: ...
    @property
    def page(self) -> str | None: ...
    @property
    def scenario(self) -> Scenario | None: ...
    def frame(self, list: str | None = None) -> str: ...

@final
class Run:
    @property
    def scenario(self) -> Scenario: ...
    @property
    def notes(self) -> list[str]: ...
    def to_json(
        self,
        *,
        blocks: bool = False,
        rules: bool = False,
        blame: bool = False,
        critical_path: str | None = None,
        overlap: str | None = None,
        states: Sequence[str | int] = ...,
    ) -> str: ...
    def to_csv(self, *, blocks: bool = False) -> str: ...
    @property
    def table(self) -> str: ...
    @property
    def markdown(self) -> str: ...
    @property
    def html(self) -> str: ...
    @property
    def page(self) -> str | None: ...
    def frame(self, list: str | None = None) -> str: ...
    def state(self, at: str | int) -> str: ...
    def to_svg(self, **look: Any) -> str: ...
    def save_figure(self, path: str | PathLike[str], **look: Any) -> None: ...
    def to_html(self) -> str: ...
    def to_perfetto(self) -> str: ...
    def block_arrays(
        self,
    ) -> tuple[
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.uint16],
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        list[str],
    ]: ...

@final
class Study:
    def __new__(
        cls, study: Mapping[str, Any] | str | PathLike[str], folder: str | PathLike[str] | None = None
    ) -> Study: ...
    @property
    def rows(self) -> int: ...
    def run(self, results: str | PathLike[str], shard: str | None = None, threads: int | None = None) -> bool: ...
    def merge(self, results: str | PathLike[str], shards: Sequence[str]) -> int: ...
    def summary(self, results: str | PathLike[str], x: str | None = None, y: Sequence[str] = ...) -> Document: ...

def simulate(scenario: Any, **options: Any) -> Run: ...
def analyze(
    scenario: Any,
    *,
    search: str | int | None = None,
    steps: bool = False,
    sporadic: bool = False,
    jitter: Mapping[str, str | int] | None = None,
    order: str | None = None,
    ladder: bool = False,
    slack: bool = False,
    sensitivity: bool = False,
    progress: bool = False,
    **options: Any,
) -> Document: ...
def orders(scenario: Any, *, samples: int, **options: Any) -> Document: ...
def residents(scenario: Any, *, at: Any = None, **options: Any) -> Document: ...
def evr(applications: Any, **options: Any) -> Document: ...
def import_profile(
    profile: Any, *, start: str | int | None = None, end: str | int | None = None, **options: Any
) -> Document: ...
def run_tasks(tasks: Any, strategy: str, **options: Any) -> Document: ...
def compare(scenario: Any, **options: Any) -> Document: ...
def audit(what: Any, **options: Any) -> Document: ...
def occupancy(scenario: Any, **options: Any) -> Document: ...
def tasks(tasks: Any, *, device: Any = None, tests: Sequence[str] = ...) -> Document: ...
def warps(
    instance: Any,
    *,
    estimate_from: int | None = None,
    time_limit: str | int | None = None,
    memory_limit_mib: int = 1024,
) -> Document: ...
def run_host(
    host: Any,
    *,
    device: Any = None,
    name: str = ...,
    placement: str | None = None,
    seed: int = 0,
    horizon: str | int | None = None,
) -> Run: ...
def did_you_mean(given: str, known: Sequence[str]) -> str:
    """What a message says behind a name that is not among those known."""

def set_memory_limit(limit: int | None) -> None: ...
