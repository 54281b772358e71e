"""One way to run statements and COPY with psycopg, psycopg2 and pg8000."""

import atexit
import importlib
import io
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from neardup.cluster import find_programs, private_cluster
from neardup.errors import server_fields
from neardup.sql import MISSING, SURROUNDINGS, literal

DRIVERS = ("psycopg", "psycopg2", "pg8000.dbapi")
NO_TRANSACTION = "25P01"
NO_SERVER = (
    "there is no server to do the work: give the DSN of a database with the extension (--dsn,"
    " conn=), or install PostgreSQL's server programs (initdb) with the extension neardup, see"
    " Install in https://example.org/neardup"
)


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
    """A connection of the caller's, or one of its own to a DSN or a private server.

    All work is done in a transaction, or a savepoint of the caller's, that is rolled back at
    the end, also after an error: tables, settings and locks are gone, and nothing is aborted.
    """

    def __init__(self, given: Any) -> None:
        self.given, self.private = given, given is None or isinstance(given, Server)
        self.ours = ExitStack()  # what is to be closed
        self.undo: tuple[str, ...] = ()
        self.idle = False  # a transaction that the driver begins is ours

    def __enter__(self) -> "Session":
        try:
            self.conn = self._open()
            self.driver = type(self.conn).__module__.split(".")[0]
            if (
                self.driver not in ("psycopg", "psycopg2", "pg8000")
                or not hasattr(self.conn, "cursor")
                or hasattr(self.conn, "__aenter__")
            ):
                raise TypeError(
                    "a connection of psycopg, psycopg2 or pg8000.dbapi is needed, one of SQLAlchemy"
                    f" by these, or a DSN, not {type(self.given).__name__}"
                )
            self._begin()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        with self.ours:
            if kind is not None and not issubclass(kind, Exception):
                with suppress(Exception):
                    self.conn.cancel()  # after Ctrl-C the server would go on
            try:
                for statement in self.undo:
                    self.run(statement)
                if self.idle:
                    self.conn.rollback()
            except Exception:
                if kind is None:
                    raise

    def _open(self) -> Any:
        """Return the driver's connection behind what was given."""
        given = self.given
        if given is None:
            given = self.ours.enter_context(Server())
        if isinstance(given, (str, Server)):
            conn = connect(given) if isinstance(given, str) else given.connect()
            self.ours.callback(conn.close)
            return conn
        if not type(given).__module__.startswith("sqlalchemy."):
            return given
        if hasattr(given, "raw_connection"):  # an engine
            pooled = given.raw_connection()
            self.ours.callback(pooled.close)
        else:  # a connection, or a session, which has one
            pooled = (
                given.connection().connection if callable(given.connection) else given.connection
            )
        return pooled.driver_connection

    def _begin(self) -> None:
        """Begin what is rolled back at the end, in UTF-8 and with the extension in sight."""
        self.idle = not in_transaction(self.conn)
        try:
            self.run("SAVEPOINT neardup")
            self.undo = ("ROLLBACK TO SAVEPOINT neardup", "RELEASE SAVEPOINT neardup")
        except Exception as error:
            if (server_fields(error) or {}).get("state") != NO_TRANSACTION:
                raise
            self.run("BEGIN")
            self.undo = ("ROLLBACK",)
        found = self.run(SURROUNDINGS)
        if not found:
            raise LookupError(MISSING)
        schema, is_visible, path, encoding = found[0]
        if encoding != "UTF8":
            self.run("SET LOCAL client_encoding = 'UTF8'")
        if not is_visible:
            path = f"{path}, {schema}" if path else schema
            self.run(f"SELECT pg_catalog.set_config('search_path', {literal(path)}, true)")

    def _cursor(self) -> Any:
        """A cursor whose rows are tuples, whatever the caller's are."""
        if self.driver == "psycopg":
            return self.conn.cursor(row_factory=importlib.import_module("psycopg.rows").tuple_row)
        if self.driver == "psycopg2":
            extensions = importlib.import_module("psycopg2.extensions")
            return self.conn.cursor(cursor_factory=extensions.cursor)
        return self.conn.cursor()

    def run(self, statement: str) -> list[Any]:
        """Run a statement; returns its rows."""
        cursor = self._cursor()
        cursor.execute(statement)
        rows = list(cursor.fetchall()) if cursor.description else []
        cursor.close()
        return rows

    def copy_in(self, statement: str, chunks: Iterable[bytes]) -> None:
        """Run COPY ... FROM STDIN; an error of the iterator is raised as it is."""
        failed: list[BaseException] = []

        def watched() -> Iterator[bytes]:
            try:
                yield from chunks
            except BaseException as error:
                failed.append(error)
                if self.driver != "pg8000":  # which cannot fail a COPY: that ends here
                    raise

        try:
            self._copy_in(statement, watched())
        except Exception:
            if not failed:
                raise
        if failed:
            raise failed[0] from None

    def _copy_in(self, statement: str, chunks: Iterable[bytes]) -> None:
        cursor = self._cursor()
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
        cursor, out = self._cursor(), io.BytesIO()
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


def in_transaction(conn: Any) -> bool:
    """True if a connection of psycopg, psycopg2 or pg8000 is in a transaction."""
    if hasattr(conn, "info"):
        return bool(conn.info.transaction_status)  # 0: idle
    return bool(conn._in_transaction)


def connect(dsn: str) -> Any:
    """Connect by the first driver that is installed."""
    for name in DRIVERS:
        try:
            driver = importlib.import_module(name)
        except ImportError:
            continue
        return driver.connect(**words(dsn)) if name == "pg8000.dbapi" else driver.connect(dsn)
    raise ImportError("no driver is installed: pip install 'psycopg[binary]'")


def words(dsn: str) -> dict[str, Any]:
    """Read a DSN, or a URL, for pg8000, with the environment's defaults as libpq has them."""
    if dsn.startswith(("postgresql://", "postgres://")):
        url = urlsplit(dsn)
        parts = {"host": url.hostname, "port": url.port, "user": url.username}
        parts |= {"password": url.password, "dbname": url.path.removeprefix("/")}
        given = {key: unquote(str(value)) for key, value in parts.items() if value}
        given |= dict(parse_qsl(url.query))
    else:
        given = dict(word.split("=", 1) for word in shlex.split(dsn))
    names = {"dbname": "database", "host": "host", "port": "port", "user": "user"}
    options: dict[str, Any] = {}
    for key, name in (names | {"password": "password"}).items():
        value = given.get(key) or os.environ.get("PG" + name.upper())
        if value:
            options[name] = int(value) if key == "port" else value
    if options.get("host", "").startswith("/"):
        options["unix_sock"] = f"{options.pop('host')}/.s.PGSQL.{options.pop('port', 5432)}"
    return options


class Server:
    """A private server with the extension, for several calls (``conn=server``) and for SQL.

    It runs until ``close()``, the end of a with block or the end of the program.  What the
    environment says of other servers does not count.
    """

    def __init__(self) -> None:
        programs = find_programs()
        if programs is None:
            raise RuntimeError(NO_SERVER)
        self._running = ExitStack()
        self.dsn = self._running.enter_context(private_cluster(programs))
        atexit.register(self.close)

    def connect(self) -> Any:
        """Connect by the first driver that is installed."""
        told = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("PG")}
        try:
            return connect(self.dsn)
        finally:
            os.environ.update(told)

    def close(self) -> None:
        """Stop it, and delete all that is in it."""
        atexit.unregister(self.close)
        self._running.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Progress:
    """A bar of tqdm for each phase.

    True shows it anywhere and needs tqdm.  None shows it on a terminal and in a notebook, where
    tqdm is installed and a phase takes longer than a second.
    The client counts: PostgreSQL has no view to which an extension can report its steps.
    """

    def __init__(self, wanted: bool | None) -> None:
        self.make: Any = None
        is_notebook = type(sys.stderr).__module__.startswith("ipykernel.")
        # None: of tqdm, where stderr is no terminal
        self.how = {
            "disable": False if wanted or is_notebook else None,
            "delay": 0 if wanted else 1,
        }
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
        with self.make(total=total, desc=what, unit=" rows", **self.how) as bar:
            yield bar.update
