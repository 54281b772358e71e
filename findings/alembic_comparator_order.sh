#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# Alembic 1.18 replaced the list of "schema" comparators by one with priorities, and
# registers its own when autogenerate runs: a third party's comparator without a priority
# runs before the tables are compared, and its operations are before CREATE TABLE; up to
# 1.17 they were after it.
cat >"$work/t.py" <<'P'
import alembic
from alembic.autogenerate import comparators, produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import ops
from sqlalchemy import Column, Integer, MetaData, Table, create_engine
class Mine(ops.ExecuteSQLOp):
    def reverse(self):
        return self
@comparators.dispatch_for("schema")
def mine(context, upgrade, schemas):
    upgrade.ops.append(Mine("mine"))
metadata = MetaData(); Table("t", metadata, Column("id", Integer, primary_key=True))
with create_engine("sqlite://").connect() as conn:
    found = produce_migrations(MigrationContext.configure(conn), metadata).upgrade_ops.ops
print(alembic.__version__, [type(o).__name__ for o in found])
P
with alembic==1.17.2 'sqlalchemy<2.1'; old=$("$work/v/bin/python" "$work/t.py"); echo "$old"
with alembic==1.20.1 'sqlalchemy<2.1'; new=$("$work/v/bin/python" "$work/t.py"); echo "$new"
[[ $old == *"['CreateTableOp', 'Mine']" && $new == *"['Mine', 'CreateTableOp']" ]]
