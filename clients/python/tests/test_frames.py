"""dedupe, groups and pairs of pandas, polars and pyarrow, through every driver."""

import os
import re
from contextlib import closing

import numpy
import pandas
import polars
import psycopg
import psycopg2
import psycopg2.extras
import pyarrow
import pytest
from conftest import TEXTS, execute
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
        frames.dedupe(7, conn=conn)
    conn.rollback()
    with pytest.raises(TypeError, match="connection of psycopg"):
        frames.dedupe(frame, conn=os)


WRONG = "no column 'text'; the columns are n, body"


def test_mistakes_leave_the_connection_as_it_was(database, frame):
    """A wrong column, keep or threshold, an interruption: nothing is left, nothing is aborted."""
    for connect in (psycopg.connect, psycopg2.connect):
        for autocommit in (True, False):
            with closing(connect(f"dbname={database}")) as conn:
                conn.autocommit = autocommit
                cursor = conn.cursor()
                cursor.execute("CREATE TEMPORARY TABLE of_the_caller (a int)")
                for how, error in (
                    ({"text": "text"}, (LookupError, WRONG)),
                    ({"keep": "best"}, (ValueError, "first, last, longest, shortest")),
                    ({"threshold": 80}, (ValueError, "threshold 80 ")),
                    ({"kk": 2}, (Exception, "kk")),
                ):
                    with pytest.raises(error[0], match=error[1]):
                        frames.dedupe(frame, conn=conn, **how)
                    assert rows(frames.dedupe(frame, conn=conn))["n"] == [0, 1, 2, 5, 6]
                cursor.execute("SELECT count(*) FROM of_the_caller")
                cursor.execute("SELECT relname FROM pg_class WHERE relname ~ '^neardup_(texts|others)'")
                assert cursor.fetchall() == []


def test_the_settings_of_the_caller(database, frame, monkeypatch):
    """Another encoding, a search path without the extension, rows as dictionaries."""
    name = f"{database}_nd"
    execute("", f"CREATE DATABASE {name}")
    execute(f"dbname={name}", "CREATE SCHEMA nd", "CREATE EXTENSION neardup SCHEMA nd")
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    frame = type(frame)({"n": [0, 1], "body": ["ein Wört", "ein Wort"]}) if not isinstance(
        frame, pyarrow.Table) else pyarrow.table({"n": [0, 1], "body": ["ein Wört", "ein Wort"]})
    with psycopg.connect(f"dbname={name}", row_factory=psycopg.rows.dict_row) as conn:
        assert rows(frames.dedupe(frame, threshold=1, k=1, conn=conn))["n"] == [0, 1]
        assert rows(frames.groups(frame, k=1, conn=conn))["group"] == [1, 2]
        assert conn.execute("SHOW client_encoding").fetchone() == {"client_encoding": "LATIN1"}
        assert conn.execute("SHOW search_path").fetchone() == {"search_path": '"$user", public'}
    with closing(psycopg2.connect(dbname=name, cursor_factory=psycopg2.extras.RealDictCursor)) as conn:
        assert rows(frames.groups(frame, k=1, conn=conn))["group"] == [1, 2]
    execute(f"dbname={name}", "DROP EXTENSION neardup")
    with pytest.raises(LookupError, match="the database has no extension neardup: CREATE EXTENSION"):
        frames.dedupe(frame, conn=f"dbname={name}")
    execute("", f"DROP DATABASE {name}")


def test_no_rows_keep_their_columns(conn):
    for make in MAKE.values():
        frame = make({"n": [1], "body": ["a"]})[:0]
        for none in (frames.dedupe(frame, conn=conn), frames.dedupe(make({"n": [1], "body": ["a"]}), conn=conn)[:0]):
            assert list(rows(none)) == ["n", "body"]


def test_columns_lists_and_lazy_frames(conn):
    """What is given comes back, of its kind."""
    kept = [TEXTS[0], None, TEXTS[1], "", ""]
    for given, listed in (
        (BODIES, list), (tuple(BODIES), list),
        (pandas.Series(BODIES), lambda s: [None if pandas.isna(v) else v for v in s]),
        (polars.Series(BODIES), list), (polars.DataFrame({"body": BODIES}).lazy(), lambda f: f.collect()["body"].to_list()),
        (pyarrow.array(BODIES), lambda a: a.to_pylist()), (pyarrow.chunked_array([BODIES]), lambda a: a.to_pylist()),
        (pyarrow.record_batch([BODIES], ["body"]), lambda b: b.column(0).to_pylist()),
    ):  # fmt: skip
        found = frames.dedupe(given, conn=conn)
        assert type(found) is type(given)
        assert listed(found) == kept
    assert frames.groups(BODIES, conn=conn)[3][:3] == (3, 1, 0)
    assert [(p.a, p.b) for p in frames.pairs(BODIES, conn=conn)] == [(0, 3), (0, 4), (3, 4)]
    assert frames.dedupe([], conn=conn) == []
    two = pandas.DataFrame([["a", "b"]], columns=["body", "body"])
    with pytest.raises(LookupError, match="2 columns 'body'"):
        frames.dedupe(two, conn=conn)


def test_against(conn, frame):
    """Rows that are near the other's go, also where only a member of its groups is near."""
    assert rows(frames.dedupe(frame, against=[TEXTS[2], TEXTS[1]], conn=conn))["n"] == [1, 5, 6]
    other = [" ".join(f"w{n}" for n in range(at, at + 40)) for at in (0, 3)]
    near_second_only = " ".join(f"w{n}" for n in range(6, 46))
    assert frames.dedupe([near_second_only, "x y z"], against=other, conn=conn) == ["x y z"]
    found = rows(frames.pairs(frame, against=[TEXTS[2]], conn=conn))
    assert list(zip(found["a"], found["b"], strict=True)) == [(0, 0), (3, 0), (4, 0)]
    long = f"{other[0]} {TEXTS[2]} {other[1]}"
    assert frames.dedupe([long, other[0]], against=[TEXTS[2]], conn=conn) == [long, other[0]]
    assert frames.dedupe([long, other[0]], against=[TEXTS[2]], contained=1, conn=conn) == [other[0]]
    assert frames.pairs([other[0], long], against=TEXTS, contained=0.5, conn=conn) == [(1, 0, 13 / 14), (1, 2, 1)]
    with pytest.raises(ValueError, match="against"):
        frames.dedupe([long], contained=1, conn=conn)


def test_sqlalchemy(database, frame):
    from sqlalchemy import create_engine, text
    from sqlalchemy.orm import Session

    for driver in ("psycopg", "psycopg2"):
        engine = create_engine(f"postgresql+{driver}:///{database}")
        assert rows(frames.dedupe(frame, conn=engine))["n"] == [0, 1, 2, 5, 6]
        with engine.connect() as connection:
            connection.execute(text("CREATE TEMPORARY TABLE t (a int)"))
            assert rows(frames.dedupe(frame, conn=connection))["n"] == [0, 1, 2, 5, 6]
            with pytest.raises(LookupError):
                frames.dedupe(frame, text="none", conn=connection)
            connection.execute(text("TABLE t"))
        with Session(engine) as session:
            assert rows(frames.dedupe(frame, conn=session))["n"] == [0, 1, 2, 5, 6]
        engine.dispose()


def test_a_server_of_its_own(monkeypatch):
    monkeypatch.setenv("PGPORT", "1")
    assert frames.dedupe(BODIES) == [TEXTS[0], None, TEXTS[1], "", ""]
    assert os.environ["PGPORT"] == "1"


def test_a_server_for_several_calls(monkeypatch):
    """Its tables are gone after each call, and all of it at the end, also after an error."""
    from sqlalchemy import create_engine, text

    monkeypatch.setenv("PGPORT", "1")
    with frames.Server() as server:
        folder = re.search("host=(.*) port", server.dsn)[1]
        assert frames.dedupe(BODIES, conn=server) == [TEXTS[0], None, TEXTS[1], "", ""]
        with pytest.raises(TypeError, match="row 1: "):
            frames.pairs(["a", 1], conn=server)
        assert len(frames.pairs(BODIES, conn=server)) == 3
        with psycopg.connect(server.dsn) as conn:
            assert conn.execute("SELECT count(*) FROM pg_class WHERE relname ~ '^neardup_texts'").fetchone() == (0,)
        engine = create_engine("postgresql+psycopg://", creator=server.connect)
        with engine.connect() as connection:
            assert connection.scalar(text("SELECT similarity(shingles('a b c'), shingles('a b c!'))")) == 1
        engine.dispose()
        assert os.path.exists(folder)
    assert not os.path.exists(folder)
    server.close()


def test_dsns():
    from neardup.session import words

    assert words("host=/tmp/x port=7 user=u dbname='a b'") == {
        "user": "u", "database": "a b", "unix_sock": "/tmp/x/.s.PGSQL.7"}  # fmt: skip
    assert words("postgresql://u:p%20w@h:7/d") == {
        "user": "u", "password": "p w", "host": "h", "port": 7, "database": "d"}  # fmt: skip


def test_an_idle_connection_stays_idle(database, frame):
    """No transaction of the driver stays open, and one of the caller's does."""
    from sqlalchemy import create_engine

    from neardup.session import in_transaction

    pg8000 = connect_pg8000(__import__("pg8000.dbapi").dbapi.connect)
    for conn in (psycopg.connect(f"dbname={database}"), psycopg2.connect(dbname=database), pg8000):
        with closing(conn):
            for autocommit in (False, True):
                conn.autocommit = autocommit
                assert len(frames.dedupe(frame, conn=conn)) == 5
                assert not in_transaction(conn)
                with pytest.raises(ValueError, match="row 0: "):
                    frames.dedupe(["a\0"], conn=conn)
                assert not in_transaction(conn)
            conn.autocommit = False
            conn.cursor().execute("CREATE TEMPORARY TABLE mine (a int)")
            frames.dedupe(frame, conn=conn)
            assert in_transaction(conn)
            conn.cursor().execute("TABLE mine")
    engine = create_engine(f"postgresql+psycopg:///{database}")
    with engine.connect() as connection:
        frames.dedupe(frame, conn=connection)
        assert not in_transaction(connection.connection.driver_connection)
    engine.dispose()


def test_unknown_arguments(conn, frame):
    for find in (frames.dedupe, frames.groups, frames.pairs):
        with pytest.raises(TypeError, match="no argument 'treshold'; shingles have analysis and k"):
            find(frame, treshold=0.5, conn=conn)
        with pytest.raises(TypeError, match=r"k is a whole number, not 2\.0"):
            find(frame, k=2.0, conn=conn)
        with pytest.raises(TypeError, match=r"threshold is a number, not '0\.8'"):
            find(frame, threshold="0.8", conn=conn)
        assert len(find(frame, function="minhash", size=64, k=numpy.int64(3), conn=conn))
    with pytest.raises(TypeError, match="no argument 'against'"):
        frames.groups(frame, against=frame, conn=conn)
    with pytest.raises(ValueError, match="for the newest, sort by the date, and keep the last"):
        frames.dedupe(frame, keep="newest", conn=conn)


def test_groups_have_the_index_of_their_frame(conn):
    frame = pandas.DataFrame({"body": BODIES}, index=list("gfedcba"))
    frame["group"] = frames.groups(frame, conn=conn).group
    assert frame.group.tolist() == [1, 2, 3, 1, 1, 4, 5]
    assert frames.groups(frame.body, conn=conn).index.tolist() == list("gfedcba")
    assert frames.groups(frame[:0], conn=conn).index.tolist() == []
    assert frames.pairs(frame, conn=conn).index.tolist() == [0, 1, 2]


def test_several_columns_and_scopes(conn):
    """Texts are joined, and compared where columns of any type are equal."""
    bodies = ["a b c", None, "a b c", "c d", "a b c"]
    columns = {"head": ["a b", "a b c", "a b", "a b", None], "body": bodies, "year": [1, 1, 2, 2, None]}
    for make in MAKE.values():
        frame = make(columns)
        assert rows(frames.dedupe(frame, text=["head", "body"], k=1, conn=conn))["body"] == ["a b c", "c d"]
        found = rows(frames.groups(frame, text=("head", "body"), within="year", k=1, conn=conn))
        assert found["representative"] == [0, 0, 2, 3, 4]
        found = rows(frames.pairs(frame, within=["year", "head"], conn=conn))
        assert found["a"] == []
        found = rows(frames.pairs(frame, within="year", against=frame, k=1, conn=conn))
        assert [p for p in zip(found["a"], found["b"], strict=True)] == [(0, 0), (2, 2), (3, 3), (4, 4)]
        with pytest.raises(LookupError, match="no column 'month'; the columns are head, body, year"):
            frames.dedupe(frame, within="month", conn=conn)
        with pytest.raises(TypeError, match=r"row 0: a text is needed, not (int|float)"):
            frames.dedupe(frame, text=["body", "year"], conn=conn)
    with pytest.raises(LookupError, match="against: there is no column 'head'; the columns are body"):
        frames.dedupe(frame, "head", against=frame.select(["body"]), conn=conn)
    numbered = pandas.DataFrame([["a b", 1], ["a b", 2]])
    assert len(frames.dedupe(numbered, 0, conn=conn)) == 1
    assert len(frames.dedupe(numbered, numbered.columns[:1], within=1, conn=conn)) == 2
    with pytest.raises(TypeError, match="a column is given by its name, not by "):
        frames.dedupe(polars.DataFrame(columns), polars.col("head"), conn=conn)
    with pytest.raises(TypeError, match="within names columns of a frame"):
        frames.dedupe(["a"], within="year", conn=conn)


def test_apart(conn, frame):
    """Verdicts as a list, or as a frame of pairs, with or without what was found the same."""
    assert rows(frames.groups(frame, apart=[(3, 0)], conn=conn))["representative"][:5] == [0, 1, 2, 3, 0]
    assert rows(frames.dedupe(frame, apart=[(0, 3), (4, 0), (3, 4)], conn=conn))["n"] == list(range(7))
    found = frames.pairs(frame, conn=conn)
    assert rows(frames.dedupe(frame, apart=found, conn=conn))["n"] == list(range(7))
    judged = {"a": [0, 0, 3], "b": [3, 4, 4], "same": [False, True, None]}
    for make in MAKE.values():
        assert rows(frames.dedupe(frame, apart=make(judged), conn=conn))["n"] == [0, 1, 2, 3, 5, 6]
    assert frames.dedupe(BODIES, apart=[], conn=conn) == frames.dedupe(BODIES, conn=conn)
    with pytest.raises(ValueError, match="apart: there is no row 7; rows are numbered from 0"):
        frames.dedupe(frame, apart=[(0, 7)], conn=conn)
    with pytest.raises(TypeError, match="apart: same is true or false, not 'no'"):
        frames.dedupe(frame, apart=pandas.DataFrame({"a": [0], "b": [3], "same": ["no"]}), conn=conn)


def test_bars_in_a_notebook(conn, monkeypatch, capsys):
    """Its output is no terminal, and a short run shows none."""
    import sys
    import time

    stream = type("OutStream", (), {"__module__": "ipykernel.iostream", "isatty": lambda self: False})
    shown = []
    stream.write, stream.flush = lambda self, text: shown.append(text), lambda self: None

    def slowly():
        yield "a"
        time.sleep(1.2)
        yield "b"

    monkeypatch.setattr(sys, "stderr", stream())
    frames.dedupe(["a"], conn=conn)
    assert shown == []
    with frames.Texts(conn, slowly(), total=2) as texts:
        texts.kept()
    assert re.search("copy: 100%.* 2/2 ", "".join(shown))


def test_vectors(conn):
    """Arrays, and columns of lists or arrays, are compared by their cosine; numpy is the oracle."""
    random = numpy.random.default_rng(5)
    centres = random.normal(size=(40, 24))
    vectors = (centres[random.integers(0, 40, 300)] + random.normal(size=(300, 24)) / 3).astype("f4")
    unit = vectors.astype("f8") / numpy.linalg.norm(vectors.astype("f8"), axis=1)[:, None]
    cosine = unit @ unit.T
    wanted = [(a, b) for a in range(300) for b in range(a + 1, 300) if cosine[a, b] >= 0.9]
    assert len(wanted) > 100
    kept = []
    for row in range(300):
        if not kept or cosine[row, kept].max() < 0.9:
            kept.append(row)
    for make in (
        numpy.asarray, lambda v: pandas.DataFrame({"v": list(v)}), lambda v: polars.DataFrame({"v": v}),
        lambda v: pyarrow.table({"v": v.tolist()}), lambda v: polars.Series(v.tolist()), lambda v: v.tolist(),
    ):  # fmt: skip
        given = make(vectors)
        found = frames.pairs(given, "v", 0.9, conn=conn)
        listed = [p[:2] for p in found] if isinstance(found, list) else rows(found)
        if isinstance(listed, dict):
            listed = list(zip(listed["a"], listed["b"], strict=True))
        assert listed == wanted
        rest = frames.dedupe(given, "v", 0.9, conn=conn)
        assert type(rest) is type(given)
        assert len(rest) == len(kept)
    for pair in frames.pairs(vectors, threshold=0.9, conn=conn):
        assert pair.similarity == pytest.approx(cosine[pair.a, pair.b], abs=1e-6)
    assert (frames.dedupe(vectors, threshold=0.9, conn=conn) == vectors[kept]).all()
    assert frames.groups(vectors, threshold=0.9, conn=conn)[kept[-1]].representative == kept[-1]
    found = frames.pairs(vectors[:9], threshold=0.9, against=vectors, conn=conn)
    assert [p[:2] for p in found] == [(a, b) for a in range(9) for b in range(300) if cosine[a, b] >= 0.9]
    frame = pandas.DataFrame({"v": [[1, 0], None, [2, 0], [1, 0]], "lang": ["a", "a", "b", "a"]})
    assert frames.dedupe(frame, "v", conn=conn).index.tolist() == [0, 1]
    assert frames.dedupe(frame, "v", within="lang", conn=conn).index.tolist() == [0, 1, 2]
    assert frames.groups(frame, "v", apart=[(0, 3)], conn=conn).representative.tolist() == [0, 1, 0, 3]


@pytest.mark.parametrize(
    ("given", "how", "message"),
    [
        ([[1, 2], [1, 2, 3]], {}, "row 1: 3 coordinates, and others have 2"),
        ([[1, float("nan")]], {}, "row 0: a coordinate is a finite number"),
        ([[1, 1e300]], {}, "row 0: a coordinate is a finite number of single precision"),
        ([["a"]], {}, "row 0: a coordinate is a finite number"),
        ([[]], {}, "row 0: a vector has one coordinate or more"),
        ([[1.0], "text"], {}, "row 1: a vector is needed, not str"),
        (["text", [1.0]], {}, "row 1: a text is needed, not list"),
        ([[1.0]], {"k": 2}, "vectors are compared by their cosine, without 'k'"),
        ([[1.0]], {"keep": "longest"}, "vectors have neither a length nor shingles"),
        ([[1.0]], {"against": [[1.0]], "contained": 0.5}, "vectors have neither a length nor shingles"),
    ],
)
def test_bad_vectors(conn, given, how, message):
    with pytest.raises((TypeError, ValueError), match=message):
        frames.dedupe(given, conn=conn, **how)


def test_arrays_of_texts(conn):
    for kind in (object, "U"):
        found = frames.dedupe(numpy.array([TEXTS[0], LONG, TEXTS[1]], dtype=kind), conn=conn)
        assert found.tolist() == [TEXTS[0], TEXTS[1]]
