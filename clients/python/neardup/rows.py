"""What dedupe takes and returns: frames of pandas, polars and pyarrow, their columns, lists."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

SLICE = 8192


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
    """The rows of a frame, a column or a list, and the text of each."""

    def __init__(self, given: Any) -> None:
        self.given = given

    def __len__(self) -> int:
        return len(self.given)

    def texts(self) -> Iterator[Any]:
        """The text of each row, a slice at a time; None where there is none."""
        raise NotImplementedError

    def kept(self, mask: bytearray) -> Any:
        """The rows whose byte is 1, of the kind that was given."""
        raise NotImplementedError

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        """Make a frame of rows of Group or Pair."""
        raise NotImplementedError


def _check(names: Sequence[Any], text: str) -> None:
    if text not in names:
        shown = ", ".join(map(str, names)) or "none"
        raise LookupError(f"there is no column {text!r}; the columns are {shown}")
    if list(names).count(text) > 1:
        raise LookupError(f"there are {list(names).count(text)} columns {text!r}")


class _List(Rows):
    def texts(self) -> Iterator[Any]:
        return iter(self.given)

    def kept(self, mask: bytearray) -> Any:
        return type(self.given)(v for v, stays in zip(self.given, mask, strict=True) if stays)

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        return [kind(*row) for row in rows]


class _Pandas(Rows):
    def __init__(self, given: Any, text: str) -> None:
        super().__init__(given)
        self.column = given
        if given.ndim == 2:
            _check(list(given.columns), text)
            self.column = given[text]

    def texts(self) -> Iterator[Any]:
        for start in range(0, len(self.column), SLICE):
            values = self.column.iloc[start : start + SLICE]
            missing = values.isna().tolist()
            yield from (None if no else v for v, no in zip(values.tolist(), missing, strict=True))

    def kept(self, mask: bytearray) -> Any:
        import numpy

        return self.given[numpy.frombuffer(mask, dtype=bool)]

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        import pandas

        types = {n: "float64" if n == "similarity" else "int64" for n in kind._fields}
        return pandas.DataFrame(rows, columns=list(kind._fields)).astype(types)


class _Polars(Rows):
    def __init__(self, given: Any, text: str) -> None:
        self.lazy = hasattr(given, "collect")
        super().__init__(given.collect() if self.lazy else given)
        self.column = self.given
        if hasattr(self.given, "columns"):
            _check(self.given.columns, text)
            self.column = self.given[text]

    def texts(self) -> Iterator[Any]:
        for start in range(0, len(self.column), SLICE):
            yield from self.column.slice(start, SLICE).to_list()

    def kept(self, mask: bytearray) -> Any:
        import polars

        rest = self.given.filter(polars.Series(list(mask), dtype=polars.UInt8) == 1)
        return rest.lazy() if self.lazy else rest

    def table(self, kind: type[Any], rows: list[Any]) -> Any:
        import polars

        types = {n: polars.Float64 if n == "similarity" else polars.Int64 for n in kind._fields}
        return polars.DataFrame(rows, schema=types, orient="row")


class _Arrow(Rows):
    def __init__(self, given: Any, text: str) -> None:
        super().__init__(given)
        self.column = given
        if hasattr(given, "schema"):
            _check(given.schema.names, text)
            self.column = given.column(text)

    def texts(self) -> Iterator[Any]:
        for start in range(0, len(self.column), SLICE):
            yield from self.column.slice(start, SLICE).to_pylist()

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


def rows_of(given: Any, text: str) -> Rows:
    """Take what the caller gave; a wrong column is an error that lists those there are."""
    if isinstance(given, (list, tuple)):
        return _List(given)
    library = type(given).__module__.split(".")[0]
    if library == "pandas" and hasattr(given, "iloc"):
        return _Pandas(given, text)
    if library == "polars":
        return _Polars(given, text)
    if library == "pyarrow":
        return _Arrow(given, text)
    raise TypeError(
        "a frame of pandas, polars or pyarrow, one of their columns, or a list is needed, not "
        + type(given).__name__
    )
