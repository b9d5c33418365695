"""Results: attributes with the names of the command's JSON, tables, figures."""

from __future__ import annotations

import html
import io
import json

_MOST_ROWS = 200
"""Lines of a table that a notebook shows at most."""


class Record:
    """One object of a JSON document: its keys are attributes, ``record["key"]`` works too, and ``keys()`` lists them."""

    def __init__(self, entries):
        self.__dict__.update(entries)

    def __getattr__(self, name):
        # Only for what is not found otherwise.
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"the record has no {name!r}; it has {', '.join(self.__dict__)}")

    def __getitem__(self, key):
        return self.__dict__[key]

    def __iter__(self):
        return iter(self.__dict__)

    def keys(self):
        return self.__dict__.keys()

    def to_dict(self):
        """As plain dicts and lists."""
        return {key: _plain(value) for key, value in self.__dict__.items()}

    def __eq__(self, other):
        return isinstance(other, Record) and self.__dict__ == other.__dict__

    __hash__ = None

    def __repr__(self):
        return "Record({})".format(", ".join(f"{key}={value!r}" for key, value in self.__dict__.items()))


def _plain(value):
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def _pandas():
    try:
        import pandas
    except ImportError as error:
        message = "to_pandas() needs pandas, which gpusched does not install: pip install pandas"
        raise ImportError(message) from error
    return pandas


def _data_frame(csv):
    # Whole numbers stay whole numbers where some are missing.
    return _pandas().read_csv(io.StringIO(csv), dtype_backend="numpy_nullable", keep_default_na=False, na_values=[""])


class _Answer:
    """What all results have."""

    def _document(self):
        if "_parsed" not in self.__dict__:
            self._parsed = json.loads(self.to_json(), object_pairs_hook=Record)
        return self._parsed

    def __getattr__(self, name):
        # Only for what is not found otherwise.
        if name.startswith("_"):
            raise AttributeError(name)
        document = self._document()
        try:
            return getattr(document, name)
        except AttributeError:
            known = ", ".join(document.keys())
            raise AttributeError(f"the result has no {name!r}; it has {known}") from None

    def __dir__(self):
        return [*super().__dir__(), *self._document().keys()]

    def to_dict(self):
        """The JSON document as plain dicts and lists."""
        return self._document().to_dict()

    def to_pandas(self):
        """The rows of ``--format csv`` as a ``pandas.DataFrame``; times in nanoseconds, as ``Int64``."""
        return _data_frame(self.to_csv())

    def _repr_svg_(self):
        return self._svg()

    def _repr_html_(self):
        lines = str(self).splitlines()
        if len(lines) > _MOST_ROWS:
            left = len(lines) - _MOST_ROWS
            lines = [*lines[:_MOST_ROWS], f"… and {left} more lines: print() shows them"]
        notes = "".join(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
        table = html.escape("\n".join(lines))
        return f"<div>{self._svg() or ''}<pre>{table}</pre>{notes}</div>"


class Result(_Answer):
    """An answer of one of the commands. Its attributes are the keys of the command's JSON document; ``dir()`` lists them."""

    def __init__(self, raw):
        self._raw = raw

    @property
    def notes(self):
        """What the command says on standard error."""
        return self._raw.notes

    def to_json(self):
        """The bytes of ``--format json``, as text."""
        return self._raw.json

    def to_csv(self):
        """The bytes of ``--format csv``, as text."""
        return self._raw.csv

    def to_markdown(self):
        """The table in Markdown."""
        return self._raw.markdown

    def __str__(self):
        return self._raw.table

    def __repr__(self):
        return f"<gpusched.{type(self).__name__} with {', '.join(self._document().keys())}>"

    def _svg(self):
        return self._raw.svg


class Analysis(Result):
    """What :func:`gpusched.analyze` came to."""

    @property
    def witness(self):
        """The worst run that was found to miss a deadline, as a :class:`gpusched.Scenario`; None if none was found."""
        return self._raw.scenario


class Import(Result):
    """What became of a profile."""

    @property
    def scenario(self):
        """What was made of it, a :class:`gpusched.Scenario`."""
        return self._raw.scenario


class Blocks:
    """The blocks of a run as NumPy arrays, one entry each: kernel by kernel in launch order, then as they were assigned.

    ``kernel`` is the ``id`` of the launch among ``run.kernels`` (uint32), ``block`` the number of the block in its grid
    (uint32), ``sm`` its SM (uint16), ``start_ns`` when it was assigned (int64) and ``end_ns`` when it completed (int64), -1
    if the run ended before. The arrays are the memory that the simulator filled; nothing is copied, and nothing can be
    written there.
    """

    __slots__ = ("block", "end_ns", "kernel", "sm", "start_ns")

    def __init__(self, kernel, block, sm, start_ns, end_ns):
        self.kernel = kernel
        self.block = block
        self.sm = sm
        self.start_ns = start_ns
        self.end_ns = end_ns

    def __len__(self):
        return len(self.kernel)

    def __repr__(self):
        return f"<gpusched.Blocks: {len(self)} blocks>"

    def to_pandas(self):
        """As a ``pandas.DataFrame`` of its own, which may be changed; -1 becomes missing."""
        columns = {name: getattr(self, name) for name in ("kernel", "block", "sm", "start_ns", "end_ns")}
        frame = _pandas().DataFrame(columns, copy=True)
        if (self.end_ns < 0).any():
            frame["end_ns"] = frame["end_ns"].astype("Int64").mask(frame["end_ns"] < 0)
        return frame


class Run(_Answer):
    """A run. Its attributes are the keys of ``gpusched simulate --format json``: ``kernels``, ``copies``, and so on.

    ``dir(run)`` lists them. In a notebook a run shows itself as timeline and table.
    """

    def __init__(self, raw):
        self.raw = raw
        """The compiled half."""

    @property
    def scenario(self):
        """What was simulated, a :class:`gpusched.Scenario`."""
        return self.raw.scenario

    @property
    def notes(self):
        """What the command says on standard error."""
        return self.raw.notes

    @property
    def blocks(self):
        """All blocks, as NumPy arrays: see :class:`Blocks`."""
        if "_blocks" not in self.__dict__:
            self._blocks = Blocks(*self.raw.block_arrays())
        return self._blocks

    def to_json(self, *, blocks=False, rules=False, blame=False, states=()):
        """The bytes of ``gpusched simulate --format json``, as text; options as ``--blocks`` and so on.

        ``states`` are times, as in ``--state-at``.
        """
        return self.raw.to_json(blocks=blocks, rules=rules, blame=blame, states=list(states))

    def to_csv(self, *, blocks=False):
        """The bytes of ``gpusched simulate --format csv``, as text."""
        return self.raw.to_csv(blocks=blocks)

    def to_markdown(self):
        """The table in Markdown."""
        return self.raw.table(markdown=True)

    def state(self, at):
        """Who is in which queue and why each operation waits, after all events of the time ``at``."""
        return self.raw.state(at)

    def to_svg(self, **look):
        """The timeline figure as SVG.

        Options: ``width_mm``, ``queues``, ``occupancy``, ``title``, ``start``, ``end``, ``sms`` (a list), ``only`` (a list of
        kernels).
        """
        return self.raw.to_svg(**look)

    def save_figure(self, path, **look):
        """Write the timeline figure into a .svg or .tex file; options as for :meth:`to_svg`."""
        self.raw.save_figure(path, **look)

    def to_html(self):
        """The timeline as a page for the browser, as ``--html`` writes it."""
        return self.raw.to_html()

    def to_perfetto(self):
        """The run as a trace for the Perfetto UI, as ``--perfetto`` writes it."""
        return self.raw.to_perfetto()

    def __str__(self):
        return self.raw.table()

    def __repr__(self):
        return f"<gpusched.Run of {self.raw.scenario.name!r}>"

    def _svg(self):
        try:
            return self.raw.to_svg()
        except ValueError:
            # Too much for a figure: the table says it.
            return None
