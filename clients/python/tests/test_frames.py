"""dedupe, groups and pairs of pandas, polars and pyarrow, through every driver."""

import os
import re
from contextlib import closing

import numpy
import pandas
import polars
import psycopg
import psycopg2
import pyarrow
import pytest
from conftest import TEXTS
from test_drivers import connect_pg8000

from neardup import frames

LONG = "Indeed: " + TEXTS[0]
BODIES = [TEXTS[0], None, TEXTS[1], LONG, TEXTS[2], "", ""]
MAKE = {
    "pandas": pandas.DataFrame,
    "polars": polars.DataFrame,
    "pyarrow": pyarrow.table,
}


def rows(frame):
    if isinstance(frame, pandas.DataFrame):
        return frame.to_dict("list")
    return frame.to_dict(as_series=False) if isinstance(frame, polars.DataFrame) else frame.to_pydict()


@pytest.fixture(params=list(MAKE))
def frame(request):
    return MAKE[request.param]({"n": list(range(len(BODIES))), "body": BODIES})


def test_dedupe(conn, frame):
    found = frames.dedupe(frame, conn=conn)
    assert type(found) is type(frame)
    assert rows(found)["n"] == [0, 1, 2, 5, 6]
    assert rows(frames.dedupe(frame, keep="longest", conn=conn))["n"] == [1, 2, 3, 5, 6]
    assert rows(frames.dedupe(frame, keep="shortest", conn=conn, k=1))["n"] == [1, 2, 4, 5, 6]
    assert rows(frames.dedupe(frame, keep="last", conn=conn))["n"] == [1, 2, 4, 5, 6]
    assert rows(frames.dedupe(frame, threshold=1, conn=conn))["n"] == list(range(7))


def test_groups(conn, frame):
    found = frames.groups(frame, conn=conn)
    assert type(found) is type(frame)
    found = rows(found)
    assert found["row"] == list(range(7))
    assert found["representative"] == [0, 1, 2, 0, 0, 5, 6]
    assert found["size"] == [3, 1, 1, 3, 3, 1, 1]


def test_pairs(conn, frame):
    found = rows(frames.pairs(frame, conn=conn))
    assert list(zip(found["a"], found["b"], strict=True)) == [(0, 3), (0, 4), (3, 4)]
    assert all(0.8 <= s < 1 for s in found["similarity"])
    assert rows(frames.pairs(frame, threshold=1, conn=conn))["a"] == []


def test_every_driver(database, frame):
    connections = [
        psycopg.connect(f"dbname={database}"),
        psycopg2.connect(dbname=database),
        connect_pg8000(__import__("pg8000.dbapi").dbapi.connect),
    ]
    for connection in connections:
        with closing(connection) as conn:
            assert rows(frames.dedupe(frame, conn=conn))["n"] == [0, 1, 2, 5, 6]
            assert rows(frames.dedupe(frame, conn=conn, analysis="english"))["n"] == [0, 1, 2, 5, 6]
    assert rows(frames.dedupe(frame, conn=f"dbname={database}"))["n"] == [0, 1, 2, 5, 6]


def test_progress(conn, frame, monkeypatch, capsys):
    assert rows(frames.dedupe(frame, conn=conn, progress=True))["n"] == [0, 1, 2, 5, 6]
    shown = capsys.readouterr().err
    for phase in ("copy", "search"):
        assert re.search(rf"{phase}: 100%.* 7/7 ", shown), shown
    for find in (frames.groups, frames.pairs):
        find(frame, conn=conn, progress=True)
        assert re.search(r"search: 100%.* 7/7 ", capsys.readouterr().err)
    for quiet in (None, False):
        frames.dedupe(frame, conn=conn, progress=quiet)
        assert capsys.readouterr().err == ""
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    assert rows(frames.dedupe(frame, conn=conn))["n"] == [0, 1, 2, 5, 6]
    with pytest.raises(ImportError):
        frames.dedupe(frame, conn=conn, progress=True)


def test_many_rows_of_several_chunks(conn):
    random = numpy.random.default_rng(7)
    texts = [" ".join(map(str, random.integers(0, 1000, 60))) for _ in range(20000)]
    frame = pyarrow.table({"body": texts + texts[:5000]})
    assert frames.dedupe(frame, conn=conn)["body"].to_pylist() == texts


def test_no_rows(conn):
    for make in MAKE.values():
        frame = make({"body": ["a"]})[:0]
        assert len(frames.dedupe(frame, conn=conn)) == 0
        assert len(frames.groups(frame, conn=conn)) == 0


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (7, TypeError, "row 1: a text is needed, not int"),
        ("a\0b", ValueError, r"row 1: .*U\+0000"),
        ("\ud800", ValueError, "row 1: .*surrogates"),
    ],
)
def test_bad_values(conn, value, error, message):
    with pytest.raises(error, match=message):
        frames.dedupe(pandas.DataFrame({"body": pandas.Series(["a", value], dtype=object)}), conn=conn)


def test_other_mistakes(conn, frame):
    with pytest.raises(ValueError, match="first, last, longest, shortest"):
        frames.dedupe(frame, keep="best", conn=conn)
    conn.rollback()
    with pytest.raises(TypeError, match="frame of pandas"):
        frames.dedupe([], conn=conn)
    conn.rollback()
    with pytest.raises(TypeError, match="connection of psycopg"):
        frames.dedupe(frame, conn=os)
