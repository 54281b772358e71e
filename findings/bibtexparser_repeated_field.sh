#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# bibtexparser 2 leaves an entry with a repeated field, or with the key of
# another entry, out of the entries.
cat >"$work/t.py" <<'P'
import bibtexparser
library = bibtexparser.parse_string('@article{a, title={A}, note={1}, note={2}}\n@article{b, title={B}}\n@book{b, title={C}}\n')
print(len(library.entries), *sorted(type(block).__name__ for block in library.failed_blocks))
P
with bibtexparser==2.1.0; read=$("$work/v/bin/python" "$work/t.py"); echo "$read"
[[ $read == "1 DuplicateBlockKeyBlock DuplicateFieldKeyBlock" ]]
