#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# DuckDB 2.0 refuses the arrow of lambda functions, x -> x + 1, with a message about the next
# release; lambda x: x + 1 works in 1.4 and 2.0.
cat >"$work/t.py" <<'P'
import duckdb
said = [duckdb.__version__]
for function in ('x -> x + 1', 'lambda x: x + 1'):
    try:
        said.append(duckdb.sql(f'SELECT list_transform([1, 2], {function})').fetchall()[0][0])
    except duckdb.Error as error:
        said.append(type(error).__name__)
print(*said)
P
with duckdb==1.4.5; old=$("$work/v/bin/python" "$work/t.py"); echo "$old"
with duckdb==2.0.1; new=$("$work/v/bin/python" "$work/t.py"); echo "$new"
[[ $old == "1.4.5 [2, 3] [2, 3]" && $new == "2.0.1 BinderException [2, 3]" ]]
