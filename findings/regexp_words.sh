#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# \w+ means other words: Python ends a word at a combining mark, polars does not, and DuckDB
# knows ASCII only.
cat >"$work/t.py" <<'P'
import re, duckdb, polars
text = 'caf\u00e9 e\u0301te\u0301'
print(len(re.findall(r'\w+', text)), len(polars.Series([text]).str.extract_all(r'\w+')[0]),
      len(duckdb.sql(r"SELECT regexp_extract_all($t, '\w+')", params={'t': text}).fetchone()[0]))
print(duckdb.sql(r"SELECT regexp_extract_all($t, '\w+')[1]", params={'t': text}).fetchone()[0])
P
with duckdb==1.4.5 polars==2.1.0; read=$("$work/v/bin/python" "$work/t.py"); echo "$read"
[[ $read == $'3 2 3\ncaf' ]]
