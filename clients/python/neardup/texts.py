"""Texts in a table of their own, for as long as a block runs."""

import struct
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

from neardup import sql
from neardup.session import Progress, Session

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # what a binary COPY begins with
ROW = struct.Struct("!hii")  # number of fields; the first is an int of four bytes
SIZE = struct.Struct("!I")  # of a field
ARRAY = struct.Struct("!iiIii")  # dimensions, nulls, type, length, lower bound
REAL_OID = 700
NULL = b"\xff\xff\xff\xff"
CHUNK = 1 << 18
ORDERS = {
    "first": "id",
    "last": "id DESC",
    "longest": "length(body) DESC, id",
    "shortest": "length(body), id",
    "all": "id",  # near-duplicates stay, but for what is near a text of a second source
}


def bad_threshold(threshold: float) -> str:
    """Say what is wrong with a threshold."""
    percent = f"; {threshold:g} percent are {threshold / 100:g}" if 1 < threshold <= 100 else ""
    return f"{threshold:g} is not above 0 and at most 1{percent}"


class Against(NamedTuple):
    """Texts of a second source, and which texts are near one of them.

    ``contained`` is the share of a second text's shingles that a text has to have; without it
    their resemblance reaches the threshold.
    """

    texts: Iterable[Any]
    contained: float | None = None


class Texts:
    """Texts, and the texts of a second source, in tables that are gone when the block ends.

    All that can be wrong with the arguments is said before a server is asked.  ``apart`` gives
    pairs of texts that are not in one group, by their numbers, once all were read.  Set ``scoped``
    before the block if the sources give pairs of a text and the scope that it is compared in.
    """

    def __init__(
        self,
        conn: Any,
        texts: Iterable[Any],
        threshold: float = 0.8,
        keep: str = "first",
        progress: bool | None = None,
        total: int | None = None,
        against: Against | None = None,
        apart: Callable[[], Iterable[tuple[int, int]]] | None = None,
        maker: sql.Maker | None = None,
    ) -> None:
        if keep not in ORDERS:
            raise ValueError(
                f"keep is one of {', '.join(ORDERS)}, not {keep!r}; for the newest, sort by the"
                " date, and keep the last"
            )
        if keep == "all" and against is None:
            raise ValueError("keep all leaves out what is near a text of against: name it")
        if not isinstance(threshold, (float, Real)):
            raise TypeError(f"threshold is a number, not {threshold!r}")
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold {bad_threshold(threshold)}")
        if against and against.contained is not None and not 0 < against.contained <= 1:
            raise ValueError(f"contained {bad_threshold(against.contained)}")
        self.threshold, self.order = threshold, ORDERS[keep]
        self.keeps_all = keep == "all"
        self.scoped = False
        self.maker = maker or sql.Maker()
        self.vectors = self.maker.function == "dense"
        self.encode_body = Vectors().encode if self.vectors else encode
        if self.vectors and (keep in ("longest", "shortest") or (against and against.contained)):
            raise ValueError("vectors have neither a length nor shingles: keep is first or last")
        self.progress = Progress(progress)
        self.texts, self.total, self.against, self.apart = texts, total, against, apart
        self.rows = 0
        self.rows_near = 0  # near a text of the second source, once grouped
        self.session = Session(conn)

    def __enter__(self) -> "Texts":
        self.session.__enter__()
        try:
            self.table = self._copy("texts", self.texts)
            if self.against is not None:
                rows = self.rows
                self.others = self._copy("others", self.against.texts)
                self.rows = rows
            self.pairs_apart = None
            if self.apart is not None:
                self.pairs_apart = sql.texts_table("apart", self.session.private)
                for statement in sql.create_pairs(self.pairs_apart, self.apart()):
                    self.session.run(statement)
        except BaseException as error:
            self.session.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.session.__exit__(kind, error, trace)

    def _copy(self, name: str, texts: Iterable[Any]) -> str:
        """Make a table of texts; return its name."""
        table = sql.texts_table(name, self.session.private)
        kind = "real[]" if self.vectors else "text"
        self.session.run(sql.create_texts(table, self.scoped, kind))
        with self.progress.bar("copy", self.total if name == "texts" else None) as done:
            copy = f"COPY {table} FROM STDIN (FORMAT binary)"
            self.session.copy_in(copy, self._encode(texts, done))
        return table

    def _encode(self, texts: Iterable[Any], done: Any) -> Iterator[bytes]:
        yield SIGNATURE  # at once: a COPY that ends early, by an error, is complete for the server
        out = bytearray()
        number = reported = 0
        for number, item in zip(count(1), texts):
            values = item if self.scoped else (item,)
            out += ROW.pack(1 + len(values), 4, number - 1)
            encoders = (self.encode_body, encode)
            for write, value in zip(encoders, values, strict=False):
                out += NULL if value is None else write(value, number - 1)
            if len(out) > CHUNK:
                yield bytes(out)
                out.clear()
                done(number - reported)
                reported = number
        self.rows = number
        yield bytes(out) + b"\xff\xff"
        done(number - reported)

    def _groups(self, columns: str) -> str:
        """Write the query of the groups, once rows near the others are gone."""
        if self.against is not None:
            self.gone = sql.texts_table("gone", self.session.private)
            pairs = self._pairs_with(self.against.contained)
            for statement in sql.take_out_near(self.table, pairs, self.gone):
                self.session.run(statement)
            self.rows_near = self.session.run(f"SELECT count(*) FROM {self.gone}")[0][0]
        return self._group_rows(columns, self.threshold)

    def _group_rows(self, columns: str, threshold: float) -> str:
        """Write the query of the groups at a threshold.

        The server keeps a text from a representative only.  So one text of a pair that is in
        one group is kept from the group's representative, until no group has such a pair.
        """
        if self.keeps_all:
            return sql.single_rows(columns, self.table)
        columns_read = f"id, {self.maker.sql('body')}" + (", scope" if self.scoped else "")
        query = f"SELECT {columns_read} FROM {self.table} ORDER BY {self.order}"
        if self.pairs_apart is not None:
            self.session.run(sql.forget_added(self.pairs_apart))
            args = (query, threshold, self.pairs_apart, self.maker.measure)
            while self.session.run(sql.add_apart(*args)):
                pass
        return sql.group_rows(columns, query, threshold, self.pairs_apart, self.maker.measure)

    def kept(self) -> bytearray:
        """One byte a row: 1 if it stays."""
        query = self._groups("id::int") + " WHERE id = representative"
        with self.progress.bar("search", self.rows) as done:
            data = self.session.copy_out(f"COPY ({query}) TO STDOUT (FORMAT binary)")
            done(self.rows)
        mask = bytearray(self.rows)
        for _, _, row in struct.iter_unpack("!hii", data[len(SIGNATURE) : -2]):
            mask[row] = 1
        return mask

    def groups(self) -> list[Any]:
        """Rows (number, group, representative, similarity, size), by number."""
        columns = "id, group_id, representative, similarity, size"
        return self._search(self._groups(columns) + " ORDER BY id")

    def near_others(self) -> list[Any]:
        """Rows (number, other, value) of texts that the second source left out, once grouped."""
        return self.session.run(f"SELECT a, b, value FROM {self.gone} ORDER BY a")

    def others_of_one_shingle(self) -> int:
        """Count texts of the second source that have a shingle or none."""
        short = f"nfeatures({self.maker.sql('body')}) <= 1"
        return int(self.session.run(f"SELECT count(*) FROM {self.others} WHERE {short}")[0][0])

    def _pairs_with(self, contained: float | None) -> str:
        args = (self.table, self.others, self.maker, self.threshold)
        return sql.pairs_with(*args, contained) + self._within()

    def _within(self) -> str:
        return " AND a.scope = b.scope" if self.scoped else ""

    def sweep(self, thresholds: Iterable[float]) -> list[tuple[float, int, int, int]]:
        """Threshold, groups of more than one text, texts that go, size of the largest group."""
        found = []
        for threshold in thresholds:
            row = self._search(self._group_rows(sql.GROUP_COUNTS, threshold))[0]
            groups, gone, size = map(int, row)
            found.append((threshold, groups, gone, size))
        return found

    def pairs(self) -> list[Any]:
        """Rows (a, b, similarity) of all pairs, b of the other source if there is one."""
        if self.against is None:
            query = sql.text_pairs(self.table, self.maker, self.threshold) + self._within()
        else:
            query = self._pairs_with(self.against.contained)
        return self._search(query + " ORDER BY a, b")

    def _search(self, query: str) -> list[Any]:
        with self.progress.bar("search", self.rows) as done:
            rows = self.session.run(query)
            done(self.rows)
        return rows


def encode(text: Any, row: int) -> bytes:
    """Return a text as COPY takes it, or say which row cannot be stored, and why."""
    if not isinstance(text, str):
        raise TypeError(f"row {row}: a text is needed, not {type(text).__name__}")
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"row {row}: {error}") from None
    if b"\0" in data:
        raise ValueError(f"row {row}: a text of PostgreSQL has no character U+0000")
    return SIZE.pack(len(data)) + data


class Vectors:
    """Vectors of one number of coordinates, as COPY takes arrays of real."""

    def __init__(self) -> None:
        self.size = 0
        self.format = struct.Struct("")

    def encode(self, vector: Any, row: int) -> bytes:
        """Return a vector as COPY takes it, or say which row cannot be compared, and why."""
        if isinstance(vector, (str, bytes)) or not hasattr(vector, "__len__"):
            raise TypeError(f"row {row}: a vector is needed, not {type(vector).__name__}")
        if not len(vector):
            raise ValueError(f"row {row}: a vector has one coordinate or more")
        if not self.size:
            self.size = len(vector)
            self.format = struct.Struct("!" + "If" * self.size)
        if len(vector) != self.size:
            raise ValueError(f"row {row}: {len(vector)} coordinates, and others have {self.size}")
        if hasattr(vector, "tolist"):  # of numpy, whose elements are slow to get one by one
            vector = vector.tolist()
        fields: list[Any] = [4] * (2 * self.size)  # each is of four bytes
        fields[1::2] = vector
        try:
            data = self.format.pack(*fields)
            finite = isfinite(sum(vector))
        except (OverflowError, TypeError, struct.error):
            finite = False
        if not finite:
            raise ValueError(f"row {row}: a coordinate is a finite number of single precision")
        head = ARRAY.pack(1, 0, REAL_OID, self.size, 1)
        return SIZE.pack(len(head) + len(data)) + head + data
