"""Data frames of pandas, polars and pyarrow: without near-duplicates, their groups, their pairs."""

import struct
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from neardup import sql
from neardup.session import Progress, Session

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # what a binary COPY begins with
ROW = struct.Struct("!hiiI")  # two fields; the first is an int of four bytes; size of the second
NULL_ROW = struct.Struct("!hiii")
CHUNK = 1 << 18
SLICE = 8192
ORDERS = {
    "first": "id",
    "last": "id DESC",
    "longest": "length(body) DESC, id",
    "shortest": "length(body), id",
}


def dedupe(
    frame: Any,
    text: str = "body",
    threshold: float = 0.8,
    keep: str = "first",
    *,
    conn: Any,
    progress: bool | None = None,
    **how: Any,
) -> Any:
    """Return the frame without near-duplicates.

    Of near-duplicates the first, last, longest or shortest row is kept.  conn is a
    connection of psycopg, psycopg2 or pg8000.dbapi, or a DSN, to a database with the extension.
    Further arguments say how signatures are made: analysis="english", k=2.
    """
    with Texts(conn, columns(frame, text), progress, len(frame), **how) as texts:
        mask = texts.kept(threshold, keep)
    return _filter(frame, mask)


def groups(
    frame: Any,
    text: str = "body",
    threshold: float = 0.8,
    keep: str = "first",
    *,
    conn: Any,
    progress: bool | None = None,
    **how: Any,
) -> Any:
    """Return a frame with a row for each row: its number, group, representative and similarity.

    Rows are numbered from 0; keep says which row of a group is its representative.
    """
    with Texts(conn, columns(frame, text), progress, len(frame), **how) as texts:
        rows = texts.groups(threshold, keep)
    return _frame_like(frame, ("row", "group", "representative", "similarity", "size"), rows)


def pairs(
    frame: Any,
    text: str = "body",
    threshold: float = 0.8,
    *,
    conn: Any,
    progress: bool | None = None,
    **how: Any,
) -> Any:
    """Return a frame of all pairs of near-duplicates, by their row numbers from 0, a < b."""
    with Texts(conn, columns(frame, text), progress, len(frame), **how) as texts:
        rows = texts.pairs(threshold)
    return _frame_like(frame, ("a", "b", "similarity"), rows)


class Texts:
    """Texts in a table of their own, until the block ends."""

    def __init__(
        self,
        conn: Any,
        texts: Iterable[str | None],
        progress: bool | None = None,
        total: int | None = None,
        *,
        temporary: bool = True,
        **how: Any,
    ) -> None:
        self.session = Session(conn)
        self.progress = Progress(progress)
        self.maker = sql.Maker.of(**how)
        self.table = sql.TEXTS_TABLE if temporary else sql.UNLOGGED_TABLE
        self.rows = 0
        try:
            self.session.run(sql.create_texts(self.table))
            with self.progress.bar("copy", total) as done:
                copy = f"COPY {self.table} FROM STDIN (FORMAT binary)"
                self.session.copy_in(copy, self._encode(texts, done))
        except BaseException:
            self.session.close()
            raise

    def __enter__(self) -> "Texts":
        return self

    def __exit__(self, error: type[BaseException] | None, *_rest: Any) -> None:
        if error is None:
            self.session.run(f"DROP TABLE {self.table}")
        self.session.close()

    def _encode(self, texts: Iterable[str | None], done: Any) -> Iterator[bytes]:
        out = bytearray(SIGNATURE)
        number = reported = 0
        for number, text in zip(count(1), texts):
            if text is None:
                out += NULL_ROW.pack(2, 4, number - 1, -1)
            else:
                data = encode(text, number - 1)
                out += ROW.pack(2, 4, number - 1, len(data)) + data
            if len(out) > CHUNK:
                yield bytes(out)
                out.clear()
                done(number - reported)
                reported = number
        self.rows = number
        yield bytes(out) + b"\xff\xff"
        done(number - reported)

    def _groups(self, threshold: float, keep: str, columns: str, where: str = "") -> str:
        if keep not in ORDERS:
            raise ValueError(f"keep is one of {', '.join(ORDERS)}, not {keep!r}")
        query = f"SELECT id, {self.maker.sql('body')} FROM {self.table} ORDER BY {ORDERS[keep]}"
        return sql.group_rows(columns, query, threshold) + where

    def kept(self, threshold: float, keep: str) -> bytearray:
        """One byte a row: 1 if it stays."""
        query = self._groups(threshold, keep, "id::int", " WHERE id <> representative")
        with self.progress.bar("search", self.rows) as done:
            data = self.session.copy_out(f"COPY ({query}) TO STDOUT (FORMAT binary)")
            done(self.rows)
        mask = bytearray(b"\x01") * self.rows
        for _, _, row in struct.iter_unpack("!hii", data[len(SIGNATURE) : -2]):
            mask[row] = 0
        return mask

    def groups(self, threshold: float, keep: str) -> list[Any]:
        """Rows (number, group, representative, similarity, size), by number."""
        columns = "id, group_id, representative, similarity, size"
        return self._search(self._groups(threshold, keep, columns) + " ORDER BY id")

    def pairs(self, threshold: float) -> list[Any]:
        """Rows (a, b, similarity) of all pairs."""
        return self._search(sql.text_pairs(self.table, self.maker, threshold))

    def _search(self, query: str) -> list[Any]:
        with self.progress.bar("search", self.rows) as done:
            rows = self.session.run(query)
            done(self.rows)
        return rows


def encode(text: Any, row: int) -> bytes:
    """Return a text as the server takes it, or say which row cannot be stored, and why."""
    if not isinstance(text, str):
        raise TypeError(f"row {row}: a text is needed, not {type(text).__name__}")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"row {row}: {error}") from None
    if b"\0" in data:
        raise ValueError(f"row {row}: a text of PostgreSQL has no character U+0000")
    return data


# The three kinds of frames, by the module that they come from


def _kind(frame: Any) -> str:
    kind = type(frame).__module__.split(".")[0]
    if kind not in ("pandas", "polars", "pyarrow"):
        raise TypeError(
            f"a frame of pandas, polars or pyarrow is needed, not {type(frame).__name__}"
        )
    return kind


def columns(frame: Any, text: str) -> Iterator[str | None]:
    """Give the values of a text column, a slice at a time."""
    kind = _kind(frame)
    for start in range(0, len(frame), SLICE):
        if kind == "pandas":
            values = frame[text].iloc[start : start + SLICE]
            missing = values.isna()
            yield from (
                None if no else v for v, no in zip(values.tolist(), missing.tolist(), strict=True)
            )
        elif kind == "polars":
            yield from frame[text].slice(start, SLICE).to_list()
        else:
            yield from frame.column(text).slice(start, SLICE).to_pylist()


def _filter(frame: Any, mask: bytearray) -> Any:
    if _kind(frame) == "pyarrow":
        return frame.filter(arrow_mask(mask))
    keep = [bool(m) for m in mask]
    if _kind(frame) == "polars":
        import polars

        return frame.filter(polars.Series(keep, dtype=polars.Boolean))
    return frame[keep]


def arrow_mask(mask: bytearray) -> Any:
    """Return a boolean array of pyarrow for bytes 0 and 1."""
    import pyarrow

    # pyarrow.array() imports pandas where that is installed, which takes 30 MB
    buffers = [None, pyarrow.py_buffer(mask)]
    return pyarrow.Array.from_buffers(pyarrow.uint8(), len(mask), buffers).cast(pyarrow.bool_())


def _frame_like(frame: Any, names: tuple[str, ...], rows: list[Any]) -> Any:
    kind = _kind(frame)
    data = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    if kind == "polars":
        import polars

        types = {n: polars.Float64 if n == "similarity" else polars.Int64 for n in names}
        return polars.DataFrame(data, schema=types)
    if kind == "pyarrow":
        import pyarrow

        fields = [(n, pyarrow.float64() if n == "similarity" else pyarrow.int64()) for n in names]
        return pyarrow.table(data, schema=pyarrow.schema(fields))
    import pandas

    dtypes = {n: "float64" if n == "similarity" else "int64" for n in names}
    return pandas.DataFrame(data).astype(dtypes)
