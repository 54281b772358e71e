"""asyncpg: ``await register(conn)``, and rows have ``Signature`` values, sent in binary."""

from typing import Any

from asyncpg.exceptions import UndefinedObjectError

from neardup.signature import Signature
from neardup.sql import MISSING, TYPE_OIDS


async def register(conn: Any) -> None:
    """Teach a connection the type signature; a pool takes it as ``init=register``."""
    row = await conn.fetchrow(TYPE_OIDS)
    if row is None:
        raise UndefinedObjectError(MISSING)
    await conn.set_type_codec(
        "signature", schema=row["nspname"], encoder=_encode, decoder=Signature, format="binary"
    )


def _encode(value: "Signature | str") -> bytes:
    return bytes(Signature(value))
