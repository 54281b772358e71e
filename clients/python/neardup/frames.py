"""Frames, columns and lists without near-duplicates, their groups, their pairs."""

from collections.abc import Sequence
from typing import Any, TypeVar, overload

from neardup.rows import Group, Pair, Rows, pairs_of, rows_of
from neardup.session import Server
from neardup.sql import Maker
from neardup.texts import Against, Texts

__all__ = ["Group", "Pair", "Server", "dedupe", "groups", "pairs"]
F = TypeVar("F")
Names = str | Sequence[str]


def _against(given: Any, text: Names, within: Names, contained: float | None) -> Against | None:
    """Return what is compared with, if anything is."""
    if given is None and contained is not None:
        raise ValueError("contained says how texts are compared with those of against: name it")
    if given is None:
        return None
    try:
        rows = rows_of(given, text, within)
    except LookupError as error:
        raise LookupError(f"against: {error}") from None
    return Against(rows.texts(), contained)


def dedupe(
    frame: F,
    text: Names = "body",
    threshold: float = 0.8,
    keep: str = "first",
    *,
    within: Names = (),
    against: Any = None,
    contained: float | None = None,
    apart: Any = None,
    conn: Any = None,
    progress: bool | None = None,
    **how: Any,
) -> F:
    """Return the frame, column, list or array without near-duplicates.

    The first, last, longest or shortest of near-duplicates is kept.  Texts of several columns are
    joined; only rows that are equal in the columns of ``within`` are compared.  Rows that are near
    a row of ``against``, a second frame or list, are left out, too; with ``contained`` those that
    have this share of the shingles of such a text, a test question within a training text.
    ``apart`` has pairs of rows, by their numbers from 0, that are not the same: a list, or a frame
    with columns a and b.  Where rows have vectors instead of texts, such as embeddings, these are
    compared by their cosine.

    ``conn`` is a connection of psycopg, psycopg2 or pg8000.dbapi, an engine, connection or session
    of SQLAlchemy, or a DSN, to a database with the extension, or a ``Server``; without it a private
    server runs meanwhile.  Further arguments say how signatures are made: analysis="english", k=2.
    """
    rows = rows_of(frame, text, within)
    other = _against(against, text, within, contained)
    with _texts(rows, threshold, keep, other, apart, conn, progress, how) as texts:
        mask = texts.kept()
    kept: F = rows.kept(mask)
    return kept


def _texts(
    rows: Rows,
    threshold: float,
    keep: str,
    other: Against | None,
    apart: Any,
    conn: Any,
    progress: bool | None,
    how: dict[str, Any],
) -> Texts:
    """Return the texts or vectors of rows, and how they are compared."""
    if rows.are_vectors():
        if how:
            raise TypeError(f"vectors are compared by their cosine, without {next(iter(how))!r}")
        how = {"function": "dense"}
    pairs = None if apart is None else pairs_of(apart, rows)
    texts = Texts(
        conn,
        rows.texts(),
        threshold,
        keep,
        progress,
        len(rows),
        other,
        None if pairs is None else lambda: pairs,
        Maker.of(**how),
    )
    texts.scoped = bool(rows.within)
    return texts


@overload
def groups(
    frame: list[Any], text: Names = ..., threshold: float = ..., keep: str = ..., **how: Any
) -> list[Group]: ...
@overload
def groups(
    frame: Any, text: Names = ..., threshold: float = ..., keep: str = ..., **how: Any
) -> Any: ...
def groups(
    frame: Any,
    text: Names = "body",
    threshold: float = 0.8,
    keep: str = "first",
    *,
    within: Names = (),
    apart: Any = None,
    conn: Any = None,
    progress: bool | None = None,
    **how: Any,
) -> Any:
    """Return a frame with a row for each row: its number, group, representative and similarity.

    Rows are numbered from 0; keep says which row of a group is its representative.  A frame of
    pandas has the index of the frame that is given, a list has a list of ``Group``.
    """
    rows = rows_of(frame, text, within)
    with _texts(rows, threshold, keep, None, apart, conn, progress, how) as texts:
        found = texts.groups()
    return rows.table(Group, found)


@overload
def pairs(
    frame: list[Any], text: Names = ..., threshold: float = ..., **how: Any
) -> list[Pair]: ...
@overload
def pairs(frame: Any, text: Names = ..., threshold: float = ..., **how: Any) -> Any: ...
def pairs(
    frame: Any,
    text: Names = "body",
    threshold: float = 0.8,
    *,
    within: Names = (),
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
    rows = rows_of(frame, text, within)
    other = _against(against, text, within, contained)
    with _texts(rows, threshold, "first", other, None, conn, progress, how) as texts:
        found = texts.pairs()
    return rows.table(Pair, found)
