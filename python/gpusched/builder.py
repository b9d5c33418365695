"""Making a scenario step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class ScenarioBuilder:
    """A scenario in the making, in gpusched's own format (docs/scenario-format.md), whose keys are the arguments' names.

    Everything is checked by the reader of that format once the scenario is used; an error names the field. Times are
    strings with a unit, or whole nanoseconds.

    >>> builder = ScenarioBuilder("camera", device="tx2", horizon="1 s")
    >>> builder.kernel("filter", blocks=8, threads=512, duration="3 ms")
    >>> builder.stream("camera", priority=-1, period="40 ms", operations=[{"kernel": "filter"}])
    """

    def __init__(self, name: str, *, device: str | Mapping[str, Any] | None = None, **settings: Any) -> None:
        self._top = _given(name=name, device=device, **settings)
        self._kernels: dict[str, Any] = {}
        self._streams: list[dict[str, Any]] = []
        self._hosts: list[dict[str, Any]] = []
        self._processes: dict[str, Any] = {}

    def process(self, name: str, **settings: Any) -> None:
        """Add a process: ``time_slice``, ``level``, ``mps_percentage``."""
        self._processes[name] = _given(**settings)

    def kernel(
        self,
        name: str,
        *,
        blocks: int,
        threads: int,
        duration: str | int | Mapping[str, Any] | None = None,
        best: str | int | None = None,
        **settings: Any,
    ) -> None:
        """Add a kernel: each of its ``blocks`` with so many ``threads`` runs for ``duration``, or from ``best`` to that.

        Others: ``block_times``, ``shared_memory_bytes``, ``registers_per_thread``, ``sm_mask``, ``clock``.
        """
        if name in self._kernels:
            raise ValueError(f"there is a kernel {name!r} already")
        if best is not None:
            duration = {"best": _value(best), "worst": _value(duration)}
        self._kernels[name] = _given(blocks=blocks, threads=threads, duration=duration, **settings)

    def stream(self, name: str, *, operations: Sequence[Mapping[str, Any]] | None = None, **settings: Any) -> None:
        """Add a stream: ``priority``, ``process``, ``blocking``, ``sm_mask``; with ``operations`` also ``release``,
        ``period``, ``jitter``, ``jobs``, ``deadline``.

        An operation is a dict, such as ``{"kernel": "K"}`` or ``{"copy": "host-to-device", "bytes": 4096}``.
        """
        self._streams.append(_given(name=name, operations=operations, **settings))

    def host(self, name: str, steps: Sequence[Mapping[str, Any]], **settings: Any) -> None:
        """Add a host thread: its ``steps`` are dicts, such as ``{"launch": "K", "stream": "a"}`` or ``{"sleep": "1 ms"}``.

        Others: ``process``, ``release``, ``iterations``, ``time_limit``, ``period``, ``jitter``, ``deadline``, ``barrier``,
        ``core``, ``cpu_priority``, ``spin``.
        """
        self._hosts.append(_given(name=name, steps=steps, **settings))

    def to_dict(self) -> dict[str, Any]:
        """The scenario as a dict."""
        parts = {
            "processes": self._processes,
            "kernels": self._kernels,
            "streams": self._streams,
            "hosts": self._hosts,
        }
        return {"format": "gpusched-scenario/1", **self._top, **{key: part for key, part in parts.items() if part}}


_TIMES = {
    "block_times",
    "deadline",
    "duration",
    "horizon",
    "jitter",
    "period",
    "release",
    "sleep",
    "switch_cost",
    "time_limit",
    "time_slice",
    "work",
}


def _given(**settings: Any) -> dict[str, Any]:
    """What is not None, with times as the format has them."""
    return {key: _value(value, key) for key, value in settings.items() if value is not None}


def _value(value: Any, key: str = "duration") -> Any:
    if isinstance(value, dict):
        return {name: _value(inner, name) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(inner, key) for inner in value]
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value} ns" if key in _TIMES and is_number else value
