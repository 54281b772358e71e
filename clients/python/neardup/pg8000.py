"""pg8000: ``register(conn)``, and rows have ``Signature`` values."""

import re
from typing import Any

from pg8000.dbapi import ProgrammingError

from neardup.signature import Signature
from neardup.sql import MISSING, TYPE_OIDS

ELEMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|(NULL)')


def _array(value: str) -> list[Signature | None]:
    """Read an array of one dimension; the text of every signature is in quotes there."""
    return [None if null else Signature(text) for text, null in ELEMENT.findall(value)]


def register(conn: Any) -> None:
    """Teach a connection, of pg8000.native or pg8000.dbapi, the type signature."""
    if hasattr(conn, "cursor"):
        cursor = conn.cursor()
        cursor.execute(TYPE_OIDS)
        rows = cursor.fetchall()
    else:
        rows = conn.run(TYPE_OIDS)
    if not rows:
        raise ProgrammingError(MISSING)
    oid, array_oid, _ = rows[0]
    conn.register_out_adapter(Signature, str)
    conn.register_in_adapter(oid, Signature)
    conn.register_in_adapter(array_oid, _array)
