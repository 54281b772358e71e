"""``INSTALLED_APPS = ["neardup.django", ...]``: errors with keys, and a type for inspectdb."""

from typing import Any

from django.apps import AppConfig
from django.db import IntegrityError
from django.db.backends.signals import connection_created

from neardup import near_duplicate_error, sql
from neardup.errors import server_fields


class NeardupConfig(AppConfig):
    name = "neardup.django"
    label = "neardup"

    def ready(self) -> None:
        connection_created.connect(prepare, dispatch_uid="neardup")


class _Types(dict[int, Any]):
    """Types of columns as inspectdb has them; that of neardup is looked up at the first use."""

    def __init__(self, connection: Any) -> None:
        super().__init__(connection.introspection.data_types_reverse)
        self.connection = connection

    def __missing__(self, oid: int) -> str:
        with self.connection.cursor() as cursor:
            cursor.execute(sql.TYPE_OIDS)
            row = cursor.fetchone()
        if row is None or row[0] != oid:
            raise KeyError(oid)
        return "neardup.django.SignatureField"


def prepare(connection: Any, **_kw: Any) -> None:
    """Prepare a connection that has just been opened."""
    if connection.vendor != "postgresql":
        return
    if not isinstance(connection.introspection.data_types_reverse, _Types):
        connection.introspection.data_types_reverse = _Types(connection)
    if raise_near_duplicate not in connection.execute_wrappers:
        connection.execute_wrappers.append(raise_near_duplicate)


def raise_near_duplicate(execute: Any, statement: Any, params: Any, many: Any, context: Any) -> Any:
    """Let a statement raise NearDuplicateError in place of Django's IntegrityError."""
    from neardup.django import NearDuplicateError  # needs apps that are ready

    try:
        return execute(statement, params, many, context)
    except IntegrityError as error:
        if near_duplicate_error(error) is None:
            raise
        fields = server_fields(error) or {}
        found = NearDuplicateError(*error.args)
        found.describe(fields)
        raise found from error.__cause__
