#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# In DuckDB 2.0 a relation of Python has no fetchone() any more (AttributeError); a connection
# still has it.  Both have fetchall().
cat >"$work/t.py" <<'P'
import duckdb
relation = duckdb.sql('SELECT 1')
said = [duckdb.__version__, hasattr(relation, 'fetchone'), relation.fetchall()[0][0],
        duckdb.connect().execute('SELECT 2').fetchone()[0]]
print(*said)
P
with duckdb==1.4.5; old=$("$work/v/bin/python" "$work/t.py"); echo "$old"
with duckdb==2.0.1; new=$("$work/v/bin/python" "$work/t.py"); echo "$new"
[[ $old == "1.4.5 True 1 2" && $new == "2.0.1 False 1 2" ]]
