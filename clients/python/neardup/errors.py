"""The error of a row that a guard or an exclusion constraint rejects."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

EXCLUSION_VIOLATION = "23P01"
COLUMNS = r"\((?:[^()]|\([^()]*\))*\)"
THERE = re.compile(
    rf"^Row {COLUMNS}=\((?P<key>.*?)\)(?= of |, in partition| is already there| has similarity)",
    re.DOTALL,
)
NEW = re.compile(rf" to row {COLUMNS}=\((?P<key>.*?)\), the threshold is", re.DOTALL)
SIMILARITY = re.compile(r" similarity (?P<value>[\d.eE+-]+)(?: to row |, the threshold)")


class NearDuplicateError(Exception):
    """A row was rejected because a near-duplicate of it is there already.

    ``key`` is the primary key of the row that is there, as text (null if the role may
    not read it, or if the constraint is an exclusion constraint, whose error has no
    key), ``similarity`` how similar the two are, ``new_key`` the key of the new row,
    ``constraint`` and ``table`` what rejected it.  The driver's exception is ``__cause__``.
    """

    key: str | None = None
    new_key: str | None = None
    similarity: float | None = None
    constraint: str | None = None
    table: str | None = None
    server_detail: str | None = None

    def describe(self, fields: dict[str, str | None]) -> "NearDuplicateError":
        """Take over the fields of the server's message."""
        self.constraint, self.table = fields.get("constraint"), fields.get("table")
        self.server_detail = fields.get("detail")
        there, new, similar = (p.search(self.server_detail or "") for p in (THERE, NEW, SIMILARITY))
        self.key = there["key"] if there else None
        self.new_key = new["key"] if new else None
        self.similarity = float(similar["value"]) if similar else None
        return self


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, what it wraps and what caused it: SQLAlchemy's orig, Django's cause."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = getattr(error, "orig", None) or error.__cause__


def server_fields(error: BaseException) -> dict[str, str | None] | None:
    """Return state, message, detail, constraint and table of a driver's exception.

    It may be one of psycopg, psycopg2, asyncpg or pg8000, also as SQLAlchemy or Django wrap
    it; None if there is none of these in it.
    """
    for cause in _causes(error):
        diag = getattr(cause, "diag", None)
        state = getattr(cause, "sqlstate", None)
        first: Any = cause.args[0] if cause.args else None
        if diag is not None and diag.sqlstate:
            return {
                "state": diag.sqlstate,
                "message": diag.message_primary,
                "detail": diag.message_detail,
                "constraint": diag.constraint_name,
                "table": diag.table_name,
            }
        if isinstance(state, str) and hasattr(cause, "constraint_name"):
            names = ("message", "detail", "constraint_name", "table_name")
            values = [getattr(cause, name, None) for name in names]
            fields = ("message", "detail", "constraint", "table")
            return {"state": state, **dict(zip(fields, values, strict=True))}
        if isinstance(first, dict) and "C" in first:
            letters = {"state": "C", "message": "M", "detail": "D", "constraint": "n", "table": "t"}
            return {name: first.get(letter) for name, letter in letters.items()}
    return None


def near_duplicate_error(
    error: BaseException, kind: type[NearDuplicateError] = NearDuplicateError
) -> NearDuplicateError | None:
    """Return what a driver's exception says of a near-duplicate; None if it says nothing of one."""
    fields = server_fields(error)
    if fields is None or fields["state"] != EXCLUSION_VIOLATION:
        return None
    detail = fields["detail"] or ""
    if "similarity" not in detail and "signature_query" not in detail:
        return None
    return kind(fields["message"]).describe(fields)


@contextmanager
def raises_near_duplicates() -> Iterator[None]:
    """Raise NearDuplicateError where the block is left by a driver's exception for one."""
    try:
        yield
    except NearDuplicateError:
        raise
    except Exception as error:
        found = near_duplicate_error(error)
        if found is None:
            raise
        raise found from error
