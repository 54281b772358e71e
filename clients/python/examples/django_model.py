"""A model of Django with a constraint that full_clean() and the database check."""

import os

import django
from django.conf import settings

settings.configure(
    DATABASES={
        "default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}
    },
    INSTALLED_APPS=["neardup.django"],
)
django.setup()

from django.core.exceptions import ValidationError
from django.db import connection, models

from neardup.django import NeardupIndex, NearDuplicateConstraint, SignatureField, SignatureManager


class Proverb(models.Model):
    body = models.TextField()
    sig = SignatureField("body")
    objects = SignatureManager()

    class Meta:
        app_label = "proverbs"
        indexes = [NeardupIndex(fields=["sig"], name="proverbs_sig")]
        constraints = [NearDuplicateConstraint(field="sig", name="no_near_proverbs")]

    def __str__(self) -> str:
        return f"proverb {self.pk}"


with connection.schema_editor() as editor:
    editor.create_model(Proverb)
Proverb.objects.create(body="All that glitters is not gold, said the old man.")
try:
    Proverb(body="all that glitters is not gold, said the old man!").full_clean()
except ValidationError as error:
    print(error.messages)
with connection.schema_editor() as editor:
    editor.delete_model(Proverb)

# Prints:
# ['A near-duplicate of this text is there already: proverb 1.']
