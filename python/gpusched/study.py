"""Studies: a command repeated with random samples over a grid."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from . import _gpusched
from .results import Result

_Path: TypeAlias = str | os.PathLike[str]


class Study:
    """A study, as ``gpusched study`` reads it: a dict or the path of a file; docs/studies.md has the format.

    ``folder`` is where files that a dict names are looked for.
    """

    def __init__(self, study: Mapping[str, Any] | _Path, folder: _Path | None = None) -> None:
        self._raw = _gpusched.Study(study, folder)

    @property
    def rows(self) -> int:
        """Rows of the whole study."""
        return self._raw.rows

    def run(self, results: _Path, *, shard: str | None = None, threads: int | None = None) -> bool:
        """Compute the rows that are missing in the directory ``results``; whether all are there then.

        ``shard`` is one of several parts, such as ``"0/4"``. After Ctrl-C the rows that are done stay, and the same call
        goes on there.
        """
        return self._raw.run(results, shard, threads)

    def merge(self, results: _Path, shards: Sequence[_Path]) -> int:
        """Put the files of complete shards together into ``rows.csv`` in ``results``; the number of rows."""
        return self._raw.merge(results, [os.fspath(shard) for shard in shards])

    def summary(self, results: _Path, *, x: str | None = None, y: str | Sequence[str] = ()) -> Result:
        """The rows summed up, with 95 % confidence intervals; in a notebook also drawn, ``y`` over ``x``."""
        return Result(self._raw.summary(results, x, [y] if isinstance(y, str) else list(y)))
