"""What dedupe takes and returns: frames of pandas, polars and pyarrow, their columns, lists."""

from collections.abc import Iterable, Iterator, Sequence
from operator import index
from typing import Any, NamedTuple

SLICE = 8192
DIVIDER = "\x1f"  # between the values of a scope


class Group(NamedTuple):
    """A row of groups(): rows are numbered from 0."""

    row: int
    group: int
    representative: int
    similarity: float | None
    size: int


class Pair(NamedTuple):
    """A row of pairs()."""

    a: int
    b: int
    similarity: float


class Rows:
    """The rows of a frame, a column or a list, and the text of each.

    Texts of several columns are joined by blanks.  With columns in ``within`` each text comes with
    a scope, which two texts that are compared have in common.
    """

    def __init__(self, given: Any, text: Sequence[str] = (), within: Sequence[str] = ()) -> None:
        self.given, self.text, self.within = given, text, within

    def __len__(self) -> int:
        return len(self.given)

    def names(self) -> list[Any] | None:
        """The names of a frame's columns; None if it is no frame."""
        return None

    def check(self) -> "Rows":
        """Raise an error if a column is not there, or there twice; else return the rows."""
        names = self.names()
        if names is None:
            if self.within:
                raise TypeError("within names columns of a frame")
            return self
        for name in (*self.text, *self.within):
            try:
                found = names.count(name)
            except TypeError:  # an expression of polars is neither equal nor not
                raise TypeError(f"a column is given by its name, not by {name!r}") from None
            if not found:
                shown = ", ".join(map(str, names)) or "none"
                raise LookupError(f"there is no column {name!r}; the columns are {shown}")
            if found > 1:
                raise LookupError(f"there are {found} columns {name!r}")
        return self

    def texts(self) -> Iterator[Any]:
        """The text of each row, a slice at a time; None where there is none.  Or with its scope."""
        texts = self.values(None)
        if self.names() is not None:
            columns = list(map(self.values, self.text))
            texts = columns[0] if len(columns) == 1 else map(_joined, *columns)
        if not self.within:
            return texts
        return zip(texts, map(_scope, *map(self.values, self.within)), strict=True)

    def are_vectors(self) -> bool:
        """True if rows have lists or arrays, not texts; the first that is not null tells."""
        texts = (item[0] if self.within else item for item in self.texts())
        first = next((text for text in texts if text is not None), "")
        return hasattr(first, "__len__") and not isinstance(first, (str, bytes, dict))

    def values(self, name: str | None) -> Iterator[Any]:
        """The values of a frame's column, or of what is given; None where there is none."""
        raise NotImplementedError

    def kept(self, mask: bytearray) -> Any:
        """The rows whose byte is 1, of the kind that was given."""
        raise NotImplementedError

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        """Make a frame of rows of Group or Pair."""
        raise NotImplementedError


def _joined(*texts: Any) -> Any:
    """Join the texts of a row; what is no text comes back as it is."""
    wrong = [text for text in texts if text is not None and not isinstance(text, str)]
    there = [text for text in texts if text is not None]
    return wrong[0] if wrong else " ".join(there) if there else None


def _scope(*values: Any) -> str:
    return DIVIDER.join("" if value is None else str(value) for value in values)


class _List(Rows):
    def values(self, name: str | None) -> Iterator[Any]:
        return iter(self.given)

    def kept(self, mask: bytearray) -> Any:
        return type(self.given)(v for v, stays in zip(self.given, mask, strict=True) if stays)

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        return [kind(*row) for row in rows]


class _Array(_List):
    def kept(self, mask: bytearray) -> Any:
        import numpy

        return self.given[numpy.frombuffer(mask, dtype=bool)]


class _Pandas(Rows):
    def names(self) -> list[Any] | None:
        return list(self.given.columns) if self.given.ndim == 2 else None

    def values(self, name: str | None) -> Iterator[Any]:
        column = self.given if name is None else self.given[name]
        for start in range(0, len(column), SLICE):
            values = column.iloc[start : start + SLICE]
            missing = values.isna().tolist()
            yield from (None if no else v for v, no in zip(values.tolist(), missing, strict=True))

    def kept(self, mask: bytearray) -> Any:
        import numpy

        return self.given[numpy.frombuffer(mask, dtype=bool)]

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        import pandas

        types = {n: "float64" if n == "similarity" else "int64" for n in kind._fields}
        frame = pandas.DataFrame(rows, columns=list(kind._fields)).astype(types)
        # a row for each row has its index, as pandas aligns what is assigned or joined
        return frame.set_axis(self.given.index) if kind is Group else frame


class _Polars(Rows):
    def __init__(self, given: Any, text: Sequence[str] = (), within: Sequence[str] = ()) -> None:
        self.lazy = hasattr(given, "collect")
        super().__init__(given.collect() if self.lazy else given, text, within)

    def names(self) -> list[Any] | None:
        return list(self.given.columns) if hasattr(self.given, "columns") else None

    def values(self, name: str | None) -> Iterator[Any]:
        column = self.given if name is None else self.given[name]
        for start in range(0, len(column), SLICE):
            yield from column.slice(start, SLICE).to_list()

    def kept(self, mask: bytearray) -> Any:
        import polars

        rest = self.given.filter(polars.Series(list(mask), dtype=polars.UInt8) == 1)
        return rest.lazy() if self.lazy else rest

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        import polars

        types = {n: polars.Float64 if n == "similarity" else polars.Int64 for n in kind._fields}
        return polars.DataFrame(rows, schema=types, orient="row")


class _Arrow(Rows):
    def names(self) -> list[Any] | None:
        return list(self.given.schema.names) if hasattr(self.given, "schema") else None

    def values(self, name: str | None) -> Iterator[Any]:
        column = self.given if name is None else self.given.column(name)
        for start in range(0, len(column), SLICE):
            yield from column.slice(start, SLICE).to_pylist()

    def kept(self, mask: bytearray) -> Any:
        return self.given.filter(arrow_mask(mask))

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        import pyarrow

        fields = [
            (n, pyarrow.float64() if n == "similarity" else pyarrow.int64()) for n in kind._fields
        ]
        data = {name: [row[i] for row in rows] for i, name in enumerate(kind._fields)}
        return pyarrow.table(data, schema=pyarrow.schema(fields))


def arrow_mask(mask: bytearray) -> Any:
    """Return a boolean array of pyarrow for bytes 0 and 1."""
    import pyarrow

    # pyarrow.array() imports pandas where that is installed, which takes 30 MB
    buffers = [None, pyarrow.py_buffer(mask)]
    return pyarrow.Array.from_buffers(pyarrow.uint8(), len(mask), buffers).cast(pyarrow.bool_())


def _names(given: Any) -> tuple[Any, ...]:
    """Take one name, which is a text or of another type, or several."""
    is_one = isinstance(given, str) or not isinstance(given, Iterable)
    return (given,) if is_one else tuple(given)


def rows_of(given: Any, text: str | Sequence[str], within: str | Sequence[str] = ()) -> Rows:
    """Take what the caller gave; a wrong column is an error that lists those there are."""
    columns = _names(text), _names(within)
    if isinstance(given, (list, tuple)):
        return _List(given, *columns).check()
    library = type(given).__module__.split(".")[0]
    if library == "pandas" and hasattr(given, "iloc"):
        return _Pandas(given, *columns).check()
    if library == "polars" and hasattr(given, "filter"):
        return _Polars(given, *columns).check()
    if library == "pyarrow":
        return _Arrow(given, *columns).check()
    if library == "numpy":
        return _Array(given, *columns).check()
    raise TypeError(
        "a frame of pandas, polars or pyarrow, one of their columns, a list or an array is needed,"
        f" not {type(given).__name__}"
    )


def _verdict(same: Any) -> bool | None:
    if isinstance(same, str):
        raise TypeError(f"apart: same is true or false, not {same!r}")
    return None if same is None else bool(same)


def pairs_of(given: Any, rows: Rows) -> list[tuple[int, int]]:
    """Take pairs of rows that are not the same: a list of (a, b), or a frame with these columns.

    Of a frame with a column ``same``, the rows count in which it is false.
    """
    if isinstance(given, (list, tuple)):
        found = [(index(a), index(b)) for a, b in given]
    else:
        frame = rows_of(given, ("a", "b"))
        pairs = zip(map(int, frame.values("a")), map(int, frame.values("b")), strict=True)
        found = list(pairs)
        if "same" in (frame.names() or ()):
            verdicts = map(_verdict, frame.values("same"))
            found = [pair for pair, same in zip(found, verdicts, strict=True) if same is False]
    for row in (row for pair in found for row in pair):
        if not 0 <= row < len(rows):
            raise ValueError(f"apart: there is no row {row}; rows are numbered from 0")
    return found
