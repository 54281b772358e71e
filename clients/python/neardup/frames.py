"""Frames, columns and lists without near-duplicates, their groups, their pairs."""

from typing import Any, TypeVar, overload

from neardup.rows import Group, Pair, rows_of
from neardup.texts import Against, Texts

F = TypeVar("F")


def _against(given: Any, text: str, contained: float | None) -> Against | None:
    """Return what is compared with, if anything is."""
    if given is None and contained is not None:
        raise ValueError("contained says how texts are compared with those of against: name it")
    return None if given is None else Against(rows_of(given, text).texts(), contained)


def dedupe(
    frame: F,
    text: str = "body",
    threshold: float = 0.8,
    keep: str = "first",
    *,
    against: Any = None,
    contained: float | None = None,
    conn: Any = None,
    progress: bool | None = None,
    **how: Any,
) -> F:
    """Return the frame, column or list without near-duplicates.

    The first, last, longest or shortest of near-duplicates is kept.  Rows that are near a row
    of ``against``, a second frame or list, are left out, too; with ``contained`` those that have
    this share of the shingles of such a text, a test question within a training text.

    ``conn`` is a connection of psycopg, psycopg2 or pg8000.dbapi, an engine, connection or session
    of SQLAlchemy, or a DSN, to a database with the extension; without it a private server runs
    meanwhile.  Further arguments say how signatures are made: analysis="english", k=2.
    """
    rows = rows_of(frame, text)
    other = _against(against, text, contained)
    with Texts(conn, rows.texts(), threshold, keep, progress, len(rows), other, **how) as texts:
        mask = texts.kept()
    kept: F = rows.kept(mask)
    return kept


@overload
def groups(
    frame: list[Any], text: str = ..., threshold: float = ..., keep: str = ..., **how: Any
) -> list[Group]: ...
@overload
def groups(
    frame: Any, text: str = ..., threshold: float = ..., keep: str = ..., **how: Any
) -> Any: ...
def groups(
    frame: Any,
    text: str = "body",
    threshold: float = 0.8,
    keep: str = "first",
    *,
    conn: Any = None,
    progress: bool | None = None,
    **how: Any,
) -> Any:
    """Return a frame with a row for each row: its number, group, representative and similarity.

    Rows are numbered from 0; keep says which row of a group is its representative.  A list has
    a list of ``Group``.
    """
    rows = rows_of(frame, text)
    with Texts(conn, rows.texts(), threshold, keep, progress, len(rows), **how) as texts:
        found = texts.groups()
    return rows.table(Group, found)


@overload
def pairs(frame: list[Any], text: str = ..., threshold: float = ..., **how: Any) -> list[Pair]: ...
@overload
def pairs(frame: Any, text: str = ..., threshold: float = ..., **how: Any) -> Any: ...
def pairs(
    frame: Any,
    text: str = "body",
    threshold: float = 0.8,
    *,
    against: Any = None,
    contained: float | None = None,
    conn: Any = None,
    progress: bool | None = None,
    **how: Any,
) -> Any:
    """Return a frame of all pairs of near-duplicates, by their row numbers from 0, a < b.

    With ``against`` b is a row of that second frame or list; with ``contained`` the similarity is
    the share of b's shingles that a has, at least that.
    """
    rows = rows_of(frame, text)
    other = _against(against, text, contained)
    with Texts(conn, rows.texts(), threshold, "first", progress, len(rows), other, **how) as texts:
        found = texts.pairs()
    return rows.table(Pair, found)
