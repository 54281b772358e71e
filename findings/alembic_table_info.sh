#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# Alembic writes Table.info into op.create_table by repr(), whatever is in it: an object
# there makes a migration that Python cannot read.  Older versions left info out.
cat >"$work/t.py" <<'P'
import alembic
from alembic.autogenerate import produce_migrations, render_python_code
from alembic.migration import MigrationContext
from sqlalchemy import Column, Integer, MetaData, Table, create_engine
class Note:
    pass
metadata = MetaData(); Table("t", metadata, Column("id", Integer, primary_key=True), info={"note": Note()})
with create_engine("sqlite://").connect() as conn:
    code = render_python_code(produce_migrations(MigrationContext.configure(conn), metadata).upgrade_ops)
try:
    compile("if True:\n    " + code, "migration", "exec"); said = "valid"
except SyntaxError:
    said = "SyntaxError"
print(alembic.__version__, "info is written" if "info=" in code else "info is left out", said)
P
with alembic==1.11.0 'sqlalchemy<2.1'; old=$("$work/v/bin/python" "$work/t.py"); echo "$old"
with alembic==1.20.1 'sqlalchemy<2.1'; new=$("$work/v/bin/python" "$work/t.py"); echo "$new"
[[ $old == *"left out valid" && $new == *"is written SyntaxError" ]]
