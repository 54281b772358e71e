"""A database for each file of tests, in the cluster of PGHOST and related variables."""

import os
import re
from collections.abc import Iterator

import psycopg
import pytest

DSN = os.environ.get("NEARDUP_DSN", "")
TEXTS = (
    "The quick brown fox jumps over the lazy dog while the cat sleeps on the mat.",
    "Something else altogether, of which nobody has heard.",
    "A quick brown fox jumps over the lazy dog while the cat sleeps on the mat.",
)


def execute(dsn: str, *statements: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SET lock_timeout = '10s'")
        for statement in statements:
            conn.execute(statement)


@pytest.fixture(scope="module")
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """Name of a fresh database with the extension; PGDATABASE is set to it."""
    name = re.sub(r"\W", "_", request.module.__name__.rsplit(".", 1)[-1]) + f"_{os.getpid()}"
    execute(DSN, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
    before = os.environ.get("PGDATABASE")
    os.environ["PGDATABASE"] = name
    execute(f"dbname={name}", "CREATE EXTENSION neardup")
    yield name
    if before is None:
        del os.environ["PGDATABASE"]
    else:
        os.environ["PGDATABASE"] = before
    execute(DSN, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def conn(database: str) -> Iterator["psycopg.Connection[tuple[object, ...]]"]:
    """A psycopg connection to it, rolled back at the end."""
    with psycopg.connect(f"dbname={database}") as connection:
        yield connection
        connection.rollback()
