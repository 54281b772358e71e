#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# Django 5.0 and 5.0.1: full_clean() of a new object of any model with a GeneratedField
# raises AttributeError; from 5.0.2 on it does not.
cat >"$work/t.py" <<'P'
import django
from django.conf import settings
settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})
django.setup()
from django.db import models
class T(models.Model):
    a = models.IntegerField()
    b = models.GeneratedField(expression=models.F("a") + 1, output_field=models.IntegerField(), db_persist=True)
    class Meta:
        app_label = "t"
try:
    T(a=1).full_clean(); said = "clean"
except Exception as error:
    said = type(error).__name__
print(django.__version__, said)
P
with django==5.0.1; old=$("$work/v/bin/python" "$work/t.py"); echo "$old"
with django==5.0.2; new=$("$work/v/bin/python" "$work/t.py"); echo "$new"
[[ $old == *" AttributeError" && $new != *" AttributeError" ]]
