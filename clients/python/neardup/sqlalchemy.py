"""SQLAlchemy 2: the type, a computed column, comparators, and the guard as a part of a table."""

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Computed,
    Engine,
    Float,
    Function,
    MetaData,
    Table,
    bindparam,
    event,
    exc,
    literal_column,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import MappedColumn, mapped_column
from sqlalchemy.schema import ExecutableDDLElement, SchemaItem
from sqlalchemy.sql.expression import ColumnElement
from sqlalchemy.types import UserDefinedType

import neardup
from neardup import sql
from neardup.errors import near_duplicate_error, server_fields

# Guards by table.  Not in Table.info, which Alembic writes into migrations as it is.
GUARDS: WeakKeyDictionary[Table, list[sql.Guard]] = WeakKeyDictionary()


class Signature(UserDefinedType[neardup.Signature]):
    """The type ``signature``.

    With a maker, the function that computes the column, the comparators take a text, too.
    """

    cache_ok = True

    def __init__(self, maker: sql.Maker | None = None) -> None:
        self.maker = maker

    def __repr__(self) -> str:
        return "Signature()"

    def get_col_spec(self, **_kw: Any) -> str:
        return "signature"

    @property
    def python_type(self) -> type[neardup.Signature]:
        return neardup.Signature

    def bind_processor(self, dialect: Any) -> Callable[[Any], str | None]:
        return lambda value: None if value is None else str(value)

    def result_processor(self, dialect: Any, coltype: Any) -> Callable[[Any], Any]:
        return lambda value: None if value is None else neardup.Signature(value)

    class comparator_factory(UserDefinedType.Comparator[neardup.Signature]):
        """Comparisons with another column, a ``neardup.Signature`` or a text."""

        def near(
            self, other: Any, threshold: float = 0.8, measure: str = "jaccard"
        ) -> ColumnElement[bool]:
            """Whether the two reach the threshold; an index and the join serve it."""
            arguments: list[Any] = [self._side(other), threshold]
            if measure != "jaccard":
                arguments.append(measure)
            return Function("near_duplicate", self.expr, *arguments, type_=Boolean())

        def contained_in(self, other: Any, threshold: float = 0.8) -> ColumnElement[bool]:
            """Whether so much of it is in the other."""
            return Function(
                "contained_in", self.expr, self._side(other), threshold, type_=Boolean()
            )

        def distance(self, other: Any) -> ColumnElement[float]:
            """1 - similarity, to order by: an index of access method neardup gives the nearest."""
            return self.expr.op("<->", return_type=Float())(self._side(other))

        def similarity(self, other: Any) -> ColumnElement[float]:
            """The resemblance of the two."""
            return Function("similarity", self.expr, self._side(other), type_=Float())

        def containment(self, other: Any) -> ColumnElement[float]:
            """How much of it is in the other."""
            return Function("containment", self.expr, self._side(other), type_=Float())

        def intersection_size(self, other: Any) -> ColumnElement[int]:
            """Number of features that both have."""
            return Function("intersection_size", self.expr, self._side(other), type_=BigInteger())

        def _side(self, other: Any) -> Any:
            if isinstance(other, neardup.Signature):
                return bindparam(None, other, type_=Signature(), unique=True)
            maker = getattr(self.type, "maker", None)
            if not isinstance(other, str):
                return other
            if maker is None:
                raise exc.ArgumentError(
                    "a text cannot be compared with a signature column that does not say how it"
                    " is made: compare with signature(text, ...), or declare signature_column()"
                )
            return call(maker, other)


ischema_names["signature"] = Signature


def call(maker: sql.Maker, doc: Any) -> ColumnElement[neardup.Signature]:
    """Call the maker's function with a document: a text or a column."""
    named = [f"{name} => {sql.literal(value)}" for name, value in maker.arguments]
    named += [f"analysis => {sql.literal(maker.analysis)}::text"] if maker.analysis else []
    return Function(maker.function, doc, *map(literal_column, named), type_=Signature(maker))


def signature(
    doc: Any, analysis: str = "", function: str = "shingles", **arguments: Any
) -> ColumnElement[neardup.Signature]:
    """The signature of a text or a column: ``signature(text, "english", k=5)``."""
    return call(sql.Maker.of(analysis, function, **arguments), doc)


def signature_column(
    source: str,
    analysis: str = "",
    function: str = "shingles",
    *,
    deferred: bool = True,
    name: str | None = None,
    **arguments: Any,
) -> MappedColumn[neardup.Signature]:
    """A stored generated column with the signature of a text column.

    It is deferred: queries do not fetch it unless they ask.  In Core take
    ``signature_column("body", name="sig").column``.
    """
    maker = sql.Maker.of(analysis, function, **arguments)
    computed = Computed(maker.sql(sql.identifier(source)), persisted=True)
    column_type = Signature(maker)
    if name is None:
        return mapped_column(column_type, computed, deferred=deferred)
    return mapped_column(name, column_type, computed, deferred=deferred)


class Guard(SchemaItem):
    """A guard of a table, created and dropped with it: in ``__table_args__`` or in ``Table()``.

    mode is reject, skip, tag, warn or exclude; the last one is an exclusion constraint.
    """

    __visit_name__ = "neardup_guard"

    def __init__(
        self,
        column: "str | Column[Any]",
        threshold: float = 0.8,
        mode: str = "reject",
        scope: Sequence["str | Column[Any]"] = (),
        *,
        tag: "str | Column[Any] | None" = None,
        name: str = "no_near_duplicates",
        deferred: bool = False,
        condition: str | None = None,
        measure: str = "jaccard",
    ) -> None:
        self.guard = sql.Guard(
            _name(column),
            threshold,
            mode,
            tuple(_name(c) for c in scope),
            None if tag is None else _name(tag),
            name,
            deferred,
            condition,
            measure,
        )

    def _set_parent(self, parent: Any, **_kw: Any) -> None:
        GUARDS.setdefault(parent, []).append(self.guard)
        created = CreateGuard(self.guard, parent).execute_if(dialect="postgresql")
        event.listen(parent, "after_create", created)


def kept_groups(source: Any, name: str, threshold: float = 0.8, **options: Any) -> Table:
    """A table of groups that follows a table, made and dropped with it, and only read.

    ``source`` is a mapped class or a table with one key.  The table has the columns id,
    representative and similarity, and metadata of its own, so that it can be the
    ``__table__`` of a class.  Options are column, measure, rule, scope, refresh.
    """
    table: Table = getattr(source, "__table__", source)
    (key,) = table.primary_key.columns
    if "scope" in options:
        options["scope"] = tuple(_name(c) for c in options["scope"])
    groups = sql.KeptGroups(name, str(key.name), threshold=threshold, **options)
    preparer: Any = postgresql.dialect()  # type: ignore[no-untyped-call]
    quoted = preparer.identifier_preparer.format_table(table).replace("%%", "%")
    create, drop = groups.create(quoted), groups.drop()
    for when, statement in (("after_create", create), ("before_drop", drop)):
        ddl: Any = DDL(statement.replace("%", "%%"))  # type: ignore[no-untyped-call]
        ddl = ddl.execute_if(dialect="postgresql")
        event.listen(table, when, ddl)
    return Table(
        name,
        MetaData(),
        Column("id", key.type, primary_key=True),
        Column("representative", key.type, nullable=False),
        Column("similarity", Float()),
        info={"neardup": groups},
    )


def refresh_groups(connection: Any, groups: Any) -> None:
    """Group the rows that changed: of a table or class of kept_groups()."""
    kept = getattr(groups, "__table__", groups).info["neardup"]
    connection.execute(text(kept.refresh_now()))


def _name(column: "str | Column[Any]") -> str:
    return column if isinstance(column, str) else str(column.name)


class CreateGuard(ExecutableDDLElement):
    """CREATE TRIGGER, or ALTER TABLE ... ADD CONSTRAINT in mode exclude."""

    def __init__(self, guard: sql.Guard, table: Table) -> None:
        self.guard, self.table = guard, table


class DropGuard(CreateGuard):
    """DROP TRIGGER, or ALTER TABLE ... DROP CONSTRAINT in mode exclude."""


@compiles(CreateGuard)
def _create(element: CreateGuard, compiler: Any, **_kw: Any) -> str:
    return _written(element.guard.create("\0"), element.table, compiler)


@compiles(DropGuard)
def _drop(element: DropGuard, compiler: Any, **_kw: Any) -> str:
    return _written(element.guard.drop("\0"), element.table, compiler)


def _written(statement: str, table: Table, compiler: Any) -> str:
    """Write a statement for the driver, which wants percent signs twice, as the table has them."""
    processed = str(compiler.sql_compiler.post_process_text(statement))
    return processed.replace("\0", compiler.preparer.format_table(table))


class NearDuplicateError(neardup.NearDuplicateError, exc.IntegrityError):
    """The IntegrityError of a near-duplicate, with the key of the row that is there."""


def raise_near_duplicates(engine: Engine) -> None:
    """Let an engine raise NearDuplicateError; of an AsyncEngine give ``engine.sync_engine``."""

    @event.listens_for(engine, "handle_error")
    def translate(context: Any) -> NearDuplicateError | None:
        original = context.original_exception
        if near_duplicate_error(original) is None:
            return None
        error = NearDuplicateError(context.statement, context.parameters, original)
        error.describe(server_fields(original) or {})
        return error
