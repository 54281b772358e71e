"""Django: fields, lookups, migrations written and run by its own commands, errors."""

import importlib
import io
import os
import sys
import types

import django
import pytest
from conftest import TEXTS
from django.apps import apps
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "?"}},
    INSTALLED_APPS=["neardup.django", "shop"],
    MIGRATION_MODULES={"shop": "shop_migrations"},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
sys.modules["shop"] = types.ModuleType("shop")
sys.modules["shop"].__path__ = [os.path.dirname(__file__)]
sys.modules["shop"].__file__ = __file__
django.setup()

from django.core import serializers
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction
from django.db.migrations.state import ProjectState
from django.db.models import F

import neardup
from neardup.django import (
    Containment,
    Distance,
    KeptGroups,
    NeardupExtension,
    NeardupIndex,
    NearDuplicateConstraint,
    NearDuplicateError,
    SignatureField,
    SignatureManager,
    Similarity,
    StoredSignatureField,
    TagField,
    TagForeignKey,
)
from neardup.django.kept import KeptGroup


class Doc(models.Model):
    tenant = models.IntegerField(default=1)
    body = models.TextField(db_column="Body Text")
    sig = SignatureField("body", "english stop", arguments={"k": 2})
    objects = SignatureManager()

    class Meta:
        app_label = "shop"
        db_table = "docs"
        indexes = [NeardupIndex(fields=["sig"], name="docs_sig")]
        constraints = [
            NearDuplicateConstraint(field="sig", name="no_near_duplicates", scope=["tenant"])
        ]


class Page(models.Model):
    body = models.TextField()
    sig = SignatureField("body")
    other = StoredSignatureField(null=True)
    objects = SignatureManager()

    class Meta:
        app_label = "shop"
        constraints = [
            NearDuplicateConstraint(field="sig", name="no_copies", threshold=0.6, mode="exclude")
        ]


class Note(models.Model):
    body = models.TextField()
    sig = SignatureField("body")

    class Meta:
        app_label = "shop"
        indexes = [NeardupIndex(fields=["sig"])]
        constraints = [
            NearDuplicateConstraint(field="sig", name="skip_copies", mode="skip")
        ]


class Tagged(models.Model):
    body = models.TextField()
    sig = SignatureField("body")
    same_as = TagForeignKey()
    objects = SignatureManager()

    class Meta:
        app_label = "shop"
        indexes = [NeardupIndex(fields=["sig"], name="tagged_sig")]
        constraints = [
            NearDuplicateConstraint(field="sig", name="tag_copies", mode="tag", tag="same_as")
        ]


class TaggedByText(models.Model):
    body = models.TextField()
    sig = SignatureField("body")
    same_as = TagField()
    erased = models.TextField(null=True)
    objects = SignatureManager()

    class Meta:
        app_label = "shop"


@pytest.fixture(scope="module")
def migrated(database, tmp_path_factory):
    """The tables, by a migration that makemigrations writes."""
    folder = tmp_path_factory.mktemp("django")
    (folder / "shop_migrations").mkdir()
    (folder / "shop_migrations" / "__init__.py").touch()
    sys.path.insert(0, str(folder))
    connection.settings_dict["NAME"] = database
    call_command("makemigrations", "shop", verbosity=0)
    importlib.invalidate_caches()
    written = (folder / "shop_migrations" / "0001_initial.py").read_text()
    call_command("migrate", verbosity=0)
    yield written
    connection.close()
    sys.path.remove(str(folder))


@pytest.fixture(autouse=True)
def rows(migrated):
    for model in (Doc, Page, Note, Tagged, TaggedByText):
        model.objects.all().delete()
    for text in TEXTS[:2]:
        Doc.objects.create(body=text)


def test_migration(migrated):
    assert "neardup.django.SignatureField(" in migrated
    assert "expression" not in migrated
    out = io.StringIO()
    call_command("makemigrations", "shop", dry_run=True, check_changes=True, stdout=out)
    assert "No changes" in out.getvalue()
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'docs_sig'")
        assert cursor.fetchone()[0].endswith("USING neardup (sig)")


def test_migration_backwards(migrated):
    call_command("migrate", "shop", "zero", verbosity=0)
    assert "docs" not in connection.introspection.table_names()
    call_command("migrate", verbosity=0)
    with connection.schema_editor() as editor:
        editor.remove_constraint(Doc, Doc._meta.constraints[0])
        editor.remove_constraint(Page, Page._meta.constraints[0])
        editor.add_constraint(Doc, Doc._meta.constraints[0])
        editor.add_constraint(Page, Page._meta.constraints[0])


def test_extension_operation():
    operation = NeardupExtension()
    assert operation.name == "neardup"
    with connection.schema_editor() as editor:
        operation.database_forwards("shop", editor, None, None)


def test_lookups():
    first, second = Doc.objects.order_by("id")
    assert first.get_deferred_fields() == {"sig"}
    assert first.sig.spec == "shingles[english stop k=2]"
    near = Doc.objects.filter
    assert near(sig__near=TEXTS[2]).get() == first
    assert near(sig__near=(TEXTS[2], 0.99), tenant=1).get() == first
    assert near(sig__near=first.sig).get() == first
    assert near(sig__near=F("sig")).count() == 2
    assert not near(sig__near="100 % other words, said to nobody.").exists()
    assert near(sig__contained_in=(TEXTS[0] + " And so on.", 1)).get() == first
    assert near(sig=second.sig).get() == second


def test_annotations():
    docs = Doc.objects.annotate(
        similarity=Similarity("sig", TEXTS[1]),
        within=Containment("sig", F("sig")),
        distance=Distance("sig", TEXTS[1]),
    ).order_by("distance")
    assert [(d.similarity, d.within, d.distance) for d in docs] == [(1, 1, 0), (0, 1, 1)]
    sig = docs[0].sig
    assert Doc.objects.annotate(s=Similarity("sig", sig)).filter(s=1).count() == 1


def test_error():
    with pytest.raises(NearDuplicateError) as caught, transaction.atomic():
        Doc(body=TEXTS[2]).save()
    error = caught.value
    assert isinstance(error, IntegrityError)
    assert error.key == str(Doc.objects.order_by("id")[0].id)
    assert error.similarity > 0.8
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        Doc(id=Doc.objects.order_by("id")[0].id, body="x").save(force_insert=True)
    assert not isinstance(caught.value, NearDuplicateError)
    Doc(body=TEXTS[2], tenant=2).save()


def test_validation():
    first = Doc.objects.order_by("id")[0]
    with pytest.raises(ValidationError, match=rf"near-duplicate .* already: Doc object \({first.id}\)"):
        Doc(body=TEXTS[2]).full_clean()
    Doc(body=TEXTS[2], tenant=2).full_clean()
    doc = Doc.objects.order_by("id")[0]
    doc.body += " And so on."
    doc.full_clean()
    doc.save()


@pytest.mark.parametrize("model", [Page, Note])
def test_ignore_conflicts(model):
    model.objects.create(body=TEXTS[0])
    model.objects.bulk_create([model(body=t) for t in TEXTS], ignore_conflicts=True)
    assert sorted(model.objects.values_list("body", flat=True)) == sorted(TEXTS[:2])


def test_stored_signature():
    sig = neardup.Signature.from_features([1, 2, 3])
    page = Page.objects.create(body="A page", other=sig)
    page.refresh_from_db()
    assert page.other == sig
    assert Page.objects.filter(other__near=(sig, 0.5)).get() == page
    with pytest.raises(ValueError, match="not a SignatureField"):
        Page.objects.filter(other__near="text").exists()


def test_inspectdb():
    out = io.StringIO()
    call_command("inspectdb", "docs", stdout=out)
    line = next(line for line in out.getvalue().splitlines() if line.strip().startswith("sig ="))
    assert line.strip().startswith("sig = neardup.django.SignatureField(")


def test_what_inspectdb_writes_can_be_saved():
    class Found(models.Model):
        body = models.TextField(db_column="Body Text")
        tenant = models.IntegerField()
        sig = SignatureField(blank=True, null=True)

        class Meta:
            app_label = "shop"
            managed = False
            db_table = "docs"

    Found.objects.create(body="What was found later, by looking into the database.", tenant=3)
    found = Found.objects.get(tenant=3)
    found.body += " And looked at again."
    found.save()
    assert len(found.sig) > 0


def test_saving_keeps_a_tag():
    """A program's own field is written by every save(), which erases what the guard wrote."""
    first = Tagged.objects.create(body=TEXTS[0])
    read_before = Tagged.objects.get(pk=first.pk)
    copy = Tagged.objects.create(body=TEXTS[2])
    assert (first.same_as_id, copy.same_as) == (None, first)
    stale = Tagged(pk=copy.pk, body=TEXTS[2])
    stale.save()
    copy.refresh_from_db()
    assert copy.same_as_id == first.pk
    copy.same_as = None
    copy.save()
    Tagged.objects.bulk_update([copy], ["body"])
    copy.refresh_from_db()
    assert copy.same_as_id == first.pk
    read_before.save()
    assert Tagged.objects.get(pk=first.pk).same_as_id is None
    row = TaggedByText.objects.create(body="a text")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE shop_taggedbytext SET same_as = '7', erased = '7'")
    row.save()
    row.refresh_from_db()
    assert (row.same_as, row.erased) == ("7", None)


def test_dumps_leave_signatures_out():
    """What dumpdata and loaddata do."""
    dump = serializers.serialize("json", Doc.objects.all())
    assert '"body"' in dump
    assert '"sig"' not in dump
    Doc.objects.all().delete()
    for row in serializers.deserialize("json", dump):
        row.save()
    assert Doc.objects.get(sig__near=TEXTS[2]).sig.spec == "shingles[english stop k=2]"


def test_kept_groups_and_a_condition():
    class DocGroup(KeptGroup):
        class Meta:
            app_label = "shop"
            managed = False
            db_table = "doc_groups"

    operation = KeptGroups("Doc", "doc_groups", 0.7, scope=["tenant"])
    state = ProjectState.from_apps(apps)
    with connection.schema_editor() as editor:
        operation.database_forwards("shop", editor, state, state)
    try:
        first = Doc.objects.order_by("id")[0]
        other = Doc.objects.create(tenant=2, body=TEXTS[0])
        near = "CALL near_duplicate_groups_refresh('doc_groups')"
        with connection.cursor() as cursor:
            cursor.execute(near)
        assert DocGroup.objects.get(pk=first.pk).representative == first.pk
        assert DocGroup.objects.get(pk=other.pk).representative == other.pk
        with pytest.raises(TypeError, match="written by the database"):
            DocGroup(pk=1, representative=1).save()
        assert "KeptGroups" in operation.deconstruct()[0]
    finally:
        with connection.schema_editor() as editor:
            operation.database_backwards("shop", editor, state, state)
    assert "doc_groups" not in connection.introspection.table_names()
    constraint = NearDuplicateConstraint(field="sig", name="c", condition="new.tenant <> old.tenant")
    assert constraint.deconstruct()[2]["condition"] == "new.tenant <> old.tenant"
    with connection.schema_editor() as editor:
        editor.add_constraint(Tagged, NearDuplicateConstraint(field="sig", name="c", condition="new.id > 5 * old.id"))
        editor.remove_constraint(Tagged, NearDuplicateConstraint(field="sig", name="c"))
