"""psycopg2: ``register(conn)``, and rows have ``Signature`` values."""

from typing import Any

from psycopg2 import ProgrammingError, extensions

from neardup.signature import Signature
from neardup.sql import MISSING, TYPE_OIDS, literal


class _Adapter:
    def __init__(self, value: Signature) -> None:
        self.value = value

    def getquoted(self) -> bytes:
        return literal(str(self.value)).encode()


def _cast(value: str | None, _cursor: Any) -> Signature | None:
    return None if value is None else Signature(value)


def register(conn: Any) -> None:
    """Teach a connection (or that of a cursor) the type signature."""
    connection = getattr(conn, "connection", conn)
    with connection.cursor() as cursor:
        cursor.execute(TYPE_OIDS)
        row = cursor.fetchone()
    if row is None:
        raise ProgrammingError(MISSING)
    oid, array_oid, _ = row
    one = extensions.new_type((oid,), "signature", _cast)
    extensions.register_type(one, connection)
    many = extensions.new_array_type((array_oid,), "signature[]", one)
    extensions.register_type(many, connection)
    extensions.register_adapter(Signature, _Adapter)
