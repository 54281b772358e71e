"""A model whose subclasses read kept groups."""

from typing import Any

from django.db import models


class KeptGroup(models.Model):
    """The fields of a model that reads kept groups; name the key's own type for another one.

    ``class PageGroup(KeptGroup): class Meta: managed = False; db_table = "page_groups"``
    """

    id = models.BigIntegerField(primary_key=True)
    representative = models.BigIntegerField()
    similarity = models.FloatField(null=True)

    class Meta:
        abstract = True
        managed = False

    def save(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("kept groups are written by the database")

    delete = save
