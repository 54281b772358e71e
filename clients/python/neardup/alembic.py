"""Alembic: autogenerate finds guards; ``include_object`` leaves neardup's own tables alone.

In ``env.py``::

    import neardup.alembic
    context.configure(..., include_object=neardup.alembic.include_object)
"""

from collections.abc import Iterable
from typing import Any

from alembic.autogenerate import comparators, renderers
from alembic.autogenerate.api import AutogenContext
from alembic.operations import MigrateOperation, Operations
from alembic.operations.ops import DropTableOp, UpgradeOps
from sqlalchemy import Column, MetaData, Table, text

from neardup import sql
from neardup.sqlalchemy import GUARDS, CreateGuard, DropGuard, Signature

try:  # from 1.18 on the order is said; before it was that of registration
    from alembic.util.langhelpers import DispatchPriority

    AFTER_TABLES: dict[str, Any] = {"priority": DispatchPriority.LAST}
except ImportError:
    AFTER_TABLES = {}


def include_object(
    obj: Any, name: str | None, type_: str, reflected: bool, compare_to: Any
) -> bool:
    """Leave out the tables that no model declares: of the extension, and of kept groups."""
    if type_ != "table" or not reflected or compare_to is not None:
        return True
    return name not in sql.OWN_TABLES and not sql.GROUPS_COMMENT.match(obj.comment or "")


class _GuardOp(MigrateOperation):
    def __init__(self, table: str, guard: sql.Guard, schema: str | None = None) -> None:
        self.table, self.guard, self.schema = table, guard, schema

    @property
    def on(self) -> Table:
        return Table(self.table, MetaData(), schema=self.schema)

    def to_diff_tuple(self) -> tuple[Any, ...]:
        return (type(self).__name__, self.schema, self.table, self.guard)

    @classmethod
    def _of(
        cls, operations: Operations, table: str, column: str, threshold: float = 0.8,
        *, schema: str | None = None, **options: Any,
    ) -> Any:  # fmt: skip
        options["scope"] = tuple(options.get("scope", ()))
        return operations.invoke(cls(table, sql.Guard(column, threshold, **options), schema))


@Operations.register_operation("create_guard")
class CreateGuardOp(_GuardOp):
    """``op.create_guard("docs", "sig", 0.8, mode="skip", scope=["tenant"], name="...")``"""

    def reverse(self) -> "DropGuardOp":
        return DropGuardOp(self.table, self.guard, self.schema)

    @classmethod
    def create_guard(cls, operations: Operations, *args: Any, **options: Any) -> Any:
        """Create a guard, or in mode exclude an exclusion constraint."""
        return cls._of(operations, *args, **options)


@Operations.register_operation("drop_guard")
class DropGuardOp(_GuardOp):
    """The same arguments: they are needed to go back."""

    def reverse(self) -> CreateGuardOp:
        return CreateGuardOp(self.table, self.guard, self.schema)

    @classmethod
    def drop_guard(cls, operations: Operations, *args: Any, **options: Any) -> Any:
        """Drop a guard or an exclusion constraint."""
        return cls._of(operations, *args, **options)


@Operations.implementation_for(CreateGuardOp)
def _create(operations: Operations, operation: CreateGuardOp) -> None:
    operations.execute(CreateGuard(operation.guard, operation.on))


@Operations.implementation_for(DropGuardOp)
def _drop(operations: Operations, operation: DropGuardOp) -> None:
    operations.execute(DropGuard(operation.guard, operation.on))


def _render(function: str, operation: _GuardOp) -> str:
    guard = operation.guard
    parts = [repr(operation.table), repr(guard.column), repr(guard.threshold)]
    given = {
        "mode": guard.mode if guard.mode != "reject" else None,
        "scope": list(guard.scope),
        "tag": guard.tag,
        "name": guard.name,
        "deferred": guard.deferred,
        "condition": guard.condition,
        "schema": operation.schema,
    }
    parts += [f"{name}={value!r}" for name, value in given.items() if value]
    return f"op.{function}({', '.join(parts)})"


@renderers.dispatch_for(CreateGuardOp)
def _render_create(context: AutogenContext, operation: CreateGuardOp) -> str:
    context.imports.add("import neardup.alembic")
    return _render("create_guard", operation)


@renderers.dispatch_for(DropGuardOp)
def _render_drop(context: AutogenContext, operation: DropGuardOp) -> str:
    context.imports.add("import neardup.alembic")
    return _render("drop_guard", operation)


def _has_signature(table: Table) -> bool:
    columns: Iterable[Column[Any]] = table.columns
    return any(isinstance(column.type, Signature) for column in columns)


@comparators.dispatch_for("schema", **AFTER_TABLES)
def _compare(context: AutogenContext, upgrade: UpgradeOps, schemas: Any) -> None:
    """Add what is needed to come from the guards of the database to those of the models."""
    connection, metadata = context.connection, context.metadata
    if connection is None or connection.dialect.name != "postgresql":
        return
    declared: Any = metadata if isinstance(metadata, (list, tuple)) else [metadata]
    for one in declared:
        tables: list[Table] = [] if one is None else list(one.sorted_tables)
        if any(_has_signature(table) for table in tables):
            context.imports.add("import neardup.sqlalchemy")
        for table in tables:
            _compare_table(upgrade, connection, table.name, table.schema, GUARDS.get(table, []))
    for operation in list(upgrade.ops):
        if isinstance(operation, DropTableOp):
            _compare_table(upgrade, connection, operation.table_name, operation.schema, [])


def _compare_table(
    upgrade: UpgradeOps, connection: Any, table: str, schema: str | None, wanted: list[sql.Guard]
) -> None:
    name = ".".join(sql.quoted(part) for part in (schema, table) if part)
    query = text(sql.TABLE_GUARDS.format(table=":name").replace("::", r"\:\:"))
    present = sql.read_guards(connection.execute(query, {"name": name}))
    # first what goes, as its columns may go, and last what comes, as it needs its index
    for guard in present:
        if guard not in wanted:
            upgrade.ops.insert(0, DropGuardOp(table, guard, schema))
    for guard in wanted:
        if guard not in present:
            upgrade.ops.append(CreateGuardOp(table, guard, schema))
