"""One way to run statements and COPY with psycopg, psycopg2 and pg8000."""

import importlib
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

DRIVERS = ("psycopg", "psycopg2", "pg8000.dbapi")


class _Reader(io.RawIOBase):
    """A file of the chunks of an iterator."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.chunks = iter(chunks)
        self.rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.rest:
            chunk = next(self.chunks, None)
            if chunk is None:
                return 0
            self.rest = memoryview(chunk)
        size = min(len(buffer), len(self.rest))
        buffer[:size] = self.rest[:size]
        self.rest = self.rest[size:]
        return size


class Session:
    """A connection of the caller's, or one of its own where a DSN is given."""

    def __init__(self, conn: Any) -> None:
        self.owned = isinstance(conn, str)
        self.conn = connect(conn) if isinstance(conn, str) else conn
        self.driver = type(self.conn).__module__.split(".")[0]
        if self.driver not in ("psycopg", "psycopg2", "pg8000") or not hasattr(self.conn, "cursor"):
            raise TypeError(
                "a connection of psycopg, psycopg2 or pg8000.dbapi is needed, or a DSN, not "
                + type(self.conn).__name__
            )

    def close(self) -> None:
        """Close a connection of its own."""
        if self.owned:
            self.conn.close()

    def run(self, statement: str) -> list[Any]:
        """Run a statement; returns its rows."""
        cursor = self.conn.cursor()
        cursor.execute(statement)
        rows = list(cursor.fetchall()) if cursor.description else []
        cursor.close()
        return rows

    def copy_in(self, statement: str, chunks: Iterable[bytes]) -> None:
        """Run COPY ... FROM STDIN; an error of the iterator is raised as it is."""
        failed: list[Exception] = []

        def watched() -> Iterator[bytes]:
            try:
                yield from chunks
            except Exception as error:
                failed.append(error)
                raise

        try:
            self._copy_in(statement, watched())
        except Exception:
            if failed:
                raise failed[0] from None
            raise

    def _copy_in(self, statement: str, chunks: Iterable[bytes]) -> None:
        cursor = self.conn.cursor()
        if self.driver == "psycopg":
            with cursor.copy(statement) as copy:
                for chunk in chunks:
                    copy.write(chunk)
        elif self.driver == "psycopg2":
            cursor.copy_expert(statement, io.BufferedReader(_Reader(chunks), 1 << 16))
        else:
            cursor.execute(statement, stream=_Reader(chunks))
        cursor.close()

    def copy_out(self, statement: str) -> bytes:
        """Run COPY ... TO STDOUT."""
        cursor, out = self.conn.cursor(), io.BytesIO()
        if self.driver == "psycopg":
            with cursor.copy(statement) as copy:
                for chunk in copy:
                    out.write(chunk)
        elif self.driver == "psycopg2":
            cursor.copy_expert(statement, out)
        else:
            cursor.execute(statement, stream=out)
        cursor.close()
        return out.getvalue()


def connect(dsn: str) -> Any:
    """Connect by the first driver that is installed."""
    for name in DRIVERS:
        try:
            driver = importlib.import_module(name)
        except ImportError:
            continue
        if name != "pg8000.dbapi":
            return driver.connect(dsn)
        words = dict(word.split("=", 1) for word in dsn.split())
        names = {"dbname": "database", "host": "host", "port": "port", "user": "user"}
        options: dict[str, Any] = {names[key]: value for key, value in words.items()}
        if options.get("host", "").startswith("/"):
            port = options.pop("port", "5432")
            options["unix_sock"] = f"{options.pop('host')}/.s.PGSQL.{port}"
        return driver.connect(**options)
    raise ImportError("no driver is installed; pip install 'neardup[psycopg]'")


class Progress:
    """A bar of tqdm for each phase.

    True shows it anywhere and needs tqdm; None shows it on a terminal, where tqdm is installed.
    The client counts: PostgreSQL has no view to which an extension can report its steps.
    """

    def __init__(self, wanted: bool | None) -> None:
        self.make: Any = None
        self.disable = False if wanted else None  # None: of tqdm, where stderr is no terminal
        if wanted is not False:
            try:
                self.make = importlib.import_module("tqdm").tqdm
            except ImportError:
                if wanted:
                    raise

    @contextmanager
    def bar(self, what: str, total: int | None = None) -> Iterator[Any]:
        """Give a function to call with the number of rows that are done."""
        if self.make is None:
            yield lambda done: None
            return
        with self.make(total=total, desc=what, unit=" rows", disable=self.disable) as bar:
            yield bar.update
