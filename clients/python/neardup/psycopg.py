"""psycopg 3: ``register(conn)``, and rows have ``Signature`` values, in text and in binary."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, overload

from psycopg import AsyncConnection, Connection, errors
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from neardup.signature import Signature
from neardup.sql import MISSING, TYPE_OIDS

if TYPE_CHECKING:
    from psycopg.abc import AdaptContext, Buffer


class TextLoader(Loader):
    def load(self, data: "Buffer") -> Signature:
        return Signature(bytes(data).decode())


class BinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: "Buffer") -> Signature:
        return Signature(data)


class TextDumper(Dumper):
    def dump(self, obj: Any) -> bytes:
        return str(obj).encode()


class BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        return bytes(obj)


def _register(context: "AdaptContext", row: Any) -> None:
    if row is None:
        raise errors.UndefinedObject(MISSING)
    oid, array_oid, _ = row
    adapters = context.adapters
    TypeInfo("signature", oid, array_oid).register(context)
    # classes of their own, as their oid is that of this database
    for dumper in (TextDumper, BinaryDumper):
        adapters.register_dumper(Signature, type(dumper.__name__, (dumper,), {"oid": oid}))
    for loader in (TextLoader, BinaryLoader):
        adapters.register_loader(oid, loader)


@overload
def register(conn: "Connection[Any]") -> None: ...
@overload
def register(conn: "AsyncConnection[Any]") -> Awaitable[None]: ...
def register(conn: "Connection[Any] | AsyncConnection[Any]") -> Awaitable[None] | None:
    """Teach a connection the type signature; of an AsyncConnection the result is awaited."""
    if isinstance(conn, AsyncConnection):
        return _register_async(conn)
    with conn.transaction():  # none is left open: a pool would not take the connection
        row = conn.execute(TYPE_OIDS).fetchone()
    _register(conn, row)
    return None


async def _register_async(conn: "AsyncConnection[Any]") -> None:
    async with conn.transaction():
        row = await (await conn.execute(TYPE_OIDS)).fetchone()
    _register(conn, row)
