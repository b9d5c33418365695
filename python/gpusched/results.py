"""Results: attributes with the names of the command's JSON, tables, figures."""

from __future__ import annotations

import base64
import html
import io
import json
from collections.abc import Iterator, KeysView, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame
    from typing_extensions import TypedDict, Unpack

    from . import _gpusched

    class _Look(TypedDict, total=False):
        """How a timeline looks."""

        width: str | float
        width_mm: int
        queues: bool
        waits: bool
        full_height: bool
        occupancy: bool
        title: bool
        start: str | int
        end: str | int
        sms: Sequence[int]
        only: Sequence[str]


_DTYPES = {
    "Text": "string",
    "Unsigned": "Int64",
    "Signed": "Int64",
    "Real": "Float64",
    "Flag": "boolean",
    "Time": "Int64",
}
"""What columns of frames are, by the kinds of the library: the same whatever stands in them. Unsigned numbers too have a
sign, as differences of them are taken."""


class Record:
    """One object of a JSON document: its keys are attributes, ``record["key"]`` works too, and ``keys()`` lists them."""

    def __init__(self, entries: Any) -> None:
        self.__dict__.update(entries)

    def __getattr__(self, name: str) -> Any:
        # Only for what is not found otherwise.
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"the record has no {name!r}; it has {', '.join(self.__dict__)}")

    def __getitem__(self, key: str) -> Any:
        return self.__dict__[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def keys(self) -> KeysView[str]:
        return self.__dict__.keys()

    def to_dict(self) -> dict[str, Any]:
        """As plain dicts and lists."""
        return {key: _plain(value) for key, value in self.__dict__.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Record({})".format(", ".join(f"{key}={value!r}" for key, value in self.__dict__.items()))


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        message = "to_pandas() needs pandas, which gpusched does not install: pip install pandas"
        raise ImportError(message) from error
    return pandas


def _data_frame(table: str) -> DataFrame:
    """Of a line of kinds, a line of names, and rows."""
    pandas = _pandas()
    kinds, rows = table.split("\n", 1)
    names = pandas.read_csv(io.StringIO(rows), nrows=0).columns
    dtypes = dict(zip(names, (_DTYPES[kind] for kind in kinds.split(","))))
    frame: DataFrame = pandas.read_csv(io.StringIO(rows), dtype=dtypes, keep_default_na=False, na_values=[""])
    return frame


_FRAME = (
    "<iframe sandbox='allow-scripts allow-forms' title='timeline' srcdoc='{}' "
    "style='display:block;width:100%;height:720px;margin-bottom:8px;border:1px solid #c8c8c8;resize:vertical'>"
    "The timeline is shown once the notebook is trusted or the cell is run.</iframe>"
)
"""A document of its own: nothing in it has to do with other cells or the page around them. What it holds beside that is
read where it is not shown."""


_Raw = TypeVar("_Raw", bound="_gpusched.Document | _gpusched.Run")


class _Answer(Generic[_Raw]):
    """What all results have."""

    _raw: _Raw
    _parsed: Record
    _whole_timeline = ""
    """What makes a timeline that is too large for a cell."""

    def _document(self) -> Record:
        if "_parsed" not in self.__dict__:
            self._parsed = json.loads(self.to_json(), object_pairs_hook=Record)
        return self._parsed

    def __getattr__(self, name: str) -> Any:
        # Only for what is not found otherwise.
        if name.startswith("_"):
            raise AttributeError(name)
        document = self._document()
        try:
            return getattr(document, name)
        except AttributeError:
            known = ", ".join(document.keys())
            raise AttributeError(f"the result has no {name!r}; it has {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._document().keys()]

    @property
    def notes(self) -> list[str]:
        """What the command says on standard error."""
        return self._raw.notes

    def to_json(self) -> str:
        """The bytes of ``--format json``, as text."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as plain dicts and lists."""
        return self._document().to_dict()

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return self._raw.markdown

    def to_pandas(self, rows: str | None = None) -> DataFrame:
        """A list of the JSON document as a ``pandas.DataFrame``, or the rows of ``--format csv`` if none is named.

        Columns are those of ``--format csv`` with ``stream`` by its name. What they hold does not depend on the values:
        times [ns] and whole numbers are ``Int64``, other numbers ``Float64``, yes or no ``boolean``, words ``string``.
        """
        return _data_frame(self._raw.frame(rows))

    def __str__(self) -> str:
        return self._raw.table

    def _repr_svg_(self) -> str | None:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        picture, notes = "", list(self.notes)
        if page := self._raw.page:
            picture = _FRAME.format(page.replace("&", "&amp;").replace("'", "&#39;"))
        else:
            if svg := self._repr_svg_():
                data = base64.b64encode(svg.encode()).decode()
                picture = f"<img alt='figure' style='width:100%' src='data:image/svg+xml;base64,{data}'>"
            if self._whole_timeline:
                notes.append(f"the timeline is too large to be interactive in a cell: {self._whole_timeline}")
        told = "".join(f"<p>note: {html.escape(note)}</p>" for note in notes)
        return f"<div>{picture}{self._raw.html}{told}</div>"


class Result(_Answer["_gpusched.Document"]):
    """An answer of one of the commands. Its attributes are the keys of the command's JSON document; ``dir()`` lists them."""

    def __init__(self, raw: _gpusched.Document) -> None:
        self._raw = raw

    def to_json(self) -> str:
        """The bytes of ``--format json``, as text."""
        return self._raw.json

    def to_csv(self) -> str:
        """The bytes of ``--format csv``, as text."""
        return self._raw.csv

    def __repr__(self) -> str:
        return f"<gpusched.{type(self).__name__} with {', '.join(self._document().keys())}>"

    def _repr_svg_(self) -> str | None:
        return self._raw.svg


class Comparison(Result):
    """What :func:`gpusched.compare` came to. In a notebook it shows both runs on one axis of time."""

    _whole_timeline = "gpusched compare --html FILE writes it"


class Analysis(Result):
    """What :func:`gpusched.analyze` came to."""

    @property
    def witness(self) -> _gpusched.Scenario | None:
        """The worst run that was found to miss a deadline, as a :class:`gpusched.Scenario`; None if none was found."""
        return self._raw.scenario


class Import(Result):
    """What became of a profile."""

    @property
    def scenario(self) -> _gpusched.Scenario:
        """What was made of it, a :class:`gpusched.Scenario`."""
        scenario = self._raw.scenario
        assert scenario is not None, "an import makes one"
        return scenario


class Blocks:
    """The blocks of a run as NumPy arrays, one entry each: kernel by kernel in launch order, then as they were assigned.

    ``id`` is that of the launch among ``run.kernels`` (uint32), ``kernel`` what it is called, ``block`` the number of the
    block in its grid (uint32), ``sm`` its SM (uint16), ``start_ns`` when it was assigned (int64) and ``end_ns`` when it
    completed (int64), -1 if the run ended before. Arrays of numbers are the memory that the simulator filled; nothing is
    copied, and nothing can be written there.
    """

    __slots__ = ("_kernel", "_names", "block", "end_ns", "id", "sm", "start_ns")

    def __init__(
        self,
        id: NDArray[numpy.uint32],
        kernel: NDArray[numpy.uint32],
        block: NDArray[numpy.uint32],
        sm: NDArray[numpy.uint16],
        start_ns: NDArray[numpy.int64],
        end_ns: NDArray[numpy.int64],
        names: list[str],
    ) -> None:
        self.id = id
        self._kernel = kernel
        self.block = block
        self.sm = sm
        self.start_ns = start_ns
        self.end_ns = end_ns
        self._names = names

    @property
    def kernel(self) -> NDArray[numpy.object_]:
        """What the kernel of each block is called, as strings; made anew each time."""
        return numpy.array(self._names, dtype=object)[self._kernel]

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        return f"<gpusched.Blocks: {len(self)} blocks>"

    def to_pandas(self) -> DataFrame:
        """As a ``pandas.DataFrame`` of its own, which may be changed, with the types of other frames; -1 becomes missing."""
        pandas = _pandas()
        columns = {name: getattr(self, name) for name in ("id", "kernel", "block", "sm", "start_ns", "end_ns")}
        frame: DataFrame = pandas.DataFrame(columns).astype({name: "string" if name == "kernel" else "Int64" for name in columns})
        frame["end_ns"] = frame["end_ns"].mask(self.end_ns < 0)
        return frame


class Run(_Answer["_gpusched.Run"]):
    """A run. Its attributes are the keys of ``gpusched simulate --format json``: ``kernels``, ``copies``, and so on.

    ``dir(run)`` lists them. In a notebook a run shows itself as an interactive timeline and tables.
    """

    kernels: list[Record]
    copies: list[Record]
    responses: list[Record]
    makespan_ns: int | None

    _blocks: Blocks
    _whole_timeline = "to_html() makes it"

    def __init__(self, raw: _gpusched.Run) -> None:
        self._raw = raw

    @property
    def scenario(self) -> _gpusched.Scenario:
        """What was simulated, a :class:`gpusched.Scenario`."""
        return self._raw.scenario

    @property
    def blocks(self) -> Blocks:
        """All blocks, as NumPy arrays: see :class:`Blocks`."""
        if "_blocks" not in self.__dict__:
            self._blocks = Blocks(*self._raw.block_arrays())
        return self._blocks

    @property
    def standstill(self) -> Record | None:
        """Who waits for whom, and in which circle, if blocks or streams wait for others when the run ends; else None."""
        return getattr(self._document(), "standstill", None)

    @property
    def block_waits(self) -> list[Record]:
        """When blocks waited on their SMs for others, in the order in which that ended."""
        return getattr(self._document(), "block_waits", [])

    def to_pandas(self, rows: str | None = None) -> DataFrame:
        return self.blocks.to_pandas() if rows == "blocks" else super().to_pandas(rows)

    to_pandas.__doc__ = _Answer.to_pandas.__doc__

    def to_json(
        self,
        *,
        blocks: bool = False,
        rules: bool = False,
        blame: bool = False,
        critical_path: str | None = None,
        overlap: str | None = None,
        states: Sequence[str | int] = (),
    ) -> str:
        """The bytes of ``gpusched simulate --format json``, as text; options as ``--blocks`` and so on.

        ``critical_path`` is the name of a stream or host, or ``""`` for the whole run; ``overlap`` is two streams,
        ``"A,B"``, or ``""`` for all; ``states`` are times, as in ``--state-at``.
        """
        return self._raw.to_json(
            blocks=blocks,
            rules=rules,
            blame=blame,
            critical_path=critical_path,
            overlap=overlap,
            states=list(states),
        )

    def to_csv(self, *, blocks: bool = False) -> str:
        """The bytes of ``gpusched simulate --format csv``, as text."""
        return self._raw.to_csv(blocks=blocks)

    def state(self, at: str | int) -> str:
        """Who is in which queue and why each operation waits, after all events of the time ``at``."""
        return self._raw.state(at)

    def to_svg(self, **look: Unpack[_Look]) -> str:
        """The timeline figure as SVG.

        Options: ``width`` (``"column"`` or ``"page"`` of a paper, or millimetres), ``width_mm``, ``queues``, ``waits``,
        ``full_height``, ``occupancy``, ``title``, ``start``, ``end``, ``sms`` (a list), ``only`` (a list of kernels).
        """
        return self._raw.to_svg(**look)

    def save_figure(self, path: str | PathLike[str], **look: Unpack[_Look]) -> None:
        """Write the timeline figure into a .svg, .png (300 per inch) or .tex file; options as for :meth:`to_svg`."""
        self._raw.save_figure(path, **look)

    def to_html(self) -> str:
        """The timeline as a page for the browser, as ``--html`` writes it."""
        return self._raw.to_html()

    def to_perfetto(self) -> str:
        """The run as a trace for the Perfetto UI, as ``--perfetto`` writes it."""
        return self._raw.to_perfetto()

    def __repr__(self) -> str:
        return f"<gpusched.Run of {self._raw.scenario.name!r}>"

    def _repr_svg_(self) -> str | None:
        try:
            return self.to_svg()
        except ValueError:
            # Too much for a figure.
            return None
