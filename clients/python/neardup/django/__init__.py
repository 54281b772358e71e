"""Django 5: a generated field, lookups, annotations, an index, a constraint, the extension."""

from typing import Any

from django.contrib.postgres.indexes import PostgresIndex
from django.contrib.postgres.operations import CreateExtension
from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, IntegrityError, models
from django.db.backends.ddl_references import Statement, Table
from django.db.migrations.operations.base import Operation
from django.db.models import BaseConstraint, F, Func, GeneratedField, Lookup, Value

import neardup
from neardup import sql


class NearDuplicateError(neardup.NearDuplicateError, IntegrityError):
    """The IntegrityError of a near-duplicate, with the key of the row that is there.

    It is raised where "neardup.django" is in INSTALLED_APPS.
    """


class NeardupExtension(CreateExtension):
    """The migration operation that creates the extension."""

    def __init__(self, hints: Any = None) -> None:
        try:
            super().__init__("neardup", hints=hints)
        except TypeError:  # before Django 5.2
            super().__init__("neardup")


class StoredSignatureField(models.Field):
    """A signature that the program stores by itself."""

    description = "the signature of a text"

    def db_type(self, connection: Any) -> str:
        return "signature"

    def from_db_value(self, value: Any, *_args: Any) -> neardup.Signature | None:
        return None if value is None else neardup.Signature(value)

    def to_python(self, value: Any) -> neardup.Signature | None:
        return None if value is None else neardup.Signature(value)

    def get_prep_value(self, value: Any) -> Any:
        value = super().get_prep_value(value)
        return str(value) if isinstance(value, neardup.Signature) else value


SHINGLES = sql.Maker()


class MakeSignature(Func):
    """The signature of an expression: ``MakeSignature(F("body"), Maker.of("english"))``."""

    output_field = StoredSignatureField()

    def __init__(self, doc: Any, maker: sql.Maker = SHINGLES, **extra: Any) -> None:
        super().__init__(doc, **extra)
        self.maker = maker

    def as_sql(self, compiler: Any, connection: Any, **_extra: Any) -> tuple[str, Any]:
        doc, params = compiler.compile(self.source_expressions[0])
        if isinstance(self.source_expressions[0], Value):
            doc += "::text"
        return self.maker.sql(doc), params


class SignatureField(GeneratedField):
    """A stored generated column with the signature of another field.

    Without a source it stands for a column that the database has anyhow, as in what
    inspectdb writes.  ``save()`` does not read it; a SignatureManager never does.
    """

    db_returning = False

    def __init__(
        self,
        source: str | None = None,
        analysis: str = "",
        function: str = "shingles",
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.given = (source, analysis, function, arguments or {})
        self.maker = sql.Maker.of(analysis, function, **(arguments or {}))
        kwargs.setdefault("null", True)
        kwargs["serialize"] = False  # dumpdata leaves it out: the database computes it again
        super().__init__(
            expression=MakeSignature(F(source) if source else Value(None), self.maker),
            output_field=StoredSignatureField(),
            db_persist=True,
            **kwargs,
        )

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, path, args, kwargs = super().deconstruct()
        for key in ("expression", "output_field", "db_persist", "null", "serialize"):
            kwargs.pop(key, None)
        defaults: tuple[Any, ...] = (None, "", "shingles", {})
        names = ("source", "analysis", "function", "arguments")
        for key, value, default in zip(names, self.given, defaults, strict=True):
            if value != default:
                kwargs[key] = value
        return name, path, args, kwargs


class _WrittenByGuard:
    """A column of tags: save() leaves it as it is in the database, and an insertion reads it."""

    name: str
    db_returning = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("null", True)
        kwargs.setdefault("blank", True)
        kwargs.setdefault("editable", False)
        super().__init__(*args, **kwargs)

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        """Return what is written: nothing for a new row, else what is there."""
        return None if add else F(self.name)


class TagField(_WrittenByGuard, models.TextField):
    """The column of mode tag as a text, for keys of any kind."""


class TagForeignKey(_WrittenByGuard, models.ForeignKey):
    """The column of mode tag as a reference to the first row of the group.

    It has no constraint in the database, as the first row may be deleted.
    """

    def __init__(self, to: Any = "self", on_delete: Any = models.DO_NOTHING, **kwargs: Any) -> None:
        kwargs.setdefault("db_constraint", False)
        super().__init__(to, on_delete, **kwargs)


class SignatureManager(models.Manager):
    """A manager whose queries leave signatures out."""

    def get_queryset(self) -> Any:
        fields = [f.name for f in self.model._meta.concrete_fields if isinstance(f, SignatureField)]
        return super().get_queryset().defer(*fields)


def _side(value: Any, column: Any) -> Any:
    """Turn what is compared with a column into an expression: a text, a Signature, a field."""
    if isinstance(value, neardup.Signature):
        return Value(str(value), output_field=StoredSignatureField())
    if isinstance(value, str):
        maker = getattr(getattr(column, "target", None), "maker", None)
        if maker is None:
            raise ValueError(
                "a text cannot be compared with a signature that is not a SignatureField"
            )
        return MakeSignature(Value(value, output_field=models.TextField()), maker)
    return value


@StoredSignatureField.register_lookup
class Near(Lookup):
    """``sig__near=text``, a Signature or F("other_sig"); ``sig__near=(text, 0.7)``."""

    lookup_name = "near"
    prepare_rhs = False
    function = "near_duplicate"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        value, threshold = self.rhs if isinstance(self.rhs, tuple) else (self.rhs, 0.8)
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = compiler.compile(_side(value, self.lhs))
        params = [*left_params, *right_params, float(threshold)]
        return f"{self.function}({left}, {right}, %s)", params


@StoredSignatureField.register_lookup
class ContainedIn(Near):
    """``sig__contained_in=(text, 0.9)``: that much of the row's text is in the other."""

    lookup_name = function = "contained_in"


class _Measure(Func):
    """A measure of a field and a text, a Signature or another field, by name."""

    arity = 2
    output_field = models.FloatField()

    def __init__(self, field: Any, other: Any, **extra: Any) -> None:
        self.other = other if isinstance(other, (str, neardup.Signature)) else None
        super().__init__(field, Value("") if self.other is not None else other, **extra)

    def resolve_expression(self, *args: Any, **kwargs: Any) -> Any:
        resolved = super().resolve_expression(*args, **kwargs)
        if self.other is not None:
            column = resolved.source_expressions[0]
            resolved.source_expressions[1] = _side(self.other, column)
        return resolved


class Similarity(_Measure):
    """``Doc.objects.annotate(s=Similarity("sig", text))``: the resemblance of the two."""

    function = "similarity"


class Containment(_Measure):
    """How much of the first is in the second."""

    function = "containment"


class Distance(_Measure):
    """1 - similarity, to order by: a NeardupIndex gives the nearest."""

    template = "(%(expressions)s)"
    arg_joiner = " <-> "


class KeptGroups(Operation):
    """The migration operation that keeps the groups of a model's rows in a table.

    ``KeptGroups("Page", "page_groups", 0.8)``; read them by a model without migrations, whose
    fields are those of ``neardup.django.kept.KeptGroup``.
    """

    reversible = True

    def __init__(self, model: str, name: str, threshold: float = 0.8, **options: Any) -> None:
        self.model, self.name, self.threshold, self.options = model, name, threshold, options

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [self.model, self.name, self.threshold], self.options

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Nothing that models know changes."""

    def _groups(self, model: Any) -> sql.KeptGroups:
        options = {"column": "sig", **self.options}
        column = model._meta.get_field(options.pop("column")).column
        scope = tuple(model._meta.get_field(n).column for n in options.pop("scope", ()))
        key = model._meta.pk.column
        names = {"key": key, "column": column, "scope": scope}
        return sql.KeptGroups(self.name, threshold=self.threshold, **names, **options)

    def database_forwards(self, app_label: str, editor: Any, _old: Any, state: Any) -> None:
        model = state.apps.get_model(app_label, self.model)
        table = editor.quote_name(model._meta.db_table)
        editor.execute(self._groups(model).create(table).replace("%", "%%"), ())

    def database_backwards(self, app_label: str, editor: Any, old: Any, state: Any) -> None:
        model = old.apps.get_model(app_label, self.model)
        editor.execute(self._groups(model).drop(), ())

    def describe(self) -> str:
        return f"Keep groups of {self.model} in {self.name}"


class NeardupIndex(PostgresIndex):
    """An index of access method neardup: ``NeardupIndex(fields=["sig"], name="docs_sig")``."""

    suffix = "neardup"


class _GuardStatement(Statement):
    pass


class _GuardsLast(list[Any]):
    """Deferred statements, of which those for guards run last, as they need their indexes."""

    def __iter__(self) -> Any:
        return iter(sorted(super().__iter__(), key=lambda s: isinstance(s, _GuardStatement)))


class NearDuplicateConstraint(BaseConstraint):
    """A guard in ``Meta.constraints``.

    mode is reject, skip, tag, warn or exclude (an exclusion constraint).  All but the last
    need an index on the field.  ``bulk_create(ignore_conflicts=True)`` leaves out
    near-duplicates in modes skip and exclude.
    """

    default_violation_error_message = "A near-duplicate of this text is there already: %(row)s."
    violation_error_code = "near_duplicate"

    def __init__(
        self,
        *,
        field: str,
        name: str,
        threshold: float = 0.8,
        mode: str = "reject",
        scope: Any = (),
        tag: str | None = None,
        deferred: bool = False,
        condition: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        guard = (field, threshold, mode, tuple(scope), tag, name, deferred, condition)
        self.guard = sql.Guard(*guard)

    def _statement(self, model: Any, editor: Any, drop: bool = False) -> Statement:
        options, guard = model._meta, self.guard

        def column(name: str) -> str:
            return str(options.get_field(name).column)

        translated = sql.Guard(
            column(guard.column),
            guard.threshold,
            guard.mode,
            tuple(map(column, guard.scope)),
            None if guard.tag is None else column(guard.tag),
            guard.name,
            guard.deferred,
            guard.condition,
        )
        write = translated.drop if drop else translated.create
        template = write("\0").replace("%", "%%").replace("\0", "%(table)s")
        return _GuardStatement(template, table=Table(options.db_table, editor.quote_name))

    def create_sql(self, model: Any, schema_editor: Any) -> Statement | None:
        """Write the statement; None if it has to wait for an index that waits itself."""
        table = model._meta.db_table
        waiting = [s for s in schema_editor.deferred_sql if isinstance(s, Statement)]
        if any(statement.references_table(table) for statement in waiting):
            self.constraint_sql(model, schema_editor)
            return None
        return self._statement(model, schema_editor)

    def remove_sql(self, model: Any, schema_editor: Any) -> Statement:
        return self._statement(model, schema_editor, drop=True)

    def constraint_sql(self, model: Any, schema_editor: Any) -> None:
        """Create it behind the table and its indexes."""
        if not isinstance(schema_editor.deferred_sql, _GuardsLast):
            schema_editor.deferred_sql = _GuardsLast(schema_editor.deferred_sql)
        schema_editor.deferred_sql.append(self._statement(model, schema_editor))

    def validate(
        self, model: Any, instance: Any, exclude: Any = None, using: str = DEFAULT_DB_ALIAS
    ) -> None:
        """Look in the database for a row that is near, as full_clean() asks."""
        field = model._meta.get_field(self.guard.column)
        source = field.given[0] if isinstance(field, SignatureField) else None
        if self.guard.mode not in ("reject", "exclude") or source in (None, *(exclude or ())):
            return
        text = getattr(instance, str(source))
        if text is None or self.guard.condition is not None:  # only the database knows it
            return
        near = {f"{field.name}__near": (text, self.guard.threshold)}
        same = {name: getattr(instance, name) for name in self.guard.scope}
        rows = model._default_manager.using(using).filter(**near, **same)
        if not instance._state.adding and instance.pk is not None:
            rows = rows.exclude(pk=instance.pk)
        near_one = rows.first()
        if near_one is not None:
            raise ValidationError(
                self.violation_error_message,
                code=self.violation_error_code,
                params={"name": self.name, "row": near_one},
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NearDuplicateConstraint):
            return NotImplemented
        return self.deconstruct() == other.deconstruct()

    __hash__ = None  # type: ignore[assignment]

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        path, args, kwargs = super().deconstruct()
        guard = self.guard
        kwargs |= {"field": guard.column, "threshold": guard.threshold, "mode": guard.mode}
        optional = {"scope": guard.scope, "tag": guard.tag, "deferred": guard.deferred}
        optional["condition"] = guard.condition
        return path, args, kwargs | {key: value for key, value in optional.items() if value}
